"""What people do to runs: cancel, retry now, rerun; and delays, keys and parameters."""

import pytest

from ax_world import ApiError, now_ms, wait_for

HANG = "exec /usr/bin/tail -f /dev/null"


@pytest.fixture
def node(world):
    server = world.server()
    world.worker(server)
    return server


def test_cancel_is_honest(world, node):
    """asked, then stopping when the worker has taken the order, then stopped when the process is gone."""
    gate = world.folder / "gate"
    run = node.trigger(node.task("deaf", script=f"trap 'read line < {gate}; exit 0' TERM; mkfifo {gate}; while :; do wait; done",
                                 timeout_seconds=0, grace_seconds=20))
    node.wait_run(run, "RUNNING")
    wait_for(gate.exists, 5)
    asked = node.api("POST", f"/runs/{run['gid']}/cancel", {"reason": "enough"})
    assert asked["cancel"] in ("asked", "stopping") and asked["status"] == "RUNNING"
    wait_for(lambda: node.run(run)["cancel"] == "stopping", 10, lambda: node.run(run))
    assert node.run(run)["status"] == "RUNNING" and world.task_processes()
    with open(gate, "w") as f:
        f.write("go\n")
    ended = node.wait_run(run, "CANCELLED", 10)
    assert ended["cancel"] == "stopped" and ended["reason"] == "cancelled"
    wait_for(lambda: not world.task_processes(), 2, world.task_processes)
    with pytest.raises(ApiError) as refused:
        node.api("POST", f"/runs/{run['gid']}/retry", {})
    assert refused.value.status == 409, "what ended is never revived"


def test_cancel_by_command(world, node):
    run = node.trigger(node.task("hangs", script=HANG, timeout_seconds=0))
    node.wait_run(run, "RUNNING")
    world.axctl(node, "run", "cancel", run["gid"], "--reason", "enough", "--wait")
    assert node.run(run)["status"] == "CANCELLED"
    assert not world.task_processes()
    world.axctl(node, "run", "cancel", run["gid"])  # asked before: it says how far it is
    ended = node.trigger(node.task("ends", script="true"))
    node.wait_run(ended, "SUCCESS")
    world.axctl(node, "run", "cancel", ended["gid"], code=6)


def test_cancel_ends_what_ignores_it(world, node):
    run = node.trigger(node.task("stubborn", script="trap '' TERM; while :; do :; done", timeout_seconds=0, grace_seconds=1))
    node.wait_run(run, "RUNNING")
    node.api("POST", f"/runs/{run['gid']}/cancel", {})
    node.wait_run(run, "CANCELLED", 10)
    assert not world.task_processes()


def test_cancel_of_calls_and_functions(world, node):
    stub = world.stub()
    for task in (node.task("call", url=stub.url("/slow?ms=30000"), timeout_seconds=0),
                 node.task("function", executor="example.count", param={"n": 300}, timeout_seconds=0)):
        run = node.trigger(task)
        node.wait_run(run, "RUNNING")
        node.api("POST", f"/runs/{run['gid']}/cancel", {})
        node.wait_run(run, "CANCELLED", 10)


def test_cancel_before_it_begins(node):
    task = node.task("later", script="true")
    run = node.trigger(task, delay_ms=3_600_000)
    assert run["status"] == "PENDING"
    assert node.api("POST", f"/runs/{run['gid']}/cancel", {})["status"] == "CANCELLED"


def test_retry_now(world, node):
    flag = world.folder / "mended"
    task = node.task("broken", script=f'echo "try $AX_ATTEMPT"; test -f {flag}', retry_count=2)
    run = node.trigger(task)
    waiting = node.wait_run(run, "RETRYING")
    due = waiting["deadline_time"] - now_ms()
    assert 50_000 < due < 70_000, "a minute, ± 10 %"
    flag.write_text("")
    world.axctl(node, "run", "retry", run["gid"], "--wait")
    ended = node.run(run)
    assert (ended["status"], ended["attempt"], ended["fence"], ended["gid"]) == ("SUCCESS", 2, 2, run["gid"])
    assert [(a["attempt"], a["outcome"]) for a in ended["attempts"]] == [(1, "failed"), (2, "success")]
    assert node.text(run, 1) == "try 1\n" and node.text(run, 2) == "try 2\n"
    assert world.axctl(node, "run", "log", run["gid"]).out.count("try") == 2


