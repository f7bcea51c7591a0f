import getpass
import pathlib

import pytest

from fake_server import problem

DATA = pathlib.Path(__file__).resolve().parents[1] / "data/crontab"


class Store:
    """The tasks of a fake server, kept by group and name."""

    def __init__(self, server):
        self.tasks, self.batches, self.patches = {}, 0, []
        server.on("GET", "/tasks", self.list)
        server.on("POST", "/tasks/batch", self.batch)
        self.server = server

    def list(self, request):
        return {"items": [t for t in self.tasks.values() if t["group_key"] == request.query["group_key"]], "next": None}

    def batch(self, request):
        self.batches += 1
        made = []
        for task in request.body["tasks"]:
            made.append({"priority": 5, "status": "enabled", **task, "id": str(100 + len(self.tasks)), "version": 1})
            self.tasks[task["group_key"], task["task_name"]] = made[-1]
            self.server.on("PATCH", "/tasks/" + made[-1]["id"], self.patch)
        return 201, {"items": made}

    def patch(self, request):
        self.patches.append(request)
        return {}

    def by_line(self, report):
        return {c["line"]: next(t for t in self.tasks.values() if t["id"] == c["id"]) for c in report["created"]}


def lines_with(path, text):
    return [n for n, line in enumerate(path.read_text().splitlines(), 1) if text in line]


def test_user_crontab(server, axctl):
    store = Store(server)
    path = DATA / "user"
    report = axctl("import", "crontab", path, "--group", "ops", "--time-zone", "America/New_York", "--json").json
    assert store.batches == 1 and len(store.tasks) == len(report["created"]) >= 25
    assert {r["line"] for r in report["refused"]} == set(range(lines_with(path, "@reboot")[0], 90)) & {
        n for n, line in enumerate(path.read_text().splitlines(), 1) if line}
    tasks = store.by_line(report)

    hello = tasks[lines_with(path, "echo hello")[0]]
    assert hello == {
        "id": hello["id"], "version": 1, "priority": 5, "status": "enabled", "group_key": "ops",
        "task_name": "Say hello", "task_type": "scheduled", "cron_expr": "* * * * *", "dialect": "unix",
        "time_zone": "America/New_York", "executor_key": "exec", "timeout_seconds": 0, "retry_count": 0,
        "overlap": "allow", "overlap_max": 10, "owner": "ops@example.org", "notes": hello["notes"],
        "biz_param": {"script": "echo hello", "shell": "/bin/sh", "env": {
            "SHELL": "/bin/sh", "PATH": "/usr/local/bin:/usr/bin:/bin", "MAILTO": "ops@example.org"}}}
    assert "* * * * * echo hello" in hello["notes"] and "MAILTO=ops@example.org" in hello["notes"]

    both = tasks[lines_with(path, "pipe; cat%")[0]]["biz_param"]
    assert both["script"] == "printf '%s|' pipe; cat" and both["stdin"] == "100% of it\n"
    assert tasks[lines_with(path, "first line%")[0]]["biz_param"]["stdin"] == "first line\nsecond line\n"
    first, second = (tasks[n]["biz_param"]["env"]["GREETING"] for n in lines_with(path, "[$GREETING]"))
    assert (first, second) == ("  two blanks kept  ", "it changed")
    home = tasks[lines_with(path, "* pwd")[0]]["biz_param"]
    assert home["cwd"] == "/tmp" and home["env"]["HOME"] == "/tmp"
    berlin, shanghai = (tasks[lines_with(path, f"in {city}\"")[0]] for city in ("Berlin", "Shanghai"))
    assert (berlin["time_zone"], shanghai["time_zone"]) == ("Europe/Berlin", "Asia/Shanghai")
    assert tasks[lines_with(path, "echo 你好")[0]]["task_name"] == "打印问候"
    monthly = tasks[lines_with(path, "@monthly")[0]]
    assert monthly["cron_expr"] == "@monthly" and "dialect" not in monthly and monthly["owner"] == ""
    names = [t["task_name"] for t in store.tasks.values()]
    assert len(set(names)) == len(names)


