#include "cli/inventory.h"

#include <stdlib.h>
#include <string.h>

enum { DAY_MINUTES = 24 * 60, TOP_MINUTES = 10, MAX_FOUND = 100 };

static const int64_t minute_ms = 60000;

/* ---- duplicates ---- */

static bool same_text(const char *a, const char *b)
{
	return strcmp(a != NULL ? a : "", b != NULL ? b : "") == 0;
}

/* Whom crond mails to does not make another task. */
static bool same_env(const struct ax_crontab_entry *a, const struct ax_crontab_entry *b)
{
	for (size_t i = 0; i < a->n_env; i++) {
		const char *other = ax_crontab_env_get(b, a->env[i].name);
		if (strcmp(a->env[i].name, "MAILTO") != 0 && (other == NULL || strcmp(other, a->env[i].value) != 0))
			return false;
	}
	return true;
}

static bool same_task(const struct ax_inventory_item *a, const struct ax_inventory_item *b)
{
	return strcmp(a->entry->command, b->entry->command) == 0 && strcmp(a->entry->expr, b->entry->expr) == 0 &&
		strcmp(a->zone, b->zone) == 0 && same_text(a->entry->input, b->entry->input) &&
		same_text(a->entry->user, b->entry->user) && same_env(a->entry, b->entry) &&
		same_env(b->entry, a->entry);
}

static json_t *find_duplicates(const struct ax_inventory_item *items, size_t n)
{
	json_t *found = json_array();
	bool *told = ax_malloc(n + 1);
	for (size_t i = 0; i < n; i++) {
		json_t *lines = json_array();
		for (size_t k = i; k < n && !told[i]; k++) {
			if (!same_task(&items[i], &items[k]))
				continue;
			json_array_append_new(lines, json_integer(items[k].entry->line));
			told[k] = k > i;
		}
		if (json_array_size(lines) > 1)
			json_array_append_new(found, json_pack("{s:O}", "lines", lines));
		json_decref(lines);
	}
	free(told);
	return found;
}

/* ---- crowded minutes ---- */

static void count_fires(const struct ax_inventory_item *item, int64_t from_ms, int *counts)
{
	int64_t at_ms = from_ms - 1;
	while (ax_schedule_next(&item->entry->schedule, item->tz, 0, at_ms, &at_ms)) {
		int64_t minute = (at_ms - from_ms) / minute_ms;
		if (minute >= DAY_MINUTES)
			return;
		counts[minute]++;
	}
}

static bool fires_at(const struct ax_inventory_item *item, int64_t ms)
{
	int64_t next_ms;
	return ax_schedule_next(&item->entry->schedule, item->tz, 0, ms - 1, &next_ms) && next_ms < ms + minute_ms;
}

/* The fullest minute that was not taken yet, -1 when none has `crowded` fires. */
static int fullest(const int *counts, int crowded, const bool *taken)
{
	int best = -1;
	for (int minute = 0; minute < DAY_MINUTES; minute++)
		if (!taken[minute] && counts[minute] >= crowded && (best < 0 || counts[minute] > counts[best]))
			best = minute;
	return best;
}

static json_t *find_crowds(const struct ax_inventory_item *items, size_t n, int64_t now_ms, int crowded)
{
	int counts[DAY_MINUTES] = { 0 }, total = 0, minute;
	bool taken[DAY_MINUTES] = { false };
	int64_t from_ms = now_ms - now_ms % minute_ms + minute_ms;
	json_t *top = json_array();
	for (size_t i = 0; i < n; i++)
		count_fires(&items[i], from_ms, counts);
	for (minute = 0; minute < DAY_MINUTES; minute++)
		total += counts[minute] >= crowded;
	while (json_array_size(top) < TOP_MINUTES && (minute = fullest(counts, crowded, taken)) >= 0) {
		int64_t at_ms = from_ms + minute * minute_ms;
		json_t *names = json_array();
		for (size_t i = 0; i < n; i++)
			if (fires_at(&items[i], at_ms))
				json_array_append_new(names, json_string(items[i].name));
		json_array_append_new(top,
			json_pack(
				"{s:I, s:i, s:o}", "time", (json_int_t)at_ms, "fires", counts[minute], "tasks", names));
		taken[minute] = true;
	}
	return json_pack("{s:i, s:o}", "count", total, "top", top);
}

/* ---- dependencies ---- */

enum role { READS, WRITES, LOCKS };

