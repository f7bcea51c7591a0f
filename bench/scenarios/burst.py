"""All tasks due at one instant (P2)."""

import time

from axbench import rows
from axbench.place import POOL, Place, Skipped, wait_for
from axbench.scenario import Scenario, on_both

WIDE = 10_000  # as many as a group may have at once: else HTTP calls of 80 ms wait for each other


def run(build, quick, on, tasks, http=False, pool=POOL):
    if quick:
        tasks = 400
    with Place(build, on, pool=pool) as place:
        if http:
            place.start_stub()
        place.start_worker()
        due_s = int(time.time()) + 10 + tasks // 2000  # time to create them
        make = place.http if http else place.noop
        place.create_tasks(tasks, make(time.strftime("@at %Y-%m-%dT%H:%M:%SZ", time.gmtime(due_s))))
        if time.time() > due_s - 1:
            raise Skipped("the machine is too busy: the tasks were not created in time")
        cpu = place.cpu_s()
        time.sleep(due_s - time.time())
        wait_for("the last run", lambda: place.is_done(tasks), 300, 0.1)
        figures = rows.per_10k(cpu, place.cpu_s(), tasks)
        figures |= {"server_rss_mb": place.server.rss_mb(), "worker_rss_mb": place.worker.rss_mb()}
        place.stop()
        last = rows.last_end(place, tasks)
        rows.check(place)
        return rows.lateness(place, due_s * 1000, due_s * 1000 + 1) | {
            "fires_per_s": tasks / (last - due_s * 1000) * 1000} | figures


P2 = {"start_p50_ms": "≤ 150", "start_p99_ms": "≤ 300"}
SCENARIOS = [
    *on_both("burst-20k", "20,000 tasks due at one second, no-op", run, {"tasks": 20_000}, P2, "P2", quick=(0, 20)),
    *on_both("burst-20k-http", "20,000 tasks due at one second, HTTP call of 80 ms, 10,000 at a time", run,
             {"tasks": 20_000, "http": True, "pool": WIDE}, P2, "P2"),
    Scenario("burst-100k", "100,000 tasks due at one second, no-op; embedded store", run, {"on": "E", "tasks": 100_000}),
]
