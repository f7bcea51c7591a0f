"""Celery on Redis: an ETA for what is delayed, beat for what recurs, prefork workers.

Beat counts each period from the last time it sent, so that its fires have no due instant: their lateness is not known."""

import datetime
import os
import subprocess
import sys
import time

from celery import Celery
from common import PERIOD_S, Log, now_ms, run

TASKS = "PEER_TASKS"  # how many recur; read by beat
PROCESSES = 2

app = Celery("celery_peer", broker=os.environ["PEER_STORE"])
app.conf.update(task_ignore_result=True, worker_prefetch_multiplier=100, task_serializer="json", timezone="UTC",
                broker_transport_options={"visibility_timeout": 3600},
                beat_schedule={f"s{i}": {"task": "x", "schedule": float(PERIOD_S), "args": (i, 0)}
                               for i in range(int(os.environ.get(TASKS, 0)))})
log = None


@app.task(name="x")
def x(name, due_ms):
    global log
    log = log or Log(os.environ["PEER_LOG"])
    log.add(name, due_ms, now_ms())


def schedule(*_):
    """Beat has it from its configuration."""


def enqueue(n, due_ms):
    eta = datetime.datetime.fromtimestamp(due_ms / 1000, datetime.timezone.utc)
    begun = time.monotonic()
    with app.producer_pool.acquire(block=True) as producer:
        for i in range(n):
            x.apply_async((i, due_ms), eta=eta, producer=producer)
    return time.monotonic() - begun


def work(path):
    """A worker, and beat beside it when something recurs."""
    os.environ["PEER_LOG"] = path
    celery = [sys.executable, "-m", "celery", "-A", "celery_peer"]
    if TASKS in os.environ:
        subprocess.Popen([*celery, "beat", "-l", "error", "--max-interval", "1", "-s", path + ".beat", "--pidfile="])
    os.execv(sys.executable, [*celery, "worker", "-P", "prefork", "-c", str(PROCESSES), "-l", "error", "--without-gossip",
                              "--without-mingle", "--without-heartbeat"])


if __name__ == "__main__":
    run(schedule, enqueue, work)
