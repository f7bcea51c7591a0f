"""axctl can do all that the API can: each call has its command, each field its option. What has none says why."""

import json
import re

import pytest

from conftest import ROOT

COMMANDS = {  # per call: the command that makes it, or, behind a dash, why there is none
    "GET /tasks": "task list", "POST /tasks": "task create", "POST /tasks/batch": "task create", "GET /tasks/{id}": "task show",
    "PATCH /tasks/{id}": "task update", "DELETE /tasks/{id}": "task delete", "POST /tasks/{id}/pause": "task pause",
    "POST /tasks/{id}/resume": "task resume", "POST /tasks/{id}/runs": "task trigger", "POST /tasks/{id}/runs/batch": "task trigger",
    "GET /tasks/{id}/backfills": "backfill list", "POST /tasks/{id}/backfills": "task backfill", "GET /tasks/{id}/next": "task next",
    "GET /tasks/{id}/graph": "task graph", "GET /tasks/{id}/why": "why", "GET /tasks/{id}/versions": "task versions",
    "GET /tasks/{id}/canary": "canary show", "POST /tasks/{id}/canary": "canary begin", "PATCH /tasks/{id}/canary": "canary set",
    "POST /tasks/{id}/canary/promote": "canary promote", "POST /tasks/{id}/canary/rollback": "canary rollback",
    "POST /schedules/preview": "cron next",
    "GET /events": "event list", "POST /events": "event send", "GET /events/{id}": "event show",
    "GET /runs": "run list", "GET /runs/{gid}": "run show", "GET /runs/{gid}/why": "why", "GET /runs/{gid}/output": "run log",
    "GET /runs/{gid}/live": "run log", "PATCH /runs/{gid}": "run change", "POST /runs/{gid}/cancel": "run cancel",
    "POST /runs/{gid}/retry": "run retry", "POST /runs/{gid}/rerun": "run rerun", "POST /runs/{gid}/resolve": "run resolve",
    "GET /backfills": "backfill list", "GET /backfills/{id}": "backfill show", "POST /backfills/{id}/cancel": "backfill cancel",
    "GET /failures": "failure list", "GET /failures/{id}": "failure show", "POST /failures/{id}/mute": "failure mute",
    "POST /failures/{id}/assign": "failure assign", "POST /failures/{id}/resolve": "failure resolve",
    "POST /failures/{id}/reopen": "failure reopen", "POST /failures/{id}/retry": "failure retry",
    "GET /groups": "group list", "POST /groups": "group create", "GET /groups/{key}": "group show", "PATCH /groups/{key}": "group update",
    "DELETE /groups/{key}": "group delete",
    "GET /workers": "worker list", "GET /workers/{name}": "worker show", "POST /workers/{name}/drain": "worker drain",
    "POST /workers/{name}/resume": "worker resume", "POST /workers/{name}/disable": "worker disable",
    "POST /workers/{name}/enable": "worker enable", "DELETE /workers/{name}": "worker forget", "GET /servers": "server list",
    "GET /calendars": "calendar list", "POST /calendars": "calendar create", "GET /calendars/{name}": "calendar show",
    "PATCH /calendars/{name}": "calendar update", "DELETE /calendars/{name}": "calendar delete",
    "GET /calendars/{name}/versions": "calendar versions", "GET /calendars/{name}/export": "calendar export",
    "POST /calendars/{name}/import": "calendar import",
    "GET /alerts": "alert list", "GET /alerts/{id}": "alert show", "POST /alerts/{id}/mute": "alert mute",
    "POST /alerts/{id}/unmute": "alert unmute", "POST /alerts/{id}/resolve": "alert resolve",
    "GET /channels": "channel list", "POST /channels": "channel create", "GET /channels/{id}": "channel show",
    "PATCH /channels/{id}": "channel update", "DELETE /channels/{id}": "channel delete", "POST /channels/{id}/test": "channel test",
    "GET /channels/{id}/deliveries": "channel deliveries",
    "GET /audit/fires": "audit", "GET /audit/log": "changes", "GET /overview": "overview",
    "GET /tokens": "token list", "POST /tokens": "token create", "DELETE /tokens/{id}": "token delete", "POST /setup": "setup",
    "GET /setup": "- setup says it when it is not needed", "POST /session": "- a token is no session", "GET /session": "- likewise",
    "DELETE /session": "- likewise", "GET /live": "- for pages that refresh; run log --follow follows a run",
    "GET /openapi.json": "- curl",
}


