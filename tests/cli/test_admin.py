"""Groups, workers, tokens, audit."""

import os
import stat

import pytest

GROUP = {"group_key": "ops", "title": "Betrieb", "dispatch_quota": 200, "pool_size": 50, "paused": False,
         "contacts": [], "running": 1, "waiting": 2, "version": 4, "create_time": 1764451200000}
WORKER = {"worker": "w1", "state": "online", "version": "0.1.0", "address": "127.0.0.1",
          "groups": [{"group_key": "ops", "pool_size": 50, "given": 3}], "executors": ["exec", "http"], "tags": {},
          "seen_time": 1764451200000}


def test_groups(server, axctl):
    server.on("GET", "/groups", {"items": [GROUP], "next": None})
    server.on("GET", "/groups/ops", GROUP)
    server.on("POST", "/groups", lambda r: (201, {**GROUP, **r.body}))
    server.on("PATCH", "/groups/ops", lambda r: {**GROUP, **r.body})
    server.on("DELETE", "/groups/ops", (204, None))
    assert "Betrieb" in axctl("group", "list").out
    assert "create_time    2025-11-29T21:20:00Z" in axctl("group", "show", "ops").out
    axctl("group", "create", "ops", "--quota", 10, "--pool-size", 5, "--title", "T", "--contacts", "a@b,mails")
    assert server.requests[-1].body == {"group_key": "ops", "dispatch_quota": 10, "pool_size": 5, "title": "T",
                                        "contacts": ["a@b", "mails"]}
    axctl("group", "update", "ops", "--long-share", 20, "--worker-backlog", 0, "--defaults", '{"retry_count": 1}',
          "--contacts", "")
    assert server.requests[-1].body == {"long_share_percent": 20, "worker_backlog": 0, "defaults": {"retry_count": 1},
                                        "contacts": [], "version": 4}
    axctl("group", "update", "ops", "--defaults", "{", code=2)
    axctl("group", "update", "ops", "--long-share", 0, code=2)
    axctl("group", "update", "ops", "--late", 0, "--backlog-limit", 7, "--backlog-seconds", 60)
    assert server.requests[-1].body == {"late_seconds": 0, "backlog_limit": 7, "backlog_seconds": 60, "version": 4}
    axctl("group", "update", "ops", "--keep-days", 7, "--keep-runs", 100)
    assert server.requests[-1].body == {"keep_days": 7, "keep_runs": 100, "version": 4}
    axctl("group", "update", "ops", "--quota", 20)
    assert server.requests[-1].body == {"dispatch_quota": 20, "version": 4}
    axctl("group", "pause", "ops")
    assert server.requests[-1].body == {"paused": True, "version": 4}
    axctl("group", "resume", "ops")
    assert server.requests[-1].body == {"paused": False, "version": 4}
    assert "deleted" in axctl("group", "delete", "ops").out
    axctl("group", "update", "ops", code=2)
    axctl("group", "update", "ops", "--quota", 0, code=2)
    axctl("group", "show", "a/b", code=5)
    assert server.requests[-1].path == "/groups/a%2Fb"


def test_workers(server, axctl):
    server.on("GET", "/workers", {"items": [WORKER], "next": None})
    server.on("GET", "/workers/w1", WORKER)
    for verb, method in (("drain", "POST"), ("resume", "POST")):
        server.on(method, f"/workers/w1/{verb}", WORKER)
    for verb in ("disable", "enable"):
        server.on("POST", f"/workers/w1/{verb}", WORKER)
    server.on("DELETE", "/workers/w1", (204, None))
    out = axctl("worker", "list").out
    assert "ops 3/50" in out and "exec http" in out and "online" in out
    assert axctl("worker", "show", "w1", "--json").json == WORKER
    for verb in ("drain", "resume", "forget"):
        assert "w1" in axctl("worker", verb, "w1").out
    assert [(r.method, r.path) for r in server.requests[-3:]] == [
        ("POST", "/workers/w1/drain"), ("POST", "/workers/w1/resume"), ("DELETE", "/workers/w1")]
    assert "until it is enabled" in axctl("worker", "disable", "w1", "--reason", "bad disk").out
    assert (server.requests[-1].path, server.requests[-1].body) == ("/workers/w1/disable", {"reason": "bad disk"})
    axctl("worker", "enable", "w1")
    assert (server.requests[-1].path, server.requests[-1].body) == ("/workers/w1/enable", {})


