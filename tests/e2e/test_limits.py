"""Time limits: the worker's, the server's, and the lease's."""

import pytest

from ax_world import now_ms, wait_for


@pytest.fixture
def node(world):
    server = world.server()
    worker = world.worker(server)
    return server, worker


HANG = "exec /usr/bin/tail -f /dev/null"


def hanging(world):
    return [command for command in world.task_processes().values() if command.startswith("/usr/bin/tail")]


def test_the_whole_tree_ends_at_the_time_limit(world, node):
    """A child in a session of its own, whose parent is gone, and one that ignores TERM."""
    server, _ = node
    script = (f"trap '' TERM; (setsid sh -c \"trap '' TERM HUP; {HANG}\" >/dev/null 2>&1 &) ; "
              f"nohup sh -c '{HANG}' >/dev/null 2>&1 & {HANG}")
    run = server.trigger(server.task("tree", script=script, timeout_seconds=2, grace_seconds=1))
    server.wait_run(run, "RUNNING")
    wait_for(lambda: len(hanging(world)) == 3, 5, world.task_processes)
    ended = server.wait_run(run, "TIMEOUT", 10)
    assert ended["reason"] == "timeout" and "2 s" in ended["result_msg"]
    assert 2000 <= ended["duration_ms"] < 6000
    assert not world.task_processes()


def test_a_timeout_is_retried_while_tries_are_left(node):
    server, _ = node
    run = server.trigger(server.task("again", script=HANG, timeout_seconds=1, grace_seconds=1, retry_count=1))
    waiting = server.wait_run(run, "RETRYING", 10)
    assert waiting["attempts"][0]["outcome"] == "timeout" and waiting["retry_times"] == 1
    server.api("POST", f"/runs/{run['gid']}/retry", {})
    ended = server.wait_run(run, "TIMEOUT", 10)
    assert ended["attempt"] == 2 and ended["gid"] == run["gid"]


def test_a_call_ends_at_the_time_limit(world, node):
    server, _ = node
    stub = world.stub()
    run = server.trigger(server.task("slow", url=stub.url("/slow?ms=20000"), timeout_seconds=1))
    ended = server.wait_run(run, "TIMEOUT", 8)
    assert ended["reason"] == "timeout" and ended["duration_ms"] < 5000


# R16
@pytest.mark.slow
def test_the_hard_limit_does_not_wait_for_a_silent_worker(world, node):
    server, worker = node
    started = server.get("/servers")["items"][0]["start_time"]
    # a server that has just started ends no attempt for the length of a lease: the silence might be its own
    wait_for(lambda: now_ms() > started + 46_000, 50)
    run = server.trigger(server.task("silent", script=HANG, timeout_seconds=1, grace_seconds=1))
    server.wait_run(run, "RUNNING")
    worker.pause()
    ended = server.wait_run(run, "TIMEOUT", 15)
    assert ended["reason"] == "hard_limit" and "hard limit" in ended["result_msg"]
    wait_for(lambda: not world.task_processes(), 5, "ax-exec keeps the limit without its worker")
    worker.resume()
    late = wait_for(lambda: [a for a in server.run(run)["attempts"] if a["late"]], 20)[0]["late"]
    assert late["outcome"] == "timeout"
    assert server.run(run)["status"] == "TIMEOUT" and server.run(run)["reason"] == "hard_limit"
    assert server.get("/groups/default")["running"] == 0


# R12
@pytest.mark.slow
def test_a_lost_lease(world, node):
    """A worker stands still for longer than its lease. What it executes ends by itself or is told to go on, by the task's rule;
    the runs go to another worker; what the first one says later changes nothing and is kept beside."""
    server, first = node
    done = world.folder / "done"
    end = world.folder / "end"
    killed = server.trigger(server.task("killed", script=f"[ $AX_FENCE = 1 ] || exit 0; {HANG}", timeout_seconds=0))
    goes_on = server.trigger(server.task(
        "goes-on", on_unreachable="continue", timeout_seconds=0,
        script=f"[ $AX_FENCE = 1 ] || exit 0; mkfifo {end}; read line < {end}; echo first > {done}"))
    given_up = server.trigger(server.task("given-up", script=HANG, on_lost="fail", timeout_seconds=0))
    for run in (killed, goes_on, given_up):
        server.wait_run(run, "RUNNING")
    wait_for(end.exists, 5)
    first.pause()
    second = world.worker(server, name="w2")

    wait_for(lambda: not hanging(world), 45, world.task_processes)
    assert server.run(killed)["status"] == "RUNNING", "the work ended before the server gave the run away"
    for run in (killed, goes_on):
        ended = server.wait_run(run, "SUCCESS", 40)
        assert (ended["worker"], ended["fence"], ended["lost_times"]) == ("w2", 2, 1)
        assert ended["attempts"][0]["outcome"] == "lost" and ended["attempts"][0]["worker"] == "w1"
        assert ended["retry_times"] == 0, "a lost attempt uses no try"
    lost = server.wait_run(given_up, "TIMEOUT", 10)
    assert lost["reason"] == "lost"

    with open(end, "w") as gate:
        gate.write("now\n")
    wait_for(done.exists, 5)
    first.resume()
    late = wait_for(lambda: server.run(goes_on)["attempts"][0]["late"], 30)
    assert late["outcome"] == "success" and late["code"] == 0
    after = server.run(goes_on)
    assert (after["status"], after["worker"], after["fence"]) == ("SUCCESS", "w2", 2)
    assert server.run(killed)["attempts"][0]["late"] is None
    wait_for(lambda: not world.task_processes(), 5, world.task_processes)

    again = server.trigger(server.task("both-work", script="true"))
    server.wait_run(again, "SUCCESS")
    assert server.get("/groups/default")["running"] == 0
    for process in (first, second, server):
        assert process.term() == 0
    code, said = world.check(server, first, second)
    assert code == 0, said
