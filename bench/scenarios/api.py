"""Calls of the REST API that people wait for (P13)."""

import sqlite3
import time

from axbench import rows
from axbench.place import Place
from axbench.scenario import Scenario

CALLS = 20


def run(build, quick, tasks, runs):
    if quick:
        tasks, runs = 2000, 2000
    with Place(build) as place:
        creating = []
        for at in range(0, tasks, 1000):
            begun = time.perf_counter()
            ids = place.create_batch(place.noop("@every 3600s"), at, at + 1000, "default")
            creating.append((time.perf_counter() - begun) * 1000)
        place.stop()
        rows.check(place)
        add_history(place, ids[0], runs)
        place.start_server()
        figures = {"create_1000_ms": rows.percentile(sorted(creating), .5)}
        for name, path in (("tasks_page", f"/tasks?limit=50&after={tasks // 2}"), ("tasks_search", "/tasks?limit=50&q=t00"),
                           ("runs_page", "/runs?limit=50"), ("runs_of_task", f"/runs?limit=50&task_id={ids[0]}"),
                           ("overview", "/overview")):
            figures[f"{name}_ms"] = timed(place, path)
        return figures


def timed(place, path):
    """Median of CALLS calls on one connection, in ms."""
    times = []
    for _ in range(CALLS):
        begun = time.perf_counter()
        place.call("GET", path)
        times.append((time.perf_counter() - begun) * 1000)
    return rows.percentile(sorted(times), .5)


def add_history(place, task, runs):
    """Ended runs of one task, written into the stopped store: copies of a row that the schema takes."""
    db = sqlite3.connect(place.store)
    columns = [c[1] for c in db.execute("PRAGMA table_info(ax_task_log)")]
    texts = {c[1] for c in db.execute("PRAGMA table_info(ax_task_log)") if c[2] == "TEXT"}
    now = int(time.time() * 1000)
    fixed = {"gid": "(? + i) << 22", "task_id": task, "kind": 5, "fire_key": "'h' || i", "status": rows.SUCCESS,
             "group_key": "'bench'", "executor_key": "'bench.noop'", "worker": "'w1'", "version": 1, "fence": 1,
             "priority": 5, "trigger_time": now, "create_time": now, "end_time": "? + i"}
    values = [str(fixed.get(c, "''" if c in texts else 0)) for c in columns]
    given = [now - 1704067200000 - 2 * runs if c == "gid" else now - runs for c in columns if c in ("gid", "end_time")]
    db.execute(f"WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < {runs} - 1)"
               f" INSERT INTO ax_task_log ({','.join(columns)}) SELECT {','.join(values)} FROM n", given)
    db.commit()
    db.close()


SCENARIOS = [
    Scenario("api", "REST calls with 100,000 tasks and 1,000,000 runs (P13)", run, {"tasks": 100_000, "runs": 1_000_000},
             {"create_1000_ms": "≤ 200", "tasks_page_ms": "≤ 50", "runs_page_ms": "≤ 50"}, quick=True),
]
