"""Runs with a worker that speaks the protocol by hand: happy path, cancel, retry, late results, live streams."""

import json
import threading
import time

import pytest

from ax_server import Worker, wait_for


def trigger(admin, task, **body):
    return admin.post(f"/api/v1/tasks/{task['id']}/runs", body).ok(201)


def get_run(admin, run):
    return admin.get(f"/api/v1/runs/{run['gid']}").ok()


def test_happy_path(admin, worker, make_task):
    task = make_task(biz_param={"a": 1})
    run = trigger(admin, task, params={"b": 2})
    assert run["status"] == "WAITING" and run["kind"] == "delay" and run["params"] == {"b": 2}
    given = worker.poll_run()
    assert given["gid"] == run["gid"] and given["param"] == {"a": 1} and given["params"] == {"b": 2}
    assert (given["attempt"], given["fence"], given["task"], given["kind"]) == (1, 1, task["task_name"], "delay")
    assert get_run(admin, run)["status"] == "DISPATCHED"
    answer = worker.report(worker.item(given, "accepted"), worker.item(given, "started"), worker.item(given, "progress", percent=40, message="page 4"),
                           worker.item(given, "output", seq=0, data="hello\n"), worker.item(given, "output", seq=1, data="wörld\u0001\n"))
    assert answer["verdicts"] == ["applied"] * 5
    seen = get_run(admin, run)
    assert seen["status"] == "RUNNING" and seen["progress"] | {"time": 0} == {"percent": 40, "message": "page 4", "time": 0} and seen["worker"] == worker.name
    result = worker.item(given, "result", outcome="success", code=0, message="fine", duration_ms=5, result={"rows": 7})
    assert worker.report(result)["verdicts"] == ["applied"]
    assert worker.report(result)["verdicts"] == ["duplicate"]
    seen = get_run(admin, run)
    assert seen["status"] == "SUCCESS" and seen["result"] == {"rows": 7} and seen["result_msg"] == "fine" and seen["result_code"] == 0
    assert [a["outcome"] for a in seen["attempts"]] == ["success"]
    assert {"created", "due", "dispatched", "started", "ended"} <= {entry["event"] for entry in seen["timeline"]}
    began = next(entry for entry in seen["timeline"] if entry["event"] == "started")
    assert (began["text"], began["sentence"], began["params"]["worker"]) == (f"{worker.name} began", "line_started", worker.name)
    steps = admin.get(f"/api/v1/runs/{run['gid']}/why").ok()["steps"]
    given_out = next(step for step in steps if step["code"] == "given_out")
    assert given_out["sentence"] == "given_out" and given_out["params"] | {"at": ""} == {"attempt": 1, "fence": 1, "worker": worker.name, "at": ""}
    assert given_out["text"] == f"Attempt 1 (fence 1) was given to {worker.name} at {given_out['params']['at']}."
    output = admin.get(f"/api/v1/runs/{run['gid']}/output").ok()
    assert [chunk["data"] for chunk in output["chunks"]] == ["hello\n", "wörld\u0001\n"] and not output["live"]
    after = admin.get(f"/api/v1/runs/{run['gid']}/output?fence=1&after_seq=0").ok()
    assert [chunk["seq"] for chunk in after["chunks"]] == [1]
    listed = admin.get(f"/api/v1/runs?task_id={task['id']}&status=SUCCESS,FAILED&kind=delay").ok()["items"]
    assert [r["gid"] for r in listed] == [run["gid"]]
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["last_run"]["gid"] == run["gid"]


def test_a_start_that_is_told_with_its_end_was_before(admin, worker, make_task):
    """The worker says how long it took; the server knows when it gave the run out."""
    run = trigger(admin, make_task())
    given = worker.poll_run()
    worker.report(worker.item(given, "started"), worker.item(given, "output", seq=0, data="hello\n"),
                  worker.item(given, "result", outcome="success", code=0, duration_ms=600_000))
    seen = get_run(admin, run)
    assert seen["start_time"] == seen["dispatch_time"] and seen["duration_ms"] == seen["end_time"] - seen["dispatch_time"]


