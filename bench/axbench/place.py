"""The programs of one build at work: servers, a worker, a stub, each in its own process, all in one temporary folder."""

import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from axbench import stores

GROUP = "bench"
POOL = 500  # runs that the worker executes at once: 2,000/s of 80 ms are 160
QUOTA = 10_000
STUB_DELAY_MS = 80


class Failed(Exception):
    """A benchmark that cannot tell, or a promise that did not hold."""


class Build:
    def __init__(self, root):
        self.root = Path(root)

    def path(self, name):
        found = [p for folder in ("src/server", "src/worker", "src/check", "bench")
                 if (p := self.root / folder / name).exists()]
        if not found:
            raise Failed(f"{self.root} has no {name}: build it first")
        return found[0]


def now_ms():
    return time.time_ns() // 1_000_000


def wait_for(what, ask, seconds=60.0, pause=0.01):
    """The first true answer of `ask`."""
    end = time.monotonic() + seconds
    while not (answer := ask()):
        if time.monotonic() > end:
            raise Failed(f"waited {seconds:.0f} s for {what}")
        time.sleep(pause)
    return answer


class Skipped(Exception):
    """A scenario that this machine does not allow, or not now."""


def cpu_s(pid):
    """CPU time of all threads that a process has and had, user and system."""
    return time.clock_gettime(~pid << 3 | 2)  # the clock that clock_getcpuclockid(3) names


class Process:
    def __init__(self, args, log, **popen):
        # pdeathsig: it dies with the benchmark, even when that one is killed.
        with open(log, "ab") as out:
            self.popen = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *map(str, args)], stderr=out, **popen)
        self.pid = self.popen.pid

    def rss_mb(self):
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024

    def kill(self):
        self.popen.kill()
        self.popen.wait()

    def stop(self):
        if self.popen.poll() is None:
            self.popen.terminate()
        try:
            return self.popen.wait(60)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"{self.popen.args[4]} did not end") from None


class Api:
    """One connection that stays open."""

    def __init__(self, origin):
        self.host = origin.removeprefix("http://")
        self.conn = http.client.HTTPConnection(self.host, timeout=120)
        self.headers = {"Content-Type": "application/json"}

    def call(self, method, path, body=None):
        status, answer = self.ask(method, path, body)
        if status >= 400:
            raise Failed(f"{method} {path}: {status} {answer}")
        return answer

    def ask(self, method, path, body=None, read=json.loads):
        data = None if body is None else json.dumps(body)
        try:
            self.conn.request(method, path, data, self.headers)
            answer = self.conn.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):  # it ends what is idle for long
            self.conn.close()
            self.conn.request(method, path, data, self.headers)
            answer = self.conn.getresponse()
        text = answer.read()
        return answer.status, read(text) if text else None


class Server(Process):
    """Listens when it is made: `began` and `listening` are the instants (ms) of its start and of its saying so."""

    def __init__(self, place, number, listen):
        folder = place.dir / f"server{number}"
        folder.mkdir(mode=0o700, exist_ok=True)
        self.log = place.dir / f"server{number}.log"
        self.began = now_ms()
        super().__init__([place.build.path("ax-server"), "--listen", listen, "--state", folder, *place.store.options],
                         self.log, stdout=subprocess.PIPE, text=True)
        line = self.popen.stdout.readline()
        self.listening = now_ms()
        if not line.startswith("AX listens on "):
            self.stop()
            raise Failed("ax-server did not start: " + self.log.read_text()[-2000:])
        self.origin = line.split()[-1]

    def stop(self):
        code = super().stop()
        self.popen.stdout.close()
        if code != 0:
            raise Failed(f"ax-server ended with {code}: " + self.log.read_text()[-2000:])


