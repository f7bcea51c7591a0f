"""What a failover of the database may lose, and what of that may be seen at workers and callers.

A loss is the time in which the old primary confirmed commits that the promoted database does not have. What workers began because of such
a commit, and what callers were answered, is the named loss: it is counted, and left out of what is judged. All else is judged as ever."""

import json
from typing import NamedTuple

BEGIN_S = 12  # so long after its poll a worker may begin what that brought: AX_START_WITHIN_MS
INSTANCE = "gid, task_id, kind, fire_key, shard"


class Loss(NamedTuple):
    begin: int  # what was committed before is there
    end: int  # the primary died


class Losses:
    def __init__(self):
        self.all = []
        self.runs = {}  # gid → what else INSTANCE says, of the runs that were lost

    def add(self, begin, end, runs):
        self.all.append(Loss(begin, end))
        self.runs |= runs

    def cover(self, ms, more_s=0):
        return any(loss.begin <= ms <= loss.end + more_s * 1000 for loss in self.all)

    def without(self, journals, rows, folder):
        """Copies of the journals that leave out the attempts that were lost: what was begun because of what was committed in a loss, by a
        worker that the database does not know with it."""
        known = set(rows("SELECT gid, fence, worker FROM ax_task_log UNION SELECT gid, fence, worker FROM ax_attempt"))
        lost, kept = set(), []
        for path in journals:
            lines = [json.loads(line) for line in path.read_text().splitlines() if line.endswith("}")]
            lost |= {attempt_of(line) for line in lines if line["event"] == "start" and self.cover(line["time_ms"], BEGIN_S)
                     and attempt_of(line) not in known}
            kept.append(folder / f"kept-{path.name}")
            kept[-1].write_text("".join(json.dumps(line) + "\n" for line in lines if attempt_of(line) not in lost))
        return kept

    def given_again(self, rows):
        """I10: ids of lost runs that are those of others by now."""
        if not self.runs:
            return []
        ids = ",".join(map(str, self.runs))
        return [f"I10: the run {gid} was lost, it was {self.runs[gid]}, and is {what}"
                for gid, *what in rows(f"SELECT {INSTANCE} FROM ax_task_log WHERE gid IN ({ids})") if self.runs[gid] != what]


def attempt_of(line):
    return int(line["gid"]), line["fence"], line["worker"]
