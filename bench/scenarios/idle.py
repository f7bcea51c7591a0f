"""Servers with nothing to do, what tasks cost that only wait, and how soon the first fire is made after a start (P5, P7)."""

import time

from axbench import rows
from axbench.place import Failed, Place, cpu_s, now_ms, wait_for
from axbench.scenario import Scenario, on_both

SIZES = {"20k": 20_000, "100k": 100_000, "1m": 1_000_000}


def idle(build, quick, on):
    seconds = 1 if quick else 5
    with Place(build, on) as place:
        place.stop_servers()  # a password was hashed in it: begin anew
        place.start_servers()
        place.start_worker()
        time.sleep(2)
        cpu = place.cpu_s()
        time.sleep(seconds)
        used = place.cpu_s()
        figures = {"server_rss_mb": place.server.rss_mb(), "worker_rss_mb": place.worker.rss_mb()}
        figures |= {f"{name}_cpu_ms_per_s": (used[name] - cpu[name]) * 1000 / seconds for name in used}
        place.stop()
        rows.check(place)
        return figures


def memory(build, quick, on):
    """Of a server that was started with so many tasks, none of which is due for hours, and answered a page of them."""
    figures, tasks = {}, 0
    with Place(build, on) as place:
        for name, size in SIZES.items():
            if quick:
                size //= 200
            begun = time.monotonic()
            for at in range(tasks, size, 1000):
                place.create_batch(place.noop("@every 100000s"), at, min(size, at + 1000))
            created_per_s = (size - tasks) / (time.monotonic() - begun)
            tasks = size
            place.stop_servers()
            place.start_servers()
            place.call("GET", "/tasks?limit=200")
            wait_for("a server that rests", lambda: rests(place))
            figures |= {f"rss_{name}_mb": place.server.rss_mb(),
                        f"listening_{name}_ms": place.server.listening - place.server.began}
        place.stop()
        rows.check(place)
    return figures | {"created_per_s": created_per_s}


def rests(place):
    """A server that has read what it reads at its start."""
    before = cpu_s(place.server.pid)
    time.sleep(0.5)
    return cpu_s(place.server.pid) - before < 0.05


def start(build, quick, on, tasks):
    """From the start of the process to the first run that a client can see: written, committed, answered."""
    if quick:
        tasks = 500
    with Place(build, on) as place:
        # None fires before the stop: without a worker a task's later fires join the run that waits, and no new one is seen.
        begins = now_ms() + (10_000 if quick else 90_000)
        fires = place.noop("@every 2s")
        place.create_tasks(tasks, lambda i: {**fires(i), "valid_from": begins})
        place.stop_servers()
        if now_ms() > begins:
            raise Failed("making the tasks took longer than until their first fire")
        time.sleep((begins - now_ms()) / 1000 + 2.1)
        last, = place.store.rows("SELECT coalesce(max(gid), 0) FROM ax_task_log")[0]
        place.start_servers()
        wait_for("the first fire", lambda: any(int(r["gid"]) > last for r in place.call("GET", "/runs?limit=1")["items"]),
                 pause=0.001)
        seen, server = now_ms(), place.server
        place.stop()
        made, = place.store.rows(f"SELECT min(create_time) FROM ax_task_log WHERE gid > {last}")[0]
        rows.check(place)
        return {"listening_ms": server.listening - server.began, "fire_made_ms": made - server.began,
                "fire_seen_ms": seen - server.began}


SCENARIOS = [
    *on_both("idle", "idle server and worker", idle, {}, {"server_rss_mb": "≤ 15", "worker_rss_mb": "≤ 12"}, "P5", quick=(4, 0)),
    *on_both("memory", "memory of a server with 20,000, 100,000 and a million tasks that wait", memory, {},
             {"rss_20k_mb": "≤ 24", "rss_100k_mb": "≤ 64", "rss_1m_mb": "≤ 400"}, "P5", quick=(4, 0)),
    Scenario("start-20k", "start of the process to the first fire, 20,000 tasks due; embedded store", start,
             {"on": "E", "tasks": 20_000}, {"fire_seen_ms": "≤ 150"}, "P7", quick=4),
    Scenario("start-100k-mr", "start of the process to the first fire, 100,000 tasks due; MariaDB + Redis", start,
             {"on": "MR", "tasks": 100_000}, {"fire_seen_ms": "≤ 1000"}, "P7", quick=10),
]
