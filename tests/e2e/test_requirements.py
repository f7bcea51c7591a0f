"""What AX was asked to do, one scenario for each requirement, through the doors that users have: the API, axctl and tasks
that execute. Each says its number; tests/REQUIREMENTS.md has all of them, also those that need several servers or Redis."""

import json
import os
import signal
import socket

import pytest

import ax_server
from ax_world import ApiError, World, tagged, wait_for


@pytest.fixture(scope="module")
def node():
    with World() as world:
        server = world.server()
        server.world = world
        server.w1 = world.worker(server, name="w1")
        server.stub = world.stub()
        yield server


@pytest.fixture
def name(request):
    return request.node.name


def lines(world, path):
    return (world.folder / path).read_text().splitlines() if (world.folder / path).exists() else []


def test_r02_three_types_in_one_model(node, name):
    scheduled = node.task(f"{name}-s", script="echo $AX_PARAMS", cron_expr="* * * * * *")
    delay = node.task(f"{name}-d", script="echo $AX_PARAMS")
    event = node.task(f"{name}-e", script="echo $AX_PARAMS", task_type="event", event_name="paid")
    node.trigger(delay, delay_ms=300, params={"by": "delay"})
    for _ in range(2):  # sent twice, it is one event
        node.api("POST", "/events", {"name": "paid", "event_id": "order 7", "payload": {"by": "event"}})
    ran = {}
    for task in (scheduled, delay, event):
        run = wait_for(lambda: node.runs(task, status="SUCCESS"), 10)[0]
        ran[run["kind"]] = node.text(run).strip()
    assert ran == {"schedule": "", "delay": '{"by":"delay"}', "event": '{"by":"event"}'}
    assert len(node.runs(event)) == 1
    node.stop_firing(scheduled)


def test_r03_shards(node, name):
    task = node.task(name, script=f'echo "$AX_SHARD_INDEX of $AX_SHARD_TOTAL"; test $AX_SHARD_INDEX != 2 || test -e {node.world.folder}/fixed',
                     shard_count=3, retry_count=1, retry_backoff="fixed", retry_delay_seconds=1)
    parent = node.trigger(task)
    wait_for(lambda: {r["status"] for r in node.runs(task, parent=parent["gid"])} == {"SUCCESS", "RETRYING"}, 10)
    assert node.run(parent)["status"] == "RUNNING"
    (node.world.folder / "fixed").touch()
    node.wait_run(parent, "SUCCESS")  # only the shard that failed was tried again
    shards = {s["shard"]["index"]: s for s in node.runs(task, parent=parent["gid"])}
    assert {n: s["retry_times"] for n, s in shards.items()} == {1: 0, 2: 1, 3: 0}
    assert node.text(shards[3]).strip() == "3 of 3"
    assert [r["gid"] for r in node.runs(task)] == [parent["gid"]]


def test_r04_every_fire_is_accounted_for(node):
    """What is made up and what waits for a person is in test_misfires.py; here: every fire of a rule is accounted for."""
    task = node.task("r04", script="true", cron_expr="* * * * * *")
    wait_for(lambda: node.runs(task, status="SUCCESS"), 10)
    node.stop_firing(task)
    wait_for(lambda: not node.runs(task, live="true"), 10)
    told = node.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0)
    assert told["expected"] == told["runs"] + told["skipped"] + told["missed"] + told["coalesced"]


def test_r05_states_with_a_way_in_and_out(node, name):
    slow = node.task(f"{name}-slow", script="sleep 30", timeout_seconds=1, grace_seconds=1)
    held = node.task(f"{name}-held", script="sleep 30")
    failing = node.task(f"{name}-failing", script="exit 3", retry_count=1)
    behind = node.task(f"{name}-behind", script="true", upstreams=[failing["id"]])
    runs = {"TIMEOUT": node.trigger(slow), "CANCELLED": node.trigger(held), "RETRYING": node.trigger(failing)}
    node.wait_run(runs["CANCELLED"], "RUNNING")
    node.api("POST", f"/runs/{runs['CANCELLED']['gid']}/cancel", {})
    for status, run in runs.items():
        node.wait_run(run, status, 15)
    node.api("POST", f"/runs/{runs['RETRYING']['gid']}/retry", {})
    node.wait_run(runs["RETRYING"], "FAILED")
    blocked = wait_for(lambda: node.runs(behind, status="BLOCKED"), 10)[0]
    assert node.run(blocked)["blocked_by"] == runs["RETRYING"]["gid"]
    again = node.api("POST", f"/runs/{blocked['gid']}/rerun", {})  # a person lets it run all the same
    assert node.wait_run(again, "SUCCESS")["rerun_of"] == blocked["gid"] and node.run(blocked)["status"] == "BLOCKED"
    with pytest.raises(ApiError) as refused:
        node.api("POST", f"/runs/{runs['TIMEOUT']['gid']}/cancel", {})
    assert refused.value.code == "conflict"


