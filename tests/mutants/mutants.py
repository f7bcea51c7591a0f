"""The guards that the simulator must miss when they are gone: tools/mutants takes them out one at a time."""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    why: str  # what the guard is for
    edits: tuple  # of (file, exact old text, new text)


def mutant(name, why, *edits):
    return Mutant(name, why, edits)


BIRTH, CHANGE, DISPATCH, FIRE = "src/app/birth.c", "src/app/change.c", "src/app/dispatch.c", "src/app/fire.c"
BACKFILL, CALENDARS, MAKE_UP = "src/app/backfill.c", "src/app/calendars.c", "src/app/make_up.c"
OVERLAP, SCHEDULE_NEXT, SHARD_SET = "src/app/overlap.c", "src/app/schedule_next.c", "src/app/shard_set.c"
FAILURES = "src/app/failures.c"
ALERTS, ALERT_RULES, DELIVER = "src/app/alerts.c", "src/app/alert_rules.c", "src/app/deliver.c"
INGEST, TASKS, TICK = "src/app/ingest.c", "src/app/tasks.c", "src/app/tick.c"
FSM, GID, ROOM = "src/core/run_fsm.c", "src/core/gid.c", "src/core/room.c"
SEEN, TAKERS, WORKERS = "src/app/worker_seen.c", "src/app/takers.c", "src/app/workers.c"

