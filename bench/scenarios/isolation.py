"""A group that is flooded beside a quiet one: what does the quiet one notice?

The flood has ten times as many runs to do as its quota lets out. It is switched on and off by turns within one run, by
pausing its group, so that both halves of the comparison meet the same machine.

The quiet runs are delayed ones, each due at an instant of its own. Tasks with `@after` would not stay apart: runs that
end in one transaction end at one instant, and are due together from then on."""

import time

from axbench import rows
from axbench.place import Failed, Place, now_ms, wait_for
from axbench.scenario import Scenario, on_both

FLOOD_QUOTA = 50
SETTLE_S = 2  # after each switch
QUIET_EVERY_MS = 25
AHEAD_MS = 500  # the first quiet run of a phase is due so long after it was made


def run(build, quick, on, http, phase_s=5, pairs=10):
    if quick:
        phase_s, pairs = 1, 2
    with Place(build, on, groups={"flood": FLOOD_QUOTA, "quiet": FLOOD_QUOTA}) as place:
        if http:
            place.start_stub()
        place.start_worker()
        flood = place.http if http else place.noop
        # what rests for a second between two runs comes on top of ten quotas that wait
        n = 10 * FLOOD_QUOTA + (FLOOD_QUOTA * 25 if http else 20000)
        place.create_tasks(n, flood("@after 1s"), group="flood")
        place.pause("flood", True)
        quiet, = place.create_tasks(1, lambda i: {"task_type": "delay", "executor_key": "bench.noop", "overlap": "allow",
                                                  "overlap_max": 1000}, group="quiet")
        alone, beside = measure(place, quiet, phase_s, pairs)
        rows.check(place)
        return figures(place, alone, beside)


def measure(place, quiet, phase_s, pairs):
    """The spans of time (ms) without and with the flood."""
    quiet_runs = [{"delay_ms": AHEAD_MS + ms} for ms in range(0, phase_s * 1000, QUIET_EVERY_MS)]
    spans = {True: [], False: []}
    for _ in range(pairs):
        for paused in (True, False):
            place.pause("flood", paused)
            time.sleep(SETTLE_S)
            if not paused:
                wait_for("the flood", lambda: place.call("GET", "/groups/flood")["waiting"] >= 10 * FLOOD_QUOTA)
            begun = now_ms()
            place.call("POST", f"/tasks/{quiet}/runs/batch", {"runs": quiet_runs})
            time.sleep(phase_s + AHEAD_MS / 1000)
            spans[paused].append((begun, now_ms()))
    place.pause("flood", True)
    time.sleep(1)
    place.stop()
    return spans[True], spans[False]


def lateness(place, group, spans):
    """How long after it was due each run of the group began, sorted."""
    late = []
    for begun, ended in spans:
        late += [ms for ms, in place.store.rows(
            f"SELECT start_time - trigger_time FROM ax_task_log WHERE group_key = '{group}' AND trigger_time >= {begun}"
            f" AND trigger_time < {ended} AND start_time > 0")]
    if not late:
        raise Failed(f"no run of {group} was due")
    return sorted(late)


def figures(place, alone, beside):
    found = {}
    for name, spans in (("alone", alone), ("beside", beside)):
        late = lateness(place, "quiet", spans)
        for label, share in (("p50", .5), ("p99", .99)):
            found[f"{name}_start_{label}_ms"] = rows.percentile(late, share)
        found[f"{name}_start_max_ms"] = late[-1]
    for label in ("p50", "p99"):
        found[f"beside_to_alone_{label}"] = found[f"beside_start_{label}_ms"] / max(1, found[f"alone_start_{label}_ms"])
    seconds = sum(ended - begun for begun, ended in beside) / 1000
    found["flood_per_s"] = sum(place.store.rows(
        "SELECT count(*) FROM ax_task_log WHERE group_key = 'flood'"
        f" AND start_time >= {begun} AND start_time < {ended}")[0][0] for begun, ended in beside) / seconds
    return found


TARGETS = {"beside_to_alone_p99": "≤ 1.2"}
SCENARIOS = [
    *on_both("isolation", "a group with ten quotas of HTTP calls of 80 ms beside a quiet one", run, {"http": True}, TARGETS, "P12",
             quick=(17, 0)),
    Scenario("isolation-noop", "the same with runs that end at once: the flood is as fast as the server; embedded store", run,
             {"on": "E", "http": False}, TARGETS),
]
