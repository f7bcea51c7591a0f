/* A program that is a worker itself:  embed SERVER TOKEN-FILE STATE-DIR
 *
 * Its one function is the executor "greet"; SIGTERM (or ^C) drains. */

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "axworker.h"

static int greet(struct axw_attempt *attempt, void *user)
{
	const char *greeting = user;
	axw_output(attempt, greeting, strlen(greeting));
	printf("run %s, attempt %lld\n", axw_gid(attempt), (long long)axw_attempt_number(attempt));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: embed SERVER TOKEN-FILE STATE-DIR\n");
		return 2;
	}
	sigset_t ends;
	sigemptyset(&ends);
	sigaddset(&ends, SIGTERM);
	sigaddset(&ends, SIGINT);
	pthread_sigmask(SIG_BLOCK, &ends, NULL);

	char error[400];
	static char greeting[] = "hello\n";
	struct axw_options options = {
		.size = sizeof(options),
		.server = argv[1],
		.token_file = argv[2],
		.state_dir = argv[3],
		.name = "embed",
		.groups = "default:4",
		.version = "1",
	};
	struct axw *worker = axw_new(&options, error, sizeof(error));
	if (!worker) {
		fprintf(stderr, "embed: %s\n", error);
		return 1;
	}
	axw_register(worker, "greet", greet, greeting);
	if (axw_start(worker) < 0)
		return 1;
	int sig;
	sigwait(&ends, &sig);
	axw_drain(worker, 10000);
	int end = axw_wait(worker);
	axw_free(worker);
	return end;
}
