"""Tasks: good and bad input, versions, idempotency, pages, previews."""

import json
import time

import pytest

GOOD = {"executor_key": "test", "cron_expr": "0 0 1 1 *"}


def create(admin, name, **fields):
    return admin.post("/api/v1/tasks", {**GOOD, "task_name": name, **fields})


def count(admin, name):
    return len(admin.get(f"/api/v1/tasks?task_name={name}").ok()["items"])


def test_defaults_and_round_trip(admin, unique):
    task = create(admin, unique).ok(201)
    assert task["group_key"] == "default" and task["task_type"] == "scheduled" and task["status"] == "enabled"
    assert (task["timeout_seconds"], task["grace_seconds"], task["retry_count"], task["priority"]) == (60, 5, 3, 5)
    assert (task["overlap"], task["misfire"], task["window_seconds"]) == ("queue", "fire_once", 600)
    assert (task["on_lost"], task["lost_limit"], task["on_unreachable"], task["start"]) == ("retry", 3, "kill", "optimistic")
    assert task["version"] == 1 and task["updated_by"] == "token the-admin" and task["biz_param"] is None
    assert task["next_trigger_time"] > time.time() * 1000
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok() == task


def test_every_field_is_kept(admin, unique):
    fields = {
        "task_name": unique, "cron_expr": "30 2 * * *", "dialect": "unix", "time_zone": "Europe/Berlin", "executor_key": "report.daily",
        "biz_param": {"a": [1, 2.5, None, True, "ü\n"], "big": 9007199254740993}, "timeout_seconds": 0, "grace_seconds": 30,
        "retry_count": 0, "retry_backoff": "list", "retry_delay_seconds": 7, "retry_cap_seconds": 9, "retry_delays": [0, 5, 86400],
        "retry_jitter_percent": 0, "retry_on": "0, 75,500-599", "priority": 10, "expected_seconds": 30, "must_end_by": "06:00", "stall_seconds": 600, "overlap": "allow", "overlap_max": 7, "misfire": "fire_all", "window_seconds": 0,
        "on_lost": "fail", "lost_limit": 0, "on_unreachable": "continue", "start": "confirmed", "owner": "ö" * 128,
        "notes": "n" * 4000, "status": "created"}
    task = admin.post("/api/v1/tasks", fields).ok(201)
    for name, value in fields.items():
        assert task[name] == value, name
    assert task["next_trigger_time"] is None
    assert "no worker offers executor `report.daily` in group `default`" in [warning["text"] for warning in task["warnings"]]
    assert {warning["params"].get("field") for warning in task["warnings"]} - {None} == {
        "retry_backoff", "retry_delay_seconds", "retry_cap_seconds", "retry_delays", "retry_jitter_percent", "retry_on", "lost_limit"}


