"""The highest steady rate of no-op fires whose p99 stays below 100 ms (P3), and the lateness at a part of it."""

import re
import time
from statistics import median

from axbench import rows
from axbench.place import Place, now_ms
from axbench.scenario import on_both
from scenarios.spread import measure

FIRST, GROWTH, LIMIT_MS, KEPT = 1000, 1.2, 100, .95
PERIOD_S = 5
CREATED_PER_S = 3000  # so that making the tasks is not the load
SLACK = 1.01  # an @after task fires a little less often than its period says: the time of its run comes on top
found = {}  # (build, store): ceilings that were measured


def run(build, quick, on):
    with Place(build, on) as place:
        place.start_worker()
        figures = climb(place, 50, 1, 2) if quick else climb(place, FIRST, 5)
        rows.check(place)
    found.setdefault((build.root, on), []).append(figures["fires_per_s"])
    return figures


def climb(place, first, window_s, steps=40, before=0):
    """More and more tasks (on top of `before` fires/s that are there), until two steps in a row were not kept up or were
    late; the figures of the best one. Stops the programs."""
    rate, tasks, seen = first, 0, []
    while len(seen) < steps and [step["kept"] for step in seen[-2:]] != [False, False]:
        wanted = int((rate - before) * PERIOD_S * SLACK)
        place.create_spread(wanted - tasks, max(PERIOD_S, (wanted - tasks) / CREATED_PER_S),
                            place.noop(f"@after {PERIOD_S}s"), first=1_000_000 + tasks)
        seen.append(look(place, rate, window_s))
        rate, tasks = int(rate * GROWTH), wanted
    time.sleep(1)
    place.catch_up()
    place.stop()
    return best(place, seen)


def look(place, rate, window_s):
    """One step, seen from outside."""
    time.sleep(1)
    step = {"rate": rate, "begun": now_ms(), "cpu": place.cpu_s(), "given": counted(place, "ax_dispatched_total")}
    time.sleep(window_s)
    step |= {"ended": now_ms(), "used": place.cpu_s()}
    per_s = (counted(place, "ax_dispatched_total") - step["given"]) * 1000 / (step["ended"] - step["begun"])
    return step | {"kept": per_s > KEPT * rate}


def counted(place, name):
    text = place.api.ask("GET", "/metrics", read=bytes.decode)[1]
    return int(re.search(rf"^{name} (\d+)", text, re.M)[1])


def best(place, seen):
    """The figures of the last step that was kept up in time, by what the store says."""
    figures = {"fires_per_s": 0}
    for step in seen:
        runs, _ = rows.fires(place, step["begun"], step["ended"])
        per_s = runs * 1000 / (step["ended"] - step["begun"])
        late = rows.lateness(place, step["begun"], step["ended"], which=["start"]) if runs else {"start_p99_ms": LIMIT_MS}
        if per_s > KEPT * step["rate"] and late["start_p99_ms"] < LIMIT_MS:
            figures = {"fires_per_s": per_s} | late | rows.per_10k(step["cpu"], step["used"], runs)
    return figures


def lateness(build, quick, on, shares=(10, 50, 90)):
    """Of each share of the ceiling, which is measured first if it was not yet."""
    if not found.get((build.root, on)):
        run(build, quick, on)
    ceiling = median(found[build.root, on])
    figures = {"ceiling_fires_per_s": ceiling}
    for share in shares:
        with Place(build, on) as place:
            place.start_worker()
            tasks = max(10, int(ceiling * share / 100 * 10 * SLACK))
            place.create_spread(tasks, max(10, tasks / CREATED_PER_S), place.noop("@after 10s"))
            figures |= {f"at_{share}_{name}": value for name, value in measure(place, 20).items()
                        if name.startswith("start_") or name == "fires_per_s"}
            rows.check(place)
    return figures


SCENARIOS = [
    *on_both("ceiling", "most fires/s sustained, no-op, p99 < 100 ms", run, {}, {"fires_per_s": "≥ 25000"}, "P3",
             mr_targets={"fires_per_s": "≥ 15000"}, quick=(0, 35)),
    *on_both("lateness", "lateness at 10 %, 50 % and 90 % of the ceiling, no-op", lateness, {}),
]
