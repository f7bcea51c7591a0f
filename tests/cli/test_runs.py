import json
import threading

import pytest

from fake_server import problem

GID = "900719925474099301"
RUN = {"gid": GID, "task_id": "17", "task_name": "nightly", "group_key": "default", "kind": "schedule",
       "status": "RUNNING", "reason": None, "waiting_for": None, "trigger_time": 1764451200000, "attempt": 1, "fence": 1,
       "worker": "w1", "result_code": None, "result_msg": None, "duration_ms": None}
FAILED = {**RUN, "status": "FAILED", "reason": "exit", "result_code": 3, "result_msg": "exit status 3",
          "duration_ms": 1234}


def chunk(seq, data, fence=1):
    return {"fence": fence, "seq": seq, "time": 1764451200000, "data": data}


def event(name, value):
    return f"event: {name}\ndata: {json.dumps(value)}\n\n".encode()


def test_list(server, axctl):
    server.on("GET", "/tasks", {"items": [{"id": "17"}], "next": None})
    server.on("GET", "/runs", {"items": [RUN, FAILED], "next": None})
    out = axctl("run", "list", "--task", "default/nightly", "--group", "g", "--status", "FAILED,TIMEOUT", "--kind",
                "schedule", "--worker", "w1", "--from", "2025-11-29T21:20:00Z", "--to", 1764451200001, "--live").out
    assert server.requests[-1].query == {
        "task_id": "17", "group_key": "g", "status": "FAILED,TIMEOUT", "kind": "schedule", "worker": "w1",
        "from": "1764451200000", "to": "1764451200001", "live": "true", "limit": "50"}
    assert GID in out and "exit 3" in out and "1.2s" in out and "2025-11-29T21:20:00Z" in out
    assert len(axctl("run", "list", "--json").json["items"]) == 2
    assert GID in axctl("run", "list", "--batch", "900719925474099300").out
    assert server.requests[-1].query == {"batch": "900719925474099300", "limit": "50"}


def pages(server, path, items, per_page=200):
    """A list that answers page by page, newest first; the cursor is where the next page begins."""
    def page(request):
        at, limit = int(request.query.get("after", 0)), min(int(request.query.get("limit", 50)), per_page)
        return {"items": items[at:at + limit], "next": str(at + limit) if at + limit < len(items) else None}
    server.on("GET", path, page)


def test_json_of_a_list_has_all_pages(server, axctl):
    runs = [{**RUN, "gid": str(n), "result_msg": 'two\nlines, "quoted"'} for n in range(450)]
    pages(server, "/runs", runs)
    result = axctl("run", "list", "--json")
    assert result.json == {"items": runs, "next": None}
    assert [r.query for r in server.requests] == [{"limit": "200"}, {"limit": "200", "after": "200"}, {"limit": "200", "after": "400"}]
    assert result.out == json.dumps({"items": runs, "next": None}, indent=2, ensure_ascii=False) + "\n"
    assert axctl("run", "list", "--json", "--limit", 0).json["items"] == runs
    assert axctl("run", "list", "--json", "--limit", 250).json == {"items": runs[:250], "next": "250"}
    assert len(axctl("run", "list").out.splitlines()) == 1 + 50 + 1
    assert len(axctl("run", "list", "--limit", 0).out.splitlines()) == 1 + 450
    pages(server, "/runs", [])
    assert axctl("run", "list", "--json").out == '{\n  "items": [],\n  "next": null\n}\n'


def test_all_lists_have_all_pages(server, axctl):
    server.on("GET", "/tasks/17", {"id": "17"})
    server.on("GET", "/channels", {"items": [{"id": "7", "name": "ops"}], "next": None})
    for path, *command in (("/alerts", "alert", "list"), ("/failures", "failure", "list"), ("/backfills", "backfill", "list"),
                           ("/events", "event", "list"), ("/audit/log", "changes"), ("/channels/7/deliveries", "channel", "deliveries", "ops"),
                           ("/tasks", "task", "list"), ("/tasks/17/versions", "task", "versions", "17"),
                           ("/calendars/c/versions", "calendar", "versions", "c")):
        items = [{"id": str(n)} for n in range(120)]
        pages(server, path, items, per_page=50)
        assert axctl(*command, "--json").json["items"] == items, command
        if "versions" not in command:
            assert len(axctl(*command, "--limit", 0).out.splitlines()) == 121, command


def test_a_list_that_breaks_off_is_no_json(server, axctl):
    server.on("GET", "/runs", lambda r: problem(503, "busy", "Later.") if "after" in r.query else {"items": [RUN], "next": "more"})
    result = axctl("run", "list", "--json", code=3)
    assert "Later." in result.err and GID in result.out and not result.out.rstrip().endswith("}\n}")
    with pytest.raises(json.JSONDecodeError):
        result.json
    server.on("GET", "/runs", problem(503, "busy", "Later."))
    assert axctl("run", "list", "--json", code=3).out == ""


