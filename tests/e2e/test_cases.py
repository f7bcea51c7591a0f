"""Faults that people met in other schedulers, by the numbers of tests/CASES.md: what needs a server and a worker."""

import pytest

from ax_world import FAKETIME, Clock


@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime is not installed")
@pytest.mark.parametrize("seconds", [-120, 120])
def test_b048_a_workers_clock_is_not_believed(world, seconds):
    server = world.server()
    clock = Clock(world)
    clock.set(seconds)
    worker = world.worker(server, env=clock.env)
    short = server.trigger(server.task("short", script="sleep 1", timeout_seconds=20))
    long = server.trigger(server.task("long", script="sleep 60", timeout_seconds=1))
    ended = server.wait_run(short, "SUCCESS", 10)
    assert ended["trigger_time"] <= ended["dispatch_time"] <= ended["start_time"] <= ended["end_time"]
    assert ended["start_time"] - ended["dispatch_time"] < 1000 and 900 <= ended["duration_ms"] < 3000
    assert 900 <= server.wait_run(long, "TIMEOUT", 10)["duration_ms"] < 5000
    assert worker.term() == 0
