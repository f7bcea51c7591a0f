"""The server is away for long. What ran meanwhile is known afterwards, once."""

import pytest

from ax_world import FAKETIME, Clock, now_ms, wait_for

AWAY_S = 90  # longer than a lease and than the time after which a worker ends its own work


# R21
@pytest.mark.slow
def test_results_survive_an_absence(world):
    server = world.server()
    worker = world.worker(server)
    stub = world.stub()
    gate, done = world.folder / "gate", world.folder / "done"
    finish = [server.trigger(server.task(f"short-{n}", timeout_seconds=0, retry_count=3,
                                         script=f"until [ -e {gate} ]; do sleep 0.05; done; echo {n}; exit {n % 3 and 7}"))
              for n in range(12)]
    call = server.trigger(server.task("call", url=stub.url("/slow?ms=3000")))
    stays = server.trigger(server.task("continue", on_unreachable="continue", timeout_seconds=0,
                                       script=f"until [ -e {done} ]; do sleep 0.05; done; echo stayed"))
    killed = server.trigger(server.task("kill", script="[ $AX_FENCE != 1 ] || exec /usr/bin/tail -f /dev/null", timeout_seconds=0))
    for run in [*finish, call, stays, killed]:
        server.wait_run(run, "RUNNING")
    server.kill()
    down = now_ms()
    gate.write_text("")
    wait_for(lambda: len(world.task_processes()) <= 5, 15, world.task_processes)
    worker.kill()  # what was written to the spool outlives the worker, too
    worker.spawn()
    wait_for(lambda: not [c for c in world.task_processes().values() if c.startswith("/usr/bin/tail")], 45,
             "a task without leave to go on is ended after 35 s")
    wait_for(lambda: now_ms() >= down + AWAY_S * 1000, AWAY_S)
    done.write_text("")
    wait_for(lambda: not world.task_processes(), 10)
    server.start()

    for n, run in enumerate(finish):
        ended = server.wait_run(run, "RETRYING" if n % 3 else "SUCCESS", 20)
        assert (ended["fence"], ended["lost_times"]) == (1, 0)
        assert server.text(run) in (f"{n}\n", ""), "output does not outlive its worker"
    assert server.wait_run(stays, "SUCCESS", 20)["fence"] == 1
    assert server.text(stays) == "stayed\n"
    assert server.wait_run(killed, "SUCCESS", 60)["lost_times"] == 1
    assert server.wait_run(call, "SUCCESS", 60)["attempt"] <= 2
    for run in [r for n, r in enumerate(finish) if n % 3]:
        server.api("POST", f"/runs/{run['gid']}/cancel", {})
    assert server.get("/groups/default")["running"] == 0
    assert worker.term() == 0 and server.term() == 0
    code, said = world.check(server, worker)
    assert code == 0, said


@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime is not installed")
def test_an_hour_by_the_clock_of_the_server(world):
    """The worker's results are an hour old for the server; fires beyond the window are missed, none is lost."""
    clock = Clock(world)
    server = world.server(env=clock.env)
    worker = world.worker(server)
    gate = world.folder / "gate"
    runs = [server.trigger(server.task(f"held-{n}", timeout_seconds=1800, script=f"until [ -e {gate} ]; do sleep 0.05; done; echo {n}"))
            for n in range(20)]
    task = server.task("minutes", script="true", cron_expr="* * * * *", window_seconds=600)
    for run in runs:
        server.wait_run(run, "RUNNING")
    server.kill()
    clock.set(3600)
    gate.write_text("")
    wait_for(lambda: not world.task_processes(), 15, world.task_processes)
    server.start()
    for n, run in enumerate(runs):
        ended = server.wait_run(run, "SUCCESS", 20)
        assert (ended["fence"], ended["attempts"][0]["late"]) == (1, None) and server.text(run) == f"{n}\n"
    missed = wait_for(lambda: server.runs(task, status="MISSED"), 10)
    assert len(missed) == 1 and 48 <= missed[0]["covers"]["count"] <= 52
    covering = [r for r in server.runs(task, kind="schedule") if r["covers"]]
    assert len(covering) == 1 and 8 <= covering[0]["covers"]["count"] <= 10
    server.quiesce(30)
    told = server.audit(now_ms() + 3_600_000)
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    assert worker.term() == 0 and server.term() == 0
    code, said = world.check(server, worker)
    assert code == 0, said
