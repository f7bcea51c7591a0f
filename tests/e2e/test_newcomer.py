"""The first ten minutes: one command, a crontab taken over, every line accounted for."""

import json

import pytest

from ax_world import ROOT, TAG, now_ms, wait_for

CRONTAB = ROOT / "tests/data/crontab/user"
GOOD, REFUSED = 27, 10

# Tasks of the sample that are due every minute: name, output, status, exit status.
EVERY_MINUTE = [
    ("Say hello", "hello\n", "SUCCESS", 0),
    ("Fails every minute", "about to fail\n", "FAILED", 3),
    ("Reads its input", "first line\nsecond line\n", "SUCCESS", 0),
    ("Percent signs kept", None, "SUCCESS", 0),  # a date
    ("Percent signs on both sides", "pipe|100% of it\n", "SUCCESS", 0),
    ("Uses the environment", "[  two blanks kept  ]\n", "SUCCESS", 0),
    ("echo [$GREETING]", "[it changed]\n", "SUCCESS", 0),
    ("Sees its own PATH", "/usr/local/bin:/usr/bin:/bin\n", "SUCCESS", 0),
    ("echo empty=[$EMPTY] mail=$MAILTO", "empty=[] mail=ops@example.org\n", "SUCCESS", 0),
    ("pwd", "/tmp\n", "SUCCESS", 0),
    ("打印问候", "你好\n", "SUCCESS", 0),
]


@pytest.fixture
def dev(world):
    """ax-server --dev, and how axctl finds it: by the state folder alone."""
    server = world.server(dev=True)
    wait_for(server.workers_online, 10)
    return server, {"AX_STATE": str(server.state)}


def check_run(world, server, env, run, output, status, code):
    assert (run["status"], run["result_code"], run["attempt"]) == (status, code, 1)
    if output is not None:
        assert server.text(run) == output
        assert world.axctl(server, "run", "log", run["gid"], env=env).out == output
    shown = world.axctl(server, "run", "show", run["gid"], "--json", env=env).json
    assert (shown["status"], shown["result_code"]) == (status, code)


def check_audit(world, server, env, since):
    """All that was demanded until now ran, once."""
    told = world.axctl(server, "audit", "--from", since, "--to", now_ms(), "--json", env=env).json
    assert told["unexplained"] == 0 and told["duplicates"] == 0
    assert told["expected"] == told["runs"] + told["skipped"] + told["missed"] + told["coalesced"]
    return told


# R1
def test_a_crontab_is_taken_over(world, dev):
    """Real minutes: it ends as soon as each line that is due has run, at most two minutes after the import."""
    server, env = dev
    since = now_ms()
    mine = world.folder / "crontab"
    mine.write_text(f"{TAG}={world.tag}\n" + CRONTAB.read_text())

    report = world.axctl(server, "import", "crontab", mine, "--json", env=env).json
    assert len(report["created"]) == GOOD and len(report["refused"]) == REFUSED
    said = world.axctl(server, "import", "crontab", mine, env=env).out
    for text in ("@reboot echo started", "61 * * * * echo bad minute", "@fortnightly echo no such macro"):
        assert text in said
    again = world.axctl(server, "import", "crontab", mine, "--json", env=env).json
    assert not again["created"] and len(again["unchanged"]) == GOOD
    listed = world.axctl(server, "task", "list", "--json", env=env).json["items"]
    assert {t["task_name"] for t in listed} == {t["task_name"] for t in report["created"]}
    assert all(t["next_trigger_time"] > since for t in listed)

    tasks = {t["task_name"]: t for t in server.items("/tasks")}
    for name, output, status, code in EVERY_MINUTE:
        run = wait_for(lambda: server.runs(tasks[name], status=status), 120, name)[-1]
        assert run["kind"] == "schedule" and 0 <= run["lateness_ms"] < 1000
        check_run(world, server, env, run, output, status, code)

    server.quiesce()
    told = check_audit(world, server, env, since)
    assert told["runs"] >= len(EVERY_MINUTE)
    table = world.axctl(server, "run", "list", env=env).out
    assert "Say hello" in table and "FAILED" in table
    assert "clean" in world.axctl(server, "audit", env=env).out


def test_the_same_in_seconds(world, dev):
    server, env = dev
    since = now_ms()
    cases = [
        ("hello", "*/2 * * * * *", "echo hello", "hello\n", "SUCCESS", 0),
        ("fails", "* * * * * *", "echo about to fail >&2; exit 3", "about to fail\n", "FAILED", 3),
        ("fixed-rate", "@every 2s", "printf '%s|%s' \"$AX_TASK\" \"$AX_ATTEMPT\"", "fixed-rate|1", "SUCCESS", 0),
        ("fixed-delay", "@after 1s", "echo again", "again\n", "SUCCESS", 0),
        ("berlin", "*/3 * * * * *", "echo Grüße", "Grüße\n", "SUCCESS", 0),
    ]
    for name, cron, script, *_ in cases:
        zone = ["--time-zone", "Europe/Berlin"] if name == "berlin" else []
        param = json.dumps({"script": script, "env": {TAG: world.tag}})
        world.axctl(server, "task", "create", name, "--cron", cron, "--executor", "exec", "--param", param, "--retries", 0, *zone,
                    env=env)
    tasks = {t["task_name"]: t for t in server.items("/tasks")}
    for name, cron, script, output, status, code in cases:
        ended = wait_for(lambda: len(server.runs(tasks[name], status=status)) >= 3 and server.runs(tasks[name], status=status), 15, name)
        for run in ended[-3:]:
            check_run(world, server, env, run, output, status, code)
        times = sorted(run["trigger_time"] for run in ended)
        if cron.startswith(("*", "@every")):
            step = {"hello": 2000, "fails": 1000, "fixed-rate": 2000, "berlin": 3000}[name]
            assert all(b - a == step for a, b in zip(times, times[1:])), times
    server.quiesce(20)
    assert check_audit(world, server, env, since)["runs"] >= 12


def test_it_ends_with_its_worker(world, dev):
    server, env = dev
    gate = world.folder / "gate"
    run = server.trigger(server.task("long", script=f"mkfifo {gate}; read line < {gate}", timeout_seconds=0))
    server.wait_run(run, "RUNNING")
    assert world.task_processes()
    assert server.term(30) == 0
    wait_for(lambda: not world.task_processes(), 10, world.task_processes)
    code, said = world.check(server)
    assert code == 0, said
