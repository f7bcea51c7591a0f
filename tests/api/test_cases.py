"""Faults that people met in other schedulers, by the numbers of tests/CASES.md: what only a whole server can show."""

import os
import pathlib
import sqlite3

import pytest

from ax_server import Worker, wait_for

LONG = "0,5,10,15,20,25,30,35,40,45,50,55 0,2,4,6,8,10,12,14,16,18,20,22 * * 1-5"


def create(client, name, **fields):
    return client.post("/api/v1/tasks", {"executor_key": "test", "cron_expr": "0 0 1 1 *", "task_name": name, **fields})


def trigger(client, task, **how):
    return client.post(f"/api/v1/tasks/{task['id']}/runs", how).ok(201)


def get_run(client, run):
    return client.get(f"/api/v1/runs/{run['gid']}").ok()


@pytest.mark.embedded
def test_b033_health_fails_while_nothing_is_done_and_comes_back(start_server):
    server = start_server()
    admin = server.set_up()
    task = create(admin, "beat", cron_expr="@every 1s").ok(201)
    store = sqlite3.connect(server.state / "ax.db", isolation_level=None)
    store.execute("BEGIN IMMEDIATE")  # the server's writer is stuck
    failing = wait_for(lambda: (answer := server.client().get("/healthz")).status == 503 and answer.json, 20)
    assert failing["status"] == "failing" and failing["reasons"]
    store.execute("ROLLBACK")
    store.close()
    wait_for(lambda: server.client().get("/healthz").status == 200, 10)
    before = admin.get(f"/api/v1/tasks/{task['id']}").ok()["next_trigger_time"]
    wait_for(lambda: admin.get(f"/api/v1/tasks/{task['id']}").ok()["next_trigger_time"] > before, 10)


def test_b090_a_long_expression_is_kept_whole(admin, unique):
    task = create(admin, unique, cron_expr=LONG).ok(201)
    assert admin.get(f"/api/v1/tasks/{task['id']}").ok()["cron_expr"] == LONG
    create(admin, unique + "b", cron_expr=LONG + ",1" * 500).refused(400, "invalid", "cron_expr")


@pytest.mark.parametrize("zone", ["PST", "GMT+8", "CST8", "Asia/Beijing", "../etc/passwd", "", "utc", "posix/UTC"])
def test_b091_what_is_no_zone_is_refused(admin, unique, zone):
    create(admin, unique, time_zone=zone).refused(400, "invalid", "time_zone")


@pytest.mark.parametrize("zone", ["UTC", "Asia/Shanghai", "Etc/GMT-8", "Asia/Calcutta"])
def test_b091_what_is_a_zone_is_kept_as_written(admin, unique, zone):
    assert create(admin, unique, time_zone=zone).ok(201)["time_zone"] == zone


def test_b093_a_machines_zone_moves_no_task(start_server):
    server = start_server(env={"TZ": "America/New_York"})
    admin = server.set_up()
    made = create(admin, "daily", cron_expr="0 3 * * *").ok(201)
    assert made["time_zone"] == "UTC" and made["next_trigger_time"] % 86_400_000 == 3 * 3_600_000
    server.stop()
    server.env["TZ"] = "Asia/Shanghai"
    server.start()
    now = admin.get(f"/api/v1/tasks/{made['id']}").ok()
    assert (now["time_zone"], now["next_trigger_time"]) == ("UTC", made["next_trigger_time"])


def test_b108_no_result_is_refused_for_its_length(admin, worker, make_task):
    runs = [trigger(admin, make_task()) for _ in range(2)]
    first, second = worker.poll_run(), worker.poll_run()
    answer = worker.report(
        worker.item(first, "started"), worker.item(first, "progress", percent=1, message="é" * 600),
        worker.item(first, "result", outcome="failed", code=1, message="é" * 93_000, result={"rows": "x" * 70_000}),
        worker.item(second, "result", outcome="success", code=0))
    assert answer["verdicts"] == ["applied"] * 4
    seen = get_run(admin, runs[0])
    assert seen["status"] == "RETRYING" and get_run(admin, runs[1])["status"] == "SUCCESS"
    message = seen["attempts"][0]["message"]
    assert message.startswith("é" * 1900) and "é… [its result" in message and len(message.encode()) <= 4000
    admin.post(f"/api/v1/runs/{runs[0]['gid']}/retry").ok()
    worker.finish(worker.poll_run(), message="done", result="x" * 70_000)
    seen = get_run(admin, runs[0])
    assert seen["status"] == "SUCCESS" and seen["result"] is None and seen["result_msg"].startswith("done [its result")


