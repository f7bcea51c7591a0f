"""No query grows with history: the work of every statement over few and over many ended runs, in both databases.

AX_HISTORY is how many the many are (200,000). What 20 million need is said by `needed`; tools/test --soak does it."""

import os
import shutil
import tempfile
import time

import pytest

from stores import MariaDBStore, SQLite
from world import far_from_due, history, present

MANY = int(os.environ.get("AX_HISTORY", 200_000))
FEW = MANY // 10 if MANY <= 200_000 else MANY // 100
BYTES_EACH = 1200  # a run with its indexes and what it left, in the larger of the two

# What grows with the number of tasks, workers, accounts, tokens: all of these are read.
WHOLE = {"GROUPS", "WORKERS", "WORKER_GROUPS", "SERVERS", "LEASES", "TOKENS", "CHANNELS", "CALENDARS", "USER_COUNT", "TASK_COUNTS"}
# One end of a long range, as many rows as are wanted: what the planner guesses of the whole range means nothing.
PAGES = {"TASKS_PAGE", "EPOCHS", "EPOCHS_OF_TASK", "PAGE_ANY", "PAGE_ALL", "PAGE_OF_TASK", "AUDIT_PAGE", "AUDIT_OF_OBJECT",
         "AUDIT_OF_ACTOR", "EVENTS_PAGE", "EVENTS_NAMED", "BACKFILLS", "BACKFILLS_OF_TASK", "ALERTS_PAGE",
         "DELIVERIES_OF_CHANNEL", "FAILURES_OF_GROUP", "FAILURES_TO_RERUN", "FAILURES_TO_RERUN_COUNT",
         "FAILURE_GROUPS_PAGE", "RUNS_FIRED", "TASKS_STUCK"}
# A few rows are put together before they are answered: the first of a limit, the pieces of one output.
TOGETHER = {"PAGE_LIVE_OF_TASK", "OUTPUT_CUT", "RUNS_LIVE_COUNT", "FAILURES_TO_RERUN_COUNT", "FAILURE_SPREAD_TASK",
            "TASKS_STUCK", "RUNS_LOOKED"}
# How many are live: that is counted. (MariaDB also reads the entries of an index after a start or a clock that went back: RUNS_LOOKED.)
COUNTED = {"COUNT_LIVE"}
LIVE_ROWS = 6000


def needed(runs):
    return runs * BYTES_EACH + (2 << 30)


@pytest.fixture(params=["sqlite", "mariadb"])
def store(request, tmp_path):
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < needed(MANY):
        pytest.skip(f"{MANY} runs need {needed(MANY) >> 30} GiB below {tempfile.gettempdir()}, {free >> 30} are free")
    if request.param == "sqlite":
        made = SQLite(tmp_path)
    else:
        made = MariaDBStore("256M" if MANY <= 200_000 else "3G")
    yield made
    made.close()
    shutil.rmtree(tmp_path)


def measure(store, runs, other={}):
    store.settle()
    given = store.arguments(runs) | other
    return {name: store.measure(name, given[name]) for name in given}


def test_work_does_not_grow(store):
    began = time.monotonic()
    present(store)
    history(store, 1, FEW)
    few = measure(store, FEW)
    history(store, FEW + 1, MANY)
    print(f"\n{type(store).__name__}: {MANY} ended runs, {store.size() >> 20} MiB, made in {time.monotonic() - began:.0f} s")
    many = measure(store, MANY)
    for name, work in many.items():
        print(f"{name:28} rows {work.rows:3}  steps {few[name].steps:5} {work.steps:5}  pages {few[name].pages:5} "
              f"{work.pages:5}  ms {few[name].ms:6.2f} {work.ms:6.2f}")
    grown = {name: (few[name], work) for name, work in many.items()
             if work.rows != few[name].rows or work.steps > few[name].steps + 2}
    assert grown == {}
    # A tree that is higher by a level or two costs as many pages for each row.
    deep = {name: (few[name], work) for name, work in many.items() if work.pages > 3 * few[name].pages + 100}
    assert deep == {}
    assert len([name for name in many if many[name].rows > 0]) > 80  # they found something
    if isinstance(store, MariaDBStore):
        check_plans(store)


def test_work_does_not_grow_with_what_waits(store):
    present(store)
    history(store, 1, 2000)
    nothing_in_time = {"RUNS_LOOKED": [10**9, 20]}  # as after a start: no clock went back
    few = measure(store, 2000, nothing_in_time)
    far_from_due(store, 1, MANY // 10)
    many = measure(store, 2000, nothing_in_time)
    grown = {name: (few[name], work) for name, work in many.items() if work.steps > few[name].steps + 2}
    assert set(grown) == COUNTED | ({"RUNS_LOOKED"} if isinstance(store, MariaDBStore) else set()), grown


def check_plans(store):
    """MariaDB's planner uses an index for each step, sorts nothing, and does not expect history."""
    given = store.arguments(MANY)
    for name, text in store.texts.items():
        if text.startswith("INSERT"):
            continue
        for table, access, index, rows, notes in store.explain(name, given[name]):
            step = (name, table, access, index, rows, notes)
            if table.startswith("<") or table == "NULL":
                assert name in TOGETHER or table == "NULL", step
                continue
            assert access in ("const", "eq_ref", "ref", "range", "index_subquery") or name in WHOLE, step
            assert index != "NULL", step
            assert name in TOGETHER or ("filesort" not in notes and "temporary" not in notes), step
            assert rows <= LIVE_ROWS or name in PAGES, step
