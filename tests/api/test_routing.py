"""Who gets a run: routes, tags, lanes, backlog; workers that are disabled; what tasks inherit from their group."""

import pytest

from ax_server import Worker, wait_for


@pytest.fixture
def workers(server, admin, group):
    """Workers a, b, c of one group: the names end so."""
    token = admin.post("/api/v1/tokens", {"name": group, "worker_groups": [group]}).ok(201)["token"]

    def make(name, zone="a"):
        worker = Worker(server.client(token), name=f"{group}-{name}", group=group)
        worker.register(tags={"zone": zone})
        return worker

    return [make(name) for name in "abc"], make


def trigger(admin, task, **body):
    return admin.post(f"/api/v1/tasks/{task['id']}/runs", body).ok(201)


def run_of(admin, run):
    return admin.get(f"/api/v1/runs/{run['gid']}").ok()


def verdict(admin, run):
    why = admin.get(f"/api/v1/runs/{run['gid']}/why").ok()
    assert why["verdict"] == run_of(admin, run)["waiting_for"]
    return why["verdict"], why["answer"]


def test_only_workers_with_the_tags_get_it(admin, workers, make_task):
    (a, b, c), make = workers
    task = make_task(route_tags={"zone": "b"}, overlap="allow", overlap_max=9)
    assert any("has the tags" in warning["text"] for warning in task["warnings"])
    run = trigger(admin, task)
    assert a.poll(5, 100)["runs"] == []
    word, answer = verdict(admin, run)
    assert word == "tags" and '{"zone":"b"}' in answer
    other = trigger(admin, make_task())  # behind it in the queue, and not kept back
    assert [r["gid"] for r in a.poll(5, 3000)["runs"]] == [other["gid"]]
    d = make("d", zone="b")
    assert [r["gid"] for r in d.poll(5, 3000)["runs"]] == [run["gid"]]
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["warnings"] == []


def test_the_name_is_a_tag(admin, workers, make_task):
    (a, b, c), _ = workers
    run = trigger(admin, make_task(route_tags={"worker": b.name}))
    assert a.poll(5, 100)["runs"] == []
    assert [r["gid"] for r in b.poll(5, 3000)["runs"]] == [run["gid"]]


def test_first_waits_for_the_first_and_then_takes_the_next(admin, workers, make_task):
    (a, b, c), _ = workers
    fill = make_task(route_tags={"worker": a.name}, overlap="allow", overlap_max=50, lane="short")
    for _ in range(30):  # pool 10 × 3
        trigger(admin, fill)
    assert len(wait_for(lambda: a.poll(30, 1000)["runs"])) == 30
    run = trigger(admin, make_task(route="first"))
    assert b.poll(5, 200)["runs"] == []
    word, answer = verdict(admin, run)
    assert word == "route" and a.name in answer
    assert [r["gid"] for r in wait_for(lambda: b.poll(5, 1000)["runs"], 12)] == [run["gid"]]
    assert run_of(admin, run)["dispatch_time"] - run["create_time"] >= 5000


def test_failover_tries_another(admin, workers, make_task):
    (a, b, c), _ = workers
    run = trigger(admin, make_task(route="failover", retry_count=2))
    given = a.poll_run()
    assert given["gid"] == run["gid"]
    a.finish(given, "failed")
    admin.post(f"/api/v1/runs/{run['gid']}/retry").ok()
    assert a.poll(1, 200)["runs"] == []
    assert b.poll_run()["gid"] == run["gid"]


def test_a_disabled_worker_gets_nothing_until_it_is_enabled(admin, workers, make_task):
    (a, b, c), _ = workers
    path = f"/api/v1/workers/{a.name}"
    seen = admin.post(f"{path}/disable", {"reason": "bad disk"}).ok()
    assert (seen["state"], seen["disabled"]) == ("disabled", True)
    entry = admin.get(f"/api/v1/audit/log?object=worker:{a.name}").ok()["items"][0]
    assert (entry["action"], entry["reason"]) == ("worker.disable", "bad disk")
    run = trigger(admin, make_task(route="first"))
    assert a.poll(5, 100) == {"runs": [], "stop": [], "drain": True}
    for again in range(2):  # neither a restart nor leaving and coming back makes it forget
        if again:
            a.say("leave", {}).ok()
        a.incarnation = f"{again}" * 16
        a.register()
        assert a.poll(5, 100)["runs"] == []
        assert admin.get(path).ok()["state"] == "disabled"
    admin.post(f"{path}/resume").ok()
    assert admin.get(path).ok()["state"] == "disabled"  # that is for drained ones
    assert b.poll_run()["gid"] == run["gid"]
    second = trigger(admin, make_task(route="first"))
    assert admin.post(f"{path}/enable").ok()["state"] == "online"
    assert a.poll_run()["gid"] == second["gid"]
    admin.post("/api/v1/workers/nobody/disable").refused(404, "not_found")


def test_long_runs_hold_their_share(admin, group, workers, make_task):
    (a, b, c), _ = workers
    admin.patch(f"/api/v1/groups/{group}", {"version": 1, "dispatch_quota": 10, "long_share_percent": 30}).ok()
    task = make_task(lane="long", overlap="allow", overlap_max=99)
    runs = [trigger(admin, task) for _ in range(8)]
    assert runs[0]["lane"] == "long"
    given = wait_for(lambda: a.poll(30, 1000)["runs"])
    assert len(given) == 3 and {r["lane"] for r in given} == {"long"} and given[0]["long_share_percent"] == 30
    seen = admin.get(f"/api/v1/groups/{group}").ok()
    assert (seen["running"], seen["running_long"]) == (3, 3)
    word, answer = verdict(admin, runs[7])
    assert word == "lane" and "30 %" in answer and "3 of 3" in answer
    quick = trigger(admin, make_task(lane="short"))  # behind five long ones
    assert [r["gid"] for r in b.poll(5, 3000)["runs"]] == [quick["gid"]]
    a.finish(given[0])
    assert [r["gid"] for r in b.poll(5, 3000)["runs"]] == [runs[3]["gid"]]


