"""What the drivers in Python share: the command line, the log of what was done, a connection."""

import os
import signal
import socket
import sys
import threading
import time

CHUNK = 1000  # requests sent before their answers are read
PERIOD_S = 10


class Log:
    """A line "name due_ms begun_ms" for each run that was done; written every 100 ms, the rest when SIGTERM ends the process."""

    def __init__(self, path):
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self.lines, self.lock = [], threading.Lock()
        signal.signal(signal.SIGTERM, self.end)
        threading.Thread(target=self.flush_often, daemon=True).start()

    def add(self, name, due_ms, begun_ms):
        with self.lock:
            self.lines.append(f"{name} {due_ms} {begun_ms}\n")

    def flush(self):
        with self.lock:
            lines, self.lines = self.lines, []
        os.write(self.file, "".join(lines).encode())

    def flush_often(self):
        while True:
            time.sleep(0.1)
            self.flush()

    def end(self, *_):
        os.write(self.file, "".join(self.lines).encode())  # without the lock, which the interrupted thread may hold
        os._exit(0)


def now_ms():
    return time.time_ns() // 1_000_000


def connect():
    """To the server of PEER_STORE, HOST:PORT; it may be starting still."""
    host, port = os.environ["PEER_STORE"].split(":")
    while True:
        try:
            conn = socket.create_connection((host, int(port)))
            conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return conn
        except ConnectionRefusedError:
            time.sleep(0.002)


def run(schedule, enqueue, work):
    """`schedule N START_MS SPREAD_MS`, `enqueue N DUE_MS` (prints the seconds it took), `work LOG WORK_MS`."""
    command, *args = sys.argv[1:]
    if command == "schedule":
        schedule(*map(int, args))
    elif command == "enqueue":
        print(enqueue(*map(int, args)))
    else:
        work(args[0])