MUTANTS = [
    # ---- one fence, one execution; results only under it
    mutant("fence-stays", "each claim has a fence of its own",
           (CHANGE, "\trun->fence++;\n", "")),
    mutant("fence-not-compared", "a report of an earlier claim says nothing about this one",
           (INGEST, "if (run.fence == item->fence && ax_run_is_given_out(run.status))",
            "if (ax_run_is_given_out(run.status))")),
    mutant("late-result-applied", "a result of a claim that was taken back and given out again comes too late",
           (INGEST, "\tif (run->fence != item->fence)\n\t\treturn keep_late(pass, tx, run, item, err);\n", "")),
    mutant("late-result-forgotten", "a late result is confirmed only because it was recorded",
           (INGEST, "\tattempt.late_time = pass->now;\n", "\treturn AX_OK;\n")),
    mutant("terminal-moves", "an ended run never changes",
           (FSM, "return (struct ax_run_step){ .allowed = false, .next = state };",
            "return (struct ax_run_step){ .allowed = true, .next = AX_RUN_WAITING };"),
           (INGEST, "\tif (ax_run_is_terminal(run->status) || item->outcome != AX_OUTCOME_SUCCESS)\n",
            "\tif (item->outcome != AX_OUTCOME_SUCCESS)\n")),
    # ---- quotas
    mutant("quota-not-given-back", "the end of an attempt frees its place",
           (CHANGE, "if (status == AX_OK && (step.effects & AX_FX_GIVE))", "if (false)")),
    mutant("quota-not-taken", "a claim takes a place",
           (CHANGE, "if (status == AX_OK && (step.effects & AX_FX_TAKE))", "if (false)")),
    mutant("quota-not-asked", "a claim gives no more than the group's quota leaves",
           (ROOM, "room(group->dispatch_quota, group->running,", "room(group->dispatch_quota, 0,")),
    mutant("bounce-keeps-quota", "a claim that nobody accepted gives its place back",
           (FSM, "[AX_EV_BOUNCE]           = TO(WAITING, AX_FX_GIVE | AX_FX_RECORD),",
            "[AX_EV_BOUNCE]           = TO(WAITING, AX_FX_RECORD),")),
    # ---- every fire accounted for
    mutant("key-is-own-gid", "one fire, one run: the key of a fire's run is the fire",
           (FIRE, "ax_run_make(ctx, task, kind, fire_key(ctx, fire), fire + rule->jitter_ms, now);",
            "ax_run_make(ctx, task, kind, \"\", fire + rule->jitter_ms, now);")),
    mutant("next-from-now", "the next fire is computed from the fire, not from now",
           (FIRE, "ax_rule_next(rule, fire, &fire)",
            "ax_rule_next(rule, now, &fire)")),
    mutant("coalesced-not-counted", "fires that one run stands for are counted on it",
           (FIRE, "\trun->covers_count += count;\n", "\trun->covers_count += count > 1;\n")),
    mutant("missed-not-recorded", "fires older than the window become a MISSED run",
           (FIRE, "status = unless_exists(add_missed(ctx, tx, task, rule, batch, now, err));", "status = AX_OK;")),
    mutant("change-does-not-settle", "what was due before a change is accounted for under the old rule",
           (TASKS, "return status == AX_OK ? ax_fire_settle(e->ctx, tx, ret, e->now, err) : status;", "return status;")),
    mutant("epoch-not-appended", "the audit learns of every change of the rule",
           (TASKS, "\tif (status == AX_OK && changed)\n\t\tstatus = ax_epoch_append(e->ctx, tx, &task, err);\n", "")),
    mutant("back-over-fires", "fires only go forward, whatever the clock does",
           (SCHEDULE_NEXT, "\treturn AX_MAX(due, task->last_trigger_time);\n", "\treturn due;\n")),
    mutant("backfill-unpaced", "a backfill has no more runs live than it may",
           (BACKFILL, "steps < AX_BACKFILL_STEP && live(b) < b->max_live", "steps < AX_BACKFILL_STEP")),
    mutant("backfill-not-counted", "the end of a run makes room for its backfill's next",
           (MAKE_UP, "if (run->backfill_id == 0 || run->shard != 0)\n", "if (run->backfill_id == 0 || run->shard != 0 || run->status == AX_RUN_CANCELLED)\n")),
    mutant("backfill-of-the-future", "only fires that are past and dealt with are made up",
           (BACKFILL, "\treturn AX_MIN(ax_schedule_handled(task, now), now);\n", "\treturn now + ax_schedule_handled(task, now);\n")),
    mutant("calendar-change-does-not-settle", "what was due before a calendar changed falls under its old content",
           (CALENDARS, "enum ax_status status = ax_fire_settle(ctx, tx, task, now, &why);", "enum ax_status status = AX_OK;")),
    mutant("calendar-not-asked", "a fire has a date that the task's calendar lets through",
           (SCHEDULE_NEXT, "if (status == AX_OK && epoch->calendar[0] != '\\0')", "if (false)")),
    mutant("validity-not-asked", "no fire outside the window of validity",
           (SCHEDULE_NEXT, "\t\t.valid_until = epoch->valid_until,\n\t\t.jitter_ms", "\t\t.jitter_ms")),
    mutant("jitter-of-fires-forgotten", "a fire that is not due yet is not dealt with by a change",
           (SCHEDULE_NEXT, "AX_MAX(now - jitter_of(task), AX_MIN(task->epoch_time, now))", "now")),
    # ---- every live state is left
    mutant("no-lease-sweeper", "a run is never left to a callback alone",
           (TICK, "\tif (now < ctx->hold_leases_until) {", "\tif (true) {\n\t\tctx->hold_leases_until = now + AX_LEASE_MS;")),
    mutant("accept-without-deadline", "a claim that no worker accepts goes back",
           (CHANGE, "\trun->deadline_time = now + AX_ACCEPT_MS;\n", "\trun->deadline_time = 0;\n")),
    mutant("no-bounce", "a claim that nobody accepted is no lost attempt",
           (CHANGE, "run->status == AX_RUN_DISPATCHED && !run->accepted && run->bounce_times < AX_BOUNCE_LIMIT",
            "false")),
    mutant("own-absence-blamed", "a server that was away does not take its own silence for the workers'",
           (TICK, "\tif (now < ctx->hold_leases_until) {", "\tif (false) {")),
    mutant("held-not-released", "the end of a run lets go who waits for the overlap rule",
           (CHANGE, "\tif (status == AX_OK)\n\t\tstatus = ax_release_held(ctx, tx, &task, now, err);\n", "")),
    mutant("leases-outlive-the-clock", "a clock that goes back does not make leases longer",
           (TICK, "\tif (pass.now < ctx->seen_ms || ctx->seen_ms == 0)\n", "\tif (false)\n")),
    # ---- limits
    mutant("retries-unbounded", "no more retries than the task allows",
           (CHANGE, "bool tries_left = run->retry_times < def.retry_count;", "bool tries_left = true;")),
    mutant("losses-unbounded", "no more lost attempts than the task allows",
           (CHANGE, "def.lost_fails || run->lost_times >= def.lost_limit", "def.lost_fails")),
    mutant("overlap-ignored", "no run beside another that the overlap rule forbids",
           (OVERLAP, "\t\t*ret = live - held < most_live(task);\n", "\t\t*ret = true;\n")),
    mutant("skip-leaves-waiting", "an edit to overlap skip passes over the fires that wait",
           (TASKS, "if (status == AX_OK && task.def.overlap == AX_OVERLAP_SKIP)", "if (false)")),
    mutant("cancelled-is-tried-again", "what was asked to stop is not tried again",
           (CHANGE, "\t} else if (run->cancel != AX_CANCEL_NONE) {", "\t} else if (false) {")),
    # ---- failures
    mutant("failure-not-written", "every run that failed is counted",
           (CHANGE, "\t\tstatus = ax_failure_note(tx, run, now, err);\n", "\t\tstatus = AX_OK;\n")),
    mutant("failure-folded-again", "every failure is counted once",
           (FAILURES, "return status == AX_OK ? tx->ops->failure_set_folded(tx, failure->gid, err) : status;",
            "return status;")),
    mutant("failure-fold-loses-group", "a group's count is written with the failures that it counts",
           (FAILURES, "\t\tstatus = tx->ops->failure_group_update(tx, &heap->group, heap->group.rev, err);\n",
            "\t\tstatus = AX_OK;\n")),
    # ---- alerts
    mutant("failure-not-alerted", "every run that ended badly is on an alert",
           (ALERT_RULES, "\tevent.value = run->result_code;\n\treturn ax_alert_raise(ctx, tx, &event, now, err);\n",
            "\treturn AX_OK;\n")),
    mutant("miss-not-alerted", "every miss is on an alert",
           (BIRTH, "\tif (status == AX_OK && state == AX_RUN_MISSED)\n", "\tif (false)\n")),
    mutant("end-before-beginning", "the end of an alert is not told before its beginning",
           ("src/port/mem/alert_ops.c", "\t\tif (is_first(tx, delivery))\n", "\t\tif (is_first(tx, delivery) || true)\n")),
    mutant("end-not-told", "who knows of the beginning is told of the end",
           (ALERTS, "\tif (!alert->muted)\n\t\tstatus = tell_the_told(tx, alert, now, err);\n", "")),
    mutant("told-to-nobody", "nothing is queued for a channel that is gone",
           (ALERTS, " && is_there(&channels, told.at[i].channel_id))", ")")),
    mutant("try-not-counted", "every try is counted before it is made",
           (DELIVER, "\tdelivery->attempts++;\n", "")),
    mutant("sent-without-an-answer", "only what arrived is called sent",
           (DELIVER, "\tif (end->arrived) {\n", "\tif (true) {\n")),
    # ---- who gets a run
    mutant("tags-ignored", "a run goes only to a worker that has its tags",
           (SEEN, "ax_route_tags_match(demand, worker->name, worker->tags)", "true")),
    mutant("executor-ignored", "a run goes only to a worker that offers its executor",
           (SEEN, "return ax_worker_offers(worker->executors, executor_key) &&", "return")),
    mutant("long-lane-as-wide-as-all", "long runs hold no more than their share",
           (ROOM, "return AX_MIN(most - used, ax_lane_share(most, percent) - used_long);", "return most - used;")),
    mutant("backlog-not-asked", "a worker holds no more than its backlog",
           (TAKERS, "taker->slots > 0 && ax_worker_room(takers->group, part, run->lane) > 0", "taker->slots > 0")),
    mutant("long-not-counted", "the counters of long runs are what the rows say",
           (CHANGE, "int64_t long_delta = run->lane == AX_RUN_LANE_LONG ? delta : 0;", "int64_t long_delta = 0;")),
    mutant("disabled-is-asked", "a worker that a person disabled gets nothing",
           (SEEN, "return worker->status == AX_WORKER_DRAINING || worker->disabled;",
            "return worker->status == AX_WORKER_DRAINING;")),
    mutant("disabled-forgotten", "a restart does not enable a disabled worker",
           (WORKERS, "worker->disabled = known && old.disabled;", "worker->disabled = false;")),
    mutant("patience-without-end", "a run waits 5 s for the worker that its route wants, no longer",
           (DISPATCH, "waited >= 0 && waited < AX_ROUTE_WAIT_MS", "true")),
    mutant("kept-back", "runs that nobody may have now keep nobody else back",
           ("src/app/waiting.c", "\tw->last->over = true;\n",
            "\tfor (size_t i = 0; i < w->n; i++)\n\t\tw->queues[i].over = true;\n")),
    # ---- shards
    mutant("parent-outlives-its-shards", "a parent ends in the transaction that ends its last shard",
           (CHANGE, "return end.over ? ax_change_run(ctx, tx, &parent, &change, now, err) : AX_OK;", "return AX_OK;")),
    mutant("shards-in-part", "a parent that begins has all its shards",
           (SHARD_SET, "shard <= parent->shard_total; shard++)", "shard < parent->shard_total; shard++)")),
    mutant("parent-is-claimable", "no worker gets a parent",
           (OVERLAP, "return ax_run_is_parent(run) ? AX_HOLD_SPREAD : AX_HOLD_NONE;", "return AX_HOLD_NONE;")),
    mutant("pin-ignored", "a shard of a broadcast is for its own worker",
           (BIRTH, "worker[0] == '\\0' ? parent->demand", "true ? parent->demand")),
    mutant("worst-shard-forgotten", "a parent ends as its shards say",
           (SHARD_SET, "\tif (by_state[AX_RUN_FAILED] > 0)\n\t\treturn AX_EV_SHARDS_FAILED;\n", "")),
    mutant("cancel-stops-at-the-parent", "a cancel reaches every shard",
           (CHANGE, "if (status == AX_OK && ax_run_is_parent(run) && !ax_run_is_terminal(run->status))", "if (false)")),
    mutant("all-shards-rerun", "only those that did not succeed are repeated",
           (SHARD_SET, "\t\tif (old.at[i].status != AX_RUN_SUCCESS)\n", "")),
    # ---- gids
    mutant("gid-mark-not-stored", "a restarted server makes no gid twice",
           (BIRTH, "\t\tservers.at[i].gid_high_ms = AX_MAX(servers.at[i].gid_high_ms, mark->high_ms);\n", "")),
    mutant("window-ignored", "a fire older than the window is for a person to decide",
           (FIRE, "if (fire < now - def->window_seconds * 1000 && fire < now - AX_LATE_MS)", "if (false)")),
]
