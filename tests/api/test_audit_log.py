"""The audit log: whatever people change leaves an entry with who did what to which object."""

import types
from urllib.parse import quote

import pytest

from ax_server import wait_for

API = "/api/v1"
HOOK = {"kind": "webhook", "settings": {"url": "http://127.0.0.1:9/"}}  # an address that this server does not call


@pytest.fixture
def stage(server, admin, unique, group, worker, make_task):
    """`admin` prepares; `do` acts under a token of its own, so that all that it left in the log is one entry."""
    token = admin.post(f"{API}/tokens", {"name": f"doer-{unique}", "role": "admin"}).ok(201)["token"]
    return types.SimpleNamespace(admin=admin, do=server.client(token), actor=f"token doer-{unique}", name=f"{unique}-x", group=group,
                                 worker=worker, make_task=make_task)


def entries(admin, **query):
    text = "&".join(f"{name}={quote(value)}" for name, value in query.items())
    return admin.get(f"{API}/audit/log?{text}").ok()["items"]


def trigger(stage, outcome=None, delay_ms=None, **fields):
    """A run of a new task; with an outcome it has ended so."""
    task = stage.make_task(**fields)
    run = stage.admin.post(f"{API}/tasks/{task['id']}/runs", {} if delay_ms is None else {"delay_ms": delay_ms}).ok(201)
    if outcome is not None:
        stage.worker.finish(stage.worker.poll_run(), outcome)
    return run


# --- one act each: makes the call, answers the object -----------------------------------------------------------------


def group_create(stage):
    stage.do.post(f"{API}/groups", {"group_key": stage.name}).ok(201)
    return f"group:{stage.name}"


def group_update(stage):
    stage.do.patch(f"{API}/groups/{stage.group}", {"version": 1, "pool_size": 7}).ok()
    return f"group:{stage.group}"


def group_delete(stage):
    stage.admin.post(f"{API}/groups", {"group_key": stage.name}).ok(201)
    stage.do.delete(f"{API}/groups/{stage.name}").ok(204)
    return f"group:{stage.name}"


def run_change(stage):
    run = trigger(stage, delay_ms=3_600_000)
    stage.do.patch(f"{API}/runs/{run['gid']}", {"delay_ms": 7_200_000}).ok()
    stage.admin.post(f"{API}/runs/{run['gid']}/cancel").ok()
    return f"run:{run['gid']}"


def run_retry(stage):
    run = trigger(stage, "failed", retry_count=1)
    stage.do.post(f"{API}/runs/{run['gid']}/retry").ok()
    stage.worker.finish(stage.worker.poll_run())
    return f"run:{run['gid']}"


def run_rerun(stage):
    run = trigger(stage, "success")
    stage.do.post(f"{API}/runs/{run['gid']}/rerun").ok(201)
    stage.worker.finish(stage.worker.poll_run())
    return f"run:{run['gid']}"


def task_trigger(stage):
    task = stage.make_task()
    stage.do.post(f"{API}/tasks/{task['id']}/runs").ok(201)
    stage.worker.finish(stage.worker.poll_run())
    return f"task:{task['id']}"


def task_trigger_of_many(stage):
    task = stage.make_task()
    stage.do.post(f"{API}/tasks/{task['id']}/runs/batch", {"runs": [{}, {}]}).ok(201)
    for _ in range(2):
        stage.worker.finish(stage.worker.poll_run())
    return f"task:{task['id']}"


def task_stop(stage):
    """Deleted by force while a worker has a run of it: the run is asked to stop, and the task is still there."""
    run = trigger(stage)
    given = stage.worker.poll_run()
    stage.worker.report(stage.worker.item(given, "accepted"), stage.worker.item(given, "started"))
    stage.do.delete(f"{API}/tasks/{run['task_id']}?force=true").refused(409, "conflict")
    stage.worker.report(stage.worker.item(given, "result", outcome="cancelled", code=143))
    return f"task:{run['task_id']}"


def event_send(stage):
    event = stage.do.post(f"{API}/events", {"name": stage.name}).ok(201)
    return f"event:{event['id']}"


def calendar_create(stage, by=None):
    (by or stage.do).post(f"{API}/calendars", {"name": stage.name}).ok(201)
    return f"calendar:{stage.name}"


def calendar_update(stage):
    calendar_create(stage, stage.admin)
    stage.do.patch(f"{API}/calendars/{stage.name}", {"version": 1, "title": "T"}).ok()
    return f"calendar:{stage.name}"


def calendar_import(stage):
    stage.do.post(f"{API}/calendars/{stage.name}/import", {"format": "csv", "text": "2026-01-01,out,New Year\n"}).ok()
    return f"calendar:{stage.name}"


def calendar_delete(stage):
    calendar_create(stage, stage.admin)
    stage.do.delete(f"{API}/calendars/{stage.name}").ok(204)
    return f"calendar:{stage.name}"


