"""What the store says when the servers have stopped: lateness, rates, and whether every promise held."""

import json
import subprocess

from axbench.place import Failed

SUCCESS = 10


def percentile(values, share):
    """Of sorted values, the smallest that at least this share does not exceed."""
    return values[max(0, -int(-share * len(values) // 1) - 1)]


def lateness(place, from_ms, to_ms, prefix="", which=("dispatch", "start")):
    """Of the runs due in [from_ms, to_ms): given to a worker, and begun, so long after they were due (ms)."""
    figures = {}
    for name in which:
        late = sorted(ms for ms, in place.store.rows(
            f"SELECT {name}_time - trigger_time FROM ax_task_log WHERE trigger_time >= {from_ms} AND trigger_time < {to_ms}"
            f" AND {name}_time > 0"))
        if not late:
            raise Failed("of what was due in the window nothing was begun: this load is far too much for this machine")
        for label, share in (("p50", .5), ("p99", .99), ("p999", .999)):
            figures[f"{prefix}{name}_{label}_ms"] = percentile(late, share)
        figures[f"{prefix}{name}_max_ms"] = late[-1]
    return figures


def fires(place, from_ms, to_ms):
    """(runs due in the window that succeeded, fires that were counted on another run instead)."""
    return place.store.rows(f"SELECT count(CASE WHEN status = {SUCCESS} THEN 1 END), coalesce(sum(covers_count), 0)"
                            f" FROM ax_task_log WHERE trigger_time >= {from_ms} AND trigger_time < {to_ms}")[0]


def last_end(place, runs):
    """When the last of so many successful runs ended."""
    n, end = place.store.rows(f"SELECT count(*), max(end_time) FROM ax_task_log WHERE status = {SUCCESS}")[0]
    if n != runs:
        raise Failed(f"{n} runs succeeded, not {runs}")
    return end


def per_10k(before, after, runs):
    """CPU seconds per 10,000 runs of each program and of all, from two answers of Place.cpu_s."""
    used = {name: (after[name] - before[name]) / runs * 10_000 for name in before}
    return {"cpu_s_per_10k": sum(used.values())} | {f"{name}_cpu_s_per_10k": s for name, s in used.items()}


def check(place):
    """ax-check over the store: a fast answer that is wrong is no result."""
    journal = ["--journal", place.journal] if place.journal else []
    done = subprocess.run([place.build.path("ax-check"), "--store", place.store.url, "--json", *journal],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Failed(f"ax-check ended with {done.returncode}: {done.stderr or violations(done.stdout)}")


def violations(text):
    found = json.loads(text)
    wrong = {key: found[key] for key in ("unexplained", "duplicates") if found.get(key)}
    wrong |= {rule["id"]: rule["rows"][:3] for rule in found["invariants"] + found.get("journals", []) if rule["violations"]}
    return wrong or found
