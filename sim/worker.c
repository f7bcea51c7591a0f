#include <stdio.h>
#include <string.h>

#include "core/limits.h"
#include "sim.h"

enum { BUSY_STEP_MS = 400, IDLE_STEP_MS = 1500, ANSWER_WAIT_MS = 4000, POLL_ANSWER_WAIT_MS = 8000 };

static void step(struct sim *sim, void *arg);

static void plan_step(struct sim_worker *w, int64_t delay_ms)
{
	if (w->step_due)
		return;
	w->step_due = true;
	sim_after(w->sim, delay_ms, step, w);
}

static struct sim_attempt *find(struct sim_worker *w, int64_t gid, int64_t fence)
{
	for (int i = 0; i < w->n_held; i++)
		if (w->held[i].gid == gid && w->held[i].fence == fence)
			return &w->held[i];
	return NULL;
}

static bool spooled(const struct sim_worker *w, int64_t gid, int64_t fence)
{
	for (int i = 0; i < w->n_spool; i++)
		if (w->spool[i].gid == gid && w->spool[i].fence == fence)
			return true;
	return false;
}

static void drop(struct sim_worker *w, struct sim_attempt *attempt)
{
	*attempt = w->held[--w->n_held];
}

/* Durable before anything is said about it. */
static void spool(struct sim_worker *w, const struct sim_attempt *attempt, enum ax_outcome outcome)
{
	if (w->n_spool < SIM_HELD_MAX)
		w->spool[w->n_spool++] = (struct sim_result){
			.gid = attempt->gid,
			.fence = attempt->fence,
			.outcome = outcome,
			.duration_ms = attempt->started ? w->sim->now - attempt->start_ms : 0,
			.started_due = attempt->started && !attempt->started_told,
		};
}

static void begin(struct sim_worker *w, struct sim_attempt *attempt)
{
	struct sim *sim = w->sim;
	attempt->started = true;
	attempt->start_ms = sim->now;
	int64_t kind = sim_between(sim, 0, 99);
	int64_t lasts = kind < 70 ? sim_between(sim, 20, 800)
		: kind < 92       ? sim_between(sim, 1000, 20000)
				  : sim_between(sim, 20000, SIM_LASTS_MS);
	attempt->end_ms = sim->now + lasts;
	attempt->outcome = kind % 5 != 0 ? AX_OUTCOME_SUCCESS : kind % 50 == 0 ? AX_OUTCOME_REFUSED : AX_OUTCOME_FAILED;
	if (sim_chance(sim, sim->profile.hang)) {
		attempt->end_ms = sim->now + 900000;
		attempt->timeout_s = 0; /* a worker that does not keep the limit */
	}
	sim_trace(sim, "%s begins %lld fence %lld", w->name, (long long)attempt->gid, (long long)attempt->fence);
	sim_check_begin(sim, w, attempt);
}

static int executing(const struct sim_worker *w)
{
	int n = 0;
	for (int i = 0; i < w->n_held; i++)
		n += w->held[i].started;
	return n;
}

/* Has the pool a place for it? The long lane has only its share. */
static bool has_place(const struct sim_worker *w, const struct sim_attempt *attempt)
{
	int64_t n_long = 0;
	for (int i = 0; i < w->n_held; i++)
		n_long += w->held[i].started && w->held[i].is_long;
	return executing(w) < w->pool &&
		(!attempt->is_long || n_long < AX_MAX(1, w->pool * attempt->long_share_percent / 100));
}

/* The lowest rank of those that may begin; NULL = none. */
static struct sim_attempt *next_to_begin(struct sim_worker *w)
{
	struct sim_attempt *next = NULL;
	for (int i = 0; i < w->n_held; i++) {
		struct sim_attempt *attempt = &w->held[i];
		if (!attempt->started && (!attempt->confirmed || attempt->start_allowed) && has_place(w, attempt) &&
			(next == NULL || attempt->rank < next->rank))
			next = attempt;
	}
	return next;
}

/* What became of an attempt by now; 0 = it goes on. */
static enum ax_outcome judge(const struct sim_worker *w, const struct sim_attempt *attempt)
{
	int64_t now = w->sim->now;
	if (attempt->stopping || (now - attempt->beat_ok_ms > AX_UNREACHABLE_MS && !attempt->continues))
		return AX_OUTCOME_CANCELLED;
	if (!attempt->started)
		return 0;
	if (attempt->timeout_s > 0 && now >= attempt->start_ms + attempt->timeout_s * 1000 && attempt->end_ms > now)
		return AX_OUTCOME_TIMEOUT;
	return now >= attempt->end_ms ? attempt->outcome : 0;
}

