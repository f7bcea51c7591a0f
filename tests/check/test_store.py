import fcntl
import sqlite3
import subprocess

import pytest

from store import AFTER, AX_CHECK, CLEAN, END, EVERY_MINUTE, LOAD, MINUTE, REPORT, START, broken, check, make

# What is broken by which change of the clean store: every rule once at least. Several statements are one change.
FAULTS = [
    ("I2.next", f"UPDATE ax_task SET next_trigger_time = {END + 2 * MINUTE} WHERE id = {EVERY_MINUTE}"),
    ("I2.next", f"UPDATE ax_task SET next_trigger_time = {END + MINUTE + 1} WHERE id = {EVERY_MINUTE}"),
    ("I2.next", f"UPDATE ax_task SET next_trigger_time = 0, exhausted = 1 WHERE id = {EVERY_MINUTE}"),
    ("I3.attempts", "DELETE FROM ax_attempt WHERE fence = 1"),
    ("I3.newest", "UPDATE ax_attempt SET fence = 4 WHERE fence = 2; INSERT INTO ax_attempt"
                  " SELECT gid, 2, 1, worker, 0, 0, 0, 2, 0, '', 0, 0, 0, '' FROM ax_attempt WHERE fence = 1"),
    ("I3.order", "UPDATE ax_attempt SET attempt = 0 WHERE fence = 2"),
    ("I3.holder", "UPDATE ax_task_log SET start_time = 0 WHERE status = 3"),
    ("I4.states", "UPDATE ax_task_log SET status = 17 WHERE status = 1 AND gid = (SELECT max(gid) FROM ax_task_log);"
                  f"UPDATE ax_task_log SET end_time = {END} WHERE status = 17"),
    ("I4.end", f"UPDATE ax_task_log SET end_time = 0 WHERE fire_key = '{START}' AND task_id = {EVERY_MINUTE}"),
    ("I4.end", f"UPDATE ax_task_log SET end_time = {END} WHERE status = 1"),
    ("I4.guard", "DROP TRIGGER ax_task_log_terminal"),
    ("I5.success", "UPDATE ax_task_log SET ended_by_worker = 0 WHERE fence = 3"),
    ("I5.success", "UPDATE ax_task_log SET worker = '' WHERE fence = 3"),
    ("I5.attempt", "UPDATE ax_attempt SET outcome = 0 WHERE fence = 2"),
    ("I5.attempt", "UPDATE ax_attempt SET late_time = 1 WHERE fence = 1"),
    ("I5.attempt", "UPDATE ax_attempt SET late_time = 1, late_outcome = 6 WHERE fence = 1"),
    ("I6.running", "UPDATE ax_group SET running = 9"),
    ("I6.running", "DELETE FROM ax_group"),
    ("I6.given", "UPDATE ax_worker_group SET given = 1"),
    ("I6.given", "DELETE FROM ax_worker_group"),
    ("I6.long", "UPDATE ax_group SET running_long = 1"),
    ("I6.long", "UPDATE ax_worker_group SET given_long = 1"),
    ("I6.long", "UPDATE ax_task_log SET lane = 2 WHERE status IN (2, 3)"),
    ("I16.worker", "UPDATE ax_task_log SET demand = '{\"worker\":\"w9\"}' WHERE status IN (2, 3)"),
    ("I7.chain", "UPDATE ax_task_log SET kind = 6, fire_key = (SELECT max(gid) FROM ax_task_log) WHERE fire_key = 'k'"),
    ("I7.blocked", "UPDATE ax_task_log SET blocked_by = (SELECT max(gid) FROM ax_task_log) WHERE fire_key = 'k'"),
    ("I7.batch", f"UPDATE ax_task_log SET kind = 6, fire_key = 'b' || gid, batch = 5 WHERE task_id = {EVERY_MINUTE} AND parent = 0"),
    ("I7.join", f"UPDATE ax_task_log SET kind = 6, fire_key = 'b5' WHERE task_id = {EVERY_MINUTE} AND fire_key = '{START}';"
                "INSERT INTO ax_run_upstream SELECT gid, 1, 1, 11 FROM ax_task_log WHERE fire_key = 'b5'"),
    ("I7.cause", f"UPDATE ax_task_log SET fire_key = '5' WHERE task_id = {CLEAN} AND status = 10"),
    ("I7.cause", f"DELETE FROM ax_run_upstream WHERE gid IN (SELECT gid FROM ax_task_log WHERE task_id = {CLEAN} AND status = 10)"),
    ("I7.cause", f"DELETE FROM ax_run_upstream WHERE gid IN (SELECT gid FROM ax_task_log WHERE task_id = {REPORT})"),
    ("I7.seen", "UPDATE ax_run_upstream SET upstream_status = 11 WHERE upstream_status = 13"),
    ("I7.seen", f"UPDATE ax_run_upstream SET upstream_id = {REPORT} WHERE upstream_id = {CLEAN}"),
    ("I7.down", f"DELETE FROM ax_task_log WHERE task_id = {CLEAN} AND status = 10"),
    ("I7.down", f"DELETE FROM ax_task_log WHERE task_id = {CLEAN} AND status = 14"),
    ("I7.down", f"DELETE FROM ax_task_log WHERE task_id = {REPORT} AND status = 10"),
    ("I7.down", f"DELETE FROM ax_task_log WHERE task_id = {REPORT} AND status = 14"),
    ("I7.down", f"DELETE FROM ax_task_log WHERE task_id = {REPORT} AND status = 14; UPDATE ax_task SET status = 2 WHERE id = {REPORT}"),
    ("I9.overlap", f"UPDATE ax_task_log SET end_time = {START + MINUTE + 6} WHERE fire_key = '{START}'"
                   f" AND task_id = {EVERY_MINUTE}"),
    ("I10.time", "UPDATE ax_task_log SET create_time = create_time + 2000 WHERE fire_key = 'k'"),
    ("I11.tries", "UPDATE ax_task_version SET retry_count = 0"),
    ("I11.tries", "UPDATE ax_task_log SET lost_times = 5 WHERE fence = 3"),
    ("I11.version", "UPDATE ax_task_log SET version = 2 WHERE fire_key = 'l'"),
    ("I14.early", "UPDATE ax_task_log SET start_time = trigger_time - 1 WHERE fence = 3"),
    ("I14.early", "UPDATE ax_task_log SET dispatch_time = trigger_time - 51 WHERE fire_key = 'k'"),
    ("I13.run", f"UPDATE ax_task_log SET group_key = 'other' WHERE task_id = {LOAD}"),
    ("I13.run", "UPDATE ax_task SET group_key = 'other' WHERE id = 2"),
    ("I13.failure", "UPDATE ax_failure SET group_key = 'other' WHERE folded = 0"),
    ("I13.alert", "UPDATE ax_alert SET group_key = '' WHERE id = 2"),
    ("I13.alert", "UPDATE ax_alert SET group_key = 'other', task_id = 0, gid = (SELECT max(gid) FROM ax_failure) WHERE id = 2"),
    ("I13.told", "UPDATE ax_channel SET group_keys = 'one other'; UPDATE ax_alert_outbox SET create_time = 2000"),
    ("O.attempt", "INSERT INTO ax_attempt SELECT 1, 1, attempt, worker, 0, 0, 0, 2, 0, '', 0, 0, 0, '' FROM ax_attempt"
                  " LIMIT 1"),
    ("O.upstream", "INSERT INTO ax_run_upstream VALUES (1, 1, 1, 10)"),
    ("O.edge", "INSERT INTO ax_upstream VALUES (1, 99)"),
    ("O.output", "UPDATE ax_output SET gid = 1"),
    ("O.epoch", "UPDATE ax_task SET time_zone = 'Europe/Berlin' WHERE id = 2"),
    ("O.epoch", "DELETE FROM ax_schedule_epoch WHERE task_id = 2"),
    ("O.demand", f"DELETE FROM ax_task WHERE id = {EVERY_MINUTE}"),
    ("F.run", "UPDATE ax_failure SET gid = 1 WHERE folded = 0"),
    ("F.written", "DELETE FROM ax_failure WHERE folded = 0"),
    ("F.counted", "UPDATE ax_failure_group SET count = 0; UPDATE ax_failure_spread SET count = 0"),
    ("F.counted", "UPDATE ax_failure_spread SET count = 2 WHERE worker = ''"),
    ("F.counted", "UPDATE ax_failure_spread SET count = 2 WHERE worker = 'w1'"),
    ("F.counted", "UPDATE ax_failure SET folded = 1"),
    ("F.counted", "UPDATE ax_failure_group SET fingerprint = 8"),
    ("I8.raised", "UPDATE ax_alert SET task_id = 1 WHERE rule = 1"),
    ("I8.raised", f"UPDATE ax_alert SET seen_time = {START - 3700000} WHERE rule = 1"),
    ("I8.outbox", "UPDATE ax_alert_outbox SET alert_id = 99 WHERE kind = 2"),
    ("I8.outbox", "DELETE FROM ax_channel; UPDATE ax_alert_outbox SET state = 0 WHERE kind = 2"),
    ("I8.order", "UPDATE ax_alert_outbox SET state = 0 WHERE kind = 1"),
    ("I8.end", "UPDATE ax_alert SET id = 77 WHERE state = 1; UPDATE ax_alert_outbox SET alert_id = 77; DELETE FROM ax_alert_outbox WHERE kind = 2"),
    ("I8.told", "DELETE FROM ax_alert_outbox WHERE alert_id = 2"),
    ("I8.told", "DELETE FROM ax_alert_outbox WHERE alert_id = 2; UPDATE ax_channel SET rules = 'late failed', group_keys = 'a default';"
                "UPDATE ax_group SET contacts = 'a@b.c, ops'"),
    ("I8.told", "CREATE TABLE copy AS SELECT * FROM ax_channel; UPDATE copy SET id = 2, name = 'night';"
                "INSERT INTO ax_channel SELECT * FROM copy; DROP TABLE copy"),
    ("I8.sent", "UPDATE ax_alert_outbox SET sent_time = 0"),
    ("I8.sent", "UPDATE ax_alert_outbox SET attempts = 0 WHERE state = 1"),
    ("I8.sent", "UPDATE ax_alert_outbox SET state = 2 WHERE alert_id = 2"),
    ("I8.sent", "UPDATE ax_alert_outbox SET state = 3 WHERE alert_id = 2"),
    ("I8.due", f"UPDATE ax_alert_outbox SET next_time = {START - 1} WHERE alert_id = 2;"
               f"UPDATE ax_alert_outbox SET sent_time = {START - 1} WHERE alert_id = 1"),
    ("S1.parent", "UPDATE ax_task_log SET parent = 1 WHERE fire_key = 'p' AND shard = 2"),
    ("S1.parent", "UPDATE ax_task_log SET fire_key = 'q' WHERE fire_key = 'p' AND shard = 2"),
    ("S1.parent", "UPDATE ax_task_log SET shard = 3 WHERE fire_key = 'p' AND shard = 2"),
    ("S1.parent", "UPDATE ax_task_log SET shard_total = 3 WHERE fire_key = 'p' AND shard = 2"),
    ("S1.whole", "DELETE FROM ax_task_log WHERE fire_key = 'p' AND shard = 2"),
    ("S1.whole", "UPDATE ax_task_log SET start_time = 0 WHERE fire_key = 'p' AND shard = 0"),
    ("S2.running", "UPDATE ax_task_log SET status = 1 WHERE fire_key = 'b' AND shard = 0"),
    ("S2.running", f"UPDATE ax_task_log SET status = 12, end_time = {END} WHERE fire_key = 'b' AND shard > 0"),
    ("S3.outcome", "DROP TRIGGER ax_task_log_terminal; UPDATE ax_task_log SET status = 13 WHERE fire_key = 'p'"
                   " AND shard = 1"),
    ("S4.held", "UPDATE ax_task_log SET hold = 0 WHERE fire_key = 'c'"),
    ("S4.held", "UPDATE ax_task_log SET worker = 'w1' WHERE fire_key = 'b' AND shard = 0"),
    ("S5.own", "UPDATE ax_task_log SET worker = 'w2' WHERE fire_key = 'b' AND shard = 2"),
    ("L1.deadline", "UPDATE ax_task_log SET deadline_time = 0 WHERE status = 3"),
    ("L1.overdue", f"UPDATE ax_task_log SET deadline_time = {END - 10001} WHERE status = 3"),
    ("L1.fire", f"UPDATE ax_task SET next_trigger_time = {END - MINUTE} WHERE id = {EVERY_MINUTE}"),
    ("L1.stuck", f"UPDATE ax_task SET next_trigger_time = 0 WHERE id = {EVERY_MINUTE}"),
    ("L1.held", "UPDATE ax_task_log SET hold = 2 WHERE status = 1"),
    ("L1.held", "UPDATE ax_task_log SET hold = 1 WHERE task_id = 4; UPDATE ax_task_log SET hold = 0 WHERE status <> 1;"
                "UPDATE ax_task_log SET task_id = 5 WHERE fire_key = 'k'"),
    ("L2.idle", f"UPDATE ax_task_log SET ready_time = {END - 61000} WHERE fire_key = 'l'"),
]

