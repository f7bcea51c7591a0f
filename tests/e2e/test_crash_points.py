"""Server and worker die at each of their crash points once (sys/crash_point.h); what is durable there must be enough.

One world lives through many points: a load that uses everything goes on, the victim is started with AX_CRASH set to the
next point, dies there, and is started again. When all is over everything must add up. AX_POINTS=name,… takes those alone."""

import collections
import contextlib
import itertools
import os
import random
import re
import subprocess
import time
import uuid

import pytest

from ax_world import AX_SERVER, AX_WORKER, ROOT, ApiError, call, now_ms, wait_for
from sinks import HttpSink
from test_kills import check_journal_of_scripts, check_stub

PARTS = 4
PATIENCE_S = int(os.environ.get("AX_PATIENCE", 90))

# Points that this load does not pass: what the hourly chores do, what servers of one database tell each other, what takes
# more days than a test has, and what is written alone only when a transaction keeps no rows.
ELSEWHERE = {
    "sql.purge_attempts", "sql.purge_output", "sql.purge_failure", "sql.purge_upstreams", "sql.purge_run", "sql.idem_purge",
    "sql.tokens_expire", "sql.events_purge", "sql.events_purge_tasks", "sql.alerts_purge", "sql.alerts_purge_outbox",
    "sql.alerts_purge_tests", "sql.failure_group_delete", "sql.failure_group_delete_spread", "sql.failure_group_delete_hours",
    "sql.failure_hours_cut", "sql.lease_insert", "sql.lease_update", "sql.notice_insert", "sql.notices_purge", "sql.run_renew",
    # ten runs that take one step alike: the contract suite has them
    "sql.runs_renewed", "sql.runs_begun", "sql.runs_given", "sql.runs_ended", "sql.runs_lived",
}
AT_START = {"sql.server_put", "sql.server_renew", "sql.deliveries_release"}  # a server whose start fails says so, and ends
FRESH = {"sql.server_insert", "sql.user_insert"}  # once in a database's life


def list_points(program):
    done = subprocess.run([program, "--list-crash-points"], capture_output=True, text=True, timeout=30)
    return done.stdout.split() if done.returncode == 0 else []


SERVER_POINTS, WORKER_POINTS = list_points(AX_SERVER), list_points(AX_WORKER)
needs_points = pytest.mark.skipif(not SERVER_POINTS, reason="built without -Dcrash_points=true")


def tell(server, path, body, headers=None, method="POST"):
    status, said, headers = call(server.port, method, path, body, headers)
    if status >= 400:
        raise ApiError(status, said)
    return said, headers


