"""What the rows of a cell say of its faults: how late fires became, and how long it took until all was well again.

Instants are milliseconds of this machine's clock, which is that of servers and database, too. Figures are seconds."""

SCHEDULE, SKIPPED = 1, 15  # src/core/task.h, src/core/run_fsm.h
LOST = 6
SLOW_MS = 1000  # beyond the worst of the calm: not well yet

FIGURES = {
    "late_s": "added lateness of the latest fire",
    "first_s": "from heal to the first run",
    "normal_s": "from heal until fires are on time again",
    "again_s": "from the fault until lost attempts are tried again",
    "drain_s": "from the last fire until nothing is live",
}


def percentile(values, share):
    values = sorted(values)
    return values[max(0, -int(-share * len(values) // 1) - 1)] if values else 0


def read_fires(cluster, probe_ids):
    """(due, first given to a worker) of the fires of the probes, by due time; a run counts from the oldest fire it stands for."""
    ids = ",".join(map(str, probe_ids))
    return sorted(cluster.rows(f"""
        SELECT CASE WHEN r.covers_from > 0 AND r.covers_from < r.trigger_time THEN r.covers_from ELSE r.trigger_time END,
               COALESCE(a.dispatch_time, r.dispatch_time)
        FROM ax_task_log r LEFT JOIN ax_attempt a ON a.gid = r.gid AND a.fence = 1
        WHERE r.task_id IN ({ids}) AND r.kind = {SCHEDULE} AND r.dispatch_time > 0"""))


def read_lost(cluster):
    """(begun, ended, tried again) of the attempts that were lost."""
    return cluster.rows(f"""
        SELECT a.dispatch_time, a.end_time,
               COALESCE((SELECT MIN(b.dispatch_time) FROM ax_attempt b WHERE b.gid = a.gid AND b.fence > a.fence), r.dispatch_time)
        FROM ax_attempt a JOIN ax_task_log r ON r.gid = a.gid
        WHERE a.outcome = {LOST} AND r.fence > a.fence""")


def read_firsts(cluster, heal_ms):
    """When the first run after that instant was given to a worker."""
    return cluster.rows(f"SELECT MIN(dispatch_time) FROM ax_task_log WHERE dispatch_time >= {heal_ms}")[0][0]


def measure_calm(fires, until_ms):
    late = [given - due for due, given in fires if due < until_ms]
    return {"fires": len(late), "p50_ms": percentile(late, .5), "p99_ms": percentile(late, .99), "max_ms": max(late, default=0)}


def measure_round(cluster, fires, lost, calm, begin, heal, end):
    """One fault, from its begin to its heal; what is due until `end`, when the next one begins, is its own."""
    due = [(at, given) for at, given in fires if begin - 1000 <= at < end]
    late = [given - at for at, given in due if given >= begin]
    slow = [given for at, given in due if given - at > calm["max_ms"] + SLOW_MS]
    again = [next_ - begin for begun, ended, next_ in lost if begun < heal and begin <= ended < end]
    first = read_firsts(cluster, heal)
    return {
        "late_s": max(0, max(late, default=0) - calm["p99_ms"]) / 1000,
        "first_s": (first - heal) / 1000 if isinstance(first, int) else None,
        "normal_s": max(0, max(slow, default=heal) - heal) / 1000,
        "again_s": max(again, default=0) / 1000,
    }


def worst(rounds):
    """Of each figure the largest, over all faults of a cell."""
    return {name: max(values) for name in FIGURES
            if (values := [r["figures"][name] for r in rounds if r["figures"].get(name) is not None])}
