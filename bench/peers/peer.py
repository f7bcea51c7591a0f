"""A peer: a driver of ours that gives one scheduler or queue its work, over a store, and what it left in its logs.

A driver is a program with three commands: `schedule N START_MS SPREAD_MS` (every 10 s), `enqueue N DUE_MS` (once; prints the
seconds it took), `work LOG WORK_MS` (until SIGTERM; a line "name due_ms begun_ms" for each run that was done)."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

from axbench.place import Failed, now_ms

import fetch

PERIOD_MS = 10_000
DRIVER_S = 3  # until a driver's runtime is there
GRACE_S = 5
READY_MS = 1500  # between the last that is put and its instant: the workers start


class TooSlow(Failed):
    """What should be due at one instant was not there by then."""


def read_stat(pid):
    """(parent, CPU seconds of it and of the children that it has buried)."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(fields[1]), sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def family(pids):
    """These processes and all below them: {pid: CPU seconds}."""
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                found[int(entry.name)] = read_stat(entry.name)
            except OSError:  # it ended meanwhile
                pass
    chosen = {pid for pid in pids if pid in found}
    while more := {pid for pid, (parent, _) in found.items() if parent in chosen} - chosen:
        chosen |= more
    return {pid: found[pid][1] for pid in chosen}


def cpu_s(pids):
    return sum(family(pids).values())


def rss_mb(pids):
    pages = sum(int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in family(pids))
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


@dataclass
class Peer:
    name: str
    title: str
    loses: str  # when the power fails, with the settings here
    keeps: str  # of a run that is done
    command: Callable  # () -> the driver's command; raises fetch.Missing
    store: Callable  # the class of services.py
    cannot: dict = field(default_factory=dict)  # scenario -> why
    most: dict = field(default_factory=dict)  # scenario -> how many at most, where more takes minutes
    schedules_per_s: int = 1000  # it takes in, at least
    first_s: int = 0  # from its start to its first fires, when it counts from there
    instants: bool = True  # its schedules begin when they are told to; else what is due at once is enqueued
    enqueues_per_s: int = 1000
    processes: int = 1
    watch_s: int = 0  # after a kill, until all should be well
    peer_version: Callable = lambda: ""  # its version, beside the store's
    folder: Path = None
    nodes: list = field(default_factory=list)

    def prepare(self, stores):
        self.words = [str(word) for word in self.command()]
        self.service = stores.get(self.store)
        self.folder = Path(tempfile.mkdtemp(prefix="ax-bench-peer-"))
        self.versions = " on ".join(filter(None, [self.peer_version(), self.service.version()]))

    def close(self):
        self.end()
        if self.folder:
            shutil.rmtree(self.folder)

    # ---- its work

    def empty(self, nodes=0):
        self.end()
        self.n_nodes = nodes or self.processes
        for old in self.folder.glob("*.log*"):
            old.unlink()
        self.env = fetch.environment(PEER_STORE=self.service.empty())
        self.read = {}

    def run(self, *args):
        """What subprocess needs to start the driver."""
        return [*self.words, *map(str, args)], {"env": self.env, "cwd": fetch.HERE / "python"}

    def tell(self, *args):
        command, how = self.run(*args)
        done = subprocess.run(command, capture_output=True, text=True, timeout=fetch.LIMIT_S, **how)
        if done.returncode != 0:
            raise Failed(f"{self.name} {args[0]}: {done.stderr.strip()[-500:]}")
        return done.stdout

    def schedule(self, n, spread_ms=PERIOD_MS, patience=1):
        """The instant of the first fires."""
        start_ms = now_ms() // 1000 * 1000 + (patience * (DRIVER_S + n // self.schedules_per_s + 1) + self.first_s) * 1000
        self.tell("schedule", n, start_ms, spread_ms)
        if not spread_ms and now_ms() > start_ms - READY_MS:
            raise TooSlow(f"{n} were not there in time")
        self.env["PEER_TASKS"] = str(n)
        return start_ms

    def enqueue(self, n, patience=1):
        """(seconds that it took, the instant at which all are due)."""
        due_ms = now_ms() // 1000 * 1000 + patience * (DRIVER_S + n // self.enqueues_per_s + 1) * 1000
        took_s = float(self.tell("enqueue", n, due_ms))
        if now_ms() > due_ms - READY_MS:
            raise TooSlow(f"{n} took {took_s:.0f} s to enqueue")
        return took_s, due_ms

    def at_once(self, n, patience=1):
        """n tasks or one-shots, all due at one instant, which it returns."""
        return self.schedule(n, 0, patience) if self.instants else self.enqueue(n, patience)[1]

    def work(self, work_ms=0):
        for i in range(self.n_nodes):
            command, how = self.run("work", self.folder / f"node{i}.log", work_ms)
            command = ["setpriv", "--pdeathsig", "KILL", "--", *command]  # it dies with the benchmark, even when that one is killed
            with open(self.folder / f"node{i}.err", "ab") as err:
                self.nodes.append(subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=err, stderr=err,
                                                   start_new_session=True, **how))

    def kill_node(self):
        node = self.nodes.pop(0)
        os.killpg(node.pid, signal.SIGKILL)
        node.wait()

    def end(self):
        """Stops the nodes: each is a group of its own, some have children."""
        for node in self.nodes:
            if node.poll() is None:
                os.killpg(node.pid, signal.SIGTERM)
        end = time.monotonic() + GRACE_S
        for node in self.nodes:
            try:
                node.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                pass
            try:
                os.killpg(node.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            node.wait()
        self.nodes = []

    # ---- what is seen of it

    def node_pids(self):
        return [node.pid for node in self.nodes]

    def store_pids(self):
        return [self.service.process.pid]

    def done(self, due_ms):
        """How many runs that were due by then are done; complains about a node that ended."""
        for i, node in enumerate(self.nodes):
            if node.poll() is not None:
                raise Failed(f"{self.name} ended with {node.returncode}: {(self.folder / f'node{i}.err').read_text()[-500:]}")
        for log in self.folder.glob("*.log"):
            count, at = self.read.get(log, (0, 0))
            with open(log, "rb") as file:
                file.seek(at)
                new = file.read()
            whole = new[:new.rfind(b"\n") + 1]
            self.read[log] = count + sum(int(line.split()[1]) <= due_ms for line in whole.splitlines()), at + len(whole)
        return sum(count for count, _ in self.read.values())

    def records(self):
        """[(name, due_ms, begun_ms)] of what was done."""
        lines = [line.split() for log in self.folder.glob("*.log") for line in log.read_text().splitlines()]
        return [(name, int(due), int(begun)) for name, due, begun in lines]

    def check(self):
        pass
