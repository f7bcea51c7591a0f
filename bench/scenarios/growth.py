"""P1 and P3 in a store with years behind it, against the same store without (P10).

Both stores have the same 20,000 tasks; in one of them these tasks have 20 million ended runs. They are made once, kept
while ax_bench runs, and every measurement begins with a copy of each."""

import atexit
import shutil
import tempfile
import time
from pathlib import Path

from axbench import history, rows
from axbench.many import Many
from axbench.place import Place, now_ms
from axbench.scenario import on_both
from scenarios import ceiling

TASKS, PERIOD_S = 20_000, 10
PERIODS = 3  # in which the tasks are let go: 667 a second, which either store takes
made = {}  # (store, runs): a folder that a Place may begin with


def saved(build, on, tasks, period_s, runs):
    if not made:
        made["folder"] = Path(tempfile.mkdtemp(prefix="ax-bench-grown-"))
        atexit.register(shutil.rmtree, made["folder"])
    if (on, runs) not in made:
        for other in [key for key in made if key not in ("folder", (on, 0))]:  # they take much room
            shutil.rmtree(made.pop(other))
        with Place(build, on) as place:
            place.start_stub()
            place.start_worker()
            ids = place.create_tasks(tasks, lambda i: place.http(f"@after {period_s}s")(i) | {"status": "created"})
            if runs:
                history.add(place, ids, runs)
            port = place.stub_port
            place.stop()
            place.stub_port = port
            folder = made["folder"] / f"{on}-{runs}"
            place.save(folder)
            (folder / "ids").write_text("\n".join(ids))
        made[on, runs] = folder
    return made[on, runs]


def run(build, quick, on, runs):
    """`runs` = 20 million, if `--history` does not say otherwise."""
    tasks, period_s, runs = (200, 2, 2000) if quick else (TASKS, PERIOD_S, runs)
    figures = {}
    for name, n in (("empty", 0), ("grown", runs)):
        folder = saved(build, on, tasks, period_s, n)
        with Place(build, on, saved=folder) as place:
            figures |= {f"{name}_{key}": value for key, value in measure(place, folder, period_s, quick).items()}
            rows.check(place)
    for key in ("start_p99_ms", "cpu_s_per_10k", "ceiling_fires_per_s"):
        if figures[f"empty_{key}"]:
            figures[f"grown_to_empty_{key}"] = figures[f"grown_{key}"] / figures[f"empty_{key}"]
    return figures


def measure(place, folder, period_s, quick):
    """P1, then P3 on top of it."""
    ids = (folder / "ids").read_text().split()
    place.start_stub()
    place.start_worker()
    resume(place, ids, PERIODS * period_s)
    time.sleep(1)
    begun, cpu = now_ms(), place.cpu_s()
    time.sleep(2 if quick else 20)
    used, ended = place.cpu_s(), now_ms()
    base = len(ids) // period_s
    first = int(base * ceiling.GROWTH)
    best = ceiling.climb(place, first, 1, 1, base) if quick else ceiling.climb(place, first, 5, before=base)
    fired, _ = rows.fires(place, begun, ended)
    return ({"fires_per_s": fired * 1000 / (ended - begun)} | rows.lateness(place, begun, ended, which=["start"])
            | rows.per_10k(cpu, used, fired) | {"ceiling_fires_per_s": best["fires_per_s"]})


def resume(place, ids, seconds):
    """Lets the tasks go, evenly over the time."""
    per_turn = max(1, len(ids) // seconds // 100)
    with Many(place, per_turn) as many:
        begun = time.monotonic()
        for at in range(0, len(ids), per_turn):
            time.sleep(max(0, begun + at / len(ids) * seconds - time.monotonic()))
            many.post([f"/tasks/{i}/resume" for i in ids[at:at + per_turn]])


WORSE = {"grown_to_empty_start_p99_ms": "≤ 1.1", "grown_to_empty_cpu_s_per_10k": "≤ 1.1",
         "grown_to_empty_ceiling_fires_per_s": "≥ 0.9"}
SCENARIOS = on_both("growth", "20,000 tasks, HTTP call of 80 ms, 2,000 fires/s and the ceiling: with 20 million finished runs"
                    " against none", run, {"runs": 20_000_000}, WORSE, "P10", quick=(30, 0))
