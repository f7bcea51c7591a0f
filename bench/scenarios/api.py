"""Calls of the REST API that people wait for (P13)."""

import time

from axbench import history, rows
from axbench.place import Place
from axbench.scenario import on_both

CALLS = 20
# What the console asks for when a page of it is opened.
PAGES = {"runs_page": "/runs?limit=50", "runs_live": "/runs?live=true&limit=50", "runs_failed": "/runs?status=FAILED&limit=50",
         "overview": "/overview", "groups": "/groups", "workers": "/workers", "alerts": "/alerts?limit=50"}


def run(build, quick, on, tasks, runs):
    if quick:
        tasks, runs = 2000, 2000
    with Place(build, on) as place:
        place.start_worker()
        creating, ids = [], []
        for at in range(0, tasks, 1000):
            begun = time.perf_counter()
            ids += place.create_batch(place.noop("@every 100000s"), at, at + 1000)
            creating.append((time.perf_counter() - begun) * 1000)
        history.add(place, ids[:1000], runs)
        rows.check(place)
        place.start_servers()
        figures = {"create_1000_ms": rows.percentile(sorted(creating), .5)}
        pages = {"tasks_page": f"/tasks?limit=50&after={ids[tasks // 2]}", "tasks_search": "/tasks?limit=50&q=t00",
                 "runs_of_task": f"/runs?limit=50&task_id={ids[0]}", **PAGES}
        figures |= {f"{name}_ms": timed(place, "GET", path) for name, path in pages.items()}
        figures["trigger_ms"] = timed(place, "POST", f"/tasks/{ids[1]}/runs", {})
        return figures


def timed(place, method, path, body=None):
    """Median of CALLS calls on one connection, in ms."""
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        place.call(method, path, body)
        times.append((time.perf_counter() - begun) * 1000)
    return rows.percentile(sorted(times), .5)


SCENARIOS = on_both("api", "REST calls with 100,000 tasks and 1,000,000 runs", run, {"tasks": 100_000, "runs": 1_000_000},
                    {"create_1000_ms": "≤ 200", "tasks_page_ms": "≤ 50", "runs_page_ms": "≤ 50"}, "P13", quick=(4, 15))
