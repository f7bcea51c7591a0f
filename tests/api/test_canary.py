"""A new definition on trial: begun, compared, promoted, rolled back."""


def run_once(admin, worker, task, outcome):
    gid = admin.post(f"/api/v1/tasks/{task['id']}/runs", {}).ok(201)["gid"]
    given = worker.poll_run()
    assert given["gid"] == gid
    worker.finish(given, outcome)
    return given["param"]


# R7
def test_a_trial_is_promoted_by_its_rule(admin, worker, make_task):
    task = make_task(retry_count=0)
    path = f"/api/v1/tasks/{task['id']}/canary"
    admin.get(path).refused(404, "not_found")
    canary = admin.post(path, {"version": 1, "percent": 100, "change": {"biz_param": {"v": 2}}, "min_runs": 2}).ok(201)
    assert (canary["state"], canary["base"]["version"], canary["trial"]["version"]) == ("running", 1, 2)
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["canary_version"] == 2
    admin.patch(f"/api/v1/tasks/{task['id']}", {"version": 1, "notes": "x"}).refused(409, "conflict", "version")
    admin.post(path, {"version": 1, "percent": 10, "change": {}}).refused(409, "conflict", "id")
    for _ in range(2):
        assert run_once(admin, worker, task, "success") == {"v": 2}
    canary = admin.get(path).ok()
    assert (canary["state"], canary["ended_by"], canary["trial"]["succeeded"]) == ("promoted", "rule", 2)
    assert canary["trial"]["p95_ms"] >= 0 and canary["reason"] == "failures 0.00 %, nothing to compare with"
    after = admin.get(f"/api/v1/tasks/{task['id']}").ok()
    assert after["version"] == 2 and after["biz_param"] == {"v": 2} and after["canary_version"] is None
    said = [e["action"] for e in admin.get(f"/api/v1/audit/log?object=task:{task['id']}").ok()["items"]]
    assert "canary.begin" in said and "canary.promote" in said


def test_a_trial_is_rolled_back_by_its_rule(admin, worker, make_task):
    task = make_task(retry_count=0)
    path = f"/api/v1/tasks/{task['id']}/canary"
    admin.post(path, {"version": 1, "percent": 100, "change": {"biz_param": {"v": 2}}, "min_runs": 2}).ok(201)
    assert run_once(admin, worker, task, "failed") == {"v": 2}  # one of two is too many already
    canary = admin.get(path).ok()
    assert (canary["state"], canary["ended_by"], canary["trial"]["failed"]) == ("rolled_back", "rule", 1)
    assert "1 of its 1 runs failed" in canary["reason"]
    after = admin.get(f"/api/v1/tasks/{task['id']}").ok()
    assert after["version"] == 3 and after["biz_param"] == task["biz_param"] and after["canary_version"] is None
    said = admin.get(f"/api/v1/audit/log?object=task:{task['id']}").ok()["items"]
    assert [(e["actor"], e["reason"]) for e in said if e["action"] == "canary.rollback"] == [("rule", canary["reason"])]
    assert run_once(admin, worker, task, "success") == task["biz_param"]


def test_the_rule_is_let_in_by_hand(admin, worker, make_task):
    task = make_task(retry_count=0)
    path = f"/api/v1/tasks/{task['id']}/canary"
    admin.post(path, {"version": 1, "percent": 100, "automatic": False, "change": {"timeout_seconds": 5}, "min_runs": 1}).ok(201)
    run_once(admin, worker, task, "failed")
    canary = admin.get(path).ok()
    assert (canary["state"], canary["automatic"], canary["trial"]["failed"]) == ("running", False, 1)
    canary = admin.patch(path, {"automatic": True}).ok()
    assert (canary["state"], canary["automatic"], canary["percent"]) == ("running", True, 100)
    assert admin.patch(path, {"automatic": False}).ok()["automatic"] is False
    admin.patch(path, {"automatic": "yes"}).refused(400, "invalid", "automatic")
    admin.patch(path, {"automatic": True}).ok()
    run_once(admin, worker, task, "failed")
    canary = admin.get(path).ok()
    assert (canary["state"], canary["ended_by"]) == ("rolled_back", "rule")


def test_by_hand(admin, worker, make_task):
    task = make_task(retry_count=0)
    path = f"/api/v1/tasks/{task['id']}/canary"
    admin.post(path, {"version": 1, "percent": 1, "automatic": False, "change": {"timeout_seconds": 5}}).ok(201)
    assert admin.patch(path, {"percent": 100}).ok()["percent"] == 100
    run_once(admin, worker, task, "failed")
    assert admin.get(path).ok()["trial"]["failed"] == 1
    canary = admin.post(path + "/rollback", {"reason": "too many failures"}).ok()
    assert (canary["state"], canary["reason"]) == ("rolled_back", "too many failures")
    admin.post(path + "/promote", {}).refused(409, "conflict", "state")
    after = admin.get(f"/api/v1/tasks/{task['id']}").ok()
    assert after["version"] == 3 and after["timeout_seconds"] == 60


def test_bad_input(admin, make_task):
    task = make_task(task_type="scheduled", cron_expr="0 0 1 1 *")
    path = f"/api/v1/tasks/{task['id']}/canary"
    good = {"version": 1, "percent": 10, "change": {"timeout_seconds": 5}}
    for change, field in (({"percent": 0}, "percent"), ({"percent": 101}, "percent"), ({"min_runs": 0}, "min_runs"), ({"change": 5}, "change"),
                          ({"change": {"cron_expr": "* * * * *"}}, "cron_expr"), ({"change": {"nonsense": 1}}, "change.nonsense"),
                          ({"change": {"timeout_seconds": -1}}, "change.timeout_seconds"), ({"max_failure_points": 101}, "max_failure_points")):
        admin.post(path, {**good, **change}).refused(400, "invalid", field)
    admin.post(path, {**good, "version": 7}).refused(409, "conflict", "version")
    admin.post("/api/v1/tasks/999999/canary", good).refused(404, "not_found")
    admin.get(path).refused(404, "not_found")