def test_servers(server, axctl):
    one = {"server": "a:8750", "number": 0, "version": "0.1.0", "start_time": 1767225600000, "seen_time": 1767225600000,
           "tick_age_ms": 4, "store": "mariadb", "store_id": "00c0ffee00c0ffee", "tzdata": "2025b", "chores": ["alerts", "retention"]}
    other = {**one, "server": "b:8750", "number": 1, "tick_age_ms": None, "tzdata": None, "chores": []}
    server.on("GET", "/servers", {"items": [one, other], "next": None})
    out = axctl("server", "list").out
    assert "a:8750" in out and "b:8750" in out and "alerts retention" in out and "mariadb" in out
    assert axctl("server", "list", "--json").json["items"] == [one, other]


def test_worker_token(server, axctl, tmp_path):
    server.on("POST", "/tokens", lambda r: (201, {"id": "3", "name": r.body["name"], "token": "axw_secret"}))
    assert axctl("worker", "token", "--group", "ops,batch").out == "axw_secret\n"
    assert server.requests[-1].body == {"name": "worker-ops,batch", "worker_groups": ["ops", "batch"]}
    assert axctl("worker", "token", "--out", "w.token", "--name", "n", "--expire-days", 7).out == ""
    assert server.requests[-1].body == {"name": "n", "worker_groups": ["default"], "expire_days": 7}
    assert (tmp_path / "w.token").read_text() == "axw_secret\n"
    assert stat.S_IMODE(os.stat(tmp_path / "w.token").st_mode) == 0o600
    made = len(server.requests)
    assert "exists" in axctl("worker", "token", "--out", "w.token", code=2).err
    assert "cannot create no/where" in axctl("worker", "token", "--out", "no/where", code=2).err
    assert "expire-days: " in axctl("worker", "token", "--out", "other.token", "--expire-days", 0, code=2).err
    assert len(server.requests) == made  # nothing was made that nobody keeps
    server.on("POST", "/tokens", (403, {"status": 403, "code": "denied", "detail": "not you"}))
    axctl("worker", "token", "--out", "other.token", code=4)
    assert not (tmp_path / "other.token").exists()


def test_tokens(server, axctl):
    server.on("GET", "/tokens", {"items": [{"id": "3", "name": "ci", "role": "operator", "worker_groups": None,
                                            "expire_time": 1764451200000, "last_used_time": None}], "next": None})
    server.on("POST", "/tokens", lambda r: (201, {"id": "4", **r.body, "token": "axp_secret"}))
    server.on("DELETE", "/tokens/4", (204, None))
    assert "operator" in axctl("token", "list").out
    assert axctl("token", "create", "ci", "--role", "editor", "--expire-days", 30).out == "axp_secret\n"
    assert server.requests[-1].body == {"name": "ci", "role": "editor", "expire_days": 30}
    assert axctl("token", "create", "ci", "--json").json["token"] == "axp_secret"
    assert "deleted" in axctl("token", "delete", "4").out
    axctl("token", "create", "ci", "--expire-days", 400, code=2)


CLEAN = {"from": 1764447600000, "to": 1764451200000, "expected": 60, "runs": 57, "skipped": 1, "missed": 0,
         "coalesced": 2, "unexplained": 0, "duplicates": 0, "tasks": []}


