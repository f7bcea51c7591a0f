"""A task with far more runs than one transaction takes: everything else goes on meanwhile."""

import re
import time

from ax_server import wait_for

RUNS = 6_000  # thirty batches
BATCH = 200  # AX_BATCH of src/core/limits.h


def add_runs(admin, task, n, **fields):
    for first in range(0, n, 1000):
        runs = [fields] * min(1000, n - first)
        admin.post(f"/api/v1/tasks/{task['id']}/runs/batch", {"runs": runs}).ok(201)


def commits(admin):
    return int(re.search(r"^ax_commits_total (\d+)", admin.get("/metrics").text.decode(), re.M)[1])


def pages(admin, query):
    after = ""
    while after is not None:
        page = admin.get(f"/api/v1/runs?{query}&limit=200" + (f"&after={after}" if after else "")).ok()
        yield from page["items"]
        after = page["next"]


def any_run(admin, query):
    return next(pages(admin, query), None)


def test_a_task_with_very_many_runs(admin, worker, make_task):
    task, ticking = make_task(), make_task(task_type="scheduled", cron_expr="@every 1s", overlap="allow", overlap_max=1000, executor_key="nobody")
    path = f"/api/v1/tasks/{task['id']}"
    add_runs(admin, task, RUNS // 2, delay_ms=3_600_000)
    add_runs(admin, task, RUNS // 2)  # due: one waits for a worker, the others for the overlap rule
    assert admin.post(path + "/pause", {}).ok()["given_out"] == []
    assert worker.poll(wait_ms=0)["runs"] == []
    admin.post(path + "/resume", {}).ok()
    given = worker.poll_run()
    assert worker.poll(wait_ms=0)["runs"] == []
    later = any_run(admin, f"task_id={task['id']}&status=PENDING")
    assert admin.post(f"/api/v1/runs/{later['gid']}/cancel", {}).ok()["status"] == "CANCELLED"

    problem = admin.delete(path).refused(409, "conflict", "id")
    assert "at least" in problem["detail"]
    before, started = commits(admin), time.time() * 1000
    answer = admin.delete(path + "?force=true")
    answer.refused(409, "conflict", "id")
    assert answer.headers["retry-after"] == "1"
    assert admin.get(path).ok()["status"] == "deleting"
    live = f"/api/v1/runs?task_id={task['id']}&live=true"
    wait_for(lambda: [run["gid"] for run in admin.get(live).ok()["items"]] == [given["gid"]], seconds=180, every=0.2)
    ended = time.time() * 1000
    spread = commits(admin) - before
    assert spread >= (RUNS - BATCH) // (2 * BATCH) // 2, "a look cancels two batches; at most two looks share a commit"
    worker.report(worker.item(given, "accepted"), worker.item(given, "result", outcome="cancelled", code=1))
    wait_for(lambda: admin.delete(path + "?force=true").status in (204, 404))

    # the other task had a run for each of its seconds, and missed none
    fires = {run["trigger_time"] for run in pages(admin, f"task_id={ticking['id']}&kind=schedule&from={int(started)}&to={int(ended)}")}
    assert len(fires) >= (ended - started) // 1000 - 1
    assert any_run(admin, f"task_id={ticking['id']}&kind=miss") is None
    admin.delete(f"/api/v1/tasks/{ticking['id']}?force=true")
    assert sum(1 for _ in pages(admin, f"task_id={task['id']}&status=CANCELLED")) == RUNS