def test_show(server, axctl):
    server.on("GET", "/runs/" + GID, {**FAILED, "attempts": [
        {"attempt": 1, "fence": 1, "worker": "w1", "start_time": 1764451200000, "end_time": 1764451201000,
         "outcome": "failed", "code": 3, "message": "exit status 3", "late": None}],
        "timeline": [{"time": 1764451200000, "event": "claimed", "text": "given to w1"}]})
    out = axctl("run", "show", GID).out
    assert "attempts" in out and "timeline" in out and "given to w1" in out and "exit status 3" in out
    assert axctl("run", "show", GID, "--json").json["attempts"][0]["code"] == 3
    axctl("run", "show", "1", code=5)


def test_shards(server, axctl):
    parent = {**RUN, "worker": None, "shard": None, "parent": None, "shards": {
        "spread": "shards", "total": 8, "failed_only": False, "count": 8, "done": 5, "states": {"SUCCESS": 5, "RUNNING": 3}}}
    shard = {**FAILED, "gid": "7", "parent": GID, "shard": {"index": 3, "total": 8}, "shards": None}
    server.on("GET", "/runs", {"items": [parent], "next": None})
    assert "5 of 8 done" in axctl("run", "list").out
    server.on("GET", "/runs", {"items": [shard], "next": None})
    assert "schedule 3/8" in axctl("run", "list", "--parent", GID).out
    assert server.requests[-1].query["parent"] == GID
    server.on("GET", "/runs/" + GID, {**parent, "attempts": [], "timeline": []})
    out = axctl("run", "show", GID).out
    assert server.requests[-1].query["parent"] == GID and "SUCCESS" not in server.requests[-1].query["status"].split(",")
    assert "schedule 3/8" in out and "did not succeed" in out
    server.on("POST", f"/runs/{GID}/rerun", {**RUN, "gid": "8"})
    axctl("run", "rerun", GID, "--failed-only", "--reason", "disk is back")
    assert server.requests[-1].body == {"failed_only": True, "reason": "disk is back"}
    axctl("run", "rerun", GID)
    assert server.requests[-1].body == {}


def test_log(server, axctl):
    server.on("GET", "/runs/" + GID, FAILED)
    server.on("GET", f"/runs/{GID}/output", {"chunks": [chunk(0, "a\n"), chunk(1, "\x1b[1mb\n")], "truncated": False,
                                             "live": False})
    assert axctl("run", "log", GID).out == "a\n\x1b[1mb\n"  # a pipe gets the bytes as they are
    axctl("run", "log", GID, "--fence", 2)
    assert server.requests[-1].query == {"fence": "2"}
    assert [json.loads(l)["seq"] for l in axctl("run", "log", GID, "--json").out.splitlines()] == [0, 1]


def test_log_of_a_parent_is_that_of_its_shards(server, axctl):
    server.on("GET", "/runs/" + GID, {**FAILED, "shards": {"total": 2}})
    shards = [{**FAILED, "gid": str(n), "status": "SUCCESS", "fence": 1, "shard": {"index": n, "total": 2}} for n in (2, 1)]
    server.on("GET", "/runs", {"items": shards, "next": None})
    for n in (1, 2):
        server.on("GET", f"/runs/{n}/output", {"chunks": [chunk(0, f"part {n}\n", 1)], "truncated": False, "live": False})
    assert axctl("run", "log", GID).out == (
        "==> shard 1 of 2: run 1, SUCCESS <==\npart 1\n==> shard 2 of 2: run 2, SUCCESS <==\npart 2\n")
    lines = [json.loads(line) for line in axctl("run", "log", GID, "--json").out.splitlines()]
    assert [(line["gid"], line["data"]) for line in lines] == [("1", "part 1\n"), ("2", "part 2\n")]
    assert "follow one of them" in axctl("run", "log", GID, "-f", code=2).err


def test_log_reads_all_attempts_and_pages(server, axctl):
    kept = [chunk(0, "a"), chunk(1, "b"), chunk(2, "c"), chunk(0, "d", 3), chunk(1, "e", 3)]

    def output(request):
        rest = [c for c in kept if c["fence"] == int(request.query["fence"])
                and c["seq"] > int(request.query.get("after_seq", -1))]
        return {"chunks": rest[:2], "more": len(rest) >= 2, "truncated": request.query["fence"] == "3", "live": False}

    server.on("GET", "/runs/" + GID, {**FAILED, "fence": 3})
    server.on("GET", f"/runs/{GID}/output", output)
    result = axctl("run", "log", GID)
    assert result.out == "abcde" and "middle is missing" in result.err
    assert axctl("run", "log", GID, "--fence", 3).out == "de"


