"""ax-worker and ax-server together, over the wire."""

import json
import os
import re
import subprocess

import pytest

from conftest import Worker
from shim import BUILD, alive, wait_for
from test_shim import DEAF, python

AX_SERVER, AXCTL = BUILD / "src/server/ax-server", BUILD / "src/cli/axctl"


class Real:
    """A server with a group that only the test's worker serves."""

    def __init__(self, tmp):
        self.state = tmp / "server"
        with open(tmp / "server.log", "wb") as log:
            self.process = subprocess.Popen([AX_SERVER, "--dev", "--state", self.state], stdin=subprocess.DEVNULL, stdout=log,
                                            stderr=log)
        dev = wait_for(lambda: (self.state / "dev.json").exists() and (self.state / "dev.json").read_text())
        self.url = json.loads(dev)["server"]
        self.ctl("group", "create", "own")
        self.ctl("worker", "token", "--group", "own", "--out", tmp / "own.token")
        self.token = tmp / "own.token"

    def ctl(self, *args):
        done = subprocess.run([AXCTL, *map(str, args)], env={**os.environ, "AX_STATE": str(self.state)}, capture_output=True,
                              text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def trigger(self, name, param, *options, executor="exec"):
        self.ctl("task", "create", f"own/{name}", "--type", "delay", "--executor", executor, "--retries", 0, "--param",
                 json.dumps(param), *options)
        self.ctl("task", "trigger", f"own/{name}")
        return next(r["gid"] for r in self.runs() if r["task_name"] == name)

    def runs(self):
        runs = json.loads(self.ctl("run", "list", "--json"))
        return runs["items"] if isinstance(runs, dict) else runs

    def run(self, gid):
        return json.loads(self.ctl("run", "show", gid, "--json"))

    def wait_status(self, gid, *statuses, seconds=20):
        return wait_for(lambda: (run := self.run(gid))["status"] in statuses and run, seconds, 0.1)


@pytest.fixture
def real(tmp_path):
    if not AX_SERVER.exists():
        pytest.skip("ax-server is not built here")
    server = Real(tmp_path)
    yield server
    server.process.terminate()
    server.process.wait(20)


@pytest.fixture
def own_worker(real, tmp_path):
    worker = Worker(tmp_path, real, "--groups", "own:5", "--token-file", real.token, name="own")
    worker.wait_log("registered")
    yield worker
    worker.stop()


def test_outcomes_and_output(real, own_worker):
    good = real.trigger("good", {"argv": ["/bin/echo", "hello"]})
    bad = real.trigger("bad", {"script": "echo oops; exit 3"})
    slow = real.trigger("slow", {"argv": python(DEAF)}, "--timeout", 1, "--grace", 1)
    assert real.wait_status(good, "SUCCESS")["worker"] == "own"
    assert real.ctl("run", "log", good) == "hello\n"
    assert real.wait_status(bad, "FAILED")["result_code"] == 3
    assert real.wait_status(slow, "TIMEOUT")["attempt"] == 1


def test_restarted_worker_keeps_its_attempt(real, own_worker):
    gid = real.trigger("long", {"script": "echo $$; sleep 2; echo done"})
    real.wait_status(gid, "RUNNING")
    own_worker.kill()
    own_worker.start()
    run = real.wait_status(gid, "SUCCESS")
    assert (run["attempt"], run["fence"]) == (1, 1)
    assert real.ctl("run", "log", gid).endswith("done\n")


def test_cancel_reaches_the_process(real, own_worker):
    gid = real.trigger("endless", {"script": "echo $$; exec sleep 600"})
    real.wait_status(gid, "RUNNING")
    pid = int(wait_for(lambda: real.ctl("run", "log", gid).strip()))
    real.ctl("run", "cancel", gid)
    real.wait_status(gid, "CANCELLED", seconds=40)
    wait_for(lambda: not alive(pid))


def test_drained_worker_gives_its_runs_back(real, own_worker):
    gid = real.trigger("given-back", {"script": "sleep 600"})
    real.wait_status(gid, "RUNNING")
    own_worker.process.terminate()
    own_worker.wait_log("draining")
    own_worker.process.terminate()
    assert own_worker.end() == 0
    run = real.wait_status(gid, "WAITING", seconds=10)
    assert run["retry_times"] == 0
    own_worker.start()
    run = real.wait_status(gid, "RUNNING")
    assert run["fence"] == 2
    real.ctl("run", "cancel", gid)
    real.wait_status(gid, "CANCELLED", seconds=40)


def test_a_worker_that_was_there_before_the_administrator(tmp_path, start_worker):
    """Its token is of no server: before there is an administrator it waits, then it ends as one with a bad token does."""
    state = tmp_path / "server"
    with open(tmp_path / "server.log", "wb") as log:
        server = subprocess.Popen([AX_SERVER, "--listen", "127.0.0.1:0", "--state", state], stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=log)
    try:
        said = wait_for(lambda: re.search(r"AX listens on (\S+)", (tmp_path / "server.log").read_text()))
        worker = start_worker(said[1])
        assert worker.wait_log("registration_refused")[0]["http_status"] == 503
        assert worker.process.poll() is None
        wait_for(lambda: (state / "setup-token").exists())
        (tmp_path / "password").write_text("correct horse battery\n")
        subprocess.run([AXCTL, "setup", "--server", said[1], "--token-file", state / "setup-token", "--user", "admin",
                        "--password-file", tmp_path / "password"], check=True, timeout=30, capture_output=True)
        assert worker.end() == 3
    finally:
        server.terminate()
        server.wait(20)
