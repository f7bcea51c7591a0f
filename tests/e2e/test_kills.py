"""kill -9 of server and worker at random moments under load; then everything must add up."""

import collections
import os
import random
import time

import pytest

from ax_world import wait_for


def make_load(world, server, stub):
    """A little more than fifty tasks: processes, calls and functions, each every one or two seconds."""
    notes = world.folder / "notes"
    note = f'echo "$AX_GID $AX_FENCE" >> {notes}'
    common = {"on_lost": "retry", "lost_limit": 20}
    kinds = []
    for n in range(16):
        kinds.append({"script": note, "cron_expr": "@every 2s"})
        kinds.append({"url": stub.url("/ok"), "cron_expr": f"*/{1 + n % 2} * * * * *", "param": {"body": {"n": n}}})
        kinds.append({"executor": "example.echo", "param": {"n": n}, "cron_expr": "@every 1s"})
    kinds += [
        {"script": f"{note}; exit 3", "cron_expr": "@every 2s"},
        {"script": f"{note}; exec /usr/bin/tail -f /dev/null", "cron_expr": "@after 1s", "timeout_seconds": 1, "grace_seconds": 1},
        {"script": f"{note}; setsid /usr/bin/tail -f /dev/null & exit 0", "cron_expr": "@every 2s"},
        {"url": stub.url("/slow?ms=700"), "cron_expr": "@every 1s", "overlap": "allow", "overlap_max": 5},
        {"url": stub.url("/fail"), "cron_expr": "@every 2s"},
        {"executor": "example.count", "param": {"n": 8}, "cron_expr": "@every 1s", "overlap": "skip"},
    ]
    kinds += [
        {"script": note, "cron_expr": "@every 2s", "shard_count": 3},
        {"script": f"{note}; exit 3", "cron_expr": "@every 2s", "shard_count": 2, "overlap": "skip"},
        {"executor": "example.shard", "cron_expr": "@every 2s", "spread": "broadcast"},
    ]
    for n, kind in enumerate(kinds):
        server.task(f"load-{n}", **{**common, **kind})
    return notes


def wait_a_while(chance, at_least_s, at_most_s):
    """The moment of a fault is arbitrary: nothing is waited for but time itself."""
    moment = time.monotonic() + chance.uniform(at_least_s, at_most_s)
    wait_for(lambda: time.monotonic() >= moment, at_most_s + 5)


def hurt(chance, server, worker):
    """One of them dies, or both, or one stands still for a while."""
    how = chance.choice(["server", "server", "worker", "worker", "both", "server stands", "worker stands"])
    victims = {"server": [server], "worker": [worker]}.get(how.split()[0], [server, worker])
    for process in victims:
        if "stands" in how:
            process.pause()
            wait_a_while(chance, 0.5, 4)
            process.resume()
        else:
            process.kill()
    for process in (server, worker):
        if not process.runs_now():
            process.start()
    return "stands" not in how


def hurt_and_recover(server, worker, chance, kills):
    done = 0
    while done < kills:
        wait_a_while(chance, 0.2, 2.5)
        done += hurt(chance, server, worker)
        ended = sum(server.get("/overview")["last_24h"].values())
        wait_for(lambda: sum(server.get("/overview")["last_24h"].values()) > ended, 60, "the work goes on")


def check_journal_of_scripts(notes, runs):
    """Every script noted itself: no attempt twice, all of them known."""
    lines = collections.Counter(notes.read_text().splitlines())
    assert [line for line, n in lines.items() if n > 1] == []
    for line in lines:
        gid, fence = line.split()
        assert gid in runs and int(fence) <= runs[gid]["fence"]


def check_stub(stub, runs):
    """What the called system saw: no attempt called twice; whatever it answered with 200 is known to have succeeded."""
    calls = collections.Counter((c["gid"], c["fence"]) for c in stub.calls)
    assert [call for call, n in calls.items() if n > 1] == []
    for c in stub.calls:
        assert c["key"] == c["gid"] and c["gid"] in runs
        if c["status"] == 200:
            assert runs[c["gid"]]["status"] == "SUCCESS", runs[c["gid"]]


def hunt(world, kills, seed):
    chance = random.Random(seed)
    print(f"seed {seed}, {kills} kills")
    stub = world.stub()
    server = world.server()
    worker = world.worker(server)
    notes = make_load(world, server, stub)
    wait_for(lambda: server.get("/overview")["last_24h"].get("SUCCESS", 0) > 50, 30)
    hurt_and_recover(server, worker, chance, kills)
    server.quiesce(150)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    assert told["runs"] > 100
    world.axctl(server, "audit")
    wait_for(lambda: not world.task_processes(), 10, world.task_processes)
    runs = {run["gid"]: run for run in server.runs()}
    for parent in [run for run in runs.values() if run["shards"]]:
        runs.update((shard["gid"], shard) for shard in server.runs(parent=parent["gid"]))
    assert any(run["fence"] > 1 for run in runs.values()), "some attempts were lost with their worker"
    assert worker.journal.read_text().count('"start"') > 100
    assert worker.term(60) == 0
    assert server.term(60) == 0
    check_journal_of_scripts(notes, runs)
    check_stub(stub, runs)
    assert not list((worker.state / "attempts").iterdir())
    code, said = world.check(server, worker)
    assert code == 0, said


# B022
@pytest.mark.slow
def test_kills(world):
    hunt(world, int(os.environ.get("AX_KILLS", 10)), int(os.environ.get("AX_SEED", time.time_ns() % 1_000_000)))


@pytest.mark.soak
def test_many_kills(world):
    hunt(world, int(os.environ.get("AX_SOAK", 100)), int(os.environ.get("AX_SEED", time.time_ns() % 1_000_000)))
