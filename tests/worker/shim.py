"""Runs ax-exec as ax-worker would: makes the attempt's folder, holds the lock, gives orders."""

import fcntl
import os
import re
import struct
import subprocess
import time
from pathlib import Path

BUILD = Path(os.environ.get("AX_BUILD", Path(__file__).resolve().parents[2] / "build"))
AX_EXEC = BUILD / "src/worker/ax-exec"

ORDER_DEADLINE, ORDER_STOP = 0x41584401, 0x41585301
HEAD, TAIL = 256 * 1024, 768 * 1024
END = ["exit", "timeout", "stop", "deadline", "error"]


def boottime_ms():
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1_000_000


def wait_for(what, seconds=10.0, every=0.01):
    """The first true value of what(); fails after the deadline."""
    end = time.monotonic() + seconds
    while True:
        value = what()
        if value:
            return value
        assert time.monotonic() < end, "did not happen in time"
        time.sleep(every)


def alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Shim:
    live = []  # what a test that failed may have left running

    def __init__(self, folder, argv, *options, stdin=None, env=None, **kw):
        self.dir = Path(folder)
        self.dir.mkdir(parents=True, exist_ok=True)
        os.mkfifo(self.dir / "control", 0o600)
        if stdin is not None:
            (self.dir / "stdin").write_bytes(stdin)
        lock = os.open(self.dir / "lock", os.O_CREAT | os.O_RDWR, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)

        def hand_over():
            os.dup2(lock, 3)
            os.closerange(4, 64)

        self.process = subprocess.Popen(
            [str(AX_EXEC), "--dir", str(self.dir), *map(str, options), "--", *argv],
            env={"PATH": "/usr/bin:/bin", **(env or {})}, stdin=subprocess.DEVNULL, close_fds=False,
            preexec_fn=hand_over, **kw)
        os.close(lock)
        Shim.live.append(self.process)

    def order(self, kind, value):
        fd = os.open(self.dir / "control", os.O_WRONLY)
        os.write(fd, struct.pack("=IIq", kind, 0, value))
        os.close(fd)

    def locked(self):
        with open(self.dir / "lock") as f:
            try:
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except BlockingIOError:
                return True

    def started(self):
        text = wait_for(lambda: (self.dir / "started").exists() and (self.dir / "started").read_text())
        return {k: int(v) for k, v in re.findall(r"(\w+)=(\d+)", text)}

    def end(self, seconds=10):
        self.process.wait(seconds)
        text = (self.dir / "status").read_text()
        status = {k: int(v) for k, v in re.findall(r"(\w+)=(\d+) ", text)}
        status["end"] = END[status["end"]]
        return status

    def output(self):
        """(bytes printed in all, bytes kept)"""
        path = self.dir / "output"
        data = path.read_bytes() if path.exists() else b""
        if len(data) < 16:
            return 0, b""
        total, kept = struct.unpack("=Q", data[8:16])[0], data[16:]
        if total <= HEAD + TAIL:
            return total, kept
        turn = (total - HEAD) % TAIL
        ring = kept[HEAD:]
        return total, kept[:HEAD] + ring[turn:] + ring[:turn]