def test_a_parked_poll_is_answered_at_once(admin, worker, make_task):
    task = make_task()
    answers = []
    thread = threading.Thread(target=lambda: answers.append((worker.poll(5, 5000), time.monotonic())))
    thread.start()
    wait_for(lambda: "ax_parked_polls 0" not in admin.get("/metrics").text.decode())
    start = time.monotonic()
    run = trigger(admin, task)
    thread.join()
    given, end = answers[0]
    assert [r["gid"] for r in given["runs"]] == [run["gid"]]
    assert end - start < 1


def test_an_empty_poll_ends_after_its_wait(worker):
    start = time.monotonic()
    assert worker.poll(5, 300) == {"runs": [], "stop": [], "drain": False}
    assert 0.25 < time.monotonic() - start < 3


def test_scheduled_fire_is_on_time(admin, worker, make_task):
    make_task(task_type="scheduled", cron_expr="@every 1s", overlap="allow", overlap_max=50)
    given = worker.poll_run()
    assert given["kind"] == "schedule" and given["trigger_ms"] % 1000 == 0
    run = get_run(admin, given)
    assert run["lateness_ms"] < 250
    worker.finish(given)


def test_failure_is_retried_and_may_be_hurried(admin, worker, make_task):
    run = trigger(admin, make_task(retry_count=1))
    given = worker.poll_run()
    worker.finish(given, "failed", message="no luck")
    seen = get_run(admin, run)
    assert seen["status"] == "RETRYING" and seen["retry_times"] == 1
    assert seen["attempts"][0]["outcome"] == "failed" and seen["attempts"][0]["message"] == "no luck"
    assert admin.post(f"/api/v1/runs/{run['gid']}/retry").ok()["status"] == "WAITING"
    again = worker.poll_run()
    assert again["gid"] == run["gid"] and (again["attempt"], again["fence"]) == (2, 2)
    worker.finish(again, "failed", message="none at all")
    seen = get_run(admin, run)
    assert seen["status"] == "FAILED" and seen["result_msg"] == "none at all" and len(seen["attempts"]) == 2
    admin.post(f"/api/v1/runs/{run['gid']}/retry").refused(409, "conflict")
    rerun = admin.post(f"/api/v1/runs/{run['gid']}/rerun").ok(201)
    assert rerun["rerun_of"] == run["gid"] and rerun["gid"] != run["gid"]
    given = worker.poll_run()
    assert given["rerun_of"] == run["gid"]
    worker.finish(given)
    assert get_run(admin, rerun)["status"] == "SUCCESS"


# B120
def test_cancel_before_and_while_running(admin, worker, make_task):
    task = make_task()
    run = trigger(admin, task)
    assert admin.post(f"/api/v1/runs/{run['gid']}/cancel", {"reason": "mistake"}).ok()["status"] == "CANCELLED"
    assert admin.post(f"/api/v1/runs/{run['gid']}/cancel").ok()["status"] == "CANCELLED"

    run = trigger(admin, task)
    given = worker.poll_run()
    worker.report(worker.item(given, "accepted"), worker.item(given, "started"))
    answers = []
    thread = threading.Thread(target=lambda: answers.append(worker.poll(5, 5000)))
    thread.start()
    wait_for(lambda: "ax_parked_polls 0" not in admin.get("/metrics").text.decode())
    assert admin.post(f"/api/v1/runs/{run['gid']}/cancel").ok()["cancel"] == "asked"
    thread.join()
    assert answers[0]["stop"] == [{"gid": run["gid"], "fence": 1, "reason": "cancel"}]
    assert get_run(admin, run)["cancel"] == "stopping"
    assert worker.report(worker.item(given, "heartbeat"))["verdicts"] == ["stop"]
    worker.report(worker.item(given, "result", outcome="cancelled", code=143))
    seen = get_run(admin, run)
    assert seen["status"] == "CANCELLED" and seen["cancel"] == "stopped"

    run = trigger(admin, task)
    worker.finish(worker.poll_run())
    admin.post(f"/api/v1/runs/{run['gid']}/cancel").refused(409, "conflict")