def follow_server(server, end):
    """A run whose output grows while it is streamed; chunk 2 is never streamed, so it must be asked for."""
    state = {"status": "RUNNING", "chunks": [chunk(0, "zero ")]}

    def output(request):
        chunks = [c for c in state["chunks"] if c["seq"] > int(request.query.get("after_seq", -1))]
        return {"chunks": chunks, "truncated": False, "live": state["status"] == "RUNNING"}

    def live(request):
        yield b": hello\n\n"
        yield event("state", RUN)
        state["chunks"].append(chunk(1, "one "))
        yield event("output", chunk(1, "one "))
        state["chunks"] += [chunk(2, "two "), chunk(3, "three\n")]
        yield event("output", chunk(3, "three\n"))
        state["status"] = end
        yield event("state", {**FAILED, "status": end})

    server.on("GET", "/runs/" + GID, lambda r: {**RUN, "status": state["status"]})
    server.on("GET", f"/runs/{GID}/output", output)
    server.on("GET", f"/runs/{GID}/live", live)


def test_log_follow_streams(server, axctl):
    for end, code in (("SUCCESS", 0), ("FAILED", 1), ("TIMEOUT", 1)):
        follow_server(server, end)
        assert axctl("run", "log", GID, "--follow", code=code).out == "zero one two three\n"


def test_log_follow_over_retries(server, axctl):
    state = {"status": "RETRYING", "fence": 1, "chunks": [chunk(0, "first\n")]}

    def live(request):
        state.update(status="RUNNING", fence=2)
        state["chunks"].append(chunk(0, "second\n", 2))
        yield event("output", chunk(0, "second\n", 2))
        state["status"] = "SUCCESS"
        yield event("state", {**RUN, "status": "SUCCESS"})

    server.on("GET", "/runs/" + GID, lambda r: {**RUN, "status": state["status"], "fence": state["fence"]})
    server.on("GET", f"/runs/{GID}/output", lambda r: {
        "chunks": [c for c in state["chunks"] if "fence" not in r.query or str(c["fence"]) == r.query["fence"]
                   and c["seq"] > int(r.query.get("after_seq", -1))], "truncated": False, "live": True})
    server.on("GET", f"/runs/{GID}/live", live)
    assert axctl("run", "log", GID, "-f").out == "first\nsecond\n"


def test_log_follow_without_a_stream_asks_again(server, axctl):
    state = {"asked": 0}

    def run(request):
        state["asked"] += 1
        return {**RUN, "status": "RUNNING" if state["asked"] < 3 else "SUCCESS"}

    server.on("GET", "/runs/" + GID, run)
    server.on("GET", f"/runs/{GID}/output", lambda r: {
        "chunks": [chunk(i, f"{i}\n") for i in range(state["asked"]) if i > int(r.query.get("after_seq", -1))],
        "truncated": False, "live": True})
    server.on("GET", f"/runs/{GID}/live", problem(503, "unavailable", "No streams today."))
    result = axctl("run", "log", GID, "--follow")
    assert result.out == "0\n1\n2\n" and result.err == ""


def test_cancel_retry_rerun(server, axctl):
    server.on("POST", f"/runs/{GID}/cancel", {**RUN, "status": "RUNNING", "reason": "cancelled", "cancel": "asked"})
    server.on("POST", f"/runs/{GID}/retry", problem(409, "conflict", "It is not RETRYING."))
    server.on("POST", f"/runs/{GID}/rerun", (201, {**RUN, "gid": "7", "rerun_of": GID}))
    server.on("GET", "/runs/7", {**FAILED, "gid": "7"})
    assert "(cancel asked)" in axctl("run", "cancel", GID, "--reason", "wrong day").out
    assert server.requests[-1].body == {"reason": "wrong day"}
    axctl("run", "retry", GID, "--reason", "disk is back", code=6)
    assert server.requests[-1].body == {"reason": "disk is back"}
    assert axctl("run", "rerun", GID, "--json").json["rerun_of"] == GID
    assert "FAILED (exit)" in axctl("run", "rerun", GID, "--wait", code=1).out
    server.on("GET", "/runs/" + GID, {**RUN, "status": "CANCELLED"})
    assert "CANCELLED" in axctl("run", "cancel", GID, "--wait").out


def test_resolve(server, axctl):
    server.on("POST", f"/runs/{GID}/resolve", {"run": {**RUN, "status": "MISSED"}, "runs": [{**RUN, "gid": "8"}]})
    out = axctl("run", "resolve", GID, "run_all", "--note", "late delivery").out
    assert server.requests[-1].body == {"action": "run_all", "note": "late delivery"}
    assert "MISSED" in out and "run 8 of" in out


