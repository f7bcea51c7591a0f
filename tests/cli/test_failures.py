import time

GROUP = {"id": "12", "group_key": "ops", "executor_key": "exec", "reason": "exit", "code": 1,
         "title": "exit status 1: order <n> was not found", "state": "open", "count": 17, "first_seen_time": 1764451200000,
         "last_seen_time": 1764454800000, "growing": True, "trend": {"from_time": 1764280800000, "hours": [0] * 46 + [4, 13]},
         "sample_gid": "123", "state_time": None, "state_by": None, "state_reason": None, "mute_until_time": None,
         "reopen_count": 1, "assignee": "ann", "note": None}
PLACE = {"count": 17, "first_seen_time": 1764451200000, "last_seen_time": 1764454800000}
RUN = {"gid": "123", "task_name": "nightly", "group_key": "ops", "status": "FAILED", "reason": "exit", "waiting_for": None,
       "result_msg": "exit status 1: order 17 was not found"}
DETAIL = {**GROUP, "hints": [{"code": "only_worker", "text": "Only on w3: all 17 failures were there.", "advice": "Look at w3."}],
          "also_in": [{"id": "13", "group_key": "shop", "count": 2, "last_seen_time": 1764454800000}],
          "spread": {"workers": [{"worker": "w3", **PLACE}],
                     "versions": [{"task_id": "5", "task_name": "nightly", "version": 4, **PLACE}], "truncated": False},
          "not_rerun": 9, "runs": [RUN]}


def test_list(server, axctl):
    server.on("GET", "/tasks", {"items": [{"id": "5"}], "next": None})
    server.on("GET", "/failures", {"items": [GROUP], "next": None})
    out = axctl("failure", "list", "--task", "ops/nightly", "--group", "ops", "--state", "open", "--worker", "w3", "-q", "order").out
    assert server.requests[-1].query == {"task_id": "5", "group_key": "ops", "state": "open", "worker": "w3", "q": "order",
                                         "limit": "50"}
    assert "open, growing" in out and "order <n> was not found" in out and "ann" in out and " 13 " in out
    assert axctl("failure", "list", "--json").json["items"][0]["id"] == "12"


def test_show(server, axctl):
    server.on("GET", "/failures/12", DETAIL)
    out = axctl("failure", "show", "12").out
    for part in ("Only on w3: all 17 failures were there. Look at w3.", "by worker", "w3", "nightly", "▂█", "the same in group shop: failure 13",
                 "run 123 of ops/nightly: FAILED (exit): exit status 1: order 17 was not found", "9 were not run again"):
        assert part in out, part
    assert axctl("failure", "show", "12", "--json").json["spread"]["workers"][0]["worker"] == "w3"
    axctl("failure", "show", "13", code=5)


def test_mute(server, axctl):
    server.on("POST", "/failures/12/mute", {**GROUP, "state": "muted", "mute_until_time": 1764451200000})
    assert axctl("failure", "mute", "12", "--for", "7d", "--reason", "known").out == (
        "failure 12 is muted until 2025-11-29T21:20:00Z, assigned to ann\n")
    body = server.requests[-1].body
    assert body["reason"] == "known" and abs(body["mute_until_time"] - (time.time() + 7 * 86400) * 1000) < 60_000
    axctl("failure", "mute", "12", "--until", "2025-11-29T21:20:00Z", "--reason", "known")
    assert server.requests[-1].body["mute_until_time"] == 1764451200000
    seen = len(server.requests)
    assert "how long" in axctl("failure", "mute", "12", "--reason", "known", code=2).err
    assert "why" in axctl("failure", "mute", "12", "--for", "7d", code=2).err
    axctl("failure", "mute", "12", "--for", "7d", "--until", "now", "--reason", "x", code=2)
    assert len(server.requests) == seen


def test_assign_resolve_reopen(server, axctl):
    for act in ("assign", "resolve", "reopen"):
        server.on("POST", f"/failures/12/{act}", {**GROUP, "state": "resolved" if act == "resolve" else "open"})
    assert "ann" in axctl("failure", "assign", "12", "ann", "--note", "disk of w3").out
    assert server.requests[-1].body == {"assignee": "ann", "note": "disk of w3"}
    assert axctl("failure", "assign", "12", "ann", "--json").json == {**GROUP, "state": "open"}
    axctl("failure", "assign", "12", "")
    assert server.requests[-1].body == {"assignee": ""}
    assert axctl("failure", "resolve", "12", "--reason", "fixed").out == "failure 12 is resolved, assigned to ann\n"
    assert server.requests[-1].body == {"reason": "fixed"}
    assert axctl("failure", "reopen", "12").out == "failure 12 is open, assigned to ann\n"


def test_retry(server, axctl):
    server.on("POST", "/failures/12/retry", {"made": 100, "last_due_time": 1764451200000, "left": 25})
    assert axctl("failure", "retry", "12", "--limit", 100, "--per-minute", 30, "--reason", "it is back").out == (
        "made 100 runs, the last one due at 2025-11-29T21:20:00Z; 25 failed runs are left that were not run again\n")
    assert server.requests[-1].body == {"limit": 100, "per_minute": 30, "reason": "it is back"}
    axctl("failure", "retry", "12", "--limit", 0, code=2)


def test_runs_of_a_group(server, axctl):
    server.on("GET", "/runs", {"items": [], "next": None})
    axctl("run", "list", "--failure", "12")
    assert server.requests[-1].query == {"failure_id": "12", "limit": "50"}
