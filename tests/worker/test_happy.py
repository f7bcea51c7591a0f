"""A run from the poll to the result."""

import json
import os
import signal

import pytest

from shim import wait_for


# R9
def test_process_task_end_to_end(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": ["/bin/sh", "-c", "echo hello; echo $AX_GID $AX_ATTEMPT $AX_FENCE $AX_TASK $AX_PARAMS"]},
                      params={"day": "2026-11-29"})
    result = server.result(gid)
    assert (result["outcome"], result["code"], result["fence"]) == ("success", 0, 1)
    assert result["duration_ms"] >= 1
    assert server.said(gid, "started")
    assert server.output(gid) == f'hello\n{gid} 1 1 nightly {{"day":"2026-11-29"}}\n'
    wait_for(lambda: worker.attempts() == [])
    receipt = worker.log("run_received")[0]
    assert {k: receipt[k] for k in ("task_id", "gid", "attempt", "fence", "worker")} == {
        "task_id": "42", "gid": gid, "attempt": 1, "fence": 1, "worker": "w1"}
    registration = server.registrations[0]
    assert registration["groups"] == [{"group": "default"}] and "exec" in registration["executors"]


def test_the_journal_tells_what_was_begun_ended_and_told(server, start_worker):
    worker = start_worker(server)
    for script, outcome in (("true", "success"), ("exit 3", "failed")):
        for given, verdict in (("applied", "taken"), ("late", "late"), ("duplicate", "taken"), ("stop", "taken")):
            server.verdict = lambda item, given=given: given if item["type"] == "result" else "applied"
            gid = server.give(param={"script": script})
            assert server.result(gid)["outcome"] == outcome
            wait_for(lambda: f'"event":"told","gid":"{gid}"' in worker.journal.read_text())
            lines = [line for line in map(json.loads, worker.journal.read_text().splitlines()) if line["gid"] == gid]
            assert [line["event"] for line in lines] == ["start", "end", "told"]
            assert (lines[1]["outcome"], lines[2]["verdict"], lines[2]["fence"]) == (outcome, verdict, 1)


UPSTREAM = [{"task_id": "7", "task_name": "load 日", "gid": "71", "status": "SUCCESS", "result": {"rows": 3}, "result_omitted": False}]


def test_a_process_sees_what_it_follows(server, start_worker):
    start_worker(server)
    gid = server.give(param={"script": 'echo "$AX_UPSTREAM"'}, upstream=UPSTREAM)
    assert server.result(gid)["outcome"] == "success"
    assert json.loads(server.output(gid)) == UPSTREAM
    largest = [{**UPSTREAM[0], "task_name": '"' * 128, "gid": str(i), "result": "x" * 1300} for i in range(50)]
    gid = server.give(param={"script": 'printf %s "$AX_UPSTREAM" | wc -c'}, upstream=largest)
    assert server.result(gid)["outcome"] == "success" and int(server.output(gid)) > 65536
    gid = server.give(param={"script": "echo ${AX_UPSTREAM-none}"}, upstream=[])
    assert server.result(gid)["outcome"] == "success" and server.output(gid) == "none\n"


def test_script_with_environment(server, start_worker):
    start_worker(server)
    gid = server.give(param={"script": "echo $GREETING; pwd; cat; exit 4", "env": {"GREETING": "hi", "PATH": "/bin"},
                             "cwd": "/tmp", "stdin": "from stdin"})
    result = server.result(gid)
    assert (result["outcome"], result["code"]) == ("failed", 4)
    assert result["message"] == "exit status 4: from stdin"
    assert server.output(gid) == "hi\n/tmp\nfrom stdin"


def test_a_process_tells_its_progress(server, start_worker, tmp_path):
    start_worker(server)
    fifo = tmp_path / "go"
    os.mkfifo(fifo)
    script = f"""for words in "10% page one" "page two" "90" "101 x"; do echo "$words" >"$AX_PROGRESS"; read line <{fifo}; done"""
    gid = server.give(param={"argv": ["/bin/sh", "-c", script]})
    for percent, message in ((10, "page one"), (10, "page two"), (90, ""), (90, "101 x")):
        wait_for(lambda: [(i["percent"], i.get("message", "")) for i in server.said(gid, "progress")][-1:] == [(percent, message)])
        fifo.write_text("go\n")
    assert server.result(gid)["outcome"] == "success"


def test_empty_output_sends_nothing(server, start_worker):
    start_worker(server)
    gid = server.give(param={"argv": ["/bin/true"]})
    assert server.result(gid)["outcome"] == "success"
    assert server.said(gid, "output") == []


@pytest.mark.parametrize("sign", [signal.SIGTERM, signal.SIGHUP])  # HUP: its terminal is gone
def test_term_drains_and_leaves(server, start_worker, sign):
    worker = start_worker(server)
    gid = server.give(param={"script": "sleep 0.7"})
    server.wait_said(gid, "started")
    worker.process.send_signal(sign)
    assert worker.end() == 0
    assert server.result(gid, 0.1)["outcome"] == "success"
    assert server.leaves


def test_hundred_tasks(server, start_worker):
    worker = start_worker(server, "--groups", "default:20")
    gids = [server.give(param={"argv": ["/bin/echo", str(i)]}) for i in range(100)]
    for i, gid in enumerate(gids):
        assert server.result(gid)["outcome"] == "success"
        assert server.output(gid) == f"{i}\n"
    assert all(f["slots"] <= 60 for p in server.polls for f in p["free"])
    wait_for(lambda: worker.attempts() == [])
    assert len(os.listdir(f"/proc/{worker.process.pid}/fd")) < 40
