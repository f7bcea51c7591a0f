"""AX as real processes: a World holds servers, workers and an HTTP stub of one test, in one folder, and ends them all.

    with World() as world:
        server = world.server()
        worker = world.worker(server)
        task = server.task("hello", script="echo hello", cron_expr="@every 1s")
        run = wait_for(lambda: server.runs(task, status="SUCCESS"), 5)[0]

Nothing here sleeps to let something happen: wait_for polls until a deadline. Whatever is started carries an environment
variable of this world, so that what is left behind can be found in /proc."""

import http.client
import json
import os
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlencode, urlsplit

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AX_BUILD", "build"))
BUILD = BUILD if BUILD.is_absolute() else ROOT / BUILD
AX_SERVER = BUILD / "src/server/ax-server"
AX_SERVER_NEXT = BUILD / "tests/e2e/ax-server-next"  # the next release, as far as the schema goes; and the one after it
AX_SERVER_LATER = BUILD / "tests/e2e/ax-server-later"
AX_WORKER = BUILD / "src/worker/ax-worker"
AXCTL = BUILD / "src/cli/axctl"
AX_CHECK = BUILD / "src/check/ax-check"
PLUGIN = BUILD / "lib/axworker/libax_example_plugin.so"
FAKETIME = Path("/usr/lib") / f"{os.uname().machine}-linux-gnu" / "faketime/libfaketimeMT.so.1"

TAG = "E2E_WORLD"  # not AX_…: tasks may not set those
LIVE = ("PENDING", "WAITING", "DISPATCHED", "RUNNING", "RETRYING")