def begin_canary(stage):
    task = stage.make_task()
    path = f"{API}/tasks/{task['id']}/canary"
    stage.admin.post(path, {"version": 1, "percent": 10, "change": {"timeout_seconds": 5}}).ok(201)
    return path, f"task:{task['id']}"


def canary_set(stage):
    path, task = begin_canary(stage)
    stage.do.patch(path, {"percent": 50}).ok()
    return task


def canary_rollback(stage):
    path, task = begin_canary(stage)
    stage.do.post(f"{path}/rollback").ok()
    return task


def channel_test(stage):
    channel = stage.admin.post(f"{API}/channels", {"name": stage.name, **HOOK}).ok(201)
    stage.do.post(f"{API}/channels/{channel['id']}/test").ok(202)
    return f"channel:{stage.name}"


def channel_delete(stage):
    channel = stage.admin.post(f"{API}/channels", {"name": stage.name, **HOOK}).ok(201)
    stage.do.delete(f"{API}/channels/{channel['id']}").ok(204)
    return f"channel:{stage.name}"


def failure_retry(stage):
    run = trigger(stage, "failed", retry_count=0)
    failure = wait_for(lambda: stage.admin.get(f"{API}/failures?task_id={run['task_id']}").ok()["items"])[0]
    assert stage.do.post(f"{API}/failures/{failure['id']}/retry", {"per_minute": 60000}).ok()["made"] == 1
    stage.worker.finish(stage.worker.poll_run())
    return f"failure:{failure['id']}"


def alert_unmute(stage):
    run = trigger(stage, "failed", retry_count=0)
    alert = wait_for(lambda: stage.admin.get(f"{API}/alerts?rule=failed&task_id={run['task_id']}").ok()["items"])[0]
    stage.admin.post(f"{API}/alerts/{alert['id']}/mute", {}).ok()
    stage.do.post(f"{API}/alerts/{alert['id']}/unmute", {}).ok()
    return f"alert:{alert['id']}"


def worker_drain(stage):
    stage.do.post(f"{API}/workers/{stage.worker.name}/drain").ok()
    return f"worker:{stage.worker.name}"


def worker_resume(stage):
    stage.admin.post(f"{API}/workers/{stage.worker.name}/drain").ok()
    stage.do.post(f"{API}/workers/{stage.worker.name}/resume").ok()
    return f"worker:{stage.worker.name}"


def worker_enable(stage):
    stage.admin.post(f"{API}/workers/{stage.worker.name}/disable").ok()
    stage.do.post(f"{API}/workers/{stage.worker.name}/enable").ok()
    return f"worker:{stage.worker.name}"


def worker_forget(stage):
    stage.worker.say("leave", {}).ok()
    stage.do.delete(f"{API}/workers/{stage.worker.name}").ok(204)
    return f"worker:{stage.worker.name}"


ACTS = [group_create, group_update, group_delete, run_change, run_retry, run_rerun, task_trigger, task_trigger_of_many, task_stop,
        event_send, calendar_create, calendar_update, calendar_import, calendar_delete, canary_set, canary_rollback, channel_test,
        channel_delete, failure_retry, alert_unmute, worker_drain, worker_resume, worker_enable, worker_forget]


@pytest.mark.parametrize("act", ACTS, ids=lambda act: act.__name__)
def test_what_is_done_is_written_down(stage, act):
    """run.resolve needs a fire that was missed: tests/e2e/test_misfires.py."""
    thing = act(stage)
    entry, = entries(stage.admin, actor=stage.actor)
    action = ".".join(act.__name__.split("_")[:2])
    assert (entry["action"], entry["object"], entry["actor"]) == (action, thing, stage.actor)
    assert entry["address"].startswith("127.0.0.1") and entry["time"] > 0
    assert entry in entries(stage.admin, object=thing)


def test_the_log_of_one_actor(stage):
    calendar_create(stage, stage.admin)
    for version in (1, 2):
        stage.do.patch(f"{API}/calendars/{stage.name}", {"version": version, "title": f"T{version}"}).ok()
    thing = f"calendar:{stage.name}"
    mine = entries(stage.admin, actor=stage.actor)
    assert [(e["actor"], e["after"]) for e in mine] == [(stage.actor, {"version": 3}), (stage.actor, {"version": 2})]
    first, = entries(stage.admin, actor=stage.actor, limit="1")
    assert first == mine[0] and entries(stage.admin, actor=stage.actor, limit="1", after=first["id"]) == mine[1:]
    assert len(entries(stage.admin, object=thing)) == 3
    assert [e["action"] for e in entries(stage.admin, object=thing, actor="token the-admin")] == ["calendar.create"]
    assert entries(stage.admin, actor="nobody") == entries(stage.admin, actor=stage.actor, object="calendar:other") == []
