"""Failure groups: failed runs are counted into them, people look at them and act on them."""

import time

from ax_server import Worker, wait_for


def fail_runs(admin, worker, task, messages, outcome="failed", code=1):
    """One failed run for each message; their gids."""
    gids = []
    for message in messages:
        run = admin.post(f"/api/v1/tasks/{task['id']}/runs").ok(201)
        given = worker.poll_run()
        assert given["gid"] == run["gid"]
        worker.report(worker.item(given, "accepted"), worker.item(given, "started"),
                      worker.item(given, "result", outcome=outcome, code=code, message=message))
        gids.append(run["gid"])
    return gids


def groups_of(admin, task, **query):
    text = "".join(f"&{name}={value}" for name, value in query.items())
    return admin.get(f"/api/v1/failures?task_id={task['id']}{text}").ok()["items"]


def wait_for_count(admin, task, count, seconds=10):
    return wait_for(lambda: (found := groups_of(admin, task)) and sum(g["count"] for g in found) == count and found, seconds)


def now_ms():
    return int(time.time() * 1000)


def test_failures_of_one_cause_are_one_group(admin, worker, make_task):
    task = make_task(retry_count=0)
    gids = fail_runs(admin, worker, task, ["order 17 was not found", "order 4 was not found", "disk full"])
    found = wait_for_count(admin, task, 3)
    assert [(g["title"], g["count"]) for g in found] == [("disk full", 1), ("order <n> was not found", 2)]
    orders = found[1]
    assert (orders["executor_key"], orders["reason"], orders["code"], orders["state"]) == ("test", "exit", 1, "open")
    assert orders["sample_gid"] == gids[1] and not orders["growing"] and sum(orders["trend"]["hours"]) == 2
    assert orders["trend"]["hours"][-1] + orders["trend"]["hours"][-2] == 2  # the hour may have turned
    one = admin.get(f"/api/v1/failures/{orders['id']}").ok()
    assert [(w["worker"], w["count"]) for w in one["spread"]["workers"]] == [(worker.name, 2)]
    assert [(v["task_id"], v["task_name"], v["version"], v["count"]) for v in one["spread"]["versions"]] == [
        (task["id"], task["task_name"], 1, 2)]
    assert [r["gid"] for r in one["runs"]] == gids[1::-1] and one["runs"][0]["result_msg"] == "order 4 was not found"
    assert one["not_rerun"] == 2 and one["also_in"] == [] and one["hints"] == []
    assert admin.get(f"/api/v1/runs/{gids[0]}").ok()["failure_id"] == orders["id"]
    listed = admin.get(f"/api/v1/runs?failure_id={orders['id']}").ok()
    assert [r["gid"] for r in listed["items"]] == gids[1::-1] and listed["next"] is None
    page = admin.get(f"/api/v1/runs?failure_id={orders['id']}&limit=1").ok()
    assert [r["gid"] for r in page["items"]] == [gids[1]]
    rest = admin.get(f"/api/v1/runs?failure_id={orders['id']}&limit=1&after={page['next']}").ok()
    assert [r["gid"] for r in rest["items"]] == [gids[0]]
    assert admin.get(f"/api/v1/runs?failure_id={orders['id']}&worker=other").ok()["items"] == []
    admin.get("/api/v1/runs?failure_id=424242").refused(400, "invalid", "failure_id")


def test_why_names_the_group(admin, worker, make_task):
    task = make_task(retry_count=0)
    gid = fail_runs(admin, worker, task, ["order 17 was not found"])[0]
    group = wait_for_count(admin, task, 1)[0]
    why = admin.get(f"/api/v1/runs/{gid}/why").ok()
    assert why["verdict"] == "failed"
    step = next(s for s in why["steps"] if s["code"] == "failure_group")
    assert f"failure group {group['id']}" in step["text"] and "order <n> was not found" in step["text"]


def test_a_run_that_went_well_has_no_group(admin, worker, make_task):
    task = make_task()
    run = admin.post(f"/api/v1/tasks/{task['id']}/runs").ok(201)
    worker.finish(worker.poll_run())
    assert admin.get(f"/api/v1/runs/{run['gid']}").ok()["failure_id"] is None


