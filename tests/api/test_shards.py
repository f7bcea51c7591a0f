"""Fires that are split into shards: what people and workers see of them."""

import pytest

from ax_server import Worker, wait_for
from test_runs import Events, get_run, trigger


def shards_of(admin, run, **query):
    more = "".join(f"&{key}={value}" for key, value in query.items())
    return sorted(admin.get(f"/api/v1/runs?parent={run['gid']}{more}").ok()["items"], key=lambda s: s["shard"]["index"])


def poll(worker, n):
    """n runs, by the index of their shard."""
    given = []
    wait_for(lambda: given.extend(worker.poll(n - len(given), 200)["runs"]) or len(given) == n)
    return {run["shard"]["index"]: run for run in given}


@pytest.fixture
def split(admin, make_task):
    """A run of three shards without retries, and its task."""
    def make(**fields):
        task = make_task(**{"shard_count": 3, "retry_count": 0, **fields})
        return trigger(admin, task, params={"day": 1}), task
    return make


def test_parent_and_shards(admin, worker, split):
    run, task = split(biz_param={"a": 1})
    assert task["shard_count"] == 3 and task["spread"] == "one"
    assert run["status"] == "RUNNING" and run["shard"] is None and run["parent"] is None and run["worker"] is None
    assert run["shards"] == {"spread": "shards", "total": 3, "failed_only": False, "count": 3, "done": 0, "states": {"WAITING": 3}}
    shards = shards_of(admin, run)
    assert [s["shard"] for s in shards] == [{"index": n, "total": 3} for n in (1, 2, 3)]
    for shard in shards:
        assert shard["parent"] == run["gid"] and shard["shards"] is None and shard["status"] == "WAITING"
        assert (shard["fire_key"], shard["trace_id"], shard["kind"]) == (run["fire_key"], run["trace_id"], run["kind"])
    assert len({run["gid"], *(s["gid"] for s in shards)}) == 4
    given = poll(worker, 3)
    for index, order in given.items():
        assert order["parent"] == run["gid"] and order["shard"] == {"index": index, "total": 3}
        assert order["gid"] == shards[index - 1]["gid"] and order["param"] == {"a": 1} and order["params"] == {"day": 1}
    worker.finish(given[2])
    seen = get_run(admin, run)
    assert seen["status"] == "RUNNING" and seen["shards"]["done"] == 1 and seen["shards"]["states"] == {"SUCCESS": 1, "DISPATCHED": 2}
    assert seen["progress"]["percent"] == 33 and seen["progress"]["message"] == "1 of 3 shards are done"
    worker.finish(given[1])
    worker.finish(given[3])
    seen = get_run(admin, run)
    assert seen["status"] == "SUCCESS" and seen["progress"]["percent"] == 100 and seen["attempts"] == []
    assert [entry["event"] for entry in seen["timeline"]][-2:] == ["split", "ended"]
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["last_run"]["gid"] == run["gid"]
    assert admin.get(f"/api/v1/runs/{shards[0]['gid']}/why").ok()["verdict"] == "success"


def test_a_run_that_is_no_shard_has_neither(admin, worker, make_task):
    run = trigger(admin, make_task())
    assert run["parent"] is run["shard"] is run["shards"] is None
    given = worker.poll_run()
    assert given["parent"] is None and given["shard"] is None
    worker.finish(given)


def test_lists_show_parents(admin, worker, split):
    run, task = split()
    assert [r["gid"] for r in admin.get(f"/api/v1/runs?task_id={task['id']}").ok()["items"]] == [run["gid"]]
    assert [r["gid"] for r in admin.get(f"/api/v1/runs?task_id={task['id']}&live=true").ok()["items"]] == [run["gid"]]
    assert run["gid"] in [r["gid"] for r in admin.get("/api/v1/runs?limit=200").ok()["items"]]
    shards = {s["gid"] for s in shards_of(admin, run)}
    assert not shards & {r["gid"] for r in admin.get("/api/v1/runs?limit=200").ok()["items"]}
    given = poll(worker, 2)
    mine = admin.get(f"/api/v1/runs?worker={worker.name}").ok()["items"]
    assert {r["gid"] for r in mine} == {r["gid"] for r in given.values()}
    assert len(shards_of(admin, run, status="WAITING")) == 1
    page = admin.get(f"/api/v1/runs?parent={run['gid']}&limit=2").ok()
    rest = admin.get(f"/api/v1/runs?parent={run['gid']}&limit=2&after={page['next']}").ok()
    assert {r["gid"] for r in page["items"] + rest["items"]} == shards and rest["next"] is None
    for order in given.values():
        worker.finish(order)
    worker.finish(worker.poll_run())


def test_failure_of_a_shard(admin, worker, split):
    run, task = split()
    given = poll(worker, 3)
    worker.finish(given[1], "failed", message="no disk")
    assert get_run(admin, run)["status"] == "RUNNING"  # the others go on
    worker.finish(given[2])
    worker.finish(given[3])
    seen = get_run(admin, run)
    assert seen["status"] == "FAILED" and seen["reason"] == "shards"
    assert seen["result_msg"] == "1 of 3 shards did not succeed; shard 1 FAILED: no disk"
    assert admin.get(f"/api/v1/runs/{run['gid']}/why").ok()["verdict"] == "shards_failed"
    again = admin.post(f"/api/v1/runs/{run['gid']}/rerun", {"failed_only": True}).ok(201)
    assert again["rerun_of"] == run["gid"] and again["shards"]["failed_only"] and again["shards"]["count"] == 1
    order = worker.poll_run()
    assert order["shard"] == {"index": 1, "total": 3} and order["parent"] == again["gid"]
    worker.finish(order)
    assert get_run(admin, again)["status"] == "SUCCESS"
    admin.post(f"/api/v1/runs/{again['gid']}/rerun", {"failed_only": True}).refused(409, "conflict", "failed_only")
    admin.post(f"/api/v1/runs/{order['gid']}/rerun").refused(409, "conflict")
    whole = admin.post(f"/api/v1/runs/{run['gid']}/rerun").ok(201)
    assert whole["shards"]["count"] == 3
    assert admin.post(f"/api/v1/runs/{whole['gid']}/cancel").ok()["status"] == "CANCELLED"


