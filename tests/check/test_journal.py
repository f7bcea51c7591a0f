import json

import pytest

from store import AFTER, CLEAN as CLEAN_UP, END, EVERY_MINUTE, GID_EPOCH, LATER, LOAD, MINUTE, REPORT, SPLIT, START, broken, check, make

GID = 123456789012345678


def line(event, gid, fence, ms, worker="w1", incarnation="a", **more):
    return json.dumps(dict(event=event, gid=str(gid), fence=fence, worker=worker, incarnation=incarnation, mono_ms=ms,
                           time_ms=START + ms, **more)) + "\n"


def start(*args, **kw):
    return line("start", *args, **kw)


def end(*args, **kw):
    return line("end", *args, **kw)


def told(*args, **kw):
    return line("told", *args, **{"verdict": "taken", **kw})


CLEAN = start(GID, 1, 0) + end(GID, 1, 10) + start(GID, 2, 10, worker="w2") + end(GID, 2, 30)

CASES = [
    ("clean", CLEAN, set()),
    ("killed", start(GID, 1, 0) + start(GID, 2, 50), set()),
    ("killed, then apart", start(GID, 1, 0) + start(GID, 2, 50) + end(GID, 2, 60) + start(GID, 3, 60), set()),
    ("other runs", start(GID, 1, 0) + start(GID + 1, 1, 5) + end(GID, 1, 9) + end(GID + 1, 1, 9), set()),
    ("twice by two", start(GID, 1, 0) + start(GID, 1, 50, worker="w2"), {"J.once"}),
    ("twice by one", CLEAN + start(GID, 2, 90, incarnation="b"), {"J.once"}),
    ("overlap", start(GID, 1, 0) + start(GID, 2, 9, worker="w2") + end(GID, 1, 10), {"J.apart"}),
    ("inside", start(GID, 1, 0) + end(GID, 1, 90) + start(GID, 2, 5) + end(GID, 2, 9) + start(GID, 3, 50), {"J.apart"}),
    ("end alone", end(GID, 1, 0), {"J.pairs"}),
    ("end before", start(GID, 1, 10) + end(GID, 1, 5), {"J.pairs"}),
    ("told", start(GID, 1, 0) + end(GID, 1, 5, outcome="success") + told(GID, 1, 6) + told(GID, 1, 9, incarnation="b"), set()),
    ("told of what another file began", told(GID, 1, 6), set()),
    ("two ends", start(GID, 1, 0) + end(GID, 1, 5) + end(GID, 1, 6), {"J.pairs"}),
]


