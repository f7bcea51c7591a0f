"""Many tasks with a period each: the everyday load, at a steady rate (P1, P6).

`@after` counts in milliseconds, so its fires are spread evenly; `@every` and cron expressions mean whole seconds, so
what is due in a second is due at one instant."""

import time

from axbench import rows
from axbench.place import Place, now_ms
from axbench.scenario import Scenario, on_both

WINDOW_S = 65  # a minute and a little: what the server does once a minute falls into it


def run(build, quick, on, tasks, period_s=10, kind="@after", http=False, window_s=WINDOW_S):
    if quick:
        tasks, period_s, window_s = 400, 2, 2
    with Place(build, on) as place:
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
    time.sleep(1)
    begun, cpu = now_ms(), place.cpu_s()
    time.sleep(window_s)
    used, ended = place.cpu_s(), now_ms()
    memory = {"server_rss_mb": place.server.rss_mb(), "worker_rss_mb": place.worker.rss_mb()}
    time.sleep(1)  # what was due in the window ends
    place.catch_up()
    place.stop()
    runs, covered = rows.fires(place, begun, ended)
    return rows.lateness(place, begun, ended) | memory | {
        "fires_per_s": runs / (ended - begun) * 1000, "coalesced": covered} | rows.per_10k(cpu, used, runs)


P1 = {"start_p50_ms": "≤ 3", "start_p99_ms": "≤ 10", "start_max_ms": "≤ 50"}
P6 = {"cpu_s_per_10k": "≤ 1.5"}
SCENARIOS = [
    *on_both("spread-20k-http", "20,000 tasks every 10 s, HTTP call of 80 ms, spread: 2,000 fires/s", run,
             {"tasks": 20_000, "http": True}, P1 | {"server_rss_mb": "≤ 24"}, "P1", quick=(7, 15)),
    *on_both("spread-20k", "20,000 tasks every 10 s, no-op, spread: 2,000 fires/s, and what they cost", run,
             {"tasks": 20_000}, P6, "P6"),
    Scenario("spread-1k", "1,000 tasks every 10 s, no-op, spread: 100 fires/s; embedded store", run,
             {"on": "E", "tasks": 1000, "window_s": 10}),
    Scenario("spread-100k", "100,000 tasks every 50 s, no-op, spread: 2,000 fires/s; embedded store", run,
             {"on": "E", "tasks": 100_000, "period_s": 50}),
    Scenario("seconds-20k", "20,000 tasks every 10 s, no-op, 2,000 due at each full second; embedded store", run,
             {"on": "E", "tasks": 20_000, "kind": "@every", "window_s": 20}),
]