def test_filters_and_pages(admin, worker, make_task, unique):
    task = make_task(retry_count=0)
    fail_runs(admin, worker, task, [f"cause {c * 3} of {unique}" for c in "abcde"])
    found = wait_for_count(admin, task, 5)
    assert [g["title"][6:9] for g in found] == ["eee", "ddd", "ccc", "bbb", "aaa"]
    ids = [g["id"] for g in found]
    walked, after = [], ""
    while True:
        page = admin.get(f"/api/v1/failures?group_key={task['group_key']}&limit=2{after}").ok()
        walked += [g["id"] for g in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert walked == ids
    assert [g["id"] for g in groups_of(admin, task, q="CAUSE%20bbb")] == [ids[3]]
    assert [g["id"] for g in groups_of(admin, task, worker=worker.name)] == ids
    assert groups_of(admin, task, worker="nobody") == []
    assert groups_of(admin, task, group_key="default") == []
    admin.post(f"/api/v1/failures/{ids[0]}/resolve").ok()
    assert [g["id"] for g in groups_of(admin, task, state="resolved")] == ids[:1]
    assert [g["id"] for g in groups_of(admin, task, state="open")] == ids[1:]
    admin.get("/api/v1/failures?state=closed").refused(400, "invalid", "state")
    admin.get("/api/v1/failures?after=5").refused(400, "invalid", "after")
    admin.get("/api/v1/failures/424242").refused(404, "not_found")


def test_mute_resolve_reopen_assign(admin, worker, make_task):
    task = make_task(retry_count=0)
    fail_runs(admin, worker, task, ["boom"])
    path = f"/api/v1/failures/{wait_for_count(admin, task, 1)[0]['id']}"
    until = now_ms() + 3600_000
    muted = admin.post(f"{path}/mute", {"mute_until_time": until, "reason": "known since Monday"}).ok()
    assert (muted["state"], muted["mute_until_time"], muted["state_reason"]) == ("muted", until, "known since Monday")
    assert muted["state_by"] == "token the-admin"
    admin.post(f"{path}/mute", {"mute_until_time": until}).refused(400, "invalid", "reason")
    admin.post(f"{path}/mute", {"mute_until_time": until, "reason": ""}).refused(400, "invalid", "reason")
    admin.post(f"{path}/mute", {"mute_until_time": 5, "reason": "x"}).refused(400, "invalid", "mute_until_time")
    assigned = admin.post(f"{path}/assign", {"assignee": "ann", "note": "see the runbook"}).ok()
    assert (assigned["assignee"], assigned["note"], assigned["state"]) == ("ann", "see the runbook", "muted")
    assert admin.post(f"{path}/assign", {"assignee": None}).ok()["assignee"] is None
    admin.post(f"{path}/assign", {}).refused(400, "invalid", "assignee")
    assert admin.post(f"{path}/resolve", {"reason": "fixed"}).ok()["state"] == "resolved"
    admin.post(f"{path}/mute", {"mute_until_time": until, "reason": "x"}).refused(409, "conflict", "state")
    fail_runs(admin, worker, task, ["boom"])
    again = wait_for(lambda: (g := groups_of(admin, task)[0])["state"] == "open" and g)
    assert again["reopen_count"] == 1 and again["count"] == 2 and again["note"] == "see the runbook"
    admin.post(f"{path}/resolve").ok()
    assert admin.post(f"{path}/reopen", {"reason": "too early"}).ok()["state"] == "open"
    log = admin.get(f"/api/v1/audit/log?object=failure:{again['id']}").ok()["items"]
    assert [e["action"] for e in log] == ["failure.reopen", "failure.resolve", "failure.resolve", "failure.assign",
                                          "failure.assign", "failure.mute"]
    assert log[-1]["before"]["state"] == "open" and log[-1]["after"]["state"] == "muted"
    assert log[-1]["reason"] == "known since Monday"


def test_a_viewer_only_looks(server, admin, worker, make_task):
    task = make_task(retry_count=0)
    fail_runs(admin, worker, task, ["boom"])
    path = f"/api/v1/failures/{wait_for_count(admin, task, 1)[0]['id']}"
    viewer = server.client(server.tokens["viewer"])
    viewer.get(path).ok()
    for act in ("mute", "assign", "resolve", "reopen", "retry"):
        viewer.post(f"{path}/{act}").refused(403, "denied")
    server.client(server.tokens["operator"]).post(f"{path}/resolve").ok()


def test_retry_all_runs_each_once(admin, worker, make_task):
    task = make_task(retry_count=0)
    gids = fail_runs(admin, worker, task, [f"order {n} was not found" for n in range(4)])
    path = f"/api/v1/failures/{wait_for_count(admin, task, 4)[0]['id']}"
    admin.post(f"/api/v1/runs/{gids[0]}/rerun").ok(201)  # somebody was quicker
    worker.finish(worker.poll_run())
    assert admin.get(path).ok()["not_rerun"] == 3
    answer = admin.post(f"{path}/retry", {"limit": 2, "per_minute": 60000, "reason": "orders are back"}).ok()
    assert answer["made"] == 2 and answer["left"] == 1 and answer["last_due_time"] > now_ms() - 10_000
    assert admin.post(f"{path}/retry", {"per_minute": 60000}).ok()["made"] == 1
    assert admin.post(f"{path}/retry").ok() == {"made": 0, "last_due_time": None, "left": 0}
    repeated = set()
    for _ in range(3):
        given = worker.poll_run()
        repeated.add(admin.get(f"/api/v1/runs/{given['gid']}").ok()["rerun_of"])
        worker.finish(given)
    assert repeated == set(gids[1:])
    log = admin.get(f"/api/v1/audit/log?object=failure:{path.rsplit('/', 1)[1]}").ok()["items"]
    assert [e["after"] for e in log] == [{"made": 1, "left": 0}, {"made": 2, "left": 1}]
    admin.post(f"{path}/retry", {"limit": 1001}).refused(400, "invalid", "limit")
    admin.post("/api/v1/failures/424242/retry").refused(404, "not_found")


def test_retry_all_is_paced(admin, worker, make_task):
    task = make_task(retry_count=0)
    fail_runs(admin, worker, task, ["boom 1", "boom 2", "boom 3"])
    path = f"/api/v1/failures/{wait_for_count(admin, task, 3)[0]['id']}"
    answer = admin.post(f"{path}/retry", {"per_minute": 1}).ok()
    assert answer["made"] == 3
    pending = admin.get(f"/api/v1/runs?task_id={task['id']}&status=PENDING,WAITING&live=true").ok()["items"]
    due = sorted(r["trigger_time"] for r in pending)
    assert [b - a for a, b in zip(due, due[1:])] == [60_000, 60_000] and due[-1] == answer["last_due_time"]


# R7
def test_only_on_one_worker(server, admin, group, make_task):
    token = admin.post("/api/v1/tokens", {"name": f"{group}-2", "worker_groups": [group]}).ok(201)["token"]
    bad = Worker(server.client(token), name=f"bad-{group}", group=group)
    good = Worker(server.client(token), name=f"good-{group}", group=group)
    task = make_task(retry_count=0)
    bad.register()
    fail_runs(admin, bad, task, ["no such file"] * 3)
    group_id = wait_for_count(admin, task, 3)[0]["id"]
    assert [h["code"] for h in admin.get(f"/api/v1/failures/{group_id}").ok()["hints"]] == ["one_worker"]
    good.register()
    for _ in range(3):
        admin.post(f"/api/v1/tasks/{task['id']}/runs").ok(201)
        good.finish(good.poll_run())
    hint = admin.get(f"/api/v1/failures/{group_id}").ok()["hints"][0]
    assert hint["code"] == "only_worker" and hint["text"].startswith(f"Only on bad-{group}: all 3 failures")


def test_the_same_failure_elsewhere_is_named(server, admin, worker, make_task, unique):
    other_key = f"{unique}-other"
    admin.post("/api/v1/groups", {"group_key": other_key}).ok(201)
    token = admin.post("/api/v1/tokens", {"name": other_key, "worker_groups": [other_key]}).ok(201)["token"]
    other = Worker(server.client(token), name=f"w-{other_key}", group=other_key)
    other.register()
    here, there = make_task(retry_count=0), make_task(retry_count=0, group_key=other_key)
    message = f"database {unique}x is gone"
    fail_runs(admin, worker, here, [message])
    fail_runs(admin, other, there, [message])
    a, b = wait_for_count(admin, here, 1)[0], wait_for_count(admin, there, 1)[0]
    assert a["id"] != b["id"]
    assert [(g["id"], g["group_key"]) for g in admin.get(f"/api/v1/failures/{a['id']}").ok()["also_in"]] == [(b["id"], other_key)]


def test_counts_survive_a_kill(start_server):
    """Every failure is counted once, also when the server dies in between."""
    server = start_server()
    session = server.set_up()
    token = session.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]
    worker = Worker(server.client(token))
    worker.register()
    task = session.post("/api/v1/tasks", {"task_name": "t", "task_type": "delay", "executor_key": "test", "retry_count": 0,
                                          "overlap": "allow", "overlap_max": 100}).ok(201)
    fail_runs(session, worker, task, ["boom 1", "boom 2"])
    server.kill()
    server.start()
    worker.client.server = session.server = server
    worker.register()
    fail_runs(session, worker, task, ["boom 3"])
    wait_for_count(session, task, 3, 30)  # over MariaDB the lease of the dead server runs out first
