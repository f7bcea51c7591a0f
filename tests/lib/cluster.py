"""AX as a cluster on this machine: servers over one database, workers that dial all of them, an HTTP stub.

    with Cluster(servers=3, workers=3, store="mariadb", queue="redis") as cluster:
        cluster.start()
        cluster.any_server().get("/overview")

With store="sqlite" there is one server, over the embedded store, and no queue but its own. Everything lies in one temporary folder and ends with
the cluster; nothing that ended is started again by itself."""

import itertools
import json
import os
import re
import subprocess
import time

from ax_world import AX_CHECK, AX_WORKER, BUILD, TAG, ApiError, Process, Server, World, call, wait_for
from mariadb import MariaDB
from redis import Redis, RedisCluster, RedisSentinel

QUEUES = {"redis": Redis, "redis-cluster": RedisCluster, "redis-sentinel": RedisSentinel}
GROUPS = ("orders", "reports", "mail")
QUOTA = 2000
POOL = 100
HTTP_STUB = BUILD / "bench/http_stub"
LOAD_PLUGIN = BUILD / "tests/chaos/libax_load_plugin.so"
PASSWORD = "correct horse battery"


class Followed:
    """A process of which it is known whether it should run: one that is down without having been felled ended by itself."""

    felled = True
    spawned = 0.0

    def spawn(self):
        super().spawn()
        self.felled, self.spawned = False, time.monotonic()

    def up_s(self):
        return time.monotonic() - self.spawned

    def kill(self):
        self.felled = True
        super().kill()

    def term(self, seconds=60):
        self.felled = True
        return super().term(seconds)

    @property
    def fell_by_itself(self):
        return not self.felled and not self.runs_now()


class Node(Followed, Server):
    """One server of the cluster; the credentials are the cluster's."""

    def __init__(self, cluster, name, store, queue, env=None, state=None):
        options = [*(["--store", store] if store else []), *(["--queue", queue] if queue else []),
                   "--alert-allow", f"127.0.0.1:{cluster.stub_port}"]
        super().__init__(cluster, name, options=options, env=env, state=state)

    def start(self, seconds=60):
        self.spawn()
        wait_for(self.is_ready, seconds, f"{self.name} is not ready")
        return self


class Hand(Followed, Process):
    """One worker of the cluster."""

    def __init__(self, cluster, name, urls, state=None, within=()):
        self.state = state or cluster.folder / f"{name}-state"
        self.journal = cluster.folder / f"{name}.journal"
        groups = ",".join(f"{group}:{POOL}" for group in cluster.groups)
        super().__init__(cluster, name, [
            *within, AX_WORKER, "--server", ",".join(urls), "--token-file", cluster.worker_token, "--state", self.state,
            "--name", name, "--groups", groups, "--journal", self.journal, "--plugin", LOAD_PLUGIN, "--dev"])

    def start(self, seconds=60):
        """Returns when it takes runs."""
        before = len(self.events("registered"))
        self.spawn()
        self.wait_event("registered", seconds, before + 1)
        return self


class HttpStub(Process):
    """What the load calls: bench/http_stub.c, which ends with its standard input."""

    def __init__(self, cluster, delay_ms=5):
        super().__init__(cluster, "stub", [HTTP_STUB, delay_ms])

    def spawn(self):
        self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *self.args], env=self.env,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())

    def end(self):
        if self.process:
            self.process.stdin.close()
            self.process.wait(10)
            self.process.stdout.close()


