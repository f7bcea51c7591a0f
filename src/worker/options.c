#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/arena.h"
#include "base/num.h"
#include "version.h"

static const char help[] =
	"usage: ax-worker --server URL[,URL…] --token-file FILE [options]\n"
	"Takes runs from AX servers and executes them: processes, HTTP calls, plug-in functions.\n"
	"\n"
	"  --server URL[,URL…]    servers of one database: all are polled, any is told; one that is\n"
	"                         away or slow is done without until it is well again    AX_SERVER\n"
	"  --token-file FILE      worker token (axctl worker token)                      AX_TOKEN_FILE\n"
	"  --groups G[:POOL],…    groups, and how many runs of each execute at once (default; its own size)\n"
	"                                                                                AX_GROUPS\n"
	"  --state DIR            results and running tasks are kept here (/var/lib/ax-worker)\n"
	"                                                                                AX_STATE\n"
	"  --name NAME            the same over restarts (host name)                     AX_NAME\n"
	"  --policy FILE          what tasks may do on this machine; without one process tasks\n"
	"                         are off and HTTP reaches public addresses only         AX_POLICY\n"
	"  --plugin SO[,SO…]      plug-ins with functions (axworker.h)                   AX_PLUGIN\n"
	"  --ca FILE              certificates to trust instead of the system's          AX_CA\n"
	"  --journal FILE         note what really begins, ends and is told (ax-check --journal)  AX_JOURNAL\n"
	"  --tag KEY=VALUE        for routing; may be repeated                           AX_TAG\n"
	"  --drain-seconds N      how long SIGTERM waits for running tasks (30)          AX_DRAIN_SECONDS\n"
	"  --ax-exec FILE         the shim that runs processes (beside this program)     AX_EXEC\n"
	"  --dev[=PID]            processes, scripts and loopback HTTP are allowed; ends with that\n"
	"                         process (its parent)                                   AX_DEV=1\n"
	"  --help, --version\n"
	"\n"
	"SIGTERM, SIGINT and SIGHUP: take no more, finish what runs, leave; a second one: at once.\n"
	"Exit: 0 drained, 1 cannot start, 2 a bad option, or one that names a file that cannot be\n"
	"used, 3 the token was refused, 4 another worker registered under this name, 5 the server\n"
	"refused the registration, 74 the state folder's disk failed.\n";

static const struct option longs[] = {
	{ "server", required_argument, NULL, 's' },
	{ "token-file", required_argument, NULL, 't' },
	{ "groups", required_argument, NULL, 'g' },
	{ "state", required_argument, NULL, 'S' },
	{ "name", required_argument, NULL, 'n' },
	{ "policy", required_argument, NULL, 'p' },
	{ "plugin", required_argument, NULL, 'P' },
	{ "ca", required_argument, NULL, 'c' },
	{ "journal", required_argument, NULL, 'j' },
	{ "tag", required_argument, NULL, 'T' },
	{ "drain-seconds", required_argument, NULL, 'd' },
	{ "ax-exec", required_argument, NULL, 'x' },
	{ "dev", optional_argument, NULL, 'D' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'v' },
	{ 0 },
};

_Noreturn static void bad_usage(const char *what)
{
	fprintf(stderr, "ax-worker: %s; see ax-worker --help\n", what);
	exit(2);
}

static const char *from_env(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

static int64_t read_seconds(const char *text)
{
	int64_t s;
	if (!ax_parse_i64(text, strlen(text), 0, 86400, &s))
		bad_usage("--drain-seconds is a number from 0 to 86400");
	return s * 1000;
}

static void add_tag(struct options *o, const char *tag, bool *given)
{
	size_t have = *given ? strlen(o->tags) : 0;
	size_t room = strlen(tag) + 2;
	o->tags = ax_realloc(*given ? o->tags : NULL, have + room);
	snprintf(o->tags + have, room, "%s%s", have ? "," : "", tag);
	*given = true;
}

static void read_env(struct options *o, bool *tags_given)
{
	const char *drain = from_env("AX_DRAIN_SECONDS");
	const char *dev = from_env("AX_DEV");
	const char *tags = from_env("AX_TAG");
	*o = (struct options){
		.server = from_env("AX_SERVER"),
		.token_file = from_env("AX_TOKEN_FILE"),
		.groups = from_env("AX_GROUPS"),
		.state = from_env("AX_STATE"),
		.name = from_env("AX_NAME"),
		.policy = from_env("AX_POLICY"),
		.plugin = from_env("AX_PLUGIN"),
		.ca = from_env("AX_CA"),
		.journal = from_env("AX_JOURNAL"),
		.shim = from_env("AX_EXEC"),
		.drain_ms = drain ? read_seconds(drain) : 30000,
		.dev = dev && strcmp(dev, "0") != 0,
	};
	if (tags)
		add_tag(o, tags, tags_given);
	*tags_given = false; /* the command line replaces it */
}

static void take(struct options *o, int c, bool *tags_given)
{
	switch (c) {
	case 's':
		o->server = optarg;
		break;
	case 't':
		o->token_file = optarg;
		break;
	case 'g':
		o->groups = optarg;
		break;
	case 'S':
		o->state = optarg;
		break;
	case 'n':
		o->name = optarg;
		break;
	case 'p':
		o->policy = optarg;
		break;
	case 'P':
		o->plugin = optarg;
		break;
	case 'c':
		o->ca = optarg;
		break;
	case 'j':
		o->journal = optarg;
		break;
	case 'T':
		if (!*tags_given)
			free(o->tags);
		add_tag(o, optarg, tags_given);
		break;
	case 'd':
		o->drain_ms = read_seconds(optarg);
		break;
	case 'x':
		o->shim = optarg;
		break;
	case 'D':
		o->dev = true;
		if (optarg && !ax_parse_i64(optarg, strlen(optarg), 1, INT32_MAX, &o->dev_parent))
			bad_usage("--dev takes the number of a process, or nothing");
		break;
	default:
		exit(2); /* getopt has said what is wrong */
	}
}

static const char *beside_this_program(const char *name)
{
	static char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 64);
	char *slash = n > 0 ? memrchr(path, '/', (size_t)n) : NULL;
	if (!slash)
		return name;
	snprintf(slash + 1, 60, "%s", name);
	return path;
}

void options_read(int argc, char **argv, struct options *ret_options)
{
	struct options o;
	bool tags_given = false;
	read_env(&o, &tags_given);
	for (int c; (c = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
		if (c == 'h') {
			fputs(help, stdout);
			exit(0);
		}
		if (c == 'v') {
			puts("ax-worker " AX_VERSION);
			exit(0);
		}
		take(&o, c, &tags_given);
	}
	if (optind < argc)
		bad_usage("there are no arguments beside options");
	if (!o.server)
		bad_usage("no --server");
	if (!o.token_file)
		bad_usage("no --token-file");
	if (!o.state)
		o.state = "/var/lib/ax-worker";
	o.shim_named = o.shim != NULL;
	if (!o.shim_named)
		o.shim = beside_this_program("ax-exec");
	*ret_options = o;
}
