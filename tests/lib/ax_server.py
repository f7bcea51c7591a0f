"""A real ax-server on a free port with a state folder of its own, and a client that holds every answer against
spec/openapi.json."""

import http.client
import json
import os
import pathlib
import re
import signal
import subprocess
import time
import zlib
from urllib.parse import urlsplit

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("AX_BUILD", ROOT / "build"))
AX_SERVER = BUILD / "src/server/ax-server"
OPENAPI = json.loads((ROOT / "spec/openapi.json").read_text())
PASSWORD = "correct horse battery"


def wait_for(condition, seconds=10, every=0.01):
    """The first true value of condition(), or an assertion after the deadline."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(every)


# --- a small part of JSON Schema: what gen_openapi.py writes ---------------------------------------------------------

KINDS = {"object": dict, "array": list, "string": str, "integer": int, "boolean": bool, "null": type(None)}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and not (kind == "integer" and isinstance(value, bool))


def faults(schema, value, path="$"):
    """What is wrong with value, as texts."""
    if "$ref" in schema:
        schema = OPENAPI["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if "enum" in schema and value not in schema["enum"]:
        return [f"{path}: {value!r} is none of {schema['enum']}"]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{path}: {value!r} is no {kinds}"]
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        return [f"{path}: {value!r} does not match {schema['pattern']}"]
    found = []
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{path}.{name}: missing" for name in schema.get("required", []) if name not in value]
        for name, part in value.items():
            if name in schema["properties"]:
                found += faults(schema["properties"][name], part, f"{path}.{name}")
            elif schema.get("additionalProperties") is False:
                found.append(f"{path}.{name}: not described")
    if isinstance(value, list) and "items" in schema:
        for i, part in enumerate(value):
            found += faults(schema["items"], part, f"{path}[{i}]")
    return found


def find_operation(method, path):
    """The description of a route; literal segments win over parameters."""
    best = None
    for pattern, methods in OPENAPI["paths"].items():
        shape = re.sub(r"{\w+}", "[^/]+", pattern)
        if re.fullmatch(shape, path) and method.lower() in methods:
            if best is None or "{" not in pattern:
                best = methods[method.lower()]
    return best


def check_answer(method, path, answer):
    operation = find_operation(method, path)
    if operation is None:
        assert answer.status in (404, 405)
        return
    if answer.status >= 400 and path not in ("/healthz", "/readyz"):
        schema = {"$ref": "#/components/schemas/Problem"}
        assert answer.headers["content-type"] == "application/problem+json"
    elif answer.status == 204 or not answer.headers["content-type"].startswith("application/json"):
        return
    else:
        described = operation["responses"].get(str(answer.status)) or operation["responses"]["200"]
        schema = described["content"]["application/json"]["schema"]
    assert faults(schema, answer.json) == [], f"{method} {path}"


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.text = response.read()

    @property
    def json(self):
        return json.loads(self.text)

    def ok(self, status=200):
        assert self.status == status, (self.status, self.text)
        return self.json if self.text else None

    def refused(self, status, code, field=None):
        assert self.status == status, (self.status, self.text)
        problem = self.json
        assert problem["code"] == code and problem["status"] == status, problem
        if field is not None:
            assert problem.get("field") == field, problem
        assert len(problem["detail"]) > 10
        return problem


class Client:
    """Calls with one credential (or none)."""

    def __init__(self, server, token=None, cookie=None, csrf=None):
        self.server, self.token, self.cookie, self.csrf = server, token, cookie, csrf

    def open(self, method, path, body=None, headers=None, timeout=15):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=timeout)
        sent = dict(headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        if self.cookie is not None:
            sent.setdefault("Cookie", f"ax={self.cookie}")
        if self.csrf is not None:
            sent.setdefault("X-AX-CSRF", self.csrf)
        if body is not None and not isinstance(body, (bytes, str)):
            body = json.dumps(body)
        if body is not None or self.cookie is not None:
            sent.setdefault("Content-Type", "application/json")
        connection.request(method, path, body, sent)
        return connection, connection.getresponse()

    def call(self, method, path, body=None, headers=None, timeout=15):
        connection, response = self.open(method, path, body, headers, timeout)
        answer = Answer(response)
        connection.close()
        check_answer(method, path.split("?")[0], answer)
        return answer

    def get(self, path, **more):
        return self.call("GET", path, **more)

    def post(self, path, body=None, **more):
        return self.call("POST", path, {} if body is None else body, **more)

    def patch(self, path, body, **more):
        return self.call("PATCH", path, body, **more)

    def delete(self, path, **more):
        return self.call("DELETE", path, **more)


def database_for(folder):
    """The address of a database of the server's own, when the tests run over the MariaDB of tests/lib/mariadb.py."""
    base = urlsplit(os.environ["AX_TEST_MYSQL"])
    name = f"ax_{zlib.crc32(str(folder).encode()):08x}"
    made = subprocess.run(["mariadb", "--no-defaults", f"--host={base.hostname}", f"--port={base.port}", f"--user={base.username}",
                           f"--password={base.password}", "-e", f"CREATE DATABASE IF NOT EXISTS {name} CHARACTER SET utf8mb4"],
                          capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return base._replace(path=f"/{name}").geturl()


class Server:
    """Not in developer's mode unless asked: then no worker of its own gets in the way."""

    def __init__(self, folder, *options, port=0, env=None, wait=True):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.state = self.folder / "state"
        self.options = [str(AX_SERVER), "--listen", f"127.0.0.1:{port}", "--state", str(self.state), *map(str, options)]
        self.env = {"PATH": os.environ["PATH"], **(env or {})}
        if "AX_TEST_MYSQL" in os.environ and not {"--dev", "--store"}.intersection(options):
            self.env["AX_STORE"] = database_for(self.folder)
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.out, self.log = self.folder / "out", self.folder / "log"
        self.start(wait)

    def start(self, wait=True):
        with open(self.out, "wb") as out, open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.options, env=self.env, stdin=subprocess.DEVNULL, stdout=out, stderr=log)
        if wait:
            wait_for(lambda: self.process.poll() is not None or "AX listens" in self.out.read_text(), 20)
            assert self.process.poll() is None, self.log.read_text()
            self.url = re.search(r"AX listens on (\S+)", self.out.read_text()).group(1)
            self.port = int(self.url.rsplit(":", 1)[1])
            wait_for(lambda: "\n" in self.out.read_text())

    def link(self, kind):
        """The code of the printed link: kind is "setup?token" or "signin?once"."""
        text = wait_for(lambda: re.search(re.escape(kind) + r"=(\S+)\n", self.out.read_text()))
        return text.group(1)

    def events(self, name=None):
        lines = [json.loads(line) for line in self.log.read_text().splitlines() if line.startswith("{")]
        return [line for line in lines if name is None or line["event"] == name]

    def client(self, token=None, **more):
        return Client(self, token, **more)

    def set_up(self):
        """Makes the administrator `admin`; a client with its session."""
        connection, response = self.client().open(
            "POST", "/api/v1/setup", {"token": self.link("setup?token"), "user": "admin", "password": PASSWORD})
        answer = Answer(response)
        connection.close()
        session = answer.ok(201)
        cookie = re.match(r"ax=([^;]+)", answer.headers["set-cookie"]).group(1)
        return self.client(cookie=cookie, csrf=session["csrf"])

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """As an operator would; the exit status must be 0 and nothing may have been said by a sanitizer."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            status = self.process.wait(30)
            assert status == 0, self.log.read_text()[-4000:]
        text = self.log.read_text(errors="replace")
        assert "Sanitizer" not in text and "runtime error" not in text, text[-6000:]


class Worker:
    """A worker that speaks the protocol by hand."""

    def __init__(self, client, name="w1", group="default", executors=("exec", "http", "test"), pool_size=10):
        self.client, self.name, self.group = client, name, group
        self.executors, self.pool_size = list(executors), pool_size
        self.incarnation = os.urandom(8).hex()

    def say(self, call, body, **more):
        return self.client.post(f"/worker/v1/{call}", {"worker": self.name, "incarnation": self.incarnation, **body}, **more)

    def register(self, **more):
        return self.say("register", {"groups": [{"group": self.group, "pool_size": self.pool_size}],
                                     "executors": self.executors, "version": "test", "tags": {"zone": "a"}, **more}).ok()

    def poll(self, slots=10, wait_ms=5000):
        return self.say("poll", {"free": [{"group": self.group, "slots": slots}], "wait_ms": wait_ms}).ok()

    def poll_run(self, seconds=10):
        """One run, however many polls it takes."""
        return wait_for(lambda: self.poll(1)["runs"], seconds)[0]

    def report(self, *items):
        return self.say("report", {"items": list(items)}).ok()

    def item(self, run, kind, **more):
        return {"type": kind, "gid": run["gid"], "fence": run["fence"], **more}

    def finish(self, run, outcome="success", **more):
        return self.report(self.item(run, "accepted"), self.item(run, "started"),
                           self.item(run, "result", outcome=outcome, code=0 if outcome == "success" else 1, **more))