# R22
def test_late_result_is_recorded_and_changes_nothing(admin, server, worker, make_task):
    run = trigger(admin, make_task(on_lost="fail"))
    given = worker.poll_run()
    worker.report(worker.item(given, "accepted"), worker.item(given, "started"))
    # another incarnation that does not know the attempt: it is lost
    old, worker.incarnation = worker.incarnation, "f" * 16
    worker.register()
    assert get_run(admin, run)["status"] == "TIMEOUT"
    late = worker.report(worker.item(given, "result", outcome="success", code=0, message="too late"))
    assert late["verdicts"] == ["late"]
    seen = get_run(admin, run)
    assert seen["status"] == "TIMEOUT" and seen["attempts"][-1]["late"]["message"] == "too late"
    worker.incarnation = old
    worker.say("report", {"items": []}).refused(409, "superseded")
    worker.say("poll", {"free": [], "wait_ms": 0}).refused(409, "superseded")


def test_unknown_worker_must_register(server, admin, group):
    token = admin.post("/api/v1/tokens", {"name": "x", "worker_groups": [group]}).ok(201)["token"]
    worker = Worker(server.client(token), name=f"new-{group}", group=group)
    worker.say("poll", {"free": [{"group": group, "slots": 1}], "wait_ms": 0}).refused(404, "unknown_worker")
    worker.say("report", {"items": []}).refused(404, "unknown_worker")


def test_a_call_for_another_store_changes_nothing(server, admin, worker, make_task):
    store_id = worker.register()["store_id"]
    assert [row["store_id"] for row in admin.get("/api/v1/servers").ok()["items"]] == [store_id]
    run = trigger(admin, make_task())
    given = worker.poll_run()
    calls = {
        "register": {"groups": [{"group": worker.group}], "executors": ["exec"], "version": "", "tags": {}, "running": []},
        "poll": {"free": [{"group": worker.group, "slots": 1}], "wait_ms": 0},
        "report": {"items": [worker.item(given, "result", outcome="success", code=0, message="")]},
        "leave": {},
    }
    for client in (worker.client, server.client("unknown")):  # the token may be the other store's as well
        other = Worker(client, name=worker.name, group=worker.group)
        for call, body in calls.items():
            other.say(call, body, headers={"AX-Store-Id": "0" * 16}).refused(409, "other_store", "store_id")
    assert get_run(admin, run)["status"] == "DISPATCHED"
    worker.say("report", calls["report"], headers={"AX-Store-Id": store_id}).ok()
    assert get_run(admin, run)["status"] == "SUCCESS"


# B174
def test_a_worker_token_is_bound_to_its_groups(server, admin, worker, make_task, unique):
    stranger = Worker(server.client(server.tokens["worker"]), name=worker.name, group="default")
    stranger.incarnation = worker.incarnation
    # neither the other's name, nor its groups, nor its runs
    stranger.say("register", {"groups": [{"group": "default", "pool_size": 1}], "executors": ["x"]}).refused(403, "denied")
    stranger.say("poll", {"free": [], "wait_ms": 0}).refused(403, "denied")
    stranger.say("leave", {}).refused(403, "denied")
    stranger.name = f"own-{unique}"
    stranger.say("register", {"groups": [{"group": worker.group, "pool_size": 1}], "executors": ["x"]}).refused(403, "denied")
    stranger.register()
    stranger.say("poll", {"free": [{"group": worker.group, "slots": 5}], "wait_ms": 0}).refused(403, "denied")
    run = trigger(admin, make_task())
    given = worker.poll_run()
    assert stranger.report(stranger.item(given, "result", outcome="success", code=0))["verdicts"] == ["late"]
    seen = get_run(admin, run)
    assert seen["status"] == "DISPATCHED" and seen["attempts"][0]["late"] is None
    worker.finish(given)


def test_drain_and_leave(admin, worker, make_task):
    assert admin.post(f"/api/v1/workers/{worker.name}/drain").ok()["state"] == "draining"
    run = trigger(admin, make_task())
    answer = worker.poll(5, 100)
    assert answer["drain"] and answer["runs"] == []
    assert admin.post(f"/api/v1/workers/{worker.name}/resume").ok()["state"] == "online"
    given = worker.poll_run()
    assert given["gid"] == run["gid"]
    admin.delete(f"/api/v1/workers/{worker.name}").refused(409, "conflict")
    worker.say("leave", {}).ok()
    assert get_run(admin, run)["status"] == "WAITING"
    assert admin.get(f"/api/v1/workers/{worker.name}").ok()["state"] == "left"
    admin.delete(f"/api/v1/workers/{worker.name}").ok(204)
    admin.get(f"/api/v1/workers/{worker.name}").refused(404, "not_found")
    admin.post(f"/api/v1/runs/{run['gid']}/cancel").ok()