struct use {
	size_t item;
	enum role role;
	const char *path;
};

struct uses {
	struct ax_arena arena;
	struct use *items;
	size_t n, cap;
};

static void add_use(struct uses *uses, size_t item, enum role role, const char *path, size_t len)
{
	static const char *const common[] = { "/dev/", "/bin/", "/usr/bin/", "/sbin/", "/usr/sbin/", "/proc/",
		"/sys/" };
	while (len > 0 && strchr("'\"", *path) != NULL) {
		path++;
		len--;
	}
	while (len > 0 && strchr("'\";)", path[len - 1]) != NULL)
		len--;
	if (len < 2 || *path != '/')
		return;
	for (size_t i = 0; i < AX_COUNT(common); i++)
		if (strncmp(path, common[i], strlen(common[i])) == 0)
			return;
	bool lock = len > 5 && memcmp(path + len - 5, ".lock", 5) == 0;
	if (uses->n == uses->cap) {
		uses->cap = uses->cap * 2 + 64;
		uses->items = ax_realloc(uses->items, uses->cap * sizeof(*uses->items));
	}
	uses->items[uses->n++] = (struct use){ item, lock ? LOCKS : role, ax_strndup(&uses->arena, path, len) };
}

/* Absolute paths among the words of a command. Behind '>', tee and -o they are written, behind flock they are locks,
 * the first word of a command is what runs, all others are taken to be read. */
static void find_uses(struct uses *uses, size_t item, const char *command)
{
	enum role role = READS;
	bool first = true, wait_lock = false;
	while (*(command += strspn(command, " \t")) != '\0') {
		size_t len = strcspn(command, " \t");
		const char *arrow = memchr(command, '>', len);
		const char *word = arrow != NULL ? arrow + 1 + (arrow[1] == '>') : command;
		size_t word_len = (size_t)(command + len - word);
		if (arrow != NULL && word_len == 0) {
			role = WRITES;
		} else {
			if (len > 9 && strncmp(command, "--output=", 9) == 0)
				add_use(uses, item, WRITES, command + 9, len - 9);
			else if (!first || arrow != NULL)
				add_use(uses, item,
					wait_lock && *word == '/' ? LOCKS
						: arrow != NULL   ? WRITES
								  : role,
					word, word_len);
			wait_lock = (wait_lock && *word == '-') || (len == 5 && memcmp(command, "flock", 5) == 0) ||
				(len > 6 && memcmp(command + len - 6, "/flock", 6) == 0);
			bool output = (len == 3 && memcmp(command, "tee", 3) == 0) ||
				(len == 2 && memcmp(command, "-o", 2) == 0) ||
				(len == 8 && memcmp(command, "--output", 8) == 0);
			role = output ? WRITES : READS;
			first = strchr(";&|(", command[len - 1]) != NULL;
		}
		command += len;
	}
}

static json_t *find_dependencies(const struct ax_inventory_item *items, size_t n)
{
	struct uses uses = { 0 };
	json_t *found = json_array();
	for (size_t i = 0; i < n; i++)
		find_uses(&uses, i, items[i].entry->command);
	for (size_t a = 0; a < uses.n; a++) {
		for (size_t b = 0; b < uses.n && json_array_size(found) < MAX_FOUND; b++) {
			const struct use *first = &uses.items[a], *then = &uses.items[b];
			bool file = first->role == WRITES && then->role == READS && first->item != then->item;
			bool lock = first->role == LOCKS && then->role == LOCKS && first->item < then->item;
			if ((!file && !lock) || strcmp(first->path, then->path) != 0)
				continue;
			json_t *one =
				json_pack("{s:s, s:s, s:s, s:s}", "path", first->path, "kind", file ? "file" : "lock",
					"first", items[first->item].name, "then", items[then->item].name);
			bool known = false;
			for (size_t i = 0; i < json_array_size(found); i++)
				known = known || json_equal(json_array_get(found, i), one);
			if (!known)
				json_array_append(found, one);
			json_decref(one);
		}
	}
	ax_arena_done(&uses.arena);
	free(uses.items);
	return found;
}

json_t *ax_inventory_make(const struct ax_inventory_item *items, size_t n, int64_t now_ms, int crowded)
{
	return json_pack("{s:o, s:o, s:o}", "duplicates", find_duplicates(items, n), "crowded_minutes",
		find_crowds(items, n, now_ms, crowded), "dependencies", find_dependencies(items, n));
}
