"""Somebody who calls the API all the time: every call is repeated under the same key until it is answered.

The key is a `dedup_key`, which is the run's own, and an `Idempotency-Key`, which is the call's, by turns."""

import itertools
import json
import threading
from collections import Counter

from ax_world import ApiError, now_ms

EVERY_S = 0.2
PATIENCE_S = 90
NOT_NOW = (503,)


class Caller(threading.Thread):
    """Asks for delayed runs of one task. `faults()` says afterwards whether each call had one effect and one answer.

    A refusal is 503, whatever is hurt, or one of `refusals`. `always_answered`: no call is cut off, either, and a server is there at any
    time; one that refuses connections is passed over, as a client with several addresses does."""

    def __init__(self, cluster, task_id, always_answered=False, refusals=NOT_NOW):
        super().__init__(daemon=True)
        self.cluster, self.task_id, self.always_answered = cluster, task_id, always_answered
        self.may_say = refusals
        self.answers = {}  # key → {gid that was answered: when}
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
        """Whether it is over with this call."""
        body, headers = {"delay_ms": 100 * (n % 20), "params": {"call": key}}, {}
        if n % 2:
            headers["Idempotency-Key"] = key
        else:
            body["dedup_key"] = key
        try:
            run = self.cluster.any_server().api("POST", f"/tasks/{self.task_id}/runs", body, headers)
        except ApiError as e:
            self.refusals[str(e.status)] += 1
            if e.status not in self.may_say or not e.retry_after:
                self.wrong.append(f"I12: {key} was refused: {e}, Retry-After: {e.retry_after}")
            return e.status < 500
        except (OSError, AssertionError) as e:  # no server runs, or it died
            self.refusals[type(e).__name__] += 1
            if self.always_answered and not isinstance(e, ConnectionRefusedError):
                self.wrong.append(f"I12: {key} was not answered: {type(e).__name__}: {e}")
            return False
        self.answers.setdefault(key, {})[int(run["gid"])] = now_ms()
        return True

    def stop(self):
        self.stopped.set()
        self.join()

    def faults(self, losses):
        """`losses`: what the database may have forgotten (losses.py)."""
        rows = self.cluster.rows(f"SELECT gid, params FROM ax_task_log WHERE task_id = {self.task_id}")
        runs = {gid: json.loads(params)["call"] for gid, params in rows}
        made = Counter(runs.values())
        stays = {key: {gid for gid, at in gids.items() if gid in runs or not losses.cover(at)} for key, gids in self.answers.items()}
        found = list(self.wrong)
        found += [f"I12: {key} was answered with {len(gids)} runs" for key, gids in stays.items() if len(gids) > 1]
        found += [f"I12: {key} was answered and has {made[key]} runs" for key, gids in stays.items() if gids and made[key] != 1]
        found += [f"I12: {key} has {n} runs" for key, n in made.items() if n > 1 and key not in self.answers]
        return found
