"""One, two and three servers over one database, each held to a small part of a core, so that they are the limit (P11)."""

import time

from axbench import rows
from axbench.place import QUOTA, Place, Skipped, wait_for
from axbench.scenario import Scenario
from axbench.share import Share, Unavailable

GROUPS = [f"g{n}" for n in range(4)]  # of one group all claims and all ends would count in one row


def run(build, quick, tasks, percent):
    if quick:
        tasks = 300
    drained = {n: drain(build, n, tasks, percent) for n in ([1, 2] if quick else [1, 2, 3])}
    figures = {f"servers_{n}_fires_per_s": per_s for n, (per_s, _) in drained.items()}
    figures |= {f"servers_{n}_cpu_percent_each": used for n, (_, used) in drained.items()}
    return figures | {f"{n}_to_1": per_s / drained[1][0] for n, (per_s, _) in drained.items() if n > 1}


def drain(build, servers, tasks, percent):
    """Fires per second of so many servers, when `tasks` are due at one instant, and how much of a core each used: where
    that is less than its part, something else was the limit."""
    with Place(build, "MR", servers=servers, groups=dict.fromkeys(GROUPS, QUOTA)) as place:
        place.start_worker()
        due_s = int(time.time()) + 10 + tasks // 1000
        for group in GROUPS:
            place.create_tasks(tasks // len(GROUPS), place.noop(time.strftime("@at %Y-%m-%dT%H:%M:%SZ", time.gmtime(due_s))), group)
        shares = hold(place, percent)
        try:
            if time.time() > due_s - 1:
                raise Skipped("the machine is too busy: the tasks were not created in time")
            time.sleep(due_s - time.time())
            cpu = place.cpu_s()["server"]
            wait_for("the last run", lambda: place.is_done(tasks), 300, 0.5)
            used = place.cpu_s()["server"] - cpu
        finally:
            place.stop()
            for share in shares:
                share.end()
        rows.check(place)
        seconds = rows.last_end(place, tasks) / 1000 - due_s
        return tasks / seconds, used / servers / seconds * 100


def hold(place, percent):
    shares = []
    try:
        for server in place.servers:
            shares.append(Share(percent))
            shares[-1].take(server.pid)
    except Unavailable as why:
        raise Skipped(str(why)) from None
    return shares


SCENARIOS = [
    Scenario("servers", "one, two and three servers, 10 % of a core each, 6,000 no-op tasks of four groups due at one second; MariaDB + Redis",
             run, {"tasks": 6000, "percent": 10}, {"2_to_1": "≥ 1.6"}, "P11", quick=40),
]
