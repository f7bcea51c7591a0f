"""A server with nothing to do, and how soon it fires after its start (P5, P7)."""

import time

from axbench import rows
from axbench.place import Place, now_ms, wait_for
from axbench.scenario import Scenario


def idle(build, quick):
    with Place(build) as place:
        place.stop_server()  # a password was hashed in it: begin anew
        place.start_server()
        place.start_worker()
        time.sleep(2)
        cpu = place.server.cpu_s()
        time.sleep(1 if quick else 5)
        figures = {"server_rss_mb": place.server.rss_mb(), "worker_rss_mb": place.worker.rss_mb(),
                   "server_cpu_ms_per_s": (place.server.cpu_s() - cpu) * 1000 / (1 if quick else 5)}
        place.stop()
        rows.check(place)
        return figures


def start(build, quick, tasks):
    """From the start of the process to the first run that a client can see: written, committed, answered."""
    if quick:
        tasks = 500
    with Place(build) as place:
        place.create_tasks(tasks, place.noop("@every 2s"))
        place.stop_server()
        time.sleep(2.1)
        last, = rows.read(place, "SELECT ifnull(max(gid), 0) FROM ax_task_log")[0]
        begun, listening = place.start_server()
        wait_for("the first fire", lambda: any(int(r["gid"]) > last for r in place.call("GET", "/runs?limit=1")["items"]),
                 pause=0.001)
        seen = now_ms()
        place.stop()
        made, = rows.read(place, "SELECT min(create_time) FROM ax_task_log WHERE gid > ?", last)[0]
        rows.check(place)
        return {"listening_ms": listening - begun, "fire_made_ms": made - begun, "fire_seen_ms": seen - begun}


SCENARIOS = [
    Scenario("idle", "idle server and worker", idle, {}, {"server_rss_mb": "≤ 15", "worker_rss_mb": "≤ 12"}, quick=True),
    Scenario("start-20k", "start of the process to the first fire, 20,000 tasks due", start, {"tasks": 20_000},
             {"fire_seen_ms": "≤ 150"}, quick=True),
]