class Place:
    """A folder, and a store of its own. `with Place(build) as place: …` leaves nothing behind."""

    def __init__(self, build, on="E", servers=1, groups=None, pool=POOL, journal=False, saved=None):
        """`groups`: their quotas, by name. `saved`: begins with what another one saved there."""
        self.build, self.on, self.n_servers, self.pool = build, on, servers, pool
        self.groups = groups or {GROUP: QUOTA}
        self.dir = Path(tempfile.mkdtemp(prefix="ax-bench-"))
        self.journal = self.dir / "journal" if journal else None
        self.servers, self.origins = [], []
        self.worker = self.stub = self.api = self.store = None
        self.token = None
        self.saved = saved

    def __enter__(self):
        try:
            self.store = stores.KINDS[self.on](self.dir, self.saved and self.saved / "store")
            self.start_servers()
            if self.saved:
                self.token, worker_token = (self.saved / "tokens").read_text().split()
            else:
                worker_token = self._become_admin()
            (self.dir / "worker.token").write_text(worker_token)
            self.connect()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            if self.store:
                self.store.stop()
            shutil.rmtree(self.dir)

    def save(self, folder):
        """What another place may begin with. The servers must have been stopped."""
        folder.mkdir()
        self.store.save(folder / "store")
        (folder / "stub").write_text(str(self.stub_port))
        (folder / "tokens").write_text(f"{self.token} {(self.dir / 'worker.token').read_text()}")

    # ---- programs

    @property
    def server(self):
        return self.servers[0]

    def start_servers(self):
        """On the ports that they had before, if they had: the worker knows them."""
        for n in range(self.n_servers):
            self.servers.append(self.new_server(n))
            if n == len(self.origins):
                self.origins.append(self.servers[n].origin)
        self.connect()

    def new_server(self, n):
        return Server(self, n + 1, self.origins[n].removeprefix("http://") if n < len(self.origins) else "127.0.0.1:0")

    def restart_server(self, n):
        """One that was killed."""
        self.servers[n].popen.stdout.close()
        self.servers[n] = self.new_server(n)

    def connect(self):
        self.api = Api(self.origins[0])
        if self.token:
            self.api.headers["Authorization"] = "Bearer " + self.token

    def _become_admin(self):
        """By the link that the first server prints; returns a token for the worker."""
        self.server.popen.stdout.readline()  # a sentence, then the link
        code = self.server.popen.stdout.readline().split("token=")[1].strip()
        self.api.conn.request("POST", "/api/v1/setup",
                              json.dumps({"token": code, "user": "bench", "password": os.urandom(16).hex()}),
                              self.api.headers)
        answer = self.api.conn.getresponse()
        session = json.loads(answer.read())
        if answer.status != 201:
            raise Failed(f"setup: {session}")
        self.api.headers |= {"Cookie": answer.getheader("Set-Cookie").split(";")[0], "X-AX-CSRF": session["csrf"],
                             "Origin": self.origins[0]}
        for name, quota in self.groups.items():
            self.call("POST", "/groups", {"group_key": name, "title": "", "dispatch_quota": quota, "pool_size": self.pool})
        self.token = self.call("POST", "/tokens", {"name": "bench", "role": "admin"})["token"]
        return self.call("POST", "/tokens", {"name": "worker", "worker_groups": list(self.groups)})["token"]

    def start_worker(self):
        policy = self.dir / "policy.json"
        policy.write_text(json.dumps({"http_allow": [f"127.0.0.1:{self.stub_port}"] if self.stub else []}))
        policy.chmod(0o600)
        self.worker = self.new_worker("w1", self.journal)
        wait_for("the worker", lambda: any(w["state"] == "online" for w in self.call("GET", "/workers")["items"]))

    def new_worker(self, name, journal):
        return Process(
            [self.build.path("ax-worker"), "--server", ",".join(self.origins), "--token-file", self.dir / "worker.token",
             "--groups", ",".join(f"{group}:{self.pool}" for group in self.groups), "--state", self.dir / f"worker-{name}",
             "--name", name, "--policy", self.dir / "policy.json", "--plugin", self.build.path("libax_bench_noop.so"),
             *(["--journal", journal] if journal else [])], self.dir / f"worker-{name}.log")

    def start_stub(self):
        port = (self.saved / "stub").read_text() if self.saved else "0"  # the tasks know it
        self.stub = Process([self.build.path("http_stub"), STUB_DELAY_MS, port], self.dir / "stub.log",
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.stub_port = int(self.stub.popen.stdout.readline())

    def cpu_s(self):
        """CPU seconds so far of everything that AX needs, by program; several servers are one."""
        used = {"server": sum(cpu_s(server.pid) for server in self.servers), "worker": cpu_s(self.worker.pid)}
        return used | {name: cpu_s(pid) for name, pid in self.store.pids().items()}

    def stop_servers(self):
        while self.servers:
            self.servers.pop().stop()

    def stop(self):
        """Worker first, so that it can report its last results. The store stays."""
        if self.worker:
            self.worker.stop()
            self.worker = None
        self.stop_servers()
        if self.stub:
            self.stub.popen.stdin.close()
            self.stub.popen.wait(10)
            self.stub.popen.stdout.close()
            self.stub = None

    # ---- the API

    def call(self, method, path, body=None):
        return self.api.call(method, "/api/v1" + path, body)

    def create_tasks(self, n, make, group=GROUP):
        """n tasks as make(i) describes them, 1,000 to a call; returns their ids."""
        ids = []
        for at in range(0, n, 1000):
            ids += self.create_batch(make, at, min(n, at + 1000), group)
        return ids

    def create_spread(self, n, period_s, make, group=GROUP, first=0):
        """n tasks over period_s seconds: `@every` counts from the creation, so that their fires are spread too."""
        per_call = min(1000, max(1, round(n / period_s / 100)))
        begun = time.monotonic()
        for at in range(0, n, per_call):
            time.sleep(max(0, begun + at / n * period_s - time.monotonic()))
            self.create_batch(make, first + at, first + min(n, at + per_call), group)

    def create_batch(self, make, first, end, group=GROUP):
        tasks = [{"group_key": group, "task_name": f"t{i:06}"} | make(i) for i in range(first, end)]
        return [t["id"] for t in self.call("POST", "/tasks/batch", {"tasks": tasks})["items"]]

    def noop(self, cron_expr):
        """A description of tasks that do nothing at these times."""
        return lambda i: {"cron_expr": cron_expr, "executor_key": "bench.noop"}

    def http(self, cron_expr):
        """A description of tasks that call the stub."""
        param = {"url": f"http://127.0.0.1:{self.stub_port}/"}
        return lambda i: {"cron_expr": cron_expr, "executor_key": "http", "biz_param": param}

    def has_live_runs(self):
        return bool(self.call("GET", "/runs?live=true&limit=1")["items"])

    def is_done(self, runs):
        """None lives, and so many were made: a server that has too little processor may not have made any yet."""
        return not self.has_live_runs() and self.store.rows("SELECT count(*) FROM ax_task_log")[0][0] >= runs

    def pause(self, group, paused):
        version = self.call("GET", f"/groups/{group}")["version"]
        self.call("PATCH", f"/groups/{group}", {"version": version, "paused": paused})

    def catch_up(self, group=GROUP):
        """When fires are late, the group is paused, so that each task makes one more run, which waits, and this waits until
        none is late: ax-check takes a fire that is late by seconds for one that was forgotten."""
        if self.is_late():
            self.pause(group, True)
            wait_for("fires that are late", lambda: not self.is_late(), 600, 0.5)

    def is_late(self):
        first, = self.store.rows("SELECT coalesce(min(next_trigger_time), 0) FROM ax_task WHERE status = 1"
                                 " AND next_trigger_time > 0")[0]
        return 0 < first < now_ms() - 2000
