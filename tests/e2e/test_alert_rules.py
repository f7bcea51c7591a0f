"""Each rule of docs/alerts.md that a running installation can show: raised, told to a receiver, and over when its cause is."""

import pytest
from ax_world import wait_for
from sinks import HttpSink

SWEEP = 25  # seconds: rules without an event are looked at every ten
SILENT = 90  # a worker is lost after 45


@pytest.fixture
def sink():
    sink = HttpSink()
    yield sink
    sink.close()


class Rules:
    def __init__(self, world, sink):
        self.server = world.server(options=("--alert-allow", f"127.0.0.1:{sink.port}"))
        self.world, self.sink = world, sink
        self.server.api("POST", "/channels", {"name": "hook", "kind": "webhook", "settings": {"url": sink.url}})
        self.worker = world.worker(self.server, name="w1")

    def told(self, rule, kind, subject):
        return [e for e in self.sink.events() if e["kind"] == kind and e["alert"]["rule"] == rule and e["alert"]["subject"] == subject]

    def opens(self, rule, subject, seconds=SWEEP):
        wait_for(lambda: self.told(rule, "open", subject), seconds, lambda: f"{rule}: {self.sink.events()}")

    def ends(self, rule, subject, seconds=SWEEP):
        wait_for(lambda: self.told(rule, "resolved", subject), seconds, lambda: f"{rule} does not end")
        assert len(self.told(rule, "open", subject)) == 1  # one episode, told once


@pytest.fixture
def rules(world, sink):
    return Rules(world, sink)


def test_of_runs(rules):
    """A run that takes too long, does not move, fails; a task that did not succeed for too long."""
    server, gate = rules.server, rules.world.folder / "gate"
    script = f'echo "40 page 4" >$AX_PROGRESS; until test -e {gate}; do sleep 0.1; done; test -e {gate}.good'
    task = server.task("report", script=script, expected_seconds=1, stall_seconds=1, absence_seconds=1)
    run = server.trigger(task)
    rules.opens("late_finish", "report")
    rules.opens("stalled", "report")
    rules.opens("absence", "report")
    gate.touch()
    server.wait_run(run, "FAILED")
    rules.opens("failed", "report")
    rules.ends("late_finish", "report")
    rules.ends("stalled", "report")
    (group,) = wait_for(lambda: server.items("/failures", task_id=task["id"]), 15)
    rules.opens("failure_group", group["title"])
    server.api("POST", f"/failures/{group['id']}/resolve", {})
    rules.ends("failure_group", group["title"])
    (rules.world.folder / "gate.good").touch()
    server.wait_run(server.trigger(task), "SUCCESS")
    rules.ends("failed", "report")
    server.change(task, absence_seconds=0)
    rules.ends("absence", "report")


def test_of_what_waits(rules):
    """Nobody takes it: each task is late, and their group has a backlog until they are cancelled."""
    server = rules.server
    server.api("POST", "/groups", {"group_key": "crowd", "backlog_limit": 1, "backlog_seconds": 10})
    task = server.task("waits", executor="nobody.has", group_key="crowd", late_seconds=1, overlap="allow", overlap_max=10)
    runs = [server.trigger(task) for _ in range(3)]
    rules.opens("late", "waits")
    rules.opens("backlog", "crowd", 2 * SWEEP)
    for run in runs:
        server.api("POST", f"/runs/{run['gid']}/cancel", {})
    rules.ends("backlog", "crowd")


@pytest.mark.slow
def test_of_workers(rules):
    wait_for(lambda: rules.server.workers_online("w1"), 10)
    rules.worker.kill()
    rules.opens("worker_lost", "w1", SILENT)
    rules.worker.start()
    rules.ends("worker_lost", "w1")