BAD = [
    ({"task_name": ""}, "task_name"), ({"task_name": "x" * 129}, "task_name"), ({"task_name": "a\nb"}, "task_name"),
    ({"task_name": " "}, "task_name"), ({"task_name": "a "}, "task_name"), ({"task_name": "a\u202eb"}, "task_name"),
    ({"task_name": "a\u2028b"}, "task_name"), ({"task_name": "a\u0085b"}, "task_name"), ({"owner": "o\n"}, "owner"),
    ({"task_type": "delay", "cron_expr": None, "time_zone": "Mars/Olympus"}, "time_zone"),
    ({"task_name": 5}, "task_name"), ({"task_name": None}, "task_name"),
    ({"executor_key": ""}, "executor_key"), ({"executor_key": "a b"}, "executor_key"), ({"executor_key": "x" * 129}, "executor_key"),
    ({"cron_expr": ""}, "cron_expr"), ({"cron_expr": "* * * *"}, "cron_expr"), ({"cron_expr": "61 * * * *"}, "minute"),
    ({"cron_expr": "0 0 30 2 *"}, None), ({"cron_expr": "x" * 1025}, "cron_expr"), ({"cron_expr": "@at 2001-01-01T00:00:00Z"}, "cron_expr"),
    ({"time_zone": "Mars/Olympus"}, "time_zone"), ({"time_zone": "../../etc/passwd"}, "time_zone"), ({"time_zone": 1}, "time_zone"),
    ({"dialect": "vixie"}, "dialect"), ({"task_type": "event"}, None), ({"task_type": "cron"}, "task_type"),
    ({"timeout_seconds": -1}, "timeout_seconds"), ({"timeout_seconds": 604801}, "timeout_seconds"), ({"timeout_seconds": 1.5}, "timeout_seconds"),
    ({"timeout_seconds": "60"}, "timeout_seconds"), ({"timeout_seconds": True}, "timeout_seconds"),
    ({"grace_seconds": 0}, "grace_seconds"), ({"grace_seconds": 31}, "grace_seconds"), ({"retry_count": 101}, "retry_count"),
    ({"retry_backoff": "linear"}, "retry_backoff"), ({"retry_backoff": "list"}, "retry_delays"), ({"retry_delay_seconds": 0}, "retry_delay_seconds"),
    ({"retry_delays": [1] * 21}, "retry_delays"), ({"retry_delays": [86401]}, "retry_delays"), ({"retry_delays": ["5"]}, "retry_delays"),
    ({"retry_delays": 5}, "retry_delays"), ({"retry_jitter_percent": 101}, "retry_jitter_percent"), ({"retry_on": "5xx"}, "retry_on"),
    ({"must_end_by": "6:00"}, "must_end_by"), ({"must_end_by": "24:00"}, "must_end_by"), ({"expected_seconds": -1}, "expected_seconds"),
    ({"priority": 0}, "priority"), ({"priority": 11}, "priority"), ({"overlap": "maybe"}, "overlap"), ({"overlap_max": 0}, "overlap_max"),
    ({"misfire": 1}, "misfire"), ({"window_seconds": 86401}, "window_seconds"), ({"lost_limit": 21}, "lost_limit"),
    ({"on_lost": "ignore"}, "on_lost"), ({"on_unreachable": ""}, "on_unreachable"), ({"start": False}, "start"),
    ({"owner": "x" * 129}, "owner"), ({"notes": "x" * 4001}, "notes"), ({"status": "paused"}, "status"),
    ({"group_key": "nowhere"}, "group_key"), ({"surprise": 1}, "surprise"), ({"id": "5"}, "id"),
    ({"biz_param": "x" * 65537}, "biz_param"),
    ({"executor_key": "exec"}, "biz_param"), ({"executor_key": "exec", "biz_param": {}}, None),
    ({"executor_key": "exec", "biz_param": {"argv": []}}, "biz_param.argv"),
    ({"executor_key": "exec", "biz_param": {"argv": ["true"]}}, "biz_param.argv"),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true", 1]}}, "biz_param.argv"),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true"], "script": "x"}}, None),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true"], "env": {"1A": "x"}}}, "biz_param.env"),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true"], "cwd": "tmp"}}, "biz_param.cwd"),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true"], "nice": 5}}, "biz_param.nice"),
    ({"executor_key": "http", "biz_param": {}}, "biz_param.url"),
    ({"executor_key": "http", "biz_param": {"url": "ftp://x/"}}, "biz_param.url"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "headers": {"a b": "c"}}}, "biz_param.headers"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "headers": {"a": "c\r\nd: e"}}}, "biz_param.headers"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "success": [99]}}, "biz_param.success"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "success": []}}, "biz_param.success"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "follow_redirects": 4}}, "biz_param.follow_redirects"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "method": "TRACE"}}, "biz_param.method"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "headers": {"Host": "y"}}}, "biz_param.headers"),
    ({"executor_key": "http", "biz_param": {"url": "http://x/", "headers": {"ax-gid": "1"}}}, "biz_param.headers"),
    ({"executor_key": "http", "biz_param": {"url": "javascript://x/"}}, "biz_param.url"),
    ({"executor_key": "http", "biz_param": {"url": "http://u:p@x/"}}, "biz_param.url"),
    ({"executor_key": "http", "biz_param": {"url": "http://x:0/"}}, "biz_param.url"),
    ({"executor_key": "http", "biz_param": {"url": "http://{host}/"}}, "biz_param.url"),
    ({"executor_key": "http", "biz_param": {"url": "http://[fe80::1%25eth0]/"}}, "biz_param.url"),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true"], "env": {"LD_PRELOAD": "x"}}}, "biz_param.env"),
    ({"executor_key": "exec", "biz_param": {"argv": ["/bin/true"], "env": {"PATH": "/tmp"}}}, "biz_param.env"),
    ({"executor_key": "exec", "biz_param": {"script": "true", "env": {"PYTHONPATH": "x"}}}, "biz_param.env"),
]


