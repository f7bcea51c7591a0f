"""How the memory of servers and workers grows over a cell, by their resident sets."""

import time
from pathlib import Path

WARM_S = 60  # what a process takes to become itself is no growth
JUDGED_S = 600  # less says nothing of an hour
MOST_MB_PER_H = 1


def resident_mb(pid):
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


class Memory:
    """Looked at again and again: of each process, from its start to its end, the first and the last look count."""

    def __init__(self):
        self.lives = {}  # (name, pid) → [(seconds, MB), (seconds, MB)]

    def look(self, rig):
        for process in [*rig.servers, *rig.workers]:
            if process.runs_now() and process.up_s() >= WARM_S:
                now = (time.monotonic(), resident_mb(process.pid))
                first, _ = self.lives.get((process.name, process.pid), (now, now))
                self.lives[process.name, process.pid] = (first, now)

    def told(self):
        """A line for each process that was there for long enough: its name, how long, MB then and now, MB/h."""
        return [{"name": name, "seconds": round(t1 - t0), "begin_mb": round(mb0, 1), "end_mb": round(mb1, 1),
                 "mb_per_h": round((mb1 - mb0) / (t1 - t0) * 3600, 2)}
                for (name, _), ((t0, mb0), (t1, mb1)) in sorted(self.lives.items()) if t1 - t0 >= JUDGED_S]


def summary(result):
    """The worst of them, for people who watch; nothing for a cell that was too short."""
    grown = [life["mb_per_h"] for life in result.get("memory", [])]
    return f"  memory {max(grown):+.1f} MB/h" if grown else ""


def section(cells):
    """The part of the report; none when no process was there for long enough."""
    lives = [(cell["name"], life) for cell in cells for life in cell.get("memory", [])]
    if not lives:
        return []
    return ["## Memory", "", f"Resident sets of what lived for {JUDGED_S // 60} minutes or longer, a minute after its start and at the end; aimed at: growth of"
            f" less than {MOST_MB_PER_H} MB/h.", "", "| cell | process | minutes | MB | MB then | MB/h |", "|---|---|---:|---:|---:|---:|",
            *[f"| `{cell}` | {life['name']} | {life['seconds'] // 60} | {life['begin_mb']} | {life['end_mb']} | {life['mb_per_h']:+.1f}"
              f"{' (MISSED)' if life['mb_per_h'] > MOST_MB_PER_H else ''} |" for cell, life in lives], ""]
