"""Where the figures come from."""

import os
import platform
import re
import sqlite3
import subprocess
import tempfile
import time
from pathlib import Path

from axbench import place, stores


def fsync_us():
    """Median time of a flush of 4 KiB where the stores will lie."""
    with tempfile.NamedTemporaryFile(prefix="ax-bench-") as file:
        times = []
        for _ in range(200):
            file.write(b"x" * 4096)
            file.flush()
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(time.perf_counter() - begun)
    return round(sorted(times)[100] * 1e6)


def describe(build):
    source = Path(__file__).resolve().parents[2]
    cpu = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())
    revision = subprocess.run(["git", "-C", source, "describe", "--always", "--dirty"], capture_output=True, text=True)
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True).stdout.splitlines()
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "revision": revision.stdout.strip(),
        "version": subprocess.run([build.path("ax-server"), "--version"], capture_output=True, text=True).stdout.strip(),
        "cpu": f"{os.cpu_count()} × {cpu[1] if cpu else platform.machine()}",
        "memory_gb": round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30),
        "kernel": platform.release(),
        "compiler": compiler[0] if compiler else "",
        "sqlite": sqlite3.sqlite_version,
        "mariadb": said("mariadbd", "--version", r"Ver (\S+)", "MariaDB"),
        "redis": said("redis-server", "--version", r"v=(\S+)", "Redis"),
        "fdatasync_us": fsync_us(),
        "load_average": os.getloadavg()[0],
        "settings": f"one server, one worker; group quota {place.QUOTA}, pool {place.POOL}; stub answers after"
                    f" {place.STUB_DELAY_MS} ms",
        "embedded": stores.SETTINGS["E"],
        "mariadb + redis": stores.SETTINGS["MR"],
    }


def said(program, option, pattern, name):
    """The version by what the program says."""
    try:
        text = subprocess.run([program, option], capture_output=True, text=True).stdout
    except OSError:
        return f"no {name}"
    found = re.search(pattern, text)
    return f"{name} {found[1] if found else text.strip()}"
