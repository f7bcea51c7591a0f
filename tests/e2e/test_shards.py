"""One fire as several runs: processes, calls and functions that know their part; broadcasts; a server that dies meanwhile."""

import pytest

from ax_world import wait_for

TOLD = 'echo "$AX_SHARD_INDEX of $AX_SHARD_TOTAL of $AX_PARENT_GID as $AX_GID"'


@pytest.fixture
def node(world):
    server = world.server()
    world.worker(server)
    return server


def shards_of(server, run):
    return sorted(server.runs(parent=run["gid"]), key=lambda shard: shard["shard"]["index"])


def test_every_executor_learns_its_part(world, node):
    stub = world.stub()
    runs = [node.trigger(task) for task in (
        node.task("processes", script=TOLD, shard_count=3),
        node.task("calls", url=stub.url("/ok"), shard_count=3),
        node.task("functions", executor="example.shard", shard_count=3))]
    for run in runs:
        node.wait_run(run, "SUCCESS")
    scripts, calls, functions = (shards_of(node, run) for run in runs)
    for n, shard in enumerate(scripts, 1):
        assert node.text(shard) == f"{n} of 3 of {runs[0]['gid']} as {shard['gid']}\n"
    assert sorted((c["shard"], c["shards"], c["parent"], c["gid"]) for c in stub.calls) == [
        (str(n), "3", runs[1]["gid"], shard["gid"]) for n, shard in enumerate(calls, 1)]
    assert [shard["result"] for shard in functions] == [{"index": n, "total": 3, "parent": runs[2]["gid"]} for n in (1, 2, 3)]
    alone = node.trigger(node.task("alone", script='echo "${AX_SHARD_INDEX-none}${AX_PARENT_GID-none}"'))
    node.wait_run(alone, "SUCCESS")
    assert node.text(alone) == "nonenone\n"


def test_what_failed_is_repeated(world, node):
    flag = world.folder / "mended"
    task = node.task("half", script=f'[ -e {flag} ] || [ "$AX_SHARD_INDEX" != 2 ]', shard_count=3)
    run = node.trigger(task)
    ended = node.wait_run(run, "FAILED")
    assert ended["shards"]["states"] == {"SUCCESS": 2, "FAILED": 1}
    assert "shards that did not succeed" in world.axctl(node, "run", "show", run["gid"]).out
    flag.touch()
    again = world.axctl(node, "run", "rerun", run["gid"], "--failed-only", "--wait", "--json").json
    assert again["status"] == "SUCCESS" and again["rerun_of"] == run["gid"]
    assert [shard["shard"] for shard in shards_of(node, again)] == [{"index": 2, "total": 3}]
    listed = world.axctl(node, "run", "list", "--parent", run["gid"]).out
    assert "delay 2/3" in listed and "FAILED" in listed


# R3
def test_workers_share_the_shards(world, node):
    world.worker(node, name="w2")
    run = node.trigger(node.task("shared", script="true", shard_count=20))
    node.wait_run(run, "SUCCESS", 30)
    assert {shard["worker"] for shard in shards_of(node, run)} == {"w1", "w2"}


def test_a_broadcast_reaches_every_worker_once(world, node):
    for name in ("w2", "w3"):
        world.worker(node, name=name)
    wait_for(lambda: node.workers_online("w1", "w2", "w3"))
    task = node.task("everywhere", script=TOLD, spread="broadcast")
    run = node.trigger(task)
    node.wait_run(run, "SUCCESS")
    assert [(s["shard"]["index"], s["worker"]) for s in shards_of(node, run)] == [(1, "w1"), (2, "w2"), (3, "w3")]
    world.axctl(node, "worker", "drain", "w2")
    run = node.trigger(task)
    node.wait_run(run, "SUCCESS")
    assert [s["worker"] for s in shards_of(node, run)] == ["w1", "w3"]


def test_a_broadcast_waits_for_its_first_worker(world):
    server = world.server()
    run = server.trigger(server.task("later", script=TOLD, spread="broadcast"))
    assert run["status"] == "WAITING" and run["waiting_for"] == "worker"
    world.worker(server)
    server.wait_run(run, "SUCCESS", 20)


def test_all_shards_or_none_when_the_server_dies(world, node):
    """Killed at any moment of the fire: what is there afterwards is whole, and comes to its end."""
    task = node.task("many", executor="example.shard", shard_count=200, overlap="allow", overlap_max=10)
    for _ in range(2):
        before = len(node.runs(task))
        made = node.trigger(task)
        node.kill()
        node.start()
        assert len(node.runs(task)) == before + 1
        assert node.run(made)["shards"]["count"] == 200
    wait_for(lambda: not node.runs(task, live="true"), 90, lambda: [r["shards"] for r in node.runs(task)])
    assert {run["status"] for run in node.runs(task)} == {"SUCCESS"}
    assert all(run["shards"]["states"] == {"SUCCESS": 200} for run in node.runs(task))
    assert node.term(60) == 0
    code, said = world.check(node)
    assert code == 0, said