def test_r07_delays_failures_in_groups_and_canaries(node, name):
    failing = node.task(name, script="echo connection to db-$AX_GID refused; exit 3")
    run = node.wait_run(node.trigger(failing, delay_ms=1000), "FAILED")
    assert run["create_time"] < run["trigger_time"] <= run["dispatch_time"]
    node.wait_run(node.trigger(failing), "FAILED")
    group = wait_for(lambda: [f for f in node.items("/failures", task_id=failing["id"]) if f["count"] == 2], 15)[0]
    assert "connection to" in group["title"]
    node.api("POST", f"/tasks/{failing['id']}/canary", {"version": 1, "percent": 100, "min_runs": 1, "max_p95_percent": 0,
                                                       "change": {"biz_param": {"script": "true"}}})
    node.wait_run(node.trigger(failing), "SUCCESS")
    assert node.get(f"/tasks/{failing['id']}/canary")["state"] == "promoted"


def test_r12_running_never_depends_on_a_callback(node, name):
    """A worker that dies with its run: the run goes on elsewhere or ends, and is never RUNNING for ever."""
    w2 = node.world.worker(node, name="w2", pool=5)
    task = node.task(name, argv=["/bin/sleep", "60"], lost_limit=0, timeout_seconds=0)
    node.api("POST", "/workers/w1/drain", {})
    run = node.trigger(task)
    node.wait_run(run, "RUNNING")
    w2.kill()
    for pid, command in tagged(node.world.tag).items():
        if "ax-exec" in command:
            os.kill(pid, signal.SIGKILL)
    wait_for(lambda: not any("ax-exec" in command for command in tagged(node.world.tag).values()), 10, "no ax-exec is left to be adopted")
    w2.start()  # the machine was off: it does not have the run any more
    assert node.wait_run(run, "TIMEOUT", 20)["reason"] == "worker_restarted"
    node.api("POST", "/workers/w1/resume", {})
    w2.end()


def test_r13_task_and_runs_have_states_of_their_own(node, name):
    task = node.task(name, script="true", cron_expr="0 0 1 1 *")
    first = node.trigger(task)
    node.wait_run(first, "SUCCESS")
    node.pause_task(task)
    shown = node.reload(task)
    assert shown["status"] == "paused" and shown["last_run"]["status"] == "SUCCESS"
    assert node.run(first)["status"] == "SUCCESS"


def test_r15_one_gid_over_all_tries(node, name):
    task = node.task(name, url=node.stub.url("/fail"), retry_count=2, retry_backoff="fixed", retry_delay_seconds=1,
                     retry_jitter_percent=0)
    run = node.trigger(task)
    node.wait_run(run, "FAILED", 20)
    calls = [c for c in node.stub.calls if c["gid"] == run["gid"]]
    assert {c["key"] for c in calls} == {run["gid"]}
    assert [c["attempt"] for c in calls] == ["1", "2", "3"] and [c["fence"] for c in calls] == ["1", "2", "3"]


def test_r16_the_workers_limit_comes_first(node, name):
    """The hard limit of the server is in test_limits.py: timeout + grace + 5 s."""
    task = node.task(name, script="sleep 30", timeout_seconds=1, grace_seconds=1)
    run = node.wait_run(node.trigger(task), "TIMEOUT", 15)
    assert run["reason"] == "timeout" and run["end_time"] - run["start_time"] < 4000


