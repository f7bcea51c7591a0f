"""Events: one run for each task that listens, once; who is passed over, and why."""

import pytest


@pytest.fixture
def listen(make_task, unique):
    return lambda **fields: make_task(**{"task_type": "event", "event_name": unique, **fields})


def send(admin, name, status=201, **body):
    return admin.post("/api/v1/events", {"name": name, **body}).ok(status)


def test_an_event_makes_a_run_and_is_taken_once_b018(admin, worker, listen, unique):
    task = listen(biz_param={"a": 1})
    assert (task["event_name"], task["event_condition"], task["cron_expr"]) == (unique, None, None)
    event = send(admin, unique, event_id="e-1", payload={"total": 7, "who": "日终对账📈"})
    assert (event["runs"], event["passed_over"], event["event_id"]) == (1, 0, "e-1")
    row, = event["tasks"]
    assert (row["task_id"], row["task_name"], row["outcome"]) == (task["id"], task["task_name"], "run")
    again = send(admin, unique, status=200, event_id="e-1", payload="other")
    assert again == event
    given = worker.poll_run()
    assert (given["gid"], given["kind"], given["params"]) == (row["gid"], "event", {"total": 7, "who": "日终对账📈"})
    worker.finish(given)
    assert admin.get(f"/api/v1/events/{event['id']}").ok() == event
    runs = admin.get(f"/api/v1/runs?task_id={task['id']}&kind=event").ok()["items"]
    assert [(run["gid"], run["fire_key"]) for run in runs] == [(row["gid"], unique + "/e-1")]


def test_without_an_id_every_sending_is_new(admin, listen, unique):
    listen(overlap="allow", overlap_max=5)
    first, second = send(admin, unique), send(admin, unique)
    assert first["id"] != second["id"] and first["event_id"] is None and first["payload"] is None
    listed = admin.get(f"/api/v1/events?name={unique}&limit=1").ok()
    assert [event["id"] for event in listed["items"]] == [second["id"]]
    listed = admin.get(f"/api/v1/events?name={unique}&limit=1&after={listed['next']}").ok()
    assert [event["id"] for event in listed["items"]] == [first["id"]]


@pytest.mark.parametrize("event_id", ["x" * 64, "x" * 65, "é" * 100, "é" * 128, "👨‍👩‍👧\u202eabc \t"])
def test_ids_come_back_as_they_were_b160(admin, listen, unique, event_id):
    listen()
    event = send(admin, unique, event_id=event_id)
    assert event["event_id"] == event_id
    assert send(admin, unique, status=200, event_id=event_id)["id"] == event["id"]
    key = admin.get(f"/api/v1/runs/{event['tasks'][0]['gid']}").ok()["fire_key"]
    both = f"{unique}/{event_id}"
    assert len(key.encode()) <= 64 and (key == both) == (len(both.encode()) <= 64)


def test_an_id_is_of_its_name(admin, listen, unique):
    """A task that was set to another name gets what comes there, though the ids begin anew."""
    task = listen(overlap="allow", overlap_max=5)
    first = send(admin, unique, event_id="1")
    admin.patch(f"/api/v1/tasks/{task['id']}", {"version": task["version"], "event_name": unique + "/eu"}).ok()
    second = send(admin, unique + "/eu", event_id="1")
    assert [event["tasks"][0]["outcome"] for event in (first, second)] == ["run", "run"]
    assert first["tasks"][0]["gid"] != second["tasks"][0]["gid"]


def test_who_does_not_want_it_is_passed_over_b192(admin, listen, unique):
    condition = [{"field": "/total", "op": "ge", "value": 100}, {"any": [
        {"field": "/country", "op": "in", "value": ["DE", "AT"]}, {"field": "/vip", "op": "eq", "value": True}]}]
    choosy = listen(event_condition=condition)
    assert choosy["event_condition"] == condition
    paused = listen()
    admin.post(f"/api/v1/tasks/{paused['id']}/pause").ok()
    draft = listen(status="created")

    def outcomes(payload):
        rows = send(admin, unique, payload=payload)["tasks"]
        assert [(row["task_id"], row["outcome"]) for row in rows[1:]] == [(paused["id"], "task_paused"), (draft["id"], "task_created")]
        return rows[0]["outcome"]

    assert outcomes({"total": 100.0, "country": "DE"}) == "run"
    assert outcomes({"total": 100, "country": "CH", "vip": True}) == "run"
    assert outcomes({"total": 99.99, "country": "DE"}) == "condition"
    assert outcomes({"total": "100", "country": "DE"}) == "condition"
    assert outcomes(None) == "condition"
    admin.delete(f"/api/v1/tasks/{paused['id']}").ok(204)
    assert len(send(admin, unique)["tasks"]) == 2


@pytest.mark.parametrize("body,field", [
    ({}, "name"), ({"name": ""}, "name"), ({"name": "x" * 129}, "name"), ({"name": 7}, "name"),
    ({"name": "e", "event_id": "x" * 257}, "event_id"), ({"name": "e", "event_id": ""}, "event_id"),
    ({"name": "e", "payload": "x" * 65536}, "payload"), ({"name": "e", "pay": 1}, "pay"),
])
def test_refusals(admin, body, field):
    admin.post("/api/v1/events", body).refused(400, "invalid", field)


def test_bodies_are_bounded_b159(admin):
    admin.post("/api/v1/events", '{"name":"e","payload":' + "[" * 40 + "]" * 40 + "}").refused(400, "invalid")
    admin.post("/api/v1/events", {"name": "e", "payload": "x" * (1 << 20)}).refused(413, "too_large")
    admin.get("/api/v1/events/1").refused(404, "not_found")


@pytest.mark.parametrize("fields,field", [
    ({"event_name": None}, "event_name"),
    ({"cron_expr": "* * * * *"}, "cron_expr"),
    ({"task_type": "delay"}, "event_name"),
    ({"event_condition": {"field": "/a"}}, "event_condition"),
    ({"event_condition": [{"field": "a", "op": "eq", "value": 1}]}, "event_condition[0].field"),
    ({"event_condition": [{"any": [{"field": "/a", "op": "like", "value": 1}]}]}, "event_condition[0].any[0].op"),
])
def test_a_definition_is_refused_with_its_field(admin, group, unique, fields, field):
    body = {"task_name": unique, "group_key": group, "task_type": "event", "event_name": unique, "executor_key": "test", **fields}
    admin.post("/api/v1/tasks", body).refused(400, "invalid", field)
