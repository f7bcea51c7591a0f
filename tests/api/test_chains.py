"""Chains: success starts what is behind, any other end blocks it, joins wait for all of a batch."""

import json

import pytest

from ax_server import wait_for


def trigger(admin, task):
    return admin.post(f"/api/v1/tasks/{task['id']}/runs", {}).ok(201)


def run_of(admin, gid):
    return admin.get(f"/api/v1/runs/{gid}").ok()


def runs(admin, task):
    return admin.get(f"/api/v1/runs?task_id={task['id']}").ok()["items"]


@pytest.fixture
def link(make_task):
    """A task behind others."""
    return lambda *upstreams, **fields: make_task(**{"upstreams": [task["id"] for task in upstreams], "retry_count": 0, **fields})


def end(worker, outcome="success", **more):
    given = worker.poll_run()
    worker.finish(given, outcome=outcome, **more)
    return given


def test_success_starts_the_chain_and_hands_results_on(admin, worker, link):
    first = link()
    second = link(first)
    assert second["upstreams"] == [first["id"]] and second["upstream_task_id"] == first["id"]
    assert (second["join"], second["join_deadline_seconds"], first["upstream_task_id"]) == ("any", 86400, None)
    run = trigger(admin, first)
    assert run["batch"] == run["gid"] and run["blocked_by"] is None
    assert end(worker, result={"rows": 7})["upstream"] == []
    given = worker.poll_run()
    assert given["kind"] == "chain" and given["traceparent"][3:35] == run["trace_id"]
    assert given["upstream"] == [{"task_id": first["id"], "task_name": first["task_name"], "gid": run["gid"],
                                  "status": "SUCCESS", "result": {"rows": 7}, "result_omitted": False}]
    worker.finish(given)
    seen = run_of(admin, given["gid"])
    assert (seen["batch"], seen["fire_key"]) == (run["gid"], run["gid"])
    linked = {"task_id": first["id"], "task_name": first["task_name"], "gid": run["gid"], "status": "SUCCESS"}
    assert (seen["upstream_runs"], seen["downstream_runs"]) == ([linked], [])
    down, = run_of(admin, run["gid"])["downstream_runs"]
    assert (down["task_id"], down["gid"], down["status"]) == (second["id"], given["gid"], "SUCCESS")
    # a rerun of the second has the same upstream
    again = admin.post(f"/api/v1/runs/{given['gid']}/rerun").ok(201)
    assert worker.poll_run()["upstream"] == given["upstream"] and again["batch"] == run["gid"]


def test_results_that_are_too_large_together_are_left_out(admin, worker, link):
    root = link(overlap="allow", overlap_max=5)
    sides = [link(root) for _ in range(3)]
    join = link(*sides, join="all")
    trigger(admin, root)
    end(worker)
    for _ in sides:
        end(worker, result="x" * 30000)
    given = worker.poll_run()
    assert given["task_id"] == join["id"] and given["kind"] == "chain"
    assert [(u["result_omitted"], len(u["result"] or "")) for u in given["upstream"]] == [(False, 30000), (False, 30000), (True, 0)]
    worker.finish(given)


def test_any_other_end_blocks_what_is_behind_b180(admin, worker, link):
    first = link()
    second = link(first)
    third = link(second)
    run = trigger(admin, first)
    end(worker, "failed")
    blocked, = runs(admin, second)
    assert (blocked["status"], blocked["reason"], blocked["blocked_by"]) == ("BLOCKED", "upstream", run["gid"])
    assert blocked["result_msg"] == f"run {run['gid']} of {first['task_name']} ended as FAILED"
    last, = runs(admin, third)
    assert (last["status"], last["blocked_by"], last["batch"]) == ("BLOCKED", blocked["gid"], run["gid"])
    why = admin.get(f"/api/v1/runs/{last['gid']}/why").ok()
    assert why["verdict"] == "blocked" and any(step["code"] == "broken_at" and run["gid"] in step["text"] for step in why["steps"])
    admin.post(f"/api/v1/runs/{run['gid']}/rerun").ok(201)
    end(worker)
    given = worker.poll_run()
    assert given["task_id"] == second["id"]
    worker.finish(given)
    end(worker)


def test_a_batch_is_listed(admin, worker, link):
    """All that one root fire began, along its chain; a second fire of the root is another batch."""
    first = link()
    second = link(first)
    batches = []
    for _ in range(2):
        root = trigger(admin, first)
        end(worker)
        batches.append([end(worker)["gid"], root["gid"]])
    assert run_of(admin, batches[0][0])["task_id"] == second["id"]

    def listed(gids, query=""):
        return admin.get(f"/api/v1/runs?batch={gids[-1]}{query}").ok()
    for gids in batches:
        assert [run["gid"] for run in listed(gids)["items"]] == gids
        assert [run["gid"] for run in listed(gids, f"&task_id={second['id']}&status=SUCCESS")["items"]] == gids[:1]
        page = listed(gids, "&limit=1")
        assert [run["gid"] for run in page["items"] + listed(gids, f"&limit=1&after={page['next']}")["items"]] == gids
        assert listed(gids, "&status=FAILED")["items"] == []
    assert listed(batches[0][:1])["items"] == []  # no root
    admin.get("/api/v1/runs?batch=x").refused(400, "invalid", "batch")


