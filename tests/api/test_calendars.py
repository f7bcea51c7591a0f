"""Calendars, windows of validity, jitter: what the API takes and refuses, and what fires and previews follow."""

import datetime
import time
from pathlib import Path

import pytest

CHINA = (Path(__file__).resolve().parents[2] / "docs/examples/china-workdays.csv").read_text()
ICS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//test//
BEGIN:VEVENT
UID:1
DTSTART;VALUE=DATE:20251224
DTEND;VALUE=DATE:20251227
RRULE:FREQ=YEARLY;COUNT=2
SUMMARY:Christmas
END:VEVENT
END:VCALENDAR
"""


def ms(text):
    return int(datetime.datetime.fromisoformat(text).timestamp() * 1000)


def create(admin, name, **fields):
    return admin.post("/api/v1/tasks", {"task_name": name, "executor_key": "test", "cron_expr": "0 9 * * *", **fields})


def today():
    return datetime.datetime.now(datetime.timezone.utc).date()


def wait_for(look, seconds=10):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = look()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError("not within its time")


def test_a_calendar_is_made_changed_and_deleted(admin, unique):
    made = admin.post("/api/v1/calendars", {"name": unique, "title": "Ours", "days": [
        {"date": "2025-10-11", "kind": "in", "label": "make-up"}, {"date": "2025-10-01", "kind": "out"}]}).ok(201)
    assert made["version"] == 1 and made["week"] == ["mon", "tue", "wed", "thu", "fri"] and made["day_count"] == 2
    assert [day["date"] for day in made["days"]] == ["2025-10-01", "2025-10-11"]
    assert admin.get(f"/api/v1/calendars/{unique}").ok() == made
    admin.post("/api/v1/calendars", {"name": unique}).refused(409, "exists")

    changed = admin.patch(f"/api/v1/calendars/{unique}", {"version": 1, "week": ["sat", "sun"], "days": []}).ok()
    assert (changed["version"], changed["week"], changed["days"]) == (2, ["sun", "sat"], [])
    assert admin.patch(f"/api/v1/calendars/{unique}", {"version": 2, "title": "Ours"}).ok()["version"] == 2  # as it is
    admin.patch(f"/api/v1/calendars/{unique}", {"version": 1, "title": "x"}).refused(409, "conflict", "version")
    versions = admin.get(f"/api/v1/calendars/{unique}/versions").ok()["items"]
    assert [(v["version"], v["day_count"], v["author"]) for v in versions] == [(2, 0, "token the-admin"), (1, 2, "token the-admin")]
    head = [c for c in admin.get("/api/v1/calendars").ok()["items"] if c["name"] == unique]
    assert head == [{key: value for key, value in changed.items() if key != "days"}]

    admin.delete(f"/api/v1/calendars/{unique}").ok(204)
    admin.get(f"/api/v1/calendars/{unique}").refused(404, "not_found")
    # its numbers are not used again: epochs may refer to them
    assert admin.post("/api/v1/calendars", {"name": unique}).ok(201)["version"] == 3


@pytest.mark.parametrize("body, field", [
    ({}, "name"),
    ({"name": "a b"}, "name"),
    ({"name": "x", "week": ["monday"]}, "week"),
    ({"name": "x", "days": [{"date": "2025-02-30", "kind": "in"}]}, "days[0].date"),
    ({"name": "x", "days": [{"date": "2025-02-03", "kind": "maybe"}]}, "days[0].kind"),
    ({"name": "x", "days": [{"date": "2025-02-03", "kind": "in", "label": "a\nb"}]}, "days"),
    ({"name": "x", "days": [{"date": "2025-02-03", "kind": "in"}, {"date": "2025-02-03", "kind": "out"}]}, "days"),
])
def test_bad_calendars_are_refused(admin, body, field):
    admin.post("/api/v1/calendars", body).refused(400, "invalid", field)


def test_files_are_taken_in_and_given_out(admin, unique):
    path = f"/api/v1/calendars/{unique}"
    china = admin.post(f"{path}/import", {"format": "csv", "text": CHINA, "title": "China"}).ok()
    assert china["day_count"] == len(CHINA.splitlines()) - 1 and china["title"] == "China"
    assert {"date": "2025-10-11", "kind": "in", "label": "make-up for National Day and Mid-Autumn Festival"} in china["days"]
    text = admin.get(f"{path}/export").ok()
    assert text["format"] == "csv" and admin.post(f"{path}/import", text).ok()["version"] == china["version"]

    merged = admin.post(f"{path}/import", {"format": "ics", "text": ICS}).ok()
    assert merged["version"] == 2 and merged["day_count"] == china["day_count"] + 6
    assert [d["date"] for d in merged["days"] if d["label"] == "Christmas"] == [
        "2025-12-24", "2025-12-25", "2025-12-26", "2026-12-24", "2026-12-25", "2026-12-26"]
    alone = admin.post(f"{path}/import", {"format": "ics", "text": ICS, "kind": "in", "replace": True, "week": []}).ok()
    assert alone["day_count"] == 6 and alone["week"] == [] and alone["days"][0]["kind"] == "in"


@pytest.mark.parametrize("format, text, line", [
    ("csv", "2025-10-01,holiday,\n2025-10-01,workday,\n", "line 2"),
    ("csv", "2025-10-01,holiday\nsoon,holiday\n", "line 2"),
    ("ics", ICS.replace("COUNT=2", "BYDAY=MO"), "line 8"),
    ("ics", ICS.replace("DTSTART;VALUE=DATE:20251224", "DTSTART:20251224T090000Z"), "line 6"),
    ("ics", ICS.replace("SUMMARY", "EXDATE"), "line 9"),
    ("csv", "2025-10-01,holiday," + 300 * "a" + "\n", "line 1"),
])
def test_what_a_file_does_not_say_clearly_is_refused_by_its_line(admin, unique, format, text, line):
    problem = admin.post(f"/api/v1/calendars/{unique}/import", {"format": format, "text": text}).refused(400, "invalid", "text")
    assert line in problem["detail"], problem
    admin.get(f"/api/v1/calendars/{unique}").refused(404, "not_found")


def test_every_workday_at_nine(admin, unique):
    """Chinese public holidays with their make-up workdays."""
    admin.post(f"/api/v1/calendars/{unique}/import", {"format": "csv", "text": CHINA}).ok()
    task = create(admin, unique, time_zone="Asia/Shanghai", calendar=unique).ok(201)
    assert task["calendar"] == unique and task["calendar_mode"] == "include"
    query = f"/api/v1/tasks/{task['id']}/next?from={ms('2025-09-25T00:00:00+00:00')}&n=20"
    preview = admin.get(query).ok()
    assert (preview["calendar"], preview["calendar_version"], preview["jitter_ms"]) == (unique, 1, 0)
    fires = [fire["local"][:10] for fire in preview["fires"] if fire["fires"]]
    assert fires[:11] == ["2025-09-25", "2025-09-26", "2025-09-28", "2025-09-29", "2025-09-30", "2025-10-09", "2025-10-10",
                          "2025-10-11", "2025-10-13", "2025-10-14", "2025-10-15"][:len(fires)]
    left_out = {fire["local"][:10]: fire["note"] for fire in preview["fires"] if not fire["fires"]}
    assert left_out["2025-10-01"]["code"] == "calendar_out"
    assert left_out["2025-10-01"]["label"] == "National Day and Mid-Autumn Festival"
    make_up = next(fire for fire in preview["fires"] if fire["local"].startswith("2025-09-28"))
    assert make_up["note"]["code"] == "calendar_in"

    unsaved = admin.post("/api/v1/schedules/preview", {
        "cron_expr": "0 9 * * *", "time_zone": "Asia/Shanghai", "calendar": unique, "from": ms("2025-09-25T00:00:00+00:00"), "n": 20}).ok()
    assert unsaved["fires"] == preview["fires"]
    admin.post("/api/v1/schedules/preview", {"cron_expr": "0 9 * * *", "calendar": "no"}).refused(400, "invalid", "calendar")

    listed = admin.get(f"/api/v1/tasks?calendar={unique}").ok()["items"]
    assert [item["id"] for item in listed] == [task["id"]]
    problem = admin.delete(f"/api/v1/calendars/{unique}").refused(409, "conflict", "name")
    assert f"default/{unique}" in problem["detail"]


@pytest.mark.parametrize("fields, field", [
    ({"calendar": "no-such"}, "calendar"),
    ({"cron_expr": "@after 30s", "jitter_seconds": 5}, "jitter_seconds"),
    ({"cron_expr": "* * * * *", "jitter_seconds": 60}, "jitter_seconds"),
    ({"cron_expr": "@every 30s", "jitter_seconds": 30}, "jitter_seconds"),
    ({"jitter_seconds": 86400}, "jitter_seconds"),
    ({"valid_from": 2000000000000, "valid_until": 2000000000000}, "valid_until"),
    ({"valid_until": 1000}, "cron_expr"),
    ({"task_type": "delay", "cron_expr": None, "jitter_seconds": 5}, "jitter_seconds"),
    ({"task_type": "delay", "cron_expr": None, "valid_until": 2000000000000}, "valid_until"),
])
def test_rules_that_make_no_sense_are_refused(admin, unique, fields, field):
    create(admin, unique, **fields).refused(400, "never_fires" if field == "cron_expr" else "invalid", field)


# B083
def test_after_knows_no_dates(admin, unique):
    admin.post("/api/v1/calendars", {"name": unique}).ok(201)
    create(admin, unique, cron_expr="@after 30s", calendar=unique).refused(400, "invalid", "calendar")
    admin.post("/api/v1/calendars", {"name": f"{unique}-never", "week": []}).ok(201)
    create(admin, unique, calendar=f"{unique}-never").refused(400, "never_fires", "cron_expr")


# B184
def test_a_change_of_the_calendar_reaches_its_tasks_at_once(admin, unique):
    admin.post("/api/v1/calendars", {"name": unique, "week": ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]}).ok(201)
    task = create(admin, unique, cron_expr="* * * * * *", dialect="quartz", calendar=unique, overlap="skip").ok(201)
    runs = f"/api/v1/runs?task_id={task['id']}&limit=200"
    wait_for(lambda: len(admin.get(runs).ok()["items"]) >= 2)
    admin.patch(f"/api/v1/calendars/{unique}", {"version": 1, "week": []}).ok()
    stopped = admin.get(f"/api/v1/tasks/{task['id']}").ok()
    assert stopped["next_trigger_time"] is None and stopped["exhausted"]
    why = admin.get(f"/api/v1/tasks/{task['id']}/why").ok()
    assert "exhausted" in [step["code"] for step in why["steps"]]
    days = [{"date": str(today() + datetime.timedelta(days=n)), "kind": "in"} for n in (0, 1)]
    admin.patch(f"/api/v1/calendars/{unique}", {"version": 2, "days": days}).ok()
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["next_trigger_time"] is not None
    before = len(admin.get(runs).ok()["items"])
    wait_for(lambda: len(admin.get(runs).ok()["items"]) >= before + 2)
    admin.post(f"/api/v1/tasks/{task['id']}/pause").ok()
    audit = admin.get("/api/v1/audit/fires").ok()
    mine = [item for item in audit["tasks"] if item["task_id"] == task["id"]]
    assert mine and mine[0]["unexplained"] == 0 and mine[0]["duplicates"] == 0, mine


def test_why_nothing_ran_on_a_holiday(admin, unique):
    days = [{"date": str(today() + datetime.timedelta(days=n)), "kind": "out", "label": "a long rest"} for n in (-1, 0, 1)]
    week = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
    admin.post("/api/v1/calendars", {"name": unique, "week": week, "days": days}).ok(201)
    task = create(admin, unique, cron_expr="* * * * * *", dialect="quartz", calendar=unique).ok(201)

    def answer():
        why = admin.get(f"/api/v1/tasks/{task['id']}/why?at={int(time.time() * 1000)}").ok()
        return why["verdict"] == "calendar" and why

    assert "a long rest" in wait_for(answer)["answer"]


def test_jitter_is_the_tasks_own_and_stays(admin, unique):
    tasks = [create(admin, f"{unique}-{n}", cron_expr="0 * * * *", jitter_seconds=1800).ok(201) for n in range(6)]
    offsets = [task["next_trigger_time"] % 3600000 for task in tasks]
    assert all(0 <= offset < 1800000 for offset in offsets) and len(set(offsets)) > 1
    task = tasks[0]
    preview = admin.get(f"/api/v1/tasks/{task['id']}/next").ok()
    assert preview["jitter_ms"] == offsets[0]
    assert all(fire["due_time"] - fire["time"] == offsets[0] and fire["time"] % 3600000 == 0 for fire in preview["fires"])
    changed = admin.patch(f"/api/v1/tasks/{task['id']}", {"version": 1, "cron_expr": "0 */2 * * *"}).ok()
    assert changed["next_trigger_time"] % 3600000 == offsets[0]


def test_a_run_of_a_jittered_task_has_its_fire_as_key(admin, unique):
    task = create(admin, unique, cron_expr="*/2 * * * * *", dialect="quartz", jitter_seconds=1, overlap="allow",
                  overlap_max=1000).ok(201)
    jitter = admin.get(f"/api/v1/tasks/{task['id']}/next").ok()["jitter_ms"]
    runs = wait_for(lambda: admin.get(f"/api/v1/runs?task_id={task['id']}").ok()["items"])
    assert runs[0]["trigger_time"] - int(runs[0]["fire_key"]) == jitter and int(runs[0]["fire_key"]) % 2000 == 0
    admin.post(f"/api/v1/tasks/{task['id']}/pause").ok()


def test_a_window_of_validity_ends(admin, unique):
    now = int(time.time() * 1000)
    task = create(admin, unique, cron_expr="* * * * * *", dialect="quartz", valid_from=now + 1000, valid_until=now + 3000,
                  overlap="allow", overlap_max=1000).ok(201)
    wait_for(lambda: admin.get(f"/api/v1/tasks/{task['id']}").ok()["exhausted"])
    runs = admin.get(f"/api/v1/runs?task_id={task['id']}").ok()["items"]
    assert len(runs) == 2 and all(now + 1000 <= run["trigger_time"] < now + 3000 for run in runs)
    longer = admin.patch(f"/api/v1/tasks/{task['id']}", {"version": 1, "valid_until": None, "valid_from": None}).ok()
    assert not longer["exhausted"] and longer["valid_until"] is None
    admin.post(f"/api/v1/tasks/{task['id']}/pause").ok()