def test_revoked_token_ends_its_poll(server, admin, group, unique):
    made = admin.post("/api/v1/tokens", {"name": unique, "worker_groups": [group]}).ok(201)
    worker = Worker(server.client(made["token"]), name=f"w-{unique}", group=group)
    worker.register()
    answers = []
    thread = threading.Thread(target=lambda: answers.append(
        worker.say("poll", {"free": [{"group": group, "slots": 1}], "wait_ms": 5000})))
    start = time.monotonic()
    thread.start()
    wait_for(lambda: "ax_parked_polls 0" not in admin.get("/metrics").text.decode())
    admin.delete(f"/api/v1/tokens/{made['id']}").ok(204)
    thread.join()
    assert time.monotonic() - start < 3
    answers[0].refused(401, "unauthenticated")
    worker.say("report", {"items": []}).refused(401, "unauthenticated")


SERVES = {"groups": [{"group": "default", "pool_size": 1}], "executors": ["x"]}
BAD = [
    ("register", {**SERVES, "worker": "a b"}, "worker"),
    ("register", {**SERVES, "incarnation": "xyz"}, "incarnation"),
    ("register", {**SERVES, "groups": []}, "groups"),
    ("register", {**SERVES, "groups": [{"group": "default", "pool_size": 0}]}, "groups[0].pool_size"),
    ("register", {**SERVES, "groups": [{"group": "default", "pool_size": 10001}]}, "groups[0].pool_size"),
    ("register", {**SERVES, "executors": []}, "executors"),
    ("register", {**SERVES, "executors": ["a b"]}, "executors"),
    ("register", {**SERVES, "tags": {"a": 1}}, "tags"),
    ("register", {**SERVES, "running": [{"gid": 5, "fence": 1}]}, "running[0].gid"),
    ("poll", {"free": [{"group": "default", "slots": -1}]}, "free[0].slots"),
    ("poll", {"free": [], "wait_ms": 5001}, "wait_ms"),
    ("poll", {"free": [{"group": "default", "slots": 1, "more": 1}]}, "free[0].more"),
    ("report", {"items": [{"type": "hello", "gid": "1", "fence": 1}]}, "items[0].type"),
    ("report", {"items": [{"type": "started", "gid": 1, "fence": 1}]}, "items[0].gid"),
    ("report", {"items": [{"type": "started", "gid": "1"}]}, "items[0].fence"),
    ("report", {"items": [{"type": "started", "gid": "1", "fence": 1, "percent": 5}]}, "items[0].percent"),
    ("report", {"items": [{"type": "progress", "gid": "1", "fence": 1, "percent": 101}]}, "items[0].percent"),
    ("report", {"items": [{"type": "result", "gid": "1", "fence": 1}]}, "items[0].outcome"),
    ("report", {"items": [{"type": "result", "gid": "1", "fence": 1, "outcome": "lost"}]}, "items[0].outcome"),
    ("report", {"items": [{"type": "output", "gid": "1", "fence": 1, "seq": 0, "data": "x" * 65537}]}, "items[0].data"),
    ("report", {"items": [{"type": "heartbeat", "gid": "1", "fence": 1}] * 1001}, "items"),
]


@pytest.mark.parametrize("call,body,field", BAD, ids=[f"{call}-{field}" for call, _, field in BAD])
def test_bad_messages(worker, call, body, field):
    worker.say(call, body).refused(400, "invalid", field)


