"""Faults that people met in other schedulers, by the numbers of tests/CASES.md."""

import os
from pathlib import Path


def open_files(process):
    """What its descriptors lead to; one that is closed meanwhile is left out."""
    for entry in (process / "fd").iterdir():
        try:
            yield os.readlink(entry)
        except FileNotFoundError:
            continue


def test_b165_a_worker_listens_on_nothing(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": ["/bin/true"]})
    assert server.result(gid)["outcome"] == "success"
    process = Path(f"/proc/{worker.process.pid}")
    own = set(open_files(process))
    for table in ("tcp", "tcp6", "udp", "udp6"):
        for line in (process / "net" / table).read_text().splitlines()[1:]:
            fields = line.split()
            listens = fields[3] == "0A" if table.startswith("tcp") else fields[3] == "07"
            assert not (listens and f"socket:[{fields[9]}]" in own), line


def test_b165_an_empty_token_does_not_start(tmp_path, server, start_worker):
    worker = start_worker(server)
    worker.stop()
    for text in ("", "\n", "  \n"):
        (tmp_path / "token").write_text(text)
        worker.start()
        assert worker.end() != 0
