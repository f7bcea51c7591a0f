"""What tasks are told: overlap, the kinds of schedules, pause, edit, delete."""

from datetime import datetime, timezone

import pytest

from ax_world import ApiError, now_ms, wait_for

HANG = "exec /usr/bin/tail -f /dev/null"


@pytest.fixture
def node(world):
    server = world.server()
    world.worker(server)
    return server


class Gate:
    """A script that notes its beginning and goes on when it is let."""

    def __init__(self, world):
        self.begun, self.open = world.folder / "begun", world.folder / "open"
        self.begun.write_text("")
        self.script = f'echo "$AX_GID" >> {self.begun}; until [ -e {self.open} ]; do sleep 0.05; done'

    def gids(self):
        return self.begun.read_text().split()

    def let_go(self):
        self.open.write_text("")


@pytest.fixture
def gate(world):
    return Gate(world)


def three_fires_later(server, task):
    """Three fires have come due since the first run began."""
    first = wait_for(lambda: server.runs(task, status="RUNNING"), 10)[-1]
    wait_for(lambda: now_ms() > int(first["fire_key"]) + 3500, 10)
    return first


def check_account(server, task):
    server.stop_firing(task)
    wait_for(lambda: not server.runs(task, live="true"), 15)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    return told


def test_overlap_queue(node, gate):
    task = node.task("queue", script=gate.script, cron_expr="* * * * * *", overlap="queue")
    first = three_fires_later(node, task)
    live = node.runs(task, live="true")
    assert [r["status"] for r in live] == ["WAITING", "RUNNING"] and live[0]["waiting_for"] == "overlap"
    waiting = wait_for(lambda: [r for r in node.runs(task, status="WAITING") if r["covers"] and r["covers"]["count"] >= 2], 5)[0]
    assert gate.gids() == [first["gid"]], "one at a time"
    gate.let_go()
    node.wait_run(waiting, "SUCCESS")
    told = check_account(node, task)
    assert told["coalesced"] >= 2 and told["skipped"] == 0


def test_overlap_skip(node, gate):
    task = node.task("skip", script=gate.script, cron_expr="* * * * * *", overlap="skip")
    first = three_fires_later(node, task)
    skipped = wait_for(lambda: node.runs(task, status="SKIPPED"), 5)
    assert all(r["reason"] == "overlap" for r in skipped) and gate.gids() == [first["gid"]]
    gate.let_go()
    node.wait_run(first, "SUCCESS")
    assert check_account(node, task)["skipped"] >= 3


def test_overlap_replace(world, node, gate):
    task = node.task("replace", script=gate.script, cron_expr="*/2 * * * * *", overlap="replace", grace_seconds=1)
    first = wait_for(lambda: node.runs(task, status="RUNNING"), 10)[-1]
    ended = node.wait_run(first, "CANCELLED", 15)
    assert ended["reason"] == "replaced"
    wait_for(lambda: len(gate.gids()) >= 2, 10)
    gate.let_go()
    check_account(node, task)
    runs = {r["gid"]: r for r in node.runs(task)}
    started = [runs[gid] for gid in gate.gids()]
    for before, after in zip(started, started[1:]):
        assert before["end_time"] <= after["start_time"], "the old one has ended before the new one begins"


def test_overlap_allow(node, gate):
    task = node.task("allow", script=gate.script, cron_expr="* * * * * *", overlap="allow", overlap_max=2)
    three_fires_later(node, task)
    wait_for(lambda: len(gate.gids()) == 2, 5)
    live = wait_for(lambda: [r["status"] for r in node.runs(task, live="true")].count("WAITING") and node.runs(task, live="true"), 5)
    assert [r["status"] for r in live].count("RUNNING") == 2
    gate.let_go()
    check_account(node, task)


def test_every_keeps_its_rate(node):
    task = node.task("every", script="true", cron_expr="@every 2s")
    runs = wait_for(lambda: len(node.runs(task)) >= 3 and node.runs(task), 15)
    times = sorted(int(r["fire_key"]) for r in runs)
    assert [b - a for a, b in zip(times, times[1:])] == [2000] * (len(times) - 1)
    check_account(node, task)


def test_after_counts_from_the_end(node, gate):
    task = node.task("after", script=gate.script, cron_expr="@after 1s")
    first = wait_for(lambda: node.runs(task, status="RUNNING"), 10)[0]
    wait_for(lambda: now_ms() > first["trigger_time"] + 2500, 10)
    assert len(node.runs(task)) == 1 and node.reload(task)["next_trigger_time"] is None
    gate.let_go()
    ended = node.wait_run(first, "SUCCESS")
    second = wait_for(lambda: [r for r in node.runs(task) if r["gid"] != first["gid"]], 10)[-1]
    assert int(second["fire_key"]) == ended["end_time"] + 1000
    check_account(node, task)