def test_delay_runs(admin, worker, make_task):
    task = make_task()
    now = admin.get("/api/v1/overview").ok()["server_time"]
    later = trigger(admin, task, delay_ms=3_600_000, dedup_key="k1")
    assert later["status"] == "PENDING" and later["kind"] == "delay" and later["fire_key"] == "k1"
    assert later["trigger_time"] >= now + 3_600_000
    again = admin.post(f"/api/v1/tasks/{task['id']}/runs", {"delay_ms": 1, "dedup_key": "k1"}).ok(200)
    assert again["gid"] == later["gid"]
    admin.post(f"/api/v1/runs/{later['gid']}/cancel").ok()
    soon = trigger(admin, task, delay_ms=300)
    given = worker.poll_run()
    assert given["gid"] == soon["gid"]
    assert get_run(admin, soon)["lateness_ms"] < 250
    worker.finish(given)
    long = trigger(admin, task, delay_ms=3_600_000, dedup_key="x" * 128)
    assert len(long["fire_key"]) == 64
    admin.post(f"/api/v1/runs/{long['gid']}/cancel").ok()
    for body, field in (({"delay_ms": -1}, "delay_ms"), ({"delay_ms": 1, "run_at": 5}, "delay_ms"), ({"dedup_key": "x" * 129}, "dedup_key"),
                        ({"dedup_key": ""}, "dedup_key"), ({"run_at": 1764451200}, "run_at"), ({"run_at": now + 400 * 86_400_000 * 10}, "run_at"),
                        ({"when": 1}, "when"), ({"run_at": "now"}, "run_at"), ({"params": "x" * 70000}, "params")):
        admin.post(f"/api/v1/tasks/{task['id']}/runs", body).refused(400, "invalid", field)


def test_forced_delete_comes_through(admin, worker, make_task):
    task = make_task()
    trigger(admin, task)
    given = worker.poll_run()
    worker.report(worker.item(given, "accepted"), worker.item(given, "started"))
    path = f"/api/v1/tasks/{task['id']}"
    admin.delete(path).refused(409, "conflict")
    admin.delete(path + "?force=true").refused(409, "conflict")
    assert get_run(admin, given)["cancel"] in ("asked", "stopping")
    worker.report(worker.item(given, "result", outcome="cancelled", code=1))
    wait_for(lambda: admin.delete(path + "?force=true").status in (204, 404))
    admin.get(path).refused(404, "not_found")


def test_run_filters_are_checked(admin):
    for query, field in (("status=DONE", "status"), ("kind=x", "kind"), ("task_id=x", "task_id"), ("live=yes", "live"), ("from=-1", "from")):
        admin.get(f"/api/v1/runs?{query}").refused(400, "invalid", field)


def test_pages_of_runs(admin, make_task):
    task = make_task()
    made = [trigger(admin, task, delay_ms=3_600_000)["gid"] for _ in range(7)]
    seen, after = [], ""
    while True:
        page = admin.get(f"/api/v1/runs?task_id={task['id']}&live=true&limit=3{after}").ok()
        seen += [run["gid"] for run in page["items"]]
        if page["next"] is None:
            break
        after = f"&after={page['next']}"
    assert seen == made[::-1]
    for gid in made:
        admin.post(f"/api/v1/runs/{gid}/cancel").ok()


class Events:
    """Reads server-sent events in a thread."""

    def __init__(self, client, path, last_id=None):
        self.seen, self.ids, self.ended = [], [], False
        headers = {"Last-Event-ID": last_id} if last_id else None
        self.connection, response = client.open("GET", path, headers=headers, timeout=30)
        assert response.status == 200 and response.headers["content-type"].startswith("text/event-stream")
        self.thread = threading.Thread(target=self.read, args=(response,))
        self.thread.start()

    def read(self, response):
        event = {}
        try:
            for line in response:
                line = line.decode().rstrip("\n")
                if line == "" and event:
                    self.ids.append(event.get("id"))
                    self.seen.append((event.get("event"), json.loads(event["data"])))
                    event = {}
                elif line and not line.startswith(":"):
                    name, _, value = line.partition(": ")
                    event[name] = value
        except (OSError, ValueError, AttributeError):
            pass
        self.ended = True

    def close(self):
        if not self.ended:
            self.connection.sock.shutdown(2)
        self.thread.join()
        self.connection.close()


def test_live_stream_of_changes(server, admin, worker, make_task):
    events = Events(server.client(server.tokens["viewer"]), "/api/v1/live")
    task = make_task()
    wait_for(lambda: ("task", {"id": task["id"]}) in events.seen)
    run = trigger(admin, task)
    worker.finish(worker.poll_run())
    wait_for(lambda: ("run", {"gid": run["gid"], "task_id": task["id"], "status": "SUCCESS"}) in events.seen)
    events.close()


