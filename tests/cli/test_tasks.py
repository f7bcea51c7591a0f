import json
import threading
import time

from fake_server import problem

TASK = {"id": "17", "group_key": "default", "task_name": "nightly", "task_type": "scheduled", "status": "enabled",
        "cron_expr": "30 2 * * *", "dialect": None, "time_zone": "Europe/Berlin", "executor_key": "exec",
        "biz_param": {"argv": ["/opt/report"]}, "timeout_seconds": 60, "retry_count": 3, "priority": 5, "version": 3,
        "next_trigger_time": 1764465000000, "last_run": {"gid": "123", "status": "SUCCESS"}, "exhausted": False,
        "schedule_text": "at 02:30 every day", "warnings": [{"code": "no_worker", "text": "no worker offers executor `exec`", "params": {}}]}
RUN = {"gid": "900719925474099301", "task_id": "17", "task_name": "nightly", "group_key": "default", "kind": "manual",
       "status": "WAITING", "reason": None, "waiting_for": "claim", "attempt": 0}


def test_list_follows_pages(server, axctl):
    def pages(request):
        if "after" not in request.query:
            return {"items": [TASK], "next": "c1"}
        if request.query["after"] == "c1":
            return {"items": [], "next": "c 2&"}
        return {"items": [{**TASK, "id": "18", "task_name": "夜间报告", "last_run": None}], "next": None}
    server.on("GET", "/tasks", pages)
    out = axctl("task", "list", "--group", "default", "--status", "enabled", "--type", "scheduled",
                "--calendar", "china", "-q", "a b").out
    assert [r.query.get("after") for r in server.requests] == [None, "c1", "c 2&"]
    assert server.requests[0].query == {"group_key": "default", "status": "enabled", "task_type": "scheduled",
                                        "calendar": "china", "q": "a b"}
    lines = out.splitlines()
    assert lines[0].split() == ["ID", "TASK", "STATUS", "SCHEDULE", "NEXT", "LAST", "RUN"]
    assert "30 2 * * * (Europe/Berlin)" in lines[1] and "2025-11-30T01:10:00Z" in lines[1] and "SUCCESS" in lines[1]
    assert lines[2].index("enabled") == lines[1].index("enabled") - 4  # four wide characters, eight columns
    assert [t["id"] for t in axctl("task", "list", "--json").json["items"]] == ["17", "18"]


def test_list_with_a_limit(server, axctl):
    server.on("GET", "/tasks", lambda r: {"items": [TASK] * int(r.query["limit"]), "next": "more"})
    result = axctl("task", "list", "--limit", "3")
    assert len(server.requests) == 1 and server.requests[0].query["limit"] == "3"
    assert "there are more" in result.out
    assert axctl("task", "list", "--limit", "3", "--json").json["next"] == "more"