class Load:
    """Tasks of every kind that run by themselves, and somebody who clicks on everything, again and again."""

    def __init__(self, world, server, stub, sink):
        self.server, self.stub, self.sink = server, stub, sink
        self.notes = world.folder / "notes"
        self.notes.touch()
        self.counter = itertools.count()
        self.keys = {}  # idempotency key → gid that it was answered with
        self.pending = None  # a call that had no answer is made again, as a client would
        self.make_tasks()
        self.channel = self.api("POST", "/channels", {"name": "hook", "kind": "webhook", "settings": {"url": sink.url}})
        self.api("POST", "/groups", {"group_key": "other"})
        self.other_token = self.api("POST", "/tokens", {"name": "w9", "worker_groups": ["default", "other"]})["token"]
        self.clicks = itertools.cycle([getattr(self, name) for name in dir(self) if name.startswith("click_")])

    def make_tasks(self):
        note = f'echo "$AX_GID $AX_FENCE" >> {self.notes}'
        common = {"on_lost": "retry", "lost_limit": 20}

        def task(name, **fields):
            return self.server.task(name, **{**common, **fields})
        again = {"retry_count": 1, "retry_backoff": "fixed", "retry_delay_seconds": 1, "retry_jitter_percent": 0}
        task("ok", script=note, cron_expr="@every 1s")
        task("bad", script=f"{note}; echo oops; exit 3", cron_expr="@every 1s", **again)
        task("call", url=self.stub.url("/ok"), cron_expr="@every 1s", param={"body": {"n": 1}})
        task("novel", script=f"{note}; tr -dc a-z </dev/urandom | head -c 5; exit 1", cron_expr="@every 2s")
        task("echo", executor="example.echo", param={"n": 1}, cron_expr="@every 1s")
        task("after", script=note, cron_expr="@after 1s")
        task("shards", script=note, cron_expr="@every 2s", shard_count=2)
        first = task("first", script=note, cron_expr="@every 2s")
        second = task("second", script=note, task_type="delay", upstreams=[first["id"]])
        self.third = task("third", script=f"{note}; exit 1", task_type="delay", upstreams=[first["id"], second["id"]])
        task("listener", script=note, task_type="event", event_name="news")
        self.by_hand = task("by-hand", executor="example.echo", overlap="allow", overlap_max=200)
        self.long = task("long", script=f"{note}; exec /usr/bin/tail -f /dev/null", overlap="allow", overlap_max=200)
        self.loud = task("loud", script=f"{note}; head -c 1500000 /dev/zero | tr '\\0' x", overlap="allow", overlap_max=200)
        self.failing = task("failing", script=f"{note}; exit 1", overlap="allow", overlap_max=200,
                            **{**again, "retry_delay_seconds": 10})
        self.hourly = task("hourly", executor="example.echo", cron_expr="0 * * * *")
        self.trial = task("trial", script=note)
        self.paused = task("paused", script=note, cron_expr="0 0 1 1 *")
        task("late", script=note, cron_expr="@every 1s", window_seconds=0)

    # ---- calls

    def api(self, method, path, body=None, key=None):
        return self.server.api(method, path, body, {"Idempotency-Key": key} if key else None)

    def click(self):
        """One more; False when nobody answers."""
        what = self.pending or next(self.clicks)
        try:
            what()
        except (OSError, ValueError):
            self.pending = what
            return False
        except ApiError as e:
            assert e.status in (404, 409, 410, 503) or e.status >= 500, f"{what}: {e}"
        self.pending = None
        return True

    def newest(self, path, **query):
        items = self.server.get(path, limit=5, **query)["items"]
        return items[0] if items else None

    def trigger(self, task, **how):
        """As a client that repeats its request until it hears the answer."""
        key = uuid.uuid4().hex

        def call():
            gid = self.api("POST", f"/tasks/{task['id']}/runs", how, key)["gid"]
            assert self.keys.setdefault(key, gid) == gid
            return gid
        try:
            return call()
        except OSError:
            self.pending = call
            raise

    def click_trigger(self):
        self.trigger(self.by_hand)

    def click_batch(self):
        self.api("POST", f"/tasks/{self.by_hand['id']}/runs/batch", {"runs": [{}, {"delay_ms": 500}]}, uuid.uuid4().hex)

    def click_change_run(self):
        gid = self.trigger(self.by_hand, delay_ms=60000)
        self.api("PATCH", f"/runs/{gid}", {"run_at": now_ms() + 300})

    def click_cancel(self):
        gid = self.trigger(self.long)
        self.api("POST", f"/runs/{gid}/cancel", {})

    def click_cancel_running(self):
        run = self.newest("/runs", task_id=self.long["id"], status="RUNNING")
        if run:
            self.api("POST", f"/runs/{run['gid']}/cancel", {})
        elif not self.newest("/runs", task_id=self.long["id"], live="true"):
            self.trigger(self.long)

    def click_loud(self):
        self.trigger(self.loud)

    def click_retry(self):
        run = self.newest("/runs", task_id=self.failing["id"], status="RETRYING")
        if run:
            self.api("POST", f"/runs/{run['gid']}/retry", {})
        else:
            self.trigger(self.failing)

    def click_rerun(self):
        run = self.newest("/runs", task_id=self.by_hand["id"], status="SUCCESS")
        if run:
            self.api("POST", f"/runs/{run['gid']}/rerun", {})

    def click_resolve(self):
        run = self.newest("/runs", status="MISSED") or self.newest("/runs")
        self.api("POST", f"/runs/{run['gid']}/resolve", {"action": "dismiss", "note": "x"})

    def click_chain(self):
        task = self.server.task(f"scratch-{next(self.counter)}", script="true", upstreams=[self.by_hand["id"]])
        self.server.change(task, upstreams=[])
        self.api("DELETE", f"/tasks/{task['id']}")

    def click_event(self):
        self.api("POST", "/events", {"name": "news", "event_id": uuid.uuid4().hex, "payload": {"n": 1}})

    def click_task(self):
        name = f"scratch-{next(self.counter)}"
        task = self.server.task(name, script="true")
        self.server.change(task, notes="x")
        self.api("DELETE", f"/tasks/{task['id']}")

    def click_tasks(self):
        names = [f"scratch-{next(self.counter)}" for _ in range(2)]
        made = self.api("POST", "/tasks/batch", {"tasks": [
            {"task_name": name, "task_type": "delay", "executor_key": "example.echo"} for name in names]})
        for task in made["items"]:
            self.api("DELETE", f"/tasks/{task['id']}")

    def click_pause(self):
        self.server.pause_task(self.paused)
        self.server.resume_task(self.paused)

    def click_backfill(self):
        hour = 3600 * 1000
        start = now_ms() // hour * hour - (10 + next(self.counter) % 10000) * 3 * hour
        made = self.api("POST", f"/tasks/{self.hourly['id']}/backfills", {"from": start, "to": start + 2 * hour})
        if next(self.counter) % 2:
            self.api("POST", f"/backfills/{made['id']}/cancel", {"reason": "no more"})

    def click_canary(self):
        path = f"/tasks/{self.trial['id']}/canary"
        version = self.server.reload(self.trial)["version"]
        self.api("POST", path, {"version": version, "percent": 50, "automatic": False, "change": {"timeout_seconds": 5 + version % 50}})
        self.api("PATCH", path, {"percent": 60})
        self.api("POST", f"{path}/{'promote' if next(self.counter) % 2 else 'rollback'}", {"reason": "enough"})

    def click_canary_over(self):
        self.api("POST", f"/tasks/{self.trial['id']}/canary/rollback", {"reason": "left over"})

    def click_calendar(self):
        name = f"c{next(self.counter)}"
        self.api("POST", "/calendars", {"name": name, "days": [{"date": "2025-10-01", "kind": "out"}]})
        self.api("PATCH", f"/calendars/{name}", {"version": 1, "title": "x"})
        self.api("POST", f"/calendars/{name}/import", {"format": "csv", "text": "2025-10-02,out\n"})
        self.api("DELETE", f"/calendars/{name}")

    def click_group(self):
        key = f"g{next(self.counter)}"
        group = self.api("POST", "/groups", {"group_key": key})
        self.api("PATCH", f"/groups/{key}", {"version": group["version"], "pool_size": 7})
        self.api("DELETE", f"/groups/{key}")

    def click_channel(self):
        made = self.api("POST", "/channels", {"name": f"n{next(self.counter)}", "kind": "webhook", "settings": {"url": self.sink.url}})
        self.api("PATCH", f"/channels/{made['id']}", {"version": 1, "language": "zh"})
        self.api("POST", f"/channels/{self.channel['id']}/test")
        self.api("DELETE", f"/channels/{made['id']}")

    def click_alert(self):
        alert = self.newest("/alerts", state="open")
        if alert:
            self.api("POST", f"/alerts/{alert['id']}/mute", {"note": "x"})
            self.api("POST", f"/alerts/{alert['id']}/unmute", {})
            self.api("POST", f"/alerts/{alert['id']}/resolve", {"note": "x"})

    def click_failure(self):
        group = self.newest("/failures")
        if group:
            path = f"/failures/{group['id']}"
            self.api("POST", f"{path}/assign", {"assignee": "ann", "note": "x"})
            self.api("POST", f"{path}/mute", {"mute_until_time": now_ms() + 1000, "reason": "x"})
            self.api("POST", f"{path}/retry", {})
            self.api("POST", f"{path}/resolve", {"reason": "x"})
            self.api("POST", f"{path}/reopen", {"reason": "x"})

    def click_token(self):
        made = self.api("POST", "/tokens", {"name": f"t{next(self.counter)}", "role": "viewer"})
        tell(self.server, "/api/v1/tasks", None, {"Authorization": f"Bearer {made['token']}"}, "GET")
        self.api("DELETE", f"/tokens/{made['id']}")

    def click_worker(self):
        for verb in ("drain", "resume", "disable", "enable"):
            self.api("POST", f"/workers/w1/{verb}", {})

    def click_other_worker(self):
        """It comes, comes again without one of its groups, and goes for ever."""
        token = {"Authorization": f"Bearer {self.other_token}"}
        what = {"executors": ["none"], "tags": {}, "version": "test", "running": []}
        for groups in (["default", "other"], ["default"]):
            who = {"worker": "w9", "incarnation": uuid.uuid4().hex}
            tell(self.server, "/worker/v1/register", {**who, **what, "groups": [{"group": g, "pool_size": 1} for g in groups]}, token)
        tell(self.server, "/worker/v1/leave", who, token)
        self.api("DELETE", "/workers/w9")

    def click_session(self):
        session, headers = tell(self.server, "/api/v1/session", {"user": "admin", "password": "correct horse battery"})
        signed_in = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-AX-CSRF": session["csrf"]}
        tell(self.server, "/api/v1/session", None, signed_in, "DELETE")

    def click_worker_enable(self):
        self.api("POST", "/workers/w1/resume", {})
        self.api("POST", "/workers/w1/enable", {})