@pytest.mark.parametrize("at", ["2030-07-01 00:00:00", "2030-07-01T00:00:00", "2030-07-01"])
def test_b096_an_instant_without_its_offset_is_refused(admin, unique, at):
    create(admin, unique, cron_expr=f"@at {at}").refused(400, "invalid", "cron_expr")


def test_b096_an_instant_with_an_offset_is_that_instant(admin, unique):
    made = create(admin, unique, cron_expr="@at 2030-07-01T00:00:00+08:00").ok(201)
    assert made["next_trigger_time"] == 1_909_065_600_000  # 2030-06-30T16:00:00Z


def test_b126_output_comes_in_pieces_of_bounded_size(admin, worker, make_task):
    run = trigger(admin, make_task())
    given = worker.poll_run()
    for seq in range(40):
        worker.report(worker.item(given, "output", seq=seq, data=f"{seq:4}" + "x" * 59_996))
    worker.finish(given)
    path, seen, after = f"/api/v1/runs/{run['gid']}/output?fence=1", [], ""
    while True:
        answer = admin.get(path + after)
        assert len(answer.text) < 1_300_000
        page = answer.ok()
        seen += [chunk["seq"] for chunk in page["chunks"]]
        if not page["more"]:
            break
        after = f"&after_seq={seen[-1]}"
    assert page["truncated"] and seen[0] == 0 and seen[-1] == 39 and len(seen) < 20
    assert admin.get(path + "&after_seq=39").ok()["chunks"] == []


