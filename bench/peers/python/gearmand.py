"""gearmand: background jobs for an instant (a whole second), and one worker; in memory."""

import struct
import time

from common import CHUNK, Log, connect, now_ms, run

CAN_DO, JOB_CREATED, GRAB_JOB, JOB_ASSIGN, WORK_COMPLETE, SUBMIT_JOB_EPOCH = 1, 8, 9, 11, 13, 36
AT_ONCE = 200
POLL_S = 0.005


class Gearman:
    def __init__(self):
        self.conn = connect()
        self.stream = self.conn.makefile("rb", 1 << 20)

    def send(self, *packets):
        self.conn.sendall(b"".join(packets))

    def receive(self):
        _, kind, size = struct.unpack(">4sII", self.stream.read(12))
        return kind, self.stream.read(size)


def packet(kind, *fields):
    body = b"\0".join(fields)
    return struct.pack(">4sII", b"\0REQ", kind, len(body)) + body


def enqueue(n, due_ms):
    gearman = Gearman()
    epoch = b"%d" % (due_ms // 1000)
    begun = time.monotonic()
    for first in range(0, n, CHUNK):
        part = range(first, min(n, first + CHUNK))
        gearman.send(*(packet(SUBMIT_JOB_EPOCH, b"x", b"u%d" % i, epoch, b"%d %d" % (i, due_ms)) for i in part))
        for _ in part:
            kind, body = gearman.receive()
            if kind != JOB_CREATED:
                raise SystemExit(f"gearmand said {kind}: {body!r}")
    return time.monotonic() - begun


def take(gearman, log):
    """Grabs AT_ONCE times; the number of jobs it got."""
    gearman.send(packet(GRAB_JOB) * AT_ONCE)
    done = []
    for _ in range(AT_ONCE):
        kind, body = gearman.receive()
        if kind == JOB_ASSIGN:
            handle, _, data = body.split(b"\0", 2)
            name, due_ms = data.decode().split()
            log.add(name, int(due_ms), now_ms())
            done.append(packet(WORK_COMPLETE, handle, b""))
    gearman.send(*done)
    return len(done)


def work(path):
    log, gearman = Log(path), Gearman()
    gearman.send(packet(CAN_DO, b"x"))
    while True:
        if not take(gearman, log):
            time.sleep(POLL_S)  # it wakes nobody when an instant comes


if __name__ == "__main__":
    run(None, enqueue, work)