def die_at(load, victim, point, passes):
    """The load goes on until the victim has died at the point. False when it did not in time."""
    victim.env["AX_CRASH"] = f"{point}:{passes}:kill"
    began = time.monotonic()
    victim.spawn()
    while victim.runs_now():
        load.click()
        if time.monotonic() > began + PATIENCE_S:
            victim.kill()
            return False
        time.sleep(0.02)  # the pace of somebody who clicks fast
    print(f"{time.monotonic() - began:6.2f} s  {point}")
    assert victim.process.returncode == -9 and f"crash point {point}\n" in victim.log(), victim.log()[-3000:]
    return True


def hunt(world, server_points, worker_points, chance, most_passes=1):
    stub, sink = world.stub(), HttpSink()
    try:
        server = world.server(options=("--alert-allow", f"127.0.0.1:{sink.port}"))
        worker = world.worker(server)
        load = Load(world, server, stub, sink)
        server.term(30)
        missed = [p for p in server_points if not die_at(load, server, p, chance.randint(1, most_passes))]
        server.env.pop("AX_CRASH", None)
        server.start()
        worker.kill()
        missed += [p for p in worker_points if not die_at(load, worker, p, chance.randint(1, most_passes))]
        worker.env.pop("AX_CRASH", None)
        worker.start()
        settle(world, server, worker, load, stub)
        assert missed == [], f"not passed: {' '.join(missed)}"
    finally:
        sink.close()


