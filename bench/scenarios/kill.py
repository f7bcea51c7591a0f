"""kill -9 of one of two servers under a steady load, first the one, then the other (P8)."""

import collections
import json
import time

from axbench import rows
from axbench.place import Place, now_ms, wait_for
from axbench.scenario import Scenario

NORMAL_MS = 200  # a run that begins within is one as ever


def run(build, quick, tasks):
    before_s, after_s = (3, 4) if quick else (8, 15)
    if quick:
        tasks = 20
    with Place(build, "MR", servers=2, journal=True) as place:
        place.start_worker()
        place.create_spread(tasks, 1, lambda i: place.noop("@every 1s")(i) | {
            "misfire": "fire_all", "overlap": "allow", "overlap_max": 100})
        killed = []
        for n in (0, 1):
            time.sleep(before_s)
            killed.append(now_ms())
            place.servers[n].kill()
            time.sleep(after_s)
            place.restart_server(n)
        time.sleep(before_s)
        place.connect()
        wait_for("fires that are late", lambda: not place.is_late(), 300, 0.5)
        end = now_ms() - 3000
        place.stop()
        rows.check(place)
        return figures(place, killed, end, after_s * 1000)


def figures(place, killed, end, after_ms):
    runs = place.store.rows("SELECT task_id, trigger_time, start_time - trigger_time FROM ax_task_log WHERE kind = 1"
                            f" AND status = {rows.SUCCESS} AND trigger_time < {end}")
    due = collections.defaultdict(set)
    for task, at, _ in runs:
        due[task].add(at)
    lost = sum((max(at) - min(at)) // 1000 + 1 - len(at) for at in due.values())
    late = sorted(ms for _, at, ms in runs if any(k - 2000 <= at < k + after_ms for k in killed))
    before = sorted(ms for _, at, ms in runs if at < killed[0] - 2000)
    normal = [max([at + ms - k for _, at, ms in runs if k - 2000 <= at < k + after_ms and ms > NORMAL_MS], default=0)
              for k in killed]
    return {"lost": lost, "doubled": doubled(place), "longest_late_ms": late[-1], "p99_late_ms": rows.percentile(late, .99),
            "p99_late_before_ms": rows.percentile(before, .99), "normal_after_ms": max(normal), "fires": len(runs)}


def doubled(place):
    """Runs whose work was begun more than once, by the worker's own record."""
    begun = collections.Counter()
    for line in place.journal.read_text().splitlines():
        event = json.loads(line)
        begun[event["gid"]] += event["event"] == "start"
    return sum(n > 1 for n in begun.values())


SCENARIOS = [
    Scenario("kill", "kill -9 of one of two servers at 200 fires/s, then of the other; MariaDB + Redis", run, {"tasks": 200},
             {"lost": "≤ 0", "doubled": "≤ 0", "longest_late_ms": "≤ 3000"}, "P8", quick=20),
]