static void work(struct sim_worker *w)
{
	for (int i = w->n_held - 1; i >= 0; i--) {
		struct sim_attempt *attempt = &w->held[i];
		enum ax_outcome outcome = judge(w, attempt);
		if (outcome != 0) {
			spool(w, attempt, outcome);
			drop(w, attempt);
		}
	}
	for (struct sim_attempt *next; (next = next_to_begin(w)) != NULL;)
		begin(w, next);
}

static void to_server(struct sim_worker *w, const struct sim_server *server, sim_fn deliver, void *arg)
{
	if (w->cut_until[server->index] <= w->sim->now)
		sim_send(w->sim, deliver, arg);
}

/* The one that it speaks to now. */
static struct sim_server *pick(struct sim_worker *w)
{
	struct sim *sim = w->sim;
	if (sim->servers[sim->n_servers - 1].retired)
		return &sim->servers[0];
	int index = sim->roam ? (int)sim_between(sim, 0, sim->n_servers - 1) : w->favourite % sim->n_servers;
	return &sim->servers[index];
}

static void send_register(struct sim_worker *w)
{
	struct sim_register *request = sim_keep(w->sim, sizeof(*request));
	request->server = pick(w);
	request->worker = w;
	request->life = w->life;
	snprintf(request->incarnation, sizeof(request->incarnation), "%s", w->incarnation);
	for (int i = 0; i < w->n_held; i++)
		request->running[request->n_running++] =
			(struct ax_stop){ .gid = w->held[i].gid, .fence = w->held[i].fence, .reason = "" };
	for (int i = 0; i < w->n_spool; i++)
		request->running[request->n_running++] =
			(struct ax_stop){ .gid = w->spool[i].gid, .fence = w->spool[i].fence, .reason = "" };
	to_server(w, request->server, sim_server_register, request);
	if (sim_between(w->sim, 0, 3) == 0) /* the next time at another one */
		w->favourite++;
}

static void add_item(
	struct sim_report *report, enum ax_item_type type, int64_t gid, int64_t fence, enum ax_outcome outcome)
{
	report->items[report->n++] = (struct ax_item){
		.type = type,
		.gid = gid,
		.fence = fence,
		.outcome = outcome,
		.percent = -1,
		.message = "",
		.data = "output\n",
		.len = 7,
		.result = "",
	};
}

/* A few kinds of failures, each time with other numbers; some say nothing. */
static const char *message_of(struct sim *sim, const struct sim_result *result)
{
	long long number = result->gid % 65536;
	char *text = sim_keep(sim, 64);
	if (result->outcome == AX_OUTCOME_FAILED && number % 3 == 0)
		snprintf(text, 64, "order %lld was not found", number);
	else if (result->outcome == AX_OUTCOME_FAILED && number % 3 == 1)
		snprintf(text, 64, "connection to 10.0.0.1:%lld refused", number);
	return text;
}

static void forget_report(struct sim *sim, void *arg)
{
	struct sim_report *report = arg;
	struct sim_worker *w = report->worker;
	if (w->life != report->life || w->report_id != report->id || !w->reporting)
		return;
	w->reporting = false;
	w->favourite++; /* the other one may answer */
	(void)sim;
}

static void send_report(struct sim_worker *w)
{
	struct sim *sim = w->sim;
	struct sim_report *report = sim_keep(sim, sizeof(*report));
	for (int i = 0; i < w->n_held; i++) {
		struct sim_attempt *a = &w->held[i];
		if (!a->accepted_told)
			add_item(report, AX_ITEM_ACCEPTED, a->gid, a->fence, 0);
		if ((a->started || (a->confirmed && has_place(w, a))) && !a->started_told)
			add_item(report, AX_ITEM_STARTED, a->gid, a->fence, 0);
		if (sim->now - a->beat_sent_ms >= AX_HEARTBEAT_MS) {
			a->beat_sent_ms = sim->now;
			add_item(report, AX_ITEM_HEARTBEAT, a->gid, a->fence, 0);
			if (sim_between(sim, 0, 3) == 0)
				add_item(report, AX_ITEM_PROGRESS, a->gid, a->fence, 0);
		}
	}
	for (int i = 0; i < w->n_spool; i++) {
		if (w->spool[i].started_due)
			add_item(report, AX_ITEM_STARTED, w->spool[i].gid, w->spool[i].fence, 0);
		add_item(report, AX_ITEM_RESULT, w->spool[i].gid, w->spool[i].fence, w->spool[i].outcome);
		report->items[report->n - 1].message = message_of(sim, &w->spool[i]);
		report->items[report->n - 1].duration_ms = w->spool[i].duration_ms;
	}
	memcpy(report->unanswered, w->unanswered, sizeof(report->unanswered));
	report->n_unanswered = w->n_unanswered;
	if (report->n == 0 && report->n_unanswered == 0)
		return;
	report->server = pick(w);
	report->worker = w;
	report->life = w->life;
	report->id = ++w->report_id;
	report->sent = sim->now;
	snprintf(report->incarnation, sizeof(report->incarnation), "%s", w->incarnation);
	w->reporting = true;
	to_server(w, report->server, sim_server_report, report);
	sim_after(sim, ANSWER_WAIT_MS, forget_report, report);
}