def let_fail(load, server, points):
    """Each of these statements fails once, and nothing but the call or the look that it belongs to with it. Answers what was not passed."""
    server.env["AX_CRASH"] = ",".join(f"{point}:1:err" for point in points)
    server.log_path.unlink(missing_ok=True)
    server.start()
    until = time.monotonic() + PATIENCE_S
    left = set(points)
    while left and time.monotonic() < until:
        load.click()
        time.sleep(0.02)
        left -= {point for point in left if f"crash point {point}\n" in server.log()}
    assert server.term(30) == 0
    return left


def cancel_all(server, runs):
    """True when there are none."""
    for run in runs:
        try:
            server.api("POST", f"/runs/{run['gid']}/cancel", {})
        except ApiError as e:
            assert e.status == 409
    return not runs


def cancel_endless(server, load):
    return cancel_all(server, server.items("/runs", live="true", task_id=load.long["id"]))


def cancel_paced(server, load):
    """What is retried all at once comes one a second: more than anybody waits for, where it fails again each time."""
    waiting = server.items("/runs", status="PENDING", task_id=load.third["id"])
    return cancel_all(server, [run for run in waiting if run["rerun_of"]])


def end_all(server, load, cancelled):
    """Everything comes to its end, once `cancelled()` says that what takes too long for it was: gid → run, all that there are."""
    wait_for(lambda: load.click() and not load.pending, 30)  # what had no answer
    load.click_worker_enable()
    wait_for(lambda: cancel_endless(server, load), 90)
    wait_for(cancelled, 90)
    server.quiesce(150)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    runs = {run["gid"]: run for run in server.runs()}
    for parent in [run for run in runs.values() if run["shards"]]:
        runs.update((shard["gid"], shard) for shard in server.runs(parent=parent["gid"]))
    assert set(load.keys.values()) <= set(runs) and len(set(load.keys.values())) == len(load.keys)
    return runs


