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
	bool told; /* that something is missing */
};

static void print_data(const struct ax_ctl *ctl, const char *gid, const json_t *chunk)
{
	if (ctl->json) {
		json_t *line = json_copy((json_t *)(uintptr_t)chunk);
		json_object_set_new(line, "gid", json_string(gid));
		json_dumpf(line, stdout, JSON_COMPACT);
		json_decref(line);
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

/* Prints the chunks of one attempt that come after `place`, page by page, and moves it. */
static int print_new(struct ax_ctl *ctl, const char *gid, int64_t fence, struct place *place)
{
	bool more = true;
	while (more) {
		struct ax_arena arena = { 0 };
		const char *path = ax_sprintf(&arena, "/runs/%s/output?fence=%" PRId64, gid, fence);
		if (place->fence == fence && place->seq >= 0)
			path = ax_sprintf(&arena, "%s&after_seq=%" PRId64, path, place->seq);
		json_t *answer = NULL;
		int code = ax_client_call(&ctl->client, "GET", path, NULL, &answer);
		ax_arena_done(&arena);
		if (code != AX_EXIT_OK)
			return code;
		const struct place before = *place;
		size_t i;
		const json_t *chunk;
		json_array_foreach(json_object_get(answer, "chunks"), i, chunk)
		{
			const struct place at = { .fence = ax_json_int(chunk, "fence"),
				.seq = ax_json_int(chunk, "seq") };
			if (at.fence < place->fence || (at.fence == place->fence && at.seq <= place->seq))
				continue;
			print_data(ctl, gid, chunk);
			place->fence = at.fence;
			place->seq = at.seq;
		}
		fflush(stdout);
		bool moved = place->fence != before.fence || place->seq != before.seq;
		more = ax_json_true(answer, "more") && moved;
		if (ax_json_true(answer, "truncated") && !more && !place->told) {
			fputs("axctl: there was more output than is kept: its middle is missing\n", stderr);
			place->told = true;
		}
		json_decref(answer);
	}
	return AX_EXIT_OK;
}

static int get_run(struct ax_ctl *ctl, const char *gid, json_t **ret)
{
	return ax_client_call(&ctl->client, "GET", ax_sprintf(&ctl->arena, "/runs/%s", gid), NULL, ret);
}

/* All there is after `place`, of this attempt and those after it up to the run's. */
static int catch_up(struct ax_ctl *ctl, const char *gid, const json_t *run, struct place *place)
{
	int code = AX_EXIT_OK;
	int64_t last = ax_json_int(run, "fence");
	for (int64_t fence = AX_MAX(place->fence, 1); code == AX_EXIT_OK && fence <= last; fence++)
		code = print_new(ctl, gid, fence, place);
	return code;
}

static bool is_parent(const json_t *run)
{
	return json_is_object(json_object_get(run, "shards"));
}

/* The output of each shard under a line that names it, as `tail` does with several files. */
static int print_shards(struct ax_ctl *ctl, const char *parent)
{
	json_t *list = NULL;
	int code = ax_client_list(&ctl->client, ax_sprintf(&ctl->arena, "/runs?parent=%s", parent), 0, &list);
	const json_t *items = json_object_get(list, "items");
	for (size_t i = json_array_size(items); code == AX_EXIT_OK && i-- > 0;) { /* the list begins with the newest */
		const json_t *shard = json_array_get(items, i), *part = json_object_get(shard, "shard");
		const char *gid = ax_json_text(&ctl->arena, shard, "gid");
		struct place place = { .fence = -1, .seq = -1 };
		if (!ctl->json)
			printf("==> shard %s of %s: run %s, %s <==\n", ax_json_text(&ctl->arena, part, "index"),
				ax_json_text(&ctl->arena, part, "total"), gid,
				ax_json_text(&ctl->arena, shard, "status"));
		code = catch_up(ctl, gid, shard, &place);
	}
	json_decref(list);
	return code;
}

int ax_follow_print_once(struct ax_ctl *ctl, const char *gid, int64_t fence)
{
	struct place place = { .fence = -1, .seq = -1 };
	json_t *run = NULL;
	if (fence >= 0)
		return print_new(ctl, gid, fence, &place);
	int code = get_run(ctl, gid, &run);
	if (code == AX_EXIT_OK)
		code = is_parent(run) ? print_shards(ctl, gid) : catch_up(ctl, gid, run, &place);
	json_decref(run);
	return code;
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
		const struct place at = { .fence = ax_json_int(value, "fence"), .seq = ax_json_int(value, "seq") };
		struct place *last = &watcher->place;
		bool next =
			(at.fence == last->fence && at.seq == last->seq + 1) || (at.fence > last->fence && at.seq == 0);
		bool old = at.fence < last->fence || (at.fence == last->fence && at.seq <= last->seq);
		if (next) {
			print_data(watcher->ctl, watcher->gid, value);
			fflush(stdout);
			last->fence = at.fence;
			last->seq = at.seq;
		}
		go_on = next || old;
	}
	json_decref(value);
	return go_on;
}

int ax_follow_run(struct ax_ctl *ctl, const char *gid)
{
	struct watcher watcher = {
		.events = { on_event }, .ctl = ctl, .gid = gid, .place = { .fence = -1, .seq = -1 }
	};
	bool streams = true;
	for (;;) {
		json_t *run = NULL;
		int code = get_run(ctl, gid, &run);
		bool ended = code == AX_EXIT_OK && ax_run_ended(run);
		if (code == AX_EXIT_OK && is_parent(run)) {
			fprintf(stderr,
				"axctl: the run is split into shards: follow one of them (axctl run list --parent "
				"%s)\n",
				gid);
			json_decref(run);
			return AX_EXIT_USAGE;
		}
		if (code == AX_EXIT_OK)
			code = catch_up(ctl, gid, run, &watcher.place);
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
