#include "server/metrics.h"

#include <inttypes.h>

#include "core/alert.h"
#include "server/server.h"

static const int64_t bounds_ms[AX_HISTOGRAM_BUCKETS] = { 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000,
	30000 };

static int bucket_of(int64_t ms)
{
	int i = 0;
	while (i < AX_HISTOGRAM_BUCKETS && ms > bounds_ms[i])
		i++;
	return i;
}

void ax_histogram_add(struct ax_histogram *histogram, int64_t ms)
{
	histogram->bucket[bucket_of(ms)]++;
	histogram->sum_ms += (uint64_t)AX_MAX(ms, 0);
}

static void tally(struct ax_tally *t, int64_t ms)
{
	t->bucket[bucket_of(ms)]++;
	t->sum_ms += (uint64_t)AX_MAX(ms, 0);
}

static void add_tally(struct ax_histogram *histogram, const struct ax_tally *t)
{
	for (int i = 0; i <= AX_HISTOGRAM_BUCKETS; i++)
		histogram->bucket[i] += t->bucket[i];
	histogram->sum_ms += t->sum_ms;
}

void ax_count_birth(struct ax_run_counts *counts, const struct ax_run *run)
{
	if (run->kind != AX_KIND_SCHEDULE || run->shard != 0 || ax_run_is_terminal(run->status))
		return;
	counts->fires++;
	tally(&counts->lateness, run->create_time - run->trigger_time);
}

void ax_count_run(struct ax_run_counts *counts, const struct ax_run *run)
{
	if (run->status == AX_RUN_DISPATCHED && !run->accepted && run->cancel == AX_CANCEL_NONE) {
		counts->dispatched++;
		if (run->kind == AX_KIND_SCHEDULE && run->fence == 1)
			tally(&counts->given, run->dispatch_time - run->trigger_time);
	}
	if (ax_run_is_terminal(run->status) && run->shard == 0)
		counts->ended[run->status]++;
}

void ax_metrics_add(struct ax_metrics *metrics, const struct ax_run_counts *counts)
{
	metrics->fires += counts->fires;
	metrics->dispatched += counts->dispatched;
	for (size_t i = 0; i < AX_COUNT(counts->ended); i++)
		metrics->ended[i] += counts->ended[i];
	add_tally(&metrics->lateness, &counts->lateness);
	add_tally(&metrics->given, &counts->given);
}

