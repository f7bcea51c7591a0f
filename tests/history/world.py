"""A store with much behind it, made in SQL: N ended runs with all that they left, and a few thousand that are live.

The same statements fill both databases: `seq` is the number of a row, `||` joins texts, there is no division."""

IDS_STEP = 100  # AX_SQL_IDS_STEP
LIVE = 10**12  # gids of live runs are above it
TASKS = 200  # with the ids 1, 9, 17, …: eight runs in a row belong to one
STEP_MS = 50  # between two runs
FAR = 10**10  # when delayed runs are due
LAST_TASK = 1 + 8 * (TASKS - 1)
GROUP = "'g' || ((seq - seq % 8) % 20)"
OF_TASK = f"1 + (seq - seq % 8) % {8 * TASKS}"


def history(store, first, last):
    """Of every eight runs one is a parent, and the three behind it are its shards."""
    is_shard = "seq % 8 IN (1, 2, 3)"
    store.insert(
        "ax_task_log", first, last, gid="seq", task_id=OF_TASK, kind=1, group_key=GROUP, executor_key="'e0'",
        fire_key="CASE WHEN seq % 8 < 4 THEN seq - seq % 8 ELSE seq END", rev=4, version=1, lane=1, fence=1, priority=5,
        shard=f"CASE WHEN {is_shard} THEN seq % 8 ELSE 0 END", accepted=1, ended_by_worker=1,
        parent=f"CASE WHEN {is_shard} THEN seq - seq % 8 ELSE 0 END", incarnation="'0123456789abcdef'",
        status="CASE WHEN seq % 50 = 0 THEN 11 WHEN seq % 61 = 0 THEN 16 WHEN seq % 97 = 0 THEN 13 ELSE 10 END",
        reason="CASE WHEN seq % 61 = 0 THEN 'decided' ELSE '' END", trigger_time=f"seq * {STEP_MS}",
        create_time=f"seq * {STEP_MS}", dispatch_time=f"seq * {STEP_MS} + 3", start_time=f"seq * {STEP_MS} + 5",
        heartbeat_time=f"seq * {STEP_MS} + 9000", end_time=f"seq * {STEP_MS} + 12000",
        deadline_time=f"seq * {STEP_MS} + 50000", watch_time=f"seq * {STEP_MS} + 60000", rank=f"seq * {STEP_MS}",
        worker="'w' || (seq % 30)", result_msg="'done: 1234 rows'", params="'{\"region\":\"eu\",\"day\":\"2026-01-01\"}'",
        trace_id="'4bf92f3577b34da6a3ce929d0e0e4736'",
        batch=f"(seq - seq % 8) * {STEP_MS}",
        backfill_id="CASE WHEN seq % 1000 < 8 THEN (seq - seq % 1000) + 1 ELSE 0 END")
    store.insert("ax_failure", first // 50 + 1, last // 50, gid="seq * 50", fingerprint=1, group_key="'g' || (seq % 5)",
                 task_id="1 + seq % 10 * 8", version=1, executor_key="'e0'", title="'exit code 7'", folded=1,
                 rerun_gid="CASE WHEN seq % 2 = 0 THEN 1 ELSE 0 END", time="seq")
    store.insert("ax_attempt", first // 50 + 1, last // 50, gid="seq * 50", fence=1, message="'exit code 7'")
    store.insert("ax_output", first // 50 + 1, last // 50, gid="seq * 50", fence=1, data="x'68656c6c6f'")
    store.insert("ax_run_upstream", first // 50 + 1, last // 50, gid="seq * 50", upstream_id=1)
    store.insert("ax_audit", first // 20 + 1, last // 20, id="seq", time="seq", actor="'a' || (seq % 50)",
                 object="'task:' || (seq % 50)", action="'task.update'")
    store.insert("ax_event", first // 20 + 1, last // 20, id="seq", event_name="'e' || (seq % 20)", event_key="seq",
                 time="seq")
    store.insert("ax_event_task", first // 20 + 1, last // 20, event="seq", task_id=1)
    store.insert("ax_alert", first // 20 + 1, last // 20, id="seq", rule="1 + seq % 5", group_key="'g' || (seq % 20)",
                 episode="seq", state=1, task_id="1 + seq % 10 * 8", resolve_time="seq", told_time="seq")
    store.insert("ax_alert_outbox", first // 20 + 1, last // 20, id="seq", alert_id="seq", channel_id="1 + seq % 3",
                 state=1, next_time="seq", create_time="seq")
    store.insert("ax_schedule_epoch", first // 100 + 1, last // 100, id="seq", task_id="1 + seq % 10 * 8",
                 from_time="seq", enabled=1)
    store.insert("ax_backfill", first // 1000 + 1, last // 1000, id="seq", task_id="1 + seq % 10 * 8", status=1)
    store.insert("ax_failure_group", first // 1000 + 1, last // 1000, id="seq", group_key="'g' || (seq % 5)",
                 fingerprint="seq", last_seen_time="seq * 1000", state="seq % 3")
    store.insert("ax_failure_spread", first // 1000 + 1, last // 1000, failure_id="seq", task_id=1, version=1)
    store.insert("ax_failure_hour", first // 1000 + 1, last // 1000, failure_id="seq")


def present(store):
    """What is there whatever happened before."""
    store.insert("ax_migration", 1, 3, number="seq")
    store.insert("ax_group", 0, 19, group_key="'g' || seq", version=1)
    store.insert("ax_task", 1, TASKS, id="1 + (seq - 1) * 8", group_key="'g' || (seq % 20)", task_name="'t' || seq",
                 task_type="CASE WHEN seq % 10 = 0 THEN 3 ELSE 1 END", status=1, cron_expr="'@every 1m'", priority=5,
                 next_trigger_time="CASE WHEN seq % 20 IN (1, 3) THEN 0 ELSE 1000 + seq END", version=1,
                 event_name="CASE WHEN seq % 10 = 0 THEN 'e1' ELSE '' END",
                 absence_seconds="CASE WHEN seq % 4 = 0 THEN 60 ELSE 0 END", calendar="'c' || (seq % 3)",
                 ending="CASE WHEN seq % 50 = 7 THEN 1 ELSE 0 END")
    store.insert("ax_task_version", 1, TASKS, task_id="1 + (seq - 1) * 8", version=1)
    store.insert("ax_worker", 0, 29, name="'w' || seq")
    store.insert("ax_worker_group", 0, 29, worker="'w' || seq", group_key="'g1'", given=1)
    # A thousand of each live status, in three groups and twelve queues each.
    store.insert(
        "ax_task_log", 1, 5000, gid=f"{LIVE} + seq", task_id=f"1 + (seq - seq % 5) * 8 % {8 * TASKS}", kind=1,
        fire_key="'live' || seq", group_key="'g' || ((seq - seq % 5) % 3)", executor_key="'e' || ((seq - seq % 5) % 9 % 3)",
        status="seq % 5", lane="1 + seq % 2", rank="seq", trigger_time="seq", deadline_time="1 + seq", priority=5,
        watch_time="CASE WHEN seq % 10 = 3 THEN seq ELSE 0 END", hold="CASE WHEN seq % 20 = 1 THEN 1 ELSE 0 END",
        fence="CASE WHEN seq % 5 = 1 AND seq % 3 = 0 THEN 0 ELSE 1 END",
        worker="CASE WHEN seq % 5 IN (2, 3) THEN 'w' || (seq % 30) ELSE '' END",
        cancel="CASE WHEN seq % 100 = 3 THEN 1 ELSE 0 END",
        demand="CASE WHEN seq % 4 = 0 THEN '{\"zone\":\"a\"}' ELSE '' END")
    store.insert("ax_task_log", 1, 200, gid=f"{LIVE} + 100000 + seq", task_id=1, kind=1, fire_key="'shards'",
                 group_key="'g0'", executor_key="'e0'", shard="seq", parent=f"{LIVE} + 1", fence=1,
                 status="CASE WHEN seq % 2 = 0 THEN 10 ELSE 2 END", worker="CASE WHEN seq % 2 = 0 THEN '' ELSE 'w1' END")
    store.insert("ax_failure", 1, 50, gid=f"{LIVE} + seq", fingerprint=1, group_key="'g1'", task_id=1)
    store.insert("ax_alert", 1, 100, id=f"{LIVE} + seq", rule="1 + seq % 5", group_key="'g' || (seq % 20)",
                 episode="'open' || seq", task_id="1 + seq % 10 * 8", told_time="seq")
    store.insert("ax_alert_outbox", 1, 100, id=f"{LIVE} + seq", alert_id=f"{LIVE} + seq % 50", channel_id="1 + seq % 3",
                 next_time="seq")
    store.insert("ax_backfill", 1, 10, id=f"{LIVE} + seq", task_id=1)
    store.insert("ax_idem", 1, 1000, key="'k' || seq", expire_time="seq")
    store.insert("ax_token", 1, 200, id="seq", hash="seq", kind="CASE WHEN seq % 10 = 0 THEN 'api' ELSE 'session' END",
                 expire_time="seq")
    store.insert("ax_user", 1, 20, id="seq", name="'u' || seq")
    store.insert("ax_channel", 1, 3, id="seq", name="'n' || seq", version=1)
    store.insert("ax_calendar", 0, 2, name="'c' || seq", version=1)
    store.insert("ax_calendar_version", 0, 2, name="'c' || seq", version=1)
    store.insert("ax_server", 0, 3, number="seq", incarnation=1)
    store.insert("ax_ended_minute", 1, 2880, minute="seq")
    store.insert("ax_notice", 1, 1000, server="1 + seq % 3", seq="seq", time="seq")
    store.insert("ax_lease", 0, 3, name="'l' || seq", fence=1)
    store.insert("ax_upstream", 1, 20, task_id="1 + seq * 8", upstream_id=1)
    store.insert("ax_canary", 1, 20, task_id="1 + seq * 8")


def far_from_due(store, first, last):
    """Delayed runs that wait for their time, of a task of their own."""
    store.insert("ax_task_log", first, last, gid=f"{LIVE} + {10**6} + seq", task_id=1 + 8 * TASKS, fire_key="'d' || seq", group_key="'g0'",
                 executor_key="'e0'", status=0, trigger_time=f"{FAR} + seq", deadline_time=f"{FAR} + seq")


def ids(some):
    """As a statement of many ids takes them: the last one repeatedly."""
    some = list(some)
    return some + [some[-1]] * (IDS_STEP - len(some))


def arguments(row, runs):
    """Arguments for every statement, when `runs` have ended; NAME_LOCK, _HOLD, _FREE take those of NAME. row(table, column=value, …)
    are those of a row."""
    top, run, parent = 2 * LIVE, LIVE + 2, LIVE + 1
    some_task = dict(id=9, group_key="g1", task_name="new", task_type=1, status=1, priority=5, version=1)
    new_run = dict(gid=LIVE + 10**6, task_id=1, kind=1, fire_key="new", group_key="g1", executor_key="e1", status=1)
    old_run = dict(gid=run, status=3, rev=1, worker="w2", fence=2)
    done_run = dict(old_run, status=10, end_time=10**6)
    queue = ["g1", "e1", 1, ""]
    return {
        # tasks
        "TASK_INSERT": row("ax_task", **dict(some_task, id=None)), "TASK_GET": [9],
        "TASK_UPDATE": row("ax_task", **some_task) + [1, 1002], "TASK_ADVANCE": row("ax_task", **some_task) + [1002],
        "TASK_LAST_RUN": row("ax_task", **some_task), "TASKS_ABSENT": [10**6, 0, 20], "TASK_DELETE": [9],
        "TASK_EXISTS": [9], "TASKS_PAGE": [100, 20], "TASKS_NAMED": ["g2", "t2", 0], "TASKS_OF_CALENDAR": ["c1", 0, 20],
        "TASKS_BEHIND": ["c1", 3, 20], "TASKS_DUE": [1100, 20],
        "TASKS_BY_ID": ids(1 + 8 * i for i in range(20)), "TASKS_EXPECTED": ids(1 + 8 * i for i in range(20)),
        "TASKS_LIVE": ids(1 + 8 * i for i in range(20)), "TASKS_BESIDE": ids(1 + 8 * i for i in range(20)), "TASKS_AHEAD": [1010, 0, 1100, 20], "TASKS_STUCK": [20], "TASKS_ENDING": [20], "TASKS_LISTENING": ["e1", 20],
        "TASK_COUNTS": [], "TASK_NEXT_DUE": [], "STORE_ID": [], "VERSION_INSERT": row("ax_task_version", task_id=9, version=2),
        "VERSION_GET": [9, 1], "VERSIONS_NOW": ids(1 + 8 * i for i in range(20)), "VERSIONS": [9, 5, 20], "CANARY_PUT": row("ax_canary", task_id=9), "CANARY_GET": [9],
        "EPOCH_INSERT": row("ax_schedule_epoch", id=None), "EPOCHS": [20, 20], "EPOCHS_OF_TASK": [0, 20, 9],
        # runs
        "RUN_INSERT": row("ax_task_log", **new_run), "RUN_GET": [runs // 2],
        "RUN_FIND": [41, 1, "live5", 0], "RUN_UPDATE": row("ax_task_log", **old_run) + [0],
        "RUN_RENEWED": row("ax_task_log", **old_run) + [0], "RUNS_RENEWED": row("ax_task_log", **old_run) + [0] + ids([run]),
        "RUN_BEGUN": row("ax_task_log", **old_run) + [0], "RUNS_BEGUN": row("ax_task_log", **old_run) + [0] + ids([run]),
        "RUN_GIVEN": row("ax_task_log", **old_run) + [0], "RUNS_GIVEN": row("ax_task_log", **old_run) + [0] + ids([run]),
        "RUN_ENDED": row("ax_task_log", **done_run) + [0], "RUNS_ENDED": row("ax_task_log", **done_run) + [0] + ids([run]),
        "RUN_LIVED": row("ax_task_log", **done_run) + [0], "RUNS_LIVED": row("ax_task_log", **done_run) + [0] + ids([run]),
        "RUN_SET_DUE": row("ax_task_log", gid=LIVE + 5) + [0], "RUN_RENEW": [run, 1, 5, 6], "RUN_EXISTS": [runs // 2],
        "RUNS_LIVE": [41, 20], "RUNS_LIVE_COUNT": [41, 20], "RUNS_PENDING": [41, 20],
        "RUNS_HELD": [1, 20], "RUN_NEXT_QUEUE": ["g1", "", 0, ""], "RUNS_CLAIMABLE": queue + [-2**63, 0, 20],
        "RUNS_UNDISPATCHED": [5000, 0, 0, 20], "RUNS_UNDECIDED": [41, 20], "RUNS_LOOKED": [1, 20],
        "SHARDS": [parent, 0, 20], "SHARDS_LIVE": [parent, 0, 20], "RUNS_OVERDUE": [100, 100, 20], "RUNS_WATCHED": [100, 20],
        "RUNS_BY_GID": ids(LIVE + i for i in range(1, 21)), "RUNS_EXPECTED": ids(LIVE + i for i in range(1, 21)),
        "TASKS_OF_RUNS": ids(LIVE + i for i in range(1, 21)), "RUNS_AHEAD": [1, 0, 1000, 20],
        "RUN_NEXT_DEADLINE": [], "RUNS_OF_WORKER": ["w2", 20], "RUNS_TO_STOP": ["w3", 20], "RUNS_TO_STOP_OF": [20] + ids(["w2", "w3"]), "PAGE_ANY": [top, 0, 20],
        "PAGE_ALL": [LIVE, 0, 20], "PAGE_OF_PARENT": [top, parent, 20], "PAGE_LIVE": [top, 0, 20],
        "PAGE_OF_TASK": [LIVE, 41, 20], "PAGE_LIVE_OF_TASK": [top, 41, 20], "PAGE_OF_BACKFILL": [LIVE, 5001, 20], "PAGE_OF_BATCH": [LIVE, 40 * STEP_MS, 20],
        "RUNS_FIRED": [41, 0, 10**15, runs - 8 * TASKS * 10, 20], "COUNT_LIVE": [],
        "COUNT_ENDED": [(runs - 20) * STEP_MS + 12000, LIVE],
        "ENDED_MINUTE_PUT": row("ax_ended_minute", minute=5), "ENDED_MINUTES": [10, 20], "ENDED_MINUTES_CUT": [3], "SHARD_COUNTS": [parent], "GROUP_WAITING": ["g1"],
        "PURGE_FIND": [20000], "PURGE_OF_TASK": [41, LIVE, runs, 5], "RUN_NTH": [41, 20], "PURGE_SHARD": [160], "PURGE_ATTEMPTS": [50], "PURGE_OUTPUT": [50],
        "PURGE_FAILURE": [50], "PURGE_UPSTREAMS": [50], "PURGE_RUN": [50],
        # attempts and output
        "ATTEMPT_PUT": row("ax_attempt", gid=50, fence=1), "ATTEMPT_GET": [50, 1], "ATTEMPTS": [50],
        "OUTPUT_SIZE": [50, 1], "OUTPUT_INSERT": row("ax_output", gid=50, fence=1, seq=1, data=b"hello"), "OUTPUT_CUT": [50, 1, 0, 3],
        "OUTPUTS": [50, 0, 0, 20],
        # groups
        "GROUP_INSERT": row("ax_group", group_key="new"), "GROUP_GET": ["g1"],
        "GROUP_UPDATE": row("ax_group", group_key="g1", version=1) + [1], "GROUP_ADD_RUNNING": ["g1", 1, 0],
        "GROUP_EXISTS": ["g1"], "GROUP_DELETE": ["g19"], "GROUPS": [], "GROUP_GIVEN": ["g1"],
        # workers
        "WORKER_PUT": row("ax_worker", name="w1"), "WORKER_GET": ["w1"], "WORKERS_BY_NAME": ids(["w1", "w2"]), "WORKERS": [],
        "WORKER_DELETE": ["w1"], "WORKER_DELETE_GROUPS": ["w1"],
        "WORKER_GROUP_PUT": row("ax_worker_group", worker="w1", group_key="g1"), "WORKER_GROUP_GET": ["w1", "g1"],
        "WORKER_GROUPS": [], "WORKER_GROUPS_OF": ["w1"],
        "GROUP_WORKERS": ["g1"], "GROUP_WORKERS_BY_NAME": ["g1"] + ids(["w1", "w2"]), "WORKER_GROUP_ADD_GIVEN": ["w1", "g1", 1, 0],
        "WORKER_GROUP_GIVE": ["w1", "g1", 1, 0, 1, 1, 1, 1],
        "WORKER_GROUP_DROP": ["w1", "g1"],
        # servers, accounts, audit log, kept answers
        "SERVER_PUT": row("ax_server", number=1), "SERVER_INSERT": row("ax_server", number=9), "SERVER_GET": [1],
        "SERVER_RENEW": [1, 1, 5, 6, 7], "SERVER_EXISTS": [1],
        "LEASE_INSERT": row("ax_lease", name="new"), "LEASE_GET": ["l1"],
        "LEASE_UPDATE": ["l1", 1, 2, 2, 5], "LEASE_EXISTS": ["l1"], "LEASES": [], "SERVERS": [],
        "USER_INSERT": row("ax_user", id=None, name="new"), "USER_FIND": ["u1"], "USER_COUNT": [],
        "TOKEN_INSERT": row("ax_token", id=None, hash="new"), "TOKEN_FIND": ["5"], "TOKEN_TOUCH": [5, 1, 1],
        "TOKEN_DELETE": [5], "TOKENS": [], "TOKENS_EXPIRE": [10, None], "AUDIT_INSERT": row("ax_audit", id=None),
        "AUDIT_PAGE": [top, 20], "AUDIT_OF_OBJECT": [top, 20, "task:5", None], "AUDIT_OF_ACTOR": [top, 20, None, "a5"],
        "IDEM_GET": ["k5"], "IDEM_PUT": row("ax_idem", key="new"), "IDEM_PURGE": [10],
        "NOTICE_INSERT": row("ax_notice", server=1, seq=0), "NOTICES": [1, 5, 20], "NOTICES_PURGE": [10],
        # events
        "EVENT_INSERT": row("ax_event", id=top, event_name="e1", event_key="new"), "EVENT_GET": [5],
        "EVENT_FIND": ["e5", "5"], "EVENTS_PAGE": [top, 20], "EVENTS_NAMED": [top, 20, "e5"],
        "EVENT_TASK_INSERT": row("ax_event_task", event=5, task_id=9), "EVENT_TASKS": [5], "EVENTS_PURGE_FIND": [100],
        "EVENTS_PURGE_TASKS": [5], "EVENTS_PURGE": [5],
        # calendars and backfills
        "CALENDAR_INSERT": row("ax_calendar", name="new"), "CALENDAR_GET": ["c1"],
        "CALENDAR_UPDATE": row("ax_calendar", name="c1") + [1], "CALENDAR_EXISTS": ["c1"], "CALENDAR_DELETE": ["c1"],
        "CALENDARS": [], "CALENDAR_VERSION_INSERT": row("ax_calendar_version", name="c1", version=2),
        "CALENDAR_VERSION_GET": ["c1", 1], "CALENDAR_VERSIONS": ["c1", 5, 20],
        "BACKFILL_INSERT": row("ax_backfill", id=None), "BACKFILL_GET": [5],
        "BACKFILL_UPDATE": row("ax_backfill", id=LIVE + 1) + [0], "BACKFILL_EXISTS": [5], "BACKFILLS": [top, 20],
        "BACKFILLS_OF_TASK": [LIVE, 2, 9], "BACKFILLS_OPEN": [20],
        # chains
        "UPSTREAM_INSERT": row("ax_upstream", task_id=1, upstream_id=9), "UPSTREAMS_DELETE": [9], "UPSTREAMS_OF": [9],
        "DOWNSTREAMS_OF": [1], "DOWNSTREAMS_OF_TASKS": ids(1 + 8 * i for i in range(20)), "RUN_TOLD": [50],
        "RUN_UPSTREAM_PUT": row("ax_run_upstream", gid=50, upstream_id=1), "RUN_UPSTREAMS": [50],
        # alerts
        "CHANNEL_INSERT": row("ax_channel", id=None, name="new"), "CHANNEL_GET": [1],
        "CHANNEL_UPDATE": row("ax_channel", id=1, name="other") + [1], "CHANNEL_EXISTS": [1], "CHANNEL_DELETE": [1],
        "CHANNELS": [], "ALERT_INSERT": row("ax_alert", id=None, rule=1, group_key="g1", episode="new"),
        "ALERT_GET": [5], "ALERT_FIND": [2, "g1", "open1"],
        "ALERT_UPDATE": row("ax_alert", id=LIVE + 1, state=1, resolve_time=10**6) + [0], "ALERT_EXISTS": [5],
        "ALERTS_OPEN": [1, 0, 20], "ALERTS_OF_TASK": [9, 20], "ALERTS_OF_TASKS": ids(1 + 8 * i for i in range(20)), "ALERTS_UNTOLD": [10**6, 20], "ALERTS_PAGE": [top, 20],
        "ALERT_COUNTS": [], "ALERTS_PURGE_FIND": [100], "ALERTS_PURGE_OUTBOX": [5], "ALERTS_PURGE_TESTS": [5],
        "ALERTS_PURGE": [5], "DELIVERY_INSERT": row("ax_alert_outbox", id=None), "DELIVERY_GET": [5],
        "DELIVERY_UPDATE": row("ax_alert_outbox", id=LIVE + 1, state=1) + [0], "DELIVERY_EXISTS": [5],
        "DELIVERIES_DUE": [1, 10**6, 20], "DELIVERIES_RELEASE": [3], "DELIVERIES_OF_ALERT": [5, 20],
        "DELIVERIES_OF_CHANNEL": [1, top, 20], "DELIVERIES_PENDING": [],
        # failures
        "FAILURE_INSERT": row("ax_failure", gid=LIVE + 99), "FAILURE_GET": [50], "FAILURES_UNFOLDED": [20],
        "FAILURES_SET_FOLDED": ids(LIVE + i for i in range(1, 21)), "FAILURE_SET_RERUN": [100, 2], "FAILURES_OF_GROUP": ["g1", 1, top, 20],
        "FAILURES_TO_RERUN": ["g1", 1, 20], "FAILURES_TO_RERUN_COUNT": ["g1", 1, 20],
        "FAILURE_GROUP_INSERT": row("ax_failure_group", id=None, group_key="new"), "FAILURE_GROUP_GET": [1],
        "FAILURE_GROUP_FIND": ["g1", 1],
        "FAILURE_GROUP_UPDATE": row("ax_failure_group", id=1) + [0], "FAILURE_GROUP_EXISTS": [1],
        "FAILURE_GROUP_DELETE": [1], "FAILURE_GROUP_DELETE_SPREAD": [1], "FAILURE_GROUP_DELETE_HOURS": [1],
        "FAILURE_GROUPS_PAGE": [top, 0, 5], "FAILURE_GROUPS_ALIKE": [1, 20], "FAILURE_GROUPS_OLD": [8000, 5],
        "FAILURE_GROUPS_OLD_RESOLVED": [8000, 5],
        "FAILURE_SPREAD_ADD": row("ax_failure_spread", failure_id=1, task_id=1, version=1), "FAILURE_SPREADS": [1, 20],
        "FAILURE_SPREAD_TASK": [1, 1], "FAILURE_SPREAD_WORKER": [1, "w"],
        "FAILURE_HOUR_ADD": row("ax_failure_hour", failure_id=1), "FAILURE_HOURS": [1], "FAILURE_HOURS_CUT": [1, 1],
    }
