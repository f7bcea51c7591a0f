/* ax-server: options, start, stop, exit codes (0 stopped as asked, 1 could not start, 2 wrong options). */

#include <malloc.h>
#include <signal.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "server/crash_points.h"
#include "server/server.h"
#include "server/state_machine.h"
#include "version.h"

static int print_text(char *text)
{
	fputs(text, stdout);
	free(text);
	return 0;
}

static int print_state_machine(void)
{
	struct ax_buf out;
	ax_buf_init(&out, 1024 * 1024);
	ax_state_machine_print(&out);
	return print_text(ax_buf_take(&out, NULL));
}

static int serve(const struct ax_config *config)
{
	static struct ax_server server;
	struct ax_err err = { 0 };
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error of its writer, like a full disk */
	umask(077);
	/* few threads allocate, and little: more arenas would only hold memory that nobody uses */
	mallopt(M_ARENA_MAX, 2);
	mallopt(M_MMAP_THRESHOLD, 128 * 1024); /* fixed: a large request's memory goes back at once */
	mallopt(M_TRIM_THRESHOLD, 256 * 1024);
	json_object_seed(0);
	enum ax_status status = ax_server_start(&server, config, &err);
	if (status == AX_OK)
		uv_run(&server.loop, UV_RUN_DEFAULT);
	else
		fprintf(stderr, "ax-server: %s\n", err.msg);
	ax_server_close(&server);
	return status == AX_OK ? 0 : 1;
}

/* Some libraries call abort() without a word, or call what they could not do by another name, when they get no memory.
 */
static void lend_memory(void)
{
	uv_replace_allocator(ax_malloc, ax_realloc, ax_calloc, free);
	json_set_alloc_funcs(ax_malloc, free);
}

int main(int argc, char **argv)
{
	struct ax_config config;
	struct ax_err err = { 0 };
#ifdef AX_CRASH_POINTS
	if (argc == 2 && strcmp(argv[1], "--list-crash-points") == 0)
		return ax_crash_points_print();
#endif
	lend_memory();
	if (sodium_init() < 0) {
		fputs("ax-server: the system gives no random numbers\n", stderr);
		return 1;
	}
	if (ax_config_read(argc, argv, getenv, &config, &err) != AX_OK) {
		fprintf(stderr, "ax-server: %s\n", err.msg);
		return 2;
	}
	switch (config.action) {
	case AX_CONFIG_HELP:
		return print_text(ax_config_help());
	case AX_CONFIG_VERSION:
		puts("ax-server " AX_VERSION);
		return 0;
	case AX_CONFIG_PRINT_STATE_MACHINE:
		return print_state_machine();
	case AX_CONFIG_SERVE:
		break;
	}
	return serve(&config);
}
