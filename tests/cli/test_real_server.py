"""axctl against ax-server --dev and its worker: what the fake server cannot show."""

import json
import signal
import subprocess
import time

import pytest

from conftest import BUILD, Axctl, ROOT


@pytest.fixture(scope="module")
def dev(tmp_path_factory):
    state = tmp_path_factory.mktemp("dev")
    server = subprocess.Popen([BUILD / "src/server/ax-server", "--dev", "--listen", "127.0.0.1:0", "--state", state],
                              stdout=subprocess.DEVNULL, stderr=(state / "log").open("w"))
    axctl = Axctl(None, state)

    def call(*args, **options):
        return axctl(*args, env={"AX_STATE": str(state)}, **options)
    try:
        until(lambda: (state / "dev.json").exists() and call("worker", "list", "--json").json["items"])
        yield call
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def until(check, seconds=30):
    end = time.monotonic() + seconds
    while not (found := check()):
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.05)
    return found


def test_every_list_answers(dev):
    for noun in ("task", "run", "event", "failure", "group", "worker", "token", "calendar", "backfill"):
        assert isinstance(dev(noun, "list", "--json").json["items"], list)
        dev(noun, "list")


def test_failed_scripts_are_grouped(dev):
    dev("task", "create", "orders", "--type", "delay", "--retries", 0, "--script", 'echo "order $RANDOM$$ was not found" >&2; exit 3')
    for _ in range(2):
        dev("task", "trigger", "orders", "--wait", code=1)
    group = until(lambda: [g for g in dev("failure", "list", "--task", "orders", "--json").json["items"] if g["count"] == 2])[0]
    assert group["title"] == "exit status 3: order <n> was not found" and group["code"] == 3
    assert "by worker" in dev("failure", "show", group["id"]).out
    assert len(dev("run", "list", "--failure", group["id"], "--json").json["items"]) == 2
    dev("failure", "mute", group["id"], "--for", "1h", "--reason", "known")
    dev("failure", "assign", group["id"], "ann")
    assert dev("failure", "retry", group["id"], "--json").json["made"] == 2
    dev("failure", "resolve", group["id"])


def test_calendars(dev, tmp_path):
    made = dev("calendar", "import", "china", ROOT / "docs/examples/china-workdays.csv", "--title", "China", "--json").json
    assert made["title"] == "China" and made["week"] == ["mon", "tue", "wed", "thu", "fri"]
    assert f"version 1 with {made['day_count']} days" in dev("calendar", "import", "china", ROOT / "docs/examples/china-workdays.csv").out
    assert "2025-10-11  in    make-up for National Day and Mid-Autumn Festival" in dev("calendar", "show", "china", "--year", 2025).out
    assert "2024-10-12" not in dev("calendar", "show", "china", "--year", 2025).out
    (tmp_path / "again.csv").write_text(dev("calendar", "export", "china").out)
    dev("calendar", "import", "copy", tmp_path / "again.csv")
    assert dev("calendar", "show", "copy", "--json").json["days"] == made["days"]
    (tmp_path / "off.ics").write_text("BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20301224\nEND:VEVENT\nEND:VCALENDAR\n")
    assert dev("calendar", "import", "copy", tmp_path / "off.ics", "--replace", "--week", "sat,sun", "--kind", "in",
               "--json").json["days"] == [{"date": "2030-12-24", "kind": "in", "label": ""}]
    assert "line 3" in dev("calendar", "import", "copy", "-", "--format", "ics", code=2,
                           input="BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART:20301224T090000\n").err
    dev("calendar", "import", "copy", tmp_path, "--format", "xls", code=2)

    dev("task", "create", "settle", "--cron", "0 9 * * *", "--tz", "Asia/Shanghai", "--calendar", "china", "--jitter", 600,
        "--valid-until", "2099-01-01T00:00:00Z", "--script", "true")
    shown = dev("task", "next", "settle", "--from", "2025-09-30T12:00:00Z").out
    assert "DUE (UTC)" in shown and "leaves this day out (National Day and Mid-Autumn Festival)" in shown
    assert "default/settle" in dev("calendar", "delete", "china", code=6).err
    dev("task", "update", "settle", "--calendar", "", "--valid-until", "none")
    task = dev("task", "show", "settle", "--json").json
    assert task["calendar"] is None and task["valid_until"] is None and task["jitter_seconds"] == 600
    assert "deleted calendar china" in dev("calendar", "delete", "china").out
    dev("calendar", "show", "china", code=5)
    dev("task", "delete", "settle")


