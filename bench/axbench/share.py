"""A part of one core for a program: it is stopped by the kernel when it has used it up (cgroups, version 2 or 1)."""

import os
import time
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
PERIOD_US = 10_000  # short, so that a program that was stopped goes on soon


class Unavailable(Exception):
    pass


class Share:
    def __init__(self, percent):
        """`percent` of one core; at least 10, since the kernel gives no less than 1 ms of a period."""
        self.folder = None
        quota = PERIOD_US * percent // 100
        for mark, parent, files in (("cgroup.controllers", ROOT, {"cpu.max": f"{quota} {PERIOD_US}"}),
                                    ("cpu.cfs_quota_us", ROOT / "cpu", {"cpu.cfs_period_us": PERIOD_US, "cpu.cfs_quota_us": quota})):
            if (parent / mark).exists() and self._make(parent, files):
                return
        raise Unavailable("this machine does not let this user limit the CPU of a program (cgroups, the controller cpu)")

    def _make(self, parent, files):
        self.folder = parent / f"ax-bench-{os.getpid()}-{time.monotonic_ns()}"
        try:
            self.folder.mkdir()
        except OSError:
            return False
        try:
            for name, value in files.items():
                (self.folder / name).write_text(str(value))
        except OSError:
            self.end()
            return False
        return True

    def take(self, pid):
        (self.folder / "cgroup.procs").write_text(str(pid))

    def end(self):
        """When its programs have ended."""
        self.folder.rmdir()