NO_REPORT = f"DELETE FROM ax_task_log WHERE task_id = {REPORT}; DELETE FROM ax_run_upstream WHERE upstream_id = {CLEAN} OR gid NOT IN (SELECT gid FROM ax_task_log);"
READY = FAULTS[-1][1] + ";"
NOT_TOLD = "DELETE FROM ax_alert_outbox WHERE alert_id = 2;"
STUCK = next(change for rule, change in FAULTS if rule == "I8.due") + ";"

# What looks like one of them, and is in order.
IN_ORDER = [
    ("a draft takes no part", NO_REPORT + f"UPDATE ax_task SET status = 0 WHERE id = {REPORT}"),
    ("it was enabled later", NO_REPORT + f"UPDATE ax_task SET absence_time = {START + 5 * MINUTE} WHERE id = {REPORT}"),
    ("it was paused as a draft", NO_REPORT + f"UPDATE ax_task SET status = 2 WHERE id = {REPORT}"),
    ("it named no upstream then", NO_REPORT + f"INSERT INTO ax_task_version (task_id, version, time, author, group_key, task_name,"
     " task_type, cron_expr, dialect, time_zone, executor_key, biz_param, timeout_seconds, grace_seconds, retry_count, priority, overlap,"
     " overlap_max, misfire, window_seconds, lost_fails, lost_limit, unreachable_continues, start_confirmed, owner, notes, upstreams, join_all)"
     f" SELECT task_id, 2, {START + 4 * MINUTE}, author, group_key, task_name, task_type, cron_expr, dialect, time_zone, executor_key, biz_param,"
     " timeout_seconds, grace_seconds, retry_count, priority, overlap, overlap_max, misfire, window_seconds, lost_fails, lost_limit,"
     f" unreachable_continues, start_confirmed, owner, notes, upstreams, 1 FROM ax_task_version WHERE task_id = {REPORT};"
     f"UPDATE ax_task_version SET upstreams = '' WHERE task_id = {REPORT} AND version = 1"),
    ("a success that came late", f"UPDATE ax_attempt SET late_time = {START + MINUTE}, late_outcome = 1 WHERE fence = 1"),
    ("a channel that was set since", NOT_TOLD + f"UPDATE ax_channel SET update_time = {END}"),
    ("a channel of another rule", NOT_TOLD + "UPDATE ax_channel SET rules = 'late_finish'"),
    ("a channel of another group", NOT_TOLD + "UPDATE ax_channel SET group_keys = 'default2'"),
    ("a channel that is off", NOT_TOLD + "UPDATE ax_channel SET enabled = 0"),
    ("a group with contacts of its own", NOT_TOLD + "UPDATE ax_group SET contacts = 'opsx a@b.c'"),
    ("a channel at work", STUCK + f"UPDATE ax_alert_outbox SET sent_time = {END} WHERE alert_id = 1 AND kind = 2"),
    ("a group that is paused", READY + "UPDATE ax_group SET paused = 1"),
    ("a quota that was used", READY + "UPDATE ax_group SET dispatch_quota = 4"),
    ("a worker that was full", READY + "UPDATE ax_worker_group SET pool_size = 4"),
    ("a worker that is leaving", READY + "UPDATE ax_worker SET status = 1"),
    ("a worker that is new", READY + f"UPDATE ax_worker SET register_time = {END - 1000}"),
    ("a worker of other work", READY + "UPDATE ax_worker SET executors = 'other execs'"),
]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "ax.db"