@pytest.mark.parametrize("fields,field", BAD, ids=[json.dumps(fields)[:50] for fields, _ in BAD])
def test_bad_fields(admin, unique, fields, field):
    answer = create(admin, unique, **fields)
    assert answer.status in (400, 413), answer.text
    assert answer.json["code"] in ("invalid", "never_fires", "too_large")
    if field is not None:
        assert answer.json["field"] == field, answer.json
    assert count(admin, unique) == 0


@pytest.mark.parametrize("title", ["a\u202eb", "two\nlines", "\u0007", "x" * 129])
@pytest.mark.parametrize("path,key", [("/api/v1/groups", "group_key"), ("/api/v1/calendars", "name")])
def test_a_title_is_one_line(admin, unique, path, key, title):
    admin.post(path, {key: unique, "title": title}).refused(400, "invalid", "title")
    assert admin.get(f"{path}/{unique}").status == 404


BODIES = [
    b"", b"{", b"[]", b"null", b"17", b'"x"', b"{}{}", b'{"task_name":"a","task_name":"b"}', b'{"task_name":"\xff"}',
    b'{"task_name":"\xed\xa0\x80"}', b'{"task_name":"a\\u0000b"}', b'{"task_name": 1e400}', b'{"a":' * 40 + b"1" + b"}" * 40,
    b'{"priority": 99999999999999999999999}', b"{'task_name': 'a'}", b'{"task_name": NaN}', b"\x00", b"\xef\xbb\xbf{}",
]


# B159
@pytest.mark.parametrize("body", BODIES, ids=[repr(body)[:40] for body in BODIES])
def test_malformed_bodies(admin, body):
    answer = admin.post("/api/v1/tasks", body if body else b"")
    answer.refused(400, "invalid")


def test_body_too_large(admin):
    body = b'{"notes":"' + b"x" * 300_000 + b'"}'
    answer = admin.post("/api/v1/tasks", body)
    assert answer.status == 413


def test_duplicate_name(admin, unique):
    create(admin, unique).ok(201)
    create(admin, unique).refused(409, "exists", "task_name")
    assert count(admin, unique) == 1


def test_batch_is_all_or_none(admin, unique):
    tasks = [{**GOOD, "task_name": f"{unique}-{i}"} for i in range(5)]
    bad = tasks[:3] + [{**GOOD, "task_name": f"{unique}-bad", "cron_expr": "99 * * * *"}]
    assert admin.post("/api/v1/tasks/batch", {"tasks": bad}).refused(400, "invalid")["field"].startswith("tasks[3].")
    bad[3] = {**GOOD, "task_name": f"{unique}-0"}
    admin.post("/api/v1/tasks/batch", {"tasks": bad}).refused(409, "exists", "tasks[3].task_name")
    assert admin.get(f"/api/v1/tasks?q={unique}").ok()["items"] == []
    made = admin.post("/api/v1/tasks/batch", {"tasks": tasks}).ok(201)["items"]
    assert [task["task_name"] for task in made] == [task["task_name"] for task in tasks]
    admin.post("/api/v1/tasks/batch", {"tasks": []}).refused(400, "invalid", "tasks")
    admin.post("/api/v1/tasks/batch", {"tasks": [GOOD] * 1001}).refused(400, "invalid", "tasks")
    admin.post("/api/v1/tasks/batch", {"tasks": [5]}).refused(400, "invalid", "tasks[0]")


# B186, R19
def test_patch(admin, unique):
    task = create(admin, unique).ok(201)
    path = f"/api/v1/tasks/{task['id']}"
    changed = admin.patch(path, {"version": 1, "priority": 9, "notes": "hot"}).ok()
    assert changed["version"] == 2 and changed["priority"] == 9 and changed["executor_key"] == "test"
    admin.patch(path, {"version": 1, "priority": 1}).refused(409, "conflict")
    admin.patch(path, {"priority": 1}).refused(400, "invalid", "version")
    admin.patch(path, {"version": 2, "cron_expr": "nonsense"}).refused(400, "invalid")
    admin.patch(path, {"version": 2, "group_key": "other"}).refused(400, "invalid", "group_key")
    admin.patch(path, {"version": 2, "task_type": "delay"}).refused(400, "invalid", "task_type")
    assert admin.get(path).ok() == changed
    versions = admin.get(path + "/versions").ok()["items"]
    assert [v["version"] for v in versions] == [2, 1]
    assert versions[0]["definition"]["notes"] == "hot" and versions[1]["definition"]["priority"] == 5
    first = admin.get(path + "/versions?limit=1").ok()
    assert [v["version"] for v in admin.get(f"{path}/versions?limit=1&after={first['next']}").ok()["items"]] == [1]
    log = admin.get(f"/api/v1/audit/log?object=task:{task['id']}").ok()["items"]
    assert [entry["action"] for entry in log] == ["task.update", "task.create"]
    assert log[0]["before"]["priority"] == 5 and log[0]["after"]["priority"] == 9 and log[0]["actor"] == "token the-admin"


