"""What the stopped store says: lateness, rates, and whether every promise held."""

import json
import sqlite3
import subprocess

from axbench.place import Failed

SUCCESS = 10


def percentile(values, share):
    """Of sorted values, the smallest that at least this share does not exceed."""
    return values[max(0, -int(-share * len(values) // 1) - 1)]


def read(place, question, *args):
    db = sqlite3.connect(f"file:{place.store}?mode=ro", uri=True)
    try:
        return db.execute(question, args).fetchall()
    finally:
        db.close()


def lateness(place, from_ms, to_ms, prefix=""):
    """Of the runs due in [from_ms, to_ms): given to a worker, and begun, so long after they were due (ms)."""
    figures = {}
    for name, column in (("dispatch", "dispatch_time"), ("start", "start_time")):
        late = [ms for ms, in read(place, f"SELECT {column} - trigger_time AS late FROM ax_task_log WHERE trigger_time"
                                   f" >= ? AND trigger_time < ? AND {column} > 0 ORDER BY late", from_ms, to_ms)]
        if not late:
            raise Failed(f"no run was due from {from_ms} to {to_ms}")
        for label, share in (("p50", .5), ("p99", .99), ("p999", .999)):
            figures[f"{prefix}{name}_{label}_ms"] = percentile(late, share)
        figures[f"{prefix}{name}_max_ms"] = late[-1]
    return figures


def fires(place, from_ms, to_ms):
    """(runs due in the window that succeeded, fires that were counted on another run instead)."""
    return read(place, "SELECT count(CASE WHEN status = ? THEN 1 END), ifnull(sum(covers_count), 0) FROM ax_task_log"
                " WHERE trigger_time >= ? AND trigger_time < ?", SUCCESS, from_ms, to_ms)[0]


def last_end(place, runs):
    """When the last of so many successful runs ended."""
    n, end = read(place, "SELECT count(*), max(end_time) FROM ax_task_log WHERE status = ?", SUCCESS)[0]
    if n != runs:
        raise Failed(f"{n} runs succeeded, not {runs}")
    return end


def check(place):
    """ax-check over the stopped store: a fast answer that is wrong is no result."""
    done = subprocess.run([place.build.path("ax-check"), "--store", f"sqlite:{place.store}", "--json"],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"ax-check ended with {done.returncode}: {done.stderr or violations(done.stdout)}")


def violations(text):
    found = json.loads(text)
    wrong = {key: found[key] for key in ("unexplained", "duplicates") if found.get(key)}
    wrong |= {rule["id"]: rule["rows"][:3] for rule in found["invariants"] if rule["violations"]}
    return wrong or found