def test_clean_store(path):
    make(path).done()
    code, said = check("--store", f"sqlite:{path}")
    assert (code, broken(said)) == (0, set()), said
    assert said["expected"] == 10 + 4  # the window ends 10 s before the store does
    assert said["runs"] == said["expected"] and said["unexplained"] == said["duplicates"] == 0
    assert (said["from"], said["to"]) == (START - MINUTE, END - 10000)
    text = subprocess.run([AX_CHECK, "--store", f"sqlite:{path}"], capture_output=True, text=True, timeout=60)
    assert text.returncode == 0 and "task-1" in text.stdout and "I6.running" in text.stdout


# B032
@pytest.mark.parametrize("rule, change", FAULTS, ids=[f"{rule}-{n}" for n, (rule, _) in enumerate(FAULTS)])
def test_each_fault_is_caught(path, rule, change):
    store = make(path)
    store.db.executescript(change)
    store.done()
    code, said = check("--store", f"sqlite:{path}")
    assert code == 1, said
    assert rule in broken(said)


@pytest.mark.parametrize("change", [change for _, change in IN_ORDER], ids=[name for name, _ in IN_ORDER])
def test_what_is_in_order_is_not_accused(path, change):
    store = make(path)
    store.db.executescript(change)
    store.done()
    code, said = check("--store", f"sqlite:{path}")
    assert (code, broken(said)) == (0, set()), [f for f in said["invariants"] if f["violations"]]


