"""The real worker with the real server, as `ax-server --dev` brings them together."""

import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

import ax_server
from ax_server import AX_SERVER, BUILD, wait_for

AX_WORKER = BUILD / "src/worker/ax-worker"
pytestmark = pytest.mark.skipif(not AX_WORKER.exists(), reason="ax-worker is not built")


@pytest.fixture
def dev(start_server, tmp_path):
    server = start_server("--dev", env={"AX_JOURNAL": str(tmp_path / "journal")})
    server.journal = tmp_path / "journal"  # the worker's
    server.admin = server.client(json.loads((server.state / "dev.json").read_text())["token"])
    server.worker = wait_for(lambda: server.admin.get("/api/v1/workers").ok()["items"])[0]
    return server


def run_script(dev, script, **fields):
    task = dev.admin.post("/api/v1/tasks", {"task_name": "t", "task_type": "delay", "executor_key": "exec",
                                            "biz_param": {"script": script}, **fields}).ok(201)
    assert task["warnings"] == []
    return dev.admin.post(f"/api/v1/tasks/{task['id']}/runs").ok(201)["gid"]


def wait_state(dev, gid, *states):
    return wait_for(lambda: (lambda run: run if run["status"] in states else None)(dev.admin.get(f"/api/v1/runs/{gid}").ok()))


def wait_next_worker(dev):
    wait_for(lambda: dev.admin.get("/api/v1/workers").ok()["items"][0]["incarnation"] != dev.worker["incarnation"])


def test_a_script_runs(dev):
    gid = run_script(dev, "echo hello $AX_GID; echo over >&2")
    run = wait_state(dev, gid, "SUCCESS", "FAILED")
    assert run["status"] == "SUCCESS" and run["result_code"] == 0
    text = wait_for(lambda: "".join(chunk["data"] for chunk in dev.admin.get(f"/api/v1/runs/{gid}/output").ok()["chunks"]))
    assert f"hello {gid}" in text


def test_a_running_script_is_cancelled(dev):
    gid = run_script(dev, "sleep 600", timeout_seconds=0)
    wait_state(dev, gid, "RUNNING")
    dev.admin.post(f"/api/v1/runs/{gid}/cancel").ok()
    assert wait_state(dev, gid, "CANCELLED")["cancel"] == "stopped"


def test_the_worker_ends_with_the_server(dev):
    dev.stop()
    assert [event["worker"] for event in dev.events("ended")] == [dev.worker["worker"]]
    dev.start()
    dev.admin.token = json.loads((dev.state / "dev.json").read_text())["token"]
    wait_next_worker(dev)


def worker_of(server):
    """The process id of its only child."""
    children = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text().split()
    assert len(children) == 1
    return int(children[0])


def start_again(dev, port):
    """Killed, as by a crash, and at once there again."""
    dev.kill()
    dev.options[dev.options.index("--listen") + 1] = f"127.0.0.1:{port}"
    dev.start()
    dev.admin.token = json.loads((dev.state / "dev.json").read_text())["token"]


def test_a_worker_that_is_killed_is_replaced(dev):
    os.kill(worker_of(dev), signal.SIGKILL)
    wait_next_worker(dev)
    wait_state(dev, run_script(dev, "true"), "SUCCESS")


def test_a_worker_waits_for_the_one_of_a_killed_server(dev):
    """That one holds the state folder for as long as it is there: the new server's ends, until it is gone."""
    old = worker_of(dev)
    os.kill(old, signal.SIGSTOP)
    try:
        start_again(dev, dev.port)
        wait_for(lambda: dev.log.read_text().count("another worker uses the state folder") >= 3, 20)
    finally:
        os.kill(old, signal.SIGCONT)
    wait_next_worker(dev)
    wait_state(dev, run_script(dev, "true"), "SUCCESS")
    assert [event["exit_status"] for event in dev.events("dev_worker_ended")] == [1]  # the others are no news


@pytest.mark.parametrize("same_port", [True, False])
def test_a_result_that_a_killed_server_did_not_take_is_told_to_the_next(dev, tmp_path, same_port):
    """By its own worker, which finds the new server where the old one was, or by the next."""
    gid = run_script(dev, f"until [ -e {tmp_path}/go ]; do sleep 0.02; done; echo done", timeout_seconds=0)
    wait_state(dev, gid, "RUNNING")
    os.kill(dev.process.pid, signal.SIGSTOP)
    (tmp_path / "go").touch()
    wait_for(lambda: f'"event":"end","gid":"{gid}"' in dev.journal.read_text())  # the result is in the spool
    start_again(dev, dev.port if same_port else 0)
    assert wait_state(dev, gid, "SUCCESS")["attempt"] == 1
    output = dev.admin.get(f"/api/v1/runs/{gid}/output").ok()["chunks"]
    assert "".join(chunk["data"] for chunk in output) == "done\n"
    wait_next_worker(dev)


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Where a server looks for its worker."""
    shutil.copy(AX_SERVER, tmp_path)
    monkeypatch.setattr(ax_server, "AX_SERVER", tmp_path / "ax-server")
    return tmp_path / "ax-worker"


def test_a_worker_whose_server_is_killed_while_it_starts_ends(start_server, beside):
    beside.write_text(f'#!/bin/sh\nwhile kill -0 "${{1#--dev=}}"; do sleep 0.02; done\nexec {AX_WORKER} "$@"\n')
    beside.chmod(0o755)
    server = start_server("--dev")
    worker_of(server)
    server.kill()
    wait_for(lambda: "ax-worker: the process that it is to end with is gone" in server.log.read_text())


def test_a_worker_that_is_not_there_yet_is_started_later(start_server, beside):
    server = start_server("--dev", env={"PATH": "/nowhere"})
    wait_for(lambda: server.events("dev_worker_not_started"))
    beside.symlink_to(AX_WORKER)
    admin = server.client(json.loads((server.state / "dev.json").read_text())["token"])
    wait_for(lambda: admin.get("/api/v1/workers").ok()["items"])
    assert len(server.events("dev_worker_not_started")) == 1


def test_a_worker_that_is_asked_to_end_is_not_replaced(dev):
    os.kill(worker_of(dev), signal.SIGTERM)
    ended = wait_for(lambda: dev.events("dev_worker_ended"))
    assert ended[0]["exit_status"] == 0 and "asked to end" in ended[0]["message"]


def test_another_incarnation_takes_over(dev, tmp_path):
    token = dev.state / "dev-worker.token"
    second = subprocess.Popen([str(AX_WORKER), "--dev", "--server", dev.url, "--token-file", str(token), "--state", str(tmp_path / "w"),
                               "--name", dev.worker["worker"]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        ended = wait_for(lambda: dev.events("dev_worker_ended"), 15)
        assert ended[0]["level"] == "warn" and "name" in ended[0]["message"]
    finally:
        second.terminate()
        second.wait(20)
