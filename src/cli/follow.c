#include "cli/follow.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "cli/print.h"
#include "cli/report.h"

/* How far the output was printed: everything of older fences, and up to `seq` of this one. */
struct place {
	int64_t fence, seq;
};

static void print_data(const struct ax_ctl *ctl, const json_t *chunk)
{
	if (ctl->json) {
		json_dumpf(chunk, stdout, JSON_COMPACT);
		putchar('\n');
		return;
	}
	const char *data = json_string_value(json_object_get(chunk, "data"));
	if (data == NULL)
		return;
	if (!isatty(STDOUT_FILENO)) {
		fputs(data, stdout);
		return;
	}
	while (*data != '\0') { /* newlines and tabs are kept, the pieces between them cleaned */
		size_t len = strcspn(data, "\n\t");
		struct ax_buf piece, clean;
		ax_buf_init(&piece, 1 << 20);
		ax_buf_init(&clean, 4 << 20);
		ax_buf_add(&piece, data, len);
		ax_print_clean(piece.data, &clean);
		fputs(clean.len > 0 ? clean.data : "", stdout);
		ax_buf_done(&piece);
		ax_buf_done(&clean);
		data += len;
		if (*data != '\0')
			putchar(*data++);
	}
}

/* Prints the chunks that come after `place`, and moves it. *ret_live: may more come? */
static int print_new(struct ax_ctl *ctl, const char *gid, int64_t only_fence, struct place *place, bool *ret_live)
{
	struct ax_arena arena = { 0 };
	const char *path = ax_sprintf(&arena, "/runs/%s/output", gid);
	if (only_fence >= 0)
		path = ax_sprintf(&arena, "%s?fence=%" PRId64, path, only_fence);
	if (only_fence >= 0 && place->fence == only_fence && place->seq >= 0)
		path = ax_sprintf(&arena, "%s&after_seq=%" PRId64, path, place->seq);
	json_t *answer = NULL;
	int code = ax_client_call(&ctl->client, "GET", path, NULL, &answer);
	ax_arena_done(&arena);
	if (code != AX_EXIT_OK)
		return code;
	size_t i;
	const json_t *chunk;
	json_array_foreach(json_object_get(answer, "chunks"), i, chunk)
	{
		struct place at = { ax_json_int(chunk, "fence"), ax_json_int(chunk, "seq") };
		if (at.fence < place->fence || (at.fence == place->fence && at.seq <= place->seq))
			continue;
		print_data(ctl, chunk);
		*place = at;
	}
	fflush(stdout);
	if (ax_json_true(answer, "truncated") && place->seq >= 0 && ret_live == NULL)
		fputs("axctl: the middle of the output was too much to keep\n", stderr);
	if (ret_live != NULL)
		*ret_live = ax_json_true(answer, "live");
	json_decref(answer);
	return AX_EXIT_OK;
}

int ax_follow_print_once(struct ax_ctl *ctl, const char *gid, int64_t fence)
{
	struct place place = { -1, -1 };
	return print_new(ctl, gid, fence, &place, NULL);
}

/* ---- following ---- */

struct watcher {
	struct ax_client_events events;
	struct ax_ctl *ctl;
	const char *gid;
	struct place place;
	bool ended;
};

/* One event of the live stream. An output chunk that follows directly on what was printed is printed; one that leaves
 * a gap ends the stream, and what is missing is asked for. */
static bool on_event(struct ax_client_events *events, const char *name, const char *data)
{
	struct watcher *watcher = (struct watcher *)events;
	bool go_on = true;
	json_t *value = json_loads(data, JSON_REJECT_DUPLICATES, NULL);
	if (strcmp(name, "state") == 0 && ax_run_ended(value)) {
		watcher->ended = true;
		go_on = false;
	} else if (strcmp(name, "output") == 0) {
		struct place at = { ax_json_int(value, "fence"), ax_json_int(value, "seq") }, *last = &watcher->place;
		bool next =
			(at.fence == last->fence && at.seq == last->seq + 1) || (at.fence > last->fence && at.seq == 0);
		bool old = at.fence < last->fence || (at.fence == last->fence && at.seq <= last->seq);
		if (next) {
			print_data(watcher->ctl, value);
			fflush(stdout);
			*last = at;
		}
		go_on = next || old;
	}
	json_decref(value);
	return go_on;
}

static int get_run(struct ax_ctl *ctl, const char *gid, json_t **ret)
{
	return ax_client_call(&ctl->client, "GET", ax_sprintf(&ctl->arena, "/runs/%s", gid), NULL, ret);
}

/* Prints all there is of the fences from the printed one up to the run's. */
static int catch_up(struct watcher *watcher, const json_t *run)
{
	int64_t fence = ax_json_int(run, "fence");
	bool live;
	if (watcher->place.fence == fence)
		return print_new(watcher->ctl, watcher->gid, fence, &watcher->place, &live);
	return print_new(watcher->ctl, watcher->gid, -1, &watcher->place, &live);
}

int ax_follow_run(struct ax_ctl *ctl, const char *gid)
{
	struct watcher watcher = { .events = { on_event }, .ctl = ctl, .gid = gid, .place = { -1, -1 } };
	bool streams = true;
	for (;;) {
		json_t *run = NULL;
		int code = get_run(ctl, gid, &run);
		bool ended = code == AX_EXIT_OK && ax_run_ended(run);
		if (code == AX_EXIT_OK)
			code = catch_up(&watcher, run);
		if (code == AX_EXIT_OK && ended && !ctl->json && isatty(STDERR_FILENO))
			fprintf(stderr, "axctl: the run ended: %s\n", ax_json_text(&ctl->arena, run, "status"));
		if (code == AX_EXIT_OK && ended)
			code = strcmp(ax_json_text(&ctl->arena, run, "status"), "SUCCESS") == 0 ? AX_EXIT_OK
												: AX_EXIT_NO;
		json_decref(run);
		if (code != AX_EXIT_OK || ended)
			return code;
		if (streams) {
			const char *path = ax_sprintf(&ctl->arena, "/runs/%s/live", gid);
			streams = ax_client_stream(&ctl->client, path, &watcher.events) == AX_EXIT_OK;
		}
		if (!watcher.ended) {
			struct timespec pause = { 0, 300000000 };
			nanosleep(&pause, NULL);
		}
	}
}
