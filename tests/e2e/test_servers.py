"""Two servers of one database, and workers that know both: whatever becomes of one of them, no run notices."""

import collections

import pytest

from ax_world import wait_for
from cluster import Cluster

HALF = 25  # s, of the life of the long runs: longer together than a lease


@pytest.fixture
def cluster(request):
    with Cluster(servers=2, workers=2, store="mariadb", groups=("orders",)) as cluster:
        request.node.ax_world = cluster
        yield cluster.start()


def make_tasks(cluster, notes):
    server = cluster.servers[0]
    note = f'echo "$AX_GID $AX_FENCE" >> {notes}'
    for n in range(4):
        server.task(f"short-{n}", script=note, cron_expr="@every 1s", group_key="orders", overlap="allow", overlap_max=100)
    long = server.task("long", script=f"{note}; sleep {2 * HALF}", group_key="orders", overlap="allow", overlap_max=100, timeout_seconds=300)
    return long, [server.trigger(long) for _ in range(20)]


def each_is_hurt(cluster):
    """One killed, the other stopped for longer than the pause between two heartbeats, then each restarted as in an upgrade."""
    one, two = cluster.servers
    one.kill()
    yield 5
    one.start()
    yield 3
    two.pause()
    yield HALF
    two.resume()
    yield 3
    for server in (one, two):
        assert server.term() == 0
        server.start()
        wait_for(lambda server=server: server.workers_online("worker1", "worker2"), 15)


def wait_more(cluster, n, seconds):
    """So many more runs end well: the work goes on."""
    def ended():
        return sum(row[0] for row in cluster.rows("SELECT count(*) FROM ax_task_log WHERE status = 10"))
    before = ended()
    wait_for(lambda: ended() >= before + n, seconds, "the work goes on")


# B012, B022, R6
@pytest.mark.slow
def test_no_run_notices_what_becomes_of_a_server(cluster):
    notes = cluster.folder / "notes"
    long, given = make_tasks(cluster, notes)
    gids = {run["gid"] for run in given}
    wait_for(lambda: {r["gid"] for r in cluster.servers[0].runs(long, status="RUNNING")} == gids, 20)
    for seconds in each_is_hurt(cluster):
        wait_more(cluster, 2 * seconds, seconds + 30)  # of four a second
    server = cluster.servers[0]
    wait_for(lambda: len(server.runs(long, status="SUCCESS")) == len(gids), 60, lambda: server.runs(long)[:3])
    assert {(r["attempt"], r["fence"]) for r in server.runs(long)} == {(1, 1)}
    assert not [line for worker in cluster.workers for line in worker.events("lease_lost")]
    server.quiesce(90)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"], told["missed"]) == (0, 0, 0), told
    lines = collections.Counter(notes.read_text().splitlines())
    assert [line for line, n in lines.items() if n > 1] == []
    for worker in cluster.workers:  # back at both servers after all that
        assert {line["url"] for line in worker.events("registered")} == {s.url for s in cluster.servers}
    assert cluster.stop() == []
    code, said = cluster.check()
    assert code == 0, said