@pytest.mark.parametrize("body", [
    b"[" * 100_000, b'{"a":' * 100_000, b'{"biz_param":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    b"{" + b",".join(b'"k%d":1' % n for n in range(18_000)) + b"}", b'{"biz_param":[' + b"1," * 100_000 + b"1]}"],
    ids=["open", "nested", "parameter", "keys", "list"])
def test_b159_bodies_made_to_hurt_are_refused(admin, server, body):
    before = memory_kb(server.process.pid)
    for _ in range(20):
        answer = admin.post("/api/v1/tasks", body)
        assert answer.status in (400, 413), answer.text
    assert memory_kb(server.process.pid) < before + 30_000 or SANITIZED


NAMES = ["日终对账📈", "👨‍👩‍👧", "é and é", "<img src=x onerror=alert(1)>", "</script><script>1</script>", "{{7*7}}", "';--"]


@pytest.mark.parametrize("name", NAMES)
def test_b160_text_comes_back_as_it_was(admin, worker, make_task, name):
    """B173 too: what looks like a page's own is text like any other."""
    task = make_task(task_name=name, owner=name, notes=f"{name}\n{name}", biz_param={name: name})
    run = trigger(admin, task, params={"text": name}, dedup_key=name)
    given = worker.poll_run()
    assert (given["task"], given["param"], given["params"]) == (name, {name: name}, {"text": name})
    worker.report(worker.item(given, "output", seq=0, data=name))
    worker.finish(given, message=name, result={name: name})
    seen = get_run(admin, run)
    assert (seen["task_name"], seen["result_msg"], seen["result"], seen["fire_key"]) == (name, name, {name: name}, name)
    assert admin.get(f"/api/v1/runs/{run['gid']}/output").ok()["chunks"][0]["data"] == name
    now = admin.get(f"/api/v1/tasks/{task['id']}").ok()
    assert (now["task_name"], now["owner"], now["notes"], now["biz_param"]) == (name, name, f"{name}\n{name}", {name: name})


def test_b161_lengths_are_counted_in_characters(admin, unique):
    prefix = unique[-3:].rjust(3, "x")
    full = "😀" * 125 + prefix
    assert create(admin, full).ok(201)["task_name"] == full
    create(admin, full).refused(409, "exists", "task_name")
    create(admin, "😀" * 126 + prefix).refused(400, "invalid", "task_name")


@pytest.mark.parametrize("name", ["../../etc/passwd", "..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd"])
def test_b172_names_lead_to_no_file(admin, server, name):
    for path in (f"/{name}", f"/assets/{name}", f"/api/v1/runs/{name}/output", f"/api/v1/runs/1/output/{name}"):
        answer = server.client(server.tokens["admin"]).open("GET", path)[1]
        text = answer.read()
        assert b"root:" not in text and (answer.status in (400, 404) or b"<html" in text), (path, answer.status)


def test_b194_history_outlives_its_task(admin, worker, make_task):
    task = make_task()
    run = trigger(admin, task)
    given = worker.poll_run()
    worker.report(worker.item(given, "accepted"), worker.item(given, "started"))
    admin.delete(f"/api/v1/tasks/{task['id']}").refused(409, "conflict")
    admin.delete(f"/api/v1/tasks/{task['id']}?force=true").refused(409, "conflict")
    worker.report(worker.item(given, "result", outcome="cancelled", code=143))
    admin.delete(f"/api/v1/tasks/{task['id']}?force=true").ok(204)
    seen = get_run(admin, run)
    assert (seen["status"], seen["task_name"]) == ("CANCELLED", task["task_name"])
    listed = admin.get(f"/api/v1/runs?task_id={task['id']}").ok()["items"]
    assert [r["task_name"] for r in listed] == [task["task_name"]]
    admin.post(f"/api/v1/runs/{run['gid']}/rerun").refused(409, "conflict")


@pytest.mark.embedded
@pytest.mark.parametrize("first", [2_147_483_648, 4_294_967_297, 9_007_199_254_740_993, 2**62])
def test_b195_ids_have_64_bits_everywhere(start_server, first):
    server = start_server()
    admin = server.set_up()
    create(admin, "the first").ok(201)
    token = admin.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]
    server.stop()
    with sqlite3.connect(server.state / "ax.db") as store:
        store.execute("UPDATE sqlite_sequence SET seq = ?", (first - 1,))
    store.close()
    server.start()
    made = [create(admin, f"t{n}", task_type="delay", cron_expr=None).ok(201) for n in range(3)]
    assert [task["id"] for task in made] == [str(first + n) for n in range(3)]
    path = f"/api/v1/tasks/{first}"
    assert admin.patch(path, {"version": 1, "priority": 9}).ok()["priority"] == 9
    assert admin.get(f"/api/v1/audit/log?object=task:{first}&limit=1").ok()["items"][0]["action"] == "task.update"
    worker = Worker(server.client(token))
    worker.register()
    run = trigger(admin, made[0])
    given = worker.poll_run()
    worker.finish(given)
    assert get_run(admin, run)["task_id"] == given["task_id"] == str(first)
    listed = admin.get(f"/api/v1/tasks?limit=1&after={first}").ok()
    assert [task["id"] for task in listed["items"]] == [str(first + 1)]
    admin.delete(path).ok(204)


@pytest.mark.parametrize("id", ["4294967297", "18446744073709551617", "-1", "9223372036854775808", "1e0", "0x1", "1%20", "%201", "1.0", "+1"])
def test_b196_what_is_no_id_names_nothing(admin, server, id):
    for path in (f"/api/v1/tasks/{id}", f"/api/v1/runs/{id}"):
        for method, body in (("GET", None), ("DELETE", None)):
            assert admin.call(method, path, body).status in (400, 404, 405), path
    assert admin.get(f"/api/v1/tasks?after={id}").status == 400 or id == "4294967297"


# A sanitizer keeps what was freed, to catch late uses of it: its memory says nothing.
SANITIZED = os.environ.get("AX_SANITIZE", "none") != "none"


def memory_kb(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def test_b200_runs_leave_nothing_behind_in_memory(start_server):
    server = start_server()
    admin = server.set_up()
    token = admin.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]
    task = create(admin, "many", cron_expr="* * * * * ?", misfire="fire_all", overlap="allow", overlap_max=1000).ok(201)
    key = admin.post("/api/v1/tokens", {"name": "t", "role": "operator"}).ok(201)["token"]
    worker, operator = Worker(server.client(token), pool_size=1000), server.client(key)
    worker.register()

    def held():
        folder = pathlib.Path(f"/proc/{server.process.pid}")
        return len(list((folder / "fd").iterdir())), len(list((folder / "task").iterdir()))  # files, threads

    def go(rounds):
        for _ in range(rounds):
            for _ in range(20):
                trigger(operator, task)
            runs = worker.poll(200, 0)["runs"]
            worker.report(*(worker.item(run, "result", outcome="success", code=0, message="m" * 1000) for run in runs))

    go(15)  # all that is made once has been made
    before, memory = held(), memory_kb(server.process.pid)
    go(60)
    wait_for(lambda: held()[0] <= before[0] and held()[1] <= before[1], 10)
    # the store's page cache has a limit of its own
    assert memory_kb(server.process.pid) < memory + 16_000 or SANITIZED
