"""ax-check on what real programs left behind: all of it is in order, and what is taken out of it is missed."""

import json
import sqlite3
import subprocess

import pytest

from ax_world import AX_CHECK, World, wait_for

SECONDS = 24  # edges and journals are judged from some seconds after they began until some seconds before they end


@pytest.fixture(scope="module")
def history():
    """A task of every second, one behind it, and a join behind both."""
    with World() as world:
        server = world.server()
        worker = world.worker(server)
        fires = server.task("fires", executor="example.echo", param={}, cron_expr="* * * * * *")
        follows = server.task("follows", executor="example.echo", param={}, upstreams=[fires["id"]])
        server.task("joins", executor="example.echo", param={}, upstreams=[fires["id"], follows["id"]], join="all")
        wait_for(lambda: len(server.runs(fires, status="SUCCESS")) >= SECONDS, 2 * SECONDS)
        server.quiesce()
        assert worker.term() == 0 and server.term() == 0
        yield server.store, worker.journal


class Copy:
    """One of its own for each test."""

    def __init__(self, history, folder):
        store, journal = history
        self.path, self.journal = folder / "ax.db", folder / "journal"
        self.lines = [json.loads(line) for line in journal.read_text().splitlines()]
        with sqlite3.connect(store) as whole:
            whole.execute("VACUUM INTO ?", [str(self.path)])
        self.db = sqlite3.connect(self.path, isolation_level=None)
        self.db.execute("DROP TRIGGER ax_task_log_terminal")
        self.gid, = self.db.execute("SELECT gid FROM ax_task_log r WHERE task_id = (SELECT id FROM ax_task WHERE task_name = 'fires')"
                                    " AND status = 10 ORDER BY gid LIMIT 1 OFFSET ?", [SECONDS // 2]).fetchone()

    def broken(self):
        """The rules that were broken; the trigger is not there, so that rows can be changed."""
        self.journal.write_text("".join(json.dumps(line) + "\n" for line in self.lines))
        done = subprocess.run([AX_CHECK, "--json", "--store", f"sqlite:{self.path}", "--journal", self.journal],
                              capture_output=True, text=True, timeout=60)
        said = json.loads(done.stdout)
        assert said["unexplained"] == 0
        return {f["id"] for f in said["invariants"] + said["journals"] if f["violations"]} - {"I4.guard"}


@pytest.fixture
def copy(history, tmp_path):
    return Copy(history, tmp_path)


def test_it_is_in_order(copy):
    assert copy.broken() == set()
    assert {line["event"] for line in copy.lines} == {"start", "end", "told"}


def test_a_follower_that_was_never_made(copy):
    follower, = copy.db.execute("SELECT gid FROM ax_task_log WHERE fire_key = ?", [str(copy.gid)]).fetchone()
    copy.db.execute("DELETE FROM ax_run_upstream WHERE ? IN (gid, upstream_gid)", [follower])
    copy.db.execute("DELETE FROM ax_task_log WHERE gid = ?", [follower])
    copy.lines = [line for line in copy.lines if line["gid"] != str(follower)]
    assert copy.broken() == {"I7.down"}


def test_a_join_that_was_never_made(copy):
    join, = copy.db.execute("SELECT r.gid FROM ax_task_log r JOIN ax_run_upstream x USING (gid) WHERE x.upstream_gid = ?"
                            " AND r.fire_key LIKE 'b%'", [copy.gid]).fetchone()
    copy.db.execute("DELETE FROM ax_run_upstream WHERE gid = ?", [join])
    copy.db.execute("DELETE FROM ax_task_log WHERE gid = ?", [join])
    copy.lines = [line for line in copy.lines if line["gid"] != str(join)]
    assert copy.broken() == {"I7.down"}


def test_a_confirmed_result_that_is_lost(copy):
    copy.db.execute("UPDATE ax_task_log SET ended_by_worker = 0 WHERE gid = ?", [copy.gid])
    assert copy.broken() == {"I5.success", "I5.told"}


def test_a_success_without_work(copy):
    copy.lines = [line for line in copy.lines if line["gid"] != str(copy.gid)]
    assert copy.broken() == {"I5.worked"}


def test_a_failure_that_is_called_a_success(copy):
    end = next(line for line in copy.lines if line["gid"] == str(copy.gid) and line["event"] == "end")
    end["outcome"] = "failed"
    assert copy.broken() == {"I5.told"}