def test_r17_groups_have_their_own_quota(node, name):
    node.api("POST", "/groups", {"group_key": "reports", "dispatch_quota": 2, "pool_size": 2})
    token = node.api("POST", "/tokens", {"name": "both", "worker_groups": ["default", "reports"]})["token"]
    node.worker_token_file.write_text(token + "\n")
    worker = node.world.worker(node, name="w3", options=("--groups", "default:5,reports:5"))
    flood = node.task(f"{name}-flood", script="sleep 20", group_key="reports", overlap="allow", overlap_max=50)
    runs = [node.trigger(flood) for _ in range(8)]
    wait_for(lambda: node.get("/groups/reports")["running"] == 2, 10)
    quiet = node.task(f"{name}-quiet", script="true")
    assert node.wait_run(node.trigger(quiet), "SUCCESS", 5)
    assert {node.run(r)["waiting_for"] for r in runs if node.run(r)["status"] == "WAITING"} == {"quota"}
    for run in runs:
        node.api("POST", f"/runs/{run['gid']}/cancel", {})
    wait_for(lambda: not node.runs(flood, live="true"), 20)
    assert node.get("/groups/reports")["running"] == 0
    worker.end()


# R7: grades
def test_r18_the_urgent_go_first(node, name):
    """At the server: one place in the whole group."""
    node.api("POST", "/groups", {"group_key": "one", "dispatch_quota": 1, "pool_size": 1})
    token = node.api("POST", "/tokens", {"name": "one", "worker_groups": ["default", "one"]})["token"]
    node.worker_token_file.write_text(token + "\n")
    out = node.world.folder / name
    tasks = {p: node.task(f"{name}-{p}", script=f"echo {p} >>{out}", group_key="one", priority=p) for p in (1, 5, 10)}
    runs = [node.trigger(tasks[p]) for p in (1, 5, 10)]
    worker = node.world.worker(node, name="w4", options=("--groups", "one:1"))
    for run in runs:
        node.wait_run(run, "SUCCESS", 20)
    assert lines(node.world, name) == ["10", "5", "1"]
    worker.end()


def test_r18_the_urgent_go_first_in_the_worker_too(node, name):
    """They were all given out, in the order of their coming, and wait for the worker's only place."""
    node.api("POST", "/groups", {"group_key": "queue", "pool_size": 1})
    token = node.api("POST", "/tokens", {"name": "queue", "worker_groups": ["default", "queue"]})["token"]
    node.worker_token_file.write_text(token + "\n")
    worker = node.world.worker(node, name="w6", options=("--groups", "queue:1"))
    out, gate = node.world.folder / name, node.world.folder / "gate"
    first = node.trigger(node.task(f"{name}-first", script=f"until test -e {gate}; do sleep 0.05; done", group_key="queue"))
    node.wait_run(first, "RUNNING")
    runs = []
    for p in (1, 10):
        task = node.task(f"{name}-{p}", script=f"echo {p} >>{out}", group_key="queue", priority=p)
        runs.append(node.wait_run(node.trigger(task), "DISPATCHED"))
    gate.touch()
    for run in runs:
        node.wait_run(run, "SUCCESS", 20)
    assert lines(node.world, name) == ["10", "1"]
    worker.end()


def test_r22_a_late_result_changes_nothing(node, name):
    """A worker loses its attempt, another one does the work, and then the first one's result arrives."""
    node.api("POST", "/groups", {"group_key": "late"})
    token = node.api("POST", "/tokens", {"name": "late", "worker_groups": ["default", "late"]})["token"]
    slow = ax_server.Worker(ax_server.Client(node, token), name="slow", group="late")
    slow.register()
    run = node.trigger(node.task(name, script="echo done", group_key="late", retry_count=1))
    lost = slow.poll_run()
    assert (lost["gid"], lost["fence"]) == (run["gid"], 1)
    slow.report(slow.item(lost, "accepted"), slow.item(lost, "started"))
    slow.incarnation = "f" * 16  # it is started again and names no run: the attempt is fenced off
    slow.register()
    node.worker_token_file.write_text(token + "\n")
    worker = node.world.worker(node, name="w7", options=("--groups", "late:1"))
    ended = node.wait_run(run, "SUCCESS", 20)
    assert (ended["fence"], ended["worker"]) == (2, "w7") and ended["attempts"][0]["late"] is None
    late = slow.item(lost, "result", outcome="failed", code=3, message="too late")
    assert slow.report(late)["verdicts"] == ["late"]
    seen = node.run(run)
    assert (seen["attempts"][0]["late"]["outcome"], seen["attempts"][0]["late"]["message"]) == ("failed", "too late")
    assert [e["sentence"] for e in seen["timeline"] if e not in ended["timeline"]] == ["line_late_report"]
    seen["attempts"][0]["late"], seen["timeline"] = None, ended["timeline"]
    assert seen == ended
    slow.say("leave", {}).ok()
    worker.end()


