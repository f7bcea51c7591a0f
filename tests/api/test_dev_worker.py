"""The real worker with the real server, as `ax-server --dev` brings them together."""

import json
import os
import pathlib
import signal
import subprocess

import pytest

from ax_server import BUILD, wait_for

AX_WORKER = BUILD / "src/worker/ax-worker"
pytestmark = pytest.mark.skipif(not AX_WORKER.exists(), reason="ax-worker is not built")


@pytest.fixture
def dev(start_server):
    server = start_server("--dev")
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
    incarnation = dev.worker["incarnation"]
    dev.stop()
    assert [event["worker"] for event in dev.events("ended")] == [dev.worker["worker"]]
    dev.start()
    dev.admin.token = json.loads((dev.state / "dev.json").read_text())["token"]
    wait_for(lambda: dev.admin.get("/api/v1/workers").ok()["items"][0]["incarnation"] != incarnation)


def test_a_worker_that_is_killed_is_replaced(dev):
    gid = run_script(dev, "sleep 4", timeout_seconds=0)  # by the end of it the worker has lived long enough to be replaced
    wait_state(dev, gid, "SUCCESS")
    children = [int(pid) for pid in pathlib.Path(f"/proc/{dev.process.pid}/task/{dev.process.pid}/children").read_text().split()]
    assert len(children) == 1
    os.kill(children[0], signal.SIGKILL)
    wait_for(lambda: dev.admin.get("/api/v1/workers").ok()["items"][0]["incarnation"] != dev.worker["incarnation"])
    wait_state(dev, run_script(dev, "true", task_name="again"), "SUCCESS")


def test_another_incarnation_takes_over(dev, tmp_path):
    token = dev.state / "dev-worker.token"
    second = subprocess.Popen([str(AX_WORKER), "--dev", "--server", dev.url, "--token-file", str(token), "--state", str(tmp_path / "w"),
                               "--name", dev.worker["worker"]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        ended = wait_for(lambda: dev.events("dev_worker_ended"), 15)
        assert ended[0]["level"] == "warn"
    finally:
        second.terminate()
        second.wait(20)
