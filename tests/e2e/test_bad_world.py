"""Disks that are full, files that are broken, clocks that jump."""

import contextlib
import os
import shutil
import sqlite3

import pytest

from ax_world import AX_SERVER, AX_SERVER_LATER, AX_SERVER_NEXT, BUILD, FAKETIME, ApiError, Clock, fill, now_ms, wait_for

MIB = 1024 * 1024
FAIL_SYNC = BUILD / "tests/worker/libfail_sync.so"
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="a file system of its own needs root")


def change_store(server, sql):
    """While nobody has it open."""
    with contextlib.closing(sqlite3.connect(server.store)) as store, store:
        store.execute(sql)


def refuse_to_start(process, *words):
    """The program ends with 1 and one sentence that says why."""
    process.spawn()
    assert process.process.wait(15) == 1
    said = process.log().strip().splitlines()[-1]
    for word in words:
        assert word in said, said
    return said


@needs_root
def test_a_full_disk_of_the_server(world):
    disk = world.small_disk("disk", 12 * MIB)
    server = world.server(state=disk / "state")
    worker = world.worker(server)
    gate = world.folder / "gate"
    clock = server.task("clock", script="true", cron_expr="* * * * * *", overlap="allow", overlap_max=100)
    task = server.task("waits", script=f"until [ -e {gate} ]; do sleep 0.05; done; echo kept")
    run = server.trigger(task)
    server.wait_run(run, "RUNNING")
    wait_for(lambda: server.runs(clock, status="SUCCESS"), 10)

    filler = fill(disk)

    def create():
        try:
            server.task(f"full-{now_ms()}", script="true", notes="x" * 4000)
        except ApiError as e:
            return e
    refused = wait_for(create, 30, "a create is refused")
    assert refused.status in (503, 507) and refused.code in ("out_of_space", "unavailable"), refused
    names = {t["task_name"] for t in server.items("/tasks")}
    assert {"clock", "waits"} <= names, "reading goes on"
    gate.write_text("")
    wait_for(lambda: not [c for c in world.task_processes().values() if str(gate) in c], 10)
    assert server.runs_now() and worker.runs_now()

    filler.unlink()
    wait_for(lambda: server.is_ready(), 15)
    assert server.wait_run(run, "SUCCESS", 20)["attempt"] == 1
    assert server.text(run) == "kept\n"
    after = server.trigger(server.task("after", script="true"))
    server.wait_run(after, "SUCCESS", 20)
    assert {t["task_name"] for t in server.items("/tasks")} == names | {"after"}
    server.quiesce(30)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    assert worker.term() == 0 and server.term() == 0
    code, said = world.check(server, worker)
    assert code == 0, said


@pytest.mark.skipif(any(k in os.environ for k in ("ASAN_OPTIONS", "TSAN_OPTIONS")), reason="sanitizers want to be loaded first")
def test_a_disk_of_the_server_that_fails_syncs(world):
    """It ends, for only the file opened anew tells what it holds; what was confirmed is there."""
    flag = world.folder / "disk-is-broken"
    server = world.server(env={"LD_PRELOAD": str(FAIL_SYNC), "FAIL_SYNC_FLAG": str(flag)})
    worker = world.worker(server)
    clock = server.task("clock", script="true", cron_expr="* * * * * *", overlap="allow", overlap_max=100)
    wait_for(lambda: server.runs(clock, status="SUCCESS"), 10)

    flag.write_text("")
    assert server.process.wait(20) == 74
    assert server.events("store_failed")
    server.spawn()
    assert server.process.wait(20) != 0, "the disk is as it was"
    flag.unlink()
    server.start()
    before = len(server.runs(clock, status="SUCCESS"))
    wait_for(lambda: len(server.runs(clock, status="SUCCESS")) > before + 2, 20)
    server.quiesce(60)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    assert worker.term() == 0 and server.term() == 0
    code, said = world.check(server, worker)
    assert code == 0, said