def test_pause_resume_delete(admin, unique):
    task = create(admin, unique).ok(201)
    path = f"/api/v1/tasks/{task['id']}"
    paused = admin.post(path + "/pause", {"reason": "holidays"}).ok()
    assert paused["task"]["status"] == "paused" and paused["given_out"] == [] and paused["task"]["next_trigger_time"] is None
    assert admin.post(path + "/resume").ok()["status"] == "enabled"
    assert admin.delete(path).status == 204
    admin.get(path).refused(404, "not_found")
    admin.delete(path).refused(404, "not_found")
    log = admin.get(f"/api/v1/audit/log?object=task:{task['id']}").ok()["items"]
    assert [entry["action"] for entry in log] == ["task.delete", "task.resume", "task.pause", "task.create"]
    assert log[2]["reason"] == "holidays"


def test_what_is_being_deleted_stays_so(admin, worker, make_task):
    task = make_task(task_type="scheduled", cron_expr="@hourly")
    path = f"/api/v1/tasks/{task['id']}"
    admin.post(path + "/runs", {}).ok(201)
    given = worker.poll_run()
    admin.delete(path + "?force=true").refused(409, "conflict", "id")
    assert admin.get(path).ok()["status"] == "deleting"
    assert task["id"] in [row["id"] for row in admin.get("/api/v1/tasks?status=deleting").ok()["items"]]
    assert admin.get("/api/v1/overview").ok()["tasks"]["deleting"] >= 1
    assert admin.get(path + "/why").ok()["verdict"] == "deleting"
    for method, at, body in [
        ("POST", "/resume", {}), ("POST", "/pause", {}), ("PATCH", "", {"version": task["version"], "notes": "n"}),
        ("POST", "/runs", {}), ("POST", "/runs/batch", {"runs": [{}]}),
        ("POST", "/canary", {"percent": 10, "version": task["version"], "change": {"timeout_seconds": 7}}),
        ("POST", "/backfills", {"from": 1, "to": 2}),
    ]:
        problem = admin.call(method, path + at, body).refused(409, "conflict")
        assert "is being deleted" in problem["detail"]
    worker.report(worker.item(given, "accepted"), worker.item(given, "result", outcome="cancelled", code=1))
    admin.post(f"/api/v1/runs/{given['gid']}/rerun", {}).refused(409, "conflict", "id")
    assert admin.get(path).ok()["status"] == "deleting"
    admin.delete(path).ok(204)
    admin.get(path).refused(404, "not_found")


@pytest.mark.parametrize("id", ["0", "-1", "x", "01", "99999999999999999999", "1e3", "%31%00"])
def test_wrong_ids(admin, id):
    assert admin.get(f"/api/v1/tasks/{id}").status in (404, 400)


