"""What is counted from the lines that drivers leave, and the tables that are made of it: without a peer, without waiting."""

import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import scenarios  # noqa: E402
import tables  # noqa: E402
from axbench.place import Failed  # noqa: E402
from peers import all_peers  # noqa: E402

PERIOD = scenarios.PERIOD_MS
TASKS = 4


def fires(rounds, late=2):
    """Each task in each of so many periods, half a second apart."""
    return [(f"t{i}", due, due + late) for period in range(rounds) for i in range(TASKS) for due in [period * PERIOD + i * 500]]


def window(records):
    return scenarios.count_window(records, TASKS, PERIOD, 2 * PERIOD, cpu=1)


def test_a_window_in_which_all_is_well():
    assert window(fires(3)) == {"fires_per_s": 0.4, "cpu_s_per_10k": 2500, "missing": 0, "doubled": 0,
                                "late_p50_ms": 2, "late_p99_ms": 2, "late_max_ms": 2}


def test_a_fire_that_never_came_is_missing():
    assert window([r for r in fires(3) if r[1] != PERIOD + 500])["missing"] == 1


def test_a_fire_that_came_twice_is_doubled():
    assert window(fires(3) + [("t1", PERIOD + 500, PERIOD + 900)])["doubled"] == 1


def test_without_due_instants_lateness_is_not_claimed():
    figures = window([(name, 0, begun) for name, _, begun in fires(3)])
    assert "late_p50_ms" not in figures and figures["missing"] == figures["doubled"] == 0


def test_an_empty_window_is_a_failure():
    with pytest.raises(Failed):
        window(fires(1))


KILLED, ENDED = 2 * PERIOD, 6 * PERIOD


def after_kill(records):
    return scenarios.count_kill(records, TASKS, KILLED, ENDED)


def test_a_kill_that_nobody_noticed():
    assert after_kill(fires(6)) == {"lost": 0, "doubled": 0, "longest_late_ms": 2, "normal_after_ms": 0}


def test_gaps_and_tasks_that_stop_are_lost():
    gap = [r for r in fires(6) if r[1] != 3 * PERIOD]
    assert after_kill(gap)["lost"] == 1
    assert after_kill([r for r in fires(6) if r[0] != "t2" or r[1] < KILLED])["lost"] == 1


def test_what_came_late_and_twice_after_a_kill():
    records = [r for r in fires(6) if r[:2] != ("t1", KILLED + 500)] + [("t1", KILLED + 500, KILLED + 7500)] * 2
    assert after_kill(records) == {"lost": 0, "doubled": 1, "longest_late_ms": 7000, "normal_after_ms": 7500}


MACHINE = {"cpu": "2 × x", "memory_gb": 4, "kernel": "6", "fdatasync_us": 100, "load_average": 0.1, "load_average_after": 0.2,
           "revision": "abc", "time": "2026-01-01T00:00:00Z"}


def result():
    """Of one run: the first peer did what it can, the second fell behind, the third is not there, others failed."""
    peers = [{"name": p.name, "title": p.title, "loses": p.loses, "keeps": p.keeps, "versions": "1", "missing": None}
             for p in all_peers(None)]
    peers[2]["missing"] = "no JDK"
    cells = {s.name: {peers[0]["name"]: {"cannot": "it cannot"}, peers[1]["name"]: {"n": s.n, "runs": [], "failed": ["broke | off"]}}
             for s in scenarios.SCENARIOS}
    window = {"fires_per_s": 2000, "cpu_s_per_10k": 1.5, "missing": 0, "doubled": 0, "late_p50_ms": 1, "late_p99_ms": 4,
              "late_max_ms": 9, "rss_mb": 30, "store_rss_mb": 0}
    cells["recurring"] = {peers[0]["name"]: {"n": 20_000, "runs": [window], "failed": []},
                          peers[1]["name"]: {"n": 20_000, "runs": [window | {"fires_per_s": 230}], "failed": []}}
    return {"machine": MACHINE, "seconds": 61, "times": 1, "scale": 1, "peers": peers, "scenarios": [
        {"name": s.name, "title": s.title, "times": 1, "cells": cells[s.name]} for s in scenarios.SCENARIOS]}


def test_the_page_names_what_is_not_there_and_why():
    page = tables.page(result())
    assert "left out: no JDK" in page
    assert "- AX, embedded: it cannot." in page
    assert "- AX on MariaDB and Redis: 1 of 1 failed: broke / off" in page
    assert "**recurring**: 20,000 tasks every 10 s" in page


def test_the_small_table_has_a_row_for_each_peer():
    rows = [line for line in tables.small(result()).splitlines() if line.startswith("| ")]
    assert len(rows) == 1 + len(all_peers(None))
    assert "| 2,000/s, p99 4 ms |" in rows[1]
    assert "| 230/s, falls behind |" in rows[2]
    assert rows[3].endswith("| left out here |")
    assert len({row.count("|") for row in rows}) == 1


def test_a_machine_that_was_shared_is_said_to_be():
    busy = result()
    assert "shared this machine" not in tables.page(busy)
    busy["machine"] = MACHINE | {"load_average": 9.8}
    assert "shared this machine" in tables.page(busy) and "shared this machine" in tables.small(busy)


def test_both_pages_have_the_marks():
    for page in ("docs/benchmarks.md", "README.md"):
        text = (HERE.parents[1] / page).read_text()
        assert text.count(tables.BEGIN) == text.count(tables.END) == 1