def openapi():
    return json.loads((ROOT / "spec/openapi.json").read_text())


def routes():
    found = re.findall(r'^AX_ROUTE\((\w+),\s*"/api/v1(/[^"]*)"', (ROOT / "src/server/routes.def").read_text(), re.M)
    return [f"{method} {path}" for method, path in found]


def test_the_list_is_whole():
    assert sorted(COMMANDS) == sorted(routes())


@pytest.mark.parametrize("command", sorted({c for c in COMMANDS.values() if c[0] != "-"}))
def test_each_call_has_its_command(axctl, command):
    said = axctl(*command.split(), "--help", server=False)
    assert f"axctl {command}" in said.out


# What a change says of itself, which commands have verbs for or read themselves.
OWN = {"status", "version", "paused"}


# The fields of a task are options by themselves: both come from core/task_def.def.
@pytest.mark.parametrize("schema, source", [("GroupChange", "cmd_group.c"), ("Trigger", "cmd_task.c due.c"),
                                            ("NewBackfill", "cmd_task.c cmd_backfill.c"), ("NewCanary", "cmd_canary.c"),
                                            ("CanaryChange", "cmd_canary.c"), ("NewEvent", "cmd_event.c"),
                                            ("Postpone", "cmd_run.c due.c"), ("Rerun", "cmd_run.c"), ("Resolve", "cmd_run.c")])
def test_each_field_has_its_option(schema, source):
    fields = openapi()["components"]["schemas"][schema]["properties"]
    text = "".join((ROOT / "src/cli" / name).read_text() for name in source.split())
    missing = [field for field in fields if f'"{field}"' not in text and field not in OWN]
    assert not missing


def calls():
    """Each call that has a command: the command, and what the API says of the call."""
    for path, methods in openapi()["paths"].items():
        for method, said in methods.items():
            command = COMMANDS.get(f"{method.upper()} {path.removeprefix('/api/v1')}", "-")
            if command[0] != "-":
                yield command, said


def options(axctl, command):
    return re.findall(r"^  --?([\w-]+)", axctl(*command.split(), "--help", server=False).out, re.M)


# Several calls share a schema: the option must be there at each of their commands.
def test_each_reason_has_its_option(axctl):
    bodies = {f"#/components/schemas/{name}" for name in ("Reason", "Rerun")}
    asked = [command for command, said in calls() for body in said.get("requestBody", {}).get("content", {}).values()
             if body["schema"].get("$ref") in bodies]
    assert len(asked) > 10
    assert not [command for command in asked if "reason" not in options(axctl, command)]


OPTION = {"group_key": "group", "task_id": "task", "task_type": "type", "failure_id": "failure", "backfill_id": "backfill"}
# Pages are put together, and a task is found by its name wherever one is named; versions come all.
ASKED_BY_ITSELF = {"after", "after_seq", "task_name"}
WHOLE = {"task versions", "calendar versions"}


def test_each_parameter_has_its_option(axctl):
    missing = []
    for command, said in calls():
        names = {given["name"] for given in said.get("parameters", []) if given["in"] == "query"} - ASKED_BY_ITSELF
        names -= {"limit"} if command in WHOLE else set()
        has = options(axctl, command) if names else []
        missing += [f"{command}: {name}" for name in names if OPTION.get(name, name) not in has]
    assert not missing


# docs/README.md promises every command of docs/axctl.md.
def test_the_page_names_each_command(axctl):
    page = (ROOT / "docs/axctl.md").read_text()
    nouns = re.findall(r"^  (\w+) ", axctl("--help", server=False).out.split("Options of every")[0], re.M)
    commands = []
    for noun in nouns:
        said = axctl(noun, "--help", server=False).out
        verbs = re.findall(rf"^axctl {noun} (\w+) ", said, re.M) if f"`axctl {noun} VERB --help`" in said else []
        commands += [f"axctl {noun} {verb}" for verb in verbs] or [f"axctl {noun}"]
    assert len(commands) > 80
    assert not [command for command in commands if not re.search(rf"{command}(?![\w-])", page)]
