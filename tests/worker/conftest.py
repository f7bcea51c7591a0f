import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parents[1] / "lib")]

from fake_server import TOKEN, FakeServer  # noqa: E402
from shim import BUILD, Shim, wait_for  # noqa: E402

AX_WORKER = BUILD / "src/worker/ax-worker"


class Worker:
    """An ax-worker; its log lines are parsed as they are asked for."""

    def __init__(self, tmp, server, *options, dev=True, policy=None, env=None, name="w1"):
        self.state = Path(options[options.index("--state") + 1]) if "--state" in options else tmp / f"state-{name}"
        self.log_path = tmp / f"log-{name}"
        token = tmp / "token"
        token.write_text(TOKEN + "\n")
        args = [str(AX_WORKER), "--server", server if isinstance(server, str) else server.url, "--token-file", str(token),
                "--name", name, "--journal", str(tmp / f"journal-{name}"), *map(str, options)]
        self.journal = tmp / f"journal-{name}"
        if "--state" not in options:
            args += ["--state", str(self.state)]
        if dev:
            args.append("--dev")
        if policy is not None:
            (tmp / "policy.json").write_text(json.dumps(policy))
            args += ["--policy", str(tmp / "policy.json")]
        self.args = args
        self.env = {"PATH": os.environ["PATH"], **(env or {})}
        for name in ("ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        self.start()

    def start(self):
        with open(self.log_path, "ab") as log:
            self.process = subprocess.Popen(self.args, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def log(self, event=None):
        lines = []
        for line in self.log_path.read_text(errors="replace").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                lines.append({"event": None, "text": line})
        return [entry for entry in lines if event is None or entry.get("event") == event]

    def wait_log(self, event, seconds=10):
        return wait_for(lambda: self.log(event), seconds)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def end(self, seconds=15):
        return self.process.wait(seconds)

    def stop(self):
        for _ in range(40):  # the second one makes haste; two at once would be one
            if self.process.poll() is not None:
                break
            self.process.terminate()
            try:
                self.process.wait(0.5)
            except subprocess.TimeoutExpired:
                pass
        else:
            self.kill()
        text = self.log_path.read_text(errors="replace")
        assert "Sanitizer" not in text and "runtime error" not in text, text[-4000:]

    def has_stored(self, gid):
        """Its result is in the spool, or was."""
        journal = self.journal.read_text() if self.journal.exists() else ""
        return f'"event":"end","gid":"{gid}"' in journal

    def attempts(self):
        folder = self.state / "attempts"
        return sorted(p.name for p in folder.iterdir()) if folder.exists() else []


@pytest.fixture(autouse=True)
def end_shims():
    yield
    for process in Shim.live:
        if process.poll() is None:
            process.terminate()
            process.wait(20)
    Shim.live.clear()


@pytest.fixture
def server():
    fake = FakeServer()
    yield fake
    if fake.httpd:
        fake.close()
    assert not fake.faults


@pytest.fixture
def quick_server():
    """The protocol's durations divided by twenty, so that leases run out within a test."""
    fake = FakeServer(heartbeat_ms=300, unreachable_ms=1500, lease_ms=2250, poll_wait_ms=250)
    yield fake
    if fake.httpd:
        fake.close()
    assert not fake.faults


@pytest.fixture
def start_worker(tmp_path):
    started = []

    def start(server, *options, **more):
        worker = Worker(tmp_path, server, *options, **more)
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.stop()
