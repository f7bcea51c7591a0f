"""All tasks due at one instant (P2)."""

import time

from axbench import rows
from axbench.place import Place, wait_for
from axbench.scenario import Scenario


def run(build, quick, tasks):
    if quick:
        tasks = 400
    with Place(build) as place:
        place.start_worker()
        due_s = int(time.time()) + 4 + tasks // 4000  # time to create them
        place.create_tasks(tasks, place.noop(time.strftime("@at %Y-%m-%dT%H:%M:%SZ", time.gmtime(due_s))))
        if time.time() > due_s - 1:
            raise rows.Failed("the tasks were not created in time: the machine is too busy")
        cpu = place.server.cpu_s() + place.worker.cpu_s()
        time.sleep(due_s - time.time())
        time.sleep(1)
        wait_for("the last run", lambda: not place.has_live_runs(), 300, 0.1)
        cpu = place.server.cpu_s() + place.worker.cpu_s() - cpu
        figures = {"server_rss_mb": place.server.rss_mb(), "worker_rss_mb": place.worker.rss_mb()}
        place.stop()
        last = rows.last_end(place, tasks)
        rows.check(place)
        return rows.lateness(place, due_s * 1000, due_s * 1000 + 1) | {
            "fires_per_s": tasks / (last - due_s * 1000) * 1000, "cpu_s_per_10k": cpu / tasks * 10_000} | figures


SCENARIOS = [
    Scenario("burst-1k", "1,000 tasks due at one second, no-op", run, {"tasks": 1000}),
    Scenario("burst-20k", "20,000 tasks due at one second, no-op (P2)", run, {"tasks": 20_000},
             {"start_p50_ms": "≤ 150", "start_p99_ms": "≤ 300"}, quick=True),
    Scenario("burst-100k", "100,000 tasks due at one second, no-op", run, {"tasks": 100_000}),
]