/* Its answer is not taken any more, should it come. When there are too many such polls, what the newest one brought
 * comes back when its time to be accepted is over. */
static void forget_poll(struct sim *sim, void *arg)
{
	struct sim_poll *poll = arg;
	struct sim_worker *w = poll->worker;
	int at = poll->server->index;
	if (w->life != poll->life || w->polls[at].id != poll->id || !w->polls[at].out)
		return;
	w->polls[at].out = false;
	if (w->n_unanswered < SIM_UNANSWERED_MAX)
		w->unanswered[w->n_unanswered++] = poll->number;
	(void)sim;
}

static void send_poll(struct sim_worker *w, struct sim_server *server)
{
	int64_t slots = AX_MIN(w->pool * AX_BACKLOG_FACTOR, SIM_HELD_MAX / 2) - w->n_held;
	if (slots <= 0 || w->n_spool > SIM_HELD_MAX / 2)
		return;
	struct sim_poll *poll = sim_keep(w->sim, sizeof(*poll));
	poll->server = server;
	poll->worker = w;
	poll->life = w->life;
	poll->id = ++w->polls[server->index].id;
	poll->number = (int64_t)poll->id * SIM_SERVERS + server->index;
	poll->slots = slots;
	snprintf(poll->incarnation, sizeof(poll->incarnation), "%s", w->incarnation);
	w->polls[server->index].out = true;
	w->polls[server->index].sent = w->sim->now;
	to_server(w, server, sim_server_poll, poll);
	sim_after(w->sim, POLL_ANSWER_WAIT_MS, forget_poll, poll);
}

/* At all servers at once, or at one of them. */
static void send_polls(struct sim_worker *w)
{
	bool any = false;
	for (int i = 0; i < w->sim->n_servers; i++) {
		any = any || w->polls[i].out;
		if (w->sim->poll_all && !w->polls[i].out && !w->sim->servers[i].retired)
			send_poll(w, &w->sim->servers[i]);
	}
	if (!w->sim->poll_all && !any)
		send_poll(w, pick(w));
}

static void crash(struct sim_worker *w)
{
	struct sim *sim = w->sim;
	bool adopts = sim_between(sim, 0, 1) == 0; /* the tasks' processes live on and are found again */
	sim_trace(sim, "%s dies%s", w->name, adopts ? ", its processes live on" : "");
	sim->crashes++;
	w->up = false;
	for (int i = w->n_held - 1; i >= 0; i--)
		if (!adopts || !w->held[i].started)
			drop(w, &w->held[i]);
	sim_after(sim, sim_between(sim, 0, 3) == 0 ? sim_between(sim, 20000, 90000) : sim_between(sim, 100, 3000),
		sim_worker_start, w);
}

static void step(struct sim *sim, void *arg)
{
	struct sim_worker *w = arg;
	w->step_due = false;
	if (!w->up)
		return;
	if (w->paused_until > sim->now) {
		plan_step(w, w->paused_until - sim->now);
		return;
	}
	if (sim_chance(sim, sim->profile.worker_crash)) {
		crash(w);
		return;
	}
	if (sim_chance(sim, sim->profile.worker_pause)) {
		w->paused_until = sim->now + sim_between(sim, 1000, 90000);
		sim_trace(sim, "%s stands still for %lld ms", w->name, (long long)(w->paused_until - sim->now));
	}
	if (sim_chance(sim, sim->profile.partition))
		w->cut_until[sim_between(sim, 0, sim->n_servers - 1)] = sim->now + sim_between(sim, 1000, 90000);
	work(w);
	if (!w->registered) {
		send_register(w);
	} else {
		if (!w->reporting)
			send_report(w);
		send_polls(w);
	}
	plan_step(w, w->n_held + w->n_spool > 0 || !w->registered ? BUSY_STEP_MS : IDLE_STEP_MS);
}

void sim_worker_start(struct sim *sim, void *arg)
{
	struct sim_worker *w = arg;
	w->up = true;
	w->life++;
	w->registered = w->reporting = false;
	for (int i = 0; i < SIM_SERVERS; i++)
		w->polls[i].out = false;
	w->n_unanswered = 0;
	snprintf(w->incarnation, sizeof(w->incarnation), "%016llx", (unsigned long long)sim_random(sim));
	for (int i = 0; i < w->n_held; i++) { /* adopted: the lease counts from here, at best */
		w->held[i].accepted_told = w->held[i].started_told = true;
		w->held[i].beat_sent_ms = 0;
	}
	sim_trace(sim, "%s starts", w->name);
	plan_step(w, 1);
}