def test_live_stream_tells_a_client_that_comes_back_what_it_missed(server, admin, make_task):
    client = server.client(server.tokens["viewer"])
    events = Events(client, "/api/v1/live")
    first, second = make_task(), make_task()
    wait_for(lambda: ("task", {"id": second["id"]}) in events.seen)
    assert all(events.ids) and len(set(events.ids)) == len(events.ids) and events.seen[0][0] != "reload"
    events.close()
    old = events.ids[events.seen.index(("task", {"id": first["id"]}))]
    for last_id in (old, "17-1", "nonsense"):
        events = Events(client, "/api/v1/live", last_id)
        wait_for(lambda: events.seen)
        assert events.seen[0] == ("reload", {})
        events.close()

    def is_taken_up():  # unless something happens between the two
        last = Events(client, "/api/v1/live", old)
        wait_for(lambda: last.ids)
        last.close()
        back = Events(client, "/api/v1/live", last.ids[-1])
        task = make_task()
        wait_for(lambda: ("task", {"id": task["id"]}) in back.seen)
        back.close()
        return "reload" not in [name for name, _ in back.seen]

    wait_for(is_taken_up)


def test_live_stream_of_a_run_goes_on_where_it_ended(server, admin, worker, make_task):
    client = server.client(server.tokens["viewer"])
    run = trigger(admin, make_task())
    path = f"/api/v1/runs/{run['gid']}/live"
    given = worker.poll_run()
    worker.report(worker.item(given, "started"), worker.item(given, "output", seq=0, data="one"),
                  worker.item(given, "output", seq=1, data="two"))
    events = Events(client, path)
    wait_for(lambda: [data["data"] for name, data in events.seen if name == "output"] == ["one", "two"])
    events.close()
    ids = [name for name, (event, _) in zip(events.ids, events.seen) if event == "output"]
    worker.report(worker.item(given, "output", seq=2, data="three"), worker.item(given, "result", outcome="success", code=0))
    for last_id, wanted in ((ids[0], ["two", "three"]), (ids[1], ["three"]), ("nonsense", ["one", "two", "three"])):
        events = Events(client, path, last_id)
        wait_for(lambda: events.ended)
        assert [data["data"] for name, data in events.seen if name == "output"] == wanted
        assert events.seen[-1][1]["status"] == "SUCCESS"
        events.close()


def test_live_stream_of_a_run(server, admin, worker, make_task):
    run = trigger(admin, make_task())
    events = Events(server.client(server.tokens["viewer"]), f"/api/v1/runs/{run['gid']}/live")
    given = worker.poll_run()
    worker.report(worker.item(given, "accepted"), worker.item(given, "started"), worker.item(given, "output", seq=0, data="one"))
    wait_for(lambda: any(name == "output" and data["data"] == "one" for name, data in events.seen))
    worker.report(worker.item(given, "output", seq=1, data="two"), worker.item(given, "result", outcome="success", code=0))
    wait_for(lambda: events.ended)
    states = [data["status"] for name, data in events.seen if name == "state"]
    assert states[0] in ("WAITING", "DISPATCHED") and states[-1] == "SUCCESS"
    assert [data["data"] for name, data in events.seen if name == "output"] == ["one", "two"]
    assert events.seen[-1][0] == "state"
    events.close()
    answer = admin.call("GET", "/api/v1/runs/5/live")
    answer.refused(404, "not_found")


def test_streams_per_caller_are_bounded(server):
    client = server.client(server.tokens["operator"])
    streams = [Events(client, "/api/v1/live") for _ in range(10)]
    client.get("/api/v1/live").refused(429, "busy")
    for stream in streams:
        stream.close()


def test_edit_to_skip_passes_over_the_fires_that_wait(admin, worker, make_task):
    task = make_task(task_type="scheduled", cron_expr="@every 1s")
    given = worker.poll_run()
    runs = f"/api/v1/runs?task_id={task['id']}&status="
    wait_for(lambda: admin.get(runs + "WAITING").ok()["items"])
    waiting = admin.get(runs + "WAITING").ok()["items"][0]
    assert waiting["waiting_for"] == "overlap"
    changed = admin.patch(f"/api/v1/tasks/{task['id']}", {"version": task["version"], "overlap": "skip"}).ok()
    assert changed["overlap"] == "skip" and admin.get(runs + "WAITING").ok()["items"] == []
    skipped = get_run(admin, waiting)
    assert skipped["status"] == "SKIPPED" and skipped["reason"] == "overlap" and "became skip" in skipped["result_msg"]
    assert admin.get(f"/api/v1/runs/{waiting['gid']}/why").ok()["verdict"] == "skipped_overlap"
    worker.finish(given)
    admin.delete(f"/api/v1/tasks/{task['id']}?force=true")