@needs_root
@pytest.mark.slow
def test_a_full_disk_of_the_worker(world):
    """It takes no more runs; the result of what runs finds room in what was held back for it."""
    disk = world.small_disk("disk", 300 * MIB)
    server = world.server()
    worker = world.worker(server, state=disk / "state")
    gate = world.folder / "gate"
    run = server.trigger(server.task("runs", script=f"until [ -e {gate} ]; do sleep 0.05; done; echo kept; exit 5"))
    server.wait_run(run, "RUNNING")
    filler = fill(disk)
    worker.wait_event("disk_low")
    gate.write_text("")
    ended = server.wait_run(run, "FAILED", 20)
    assert ended["result_code"] == 5
    waiting = server.trigger(server.task("waits", script="true"))
    parked = worker.wait_event("run_dropped")  # by the poll that was parked when the disk became full
    assert parked[0]["gid"] == waiting["gid"]
    filler.unlink()
    worker.wait_event("disk_ok")
    ended = server.wait_run(waiting, "SUCCESS", 70)
    assert (ended["fence"], ended["attempt"], ended["retry_times"]) == (2, 1, 0), "nobody accepted it: no attempt is counted"
    assert worker.term() == 0 and server.term() == 0


@needs_root
def test_a_full_disk_of_the_logs(world):
    """Nobody can be told, and all goes on."""
    disk = world.small_disk("logs", MIB)
    server = world.server(start=False)
    server.log_path = disk / "server.log"
    server.start()
    worker = world.worker(server, start=False)
    worker.log_path = disk / "worker.log"
    worker.start()
    filler = fill(disk)
    task, size = server.task("works", script="true"), worker.log_path.stat().st_size

    def work(times):
        for _ in range(times):  # a line of the worker each
            server.wait_run(server.trigger(task), "SUCCESS")
        return len(worker.events("run_received"))
    told = work(40)
    assert worker.log_path.stat().st_size < size + 4096, "the disk is full but for a page"
    filler.unlink()
    assert work(2) > told  # the first line may end one that was cut off
    assert worker.term() == 0 and server.term() == 0


# B019
def test_a_second_server_on_the_same_state(world):
    first = world.server()
    second = world.server(start=False, name="second", state=first.state)
    said = refuse_to_start(second, "in use by process", str(first.pid))
    assert str(first.store) in said
    first.task("still-works", script="true")
    code, said = world.check(first)
    assert code == 2 and "a server has this store open" in said, "ax-check does not read under a server either"


def test_a_second_worker_on_the_same_state(world):
    server = world.server()
    first = world.worker(server)
    second = world.worker(server, start=False, name="w2", state=first.state)
    refuse_to_start(second, "another worker uses the state folder")
    assert first.runs_now()


def test_a_worker_between_two_stores(world):
    """One is a copy of the other, where the same tasks have the same ids and the same token is good; it was given an id of its own."""
    one = world.server()
    task = one.task("sleeper", script="sleep 1")
    assert one.term() == 0
    copy = world.server(name="copy", start=False)
    shutil.copytree(one.state, copy.state)
    copy.token, copy.worker_token_file = one.token, one.worker_token_file
    change_store(copy, "UPDATE ax_store SET id = 7")
    for server in (one, copy):
        server.start()
    assert copy.get("/servers")["items"][0]["store_id"] == copy.events("started")[0]["store_id"] == f"{7:016x}"
    worker = world.worker(one, start=False)
    worker.args[worker.args.index("--server") + 1] = f"{copy.url},{one.url}"
    worker.start()
    line = worker.wait_event("other_store")[0]
    own, other = sorted((one, copy), key=lambda server: server.url == line["url"])
    assert [line["url"], line["own_url"]] == [other.url, own.url]
    runs = {server: server.trigger(task) for server in (other, own)}
    own.wait_run(runs[own], "SUCCESS", 20)
    assert other.run(runs[other])["status"] == "WAITING"
    assert worker.term() == 0
    worker.args[worker.args.index("--server") + 1] = other.url  # nothing is left in its spool: it may serve the other one
    worker.start()
    other.wait_run(runs[other], "SUCCESS", 20)
    assert len(worker.events("other_store")) == 1


def test_a_store_that_is_no_database(world):
    server = world.server()
    server.term()
    whole = server.store.read_bytes()
    server.store.write_bytes(b"This is a letter to the operator.\n" * 300)
    refuse_to_start(server, "is not a database", "backup")
    server.store.write_bytes(whole)
    server.start()


def test_a_damaged_store(world):
    server = world.server()
    for n in range(50):
        server.task(f"task-{n}", script="true", notes="x" * 2000)
    server.term()
    whole = server.store.read_bytes()
    with open(server.store, "r+b") as store:  # every second page but the first: some hold rows
        for at in range(2 * 4096, len(whole) - 4096, 2 * 4096):
            store.seek(at)
            store.write(os.urandom(1024))
    refuse_to_start(server, "damaged", "backup")
    server.store.write_bytes(whole)
    server.start()
    assert len(server.items("/tasks")) == 50