def test_at_fires_once(node):
    at = (now_ms() // 1000 + 3) * 1000
    text = datetime.fromtimestamp(at / 1000, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    task = node.task("at", script="true", cron_expr=f"@at {text}")
    assert task["next_trigger_time"] == at
    run = wait_for(lambda: node.runs(task, status="SUCCESS"), 10)[0]
    assert int(run["fire_key"]) == at and run["start_time"] >= at
    assert node.reload(task)["exhausted"] and node.reload(task)["next_trigger_time"] is None
    with pytest.raises(ApiError) as refused:
        node.task("gone", script="true", cron_expr=f"@at {text}")
    assert refused.value.status == 400 and refused.value.problem["field"] == "cron_expr"


def test_pause_and_resume(world, node, gate):
    task = node.task("pausable", script=gate.script, cron_expr="* * * * * *", overlap="skip")
    first = wait_for(lambda: node.runs(task, status="RUNNING"), 10)[-1]
    told = node.pause_task(task)
    assert told["given_out"] == [first["gid"]] and told["task"]["status"] == "paused"
    gate.let_go()
    node.wait_run(first, "SUCCESS")
    paused = now_ms()
    wait_for(lambda: now_ms() > paused + 2500, 5)
    assert not [r for r in node.runs(task) if r["trigger_time"] > paused]
    by_hand = node.trigger(task)
    assert node.wait_run(by_hand, "SUCCESS")["kind"] == "manual", "by hand it runs all the same"
    resumed = now_ms()
    world.axctl(node, "task", "resume", "pausable")
    fresh = wait_for(lambda: [r for r in node.runs(task, kind="schedule") if r["trigger_time"] > paused], 10)
    assert min(r["trigger_time"] for r in fresh) >= resumed - 1000
    check_account(node, task)


def test_an_edit_while_it_runs_is_for_the_next_run(node, gate):
    task = node.task("edited", script=f"echo old; {gate.script}")
    first = node.trigger(task)
    node.wait_run(first, "RUNNING")
    param = {**task["biz_param"], "script": "echo new"}
    changed = node.change(task, biz_param=param, timeout_seconds=5)
    assert changed["version"] == task["version"] + 1
    second = node.trigger(task)
    gate.let_go()
    assert node.wait_run(first, "SUCCESS")["version"] == task["version"]
    assert node.wait_run(second, "SUCCESS")["version"] == changed["version"]
    assert node.text(first) == "old\n" and node.text(second) == "new\n"
    with pytest.raises(ApiError) as refused:
        node.api("PATCH", f"/tasks/{task['id']}", {"version": task["version"], "notes": "stale"})
    assert refused.value.status == 409
    versions = node.items(f"/tasks/{task['id']}/versions")
    assert [v["version"] for v in versions] == [changed["version"], task["version"]]


def test_a_changed_schedule_is_accounted_for_by_what_it_was(node):
    task = node.task("moving", script="true", cron_expr="* * * * * *")
    wait_for(lambda: len(node.runs(task)) >= 2, 10)
    node.change(task, cron_expr="*/2 * * * * *")
    wait_for(lambda: len(node.runs(task)) >= 5, 15)
    node.change(task, cron_expr="@every 1s")
    wait_for(lambda: len(node.runs(task)) >= 8, 15)
    assert check_account(node, task)["runs"] >= 8


def test_delete(world, node):
    task = node.task("doomed", script=HANG, timeout_seconds=0)
    run = node.trigger(task)
    node.wait_run(run, "RUNNING")
    with pytest.raises(ApiError) as refused:
        node.api("DELETE", f"/tasks/{task['id']}")
    assert refused.value.status == 409 and node.run(run)["status"] == "RUNNING"
    world.axctl(node, "task", "delete", "doomed", code=6)
    said = world.axctl(node, "task", "delete", "doomed", "--force", code=6).err
    assert "asked to stop" in said and node.reload(task)["status"] == "deleting"
    assert "being deleted" in world.axctl(node, "task", "resume", "doomed", code=6).err
    ended = node.wait_run(run, "CANCELLED")
    assert node.reload(task)["status"] == "deleting", "until it is deleted again"
    world.axctl(node, "task", "delete", "doomed", "--force")
    wait_for(lambda: not world.task_processes(), 5, world.task_processes)
    with pytest.raises(ApiError) as gone:
        node.reload(task)
    assert gone.value.status == 404 and ended["task_name"] == "doomed", "its history stays"
    free = node.task("doomed", script="true")
    assert free["id"] != task["id"], "its name is free again"


def test_no_worker_offers_it(world, node):
    task = node.task("nobody", executor="report.daily", param={})
    assert task["warnings"]
    run = node.trigger(task)
    assert wait_for(lambda: node.run(run)["waiting_for"] == "worker" and node.run(run), 5)["status"] == "WAITING"


def test_tags_say_which_workers_may_have_a_run(node):
    """Workers are started with --tag or AX_TAG; the option takes the place of the variable."""
    world = node.world
    world.worker(node, name="w2", options=("--tag", "zone=a", "--tag", "disk=fast"))
    world.worker(node, name="w3", env={"AX_TAG": "zone=b,disk=fast"})
    assert {w["worker"]: w["tags"] for w in node.get("/workers")["items"]} == {
        "w1": {}, "w2": {"zone": "a", "disk": "fast"}, "w3": {"zone": "b", "disk": "fast"}}
    for tags, worker in (({"zone": "a", "disk": "fast"}, "w2"), ({"zone": "b"}, "w3"), ({"worker": "w1"}, "w1")):
        run = node.trigger(node.task(f"to-{worker}", script="true", route_tags=tags))
        assert node.wait_run(run, "SUCCESS")["worker"] == worker
    nowhere = node.trigger(node.task("nowhere", script="true", route_tags={"zone": "c"}))
    wait_for(lambda: node.run(nowhere)["waiting_for"] == "tags", 10)
    world.worker(node, name="w4", options=("--tag", "zone=c"), env={"AX_TAG": "zone=b"})
    assert node.wait_run(nowhere, "SUCCESS", 15)["worker"] == "w4"


def test_a_tag_without_a_value_is_refused(node):
    worker = node.world.worker(node, start=False, name="w2", options=("--tag", "zone"))
    worker.spawn()
    assert worker.process.wait(10) == 2
    assert "tag 'zone': write it as key=value" in worker.log()
