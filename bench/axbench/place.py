"""The programs of one build at work: a server, a worker, a stub, each in its own process, all in one temporary folder."""

import http.client
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

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


class Process:
    def __init__(self, args, log, **popen):
        with open(log, "ab") as out:
            self.popen = subprocess.Popen([str(a) for a in args], stderr=out, **popen)
        self.pid = self.popen.pid

    def cpu_s(self):
        """CPU time of all its threads, user and system."""
        ns = 0
        for task in os.scandir(f"/proc/{self.pid}/task"):
            ns += int(Path(task.path, "schedstat").read_text().split()[0])
        return ns / 1e9

    def rss_mb(self, which="VmRSS"):
        text = Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(which + r":\s+(\d+)", text)[1]) / 1024

    def stop(self):
        if self.popen.poll() is None:
            self.popen.terminate()
        try:
            return self.popen.wait(60)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            raise Failed(f"{self.popen.args[0]} did not end") from None


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

    def ask(self, method, path, body=None):
        data = None if body is None else json.dumps(body)
        try:
            self.conn.request(method, path, data, self.headers)
            answer = self.conn.getresponse()
        except (http.client.RemoteDisconnected, BrokenPipeError):  # the server ends what is idle for long
            self.conn.close()
            self.conn.request(method, path, data, self.headers)
            answer = self.conn.getresponse()
        text = answer.read()
        return answer.status, json.loads(text) if text else None


class Place:
    """A folder with a store of its own. `with Place(build) as place: …` leaves nothing behind."""

    def __init__(self, build, groups=None):
        """`groups`: their quotas, by name."""
        self.build = build
        self.groups = groups or {GROUP: QUOTA}
        self.dir = Path(tempfile.mkdtemp(prefix="ax-bench-"))
        self.store = self.dir / "state" / "ax.db"
        self.server = self.worker = self.stub = self.api = None
        self.token = None

    def __enter__(self):
        try:
            self.start_server()
            self._become_admin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        try:
            self.stop()
        finally:
            shutil.rmtree(self.dir)

    # ---- programs

    def start_server(self):
        """Starts it; returns the instants (ms, wall clock) of the start and of the line that says it listens."""
        (self.dir / "state").mkdir(mode=0o700, exist_ok=True)
        begun = now_ms()
        self.server = Process([self.build.path("ax-server"), "--listen", self._listen(), "--state", self.dir / "state"],
                              self.dir / "server.log", stdout=subprocess.PIPE, text=True)
        line = self.server.popen.stdout.readline()
        listening = now_ms()
        if not line.startswith("AX listens on "):
            raise Failed("ax-server did not start: " + (self.dir / "server.log").read_text()[-2000:])
        self.origin = line.split()[-1]
        self.api = Api(self.origin)
        if self.token:
            self.api.headers["Authorization"] = "Bearer " + self.token
        return begun, listening

    def _listen(self):
        """A free port the first time, the same later: the worker knows it."""
        return self.origin.removeprefix("http://") if self.token else "127.0.0.1:0"

    def _become_admin(self):
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
                             "Origin": self.origin}
        for name, quota in self.groups.items():
            self.call("POST", "/groups", {"group_key": name, "title": "", "dispatch_quota": quota, "pool_size": POOL})
        self.token = self.call("POST", "/tokens", {"name": "bench", "role": "admin"})["token"]
        worker_token = self.call("POST", "/tokens", {"name": "worker", "worker_groups": list(self.groups)})["token"]
        (self.dir / "worker.token").write_text(worker_token)
        self.api = Api(self.origin)
        self.api.headers["Authorization"] = "Bearer " + self.token

    def start_worker(self):
        policy = self.dir / "policy.json"
        policy.write_text(json.dumps({"http_allow": [f"127.0.0.1:{self.stub_port}"] if self.stub else []}))
        policy.chmod(0o600)
        self.worker = Process(
            [self.build.path("ax-worker"), "--server", self.origin, "--token-file", self.dir / "worker.token",
             "--groups", ",".join(f"{name}:{POOL}" for name in self.groups), "--state", self.dir / "worker", "--name", "w1", "--policy", policy,
             "--plugin", self.build.path("libax_bench_noop.so")], self.dir / "worker.log")
        wait_for("the worker", lambda: any(w["state"] == "online" for w in self.call("GET", "/workers")["items"]))

    def start_stub(self):
        self.stub = Process([self.build.path("http_stub"), STUB_DELAY_MS], self.dir / "stub.log",
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.stub_port = int(self.stub.popen.stdout.readline())

    def stop_server(self):
        if self.server:
            code = self.server.stop()
            self.server.popen.stdout.close()
            self.server = None
            if code != 0:
                raise Failed(f"ax-server ended with {code}: " + (self.dir / "server.log").read_text()[-2000:])

    def stop(self):
        """Worker first, so that it can report its last results."""
        if self.worker:
            self.worker.stop()
            self.worker = None
        self.stop_server()
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

    def create_spread(self, n, period_s, make, group=GROUP):
        """n tasks over period_s seconds: `@every` counts from the creation, so that their fires are spread too."""
        per_call = max(1, round(n / period_s / 200))
        begun = time.monotonic()
        for at in range(0, n, per_call):
            time.sleep(max(0, begun + at / n * period_s - time.monotonic()))
            self.create_batch(make, at, min(n, at + per_call), group)

    def create_batch(self, make, first, end, group):
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