def test_every_rule_has_a_fault(path):
    make(path).done()
    _, said = check("--store", f"sqlite:{path}")
    assert {f["id"] for f in said["invariants"]} == {rule for rule, _ in FAULTS} | {"I1.unique"}


@pytest.mark.parametrize("second_begins, overlaps", [(999, True), (1000, False)])
def test_parents_overlap_when_their_shards_do(path, second_begins, overlaps):
    """A parent's own times are those of transactions of several servers, which waited for each other: in the order of these they may
    seem to overlap, also one that was replaced before any of its shards began."""
    store = make(path)
    store.task(70, next_trigger_time=END + MINUTE)
    parts = dict(spread=1, shard_total=1, cancel=3)
    for at, begins, ends in ((0, 0, 1000), (30, None, 20), (40, second_begins, 2000)):
        parent = store.run(70, START + at, status=13, **parts, start_time=START + at, end_time=START + max(at, ends), fence=0, worker="",
                           dispatch_time=0)
        store.run(70, START + at, status=13, **parts, parent=parent, shard=1, start_time=0 if begins is None else START + begins,
                  end_time=START + ends)
    store.done()
    _, said = check("--store", f"sqlite:{path}")
    assert ("I9.overlap" in broken(said)) == overlaps


@pytest.mark.parametrize("widened, overlaps", [(500, True), (20, False)])
def test_an_edit_lets_go_of_what_waits(path, widened, overlaps):
    """The second run was made when only one was allowed at once; five were when it began, or not yet."""
    store = make(path)
    store.task(70, version=2, next_trigger_time=END + MINUTE)
    store.insert("ax_task_version", task_id=70, version=2, time=START + widened, author="a", overlap=3, overlap_max=5)
    store.run(70, START, end_time=START + 1000)
    store.run(70, START + 10, start_time=START + 30)
    store.done()
    _, said = check("--store", f"sqlite:{path}")
    assert ("I9.overlap" in broken(said)) == overlaps