def test_cancel_and_retry(admin, worker, split):
    run, _ = split(retry_count=2)
    given = poll(worker, 2)
    first, second = given.values()
    worker.finish(first, "failed")
    assert shards_of(admin, run, status="RETRYING")[0]["gid"] == first["gid"]
    assert admin.post(f"/api/v1/runs/{run['gid']}/retry").ok()["gid"] == run["gid"]
    assert shards_of(admin, run, status="RETRYING") == []
    admin.post(f"/api/v1/runs/{run['gid']}/retry").refused(409, "conflict")
    waiting = shards_of(admin, run, status="WAITING")
    assert admin.post(f"/api/v1/runs/{waiting[0]['gid']}/cancel").ok()["status"] == "CANCELLED"
    assert get_run(admin, run)["status"] == "RUNNING"
    seen = admin.post(f"/api/v1/runs/{run['gid']}/cancel", {"reason": "enough"}).ok()
    assert seen["cancel"] == "asked" and seen["shards"]["states"] == {"CANCELLED": 2, "DISPATCHED": 1}
    assert worker.report(worker.item(second, "heartbeat"))["verdicts"] == ["stop"]
    worker.report(worker.item(second, "result", outcome="cancelled", code=143))
    seen = get_run(admin, run)
    assert seen["status"] == "CANCELLED" and seen["cancel"] == "stopped" and seen["result_msg"] == "enough"


def test_definitions(admin, make_task, group):
    task = make_task(shard_count=1000)
    for fields, field in (({"shard_count": 1}, "shard_count"), ({"shard_count": 1001}, "shard_count"), ({"shard_count": -1}, "shard_count"),
                          ({"spread": "all"}, "spread"), ({"spread": "broadcast"}, "shard_count")):
        admin.patch(f"/api/v1/tasks/{task['id']}", {"version": 1, **fields}).refused(400, "invalid", field)
    assert admin.patch(f"/api/v1/tasks/{task['id']}", {"version": 1, "shard_count": 0}).ok()["shard_count"] == 0
    admin.get("/api/v1/runs?parent=x").refused(400, "invalid", "parent")


def test_a_thousand_shards(admin, worker, split):
    run, _ = split(shard_count=1000)
    assert run["shards"]["count"] == 1000
    assert admin.get(f"/api/v1/groups/{worker.group}").ok()["running"] == 0
    seen = admin.post(f"/api/v1/runs/{run['gid']}/cancel").ok()
    assert seen["status"] == "CANCELLED" and seen["shards"]["states"] == {"CANCELLED": 1000}


def test_live_stream_shows_progress(server, admin, worker, split):
    run, _ = split()
    events = Events(server.client(server.tokens["viewer"]), f"/api/v1/runs/{run['gid']}/live")
    given = poll(worker, 3)
    for done, index in enumerate(given, 1):
        worker.finish(given[index])
        wait_for(lambda: any(data["shards"]["done"] == done for name, data in events.seen if name == "state"))
    wait_for(lambda: events.ended)
    assert events.seen[-1][1]["status"] == "SUCCESS"
    events.close()


def test_broadcast(server, admin, worker, make_task, group):
    run = trigger(admin, make_task(spread="broadcast", executor_key="rare"))
    assert run["status"] == "WAITING" and run["waiting_for"] == "worker" and run["shards"]["total"] == 0
    assert admin.get(f"/api/v1/runs/{run['gid']}/why").ok()["verdict"] == "worker"
    assert admin.post(f"/api/v1/runs/{run['gid']}/cancel").ok()["status"] == "CANCELLED"
    others = [Worker(worker.client, name=f"{worker.name}-{n}", group=group) for n in (2, 3)]
    for other in others:
        other.register()
    run = trigger(admin, make_task(spread="broadcast"), params={"day": 2})
    assert run["shards"] | {"states": 0} == {"spread": "broadcast", "total": 3, "failed_only": False, "count": 3, "done": 0, "states": 0}
    for n, each in enumerate([worker, *others], 1):
        runs = each.poll(10, 0)["runs"]
        assert [(r["shard"], r["params"]) for r in runs] == [({"index": n, "total": 3}, {"day": 2})]
        each.finish(runs[0])
    assert get_run(admin, run)["status"] == "SUCCESS"
    assert [s["worker"] for s in shards_of(admin, run)] == [w.name for w in (worker, *others)]


def test_a_shard_waits_for_its_worker(admin, worker, make_task, group):
    other = Worker(worker.client, name=f"{worker.name}-2", group=group)
    other.register()
    run = trigger(admin, make_task(spread="broadcast"))
    admin.post(f"/api/v1/workers/{other.name}/drain").ok()
    assert [r["shard"]["index"] for r in worker.poll(10, 0)["runs"]] == [1]
    shard = shards_of(admin, run, status="WAITING")[0]
    assert shard["worker"] == other.name and shard["waiting_for"] == "tags"
    why = admin.get(f"/api/v1/runs/{shard['gid']}/why").ok()
    assert other.name in why["answer"] and any(step["code"] == "shard" for step in why["steps"])
    admin.post(f"/api/v1/runs/{run['gid']}/cancel").ok()
