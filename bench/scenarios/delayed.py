"""Delayed runs (P4): how fast they are taken in, and how fast they are worked off when all are due at one instant."""

import json
import socket
import time

from axbench import rows
from axbench.place import Place, now_ms, wait_for
from axbench.scenario import Scenario

TASKS, CONNECTIONS, WINDOW = 100, 128, 4


def run(build, quick, runs):
    if quick:
        runs = 400
    with Place(build) as place:
        place.start_worker()
        ids = place.create_tasks(TASKS, lambda i: {"task_type": "delay", "executor_key": "bench.noop",
                                                   "overlap": "allow", "overlap_max": 1000})
        due_ms = now_ms() + 5_000 + runs
        begun = time.monotonic()
        enqueue(place, ids, runs, due_ms)
        taken_s = time.monotonic() - begun
        if now_ms() > due_ms - 1000:
            raise rows.Failed("the runs were not created in time: the machine is too busy")
        time.sleep((due_ms - now_ms()) / 1000)
        wait_for("the last run", lambda: not place.has_live_runs(), 300, 0.1)
        place.stop()
        last = rows.last_end(place, runs)
        rows.check(place)
        return {"enqueued_per_s": runs / taken_s, "drained_per_s": runs / (last - due_ms) * 1000} | rows.lateness(
            place, due_ms, due_ms + 1)


def enqueue(place, ids, runs, due_ms):
    """Single POSTs: CONNECTIONS connections, WINDOW requests sent on each before its answers are read."""
    host, port = place.api.host.split(":")
    conns = [socket.create_connection((host, int(port))) for _ in range(CONNECTIONS)]
    body = json.dumps({"run_at": due_ms})
    head = (f"Host: {place.api.host}\r\nAuthorization: {place.api.headers['Authorization']}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}")
    sent = 0
    while sent < runs:
        counts = []
        for conn in conns[:-(-(runs - sent) // WINDOW)]:
            n = min(WINDOW, runs - sent)
            conn.sendall("".join(f"POST /api/v1/tasks/{ids[(sent + i) % len(ids)]}/runs HTTP/1.1\r\n{head}"
                                 for i in range(n)).encode())
            sent += n
            counts.append(n)
        for conn, n in zip(conns, counts):
            take_answers(conn, n)
    for conn in conns:
        conn.close()


def take_answers(conn, n):
    text = b""
    while text.count(b"HTTP/1.1 201") < n or not text.endswith(b"}"):
        part = conn.recv(1 << 20)
        if not part or b"HTTP/1.1 4" in text or b"HTTP/1.1 5" in text:
            raise rows.Failed(f"a run was not created: {text[-500:]}")
        text += part


SCENARIOS = [
    Scenario("delayed-20k", "20,000 delayed runs, single POSTs pipelined; all due at one instant (P4)", run,
             {"runs": 20_000}, {"enqueued_per_s": "≥ 50000", "drained_per_s": "≥ 20000"}, quick=True),
]