def test_why(server, axctl):
    why = {"subject": f"run {GID} of default/nightly", "answer": "No worker is online.", "verdict": "worker",
           "steps": [{"time": 1764451200000, "mark": "ok", "code": "fire", "text": "It stands for \x1b[1ma fire."},
                     {"time": None, "mark": "fail", "code": "worker", "text": "No worker is online."}]}
    server.on("GET", f"/runs/{GID}/why", why)
    lines = axctl("why", GID).out.splitlines()
    assert lines[0] == f"run {GID} of default/nightly: worker" and lines[1] == "  No worker is online."
    assert lines[3].split() == ["ok", "2025-11-29T21:20:00Z", "fire:", "It", "stands", "for", "\ufffd[1ma", "fire."]
    assert lines[4].split()[:2] == ["FAIL", "worker:"]
    assert axctl("why", GID, "--json").json == why
    assert "--at" in axctl("why", GID, "--at", "now", code=2).err
    server.on("GET", "/tasks", {"items": [{"id": "17"}], "next": None})
    server.on("GET", "/tasks/17/why", {**why, "subject": "task default/nightly"})
    assert axctl("why", "default/nightly", "--at", "2025-11-29T21:20:00Z").out.startswith("task default/nightly: worker")
    assert server.requests[-1].query == {"at": "1764451200000"}
    axctl("why", "nightly")
    assert server.requests[-1].query == {}
    axctl("why", GID[:-1], code=5)
    axctl("why", code=2)


def test_change(server, axctl):
    server.on("PATCH", "/runs/7", {**RUN, "gid": "7", "status": "PENDING"})
    axctl("run", "change", "7", "--delay", "90s", "--params", '{"a":1}')
    assert server.requests[-1].body == {"delay_ms": 90000, "params": {"a": 1}}
    axctl("run", "change", "7", code=2)


def test_many(server, axctl, tmp_path):
    server.on("GET", "/tasks/17", {"id": "17"})
    server.on("POST", "/tasks/17/runs/batch", lambda r: {"items": [{"gid": "1", "trigger_time": 1, "existed": i == 0} for i in range(len(r.body["runs"]))]})
    (tmp_path / "runs.json").write_text("[" + ",".join(['{"delay_ms":5}'] * 1500) + "]")
    assert axctl("task", "trigger", "17", "--runs", str(tmp_path / "runs.json")).out == "1498 runs made, 2 were there already\n"
    assert [len(r.body["runs"]) for r in server.requests if r.body] == [1000, 500]
    assert len(axctl("task", "trigger", "17", "--runs", "runs.json", "--json").json["items"]) == 1500
    sent = len(server.requests)
    for option in (["--wait"], ["--wait-seconds", 5], ["--dedup-key", "k"], ["--params", "{}"], ["--delay", "5s"], ["--key", "k"]):
        assert f"{option[0]}: is for one run" in axctl("task", "trigger", "17", "--runs", "runs.json", *option, code=2).err
    assert len(server.requests) == sent


def test_what_was_made_is_said_when_the_rest_is_refused(server, axctl, tmp_path):
    server.on("GET", "/tasks/17", {"id": "17"})
    server.on("POST", "/tasks/17/runs/batch", lambda r: {"items": [{"gid": "1", "existed": False}] * 1000} if len(r.body["runs"]) == 1000
              else problem(503, "busy", "Later."))
    (tmp_path / "runs.json").write_text("[" + ",".join(["{}"] * 1500) + "]")
    assert axctl("task", "trigger", "17", "--runs", "runs.json", code=3).out == "1000 runs made, 0 were there already\n"
    assert len(axctl("task", "trigger", "17", "--runs", "runs.json", "--json", code=3).json["items"]) == 1000
    server.on("POST", "/tasks/17/runs/batch", lambda r: {"items": [{"gid": "1", "existed": False}] * 1000} if len(r.body["runs"]) == 1000
              else problem(400, "invalid", "Too soon.", "runs[7].delay_ms"))
    assert "runs[7] is entry 1007 of the file" in axctl("task", "trigger", "17", "--runs", "runs.json", code=2).err
    (tmp_path / "runs.json").write_text("[{}]")
    assert "entry" not in axctl("task", "trigger", "17", "--runs", "runs.json", code=2).err
    assert axctl("task", "trigger", "17", "--runs", "runs.json", "--json", code=2).out == ""
    (tmp_path / "runs.json").write_text("[]")
    assert axctl("task", "trigger", "17", "--runs", "runs.json").out == "0 runs made, 0 were there already\n"