def settle(world, server, worker, load, stub):
    """Everything comes to its end and adds up."""
    runs = end_all(server, load, lambda: cancel_paced(server, load))
    wait_for(lambda: not world.task_processes(), 10, world.task_processes)
    assert worker.term(60) == 0
    assert server.term(60) == 0
    check_journal_of_scripts(load.notes, runs)
    check_stub(stub, runs)
    assert not list((worker.state / "attempts").iterdir())
    code, said = world.check(server, worker)
    assert code == 0, said


def own(points, part):
    wanted = os.environ.get("AX_POINTS")
    points = [p for p in points if p not in ELSEWHERE | FRESH]
    return [p for p in points if p in wanted.split(",")] if wanted else points[part::PARTS]


@needs_points
@pytest.mark.slow
@pytest.mark.parametrize("part", range(PARTS))
def test_each_point_once(world, part):
    hunt(world, own(SERVER_POINTS, part), own(WORKER_POINTS, part), random.Random(0))


@needs_points
@pytest.mark.slow
def test_each_statement_fails_once(world):
    stub, sink = world.stub(), HttpSink()
    try:
        server = world.server(options=("--alert-allow", f"127.0.0.1:{sink.port}"))
        worker = world.worker(server)
        load = Load(world, server, stub, sink)
        server.term(30)
        points = [p for p in SERVER_POINTS if p.startswith("sql.") and p not in ELSEWHERE | FRESH | AT_START]
        missed = set()
        for first in range(0, len(points), 8):
            missed |= let_fail(load, server, points[first:first + 8])
        server.env.pop("AX_CRASH")
        server.start()
        settle(world, server, worker, load, stub)
        assert missed == set()
    finally:
        sink.close()


@needs_points
@pytest.mark.soak
def test_points_in_any_order(world):
    """One after the other, at any pass: so pairs of points meet, and the second often in what the first left to repair."""
    seed = int(os.environ.get("AX_SEED", time.time_ns() % 1_000_000))
    print(f"seed {seed}")
    chance = random.Random(seed)
    passed = [[p for p in points if p not in ELSEWHERE | FRESH] for points in (SERVER_POINTS, WORKER_POINTS)]
    hunt(world, chance.choices(passed[0], k=150), chance.choices(passed[1], k=50), chance, most_passes=3)


@needs_points
@pytest.mark.parametrize("point", sorted(FRESH))
def test_the_first_start(world, point):
    server = world.server(start=False)
    server.env["AX_CRASH"] = f"{point}:1:kill"
    with contextlib.suppress(AssertionError, OSError):  # it dies while it starts, or is set up
        server.start()
    wait_for(lambda: not server.runs_now(), 5)
    assert f"crash point {point}\n" in server.log()
    server.log_path.unlink()
    del server.env["AX_CRASH"]
    server.start()
    assert server.get("/overview")


@needs_points
def test_the_lists_are_whole():
    """What is listed is in the sources, and the other way round."""
    found = collections.defaultdict(set)
    for folder, program in (("src/server", "server"), ("lib/axworker", "worker"), ("src/worker", "worker")):
        for path in (ROOT / folder).glob("*.c"):
            text = path.read_text()
            found[program] |= {f"{a}.{b}" for a, b in re.findall(r'AX_CRASHPOINT\("(\w+)", "(\w+)"\)', text)}
            for name, choices in re.findall(r'const char \*(\w+) = .* \? ("\w+" : "\w+");', text):
                for what in re.findall(rf'AX_CRASHPOINT\({name}, "(\w+)"\)', text):
                    found[program] |= {f"{step}.{what}" for step in re.findall(r'"(\w+)"', choices)}
    assert found["server"] == {p for p in SERVER_POINTS if not p.startswith(("sql.", "/"))}
    assert found["worker"] == set(WORKER_POINTS)
