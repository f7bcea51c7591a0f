"""The cluster that cells hurt: with proxies in its links, or wires, where a cell asks for them."""

import contextlib
import os
import shutil
from pathlib import Path
from typing import NamedTuple

from ax_world import ROOT, Clock, now_ms, tagged, wait_for
from cluster import Cluster
from losses import INSTANCE, Losses
from mariadb import REPLICATED
from measure import SCHEDULE
from proxy import HttpProxy, Proxy
from wire import Wire

KEPT_LOGS = ROOT / "build/chaos-logs"
MIB = 1024 * 1024
UNSURE_MS = 2000  # about a step of the database's clock, until each server has noticed


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
    """`links`: "database", "queue" and "worker" have a proxy at each server's, or worker's, end. `wires`: "database" has a network of its
    own, and each server a wire to it; each "worker" has one, and no way out but its wire. `clocks`: servers have clocks that can be
    stepped. `disks`: workers keep their state on small disks of their own. `database`: what is special about it: it keeps its data on a
    "disk" of its own, has a "clock" that can be stepped, or can be followed by a "replica"."""

    def __init__(self, links=(), wires=(), clocks=False, disks=False, database=None, **cluster):
        super().__init__(**cluster)
        self.links, self.wires, self.with_clocks, self.with_disks, self.special = links, wires, clocks, disks, database
        self.between = contextlib.ExitStack()  # proxies and wires
        self.database_links, self.queue_links = [], []  # a proxy for each server
        self.worker_links = {}  # (worker, server) → proxy
        self.database_wires, self.worker_wires = [], []  # a wire for each server, for each worker
        self.clocks = []
        self.database_clock, self.database_disk = None, None
        self.losses, self.databases = Losses(), 0
        self.clock_sets = []  # back, in the time that it says since
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
        return self.wrong + self.losses.given_again(self.rows)

    def excused(self):
        """Rule → how many of its violations are those that are promised to be possible, and no more."""
        said = " OR ".join(f"create_time BETWEEN {at} AND {at + 2 * UNSURE_MS}" for at in self.clock_sets)
        return {"I14.early": self.rows(f"SELECT COUNT(*) FROM ax_task_log WHERE ({said}) AND kind <> {SCHEDULE}"
                                       " AND dispatch_time BETWEEN create_time AND trigger_time")[0][0]} if said else {}

    def set_database_clock(self, by_s, rate=1):
        self.database_clock.set(self.database_clock.seconds + by_s, rate)
        wait_for(lambda: abs(self.rows("SELECT ROUND(1000 * UNIX_TIMESTAMP(NOW(3)))")[0][0] - self.now_ms()) < 1000, 30, "the database's clock is set")
        if by_s < 0:
            self.clock_sets.append(self.now_ms() - UNSURE_MS)

    def now_ms(self):
        """By the database's clock, which is that of the servers."""
        return now_ms() + (self.database_clock.seconds * 1000 if self.database_clock else 0)

    def start(self):
        return super().start(server_env=self.server_env, worker_state=self.worker_state, worker_within=self.worker_within)

    def server_env(self, n):
        if not self.with_clocks:
            return None
        self.clocks.append(Clock(self, f"clock{n}", at_once=False))
        return self.clocks[-1].env

    def worker_state(self, n):
        return self.small_disk(f"disk{n}", 300 * MIB) / "state" if self.with_disks else None

    def worker_within(self, n):
        if "worker" not in self.wires:
            return ()
        self.worker_wires.append(self.between.enter_context(Wire()))
        return self.worker_wires[n].within

    def database_url(self, n):
        if "database" in self.wires:
            return self.database.url().replace(self.database.host, self.database_wires[n].far)
        if "database" not in self.links:
            return super().database_url(n)
        link = self.between.enter_context(CommitProxy(self.database.port))
        self.database_links.append(link)
        return self.database.url().replace(f":{self.database.port}/", f":{link.port}/")

    def queue_url(self, n):
        if "queue" not in self.links:
            return super().queue_url(n)
        link = self.between.enter_context(Proxy(self.queue.port))
        self.queue_links.append(link)
        return self.queue.url().replace(f":{self.queue.port}/", f":{link.port}/")

    def server_urls(self, n):
        if "worker" not in self.links:
            return super().server_urls(n)
        urls = []
        for m, server in enumerate(self.servers):
            link = self.between.enter_context(HttpProxy(server.port))
            self.worker_links[n, m] = link
            urls.append(f"http://127.0.0.1:{link.port}")
        return urls

    # ---- the database, where something is special about it

    def make_database(self):
        how = {}
        if self.special == "disk":
            self.database_disk = self.small_disk("database", 400 * MIB)
            how = {"data": self.database_disk / "data"}
        elif self.special == "clock":
            self.database_clock = Clock(self, "database-clock", at_once=False)
            how = {"env": self.database_clock.env}
        elif self.special == "replica":
            self.databases += 1
            how = {"options": [*REPLICATED, f"--server-id={self.databases}"]}
        elif "database" in self.wires:
            for n in range(self.n_servers):
                self.database_wires.append(self.between.enter_context(Wire(beside=self.database_wires[0] if n else None)))
            first = self.database_wires[0]
            how = {"within": first.within, "host": first.far, "options": ["--bind-address=0.0.0.0"]}
        return super().make_database(**how)

    def make_replica(self):
        replica = self.make_database()
        replica.follow(self.database)
        return replica

    def replace_database(self, by, lost_from):
        """The primary has died, and its replica, which does not know what was committed since then, is what servers reach from now on."""
        old, died, self.database = self.database, now_ms(), by
        by.promote()
        for link in self.database_links:
            link.aim(by.port)
        old.start()  # to see what it knew
        recent = f"SELECT {INSTANCE} FROM ax_task_log WHERE create_time >= {lost_from}"
        kept = {gid for gid, *_ in self.rows(recent)}
        lost = {gid: what for gid, *what in self.rows(recent, old) if gid not in kept}
        old.stop()
        self.losses.add(lost_from, died, lost)
        return len(lost)

    def journals(self):
        if not self.losses.all:
            return super().journals()
        return self.losses.without(super().journals(), self.rows, self.folder)

    # ---- its processes

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
        if self.database:
            shutil.copy(self.database.log, folder / "database.log")
        return str(folder.relative_to(ROOT))

    def __exit__(self, *how):
        try:
            super().__exit__(*how)
        finally:
            self.between.close()
