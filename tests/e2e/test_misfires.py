"""Fires that came due while no server ran: inside the window they are made up for, beyond it they are MISSED and wait for a
person. One outage serves all tests; each has a task of its own, whose window is short so that the outage can be."""

import pytest

from ax_world import World, now_ms, wait_for

OUTAGE_S = 9
TASKS = {
    "once": {},
    "all": {"misfire": "fire_all"},
    "skip": {"misfire": "skip"},
    "missed": {"window_seconds": 1},
    "missed-all": {"window_seconds": 1},
    "dismissed": {"window_seconds": 1},
    "paused": {"window_seconds": 1},
}


class Outage:
    def __init__(self, world):
        self.world = world
        self.server = world.server()
        world.worker(self.server)
        self.tasks = {name: self.server.task(name, script="true", cron_expr="* * * * * *", overlap="allow", overlap_max=100, **fields)
                      for name, fields in TASKS.items()}
        for task in self.tasks.values():
            wait_for(lambda: self.server.runs(task, status="SUCCESS"), 10)
        self.server.pause_task(self.tasks["paused"])
        assert self.server.term() == 0
        self.down_ms = now_ms()
        wait_for(lambda: now_ms() >= self.down_ms + OUTAGE_S * 1000, OUTAGE_S + 5)
        self.up_ms = now_ms()
        self.server.start()

    def runs(self, name, **query):
        return self.server.runs(self.tasks[name], **query)

    def account(self, name):
        """The audit of one task that does not fire any more."""
        self.server.stop_firing(self.tasks[name])
        wait_for(lambda: not self.runs(name, live="true"), 15)
        told = self.server.audit()
        mine = [t for t in told["tasks"] if t["task_id"] == self.tasks[name]["id"]][0]
        assert (mine["unexplained"], mine["duplicates"]) == (0, 0), mine
        return mine


@pytest.fixture(scope="module")
def outage():
    with World() as world:
        yield Outage(world)


def check_range(covers):
    """Of a fire a second."""
    assert covers["to"] - covers["from"] == (covers["count"] - 1) * 1000


# R4
def test_fire_once_covers_what_is_inside_the_window(outage):
    covering = wait_for(lambda: [r for r in outage.runs("once") if r["covers"]], 20)
    assert len(covering) == 1
    covers = covering[0]["covers"]
    check_range(covers)
    assert covers["count"] >= 2 and covers["from"] >= outage.down_ms - 1000
    assert int(covering[0]["fire_key"]) == covers["to"] + 1000  # on the newest
    outage.server.wait_run(covering[0], "SUCCESS", 20)
    told = outage.account("once")
    assert told["coalesced"] == covers["count"] and told["missed"] == 0
    assert not outage.runs("once", kind="miss")


def test_fire_all_makes_up_each(outage):
    wanted = {str(ms) for ms in range(outage.down_ms // 1000 * 1000 + 1000, outage.up_ms, 1000)}
    assert len(wanted) >= OUTAGE_S - 1
    wait_for(lambda: {r["fire_key"] for r in outage.runs("all", status="SUCCESS")} >= wanted, 20)
    told = outage.account("all")
    assert told["coalesced"] == told["missed"] == told["skipped"] == 0


def test_skip_counts_what_it_skips(outage):
    wait_for(lambda: outage.runs("skip", status="SKIPPED"), 20)
    assert outage.account("skip")["skipped"] >= 2


def missed_run(outage, name):
    missed = wait_for(lambda: outage.runs(name, status="MISSED"), 20)
    assert len(missed) == 1
    covers = missed[0]["covers"]
    check_range(covers)
    assert missed[0]["kind"] == "miss" and covers["count"] >= 2 and int(missed[0]["fire_key"]) == covers["from"]
    return missed[0]


# R4
def test_beyond_the_window_a_person_decides(outage):
    server, axctl = outage.server, outage.world.axctl
    missed = missed_run(outage, "missed")
    assert outage.account("missed")["missed"] == missed["covers"]["count"]
    done = axctl(server, "run", "resolve", missed["gid"], "run", "--note", "the newest will do", "--json").json
    assert [run["fire_key"] for run in done["runs"]] == [str(missed["covers"]["to"])]
    assert server.wait_run(done["runs"][0], "SUCCESS")["trigger_time"] == missed["covers"]["to"]
    resolved = server.run(missed)
    assert (resolved["status"], resolved["reason"], resolved["result_msg"]) == ("MISSED", "run", "the newest will do")
    axctl(server, "run", "resolve", missed["gid"], "run", code=6)
    entry, = server.items("/audit/log", object=f"run:{missed['gid']}")
    assert (entry["actor"], entry["action"], entry["after"]) == ("token tests", "run.resolve", {"action": "run", "runs": 1})
    assert entry["reason"] == "the newest will do"
    outage.account("missed")


def test_all_of_them_can_be_run(outage):
    missed = missed_run(outage, "missed-all")
    done = outage.server.api("POST", f"/runs/{missed['gid']}/resolve", {"action": "run_all"})
    assert len(done["runs"]) == missed["covers"]["count"]
    for run in done["runs"]:
        outage.server.wait_run(run, "SUCCESS")
    outage.account("missed-all")


def test_or_dismissed(outage):
    missed = missed_run(outage, "dismissed")
    done = outage.server.api("POST", f"/runs/{missed['gid']}/resolve", {"action": "dismiss"})
    assert done["runs"] == [] and done["run"]["reason"] == "dismissed"
    assert outage.account("dismissed")["missed"] == missed["covers"]["count"]


def test_what_comes_due_while_paused_is_no_late_fire(outage):
    outage.server.resume_task(outage.tasks["paused"])
    resumed = now_ms()
    wait_for(lambda: [r for r in outage.runs("paused", status="SUCCESS") if r["trigger_time"] > resumed - 1000], 15)
    assert not outage.runs("paused", status="MISSED,SKIPPED")
    between = [r for r in outage.runs("paused") if outage.down_ms + 1000 < r["trigger_time"] < resumed - 1000]
    assert not between
    told = outage.account("paused")
    assert told["missed"] == told["coalesced"] == told["skipped"] == 0