def wait_for(look, seconds=10, what=None):
    """The first truthy answer of `look`; fails when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        found = look()
        if found:
            return found
        if time.monotonic() >= deadline:
            raise AssertionError(f"not within {seconds} s: {what() if callable(what) else what or found!r}")
        time.sleep(0.02)


def now_ms():
    return time.time_ns() // 1_000_000


def free_port():
    """Below the range from which the kernel gives ports to whoever dials, so that it stays free while a server is down."""
    while True:
        port = random.randrange(20000, 32000)
        with socket.socket() as s:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                s.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue


def tagged(tag):
    """Processes that carry the tag, as {pid: command}."""
    wanted, found = f"{TAG}={tag}".encode(), {}
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if wanted in (entry / "environ").read_bytes().split(b"\0"):
                found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return found


def fill(disk):
    """Not a byte is left on that file system. The file that took them: without it all is well again."""
    path = disk / "filler"
    filler = os.open(path, os.O_WRONLY | os.O_CREAT)
    for size in (1024 * 1024, 4096, 1):
        try:
            while True:
                os.write(filler, b"\0" * size)
        except OSError:
            continue
    os.close(filler)
    return path


class Process:
    """A program that can be started again after its end. It ends with the thread that started it."""

    def __init__(self, world, name, args, env=None):
        self.world, self.name, self.args = world, name, [str(a) for a in args]
        self.log_path = world.folder / f"{name}.log"
        self.env = {"PATH": os.environ["PATH"], "HOME": str(world.folder), "TZ": "UTC", TAG: world.tag, **(env or {})}
        for sanitizer in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if sanitizer in os.environ:
                self.env[sanitizer] = os.environ[sanitizer]
        self.process = None

    def spawn(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", "--", *self.args], env=self.env,
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, cwd=self.world.folder)

    @property
    def pid(self):
        return self.process.pid

    def runs_now(self):
        return self.process is not None and self.process.poll() is None

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def events(self, event):
        """Log lines with that event."""
        found = []
        for line in self.log().splitlines():
            try:
                entry = json.loads(line)
            except ValueError:
                continue
            if isinstance(entry, dict) and entry.get("event") == event:
                found.append(entry)
        return found

    def wait_event(self, event, seconds=10, count=1):
        return wait_for(lambda: len(self.events(event)) >= count and self.events(event), seconds, f"{event} of {self.name}")

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def pause(self):
        self.signal(signal.SIGSTOP)
        wait_for(lambda: Path(f"/proc/{self.pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "T", 5)

    def resume(self):
        self.signal(signal.SIGCONT)

    def term(self, seconds=30):
        """SIGTERM and the exit status."""
        self.signal(signal.SIGTERM)
        return self.process.wait(seconds)

    def end(self):
        """In whatever state it is."""
        if not self.runs_now():
            return
        self.resume()
        self.signal(signal.SIGTERM)
        self.signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.kill()


class ApiError(Exception):
    def __init__(self, status, problem, headers=None):
        super().__init__(f"{status} {problem}")
        self.status, self.problem = status, problem
        self.retry_after = headers and headers["Retry-After"]
        self.code = problem.get("code") if isinstance(problem, dict) else None


def call(port, method, path, body=None, headers=None, timeout=30):
    """(status, parsed answer or text, headers); OSError when nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=timeout)
    try:
        text = None if body is None else json.dumps(body)
        connection.request(method, path, text, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        said = answer.read().decode()
        try:
            said = json.loads(said) if said else None
        except ValueError:
            pass
        return answer.status, said, answer.headers
    except http.client.HTTPException as e:
        raise ConnectionError(str(e)) from e
    finally:
        connection.close()


class Server(Process):
    def __init__(self, world, name="server", dev=False, options=(), env=None, state=None):
        self.state = state or world.folder / f"{name}-state"
        self.port = free_port()
        self.dev = dev
        self.token = self.worker_token_file = None
        args = [AX_SERVER, "--listen", f"127.0.0.1:{self.port}", "--state", self.state, *options]
        super().__init__(world, name, [*args, "--dev"] if dev else args, env)

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    @property
    def store(self):
        return self.state / "ax.db"

    def is_ready(self):
        assert self.runs_now(), f"{self.name} ended with {self.process.returncode}: {self.log()[-2000:]}"
        try:
            return call(self.port, "GET", "/readyz", timeout=2)[0] == 200
        except OSError:
            return False

    def start(self, seconds=20):
        self.spawn()
        wait_for(self.is_ready, seconds, "the server is not ready")
        if self.dev:
            self.token = json.loads((self.state / "dev.json").read_text())["token"]
        elif self.token is None:
            self.set_up()
        return self

    def set_up(self):
        """The first administrator by the printed link, then a token for the tests and one for workers."""
        secret = self.log().split("/#/setup?token=")[1].split()[0]
        who = {"token": secret, "user": "admin", "password": "correct horse battery"}
        status, session, headers = call(self.port, "POST", "/api/v1/setup", who)
        assert status == 201, session
        signed_in = {"Cookie": headers["Set-Cookie"].split(";")[0], "X-AX-CSRF": session["csrf"]}
        tokens = []
        for wanted in ({"name": "tests", "role": "admin"}, {"name": "workers", "worker_groups": ["default"]}):
            status, made, _ = call(self.port, "POST", "/api/v1/tokens", wanted, signed_in)
            assert status == 201, made
            tokens.append(made["token"])
        self.token = tokens[0]
        self.worker_token_file = self.world.folder / f"{self.name}-worker.token"
        self.worker_token_file.write_text(tokens[1] + "\n")

    def api(self, method, path, body=None, headers=None):
        status, said, answered = call(self.port, method, "/api/v1" + path, body,
                                      {"Authorization": f"Bearer {self.token}", **(headers or {})})
        if status >= 400:
            raise ApiError(status, said, answered)
        return said

    def get(self, path, **query):
        query = {k: v for k, v in query.items() if v is not None}
        return self.api("GET", path + ("?" + urlencode(query) if query else ""))

    def items(self, path, **query):
        """All pages of a list."""
        found, after = [], None
        while True:
            page = self.get(path, limit=200, after=after, **query)
            found += page["items"]
            after = page["next"]
            if after is None:
                return found

    def task(self, name, script=None, argv=None, url=None, env=None, param=None, executor=None, **fields):
        """Makes a task that executes a script, a program, a call or a function; answers it."""
        if script or argv:
            what = {"script": script} if script else {"argv": argv}
            executor, param = "exec", {**what, "env": {TAG: self.world.tag, **(env or {})}}
        elif url:
            executor, param = "http", {"url": url, **(param or {})}
        if "cron_expr" not in fields:
            fields.setdefault("task_type", "delay")
        fields.setdefault("retry_count", 0)
        return self.api("POST", "/tasks", {"task_name": name, "executor_key": executor, "biz_param": param, **fields})

    def reload(self, task):
        return self.get(f"/tasks/{task['id']}")

    def change(self, task, **fields):
        return self.api("PATCH", f"/tasks/{task['id']}", {"version": self.reload(task)["version"], **fields})

    def pause_task(self, task):
        return self.api("POST", f"/tasks/{task['id']}/pause", {})

    def resume_task(self, task):
        return self.api("POST", f"/tasks/{task['id']}/resume", {})

    def trigger(self, task, **how):
        return self.api("POST", f"/tasks/{task['id']}/runs", how)

    def runs(self, task=None, **query):
        return self.items("/runs", task_id=task and task["id"], **query)

    def run(self, run):
        return self.get(f"/runs/{run['gid']}")

    def wait_run(self, run, status, seconds=10):
        """The run once it is in that state (or one of several)."""
        wanted = (status,) if isinstance(status, str) else status
        last = {}

        def look():
            last.update(self.run(run))
            return last["status"] in wanted and last
        return wait_for(look, seconds, lambda: f"{wanted}: {last}")

    def output(self, run, fence=None):
        """All that one attempt (the newest, unless told) printed: {"text", "truncated", "live"}."""
        fence = fence or self.run(run)["fence"]
        text, seq = "", None
        while True:
            page = self.get(f"/runs/{run['gid']}/output", fence=fence, after_seq=seq)
            text += "".join(chunk["data"] for chunk in page["chunks"])
            if not page["more"]:
                return {"text": text, "truncated": page["truncated"], "live": page["live"]}
            seq = page["chunks"][-1]["seq"]

    def text(self, run, fence=None):
        return self.output(run, fence)["text"]

    def stop_firing(self, task):
        """Not by a pause: that would hold what waits for a worker."""
        return self.change(task, cron_expr="0 0 29 2 *", dialect=None)

    def quiesce(self, seconds=90):
        """No task fires any more and no run is live."""
        for task in self.items("/tasks", status="enabled", task_type="scheduled"):
            self.stop_firing(task)
        wait_for(lambda: not self.get("/runs", live="true", limit=1)["items"], seconds,
                 lambda: [(r["gid"], r["status"], r["waiting_for"], r["fence"]) for r in self.runs(live="true")][:10])

    def audit(self, until=None):
        return self.get("/audit/fires", to=until or now_ms())

    def workers_online(self, *names):
        """True when these workers are online."""
        there = {w["worker"] for w in self.get("/workers")["items"] if w["state"] == "online"}
        return there and there.issuperset(names)


class Worker(Process):
    def __init__(self, world, server, name="w1", options=(), pool=50, state=None, env=None):
        self.server = server
        self.worker_name = name
        self.state = state or world.folder / f"{name}-state"
        self.journal = world.folder / f"{name}.journal"
        super().__init__(world, name, [
            AX_WORKER, "--server", server.url, "--token-file", server.worker_token_file, "--state", self.state, "--name", name,
            "--groups", f"default:{pool}", "--journal", self.journal, "--plugin", PLUGIN, "--dev", *options], env)

    def start(self):
        """Returns when it takes runs."""
        before = len(self.events("registered"))
        self.spawn()
        self.wait_event("registered", 15, before + 1)
        return self


class Stub:
    """An HTTP server that notes who called: /ok, /fail (500), /slow?ms=N. A call is noted before it is answered."""

    def __init__(self):
        self.calls, self.lock = [], threading.Lock()
        stub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):
                where = urlsplit(self.path)
                size = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(size).decode(errors="replace")
                status = 500 if where.path == "/fail" else 200
                if where.path == "/slow":
                    stub.closing.wait(int(parse_qs(where.query)["ms"][0]) / 1000)
                with stub.lock:
                    stub.calls.append({"path": where.path, "key": self.headers["Idempotency-Key"], "gid": self.headers["AX-Gid"],
                                       "attempt": self.headers["AX-Attempt"], "fence": self.headers["AX-Fence"],
                                       "shard": self.headers["AX-Shard-Index"], "shards": self.headers["AX-Shard-Total"],
                                       "parent": self.headers["AX-Parent-Gid"],
                                       "status": status, "body": body})
                try:
                    self.send_response(status)
                    self.send_header("Content-Length", "3")
                    self.end_headers()
                    self.wfile.write(b"ok\n")
                except OSError:
                    self.close_connection = True

            do_POST = do_GET

            def log_message(self, *args):
                pass

        class Quiet(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                pass  # a caller that was killed

        self.closing = threading.Event()
        self.httpd = Quiet(("127.0.0.1", 0), Handler)
        self.thread = threading.Thread(target=self.httpd.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def url(self, path):
        return f"http://127.0.0.1:{self.httpd.server_port}{path}"

    def close(self):
        self.closing.set()
        self.httpd.shutdown()
        self.thread.join()
        self.httpd.server_close()


class Clock:
    """The wall clock of a server or a database, in the hands of the test; its monotonic clock stays."""

    def __init__(self, world, name="clock", at_once=True):
        """Unless `at_once`, what is set is noticed within a second, and to ask for the time costs less."""
        self.file = world.folder / name
        self.set(0)
        self.env = {"LD_PRELOAD": str(FAKETIME), "FAKETIME_TIMESTAMP_FILE": str(self.file), "FAKETIME_DONT_FAKE_MONOTONIC": "1",
                    **({"FAKETIME_NO_CACHE": "1"} if at_once else {"FAKETIME_CACHE_DURATION": "1"})}

    def set(self, seconds, rate=1):
        """`rate`: how fast it goes, counted from the start of the process."""
        self.seconds = seconds
        draft = self.file.with_suffix(".new")
        draft.write_text(f"{seconds:+d}s{'' if rate == 1 else f' x{rate}'}\n")
        os.replace(draft, self.file)


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)


class World:
    made = []  # of this process

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="ax-e2e-"))
        self.tag = self.folder.name
        self.processes, self.stubs, self.mounts = [], [], []
        World.made.append(self)

    def add(self, process, start=True):
        self.processes.append(process)
        return process.start() if start else process

    def server(self, start=True, **how):
        return self.add(Server(self, **how), start)

    def worker(self, server, start=True, **how):
        return self.add(Worker(self, server, **how), start)

    def stub(self):
        self.stubs.append(Stub())
        return self.stubs[-1]

    def small_disk(self, name, size):
        """A file system of its own of so many bytes; needs root."""
        path = self.folder / name
        path.mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", path], check=True, capture_output=True)
        self.mounts.append(path)
        return path

    def axctl(self, server, *args, code=0, input=None, env=None):
        env = {"AX_SERVER": server.url, "AX_TOKEN": server.token} if env is None else env
        done = subprocess.run([AXCTL, *map(str, args)], capture_output=True, text=True, input=input, timeout=60, cwd=self.folder,
                              stdin=subprocess.DEVNULL if input is None else None,
                              env={"PATH": os.environ["PATH"], "HOME": str(self.folder), "TZ": "UTC", "LC_ALL": "C.UTF-8",
                                   TAG: self.tag, **env})
        assert done.returncode == code, f"axctl {args}: exit {done.returncode}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        return Result(done)

    def check(self, server, *workers):
        """ax-check over the store of a stopped server and the journals of its workers: (exit status, what it says)."""
        args = [AX_CHECK, "--json", "--store", f"sqlite:{server.store}"]
        journals = [w.journal for w in workers if w.journal.exists()]
        done = subprocess.run([*args, *(["--journal", *journals] if journals else [])], capture_output=True, text=True,
                              timeout=120, env={"PATH": os.environ["PATH"], "TZ": "UTC", TAG: self.tag})
        return done.returncode, done.stdout + done.stderr

    def task_processes(self):
        """What executes tasks now: processes of this world that have a run."""
        found = {}
        for pid, command in tagged(self.tag).items():
            try:
                env = Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if b"AX_GID=" in env:
                found[pid] = command
        return found

    def logs(self):
        return [(p.name, p.log()) for p in self.processes]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """Ends all, workers before servers, and fails when a process outlives it."""
        for process in sorted(self.processes, key=lambda p: isinstance(p, Server)):
            process.end()
        for stub in self.stubs:
            stub.close()
        try:
            wait_for(lambda: not tagged(self.tag), 10, lambda: f"left behind: {tagged(self.tag)}")
            for name, text in self.logs():
                assert "Sanitizer" not in text and "runtime error" not in text, f"{name}: {text[-4000:]}"
        finally:
            for pid in tagged(self.tag):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            for path in self.mounts:
                subprocess.run(["umount", "-l", path], check=False)
            shutil.rmtree(self.folder)