# R30
def test_a_join_is_seen_waiting_and_comes_once(admin, worker, link):
    root = link()
    left, right = link(root), link(root)
    join = link(left, right, join="all", join_deadline_seconds=3600)
    run = trigger(admin, root)
    end(worker)
    one = end(worker)
    waiting, = runs(admin, join)
    assert (waiting["status"], waiting["waiting_for"], waiting["batch"]) == ("PENDING", "upstreams", run["gid"])
    assert waiting["deadline_time"] == waiting["create_time"] + 3600000
    states = {u["task_id"]: u["status"] for u in run_of(admin, waiting["gid"])["upstream_runs"]}
    other = ({left["id"], right["id"]} - {one["task_id"]}).pop()
    assert states == {one["task_id"]: "SUCCESS", other: None}
    assert admin.get(f"/api/v1/runs/{waiting['gid']}/why").ok()["verdict"] == "upstreams"
    end(worker)
    given = worker.poll_run()
    assert given["gid"] == waiting["gid"] and {u["task_id"] for u in given["upstream"]} == {left["id"], right["id"]}
    worker.finish(given)
    assert len(runs(admin, join)) == 1


def test_the_graph_around_a_task(admin, link):
    a = link()
    b, c = link(a), link(a)
    d = link(b, c, join="all")
    other = link(a)
    graph = admin.get(f"/api/v1/tasks/{b['id']}/graph").ok()
    assert {t["id"]: t["distance"] for t in graph["tasks"]} == {b["id"]: 0, a["id"]: -1, d["id"]: 1}
    assert {(e["upstream_id"], e["task_id"]) for e in graph["edges"]} == {(a["id"], b["id"]), (b["id"], d["id"])}
    graph = admin.get(f"/api/v1/tasks/{d['id']}/graph").ok()
    assert {t["id"]: t["distance"] for t in graph["tasks"]} == {d["id"]: 0, b["id"]: -1, c["id"]: -1, a["id"]: -2}
    assert [t["join"] for t in graph["tasks"]][0] == "all" and not graph["truncated"]
    assert other["id"] not in {t["id"] for t in graph["tasks"]}
    admin.get("/api/v1/tasks/999999/graph").refused(404, "not_found")


def test_definitions_that_are_refused_b176(admin, group, unique, link):
    a = link()
    b = link(a)
    body = {"group_key": group, "executor_key": "test"}
    for i, (fields, field) in enumerate([
            ({"upstreams": [a["id"]], "cron_expr": "* * * * *"}, "cron_expr"),
            ({"upstreams": [a["id"], a["id"]], "task_type": "delay"}, "upstreams"),
            ({"upstreams": ["99999999"], "task_type": "delay"}, "upstreams"),
            ({"upstreams": [int(a["id"])], "task_type": "delay"}, "upstreams"),
            ({"upstreams": a["id"], "task_type": "delay"}, "upstreams"),
            ({"join": "all", "task_type": "delay"}, "join"),
            ({"upstreams": [a["id"]], "join": "some"}, "join"),
            ({"upstreams": [a["id"]], "join_deadline_seconds": 5}, "join_deadline_seconds"),
            ({"task_type": "scheduled"}, "cron_expr")]):
        admin.post("/api/v1/tasks", {**body, "task_name": f"{unique}-{i}", **fields}).refused(400, "invalid", field)
    # without a type it is scheduled: by its upstreams
    chained = admin.post("/api/v1/tasks", {**body, "task_name": unique, "upstreams": [a["id"]]}).ok(201)
    assert (chained["task_type"], chained["cron_expr"], chained["next_trigger_time"]) == ("scheduled", None, None)
    admin.get(f"/api/v1/tasks/{chained['id']}/next").refused(409, "conflict")
    admin.call("PATCH", f"/api/v1/tasks/{a['id']}", {"version": 1, "upstreams": [b["id"]]}).refused(400, "invalid", "upstreams")
    problem = admin.call("DELETE", f"/api/v1/tasks/{a['id']}?force=true").refused(409, "conflict", "id")
    assert b["task_name"] in problem["detail"]
    changed = admin.call("PATCH", f"/api/v1/tasks/{chained['id']}", {"version": 1, "upstreams": None, "cron_expr": "0 0 1 1 *"}).ok()
    assert changed["upstreams"] == [] and changed["next_trigger_time"]


def test_a_broadcast_of_shards_is_followed_once_b177(admin, worker, link):
    sharded = link(shard_count=3)
    behind = link(sharded)
    trigger(admin, sharded)
    shards = [worker.poll_run() for _ in range(3)]
    for shard in shards[:2]:
        worker.finish(shard)
    assert runs(admin, behind) == []
    worker.finish(shards[2])
    wait_for(lambda: len(runs(admin, behind)) == 1)
    assert [run["status"] for run in runs(admin, behind)] == ["WAITING"]


def test_an_event_begins_a_batch(admin, worker, link, unique):
    one, two = (link(task_type="event", event_name=unique) for _ in range(2))
    join = link(one, two, join="all")
    event = admin.post("/api/v1/events", {"name": unique, "payload": {"n": 1}}).ok(201)
    for _ in range(2):
        given = end(worker)
        assert given["params"] == {"n": 1}
    given = worker.poll_run()
    assert given["task_id"] == join["id"] and run_of(admin, given["gid"])["batch"] == event["id"]
    json.dumps(given)
    worker.finish(given)
