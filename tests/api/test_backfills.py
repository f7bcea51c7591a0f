"""Backfills: fires of a past range, made up a few at a time."""

import time

import pytest

HOUR = 3_600_000
MARCH = 1_740_787_200_000  # 2025-03-01T00:00:00Z


@pytest.fixture
def hourly(make_task):
    return make_task(task_type="scheduled", cron_expr="0 * * * *", overlap="allow", retry_count=0)


def ask(client, task, first, n, **more):
    return client.post(f"/api/v1/tasks/{task['id']}/backfills", {"from": first, "to": first + n * HOUR, **more})


def end_all(admin, worker, b, outcome="success"):
    """Ends what the worker is given until the backfill is over; the most that it was given at once."""
    deadline, most = time.monotonic() + 20, 0
    while admin.get(f"/api/v1/backfills/{b['id']}").ok()["status"] == "running":
        assert time.monotonic() < deadline
        runs = worker.poll(wait_ms=200)["runs"]
        most = max(most, len(runs))
        for run in runs:
            worker.finish(run, outcome)
    return most


def test_a_range_is_made_up_at_its_pace(admin, worker, hourly):
    b = ask(admin, hourly, MARCH, 7, max_live=2).ok(201)
    assert b == {"id": b["id"], "task_id": hourly["id"], "task_name": hourly["task_name"], "status": "running",
                 "from": MARCH, "to": MARCH + 7 * HOUR, "max_live": 2, "order": "oldest_first", "total": 7, "made": 2,
                 "existed": 0, "live": 2, "done": 0, "failed": 0, "create_time": b["create_time"], "end_time": None,
                 "created_by": "token the-admin"}
    assert end_all(admin, worker, b) <= 2
    after = admin.get(f"/api/v1/backfills/{b['id']}").ok()
    assert (after["status"], after["made"], after["done"], after["live"]) == ("done", 7, 7, 0) and after["end_time"]
    runs = admin.get(f"/api/v1/runs?backfill_id={b['id']}").ok()["items"]
    assert sorted(run["trigger_time"] for run in runs) == [MARCH + n * HOUR for n in range(7)]
    assert {(run["kind"], run["backfill_id"], run["status"]) for run in runs} == {("schedule", b["id"], "SUCCESS")}
    assert admin.get(f"/api/v1/runs/{runs[0]['gid']}").ok()["backfill_id"] == b["id"]
    why = admin.get(f"/api/v1/runs/{runs[0]['gid']}/why").ok()
    assert "backfill" in [step["code"] for step in why["steps"]]
    log = admin.get(f"/api/v1/audit/log?object=backfill:{b['id']}").ok()["items"]
    assert [entry["action"] for entry in log] == ["backfill.create"]
    # the audit expects none of them: they are of before the task, and a person's doing
    audit = admin.get(f"/api/v1/audit/fires?from={MARCH}&to={MARCH + 8 * HOUR}").ok()
    assert [(row["unexplained"], row["duplicates"]) for row in audit["tasks"] if row["task_id"] == hourly["id"]] in ([], [(0, 0)])


def test_what_there_is_already_is_left(admin, worker, hourly):
    first = ask(admin, hourly, MARCH, 2, max_live=5).ok(201)
    end_all(admin, worker, first, "failed")
    assert admin.get(f"/api/v1/backfills/{first['id']}").ok()["failed"] == 2
    dry = ask(admin, hourly, MARCH, 4, dry_run=True).ok(200)
    assert (dry["id"], dry["status"], dry["total"], dry["existed"], dry["made"]) == (None, None, 4, 2, 0)
    second = ask(admin, hourly, MARCH, 4, max_live=100, order="newest_first").ok(201)
    assert (second["made"], second["existed"], second["order"]) == (2, 2, "newest_first")
    third = ask(admin, hourly, MARCH, 4).ok(201)
    assert (third["status"], third["made"], third["existed"]) == ("done", 0, 4)

    mine = admin.get(f"/api/v1/tasks/{hourly['id']}/backfills").ok()["items"]
    assert [b["id"] for b in mine] == [third["id"], second["id"], first["id"]]
    assert admin.get(f"/api/v1/backfills?task_id={hourly['id']}&limit=1").ok()["items"] == mine[:1]
    page = admin.get(f"/api/v1/backfills?task_id={hourly['id']}&limit=2").ok()
    assert admin.get(f"/api/v1/backfills?task_id={hourly['id']}&limit=2&after={page['next']}").ok()["items"] == mine[2:]