def test_r23_back_off_doubles_up_to_half_an_hour(node, name):
    task = node.task(name, script="exit 1", retry_count=6)
    run = node.trigger(task)
    for retry in range(6):
        seen = node.wait_run(run, "RETRYING")
        wait = min(60_000 << retry, 1_800_000)
        assert wait * 0.9 <= seen["deadline_time"] - seen["attempts"][-1]["end_time"] <= wait * 1.1 + 1000
        assert seen["retry_times"] == retry + 1
        node.api("POST", f"/runs/{run['gid']}/retry", {})
        wait_for(lambda: node.run(run)["retry_times"] > retry + 1 or node.run(run)["status"] == "FAILED", 10)
    assert node.run(run)["status"] == "FAILED"


def test_r24_many_fires_at_once(node, name):
    """The load of R24 is a benchmark (bench: spread-20k, burst-20k); here: 300 due at one instant, each runs once."""
    tasks = node.api("POST", "/tasks/batch", {"tasks": [
        {"task_name": f"{name}-{i}", "executor_key": "http", "biz_param": {"url": node.stub.url("/ok")}, "cron_expr": "*/5 * * * * *"}
        for i in range(300)]})["items"]
    wait_for(lambda: all(t["last_run"] for t in node.items("/tasks", q=name)), 30)
    for task in tasks:
        node.stop_firing(task)
    wait_for(lambda: not node.get("/runs", live="true", limit=1)["items"], 30)
    assert (node.audit()["unexplained"], node.audit()["duplicates"]) == (0, 0)


def test_r26_duplicates_are_diagnosed(node, name):
    task = node.task(name, script="exit 1", retry_count=1, retry_backoff="fixed", retry_delay_seconds=1)
    run = node.wait_run(node.trigger(task), "FAILED", 15)
    why = node.get(f"/runs/{run['gid']}/why")
    assert "one_request" in [s["code"] for s in why["steps"]] and why["verdict"] == "failed"
    said = [e for e in node.w1.events("run_received") if e["gid"] == run["gid"]]
    assert [e["attempt"] for e in said] == [1, 2] and {(e["worker"], e["host"]) for e in said} == {("w1", socket.gethostname())} and {e["task_id"] for e in said} == {task["id"]}


# R14: with a time limit of 0 the lease of 45 s is the lock of the run
def test_r28_still_running_is_judged_by_the_heartbeat(node, name):
    task = node.task(name, script="sleep 60", timeout_seconds=0)
    run = node.trigger(task)
    node.wait_run(run, "RUNNING")
    first = wait_for(lambda: node.run(run)["heartbeat_time"], 20)
    later = wait_for(lambda: node.run(run)["heartbeat_time"] > first and node.run(run), 25)
    assert 0 < later["deadline_time"] - later["heartbeat_time"] <= 46_000  # the lease, which only heartbeats renew
    node.api("POST", f"/runs/{run['gid']}/cancel", {})
    node.wait_run(run, "CANCELLED", 15)


def test_r29_defaults(node, name):
    task = node.api("POST", "/tasks", {"task_name": name, "executor_key": "exec", "biz_param": {"argv": ["/bin/true"]},
                                       "cron_expr": "0 0 1 1 *"})
    assert {k: task[k] for k in ("timeout_seconds", "retry_count", "retry_backoff", "retry_delay_seconds", "retry_cap_seconds",
                                 "window_seconds", "priority", "overlap", "misfire")} == {
        "timeout_seconds": 60, "retry_count": 3, "retry_backoff": "exponential", "retry_delay_seconds": 60, "retry_cap_seconds": 1800,
        "window_seconds": 600, "priority": 5, "overlap": "queue", "misfire": "fire_once"}
    group = node.get("/groups/default")
    assert (group["dispatch_quota"], group["pool_size"]) == (200, 50)


