"""Delayed runs (P4): how fast they are taken in, and how fast they are worked off when all are due at one instant."""

import concurrent.futures
import time

from axbench import rows
from axbench.many import Many
from axbench.place import Api, Place, Skipped, now_ms, wait_for
from axbench.scenario import Scenario, on_both

TASKS = 100
CALLERS, BATCH = 4, 1000
CONNECTIONS = 128


def run(build, quick, on, runs, enqueue):
    if quick:
        runs = 4000
    with Place(build, on) as place:
        place.start_worker()
        ids = place.create_tasks(TASKS, lambda i: {"task_type": "delay", "executor_key": "bench.noop",
                                                   "overlap": "allow", "overlap_max": 1000})
        due_ms = now_ms() + 15_000 + (runs // 5 if enqueue is by_batches else runs)
        cpu, begun = place.cpu_s(), time.monotonic()
        enqueue(place, ids, runs, due_ms)
        taken_s = time.monotonic() - begun
        figures = {"enqueued_per_s": runs / taken_s, "enqueue_cpu_s_per_10k": rows.per_10k(cpu, place.cpu_s(), runs)["cpu_s_per_10k"]}
        if now_ms() > due_ms - 1000:
            raise Skipped("the machine is too busy: the runs were not created in time")
        cpu = place.cpu_s()
        time.sleep((due_ms - now_ms()) / 1000)
        wait_for("the last run", lambda: not place.has_live_runs(), 300, 0.1)
        drain = {f"drain_{name}": value for name, value in rows.per_10k(cpu, place.cpu_s(), runs).items()}
        place.stop()
        last = rows.last_end(place, runs)
        rows.check(place)
        return figures | {"drained_per_s": runs / (last - due_ms) * 1000} | drain | rows.lateness(place, due_ms, due_ms + 1)


def by_batches(place, ids, runs, due_ms):
    """CALLERS callers, each with a connection of its own, 1,000 runs to a call."""
    def call(at):
        api = Api(place.origins[0])
        api.headers |= place.api.headers
        for batch in range(at, runs, BATCH * CALLERS):
            made = [{"run_at": due_ms, "dedup_key": f"k{i}"} for i in range(batch, min(runs, batch + BATCH))]
            api.call("POST", f"/api/v1/tasks/{ids[batch // BATCH % len(ids)]}/runs/batch", {"runs": made})

    with concurrent.futures.ThreadPoolExecutor(CALLERS) as callers:
        list(callers.map(call, range(0, BATCH * CALLERS, BATCH)))


def one_by_one(place, ids, runs, due_ms):
    """Single POSTs."""
    with Many(place, CONNECTIONS) as many:
        many.post([f"/tasks/{ids[i % len(ids)]}/runs" for i in range(runs)], {"run_at": due_ms})


SCENARIOS = [
    *on_both("delayed-100k", "100,000 delayed runs, 1,000 to a call, 4 callers; all due at one instant", run,
             {"runs": 100_000, "enqueue": by_batches}, {"enqueued_per_s": "≥ 50000", "drained_per_s": "≥ 20000"}, "P4",
             quick=(20, 0)),
    Scenario("delayed-single", "20,000 delayed runs, single POSTs pipelined; all due at one instant; embedded store", run,
             {"on": "E", "runs": 20_000, "enqueue": one_by_one}),
]
