#include "server/scheduler.h"

#include <stdlib.h>
#include <string.h>

#include "adapters/zoneinfo/zoneinfo.h"
#include "app/quota_audit.h"
#include "app/rezone.h"
#include "app/tick.h"
#include "server/server.h"
#include "sys/crash_point.h"

enum {
	LOOK_MS = 1000,          /* at least so often */
	CHORES_MS = 3600 * 1000, /* retention, expired credentials */
	CHORES_AGAIN_MS = 60 * 1000,
	AUDIT_MS = 60 * 1000, /* quotas */
	ZONES_MS = 60 * 1000, /* new zone data */
};

struct tick_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	int64_t next_ms;
	int64_t queue_leads_ms;
	bool found_late;
	enum ax_status status;
	struct ax_err err;
};

static void arm(struct ax_server *server, int64_t next_ms)
{
	int64_t wait_ms = LOOK_MS;
	if (next_ms > 0)
		wait_ms = AX_MIN(wait_ms, AX_MAX(next_ms - ax_now_ms(&server->clock.port), 1));
	ax_alarm_set(&server->scheduler.alarm, wait_ms);
}

static void run_tick(struct ax_errand *errand, struct ax_side *side)
{
	struct tick_errand *t = (struct tick_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &t->arena;
	side->ctx->queue_leads_ms = t->queue_leads_ms;
	AX_CRASHPOINT("tick", "before");
	t->status = ax_tick(side->ctx, &t->next_ms, &t->err);
	AX_CRASHPOINT("tick", "before_commit");
	t->found_late = t->queue_leads_ms > 0 && side->ctx->found_late;
	side->ctx->arena = own;
	t->server->threads.hold_leases_until = side->ctx->hold_leases_until;
	if (t->status == AX_OK)
		ax_collector_looked(side->collector);
}

static void tick_done(struct ax_errand *errand)
{
	struct tick_errand *t = (struct tick_errand *)errand;
	struct ax_server *server = t->server;
	struct ax_scheduler *s = &server->scheduler;
	AX_CRASHPOINT("tick", "after_commit");
	s->running = false;
	int64_t next_ms = 0;
	bool failed = t->status != AX_OK || errand->commit != AX_OK;
	if (!failed) {
		server->metrics.tick_ms = ax_mono_ms(&server->clock.port);
		next_ms = t->next_ms;
		if (t->found_late)
			ax_due_queue_found_late(server);
	} else if (t->status != AX_OK && !s->failing) { /* said once: it is tried again every second */
		ax_log_text(&server->log, AX_LOG_ERROR, "tick_failed", "message", t->err.msg);
	}
	if (s->failing && !failed)
		ax_log_event(&server->log, AX_LOG_INFO, "ticks_again", "%s", "");
	s->failing = failed;
	ax_arena_done(&t->arena);
	free(t);
	if (s->stopped)
		return;
	arm(server, next_ms);
	if (s->again) {
		s->again = false;
		ax_scheduler_look(server);
	}
}

void ax_scheduler_look(struct ax_server *server)
{
	struct ax_scheduler *s = &server->scheduler;
	if (s->stopped || !ax_pulse_may_fire(server)) /* the pulse looks again when it may */
		return;
	if (s->running) {
		s->again = true;
		return;
	}
	struct tick_errand *t = ax_malloc(sizeof *t);
	t->errand = (struct ax_errand){ .run = run_tick, .done = tick_done };
	t->server = server;
	t->queue_leads_ms = ax_due_queue_leads_ms(server);
	s->running = true;
	ax_lane_post_own(&server->lanes, server->threads.tick_lane, &t->errand);
	ax_polls_follow(server);
}

/* --- hourly ------------------------------------------------------------------------------------------------------- */

struct chore_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	int deleted;
	enum ax_status status;
	struct ax_err err;
};

static void run_chores(struct ax_errand *errand, struct ax_side *side)
{
	struct chore_errand *c = (struct chore_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &c->arena;
	c->status = ax_retain(side->ctx, c->server->config.retention_ms, &c->deleted, &c->err);
	side->ctx->arena = own;
}

static void post_chores(struct ax_server *server);

static void chores_done(struct ax_errand *errand)
{
	struct chore_errand *c = (struct chore_errand *)errand;
	struct ax_server *server = c->server;
	bool more = c->status == AX_OK && errand->commit == AX_OK && c->deleted > 0;
	if (c->status != AX_OK) {
		ax_log_text(&server->log, AX_LOG_ERROR, "chores_failed", "message", c->err.msg);
		server->scheduler.chores_mono_ms = ax_mono_ms(&server->clock.port) - CHORES_MS + CHORES_AGAIN_MS;
	}
	ax_arena_done(&c->arena);
	free(c);
	if (more && !server->scheduler.stopped)
		post_chores(server);
}

static void post_chores(struct ax_server *server)
{
	struct chore_errand *c = ax_malloc(sizeof *c);
	c->errand = (struct ax_errand){ .run = run_chores, .done = chores_done };
	c->server = server;
	ax_lane_post_own(&server->lanes, AX_LANE_WRITE, &c->errand);
}

/* --- quotas ------------------------------------------------------------------------------------------------------- */

struct audit_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	struct ax_quota_audit audit;
	enum ax_status status;
	struct ax_err err;
};

