/* Cron speed: bench_cron LIST.tsv ("expression TAB start in ms" lines).
 *
 * One round parses every expression, then asks ten successive fires of each; the figures are the median of the rounds,
 * per second of this process's CPU time, so that other work on the machine does not count. The check value, the sum of
 * (10th fire in ms modulo 10^9), shows that the answers are right too. Prints JSON lines. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "base/arena.h"
#include "core/schedule.h"

enum { max_lines = 100000, rounds = 7, fires = 10, repeat = 20 };

struct line {
	char *expr;
	size_t len;
	int64_t from_ms;
	struct ax_schedule schedule;
};

static struct line *lines;
static size_t n_lines;

static void die(const char *what, const char *which)
{
	fprintf(stderr, "bench_cron: %s: %s\n", what, which);
	exit(1);
}

static void read_lines(const char *path)
{
	char text[2048];
	FILE *file = fopen(path, "r");
	if (file == NULL)
		die("cannot read", path);
	lines = ax_malloc(max_lines * sizeof(*lines));
	while (n_lines < max_lines && fgets(text, sizeof(text), file) != NULL) {
		char *tab = strchr(text, '\t');
		if (tab == NULL)
			die("no tab in", text);
		*tab = '\0';
		lines[n_lines].expr = ax_strdup_heap(text);
		lines[n_lines].len = strlen(text);
		lines[n_lines++].from_ms = strtoll(tab + 1, NULL, 10);
	}
	fclose(file);
	if (n_lines == 0)
		die("no lines in", path);
}

static double cpu_s(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double parse_round(void)
{
	struct ax_err err;
	double start = cpu_s();
	for (int r = 0; r < repeat; r++)
		for (size_t i = 0; i < n_lines; i++)
			if (ax_schedule_parse(lines[i].expr, lines[i].len, AX_DIALECT_NONE, &lines[i].schedule, &err) !=
				AX_OK)
				die(lines[i].expr, err.msg);
	return (double)n_lines * repeat / (cpu_s() - start);
}

static double next_round(const struct ax_tz *tz, int64_t *ret_check)
{
	int64_t check = 0;
	double start = cpu_s();
	for (int r = 0; r < repeat; r++) {
		check = 0;
		for (size_t i = 0; i < n_lines; i++) {
			int64_t ms = lines[i].from_ms;
			for (int k = 0; k < fires; k++)
				if (!ax_schedule_next(&lines[i].schedule, tz, ms, ms, &ms))
					die("no next fire", lines[i].expr);
			check += ms % 1000000000;
		}
	}
	*ret_check = check;
	return (double)n_lines * repeat * fires / (cpu_s() - start);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *rates)
{
	qsort(rates, rounds, sizeof(*rates), compare);
	return rates[rounds / 2];
}

static void measure_zone(const char *name, const struct ax_tz *tz)
{
	double rates[rounds];
	int64_t check = 0;
	if (tz == NULL)
		die("no such zone", name);
	next_round(tz, &check);
	for (int i = 0; i < rounds; i++)
		rates[i] = next_round(tz, &check);
	printf("{\"bench\":\"cron next\",\"zone\":\"%s\",\"per_cpu_s\":%.0f,\"check\":%lld}\n", name, median(rates),
		(long long)check);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		die("usage", "bench_cron LIST.tsv");
	read_lines(argv[1]);
	double rates[rounds];
	for (int i = 0; i < rounds; i++)
		rates[i] = parse_round();
	printf("{\"bench\":\"cron parse\",\"per_cpu_s\":%.0f}\n", median(rates));
	struct ax_zones *zones = ax_zoneinfo_open(NULL);
	measure_zone("UTC", ax_tz_utc());
	measure_zone("Europe/Berlin", ax_zones_find(zones, "Europe/Berlin"));
	ax_zoneinfo_close(zones);
	for (size_t i = 0; i < n_lines; i++)
		free(lines[i].expr);
	free(lines);
	return 0;
}
