#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/num.h"
#include "sim.h"

static const char usage[] =
	"usage: axsim [--from N] [--seeds COUNT] [--narrow] [--trace] [--twice]\n"
	"\n"
	"Runs the services against COUNT seeds (default 100) beginning with N (default 1) and checks every invariant\n"
	"after every transaction. A seed that fails is printed with the command that shows its history.\n"
	"  --narrow  few tasks, and people who do things to one of them at all servers at once: what meets seldom "
	"meets here\n"
	"  --trace   print what happens (best with --seeds 1)\n"
	"  --twice   run each seed two times and compare their histories: the simulator itself must be deterministic\n"
	"\n"
	"exit status: 0 every seed holds, 1 a violation, 2 usage\n";

/* Some seeds are calm, some are hell; most fault kinds are off in any one seed, so that each is seen alone, too. */
static void draw_profile(struct sim *sim)
{
	struct sim_profile *p = &sim->profile;
	int *rates[] = { &p->lose, &p->repeat, &p->slow, &p->tx_fail, &p->tx_uncertain, &p->tx_again, &p->server_crash,
		&p->worker_crash, &p->worker_pause, &p->clock_step, &p->hang, &p->sink_down, &p->server_stop,
		&p->server_cut, &p->partition };
	static const int worst[] = { 100, 100, 60, 30, 30, 60, 6, 20, 20, 60, 30, 300, 5, 10, 20 };
	for (size_t i = 0; i < AX_COUNT(rates); i++)
		*rates[i] = sim_between(sim, 0, 2) == 0 ? (int)sim_between(sim, 1, worst[i]) : 0;
	p->interleave = sim_between(sim, 0, 3) == 0 ? 0 : (int)sim_between(sim, 1, 150);
	p->stand_ms = 4;
	p->act_ms = 12000;
	if (sim_between(sim, 0, 2) == 0) { /* a crowd: much at once, and every transaction meets others */
		p->interleave = (int)sim_between(sim, 200, 700);
		p->stand_ms = (int)sim_between(sim, 10, 150);
		p->act_ms = sim_between(sim, 300, 2000);
	}
	p->fault_ms = sim_between(sim, 120, 600) * 1000;
	if (p->act_ms < 12000)
		p->fault_ms = AX_MIN(p->fault_ms, 200 * 1000);
	if (sim->narrow) {
		p->interleave = (int)sim_between(sim, 200, 700);
		p->stand_ms = (int)sim_between(sim, 2, 40);
		p->act_ms = sim_between(sim, 500, 3000);
		p->fault_ms = sim_between(sim, 120, 200) * 1000;
	}
	p->end_ms = p->fault_ms + 45 * 60 * 1000;
}

static void run_seed(struct sim *sim, uint64_t seed, bool narrow, bool trace)
{
	*sim = (struct sim){ .seed = seed, .narrow = narrow, .trace = trace };
	sim->now = 0;
	sim->mem = ax_mem_store_new();
	sim_faults_init(sim);
	draw_profile(sim);
	/* 2026-03-01: the virtual clock begins at 0, the wall clock there */
	sim->wall_step = INT64_C(1772323200000) + sim_between(sim, 0, 86400000);
	if (sim_between(sim, 0, 2) == 0) /* midnight comes soon */
		sim->wall_step = INT64_C(1772409600000) - sim_between(sim, 0, 600000);
	sim_servers_start(sim);
	for (int i = 0; i < SIM_WORKERS; i++) {
		struct sim_worker *w = &sim->workers[i];
		w->sim = sim;
		w->index = i;
		w->pool = sim_between(sim, 1, 6);
		snprintf(w->name, sizeof(w->name), "w%d", i + 1);
		sim_after(sim, 1 + i, sim_worker_start, w);
	}
	sim_operator_start(sim);
	sim_run_events(sim);
	if (!sim->failed)
		sim_check_end(sim);
}

static void end_seed(struct sim *sim)
{
	ax_mem_store_free(sim->mem);
	ax_mem_queue_free(sim->queue);
	for (int i = 0; i < SIM_SERVERS; i++)
		for (int k = 0; k < SIM_THREADS; k++) {
			ax_arena_done(&sim->servers[i].threads[k].arena);
			ax_due_store_done(&sim->servers[i].threads[k].due);
		}
	free(sim->heap);
	free(sim->seen);
	free(sim->spare_seen);
	free(sim->known);
	free(sim->events);
	free(sim->used);
	free(sim->acked);
	free(sim->told);
	sim_keep(NULL, 0);
}

struct options {
	int64_t from, seeds;
	bool narrow, trace, twice;
};

static bool parse(int argc, char **argv, struct options *ret)
{
	static const struct option options[] = {
		{ "from", required_argument, NULL, 'f' },
		{ "seeds", required_argument, NULL, 's' },
		{ "narrow", no_argument, NULL, 'n' },
		{ "trace", no_argument, NULL, 't' },
		{ "twice", no_argument, NULL, '2' },
		{ 0 },
	};
	*ret = (struct options){ .from = 1, .seeds = 100 };
	for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;) {
		bool ok = c != '?';
		if (c == 'f')
			ok = ax_parse_i64(optarg, strlen(optarg), 0, INT64_MAX / 2, &ret->from);
		if (c == 's')
			ok = ax_parse_i64(optarg, strlen(optarg), 1, 1000000000, &ret->seeds);
		ret->narrow = ret->narrow || c == 'n';
		ret->trace = ret->trace || c == 't';
		ret->twice = ret->twice || c == '2';
		if (!ok)
			return false;
	}
	return optind == argc;
}

int main(int argc, char **argv)
{
	static struct sim sim;
	struct options options;
	int64_t failed = 0, transactions = 0, messages = 0, crashes = 0, begun = 0, deadlocks = 0;
	if (!parse(argc, argv, &options)) {
		fputs(usage, stderr);
		return 2;
	}
	mallopt(M_TRIM_THRESHOLD, 64 << 20); /* memory goes to and fro all the time */
	for (int64_t seed = options.from; seed < options.from + options.seeds && failed < 5; seed++) {
		run_seed(&sim, (uint64_t)seed, options.narrow, options.trace);
		bool bad = sim.failed;
		if (bad)
			printf("seed %lld: %s\n  see it: axsim --from %lld --seeds 1%s --trace\n", (long long)seed,
				sim.failure, (long long)seed, options.narrow ? " --narrow" : "");
		transactions += sim.transactions;
		messages += sim.messages;
		crashes += sim.crashes;
		begun += sim.runs_begun;
		deadlocks += (int64_t)ax_mem_store_deadlocks(sim.mem);
		uint64_t hash = sim.trace_hash;
		end_seed(&sim);
		if (options.twice) {
			run_seed(&sim, (uint64_t)seed, options.narrow, false);
			if (sim.trace_hash != hash) {
				printf("seed %lld: two runs gave two histories\n", (long long)seed);
				bad = true;
			}
			end_seed(&sim);
		}
		failed += bad;
	}
	printf("%lld seeds, %lld transactions, %lld deadlocks, %lld messages, %lld crashes, %lld attempts: %lld "
	       "failed\n",
		(long long)options.seeds, (long long)transactions, (long long)deadlocks, (long long)messages,
		(long long)crashes, (long long)begun, (long long)failed);
	return failed > 0 ? 1 : 0;
}
