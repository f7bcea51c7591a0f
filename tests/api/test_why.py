"""Why: runs and tasks with a worker that speaks the protocol by hand. The situations themselves are tests/unit/app/test_why.c's."""

import time
from datetime import datetime


def why(admin, kind, thing, query=""):
    return admin.get(f"/api/v1/{kind}/{thing.get('gid') or thing['id']}/why{query}").ok()


def codes(answer):
    return [step["code"] for step in answer["steps"]]


def trigger(admin, task):
    return admin.post(f"/api/v1/tasks/{task['id']}/runs", {}).ok(201)


def test_a_run_from_its_making_to_its_end(admin, worker, make_task):
    task = make_task(retry_count=0)
    run = trigger(admin, task)
    answer = why(admin, "runs", run)
    assert answer["verdict"] == "claim" and answer["subject"] == f"run {run['gid']} of {task['group_key']}/{task['task_name']}"
    assert codes(answer)[-2:] == ["claim", "one_request"]
    assert answer["answer"] in [step["text"] for step in answer["steps"]]
    given = worker.poll_run()
    worker.report(worker.item(given, "accepted"), worker.item(given, "started"))
    assert why(admin, "runs", run)["verdict"] == "running"
    worker.report(worker.item(given, "result", outcome="failed", code=7, message="no \"disk\"", duration_ms=5))
    answer = why(admin, "runs", run)
    assert answer["verdict"] == "failed" and 'no "disk"' in answer["answer"]
    assert {"delay", "given_out", "started"} <= set(codes(answer))
    again = admin.post(f"/api/v1/runs/{run['gid']}/rerun", {}).ok(201)
    assert again["gid"] in next(s["text"] for s in why(admin, "runs", run)["steps"] if s["code"] == "rerun_by")
    assert "rerun" in codes(why(admin, "runs", again))


def test_nobody_offers_the_executor(admin, make_task):
    run = trigger(admin, make_task(executor_key="rare"))
    answer = why(admin, "runs", run)
    assert answer["verdict"] == "worker" == admin.get(f"/api/v1/runs/{run['gid']}").ok()["waiting_for"]
    assert [s["code"] for s in answer["steps"] if s["mark"] == "fail"] == ["worker"]


def test_a_task_in_its_zone(server, admin, make_task):
    task = make_task(task_type="scheduled", cron_expr="30 2 * * *", time_zone="Europe/Berlin")
    def at(text):
        return why(admin, "tasks", task, f"?at={int(datetime.fromisoformat(text).timestamp() * 1000)}")

    assert why(admin, "tasks", task, f"?at={task['create_time'] - 86400000}")["verdict"] == "before_task"
    before = at("2037-03-28T12:00:00+01:00")
    assert before["verdict"] == "not_due_yet" and "2037-03-28T02:30:00+01:00" in before["answer"]
    assert "does not exist" in next(s["text"] for s in before["steps"] if s["code"] == "fire_after")
    jump = at("2037-03-29T03:00:00+02:00")
    assert "does not exist" in next(s["text"] for s in jump["steps"] if s["code"] == "fire")
    viewer = server.client(server.tokens["viewer"])
    assert viewer.get(f"/api/v1/tasks/{task['id']}/why").ok()["verdict"] == "worker"


def test_created_paused_and_delay_tasks(admin, make_task):
    created = make_task(task_type="scheduled", cron_expr="@hourly", status="created")
    assert why(admin, "tasks", created)["verdict"] == "created"
    paused = make_task(task_type="scheduled", cron_expr="@hourly")
    admin.post(f"/api/v1/tasks/{paused['id']}/pause", {}).ok()
    assert why(admin, "tasks", paused)["verdict"] == "paused"
    assert why(admin, "tasks", paused, f"?at={int(time.time() * 1000) + 7200000}")["verdict"] == "paused"
    assert "no_schedule" in codes(why(admin, "tasks", make_task()))


def test_refusals(admin, make_task):
    admin.get("/api/v1/runs/123/why").refused(404, "not_found")
    admin.get("/api/v1/tasks/424242/why").refused(404, "not_found")
    admin.get("/api/v1/tasks/x/why").refused(404, "not_found")
    admin.get(f"/api/v1/tasks/{make_task()['id']}/why?at=soon").refused(400, "invalid")