def test_backfills(dev):
    task = dev("task", "create", "rollup", "--cron", "0 0 * * *", "--script", "echo $AX_TRIGGER_TIME", "--json").json
    span = ("--from", "2025-03-01T00:00:00Z", "--to", "2025-03-11T00:00:00Z")
    dev("task", "backfill", "rollup", code=2)
    assert "10 fires, of which 0 have a run: it would make 10 runs" in dev("task", "backfill", "rollup", *span, "--dry-run").out
    assert dev("backfill", "list", "--task", "rollup", "--json").json["items"] == []
    made = dev("task", "backfill", "rollup", *span, "--max-live", 3, "--newest-first", "--reason", "lost disk", "--json").json
    assert (made["task_id"], made["total"], made["order"], made["status"]) == (task["id"], 10, "newest_first", "running")
    until(lambda: dev("backfill", "show", made["id"], "--json").json["status"] == "done")
    shown = dev("backfill", "show", made["id"]).out
    assert "2025-03-01T00:00:00Z" in shown and "--backfill " + made["id"] in shown
    runs = dev("run", "list", "--backfill", made["id"], "--json").json["items"]
    assert [run["status"] for run in runs] == ["SUCCESS"] * 10 and {run["kind"] for run in runs} == {"schedule"}
    assert [run["trigger_time"] for run in runs] == sorted(run["trigger_time"] for run in runs)  # the oldest was made last
    assert "Backfill " + made["id"] in dev("why", runs[0]["gid"]).out
    assert "10 fires, of which 10 have a run" in dev("task", "backfill", "rollup", *span, "--dry-run").out
    dev("backfill", "cancel", made["id"], code=6)
    dev("backfill", "show", 999999, code=5)

    dev("task", "pause", "rollup")
    held = dev("task", "backfill", "rollup", "--from", "2025-01-01T00:00:00Z", "--to", "2025-01-11T00:00:00Z").out
    assert "10 fires" in held
    held = dev("backfill", "list", "--task", "rollup", "--json").json["items"][0]
    assert held["made"] == held["live"] == 1
    assert "cancelled" in dev("backfill", "cancel", held["id"], "--reason", "not needed").out
    held = dev("backfill", "show", held["id"], "--json").json
    assert (held["made"], held["live"], held["failed"]) == (1, 0, 1)
    dev("task", "delete", "rollup")


# R11
def test_a_task_from_its_making_to_its_end(dev):
    dev("task", "create", "hello", "--type", "delay", "--script", "for i in 1 2 3; do echo line $i; sleep 0.1; done")
    run = dev("task", "trigger", "hello", "--json").json
    assert dev("run", "log", run["gid"], "--follow").out == "line 1\nline 2\nline 3\n"
    assert dev("run", "log", run["gid"]).out == "line 1\nline 2\nline 3\n"
    assert "attempts" in dev("run", "show", run["gid"]).out
    again = dev("run", "rerun", run["gid"], "--wait", "--json").json
    assert again["status"] == "SUCCESS" and again["rerun_of"] == run["gid"]
    late = dev("task", "trigger", "hello", "--delay", "200ms", "--wait", "--json").json
    waits = late["trigger_time"] - late["create_time"]  # it counts from the request, the row is made a moment later
    assert late["kind"] == "delay" and 100 < waits <= 200
    shown = dev("task", "show", "hello", "--json").json
    dev("task", "update", "hello", "--file", "-", "--priority", 7, input=json.dumps(shown))
    dev("task", "update", "hello", "--file", "-", input=json.dumps(shown), code=6)
    assert [v["version"] for v in dev("task", "versions", "hello", "--json").json["items"]] == [2, 1]
    dev("task", "pause", "default/hello")
    dev("task", "resume", "default/hello")
    dev("task", "delete", "hello")
    dev("task", "show", "hello", code=5)


def test_failure_and_cancel(dev):
    dev("task", "create", "bad", "--type", "delay", "--script", "echo oops; exit 3", "--retries", 0)
    assert "exit" in dev("task", "trigger", "bad", "--wait", code=1).out
    dev("task", "create", "long", "--type", "delay", "--", "/bin/sleep", "60")
    gid = dev("task", "trigger", "long", "--json").json["gid"]
    until(lambda: dev("run", "show", gid, "--json").json["status"] == "RUNNING")
    assert "CANCELLED" in dev("run", "cancel", gid, "--wait").out
    dev("run", "retry", gid, code=6)


def test_why(dev):
    dev("task", "create", "nobodys", "--type", "delay", "--executor", "rare")
    run = dev("task", "trigger", "nobodys", "--json").json
    out = dev("why", run["gid"]).out
    assert out.startswith(f"run {run['gid']} of default/nobodys: worker\n") and "FAIL" in out
    assert dev("why", "default/nobodys", "--at", "now", "--json").json["verdict"] == "no_schedule"
    dev("why", str(int(run["gid"]) - 1), code=5)
    dev("run", "cancel", run["gid"])
    assert dev("why", run["gid"], "--json").json["verdict"] == "cancelled"