def test_it_is_cancelled(admin, worker, hourly):
    b = ask(admin, hourly, MARCH, 50, max_live=3).ok(201)
    run = worker.poll_run()
    over = admin.post(f"/api/v1/backfills/{b['id']}/cancel", {"reason": "the wrong month"}).ok()
    assert (over["status"], over["made"], over["failed"], over["live"]) == ("cancelled", 3, 2, 1)
    admin.post(f"/api/v1/backfills/{b['id']}/cancel").refused(409, "conflict", "status")
    worker.finish(run)
    assert admin.get(f"/api/v1/backfills/{b['id']}").ok()["done"] == 1
    runs = admin.get(f"/api/v1/runs?backfill_id={b['id']}&status=CANCELLED").ok()["items"]
    assert [r["reason"] for r in runs] == ["backfill_cancelled"] * 2
    log = admin.get(f"/api/v1/audit/log?object=backfill:{b['id']}").ok()["items"]
    assert [(e["action"], e["reason"]) for e in log] == [("backfill.cancel", "the wrong month"), ("backfill.create", "")]


@pytest.mark.parametrize("body, code, field", [
    ({}, "invalid", "from"),
    ({"from": -1}, "invalid", "from"),
    ({"from": MARCH, "to": MARCH}, "invalid", "from"),
    ({"from": MARCH, "to": MARCH + HOUR - 1, "max_live": 0}, "invalid", "max_live"),
    ({"from": MARCH, "to": MARCH + HOUR, "max_live": 101}, "invalid", "max_live"),
    ({"from": MARCH, "to": MARCH + HOUR, "order": "random"}, "invalid", "order"),
    ({"from": MARCH + 1, "to": MARCH + HOUR}, "invalid", "from"),
    ({"from": MARCH, "to": MARCH + HOUR, "runs": 3}, "invalid", "runs"),
    ({"from": 0}, "too_large", "from"),
])
def test_bad_ranges_are_refused(admin, hourly, body, code, field):
    admin.post(f"/api/v1/tasks/{hourly['id']}/backfills", body).refused(413 if code == "too_large" else 400, code, field)


def test_only_schedules_have_a_past(admin, make_task):
    ask(admin, make_task(), MARCH, 1).refused(409, "conflict")
    ask(admin, make_task(task_type="scheduled", cron_expr="@after 1h"), MARCH, 1).refused(409, "conflict")
    ask(admin, {"id": "999999"}, MARCH, 1).refused(404, "not_found")
    admin.get("/api/v1/tasks/999999/backfills").refused(404, "not_found")
    admin.get("/api/v1/backfills/999999").refused(404, "not_found")
    admin.post("/api/v1/backfills/x/cancel").refused(404, "not_found")


def test_calendar_and_validity_hold_for_the_past_too(admin, unique, make_task):
    admin.post("/api/v1/calendars", {"name": unique, "days": [{"date": "2025-03-03", "kind": "out"}]}).ok(201)
    task = make_task(task_type="scheduled", cron_expr="0 9 * * *", calendar=unique, valid_from=MARCH)
    # Saturday 2025-03-01 to Thursday the 6th: Tuesday, Wednesday, Thursday; nothing of February
    dry = ask(admin, task, MARCH - 240 * HOUR, 240 + 6 * 24, dry_run=True).ok(200)
    assert dry["total"] == 3


def test_operators_may(server, hourly):
    viewer, operator = server.client(server.tokens["viewer"]), server.client(server.tokens["operator"])
    ask(viewer, hourly, MARCH, 1).refused(403, "denied")
    b = ask(operator, hourly, MARCH, 1).ok(201)
    assert viewer.get(f"/api/v1/backfills/{b['id']}").ok()["created_by"] == "token the-operator"
    operator.post(f"/api/v1/backfills/{b['id']}/cancel").ok()
