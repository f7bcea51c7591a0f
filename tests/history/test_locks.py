"""What takes work locks what it takes and nothing else, and what others hold it leaves out; what must wait waits."""

import re

import pytest

from stores import MYSQLD, Failed, MariaDBStore
from world import LIVE, history, ids, present

REFUSED_BY_A_TRIGGER = 1644
IS_LOCKED, BREAKS_A_CHECK = (3572, 3819) if MYSQLD else (1205, 4025)
RUNS = 20000
# Locked by an index whose entries say more than the range asks: entries that the filter passes over stay locked as well.
FILTERED = {"SHARDS_LIVE_LOCK"}


@pytest.fixture(scope="module")
def store():
    made = MariaDBStore("64M")
    present(made)
    history(made, 1, RUNS)
    made.settle()
    yield made
    made.close()


@pytest.fixture
def clients(store):
    with store.server.session() as one, store.server.session() as other:
        for client in (one, other):
            client.query("SET innodb_lock_wait_timeout = 1")
        yield one, other


def locked(store, client):
    """Row locks of the client's transaction: an entry of an index and its row are two."""
    number = client.query("SELECT CONNECTION_ID()")[0][0]
    status = store.session.query("SHOW ENGINE INNODB STATUS")[0][2]
    found = re.search(rf"(\d+) row lock\(s\)[^-]*?(?:MariaDB|MySQL) thread id {number},", status)
    return int(found[1]) if found else 0


def test_taking_work(store, clients):
    one, other = clients
    given = store.arguments(RUNS)
    taking = [name for name, text in store.texts.items() if text.endswith("FOR UPDATE SKIP LOCKED")]
    assert len(taking) > 10
    for name in taking:
        sql = store.literal(name, given[name])
        one.query("START TRANSACTION")
        taken = one.query(sql)
        assert taken, name
        assert locked(store, one) <= 2 * len(taken) + 2, name
        others = other.query(sql)
        assert {row[0] for row in taken}.isdisjoint(row[0] for row in others), name
        one.query("ROLLBACK")


def test_waiting_for_others(store, clients):
    one, other = clients
    given = store.arguments(RUNS)
    waiting = [name for name, text in store.texts.items() if text.endswith("FOR UPDATE")]
    assert len(waiting) > 10
    for name in waiting:
        sql = store.literal(name, given[name])
        one.query("START TRANSACTION")
        rows = one.query(sql)
        assert rows, name
        assert locked(store, one) <= 2 * len(rows) + 2 or name in FILTERED, name
        with pytest.raises(Failed) as refused:
            other.query(f"{sql} NOWAIT")
        assert refused.value.number == IS_LOCKED, name
        one.query("ROLLBACK")


def test_holding_beside_others(store, clients):
    one, other = clients
    given = store.arguments(RUNS)
    holding = [name for name, text in store.texts.items() if text.endswith("LOCK IN SHARE MODE")]
    assert holding
    for name in holding:
        held = store.literal(name, given[name])
        one.query("START TRANSACTION")
        other.query("START TRANSACTION")
        rows = one.query(held)
        assert rows, name
        assert locked(store, one) <= 2 * len(rows) + 2, name
        assert other.query(held) == rows, name
        other.query("ROLLBACK")
        with pytest.raises(Failed) as refused:
            other.query(held.replace("LOCK IN SHARE MODE", "FOR UPDATE NOWAIT"))
        assert refused.value.number == IS_LOCKED, name
        one.query("ROLLBACK")


def test_what_a_queue_leads_to_is_left_to_it(store, clients):
    """The sweep passes over runs that wait for their time and are not late yet: whoever was led to them gets them."""
    one, other = clients
    one.query("START TRANSACTION")
    swept = {row[0] for row in one.query(store.literal("RUNS_OVERDUE", [40, 0, 20]))}
    waiting = [gid for gid in range(LIVE + 1, LIVE + 21) if gid % 5 in (0, 4)]
    led = {row[0] for row in other.query(store.literal("RUNS_BY_GID", ids(waiting)))}
    assert led == {str(gid) for gid in waiting} and led.isdisjoint(swept)
    one.query("ROLLBACK")


def test_life_goes_on_beside_a_claim(store, clients):
    """New runs of the queue, ends and starts of others wait for no claim."""
    one, other = clients
    claim = store.literal("RUNS_CLAIMABLE", store.arguments(RUNS)["RUNS_CLAIMABLE"])
    one.query("START TRANSACTION")
    assert one.query(claim)
    other.query("START TRANSACTION")
    new = dict(gid=2 * LIVE, task_id=1, kind=1, fire_key="beside", group_key="g1", executor_key="e1", status=1, lane=1)
    other.query(store.literal("RUN_INSERT", store.row("ax_task_log", **new)))
    next_ones = ", ".join(row[0] for row in other.query(claim))
    other.query(f"UPDATE ax_task_log SET status = 10, end_time = 5 WHERE gid IN ({next_ones})")
    other.query("ROLLBACK")
    one.query("ROLLBACK")


@pytest.mark.parametrize("sql, number", [
    (f"UPDATE ax_task_log SET status = 1 WHERE gid = {RUNS}", REFUSED_BY_A_TRIGGER),
    (f"UPDATE ax_task_log SET fence = fence + 1 WHERE gid = {RUNS}", REFUSED_BY_A_TRIGGER),
    ("UPDATE ax_audit SET actor = 'somebody else' WHERE id = 1", REFUSED_BY_A_TRIGGER),
    ("UPDATE ax_group SET running = running - 1 WHERE group_key = 'g1'", BREAKS_A_CHECK),
    ("UPDATE ax_worker_group SET given_long = given_long - 1 WHERE worker = 'w1'", BREAKS_A_CHECK),
    (f"UPDATE ax_task_log SET fence = -1 WHERE gid = {LIVE + 1}", BREAKS_A_CHECK),
])
def test_what_the_tables_refuse(store, sql, number):
    with pytest.raises(Failed) as refused:
        store.server.client(sql)
    assert refused.value.number == number


def test_a_migration_that_was_cut_short(store):
    """Every statement of it may be done again, with the rows that are there."""
    before = store.session.query("SELECT COUNT(*) FROM ax_task_log")
    store.migrate()
    assert store.session.query("SELECT COUNT(*) FROM ax_task_log") == before
