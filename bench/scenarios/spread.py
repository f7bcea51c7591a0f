"""Many tasks with a period each: the everyday load, at a steady rate.

`@after` counts in milliseconds, so its fires are spread evenly; `@every` and cron expressions mean whole seconds, so
what is due in a second is due at one instant."""

import time

from axbench import rows
from axbench.place import Place, now_ms
from axbench.scenario import Scenario


def run(build, quick, tasks, period_s, kind="@after", http=False, window_s=10):
    if quick:
        tasks, period_s, window_s = 400, 2, 2
    with Place(build) as place:
        if http:
            place.start_stub()
        place.start_worker()
        make = place.http if http else place.noop
        place.create_spread(tasks, period_s, make(f"{kind} {period_s}s"))
        figures = measure(place, window_s)
        rows.check(place)
        return figures


def measure(place, window_s):
    """Lateness, rate, CPU time and memory of the next window_s seconds; stops the programs."""
    programs = {"server": place.server, "worker": place.worker}
    time.sleep(1)
    begun, cpu = now_ms(), {name: p.cpu_s() for name, p in programs.items()}
    time.sleep(window_s)
    cpu = {name: p.cpu_s() - cpu[name] for name, p in programs.items()}
    ended = now_ms()
    figures = {f"{name}_rss_mb": p.rss_mb() for name, p in programs.items()}
    time.sleep(1)  # what was due in the window ends
    place.stop()
    runs, covered = rows.fires(place, begun, ended)
    figures = rows.lateness(place, begun, ended) | figures
    figures["fires_per_s"] = runs / (ended - begun) * 1000
    figures["coalesced"] = covered
    for name in programs:
        figures[f"{name}_cpu_s_per_10k"] = cpu[name] / runs * 10_000
    return figures


P1 = {"start_p50_ms": "≤ 3", "start_p99_ms": "≤ 10", "start_max_ms": "≤ 50"}
SCENARIOS = [
    Scenario("spread-1k", "1,000 tasks every 10 s, no-op, spread: 100 fires/s", run, {"tasks": 1000, "period_s": 10}, P1),
    Scenario("spread-20k", "20,000 tasks every 10 s, no-op, spread: 2,000 fires/s", run,
             {"tasks": 20_000, "period_s": 10}, P1 | {"server_rss_mb": "≤ 24"}, quick=True),
    Scenario("spread-20k-http", "20,000 tasks every 10 s, HTTP call of 80 ms, spread: 2,000 fires/s (P1)", run,
             {"tasks": 20_000, "period_s": 10, "http": True}, P1, quick=True),
    Scenario("spread-100k", "100,000 tasks every 50 s, no-op, spread: 2,000 fires/s", run,
             {"tasks": 100_000, "period_s": 50}, P1 | {"server_rss_mb": "≤ 64"}),
    Scenario("seconds-20k", "20,000 tasks every 10 s, no-op, 2,000 due at each full second", run,
             {"tasks": 20_000, "period_s": 10, "kind": "@every"}, quick=True),
]