@pytest.mark.parametrize("text, rules", [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_cases(tmp_path, text, rules):
    # in one file, and each line in a file of its own: one worker's journal or several workers'
    lines = text.splitlines(keepends=True)
    for n, content in enumerate(lines):
        (tmp_path / f"{n}.jsonl").write_text(content)
    (tmp_path / "all.jsonl").write_text(text)
    for files in [["all.jsonl"], [f"{n}.jsonl" for n in range(len(lines))]]:
        code, said = check("--journal", *[tmp_path / file for file in files])
        assert broken(said, "journals") == rules
        assert code == (1 if rules else 0)


def test_a_torn_last_line(tmp_path):
    file = tmp_path / "j"
    file.write_text(CLEAN + start(GID, 3, 40)[:-20])
    assert check("--journal", file)[0] == 0
    file.write_text(CLEAN[:-20] + "\n" + CLEAN)
    code, said = check("--journal", file)
    assert code == 2 and ":4 " in said
    assert check("--journal", tmp_path / "missing")[0] == 2


def test_with_a_store(tmp_path):
    store = make(tmp_path / "ax.db")
    gid, = store.db.execute("SELECT gid FROM ax_task_log WHERE fence = 3").fetchone()
    path = store.done()
    file = tmp_path / "j"
    # the first attempt was lost, which explains that it still ran when the second began; the second was not
    first = start(gid, 1, 0) + end(gid, 1, 70000) + start(gid, 2, 60000)
    file.write_text(first + end(gid, 2, 120000) + start(gid, 3, 130000))
    assert check("--store", f"sqlite:{path}", "--journal", file)[0] == 0
    assert check("--journal", file)[0] == 1
    file.write_text(first + end(gid, 2, 120000) + start(gid, 3, 110000))
    assert broken(check("--store", f"sqlite:{path}", "--journal", file)[1], "journals") == {"J.apart"}
    file.write_text(start(gid, 4, 0))
    assert broken(check("--store", f"sqlite:{path}", "--journal", file)[1], "journals") == {"J.known"}
    file.write_text(start(1, 4, 0))  # older than anything kept
    assert check("--store", f"sqlite:{path}", "--journal", file)[0] == 0


LOST, FAILED, LAST = 1, 2, 3  # fences of the run that was lost once, failed once and succeeded at the third attempt
AT_WORK = "DROP TRIGGER ax_task_log_terminal; UPDATE ax_task_log SET status = 3, end_time = 0 WHERE fence = 3"
ATTEMPT = "UPDATE ax_attempt SET {} WHERE fence = {}"

TOLD = [
    ("all of it", None, end(GID, LAST, 5, outcome="success") + told(GID, LAST, 9) + end(GID, FAILED, 5, outcome="failed")
     + told(GID, FAILED, 9) + end(GID, LOST, 5, outcome="forgotten"), True),
    ("a killed worker's result is in its spool", None, end(GID, LOST, 5, outcome="success"), True),
    ("it is on its way", AT_WORK, end(GID, LAST, 5, outcome="success"), True),
    ("it came late", ATTEMPT.format("late_time = 5, late_outcome = 1", LOST), end(GID, LOST, 5, outcome="success")
     + told(GID, LOST, 9, verdict="late"), True),
    ("it was given back", ATTEMPT.format("outcome = 7", FAILED), told(GID, FAILED, 9), True),
    ("another's, told late", None, told(GID, LOST, 9, verdict="late", worker="w2"), True),
    ("lost though confirmed", None, told(GID, LOST, 9), False),
    ("confirmed, and still at work", AT_WORK, told(GID, LAST, 9), False),
    ("confirmed, and ended by another", "UPDATE ax_task_log SET ended_by_worker = 0", told(GID, LAST, 9), False),
    ("confirmed, and no attempt is on record", "DELETE FROM ax_attempt WHERE fence = 1", told(GID, LOST, 9), False),
    ("confirmed, of a claim that never was", None, told(GID, LAST + 1, 9), False),
    ("confirmed to another", None, told(GID, LAST, 9, worker="w2"), False),
    ("late and not kept", None, told(GID, LOST, 9, verdict="late"), False),
    ("failed, and called a success", None, end(GID, LAST, 5, outcome="failed"), False),
    ("never told, and called a success", None, end(GID, LAST, 5, outcome="forgotten"), False),
    ("a success, and called failed", None, end(GID, FAILED, 5, outcome="success"), False),
    ("a late success, kept as failed", ATTEMPT.format("late_time = 5, late_outcome = 2", LOST), end(GID, LOST, 5, outcome="success"), False),
]


@pytest.mark.parametrize("change, text, in_order", [case[1:] for case in TOLD], ids=[case[0] for case in TOLD])
def test_what_was_told_is_there(tmp_path, change, text, in_order):
    store = make(tmp_path / "ax.db")
    gid, = store.db.execute("SELECT gid FROM ax_task_log WHERE fence = 3").fetchone()
    store.db.executescript(change or "")
    path = store.done()
    file = tmp_path / "j"
    starts = "".join(start(GID, fence, 0) for fence in (LOST, FAILED, LAST) if '"end"' in text and f'"fence": {fence}' in text)
    file.write_text((starts + text).replace(str(GID), str(gid)))
    said = check("--store", f"sqlite:{path}", "--journal", file)[1]
    assert ("I5.told" in broken(said, "journals")) is not in_order, said["journals"]


def runs_of(store, task_id):
    return [gid for gid, in store.db.execute("SELECT gid FROM ax_task_log WHERE task_id = ? ORDER BY gid", [task_id])]


def test_a_success_was_begun(tmp_path):
    """Between the first and the last that a worker's journal holds, it holds all."""
    store = make(tmp_path / "ax.db")
    minutes = runs_of(store, EVERY_MINUTE)[:10]
    others = [gid for task in (AFTER, LATER, SPLIT, LOAD, CLEAN_UP, REPORT) for gid in runs_of(store, task)]
    path = store.done()
    file = tmp_path / "j"

    def judge(gids, **kw):
        file.write_text("".join(start(gid, 1, n * MINUTE, incarnation="i", **kw) for n, gid in enumerate(gids)))
        return next(f for f in check("--store", f"sqlite:{path}", "--journal", file)[1]["journals"] if f["id"] == "I5.worked")

    accused = judge(minutes)["rows"]
    assert all(not any(str(gid) in row for row in accused) for gid in minutes)
    assert judge([*minutes, *others])["violations"] == 0
    without = judge([gid for gid in [*minutes, *others] if gid != minutes[4]])
    assert without["violations"] == 1 and str(minutes[4]) in without["rows"][0]
    assert judge([minutes[9], minutes[8]])["violations"] == 0, "what was before the journal"
    assert judge([minutes[0], minutes[1]])["violations"] == 0, "what was after the journal"
    assert judge([gid for gid in minutes if gid != minutes[4]], worker="w2")["violations"] == 0, "another worker's"
    assert check("--journal", file)[1]["journals"][-1]["violations"] is None


def test_given_to_another(tmp_path):
    store = make(tmp_path / "ax.db")
    gid, = store.db.execute("SELECT gid FROM ax_task_log WHERE fence = 3").fetchone()
    path = store.done()
    file = tmp_path / "j"
    for fence in (1, 3):
        file.write_text(start(gid, fence, 0, worker="w2"))
        assert broken(check("--store", f"sqlite:{path}", "--journal", file)[1], "journals") == {"J.known"}


def test_what_a_group_does_not_keep(tmp_path):
    """A group may thin out its runs after a day; what is younger must be there."""
    store = make(tmp_path / "ax.db")
    oldest, = store.db.execute("SELECT min(gid) FROM ax_task_log").fetchone()
    store.db.execute("UPDATE ax_task_log SET gid = gid - ? WHERE gid = ?", [3 * 86400000 << 22, oldest])
    store.db.execute("UPDATE ax_group SET keep_runs = 1")
    path = store.done()
    file = tmp_path / "j"
    for age_hours, known in ((48, True), (1, False)):
        file.write_text(start((END - age_hours * 3600000 - GID_EPOCH << 22) + 9, 1, 0))
        rules = broken(check("--store", f"sqlite:{path}", "--journal", file)[1], "journals")
        assert rules == (set() if known else {"J.known"})