def test_show_by_id_and_by_name(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("GET", "/tasks", lambda r: {"items": [TASK] if r.query["task_name"] == "nightly" else [], "next": None})
    assert axctl("task", "show", "17", "--json").json == TASK
    assert axctl("task", "show", "default/nightly", "--json").json == TASK
    assert server.requests[-1].query == {"group_key": "default", "task_name": "nightly"}
    assert axctl("task", "show", "nightly", "--json").json == TASK
    assert "group_key" not in server.requests[-1].query
    out = axctl("task", "show", "17").out
    assert "next_trigger_time 2025-11-30T01:10:00Z" in " ".join(out.split())
    assert "dialect" not in out
    assert "no task" in axctl("task", "show", "default/other", code=5).err
    axctl("task", "show", "99", code=5)
    assert server.requests[-1].path == "/tasks/99"


def test_the_values_of_an_object_stand_in_one_column(server, axctl):
    server.on("GET", "/tasks/17", {**TASK, "join_deadline_seconds": 3600, "a_name_that_is_longer_than_all": None})
    lines = axctl("task", "show", "17").out.splitlines()
    assert all(line[:21].rstrip() == line.split()[0] and line[21] == " " != line[22] for line in lines)
    assert "join_deadline_seconds 3600" in lines


def test_names_with_slashes_and_in_several_groups(server, axctl):
    server.on("GET", "/tasks", {"items": [TASK, {**TASK, "group_key": "other"}], "next": None})
    assert "GROUP/NAME" in axctl("task", "show", "Back up /var", code=2).err
    assert server.requests[-1].query["task_name"] == "Back up /var"


def test_create_from_options(server, axctl):
    server.on("POST", "/tasks", lambda r: (201, {**TASK, **r.body}))
    out = axctl("task", "create", "ops/nightly", "--cron", "30 2 * * *", "--time-zone", "Europe/Berlin", "--timeout", 0,
                "--retries", 1, "--overlap", "allow", "--overlap-max", 4, "--misfire", "skip", "--window", 60,
                "--owner", "anna", "--notes", "näher", "--priority", 9, "--key", "k1", "--", "/opt/report", "--all").out
    request = server.requests[-1]
    assert request.headers["Idempotency-Key"] == "k1" and request.headers["Content-Type"] == "application/json"
    assert request.body == {
        "group_key": "ops", "task_name": "nightly", "cron_expr": "30 2 * * *", "time_zone": "Europe/Berlin",
        "timeout_seconds": 0, "retry_count": 1, "overlap": "allow", "overlap_max": 4, "misfire": "skip",
        "window_seconds": 60, "owner": "anna", "notes": "näher", "priority": 9, "executor_key": "exec",
        "biz_param": {"argv": ["/opt/report", "--all"]}}
    assert "created 17 ops/nightly: at 02:30 every day, next 2025-11-30T01:10:00Z" in out and "warning:" in out


def test_create_other_ways(server, axctl, tmp_path):
    server.on("POST", "/tasks", lambda r: (201, {**TASK, **r.body}))
    axctl("task", "create", "--name", "a", "--cron-expr", "@daily", "--script", "echo hi")
    assert server.requests[-1].body == {"task_name": "a", "cron_expr": "@daily", "executor_key": "exec",
                                        "biz_param": {"script": "echo hi"}}
    axctl("task", "create", "a", "--type", "delay", "--url", "http://h/x", "--disabled")
    assert server.requests[-1].body == {"task_name": "a", "task_type": "delay", "executor_key": "http",
                                        "biz_param": {"url": "http://h/x"}, "status": "created"}
    (tmp_path / "p.json").write_text('{"n": 12345678901234567}')
    axctl("task", "create", "a", "--executor", "my.fn", "--param", "@p.json")
    assert server.requests[-1].body["biz_param"] == {"n": 12345678901234567}
    axctl("task", "create", "b", "--file", "-", "--priority", 1, input=json.dumps(TASK))
    sent = server.requests[-1].body
    assert sent["task_name"] == "b" and sent["priority"] == 1 and sent["dialect"] is None
    assert not {"id", "version", "last_run", "schedule_text", "warnings", "next_trigger_time", "exhausted"} & set(sent)


def test_create_many(server, axctl, tmp_path):
    server.on("POST", "/tasks/batch", lambda r: (201, {"items": r.body["tasks"]}))
    (tmp_path / "t.json").write_text(json.dumps([TASK, {**TASK, "task_name": "b"}]))
    assert "created 2 tasks" in axctl("task", "create", "--file", "t.json").out
    assert [t["task_name"] for t in server.requests[-1].body["tasks"]] == ["nightly", "b"]
    axctl("task", "create", "--file", "t.json", "--group", "ops", "--priority", 9, "--script", "true", "--disabled", "--key", "k")
    for task in server.requests[-1].body["tasks"]:  # what is said for all is not passed over in silence
        assert task["group_key"] == "ops" and task["priority"] == 9 and task["biz_param"] == {"script": "true"} and task["status"] == "created"
    assert server.requests[-1].headers["Idempotency-Key"] == "k"
    sent = len(server.requests)
    assert "NAME: is for one task" in axctl("task", "create", "c", "--file", "t.json", code=2).err
    assert "priority" in axctl("task", "create", "--file", "t.json", "--priority", "high", code=2).err
    assert len(server.requests) == sent
    (tmp_path / "t.json").write_text(json.dumps({"items": [TASK], "next": None}))
    axctl("task", "create", "--file", "t.json")


def test_bad_input_never_reaches_the_server(server, axctl):
    for args in (["--param", "{bad"], ["--timeout", "soon"], ["--priority", "-1"], ["--param", "@/nonexistent"],
                 ["--script", "x", "--url", "y"], ["--param", '{"a":1,"a":2}']):
        assert axctl("task", "create", "a", *args, code=2).err
    assert "object" in axctl("task", "create", "--file", "-", code=2, input="3").err
    assert server.requests == []


def test_problem_names_the_field(server, axctl):
    server.on("POST", "/tasks", problem(400, "never_fires", "No February has 31 days.", "cron_expr"))
    err = axctl("task", "create", "a", "--cron", "0 0 31 2 *", "--script", "x", code=2).err
    assert "cron_expr: No February has 31 days. [never_fires]" in err and "axctl cron explain" in err


def test_update_sends_the_version(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("PATCH", "/tasks/17", lambda r: {**TASK, **r.body})
    axctl("task", "update", "17", "--cron", "0 3 * * *")
    assert server.requests[-1].body == {"cron_expr": "0 3 * * *", "version": 3}
    axctl("task", "update", "17", "--file", "-", input=json.dumps({**TASK, "version": 2, "priority": 7}))
    sent = server.requests[-1].body
    assert sent["version"] == 2 and sent["priority"] == 7 and "id" not in sent and "status" not in sent
    assert "nothing to change" in axctl("task", "update", "17", code=2).err
    server.on("PATCH", "/tasks/17", problem(409, "conflict", "It moved on.", "version"))
    axctl("task", "update", "17", "--priority", 1, code=6)


def test_pause_resume_delete(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("POST", "/tasks/17/pause", {"task": {**TASK, "status": "paused"}, "given_out": ["5"]})
    server.on("POST", "/tasks/17/resume", TASK)
    server.on("DELETE", "/tasks/17", lambda r: (204, None) if r.query.get("force") == "true"
              else problem(409, "conflict", "It has live runs."))
    assert "run 5 was already given out" in axctl("task", "pause", "17", "--reason", "moving house").out
    assert server.requests[-1].body == {"reason": "moving house"}
    assert "resumed 17" in axctl("task", "resume", "17", "--reason", "moved").out
    assert server.requests[-1].body == {"reason": "moved"}
    axctl("task", "delete", "17", code=6)
    assert "deleted 17" in axctl("task", "delete", "17", "--force").out
    assert axctl("task", "delete", "17", "--force", "--json").json["id"] == "17"


def test_trigger(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("POST", "/tasks/17/runs", (201, RUN))
    out = axctl("task", "trigger", "17", "--params", '{"day": 1}', "--key", "k", "--dedup-key", "d").out
    assert out == "run 900719925474099301 of default/nightly: WAITING (for claim)\n"
    assert server.requests[-1].body == {"params": {"day": 1}, "dedup_key": "d"}
    assert server.requests[-1].headers["Idempotency-Key"] == "k"
    axctl("task", "trigger", "17", "--delay", "1h30m")
    assert server.requests[-1].body == {"delay_ms": 5400000}
    axctl("task", "trigger", "17", "--at", "2026-12-01T02:00:00Z")
    assert server.requests[-1].body == {"run_at": 1796090400000}
    axctl("task", "trigger", "17")
    assert server.requests[-1].body == {}
    for args in (["--delay", "soon"], ["--at", "soon"], ["--delay", "1s", "--at", "now"], ["--params", "{"]):
        axctl("task", "trigger", "17", *args, code=2)


def test_trigger_and_wait(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("POST", "/tasks/17/runs", (201, RUN))
    for end, code in (("SUCCESS", 0), ("FAILED", 1), ("CANCELLED", 1)):
        states = iter(["WAITING", "RUNNING", end])
        server.on("GET", "/runs/" + RUN["gid"], lambda r: {**RUN, "status": next(states), "waiting_for": None,
                                                           "reason": "exit", "result_msg": "exit status 3"})
        out = axctl("task", "trigger", "17", "--wait", code=code).out
        assert f"{end} (exit): exit status 3" in out


def test_trigger_waits_no_longer_than_asked(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("POST", "/tasks/17/runs", (201, RUN))
    server.on("GET", "/runs/" + RUN["gid"], {**RUN, "waiting_for": "worker"})
    began = time.monotonic()
    result = axctl("task", "trigger", "17", "--wait-seconds", "1", code=7)
    assert 1 <= time.monotonic() - began < 10
    assert "WAITING (for worker)" in result.out and "--wait-seconds: the run has not ended yet" in result.err
    assert axctl("task", "trigger", "17", "--wait", "--wait-seconds", "1", "--json", code=7).json["status"] == "WAITING"
    sent = len(server.requests)
    axctl("task", "trigger", "17", "--wait-seconds", "0", code=2)
    assert len(server.requests) == sent  # nothing was started


def test_trigger_does_not_wait_for_a_server_that_hangs(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("POST", "/tasks/17/runs", (201, RUN))
    over = threading.Event()

    def hang(request):
        over.wait(60)
        yield from ()

    server.on("GET", "/runs/" + RUN["gid"], hang)
    began = time.monotonic()
    try:
        assert "cannot reach" in axctl("task", "trigger", "17", "--wait-seconds", "1", code=3).err
    finally:
        over.set()
    assert time.monotonic() - began < 30


def test_next_and_versions(server, axctl):
    server.on("GET", "/tasks/17", TASK)
    server.on("GET", "/tasks/17/next", {"words": "at 02:30 every day", "warnings": [{"code": "days_or", "text": "think twice", "params": {}}], "fires": [
        {"time": 1774746000000, "local": "2026-03-29T03:00:00+02:00", "offset_seconds": 7200, "abbreviation": "CEST",
         "note": {"code": "gap_moved", "text": "02:30 does not exist on this day"}},
        {"time": 1774830600000, "local": "2026-03-30T02:30:00+02:00", "abbreviation": "CEST", "note": None}]})
    out = axctl("task", "next", "17", "-n", 2, "--from", "2026-03-28T12:00:00Z").out
    assert server.requests[-1].query == {"n": "2", "from": "1774699200000"}
    assert "at 02:30 every day" in out and "does not exist" in out and "think twice" in out
    assert "2026-03-29T01:00:00Z  2026-03-29T03:00:00+02:00  CEST" in out
    server.on("GET", "/tasks/17/versions", {"items": [
        {"version": 2, "time": 1764451200000, "author": "anna", "definition": TASK}], "next": None})
    assert "anna" in axctl("task", "versions", "17").out