@pytest.mark.parametrize("change, code", [({}, 0), ({"unexplained": 2}, 1), ({"duplicates": 1}, 1)])
def test_audit(server, axctl, change, code):
    server.on("GET", "/audit/fires", {**CLEAN, **change, "tasks": [
        {"task_id": "17", "task_name": "nightly", "expected": 60, "unexplained": change.get("unexplained", 0),
         "duplicates": change.get("duplicates", 0), "unexplained_fires": [1764449400000]}]})
    out = axctl("audit", "--from", "2025-11-29T20:20:00Z", "--to", "2025-11-29T21:20:00Z", code=code).out
    assert server.requests[-1].query == {"from": "1764447600000", "to": "1764451200000"}
    assert ("NOT CLEAN" in out) == (code == 1) and ("task 17 nightly" in out) == (code == 1)
    assert ("2025-11-29T20:50:00Z" in out) == (code == 1)
    assert axctl("audit", "--json", code=code).json["expected"] == 60
    assert server.requests[-1].query == {}


def test_an_audit_without_its_numbers_is_not_clean(server, axctl):
    server.on("GET", "/audit/fires", {"expected": 5})
    axctl("audit", code=3)


def test_canary(server, axctl):
    server.on("GET", "/tasks/17", {"id": "17", "version": 3})
    server.on("POST", "/tasks/17/canary", {"state": "running", "percent": 10})
    server.on("POST", "/tasks/17/canary/rollback", {"state": "rolled_back"})
    assert "running" in axctl("canary", "begin", "17", "--percent", "10", "--change", '{"timeout_seconds":5}', "--min-runs", "7", "--manual").out
    assert server.requests[-1].body == {"version": 3, "percent": 10, "change": {"timeout_seconds": 5}, "min_runs": 7, "automatic": False}
    axctl("canary", "rollback", "17", "--reason", "slow")
    assert server.requests[-1].body == {"reason": "slow"}
    assert axctl("canary", "begin", "17", "--percent", "10", code=2).err
    assert "--percent" in axctl("canary", "set", "17", code=2).err


def test_overview(server, axctl):
    said = {"tasks": {"created": 0, "enabled": 12, "paused": 1}, "runs": {"WAITING": 0, "RUNNING": 3}, "last_24h": {"SUCCESS": 0},
            "workers_online": 2, "waiting": 0, "server_time": 1764451200000}
    server.on("GET", "/overview", said)
    lines = dict(line.split(None, 1) for line in axctl("overview").out.splitlines())
    assert lines == {"tasks": "enabled 12, paused 1", "runs": "RUNNING 3", "last_24h": "none", "waiting": "0", "workers_online": "2"}
    assert axctl("overview", "--json").json == said


def test_changes(server, axctl):
    one = {"id": "5", "time": 1764451200000, "actor": "ann", "address": "127.0.0.1", "action": "task.pause", "object": "task:17",
           "before": None, "after": None, "reason": "deploy"}
    server.on("GET", "/audit/log", {"items": [one], "next": None})
    out = axctl("changes", "--object", "task:17", "--actor", "ann").out
    assert "2025-11-29T21:20:00Z  ann" in out and "task.pause" in out and "deploy" in out
    assert server.requests[-1].query["object"] == "task:17" and server.requests[-1].query["actor"] == "ann"
    axctl("changes", "--limit", "x", code=2)


def test_calendars(server, axctl):
    calendar = {"name": "work", "title": "", "version": 3, "week": ["mon"], "day_count": 0, "days": []}
    server.on("POST", "/calendars", lambda r: (201, {**calendar, **r.body, "version": 1}))
    server.on("GET", "/calendars/work", calendar)
    server.on("PATCH", "/calendars/work", lambda r: {**calendar, **r.body, "version": 4})
    server.on("GET", "/calendars/work/versions", {"items": [
        {"version": 2, "time": 1764451200000, "author": "ann", "title": "Arbeit", "day_count": 7}], "next": None})
    assert "at version 1" in axctl("calendar", "create", "work", "--week", "sat,sun", "--title", "T").out
    assert server.requests[-1].body == {"name": "work", "week": ["sat", "sun"], "title": "T"}
    assert "at version 4" in axctl("calendar", "update", "work", "--week", "sun").out
    assert server.requests[-1].body == {"version": 3, "week": ["sun"]}
    asked = len(server.requests)
    assert "import" in axctl("calendar", "update", "work", code=2).err and len(server.requests) == asked
    assert "Arbeit" in axctl("calendar", "versions", "work").out
