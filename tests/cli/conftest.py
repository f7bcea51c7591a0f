import json
import os
import pathlib
import subprocess

import pytest

from fake_server import FakeServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("AX_BUILD", ROOT / "build"))


class Axctl:
    """Runs axctl against the fake server: axctl("task", "list") -> result with code, out, err, json."""

    def __init__(self, server, home):
        self.server, self.home = server, home

    def env(self, **more):
        keep = {k: v for k, v in os.environ.items() if not k.startswith("AX_")}
        return {**keep, "HOME": str(self.home), "LC_ALL": "C.UTF-8", **more}

    def __call__(self, *args, code=0, input=None, env=None, server=True):
        if env is None:
            env = {"AX_SERVER": self.server.url, "AX_TOKEN": "axp_test"} if server else {}
        args = [a if isinstance(a, bytes) else str(a) for a in args]
        done = subprocess.run([BUILD / "src/cli/axctl", *args], capture_output=True, text=True, errors="surrogateescape", input=input,
                              stdin=subprocess.DEVNULL if input is None else None,
                              env=self.env(**env), cwd=self.home, timeout=60)
        assert done.returncode == code, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return Result(done)


class Result:
    def __init__(self, done):
        self.code, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def server():
    fake = FakeServer()
    yield fake
    fake.close()


@pytest.fixture
def axctl(server, tmp_path):
    return Axctl(server, tmp_path)