def test_r29_what_workers_are_told(node, name):
    """The heartbeat, the lease, which heartbeats renew and which is the lock of a run, and the longest poll."""
    token = node.api("POST", "/tokens", {"name": name, "worker_groups": ["default"]})["token"]
    worker = ax_server.Worker(ax_server.Client(node, token), name="by-hand", executors=("by-hand",))
    told = worker.register()
    assert (told["heartbeat_ms"], told["lease_ms"], told["poll_wait_ms"]) == (15_000, 45_000, 5000)
    node.trigger(node.task(name, executor="by-hand", timeout_seconds=0))
    run = worker.poll_run()
    worker.report(worker.item(run, "accepted"), worker.item(run, "started"), worker.item(run, "heartbeat"))
    seen = node.run(run)
    assert seen["deadline_time"] - seen["heartbeat_time"] == 45_000
    worker.report(worker.item(run, "result", outcome="success", code=0))
    worker.say("leave", {}).ok()


def test_r29_a_worker_hears_of_a_run_within_a_second(node, name):
    """Polls wait at the server, so that none has to be asked again before it learns of a run that came due meanwhile."""
    run = node.wait_run(node.trigger(node.task(name, script="true"), delay_ms=2000), "SUCCESS")
    assert 0 <= run["dispatch_time"] - run["trigger_time"] < 1000


def test_r27_long_tasks_have_a_narrower_lane(node, name):
    node.api("POST", "/groups", {"group_key": "lanes", "dispatch_quota": 100, "pool_size": 4})
    token = node.api("POST", "/tokens", {"name": "lanes", "worker_groups": ["default", "lanes"]})["token"]
    node.worker_token_file.write_text(token + "\n")
    worker = node.world.worker(node, name="w5", options=("--groups", "lanes:4"))
    exports = node.task(f"{name}-exports", script="sleep 20", group_key="lanes", lane="long", overlap="allow", overlap_max=50)
    runs = [node.trigger(exports) for _ in range(12)]
    wait_for(lambda: [r for r in runs if node.run(r)["status"] == "RUNNING"], 10)
    payment = node.task(f"{name}-payment", script="true", group_key="lanes", lane="short")
    assert node.wait_run(node.trigger(payment), "SUCCESS", 5)
    assert len([r for r in runs if node.run(r)["status"] == "RUNNING"]) <= 2  # half of the pool
    for run in runs:
        node.api("POST", f"/runs/{run['gid']}/cancel", {})
    wait_for(lambda: not node.runs(exports, live="true"), 20)
    worker.end()


# R7: chains
def test_r30_success_starts_what_is_downstream(node, name):
    first = node.task(f"{name}-first", script=f"test -e {node.world.folder}/good")
    second = node.task(f"{name}-second", script='echo "$AX_UPSTREAM"', upstreams=[first["id"]])
    third = node.task(f"{name}-third", script="true", upstreams=[second["id"]])
    failed = node.wait_run(node.trigger(first), "FAILED")
    blocked = wait_for(lambda: node.runs(third, status="BLOCKED"), 10)[0]
    middle = node.runs(second, status="BLOCKED")[0]
    assert middle["kind"] == "chain" and failed["gid"] in json.dumps(middle["blocked_by"]) and middle["gid"] in json.dumps(blocked["blocked_by"])
    (node.world.folder / "good").touch()
    again = node.api("POST", f"/runs/{failed['gid']}/rerun", {})  # the chain begins anew
    node.wait_run(again, "SUCCESS")
    done = wait_for(lambda: node.runs(third, status="SUCCESS"), 10)[0]
    told = node.text(wait_for(lambda: node.runs(second, status="SUCCESS"), 10)[0])
    assert json.loads(told)[0]["gid"] == again["gid"] and done["kind"] == "chain"
    with pytest.raises(ApiError) as refused:
        node.change(first, upstreams=[third["id"]])
    assert refused.value.problem["field"] == "upstreams"