def test_the_last_try_decides(node):
    run = node.trigger(node.task("hopeless", script="exit 9", retry_count=2))
    for _ in range(2):
        node.wait_run(run, "RETRYING")
        node.api("POST", f"/runs/{run['gid']}/retry", {})
        wait_for(lambda: node.run(run)["status"] != "WAITING", 5)
    ended = node.wait_run(run, "FAILED")
    assert (ended["attempt"], ended["retry_times"], ended["result_code"]) == (3, 2, 9)
    assert len(ended["attempts"]) == 3


def test_rerun_is_a_new_run_that_names_the_old_one(world, node):
    task = node.task("rerun", script='echo "${AX_RERUN_OF:-none} $AX_PARAMS"')
    old = node.trigger(task, params={"n": 1})
    node.wait_run(old, "SUCCESS")
    new = world.axctl(node, "run", "rerun", old["gid"], "--json").json
    assert new["gid"] != old["gid"] and new["rerun_of"] == old["gid"]
    node.wait_run(new, "SUCCESS")
    assert node.text(old) == 'none {"n":1}\n' and node.text(new) == f'{old["gid"]} {{"n":1}}\n'


def test_downstream_sees_the_same_key_on_every_try(world, node):
    stub = world.stub()
    run = node.trigger(node.task("called", url=stub.url("/fail"), retry_count=1))
    node.wait_run(run, "RETRYING")
    node.api("POST", f"/runs/{run['gid']}/retry", {})
    ended = node.wait_run(run, "FAILED")
    assert ended["result_code"] == 500
    assert [(c["key"], c["attempt"], c["fence"]) for c in stub.calls] == [(run["gid"], "1", "1"), (run["gid"], "2", "2")]


def test_delays_and_keys(node):
    task = node.task("delayed", script="true")
    asked = now_ms()
    run = node.trigger(task, delay_ms=1500, dedup_key="order-7")
    assert run["status"] == "PENDING"
    assert node.trigger(task, delay_ms=1500, dedup_key="order-7")["gid"] == run["gid"]
    ended = node.wait_run(run, "SUCCESS")
    assert ended["kind"] == "delay" and ended["start_time"] >= asked + 1500, "never early"
    assert node.trigger(task, dedup_key="order-7")["gid"] == run["gid"], "the key is kept after the end"
    assert len(node.runs(task)) == 1


def test_a_worker_that_is_killed_loses_its_runs_at_once(world):
    server = world.server()
    worker = world.worker(server)
    gate = world.folder / "gate"
    run = server.trigger(server.task("function", executor="example.count", param={"n": 600}, timeout_seconds=0))
    process = server.trigger(server.task("process", script=f"mkfifo {gate}; read line < {gate}; echo kept", timeout_seconds=0))
    server.wait_run(run, "RUNNING")
    server.wait_run(process, "RUNNING")
    wait_for(gate.exists, 5)
    worker.kill()
    worker.start()
    again = wait_for(lambda: server.run(run)["fence"] == 2 and server.run(run), 10)
    assert again["lost_times"] == 1 and again["attempt"] == 2
    worker.wait_event("attempt_adopted")
    with open(gate, "w") as f:
        f.write("go\n")
    kept = server.wait_run(process, "SUCCESS")
    assert kept["fence"] == 1 and server.text(process) == "kept\n", "ax-exec outlived its worker"
    server.api("POST", f"/runs/{run['gid']}/cancel", {})
    server.wait_run(run, "CANCELLED")


def test_amounts_arrive_as_they_were_written(world, node):
    """19.99 is no 19.989999999999998, neither for the program and the service that a run calls, nor for who looks."""
    params = {"amount": 19.99, "rates": [0.1, 1.0, 1e-07], "text": "0.10000000000000001"}
    pays = node.task("pays", script='printf %s "$AX_PARAMS"')
    run = node.trigger(pays, params=params)
    node.wait_run(run, "SUCCESS")
    assert node.text(run) == '{"amount":19.99,"rates":[0.1,1.0,1e-7],"text":"0.10000000000000001"}'
    for told in (world.axctl(node, "run", "show", run["gid"], "--json").out, world.axctl(node, "run", "list", "--json").out):
        assert '"amount": 19.99,' in told
    stub = world.stub()
    calls = node.task("calls", url=stub.url("/ok"), param={"body": params})
    node.wait_run(node.trigger(calls), "SUCCESS")
    assert stub.calls[0]["body"] == '{"amount":19.99,"rates":[0.1,1.0,1e-7],"text":"0.10000000000000001"}'
