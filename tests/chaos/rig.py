"""The cluster that cells hurt: with proxies in its links where a cell asks for them."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ax_world import ROOT, Clock, tagged
from cluster import Cluster
from proxy import HttpProxy, Proxy

KEPT_LOGS = ROOT / "build/chaos-logs"
MIB = 1024 * 1024


def is_shim(pid):
    try:
        return os.readlink(f"/proc/{pid}/exe").endswith("/ax-exec")
    except OSError:
        return False


class Sleeper(NamedTuple):
    """A process of a task, its ax-exec, and the attempt that they are."""

    pid: int
    shim: int
    gid: int
    fence: int

    @classmethod
    def read(cls, pid):
        folder = Path(f"/proc/{pid}")
        said = dict(one.split(b"=", 1) for one in (folder / "environ").read_bytes().split(b"\0") if b"=" in one)
        parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
        return cls(pid, parent, int(said.get(b"AX_GID", 0)), int(said.get(b"AX_FENCE", 0)))


class CommitProxy(Proxy):
    """Between server and database: `drop_next_commit` lets the next COMMIT through and cuts before its answer."""

    armed = False
    dropped = 0

    def drop_next_commit(self):
        self.do(lambda: setattr(self, "armed", True))

    def passing(self, way):
        return self.look_for_commit if way == "up" else super().passing(way)

    def look_for_commit(self, data):
        if self.armed and b"COMMIT" in data:
            self.armed = False
            self.gates["down"].clear()
            self.loop.call_later(0.3, self.cut_now)
        return data

    def cut_now(self):
        self.dropped += 1
        self.reset_all()
        self.gates["down"].set()


class Rig(Cluster):
    """`links`: "database", "queue" and "worker" have a proxy at each server's, or worker's, end. `clocks`: servers have clocks that
    can be stepped. `disks`: workers keep their state on small disks of their own."""

    def __init__(self, links=(), clocks=False, disks=False, **cluster):
        super().__init__(**cluster)
        self.links, self.with_clocks, self.with_disks = links, clocks, disks
        self.proxies = contextlib.ExitStack()
        self.database_links, self.queue_links = [], []  # a proxy for each server
        self.worker_links = {}  # (worker, server) → proxy
        self.clocks = []
        self.said, self.figures = [], {}  # of the fault that is under way
        self.wrong = []

    def note(self, text):
        """What a fault drew."""
        self.said.append(text)

    def figure(self, name, value):
        """What a fault measured by itself."""
        self.figures[name] = value

    def fault(self, text):
        self.wrong.append(text)

    def faults(self):
        """What cells found by themselves."""
        return self.wrong

    def start(self):
        return super().start(server_env=self.server_env, worker_state=self.worker_state)

    def server_env(self, n):
        if not self.with_clocks:
            return None
        self.clocks.append(Clock(self, f"clock{n}"))
        return self.clocks[-1].env

    def worker_state(self, n):
        return self.small_disk(f"disk{n}", 300 * MIB) / "state" if self.with_disks else None

    def database_url(self, n):
        if "database" not in self.links:
            return super().database_url(n)
        link = self.proxies.enter_context(CommitProxy(self.database.port))
        self.database_links.append(link)
        return self.database.url().replace(f":{self.database.port}/", f":{link.port}/")

    def queue_url(self, n):
        if "queue" not in self.links:
            return super().queue_url(n)
        link = self.proxies.enter_context(Proxy(self.queue.port))
        self.queue_links.append(link)
        return self.queue.url().replace(f":{self.queue.port}/", f":{link.port}/")

    def server_urls(self, n):
        if "worker" not in self.links:
            return super().server_urls(n)
        urls = []
        for m, server in enumerate(self.servers):
            link = self.proxies.enter_context(HttpProxy(server.port))
            self.worker_links[n, m] = link
            urls.append(f"http://127.0.0.1:{link.port}")
        return urls

    def links_of_worker(self, n):
        return [link for (worker, _), link in self.worker_links.items() if worker == n]

    def sleepers(self):
        """The tasks that sleep now."""
        found = []
        for pid, command in tagged(self.tag).items():
            with contextlib.suppress(OSError):  # it ended meanwhile
                if command.split(" ")[0].endswith("/sleep"):
                    found.append(Sleeper.read(pid))
        return [sleeper for sleeper in found if is_shim(sleeper.shim)]

    def keep_logs(self, name):
        """Copies of all logs, so that what went wrong can be read when the folder is gone."""
        folder = KEPT_LOGS / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        for log in self.folder.glob("*.log"):
            shutil.copy(log, folder)
        return str(folder.relative_to(ROOT))

    def __exit__(self, *how):
        try:
            super().__exit__(*how)
        finally:
            self.proxies.close()
