#include "sys/crash_point.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "base/num.h"

enum { PLANS_MAX = 8 };

struct plan {
	char name[80];
	enum { KILL, STOP, SLEEP, FAIL } action;
	int64_t sleep_ms;
	atomic_long left; /* passes before it acts */
};

static struct plan plans[PLANS_MAX];
static int n_plans;

static bool read_action(struct plan *plan, const char *text)
{
	if (strcmp(text, "kill") == 0)
		plan->action = KILL;
	else if (strcmp(text, "stop") == 0)
		plan->action = STOP;
	else if (strcmp(text, "err") == 0)
		plan->action = FAIL;
	else if (strncmp(text, "sleep=", 6) == 0)
		plan->action = SLEEP;
	else
		return false;
	return plan->action != SLEEP || ax_parse_i64(text + 6, strlen(text + 6), 0, 3600000, &plan->sleep_ms);
}

static bool read_plan(struct plan *plan, char *word)
{
	char *save;
	const char *name = strtok_r(word, ":", &save);
	const char *passes = strtok_r(NULL, ":", &save);
	const char *action = strtok_r(NULL, ":", &save);
	int64_t n = 0;
	if (!name || !passes || !action || !ax_parse_i64(passes, strlen(passes), 1, 1000000, &n))
		return false;
	snprintf(plan->name, sizeof plan->name, "%s", name);
	atomic_store(&plan->left, (long)n);
	return read_action(plan, action);
}

static void read_plans(void)
{
	static char text[1024];
	const char *given = getenv("AX_CRASH");
	snprintf(text, sizeof text, "%s", given ? given : "");
	for (char *save, *word = strtok_r(text, ",", &save); word; word = strtok_r(NULL, ",", &save)) {
		if (n_plans == PLANS_MAX || !read_plan(&plans[n_plans], word)) {
			fprintf(stderr, "AX_CRASH: write it as name:n:kill|stop|sleep=ms|err\n");
			_exit(2);
		}
		n_plans++;
	}
}

static bool act(const struct plan *plan)
{
	dprintf(STDERR_FILENO, "crash point %s\n", plan->name);
	switch (plan->action) {
	case KILL:
		kill(getpid(), SIGKILL);
		break;
	case STOP:
		kill(getpid(), SIGSTOP);
		break;
	case SLEEP:
		nanosleep(&(struct timespec){ plan->sleep_ms / 1000, plan->sleep_ms % 1000 * 1000000 }, NULL);
		break;
	case FAIL:
		break;
	}
	return plan->action == FAIL;
}

bool ax_crash_point(const char *step, const char *what)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	char name[80];
	bool fail = false;
	pthread_once(&once, read_plans);
	if (n_plans == 0)
		return false;
	snprintf(name, sizeof name, "%s.%s", step, what);
	for (int i = 0; i < n_plans; i++)
		if (strcasecmp(name, plans[i].name) == 0 && atomic_fetch_sub(&plans[i].left, 1) == 1)
			fail = act(&plans[i]) || fail;
	return fail;
}