# R26
def test_twins(path):
    """A store whose unique key is gone."""
    store = make(path)
    store.db.executescript(
        "CREATE TABLE t AS SELECT * FROM ax_task_log; DROP TABLE ax_task_log; ALTER TABLE t RENAME TO ax_task_log;"
        f"INSERT INTO ax_task_log SELECT * FROM ax_task_log WHERE task_id = {EVERY_MINUTE} AND fire_key = '{START}'"
    )
    store.done()
    code, said = check("--store", f"sqlite:{path}")
    assert code == 1
    assert {"I1.unique", "I4.guard"} <= broken(said)
    assert said["duplicates"] == 1


def test_lost_and_unexpected_fires(path):
    store = make(path)
    store.db.execute("DELETE FROM ax_task_log WHERE task_id = 1 AND fire_key = ?", [str(START + 3 * MINUTE)])
    store.run(EVERY_MINUTE, START + 7 * MINUTE + 30000, end_time=START + 7 * MINUTE + 31000)
    store.done()
    code, said = check("--store", f"sqlite:{path}")
    assert code == 1
    assert (said["unexplained"], said["missing"], said["unexpected"]) == (2, 1, 1)
    task = next(t for t in said["tasks"] if t["task_id"] == "1")
    assert task["unexplained_fires"] == [START + 3 * MINUTE, START + 7 * MINUTE + 30000]
    assert check("--store", f"sqlite:{path}", "--task", AFTER)[1]["unexplained"] == 0
    until = "2026-01-01T00:03:00Z"
    assert check("--store", f"sqlite:{path}", "--to", until)[1]["unexplained"] == 0
    assert check("--store", f"sqlite:{path}", "--from", until, "--to", START + 4 * MINUTE)[1]["missing"] == 1