static void run_audit(struct ax_errand *errand, struct ax_side *side)
{
	struct audit_errand *a = (struct audit_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &a->arena;
	a->status = ax_quota_audit(side->ctx, &a->audit, &a->err);
	side->ctx->arena = own;
}

/* Step by step, so that others come between them. */
static void audit_done(struct ax_errand *errand)
{
	struct audit_errand *a = (struct audit_errand *)errand;
	struct ax_server *server = a->server;
	server->metrics.quota_differs += (uint64_t)a->audit.differ;
	bool failed = a->status != AX_OK || errand->commit != AX_OK;
	if (a->status != AX_OK)
		ax_log_text(&server->log, AX_LOG_ERROR, "quota_audit_failed", "message", a->err.msg);
	ax_arena_done(&a->arena);
	if (!failed && a->audit.more && !server->scheduler.stopped) {
		ax_lane_post_own(&server->lanes, AX_LANE_WRITE, &a->errand);
		return;
	}
	server->scheduler.auditing = false;
	free(a);
}

static void audit_quotas(struct ax_server *server)
{
	if (server->scheduler.auditing)
		return;
	server->scheduler.auditing = true;
	struct audit_errand *a = ax_malloc(sizeof *a);
	a->errand = (struct ax_errand){ .run = run_audit, .done = audit_done };
	a->server = server;
	ax_lane_post_own(&server->lanes, AX_LANE_WRITE, &a->errand);
}

/* --- zone data ---------------------------------------------------------------------------------------------------- */

struct zones_errand {
	struct ax_errand errand;
	struct ax_server *server;
	struct ax_arena arena;
	char **names; /* of zones with new data, NULL-terminated */
	int tasks;
	enum ax_status status;
	struct ax_err err;
};

static void run_zones(struct ax_errand *errand, struct ax_side *side)
{
	struct zones_errand *z = (struct zones_errand *)errand;
	struct ax_arena *own = side->ctx->arena;
	side->ctx->arena = &z->arena;
	for (char **name = z->names; *name != NULL && z->status == AX_OK; name++) {
		int tasks;
		z->status = ax_rezone(side->ctx, *name, &tasks, &z->err);
		z->tasks += tasks;
	}
	side->ctx->arena = own;
}

static void zones_done(struct ax_errand *errand)
{
	struct zones_errand *z = (struct zones_errand *)errand;
	struct ax_server *server = z->server;
	bool again = z->status != AX_OK || errand->commit != AX_OK;
	if (again)
		ax_log_text(&server->log, AX_LOG_ERROR, "rezone_failed", "message", z->err.msg);
	else
		ax_log_event(&server->log, AX_LOG_INFO, "zone_data_changed", "\"tzdata\":\"%s\",\"tasks\":%d",
			ax_zones_version(server->zones), z->tasks);
	server->scheduler.rezoning = false;
	if (!again) {
		free(z->names);
		server->scheduler.rezone = NULL;
	}
	ax_arena_done(&z->arena);
	free(z);
}

static void rezone(struct ax_server *server)
{
	struct ax_scheduler *s = &server->scheduler;
	if (s->rezone == NULL || s->rezoning)
		return;
	s->rezoning = true;
	struct zones_errand *z = ax_malloc(sizeof *z);
	z->errand = (struct ax_errand){ .run = run_zones, .done = zones_done };
	z->server = server;
	z->names = s->rezone;
	ax_lane_post_own(&server->lanes, AX_LANE_WRITE, &z->errand);
}

static void look_at_zones(struct ax_server *server)
{
	struct ax_scheduler *s = &server->scheduler;
	if (s->rezone != NULL) /* the last ones first */
		return;
	char **names;
	if (ax_zoneinfo_recheck(server->zones, &names) > 0)
		s->rezone = names;
	else
		free(names);
}

/* --- the timer ---------------------------------------------------------------------------------------------------- */

static void on_alarm(void *user, bool clock_was_set)
{
	struct ax_server *server = user;
	struct ax_scheduler *s = &server->scheduler;
	if (clock_was_set)
		ax_log_event(&server->log, AX_LOG_WARN, "clock_was_set", "\"now\":%lld",
			(long long)ax_now_ms(&server->clock.port));
	int64_t mono = ax_mono_ms(&server->clock.port);
	if (mono - s->chores_mono_ms >= CHORES_MS) {
		s->chores_mono_ms = mono;
		post_chores(server);
	}
	if (mono - s->audit_mono_ms >= AUDIT_MS) {
		s->audit_mono_ms = mono;
		audit_quotas(server);
	}
	if (mono - s->zones_mono_ms >= ZONES_MS) {
		s->zones_mono_ms = mono;
		look_at_zones(server);
	}
	rezone(server);
	arm(server, 0);
	ax_scheduler_look(server);
	ax_alerter_look(server);
}

enum ax_status ax_scheduler_start(struct ax_server *server, struct ax_err *err)
{
	struct ax_scheduler *s = &server->scheduler;
	enum ax_status status = ax_alarm_open(&s->alarm, &server->loop, on_alarm, server, err);
	if (status != AX_OK)
		return status;
	s->chores_mono_ms = ax_mono_ms(&server->clock.port) - CHORES_MS;
	s->audit_mono_ms = s->zones_mono_ms = ax_mono_ms(&server->clock.port);
	server->metrics.tick_ms = ax_mono_ms(&server->clock.port);
	server->metrics.commit_ms = server->metrics.tick_ms;
	arm(server, 0);
	ax_scheduler_look(server);
	return AX_OK;
}

void ax_scheduler_stop(struct ax_server *server)
{
	struct ax_scheduler *s = &server->scheduler;
	if (s->stopped)
		return;
	s->stopped = true;
	ax_alarm_close(&s->alarm);
}

void ax_scheduler_close(struct ax_server *server)
{
	ax_scheduler_stop(server);
	free(server->scheduler.rezone);
	server->scheduler.rezone = NULL;
}