def test_importing_again(server, axctl, tmp_path):
    store = Store(server)
    (tmp_path / "tab").write_text("# one\n0 1 * * * a\n# two\n0 2 * * * b\n")
    assert "created 2" in axctl("import", "crontab", "tab").out
    again = axctl("import", "crontab", "tab", "--json").json
    assert (len(again["created"]), len(again["unchanged"])) == (0, 2) and store.batches == 1
    one = next(task for task in store.tasks.values() if task["task_name"] == "one")
    one["status"] = "deleting"  # as it is in the file, and will soon be gone
    for option in ([], ["--update"]):
        going = axctl("import", "crontab", "tab", "--json", *option, code=6).json
        assert [task["task_name"] for task in going["unchanged"]] == ["two"]
        assert "is being deleted" in going["refused"][0]["reason"] and going["refused"][0]["line"] == 2
    one["status"] = "enabled"

    (tmp_path / "tab").write_text("# one\n0 1 * * * a\n# two\n0 3 * * * b\n# three\n0 4 * * * c\n")
    differs = axctl("import", "crontab", "tab", "--json", code=6).json
    assert [c["task_name"] for c in differs["created"]] == ["three"]
    assert "--update" in differs["refused"][0]["reason"] and differs["refused"][0]["line"] == 4
    assert store.patches == []

    updated = axctl("import", "crontab", "tab", "--update", "--json").json
    assert [u["task_name"] for u in updated["updated"]] == ["two"] and len(updated["unchanged"]) == 2
    sent = store.patches[0].body
    assert sent["cron_expr"] == "0 3 * * *" and sent["version"] == 1 and "status" not in sent


def test_paused_tasks_count_as_unchanged(server, axctl, tmp_path):
    store = Store(server)
    (tmp_path / "tab").write_text("0 1 * * * a\n")
    axctl("import", "crontab", "tab", "--disabled")
    assert [t["status"] for t in store.tasks.values()] == ["created"]
    assert len(axctl("import", "crontab", "tab", "--json").json["unchanged"]) == 1


def test_system_crontab(server, axctl):
    store = Store(server)
    path = DATA / "system"
    report = axctl("import", "crontab", path, "--system", "--worker-user", "root", "--map-user", "www-data=root",
                   "--map-user", "nobody=nobody", "--json").json
    tasks = store.by_line(report)
    assert tasks[lines_with(path, "cron.hourly")[0]]["task_name"] == "run-parts cron.hourly"
    assert "user" not in tasks[lines_with(path, "cron.php")[0]]["biz_param"]
    assert tasks[lines_with(path, "true%")[0]]["biz_param"]["user"] == "nobody"
    assert len(report["refused"]) == 1
    unmapped = axctl("import", "crontab", path, "--system", "--worker-user", "root", "--dry-run", "--json").json
    reasons = {r["line"]: r["reason"] for r in unmapped["refused"]}
    assert "--map-user www-data=root" in reasons[lines_with(path, "cron.php")[0]]


def test_what_becomes_of_mail_is_said(server, axctl, tmp_path):
    Store(server)
    (tmp_path / "tab").write_text("0 1 * * * a\nMAILTO=ops@example.org\n0 2 * * * b\n0 3 * * * c\nMAILTO=\"\"\n0 4 * * * d\n"
                                  "MAILTO=ops@example.org\n0 5 * * * e\n")
    for options in (["--dry-run"], []):
        said = axctl("import", "crontab", "tab", "--json", *options).json["warnings"]
        assert [(w["line"], w["text"].split(":")[0]) for w in said] == [
            (3, "MAILTO=ops@example.org"), (6, 'MAILTO=""'), (8, "MAILTO=ops@example.org")]
        assert "mails none" in axctl("import", "crontab", "tab", *options).out


def test_own_user_is_the_default(axctl, tmp_path):
    (tmp_path / "tab").write_text(f"0 1 * * * {getpass.getuser()} a\n0 1 * * * someone-else b\n")
    report = axctl("import", "crontab", "tab", "--system", "--dry-run", "--json", server=False).json
    assert [l["command"] for l in report["lines"]] == ["a"] and report["refused"][0]["line"] == 2


