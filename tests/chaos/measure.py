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
    "retry_s": "from the heal until lost attempts are tried again",
    "end_s": "from the kill of a task's process until its end is known",
    "alarm_s": "from the fault until a server says so",
    "drain_s": "from the last fire until nothing is live",
}


def percentile(values, share):
    values = sorted(values)
    return values[max(0, -int(-share * len(values) // 1) - 1)] if values else 0


def read_fires(cluster, probe_ids):
    """(due, begun for the first time) of the fires of the probes, by due time; a run counts from the oldest fire it stands for."""
    ids = ",".join(map(str, probe_ids))
    return sorted((due, begun) for due, begun in cluster.rows(f"""
        SELECT CASE WHEN r.covers_from > 0 AND r.covers_from < r.trigger_time THEN r.covers_from ELSE r.trigger_time END,
               COALESCE((SELECT MIN(a.start_time) FROM ax_attempt a WHERE a.gid = r.gid AND a.start_time > 0), r.start_time)
        FROM ax_task_log r WHERE r.task_id IN ({ids}) AND r.kind = {SCHEDULE}""") if begun > 0)


def read_lost(cluster):
    """(given to a worker, ended, tried again) of the attempts that were lost."""
    return cluster.rows(f"""
        SELECT a.dispatch_time, a.end_time,
               COALESCE((SELECT MIN(b.dispatch_time) FROM ax_attempt b WHERE b.gid = a.gid AND b.fence > a.fence), r.dispatch_time)
        FROM ax_attempt a JOIN ax_task_log r ON r.gid = a.gid
        WHERE a.outcome = {LOST} AND r.fence > a.fence""")


def count_lost(cluster):
    """Attempts, those that nobody tried again as well."""
    return cluster.rows("SELECT SUM(lost_times) FROM ax_task_log")[0][0]


def read_first(cluster, heal_ms):
    """When the first run after that instant began."""
    return cluster.rows(f"SELECT MIN(start_time) FROM ax_task_log WHERE start_time >= {heal_ms}")[0][0]


def measure_calm(fires, until_ms):
    late = [begun - due for due, begun in fires if due < until_ms]
    return {"fires": len(late), "p50_ms": percentile(late, .5), "p99_ms": percentile(late, .99), "max_ms": max(late, default=0)}


def measure_round(cluster, fires, lost, calm, begin, heal, end):
    """One fault, from its begin to its heal; what is due until `end`, when the next one begins, is its own."""
    due = [(at, begun) for at, begun in fires if begin - 1000 <= at < end]
    late = [begun - at for at, begun in due if begun >= begin]
    slow = [begun for at, begun in due if begun - at > calm["max_ms"] + SLOW_MS]
    again = [next_ for given, ended, next_ in lost if given < heal and begin <= ended < end]
    first = read_first(cluster, heal)
    return {
        "late_s": max(0, max(late, default=0) - calm["p99_ms"]) / 1000,
        "first_s": (first - heal) / 1000 if isinstance(first, int) else None,
        "normal_s": max(0, max(slow, default=heal) - heal) / 1000,
        "again_s": (max(again, default=begin) - begin) / 1000,
        "retry_s": max(0, max(again, default=heal) - heal) / 1000,
    }


def worst(rounds):
    """Of each figure the largest, over all faults of a cell."""
    return {name: max(values) for name in FIGURES
            if (values := [r["figures"][name] for r in rounds if r["figures"].get(name) is not None])}
