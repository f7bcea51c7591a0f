"""Somebody who calls the API all the time: every call is repeated under the same key until it is answered."""

import itertools
import threading
from collections import Counter

from ax_world import ApiError

EVERY_S = 0.2
PATIENCE_S = 90


class Caller(threading.Thread):
    """Asks for delayed runs of one task. `faults()` says afterwards whether each call had one effect and one answer."""

    def __init__(self, cluster, task_id):
        super().__init__(daemon=True)
        self.cluster, self.task_id = cluster, task_id
        self.answers = {}  # key → gids that were answered
        self.refusals = Counter()  # what else was answered, or that nothing was
        self.wrong = []
        self.stopped = threading.Event()

    def run(self):
        for n in itertools.count():
            if self.stopped.wait(EVERY_S):
                return
            key = f"call-{n}"
            self.call_until_answered(key, n)
            if n % 5 == 0:  # an answer that the caller has forgotten
                self.call_until_answered(key, n)

    def call_until_answered(self, key, n):
        for _ in range(int(PATIENCE_S / EVERY_S)):
            if self.call(key, n):
                return
            if self.stopped.wait(EVERY_S):
                return
        self.wrong.append(f"I12: {key} was not answered within {PATIENCE_S} s")

    def call(self, key, n):
        try:
            server = self.cluster.any_server()
            run = server.api("POST", f"/tasks/{self.task_id}/runs", {"delay_ms": 100 * (n % 20), "dedup_key": key})
        except ApiError as e:
            self.refusals[str(e.status)] += 1
            if e.status < 500:
                self.wrong.append(f"I12: {key} was refused: {e}")
            return e.status < 500
        except (OSError, AssertionError) as e:  # no server runs, or it died
            self.refusals[type(e).__name__] += 1
            return False
        self.answers.setdefault(key, set()).add(run["gid"])
        return True

    def stop(self):
        self.stopped.set()
        self.join()

    def faults(self):
        made = Counter(key for key, in self.cluster.rows(f"SELECT fire_key FROM ax_task_log WHERE task_id = {self.task_id}"))
        found = list(self.wrong)
        found += [f"I12: {key} was answered with {len(gids)} runs" for key, gids in self.answers.items() if len(gids) > 1]
        found += [f"I12: {key} was answered and has {made[key]} runs" for key in self.answers if made[key] != 1]
        return found