def test_auto_learns_which_tasks_are_long(admin, workers, make_task):
    (a, b, c), _ = workers
    task = make_task()
    assert (task["next_lane"], task["duration_p90_ms"]) == ("short", None)
    run = trigger(admin, task)
    assert run["lane"] == "short"
    given = a.poll_run()
    a.report(a.item(given, "accepted"), a.item(given, "started"))
    wait_for(lambda: run_of(admin, run)["start_time"] + 1000 <= admin.get("/api/v1/overview").ok()["server_time"])
    a.report(a.item(given, "result", outcome="success", code=0))
    task = admin.get(f"/api/v1/tasks/{task['id']}").ok()
    assert task["next_lane"] == "long" and 1000 <= task["duration_p90_ms"] < 8000
    assert trigger(admin, task)["lane"] == "long"


# R27
def test_the_backlog_of_a_worker(admin, group, workers, make_task):
    (a, b, c), _ = workers
    admin.patch(f"/api/v1/groups/{group}", {"version": 1, "worker_backlog": 2}).ok()
    task = make_task(overlap="allow", overlap_max=9, route_tags={"worker": a.name})
    runs = [trigger(admin, task) for _ in range(3)]
    assert len(wait_for(lambda: a.poll(30, 1000)["runs"])) == 2
    word, answer = verdict(admin, runs[2])
    assert word == "backlog" and "2 each" in answer


# R17
def test_tasks_inherit_what_their_group_says(admin, group, make_task):
    path = f"/api/v1/groups/{group}"
    defaults = {"timeout_seconds": 7, "retry_count": 0, "route_tags": {"zone": "a"}, "owner": "ops@example.org"}
    assert admin.patch(path, {"version": 1, "defaults": defaults}).ok()["defaults"] == defaults
    task = make_task(retry_count=2)
    assert (task["timeout_seconds"], task["retry_count"], task["owner"]) == (7, 2, "ops@example.org")
    assert task["route_tags"] == {"zone": "a"} and make_task(route_tags=None)["route_tags"] is None
    body = {"tasks": [{"task_name": "x", "group_key": group, "task_type": "delay", "executor_key": "test"}]}
    assert admin.post("/api/v1/tasks/batch", body).ok(201)["items"][0]["timeout_seconds"] == 7
    assert admin.patch(path, {"version": 2, "defaults": None}).ok()["defaults"] == {}
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["timeout_seconds"] == 7  # they were taken when it was saved
    assert make_task()["timeout_seconds"] == 60
    admin.patch(path, {"version": 3, "defaults": {"executor_key": "test"}}).ok()
    bare = {"task_name": "y", "group_key": group, "task_type": "delay"}
    assert admin.post("/api/v1/tasks", bare).ok(201)["executor_key"] == "test"


@pytest.mark.parametrize("defaults, field", [
    ({"task_name": "x"}, "defaults.task_name"), ({"nonsense": 1}, "defaults.nonsense"),
    ({"retry_count": 101}, "defaults.retry_count"), ({"time_zone": "Mars/Base"}, "defaults.time_zone"),
    ({"retry_backoff": "list"}, "defaults.retry_delays"), ({"route_tags": {"a": 1}}, "defaults.route_tags"), ([], "defaults"),
])
def test_defaults_that_no_task_could_have(admin, group, defaults, field):
    admin.patch(f"/api/v1/groups/{group}", {"version": 1, "defaults": defaults}).refused(400, "invalid", field)


def test_contacts_are_channels_and_addresses(admin, group):
    path = f"/api/v1/groups/{group}"
    assert admin.patch(path, {"version": 1, "contacts": ["ops", "a.b+c@example.org"]}).ok()["contacts"] == ["ops", "a.b+c@example.org"]
    for wrong in (["two words"], ["@example.org"], ["a@b@c"], ["a@"], [""], [1], "ops"):
        admin.patch(path, {"version": 2, "contacts": wrong}).refused(400, "invalid", "contacts")
    assert admin.patch(path, {"version": 2, "contacts": []}).ok()["contacts"] == []


@pytest.mark.parametrize("field, value", [("long_share_percent", 0), ("long_share_percent", 101), ("worker_backlog", 30001),
                                          ("worker_backlog", -1), ("keep_days", 3651), ("keep_runs", 10001)])
def test_settings_out_of_range(admin, group, field, value):
    admin.patch(f"/api/v1/groups/{group}", {"version": 1, field: value}).refused(400, "invalid", field)


@pytest.mark.parametrize("field, value", [("route", "best"), ("route_tags", []), ("route_tags", {"a": 1}), ("route_tags", "x"),
                                          ("lane", "fast"), ("route_tags", {str(i): "" for i in range(33)})])
def test_routes_out_of_range(admin, group, field, value):
    body = {"task_name": "x", "group_key": group, "task_type": "delay", "executor_key": "test", field: value}
    admin.post("/api/v1/tasks", body).refused(400, "invalid", field)
