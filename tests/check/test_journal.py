import json

import pytest

from store import START, broken, check, make

GID = 123456789012345678


def line(event, gid, fence, ms, worker="w1", incarnation="a"):
    return json.dumps(dict(event=event, gid=str(gid), fence=fence, worker=worker, incarnation=incarnation, mono_ms=ms,
                           time_ms=START + ms)) + "\n"


def start(*args, **kw):
    return line("start", *args, **kw)


def end(*args, **kw):
    return line("end", *args, **kw)


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
    first = start(gid, 1, 0) + end(gid, 1, 70000) + start(gid, 2, 60000, worker="w2")
    file.write_text(first + end(gid, 2, 120000) + start(gid, 3, 130000))
    assert check("--store", f"sqlite:{path}", "--journal", file)[0] == 0
    assert check("--journal", file)[0] == 1
    file.write_text(first + end(gid, 2, 120000) + start(gid, 3, 110000))
    assert broken(check("--store", f"sqlite:{path}", "--journal", file)[1], "journals") == {"J.apart"}
    file.write_text(start(gid, 4, 0))
    assert broken(check("--store", f"sqlite:{path}", "--journal", file)[1], "journals") == {"J.known"}
    file.write_text(start(1, 4, 0))  # older than anything kept
    assert check("--store", f"sqlite:{path}", "--journal", file)[0] == 0