static void stop(struct sim_worker *w, const struct ax_stop *stops, int n)
{
	for (int i = 0; i < n; i++) {
		struct sim_attempt *attempt = find(w, stops[i].gid, stops[i].fence);
		if (attempt != NULL)
			attempt->stopping = true;
	}
}

void sim_worker_registered(struct sim *sim, void *arg)
{
	struct sim_register *answer = arg;
	struct sim_worker *w = answer->worker;
	if (!w->up || w->life != answer->life || w->paused_until > sim->now)
		return;
	if (answer->status == AX_CONFLICT)
		crash(w);
	if (answer->status != AX_OK)
		return;
	w->registered = true;
	for (int i = 0; i < w->n_held; i++)
		w->held[i].beat_ok_ms = AX_MAX(w->held[i].beat_ok_ms, sim->now - 1000);
	stop(w, answer->stops, answer->n_stops);
	plan_step(w, 1);
}

static void take_verdict(struct sim_worker *w, const struct sim_report *answer, const struct ax_item *item)
{
	struct sim_attempt *attempt = find(w, item->gid, item->fence);
	bool good = item->verdict == AX_VERDICT_APPLIED || item->verdict == AX_VERDICT_DUPLICATE;
	if (item->type == AX_ITEM_RESULT) {
		for (int i = 0; i < w->n_spool; i++)
			if (w->spool[i].gid == item->gid && w->spool[i].fence == item->fence) {
				sim_check_acked(w->sim, &w->spool[i]);
				w->spool[i] = w->spool[--w->n_spool];
				return;
			}
		return;
	}
	if (attempt == NULL)
		return;
	if (item->type == AX_ITEM_ACCEPTED)
		attempt->accepted_told = true;
	if (item->type == AX_ITEM_STARTED) {
		attempt->started_told = true;
		attempt->start_allowed = good;
	}
	if (good)
		attempt->beat_ok_ms = AX_MAX(attempt->beat_ok_ms, answer->sent);
	if (item->verdict == AX_VERDICT_STOP)
		attempt->stopping = true;
}

/* A server that took the report knows of them. */
static void forget_unanswered(struct sim_worker *w, const struct sim_report *answer)
{
	for (int i = 0; i < answer->n_unanswered; i++)
		for (int k = 0; k < w->n_unanswered; k++)
			if (w->unanswered[k] == answer->unanswered[i])
				w->unanswered[k] = w->unanswered[--w->n_unanswered];
}

void sim_worker_reported(struct sim *sim, void *arg)
{
	struct sim_report *answer = arg;
	struct sim_worker *w = answer->worker;
	if (!w->up || w->life != answer->life || w->paused_until > sim->now)
		return;
	if (w->report_id == answer->id)
		w->reporting = false;
	if (answer->status == AX_NOT_FOUND)
		w->registered = false;
	if (answer->status == AX_CONFLICT)
		crash(w); /* superseded: an old message came late, and a supervisor starts it anew */
	if (answer->status != AX_OK)
		return;
	for (int i = 0; i < answer->n; i++)
		take_verdict(w, answer, &answer->items[i]);
	forget_unanswered(w, answer);
	stop(w, answer->stops, answer->n_stops);
}

void sim_worker_polled(struct sim *sim, void *arg)
{
	struct sim_poll *answer = arg;
	struct sim_worker *w = answer->worker;
	int at = answer->server->index;
	if (!w->up || w->life != answer->life || w->paused_until > sim->now || w->polls[at].id != answer->id ||
		!w->polls[at].out)
		return;
	w->polls[at].out = false;
	if (answer->status == AX_NOT_FOUND)
		w->registered = false;
	if (answer->status == AX_CONFLICT)
		crash(w);
	if (answer->status != AX_OK || sim->now - w->polls[at].sent > AX_START_WITHIN_MS)
		return;
	stop(w, answer->stops, answer->n_stops);
	for (int i = 0; i < answer->n_orders && w->n_held < SIM_HELD_MAX; i++) {
		struct sim_attempt attempt = answer->orders[i].attempt;
		if (find(w, attempt.gid, attempt.fence) != NULL || spooled(w, attempt.gid, attempt.fence))
			continue;
		attempt.beat_ok_ms = w->polls[at].sent;
		attempt.beat_sent_ms = sim->now;
		w->held[w->n_held++] = attempt;
	}
	work(w);
	plan_step(w, 1);
}