def test_refusals(dev):
    assert "never_fires" in dev("task", "create", "never", "--cron", "0 0 31 2 *", "--script", "x", code=2).err
    assert "cron_expr" in dev("task", "create", "wrong", "--cron", "nonsense", "--script", "x", code=2).err
    dev("run", "show", "123", code=5)
    dev("group", "list", "--token", "axp_wrong", "--server", "http://127.0.0.1:1", code=3)


def test_groups_and_tokens(dev):
    dev("group", "create", "ops", "--quota", 10)
    dev("group", "update", "ops", "--quota", 11)
    dev("group", "pause", "ops")
    assert dev("group", "show", "ops", "--json").json["paused"] is True
    dev("group", "resume", "ops")
    assert dev("worker", "token", "--group", "ops").out.startswith("axw_")
    made = dev("token", "create", "ci", "--role", "viewer", "--json").json
    assert any(t["id"] == made["id"] for t in dev("token", "list", "--json").json["items"])
    dev("token", "delete", made["id"])
    dev("group", "delete", "ops")


def test_a_crontab_is_imported_and_runs(dev):
    path = ROOT / "tests/data/crontab/user"
    first = dev("import", "crontab", path, "--json").json
    assert len(first["created"]) >= 25
    again = dev("import", "crontab", path, "--json").json
    assert again["created"] == [] and len(again["unchanged"]) == len(first["created"])
    expected = {"Say hello": "hello\n", "Reads its input": "first line\nsecond line\n",
                "Percent signs on both sides": "pipe|100% of it\n", "Uses the environment": "[  two blanks kept  ]\n",
                "Sees its own PATH": "/usr/local/bin:/usr/bin:/bin\n", "pwd": "/tmp\n",
                "打印问候": "你好\n"}
    for name, output in expected.items():
        run = dev("task", "trigger", "default/" + name, "--wait", "--json").json
        assert dev("run", "log", run["gid"]).out == output, name
    failed = dev("task", "trigger", "Fails every minute", "--wait", "--json", code=1).json
    assert failed["result_code"] == 3 and failed["attempt"] == 1
    assert dev("audit", "--from", "-1h", "--to", "now", "--json").json["unexplained"] == 0


def test_an_event_and_the_task_that_listens(dev):
    dev("task", "create", "listener", "--type", "event", "--event", "file.came", "--event-condition",
        '[{"field":"/size","op":"gt","value":0}]', "--script", 'echo "$AX_PARAMS"')
    event = dev("event", "send", "file.came", "--id", "f1", "--payload", '{"size":5}', "--json").json
    row, = event["tasks"]
    assert dev("run", "log", row["gid"], "--follow").out == '{"size":5}\n'
    assert dev("event", "send", "file.came", "--id", "f1", "--json").json == event
    assert "condition" in dev("event", "send", "file.came", "--payload", '{"size":0}').out
    assert [e["passed_over"] for e in dev("event", "list", "--name", "file.came", "--json").json["items"]] == [1, 0]
    assert "on file.came" in dev("task", "list").out
    assert "listener" in dev("event", "show", event["id"]).out
    dev("event", "show", "1", code=5)
    dev("task", "delete", "listener")


def test_a_chain_of_tasks(dev):
    dev("task", "create", "first", "--type", "delay", "--script", "true")
    dev("task", "create", "left", "--upstream", "first", "--script", "true")
    dev("task", "create", "right", "--upstream", "default/first", "--script", "true")
    both = dev("task", "create", "both", "--upstream", "left,right", "--join", "all", "--join-deadline", "60",
               "--script", 'echo "$AX_UPSTREAM"', "--json").json
    assert (both["join"], both["join_deadline_seconds"], both["task_type"], len(both["upstreams"])) == ("all", 60, "scheduled", 2)
    dev("task", "trigger", "first")
    run = until(lambda: dev("run", "list", "--task", "both", "--json").json["items"])[0]
    dev("run", "log", run["gid"], "--follow")
    seen = json.loads(dev("run", "log", run["gid"]).out)
    assert sorted(upstream["task_name"] for upstream in seen) == ["left", "right"]
    graph = dev("task", "graph", "left").out
    rows = [line.split() for line in graph.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["-1", "default/first"], ["0", "default/left"], ["1", "default/both"]]
    assert "all of default/left" in graph
    assert len(dev("task", "graph", "first", "--json").json["tasks"]) == 4
    assert "name it as their upstream" in dev("task", "delete", "first", code=6).err
    assert "circle" in dev("task", "update", "first", "--upstream", "both", code=2).err
    for name in ("both", "left", "right", "first"):
        dev("task", "delete", name, "--force")