# B207
def test_a_store_of_a_newer_program(world):
    server = world.server()
    server.term()
    change_store(server, "INSERT INTO ax_migration (number, name, hash, time, oldest) VALUES (9999, 'future', 'x', 0, 9999)")
    refuse_to_start(server, "9999", "newer program")


def test_a_store_that_a_newer_program_expanded(world):
    """Going back needs no backup until a release takes something away."""
    server = world.server()
    server.term()
    server.args[0] = AX_SERVER_NEXT
    server.start()
    server.task("made-by-the-next", script="true")
    assert server.term() == 0
    server.args[0] = AX_SERVER
    server.start()
    assert [task["task_name"] for task in server.items("/tasks")] == ["made-by-the-next"]
    assert server.term() == 0
    server.args[0] = AX_SERVER_LATER
    server.start()
    assert server.term() == 0
    server.args[0] = AX_SERVER
    refuse_to_start(server, "schema version 4", "newer program")


def test_a_store_without_its_id(world):
    server = world.server()
    server.term()
    change_store(server, "DELETE FROM ax_store")
    refuse_to_start(server, "ax_store", "restore")


def test_a_store_of_another_program(world):
    server = world.server()
    server.term()
    server.store.unlink()
    change_store(server, "CREATE TABLE letters (text TEXT)")
    refuse_to_start(server, "another program")


def test_a_state_folder_that_cannot_be_made(world):
    (world.folder / "file").write_text("")
    refuse_to_start(world.server(start=False, state=world.folder / "file/state"), "file/state")


def test_a_port_that_is_taken(world):
    first = world.server()
    second = world.server(start=False, name="second", options=["--listen", f"127.0.0.1:{first.port}"])
    refuse_to_start(second, str(first.port))


@pytest.mark.skipif(not FAKETIME.exists(), reason="libfaketime is not installed")
def test_a_clock_that_jumps(world):
    clock = Clock(world)
    server = world.server(env=clock.env)
    worker = world.worker(server)
    task = server.task("clock", script="true", cron_expr="*/2 * * * * *", overlap="allow", overlap_max=100, window_seconds=60)
    rate = server.task("rate", script="true", cron_expr="@every 2s", misfire="fire_all", overlap="allow", overlap_max=100)
    long = server.trigger(server.task("long", script=f"until [ -e {world.folder}/end ]; do sleep 0.05; done", timeout_seconds=0))
    server.wait_run(long, "RUNNING")
    wait_for(lambda: len(server.runs(task, status="SUCCESS")) >= 2, 10)

    clock.set(3600)
    missed = wait_for(lambda: server.runs(task, status="MISSED"), 20)
    assert len(missed) == 1 and 1700 < missed[0]["covers"]["count"] < 1800, "all but the window's"
    wait_for(lambda: [r for r in server.runs(task, status="SUCCESS") if r["trigger_time"] > now_ms() + 3_590_000], 15)
    assert server.run(long)["status"] == "RUNNING", "a jump ends no lease"
    wait_for(lambda: not server.runs(rate, live="true"), 60)
    newest = max(int(r["fire_key"]) for r in server.runs(task, kind="schedule"))

    clock.set(0)
    by_hand = server.trigger(server.task("by-hand", script="true"))
    server.wait_run(by_hand, "SUCCESS", 20)
    assert max(int(r["fire_key"]) for r in server.runs(task, kind="schedule")) <= newest + 2000, "no instant fires twice"
    clock.set(3600)
    wait_for(lambda: max(int(r["fire_key"]) for r in server.runs(task, kind="schedule", status="SUCCESS")) > newest + 2000, 30)
    (world.folder / "end").write_text("")
    assert server.wait_run(long, "SUCCESS")["fence"] == 1
    server.quiesce(60)
    told = server.audit(now_ms() + 3_600_000)
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    assert told["missed"] == missed[0]["covers"]["count"] + sum(r["covers"]["count"] for r in server.runs(rate, status="MISSED"))
    assert worker.term() == 0 and server.term() == 0
    code, said = world.check(server, worker)
    assert code == 0, said