class Cluster(World):
    def __init__(self, servers=3, workers=3, store="mariadb", queue="redis", groups=GROUPS):
        super().__init__()
        self.n_servers = 1 if store == "sqlite" else servers
        self.queue_kind = None if store == "sqlite" else queue
        self.n_workers, self.store, self.groups = workers, store, groups
        self.servers, self.workers = [], []
        self.database = self.queue = self.stub_process = self.token = None
        self.turn = itertools.count()
        self.worker_token = self.folder / "worker.token"

    # ---- what it consists of

    def start(self, server_env=None, worker_state=None, worker_within=None):
        """`server_env`, `worker_state` and `worker_within` (what its command begins with) answer for the n-th of them what is special
        about it, if anything is."""
        self.stub_process = HttpStub(self)
        self.processes.append(self.stub_process)
        self.stub_process.spawn()
        if self.store == "mariadb":
            self.database = self.make_database()
        if self.queue_kind:
            self.queue = QUEUES[self.queue_kind]()
        for n in range(self.n_servers):
            node = Node(self, f"server{n + 1}", self.database_url(n), self.queue_url(n), server_env and server_env(n))
            self.servers.append(self.add(node))
            if n == 0:
                self.become_admin(node)
            node.token = self.token
        for n in range(self.n_workers):
            hand = Hand(self, f"worker{n + 1}", self.server_urls(n), worker_state and worker_state(n),
                        worker_within(n) if worker_within else ())
            self.workers.append(self.add(hand))
        return self

    def make_database(self, **how):
        return MariaDB(buffer_pool="256M", **how)

    def database_url(self, n):
        """As server n dials it."""
        return self.database.url() if self.database else None

    def queue_url(self, n):
        return self.queue.url() if self.queue else None

    def server_urls(self, n):
        """As worker n dials them."""
        return [server.url for server in self.servers]

    @property
    def stub_port(self):
        return self.stub_process.port

    def become_admin(self, server):
        """By the link that the first server printed; then the groups, and a token for this rig and one for the workers."""
        secret = re.search(r"/#/setup\?token=(\S+)", server.log())[1]
        status, session, headers = call(server.port, "POST", "/api/v1/setup",
                                        {"token": secret, "user": "admin", "password": PASSWORD})
        assert status == 201, session
        signed_in = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-AX-CSRF": session["csrf"]}

        def make(path, **what):
            status, made, _ = call(server.port, "POST", "/api/v1" + path, what, signed_in)
            assert status == 201, made
            return made
        for group in self.groups:
            make("/groups", group_key=group, title="", dispatch_quota=QUOTA, pool_size=POOL)
        self.token = make("/tokens", name="rig", role="admin")["token"]
        self.worker_token.write_text(make("/tokens", name="workers", worker_groups=list(self.groups))["token"] + "\n")

    # ---- asking it

    def any_server(self):
        """One that runs, another one each time."""
        up = [s for s in self.servers if s.runs_now()]
        assert up, "no server runs"
        return up[next(self.turn) % len(up)]

    def ask(self, method, path, body=None, seconds=60):
        """An answer of any server: whoever is down or busy is passed over until the time is over."""
        said = []

        def look():
            try:
                said[:] = [self.any_server().api(method, path, body)]
                return True
            except (OSError, AssertionError) as e:
                said[:] = [e]
            except ApiError as e:
                if e.status not in (503, 507):
                    raise
                said[:] = [e]
        wait_for(look, seconds, lambda: f"{method} {path}: {said[0]}")
        return said[0]

    def tell_fallen(self):
        """Servers and workers that ended although nobody felled them."""
        return [f"{p.name} ended with {p.process.returncode}: {p.log()[-1500:]}" for p in [*self.servers, *self.workers]
                if p.process and p.fell_by_itself]

    def rows(self, sql, database=None):
        """What the database, or another one, answers, as tuples; numbers are numbers. The servers may run or not."""
        if database := database or self.database:
            answer = database.client(sql)
        else:
            done = subprocess.run(["sqlite3", "-readonly", "-separator", "\t", self.servers[0].store, sql],
                                  capture_output=True, text=True, check=True)
            answer = [line.split("\t") for line in done.stdout.splitlines()]
        return [tuple(int(v) if re.fullmatch(r"-?\d+", v) else v for v in row) for row in answer]

    # ---- its end

    def stop(self):
        """Workers first, so that they can report their last results; complains about whoever ends badly."""
        return [f"{p.name} ended with {code}: {p.log()[-1500:]}"
                for p in [*self.workers, *self.servers] if p.runs_now() and (code := p.term(90)) != 0]

    def check(self, options=()):
        """ax-check over the store of the stopped servers and the journals of the workers: (exit status, what it found)."""
        store = self.database.url() if self.database else f"sqlite:{self.servers[0].store}"
        journals = self.journals()
        done = subprocess.run([AX_CHECK, "--json", "--store", store, *options, *(["--journal", *journals] if journals else [])],
                              capture_output=True, text=True, timeout=600, env={"PATH": os.environ["PATH"], TAG: self.tag})
        return done.returncode, json.loads(done.stdout) if done.returncode != 2 else {"error": done.stderr}

    def journals(self):
        return [w.journal for w in self.workers if w.journal.exists()]

    def __exit__(self, *how):
        try:
            super().__exit__(*how)
        finally:
            for store in (self.database, self.queue):
                if store:
                    store.stop()