def test_attempts_of_different_runs_may_overlap_when_allowed(path):
    store = make(path)
    store.db.executescript(
        f"UPDATE ax_task_log SET end_time = {START + MINUTE + 6} WHERE task_id = 1 AND fire_key = '{START}';"
        "UPDATE ax_task_version SET overlap = 3, overlap_max = 2"
    )
    store.done()
    assert check("--store", f"sqlite:{path}")[0] == 0


def test_a_clock_that_was_set_back_made_nothing_early(path):
    """What was due before it was set back is given out after it, at an earlier instant than it was made at."""
    store = make(path)
    store.db.execute("UPDATE ax_task_log SET dispatch_time = create_time - 30000, start_time = create_time - 29990 WHERE fire_key = 'k'")
    store.done()
    _, said = check("--store", f"sqlite:{path}")
    assert "I14.early" not in broken(said)


def test_a_server_that_had_just_started(path):
    """What was due while it was down is not lost yet."""
    store = make(path)
    due = START + 6 * MINUTE
    store.db.executescript(
        f"DELETE FROM ax_task_log WHERE task_id = 1 AND trigger_time >= {due};"
        f"UPDATE ax_task SET next_trigger_time = {due}, last_trigger_time = {due - MINUTE} WHERE id = 1;"
        "UPDATE ax_group SET running = 2; UPDATE ax_worker_group SET given = 2;"
        f"UPDATE ax_server SET start_time = {END - 2000}"
    )
    store.done()
    code, said = check("--store", f"sqlite:{path}")
    assert (code, said["to"]) == (0, due), said
    assert next(f for f in said["invariants"] if f["id"] == "L1.fire")["violations"] is None


def test_refuses_while_a_server_runs(path):
    make(path).done()
    with open(f"{path}-lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        code, said = check("--store", f"sqlite:{path}")
        assert code == 2 and "a server has this store open" in said
        link = path.with_name("link.db")
        link.symlink_to(path)
        code, said = check("--store", f"sqlite:{link}")
        assert code == 2 and "a server has this store open" in said
        fcntl.flock(lock, fcntl.LOCK_UN)
        assert check("--store", f"sqlite:{path}")[0] == 0


def test_leaves_no_lock_behind(path):
    """Where no server ever was there is nothing to lock."""
    assert check("--store", f"sqlite:{path}")[0] == 2
    path.write_text("not a store")
    assert check("--store", f"sqlite:{path}")[0] == 2
    path.unlink()
    make(path).done()
    assert check("--store", f"sqlite:{path}")[0] == 0
    assert not path.with_name(f"{path.name}-lock").exists()


def test_reads_what_a_killed_server_left_in_the_wal(path):
    store = make(path)
    store.db.commit()
    store.db.execute("PRAGMA journal_mode = wal")
    store.db.execute("DELETE FROM ax_task_log WHERE task_id = 1 AND fire_key = ?", [str(START)])
    store.db.commit()  # and is not checkpointed: the connection stays open
    before = path.read_bytes()
    assert check("--store", f"sqlite:{path}")[1]["missing"] == 1
    assert path.read_bytes() == before
    store.db.close()


def test_cannot_read(path):
    assert check("--store", f"sqlite:{path}")[0] == 2
    sqlite3.connect(path).execute("CREATE TABLE t (x)")
    assert check("--store", f"sqlite:{path}")[0] == 2
    path.write_bytes(b"no database at all, but long enough to be looked at as one" * 40)
    assert check("--store", f"sqlite:{path}")[0] == 2


@pytest.mark.parametrize("args", [[], ["--store", "mysql://x"], ["--from", "x"], ["--nonsense"], ["stray"],
                                  ["--store", "sqlite:"], ["--task", "1x", "--store", "sqlite:x"]])
def test_usage(args):
    assert check(*args)[0] == 2


def test_a_folder_without_time_zones(path):
    make(path).done()
    status, said = check("--store", f"sqlite:{path}", "--zoneinfo", "/etc")
    assert status == 2 and "--zoneinfo names no folder" in said
