"""Stopping on purpose loses nothing and ends nothing that could have finished."""

import pytest

from ax_world import wait_for


@pytest.fixture
def node(world):
    server = world.server()
    worker = world.worker(server)
    return server, worker


# B209
def test_a_worker_finishes_what_runs(world, node):
    server, worker = node
    gate = world.folder / "gate"
    task = server.task("last", script=f"mkfifo {gate}; read line < {gate}; echo done", timeout_seconds=0)
    run = server.trigger(task)
    server.wait_run(run, "RUNNING")
    wait_for(gate.exists, 5)
    worker.signal(15)
    worker.wait_event("draining")
    late = server.trigger(server.task("later", script="true"))
    with open(gate, "w") as f:
        f.write("go\n")
    assert worker.process.wait(10) == 0
    assert server.run(run)["status"] == "SUCCESS" and server.text(run) == "done\n"
    assert server.run(late)["status"] == "WAITING" and server.run(late)["fence"] == 0
    assert server.get("/workers/w1")["state"] == "left"
    worker.start()
    server.wait_run(late, "SUCCESS")


def test_a_second_term_ends_a_worker_at_once(world, node):
    server, worker = node
    run = server.trigger(server.task("long", script="exec /usr/bin/tail -f /dev/null", timeout_seconds=0))
    server.wait_run(run, "RUNNING")
    worker.signal(15)
    worker.wait_event("draining")
    worker.signal(15)
    assert worker.process.wait(10) == 0
    assert not world.task_processes()
    waiting = server.wait_run(run, "WAITING", 5)
    assert waiting["lost_times"] == 1 and waiting["retry_times"] == 0
    server.api("POST", f"/runs/{run['gid']}/cancel", {})


def test_drain_by_the_server(world, node):
    """It takes no more until it is resumed; it does not end."""
    server, worker = node
    world.axctl(server, "worker", "drain", "w1")
    run = server.trigger(server.task("waits", script="true"))
    wait_for(lambda: server.run(run)["waiting_for"] == "worker", 5, lambda: server.run(run))
    assert server.get("/workers/w1")["state"] == "draining" and worker.runs_now()
    world.axctl(server, "worker", "resume", "w1")
    server.wait_run(run, "SUCCESS", 20)


# B209
def test_a_server_restarts_under_load(world, node):
    """Nothing is lost, nothing runs twice, and everything that ran while it was away is known afterwards."""
    server, worker = node
    stub = world.stub()
    for n in range(20):
        server.task(f"process-{n}", script="true", cron_expr="* * * * * *")
        server.task(f"call-{n}", url=stub.url("/ok"), cron_expr="* * * * * *")
    wait_for(lambda: server.get("/overview")["last_24h"].get("SUCCESS", 0) > 60, 15)
    for _ in range(3):
        before = server.get("/overview")["last_24h"]["SUCCESS"]
        assert server.term() == 0
        server.start()
        wait_for(lambda: server.get("/overview")["last_24h"]["SUCCESS"] > before + 40, 20)
    server.quiesce(60)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"], told["missed"]) == (0, 0, 0), told
    runs = {run["gid"]: run for run in server.runs()}
    assert {run["status"] for run in runs.values()} == {"SUCCESS"}
    calls = [(c["gid"], c["fence"]) for c in stub.calls]
    assert len(calls) == len(set(calls)) and {gid for gid, _ in calls} <= set(runs)
    assert worker.term() == 0 and server.term() == 0
    code, said = world.check(server, worker)
    assert code == 0, said