def test_audit_of_fires(server, admin, worker, make_task):
    task = make_task(task_type="scheduled", cron_expr="@every 1s", overlap="allow", overlap_max=50)
    for _ in range(2):
        worker.finish(worker.poll_run())
    admin.post(f"/api/v1/tasks/{task['id']}/pause").ok()
    now = admin.get("/api/v1/overview").ok()["server_time"]
    audit = admin.get(f"/api/v1/audit/fires?from={now - 600_000}&to={now}").ok()
    mine = [t for t in audit["tasks"] if t["task_id"] == task["id"]][0]
    assert mine["expected"] >= 2 and audit["unexplained"] == 0 and audit["duplicates"] == 0, audit
    # what a deleted task demanded is still accounted for
    admin.delete(f"/api/v1/tasks/{task['id']}?force=true").ok(204)
    after = admin.get(f"/api/v1/audit/fires?from={now - 600_000}&to={now}").ok()
    gone = [t for t in after["tasks"] if t["task_id"] == task["id"]][0]
    assert gone["expected"] == mine["expected"] and after["unexplained"] == 0, after
    admin.get("/api/v1/audit/fires?from=5&to=5").refused(400, "invalid", "from")


def test_a_delayed_run_is_changed_until_it_is_due(admin, worker, make_task):
    task = make_task()
    run = trigger(admin, task, delay_ms=3_600_000, params={"a": 1}, dedup_key="order 7")
    path = f"/api/v1/runs/{run['gid']}"
    later = admin.patch(path, {"run_at": run["trigger_time"] + 1000}).ok()
    assert later["trigger_time"] == run["trigger_time"] + 1000 and later["params"] == {"a": 1} and later["status"] == "PENDING"
    admin.patch(path, {"delay_ms": 5, "run_at": 5}).refused(400, "invalid", "delay_ms")
    admin.patch(path, {"run_at": 99999999999999}).refused(400, "invalid", "run_at")
    admin.patch(path, {"status": "SUCCESS"}).refused(400, "invalid", "status")
    assert [r["gid"] for r in admin.get(f"/api/v1/runs?task_id={task['id']}&status=PENDING").ok()["items"]] == [run["gid"]]
    again = admin.post(f"/api/v1/tasks/{task['id']}/runs", {"dedup_key": "order 7"}).ok()
    assert again["gid"] == run["gid"]
    admin.patch(path, {"delay_ms": 0, "params": None}).ok()
    given = worker.poll_run()
    assert given["gid"] == run["gid"] and given["params"] is None
    admin.patch(path, {"delay_ms": 0}).refused(409, "conflict", "status")


def test_many_delayed_runs_in_one_call(admin, make_task):
    task = make_task()
    path = f"/api/v1/tasks/{task['id']}/runs/batch"
    runs = [{"delay_ms": 3_600_000, "params": i, "dedup_key": f"k{i}"} for i in range(300)]
    made = admin.post(path, {"runs": runs}).ok(201)["items"]
    assert len({m["gid"] for m in made}) == 300 and not any(m["existed"] for m in made)
    again = admin.post(path, {"runs": runs[:2] + [runs[1]]}).ok(201)["items"]
    assert [m["gid"] for m in again] == [made[0]["gid"], made[1]["gid"], made[1]["gid"]] and all(m["existed"] for m in again)
    admin.post(path, {"runs": [{"delay_ms": 1}, {"delay_ms": -1}]}).refused(400, "invalid", "runs[1].delay_ms")
    admin.post(path, {"runs": [{"delay_ms": 1}, {"run_at": 99999999999999}]}).refused(400, "invalid", "runs[1].run_at")
    admin.post(path, {"runs": []}).refused(400, "invalid", "runs")
    admin.post(path, {"runs": [{}] * 1001}).refused(400, "invalid", "runs")
    page = admin.get(f"/api/v1/runs?task_id={task['id']}&limit=200").ok()
    rest = admin.get(f"/api/v1/runs?task_id={task['id']}&limit=200&after={page['next']}").ok()
    assert len(page["items"]) + len(rest["items"]) == 300  # all or none: nothing of the refused ones