# B153
def test_pages(admin, unique):
    admin.post("/api/v1/tasks/batch", {"tasks": [{**GOOD, "task_name": f"{unique}-{i:02}"} for i in range(23)]}).ok(201)
    seen, after = [], ""
    while True:
        page = admin.get(f"/api/v1/tasks?q={unique.upper()}&limit=5{after}").ok()
        seen += [task["task_name"] for task in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == [f"{unique}-{i:02}" for i in range(23)]


@pytest.mark.parametrize("query,field", [
    ("limit=0", "limit"), ("limit=201", "limit"), ("limit=x", "limit"), ("after=x", "after"), ("status=on", "status"),
    ("task_type=cron", "task_type"), ("nothing=1", "nothing"), ("limit=5&limit=6", "limit")])
def test_bad_queries(admin, query, field):
    admin.get(f"/api/v1/tasks?{query}").refused(400, "invalid", field)


# B018
def test_idempotency(admin, server, unique):
    body = {**GOOD, "task_name": unique}
    first = admin.post("/api/v1/tasks", body, headers={"Idempotency-Key": unique})
    again = admin.post("/api/v1/tasks", body, headers={"Idempotency-Key": unique})
    assert first.ok(201) == again.ok(201)
    admin.post("/api/v1/tasks", {**body, "priority": 1}, headers={"Idempotency-Key": unique}).refused(409, "conflict", "Idempotency-Key")
    # the key is the caller's own
    editor = server.client(server.tokens["editor"])
    editor.post("/api/v1/tasks", body, headers={"Idempotency-Key": unique}).refused(409, "exists")
    # a refusal is not kept
    editor.post("/api/v1/tasks", {**body, "task_name": unique + "b"}, headers={"Idempotency-Key": unique}).ok(201)
    for key in ("", "x" * 129):
        admin.post("/api/v1/tasks", body, headers={"Idempotency-Key": key}).refused(400, "invalid", "Idempotency-Key")
    admin.post("/api/v1/tokens", {"name": "x", "role": "viewer"}, headers={"Idempotency-Key": "k"}).refused(400, "invalid")


def test_preview(admin, unique):
    preview = admin.post("/api/v1/schedules/preview", {
        "cron_expr": "30 2 * * *", "time_zone": "Europe/Berlin", "n": 3, "from": 1774483200000}).ok()  # 2026-03-26
    assert [fire["local"] for fire in preview["fires"] if fire["fires"]][:2] == ["2026-03-26T02:30:00+01:00", "2026-03-27T02:30:00+01:00"]
    shifted = admin.post("/api/v1/schedules/preview", {
        "cron_expr": "30 2 * * *", "time_zone": "Europe/Berlin", "n": 4, "from": 1774483200000}).ok()["fires"]
    moved = [fire for fire in shifted if fire["note"] and fire["note"]["code"] == "gap_moved"]
    assert moved and moved[0]["local"] == "2026-03-29T03:00:00+02:00"
    warned = admin.post("/api/v1/schedules/preview", {"cron_expr": "0 0 13 * 5"}).ok()
    assert warned["warnings"][0]["code"] and warned["words"]
    admin.post("/api/v1/schedules/preview", {"cron_expr": "x"}).refused(400, "invalid")
    admin.post("/api/v1/schedules/preview", {"cron_expr": "0 0 31 2 *"}).refused(400, "never_fires")
    admin.post("/api/v1/schedules/preview", {}).refused(400, "invalid", "cron_expr")
    for more, field in (({"jitter_seconds": 60}, "jitter_seconds"), ({"valid_from": 2, "valid_until": 2}, "valid_until"),
                        ({"cron_expr": "@after 30s", "jitter_seconds": 1}, "jitter_seconds"), ({"time_zone": "No/Where"}, "time_zone")):
        admin.post("/api/v1/schedules/preview", {"cron_expr": "* * * * *", **more}).refused(400, "invalid", field)
    task = create(admin, unique, cron_expr="@every 90s").ok(201)
    fires = admin.get(f"/api/v1/tasks/{task['id']}/next?n=2").ok()["fires"]
    assert fires[0]["time"] == task["next_trigger_time"] and fires[1]["time"] - fires[0]["time"] == 90_000


def test_groups(admin, unique):
    made = admin.post("/api/v1/groups", {"group_key": unique, "title": "Reports", "dispatch_quota": 7}).ok(201)
    assert made["pool_size"] == 50 and made["running"] == 0 and made["paused"] is False
    admin.post("/api/v1/groups", {"group_key": unique}).refused(409, "exists")
    admin.post("/api/v1/groups", {"group_key": "No Such"}).refused(400, "invalid", "group_key")
    path = f"/api/v1/groups/{unique}"
    changed = admin.patch(path, {"paused": True, "version": made["version"]}).ok()
    assert changed["paused"] and changed["dispatch_quota"] == 7
    admin.patch(path, {"paused": False, "version": made["version"]}).refused(409, "conflict")
    create(admin, unique, group_key=unique).ok(201)
    admin.delete(path).refused(409, "conflict")
    task = admin.get(f"/api/v1/tasks?group_key={unique}").ok()["items"][0]
    admin.delete(f"/api/v1/tasks/{task['id']}").ok(204)
    admin.delete(path).ok(204)
    admin.get(path).refused(404, "not_found")