def test_dry_run_needs_no_server(axctl, server):
    report = axctl("import", "crontab", DATA / "user", "--dry-run", "--json", "--crowded", 3, server=False).json
    assert report["dry_run"] and server.requests == []
    assert report["inventory"]["crowded_minutes"]["count"] == 1440
    assert {"path": "/var/backups/db.sql", "kind": "file", "first": "Nightly dump", "then": "gzip db.sql"} in \
        report["inventory"]["dependencies"]
    weekend = lines_with(DATA / "user", "echo weekend")
    assert {"lines": weekend} in report["inventory"]["duplicates"]
    first = report["lines"][0]
    assert first["words"] == "every minute" and len(first["next"]) == 3 and first["task"]["executor_key"] == "exec"
    out = axctl("import", "crontab", DATA / "user", "--dry-run", server=False).out
    for part in ("every minute", "crowded minutes", "guessed dependencies", "the same command", "line %d: @reboot"
                 % lines_with(DATA / "user", "@reboot")[0]):
        assert part in out, part


@pytest.mark.parametrize("text, parts", [
    ("0 1 * * * a\n", ["LINE"]), ("@reboot c\n", ["refused"]), ("0 1 * * * a\n@reboot c\n", ["LINE", "refused"]), ("#\n", [])])
def test_one_blank_line_stands_before_each_part(axctl, text, parts):
    out = axctl("import", "crontab", "-", "--dry-run", input=text, code=2 if parts == ["refused"] else 0, server=False).out
    head, *rest = out.split("\n\n")
    assert "\n\n\n" not in out and len(head.splitlines()) == 2 and [part.split()[0] for part in rest] == parts


def test_time_zones(axctl, tmp_path):
    (tmp_path / "tab").write_text("TZ=Asia/Tokyo\n0 1 * * * a\nCRON_TZ=Mars/Base\n0 1 * * * b\nCRON_TZ=Asia/Tokyo\n0 1 * * * c\n")
    report = axctl("import", "crontab", "tab", "--dry-run", "--json", "--time-zone", "Europe/Berlin", server=False).json
    assert [(l["command"], l["time_zone"]) for l in report["lines"]] == [("a", "Europe/Berlin"), ("c", "Asia/Tokyo")]
    assert report["lines"][0]["task"]["biz_param"]["env"]["TZ"] == "Asia/Tokyo"
    assert "TZ changes" in report["warnings"][0]["text"] and report["warnings"][0]["line"] == 2
    assert "Mars/Base" in report["refused"][0]["reason"]
    assert "--time-zone" in axctl("import", "crontab", "tab", "--dry-run", "--time-zone", "Mars", code=2).err


def test_standard_input_and_strict(server, axctl):
    store = Store(server)
    axctl("import", "crontab", "-", input="0 1 * * * a\n")
    assert len(store.tasks) == 1
    err = axctl("import", "crontab", "-", "--strict", input="0 2 * * * b\n@reboot c\n", code=2).err
    assert "--strict" in err and len(store.tasks) == 1
    assert "every line was refused" in axctl("import", "crontab", "-", input="@reboot c\n", code=2).err
    axctl("import", "crontab", "-", input="# nothing\n")
    assert store.batches == 1


def test_a_refused_batch_names_the_line(server, axctl, tmp_path):
    Store(server)
    server.on("POST", "/tasks/batch", problem(400, "invalid", "Too long.", "tasks[1].biz_param"))
    (tmp_path / "tab").write_text("# x\n0 1 * * * a\n\n0 2 * * * b\n")
    err = axctl("import", "crontab", "tab", code=2).err
    assert "tasks[1].biz_param: Too long." in err and "line 4: 0 2 * * * b" in err


def test_too_much(axctl, tmp_path):
    (tmp_path / "tab").write_text("0 1 * * * a\n" * 1001)
    assert "split the file" in axctl("import", "crontab", "tab", code=2).err
    (tmp_path / "tab").write_text("#" * (1 << 20) + "\n")
    assert "larger than" in axctl("import", "crontab", "tab", code=2).err
    assert "cannot open" in axctl("import", "crontab", "missing", code=2).err


@pytest.mark.parametrize("text, part", [
    ("0 1 * * * root a\n", "--system"), ("0 1 * * * a", "no newline"), ("RANDOM_DELAY=5\n0 1 * * * a\n", "RANDOM_DELAY")])
def test_warnings(axctl, text, part):
    out = axctl("import", "crontab", "-", "--dry-run", input=text, server=False).out
    assert "worth knowing" in out and part in out