static void head(struct ax_buf *out, const char *name, const char *type, const char *help)
{
	ax_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void one(struct ax_buf *out, const char *name, const char *type, const char *help, double value)
{
	head(out, name, type, help);
	ax_buf_printf(out, "%s %.15g\n", name, value);
}

static void counter(struct ax_buf *out, const char *name, const char *help, uint64_t value)
{
	one(out, name, "counter", help, (double)value);
}

static void histogram(struct ax_buf *out, const char *name, const char *help, const struct ax_histogram *h)
{
	head(out, name, "histogram", help);
	uint64_t n = 0;
	for (int i = 0; i < AX_HISTOGRAM_BUCKETS; i++) {
		n += h->bucket[i];
		ax_buf_printf(out, "%s_bucket{le=\"%.3g\"} %" PRIu64 "\n", name, (double)bounds_ms[i] / 1000, n);
	}
	n += h->bucket[AX_HISTOGRAM_BUCKETS];
	ax_buf_printf(out, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n%s_sum %.15g\n%s_count %" PRIu64 "\n", name, n, name,
		(double)h->sum_ms / 1000, name, n);
}

static void by_state(struct ax_buf *out, const struct ax_metrics *m, const int64_t live[32])
{
	head(out, "ax_runs", "gauge", "Live runs by state.");
#define AX_RUN_STATE(name, number, text)                                                                               \
	if (!ax_run_is_terminal(AX_RUN_##name))                                                                        \
		ax_buf_printf(out, "ax_runs{state=\"%s\"} %" PRId64 "\n", #name, live[number]);
	AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
	head(out, "ax_runs_ended_total", "counter", "Runs ended since the start, by state.");
#define AX_RUN_STATE(name, number, text)                                                                               \
	if (ax_run_is_terminal(AX_RUN_##name))                                                                         \
		ax_buf_printf(out, "ax_runs_ended_total{state=\"%s\"} %" PRIu64 "\n", #name, m->ended[number]);
	AX_RUN_STATES(AX_RUN_STATE)
#undef AX_RUN_STATE
}

static void undone(struct ax_buf *out, struct ax_backend *backend)
{
	const char *by;
	int64_t n;
	if (backend->ops->undone == NULL)
		return;
	head(out, "ax_transactions_undone_total", "counter",
		"Tries of transactions that the database undid, or whose connection broke; most were called again.");
	for (int i = 0; (n = backend->ops->undone(backend, i, &by)) >= 0; i++)
		ax_buf_printf(out, "ax_transactions_undone_total{by=\"%s\"} %" PRId64 "\n", by, n);
}

static void http(struct ax_buf *out, struct ax_server *server)
{
	const struct ax_metrics *m = &server->metrics;
	struct ax_http_stats stats;
	ax_http_server_stats(server->http, &stats);
	one(out, "ax_http_connections", "gauge", "Open connections.", stats.connections);
	counter(out, "ax_http_requests_total", "Requests.", stats.requests_total);
	counter(out, "ax_http_refused_total", "Requests refused as malformed or over a limit.", stats.refused_total);
	head(out, "ax_http_answers_total", "counter", "Answers of the API by class.");
	for (int i = 2; i <= 5; i++)
		ax_buf_printf(out, "ax_http_answers_total{class=\"%dxx\"} %" PRIu64 "\n", i, m->answers[i]);
}

static void alerts(struct ax_buf *out, const struct ax_metrics *m, const struct ax_stored_counts *stored)
{
	head(out, "ax_alerts_open", "gauge", "Open alerts by rule.");
	for (int rule = 1; rule < AX_ALERT_RULES; rule++)
		ax_buf_printf(out, "ax_alerts_open{rule=\"%s\"} %" PRId64 "\n",
			ax_alert_rule_name((enum ax_alert_rule)rule), stored->alerts[rule]);
	one(out, "ax_alert_deliveries_pending", "gauge", "Messages of alerts that wait to be sent.",
		(double)stored->deliveries);
	counter(out, "ax_alert_deliveries_sent_total", "Messages of alerts that arrived.", m->alerts_sent);
	counter(out, "ax_alert_tries_failed_total", "Tries to send a message of an alert that failed.",
		m->alerts_failed);
}

void ax_metrics_print(struct ax_server *server, const struct ax_stored_counts *stored, struct ax_buf *out)
{
	const struct ax_metrics *m = &server->metrics;
	int64_t mono = ax_mono_ms(&server->clock.port);
	counter(out, "ax_fires_total", "Runs born from a schedule.", m->fires);
	histogram(out, "ax_fire_lateness_seconds", "Birth of a scheduled run after its due time.", &m->lateness);
	histogram(out, "ax_given_lateness_seconds", "First claim by a worker after the due time.", &m->given);
	by_state(out, m, stored->runs);
	counter(out, "ax_dispatched_total", "Runs given to workers.", m->dispatched);
	counter(out, "ax_quota_differs_total", "Counters of given runs that were wrong and were set right.",
		m->quota_differs);
	one(out, "ax_parked_polls", "gauge", "Polls of workers that wait for runs.", server->polls.n);
	one(out, "ax_queue_depth", "gauge", "Errands that wait for a writing thread.",
		ax_lane_depth(&server->lanes, AX_LANE_WRITE));
	counter(out, "ax_busy_total", "Calls answered 503 because a queue was full.", m->refused_busy);
	one(out, "ax_tick_age_seconds", "gauge", "Time since the scheduler last looked.",
		(double)(mono - m->tick_ms) / 1000);
	int64_t overdue_ms = stored->next_ms == 0 ? 0 : AX_MAX(ax_now_ms(&server->clock.port) - stored->next_ms, 0);
	one(out, "ax_oldest_overdue_seconds", "gauge",
		"How long the oldest fire, retry or lease that is due has waited for a server to see to it.",
		(double)overdue_ms / 1000);
	counter(out, "ax_commits_total", "Commits; with SQLite each carries many errands.", m->commits);
	counter(out, "ax_commit_failures_total", "Transactions that failed.", m->commit_failures);
	undone(out, server->threads.backend);
	counter(out, "ax_errands_total", "Errands of the writing threads.", m->errands);
	histogram(out, "ax_commit_seconds", "Time of one commit; where each transaction is one, with the work in it.",
		&m->commit);
	alerts(out, m, stored);
	http(out, server);
	one(out, "ax_start_time_seconds", "gauge", "When this server started.", (double)server->start_time / 1000);
}
