"""The fault matrix: a small function for each fault. `yield s` leaves it as it is for s seconds; at its end all is healed.

Aims are those of the project: one fault adds at most 5 s of lateness, a killed server of several at most 3 s, and so on. Where nothing can
begin while the fault stays (no server, no database, its rows held, no way to a worker), there is none for lateness, but for how soon all is well after the heal."""

import contextlib
import os
import signal
import time

from ax_world import AX_SERVER, AX_SERVER_NEXT, FAKETIME, fill, now_ms, tagged, wait_for
from cell import Cell
from load import work
from mariadb import Failed

LEASE_S = 45
SUCCESS, FAILED = 10, 11  # src/core/run_fsm.h
CLUSTER = {"servers": 3, "workers": 3, "store": "mariadb", "queue": "redis"}
SINGLE = {"store": "sqlite", "workers": 3}

CELLS = []


def cell(name, does, holds, aims=None, rig=CLUSTER, needs=(), **more):
    def add(hurt):
        CELLS.append(Cell(name, does, hurt, holds, aims or {}, rig, needs, **more))
        return hurt
    return add


# ---- servers


@cell("kill-server", "kill -9 of one server of three, started again 1-5 s later", "I1-I12; the others go on",
      {"late_s": 3, "normal_s": 3}, short=True)
@cell("single-kill-server", "kill -9 of the only server, over SQLite, started again at once", "I1-I12", {"normal_s": 15}, SINGLE)
def kill_server(rig, chance):
    victim = chance.choice(rig.servers)
    rig.note(victim.name)
    victim.kill()
    yield chance.uniform(1, 5) if len(rig.servers) > 1 else 0
    victim.start()


@cell("kill-at-due", "kill -9 of a server and of a worker at a full second, when everything is due; started again at once",
      "I1-I12", {"late_s": 3, "retry_s": 2})
def kill_at_due(rig, chance):
    server, worker, offset_ms = chance.choice(rig.servers), chance.choice(rig.workers), chance.choice([-10, 0, 10, 30, 50])
    rig.note(f"{server.name} and {worker.name}, {offset_ms} ms after it")
    yield (2000 - now_ms() % 1000 + offset_ms) / 1000
    server.kill()
    worker.kill()
    worker.start()
    server.start()


@cell("kill-all-servers", "kill -9 of all servers, started again 5-15 s later", "I1-I12; missed fires are made", {"normal_s": 15})
@cell("single-away", "kill -9 of the only server, over SQLite, started again 5-15 s later", "I1-I12; missed fires are made",
      {"normal_s": 15}, SINGLE)
def kill_all_servers(rig, chance):
    for server in rig.servers:
        server.kill()
    yield chance.uniform(5, 15)
    for server in rig.servers:
        server.start()


@cell("stop-server", "SIGSTOP of one server of three for 1-60 s", "I1-I6; what it says afterwards counts no more", {"late_s": 5})
@cell("single-stop-server", "SIGSTOP of the only server, over SQLite, for 1-60 s", "I1-I6", {"normal_s": 15}, SINGLE)
def stop_server(rig, chance):
    victim, seconds = chance.choice(rig.servers), chance.choice([1, 3, 10, 60])
    rig.note(f"{victim.name} for {seconds} s")
    victim.pause()
    yield seconds
    victim.resume()


@cell("stop-server-beyond-lease", "SIGSTOP of one server of three for longer than a lease of 45 s", "I1-I6; 0 stale writes",
      {"late_s": 5}, short=True)
def stop_server_beyond_lease(rig, chance):
    victim = chance.choice(rig.servers)
    rig.note(victim.name)
    victim.pause()
    yield LEASE_S + 2
    victim.resume()


@cell("rolling-restart", "SIGTERM of one server after the other, each back before the next goes", "all; no call fails but for 503",
      {"late_s": 3}, answers=True)
def rolling_restart(rig, chance):
    for server in chance.sample(rig.servers, len(rig.servers)):
        code = server.term()
        if code != 0:
            rig.fault(f"{server.name} ended with {code} when asked to")
        server.start()
        yield chance.uniform(0.5, 2)


@cell("rolling-upgrade", "one server after the other becomes the next release, which expands the schema, and next time the old one again",
      "all; no call fails but for 503", {"late_s": 3}, answers=True)
def rolling_upgrade(rig, chance):
    to = AX_SERVER if rig.servers[0].args[0] == AX_SERVER_NEXT else AX_SERVER_NEXT
    rig.note(f"to {to.name}")
    for server in chance.sample(rig.servers, len(rig.servers)):
        code = server.term()
        if code != 0:
            rig.fault(f"{server.name} ended with {code} when asked to")
        server.args[0] = to
        server.start()
        yield chance.uniform(0.5, 2)


@cell("clock-step", "the clock of one server of three, or of all, is an hour or half a minute ahead or behind, or goes 200 ppm too fast, for 10 s",
      "I1, I2, I14: none early, none twice", {"late_s": 5}, CLUSTER | {"clocks": True}, ("faketime",))
def clock_step(rig, chance):
    clocks, seconds = chance.choice([rig.clocks, [chance.choice(rig.clocks)]]), chance.choice([3600, -3600, 30, -30, 0])
    rig.note(f"{len(clocks)} servers {f'by {seconds} s' if seconds else 'too fast'}")
    for clock in clocks:
        clock.set(seconds, 1 if seconds else 1.0002)
    yield 10
    for clock in clocks:
        clock.set(0)


# ---- workers


@cell("kill-worker", "kill -9 of one worker of three, started again after 0-3 s", "I3, I5, I9", {"late_s": 5, "retry_s": 2}, short=True)
@cell("single-kill-worker", "as `kill-worker`, with one server over SQLite", "I3, I5, I9", {"late_s": 5, "retry_s": 2}, SINGLE)
def kill_worker(rig, chance):
    victim = chance.choice(rig.workers)
    rig.note(victim.name)
    victim.kill()
    yield chance.uniform(0, 3)
    victim.start()


@cell("lose-worker", "kill -9 of one worker of three, back only after its leases have passed", "I3, I5, I9", {"late_s": 5, "again_s": 47})
@cell("single-lose-worker", "as `lose-worker`, with one server over SQLite", "I3, I5, I9", {"late_s": 5, "again_s": 47}, SINGLE)
def lose_worker(rig, chance):
    victim = chance.choice(rig.workers)
    rig.note(victim.name)
    victim.kill()
    yield LEASE_S + 5
    victim.start()


@cell("stop-worker", "SIGSTOP of one worker of three for 1-60 s", "I1-I6; overlap only after a lost lease", {"late_s": 5})
@cell("single-stop-worker", "as `stop-worker`, with one server over SQLite", "I1-I6; overlap only after a lost lease", {"late_s": 5}, SINGLE)
def stop_worker(rig, chance):
    victim, seconds = chance.choice(rig.workers), chance.choice([1, 5, 20, 60])
    rig.note(f"{victim.name} for {seconds} s")
    victim.pause()
    yield seconds
    victim.resume()


@cell("rolling-workers", "SIGTERM of one worker after the other, each back before the next goes", "I3, I5; none is lost", {"late_s": 5},
      keeps=True)
def rolling_workers(rig, chance):
    for worker in chance.sample(rig.workers, len(rig.workers)):
        code = worker.term()
        if code != 0:
            rig.fault(f"{worker.name} ended with {code} when asked to")
        worker.start()
        yield chance.uniform(0.5, 2)


# ---- tasks


def send(pid, number):
    """It may have ended meanwhile."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def draw_sleeper(rig, chance):
    return chance.choice(wait_for(rig.sleepers, 10, "a task process"))


def see_its_end(rig, sleeper):
    """Until the servers know that the attempt has ended: the run's (status, message) then."""
    begun = time.monotonic()
    ((status, message),) = wait_for(lambda: rig.rows(
        f"SELECT status, result_msg FROM ax_task_log WHERE gid = {sleeper.gid} AND (status NOT IN (2, 3) OR fence > {sleeper.fence})"), 60, f"run {sleeper.gid} ends")
    rig.figure("end_s", time.monotonic() - begun)
    return status, message


@cell("kill-task", "kill -9 of the process of a task", "FAILED with its signal", {"late_s": 5, "end_s": 2})
@cell("single-kill-task", "as `kill-task`, with one server over SQLite", "FAILED with its signal", {"late_s": 5, "end_s": 2}, SINGLE)
def kill_task(rig, chance):
    sleeper = draw_sleeper(rig, chance)
    rig.note(f"run {sleeper.gid}")
    send(sleeper.pid, signal.SIGKILL)
    status, message = see_its_end(rig, sleeper)
    if status != SUCCESS and (status != FAILED or "SIGKILL" not in message):  # it may have slept enough before
        rig.fault(f"run {sleeper.gid} was killed and is {status}: {message}")
    yield 0


@cell("kill-shim", "kill -9 of an ax-exec", "the attempt ends, nothing of it stays", {"late_s": 5, "end_s": 2})
@cell("single-kill-shim", "as `kill-shim`, with one server over SQLite", "the attempt ends, nothing of it stays", {"late_s": 5, "end_s": 2}, SINGLE)
def kill_shim(rig, chance):
    sleeper = draw_sleeper(rig, chance)
    rig.note(f"run {sleeper.gid}")
    send(sleeper.shim, signal.SIGKILL)
    see_its_end(rig, sleeper)
    wait_for(lambda: sleeper.pid not in tagged(rig.tag), 10, "the task's process is gone")
    yield 0


@cell("stop-shim", "SIGSTOP of an ax-exec for 1-20 s", "I1-I6", {"late_s": 5})
@cell("single-stop-shim", "as `stop-shim`, with one server over SQLite", "I1-I6", {"late_s": 5}, SINGLE)
def stop_shim(rig, chance):
    shim, seconds = draw_sleeper(rig, chance).shim, chance.choice([1, 5, 20])
    rig.note(f"process {shim} for {seconds} s")
    send(shim, signal.SIGSTOP)
    yield seconds
    send(shim, signal.SIGCONT)


@cell("poison", "a task that kills the worker that executes it", "I11: it ends, after its losses", {"late_s": 5})
@cell("single-poison", "as `poison`, with one server over SQLite", "I11: it ends, after its losses", {"late_s": 5}, SINGLE)
def poison(rig, chance):
    """The workers are started again as a service manager would."""
    task = rig.ask("POST", "/tasks", {"task_name": f"poison-{now_ms()}", "group_key": "mail", "task_type": "delay", "lost_limit": 3,
                                      "executor_key": "load.poison"})
    for worker in rig.workers:
        worker.felled = True
    run = rig.ask("POST", f"/tasks/{task['id']}/runs", {"dedup_key": "once"})

    def has_ended():
        for worker in rig.workers:
            if not worker.runs_now():
                worker.start()
                worker.felled = True
        return rig.ask("GET", f"/runs/{run['gid']}")["status"] == "TIMEOUT"
    wait_for(has_ended, 240, "the poison ends")  # each loss may be eleven claims: who dies at once accepts nothing
    for worker in rig.workers:
        worker.felled = not worker.runs_now()
    yield 0


@cell("overload", "ten times the load for 10 s: as many more tasks, all due in the same milliseconds", "nothing is lost; back to normal within 60 s", {"normal_s": 60})
@cell("single-overload", "as `overload`, with one server over SQLite", "nothing is lost; back to normal within 60 s", {"normal_s": 60}, SINGLE)
def overload(rig, chance):
    begin = now_ms() + 3000
    tasks = [{"task_name": f"flood-{begin}-{n}", "group_key": "mail", "cron_expr": "@every 1s", "misfire": "fire_all",
              "valid_from": begin, "valid_until": begin + 10000,
              "overlap": "allow", "overlap_max": 100, "retry_count": 0, **work(20)} for n in range(10 * rig.rate)]
    for at in range(0, len(tasks), 500):
        rig.ask("POST", "/tasks/batch", {"tasks": tasks[at:at + 500]})
    yield (begin - now_ms()) / 1000 + 10
    rig.note(f"{len(tasks)} fires a second")


# ---- links


@cell("cut-worker", "one worker is cut off from all servers for 2-60 s: nothing passes, one way or both", "I3, I5; it kills its own work in time",
      {"late_s": 5, "normal_s": 10}, CLUSTER | {"links": ("worker",)})
@cell("single-cut-worker", "as `cut-worker`, with one server over SQLite", "I3, I5; it kills its own work in time", {"late_s": 5, "normal_s": 10},
      SINGLE | {"links": ("worker",)})
def cut_worker(rig, chance):
    n, way, seconds = chance.randrange(len(rig.workers)), chance.choice([None, "up", "down"]), chance.choice([2, 10, 60])
    rig.note(f"{rig.workers[n].name}, {way or 'both ways'}, for {seconds} s")
    for link in rig.links_of_worker(n):
        link.hang(way)
    yield seconds
    for link in rig.links_of_worker(n):
        link.reset()
        link.heal()


@cell("reset-workers", "all connections of all workers are reset, new ones refused for 1-5 s", "I3, I5", {"normal_s": 10},
      CLUSTER | {"links": ("worker",)})
@cell("single-reset-workers", "as `reset-workers`, with one server over SQLite", "I3, I5", {"normal_s": 10}, SINGLE | {"links": ("worker",)})
def reset_workers(rig, chance):
    for link in rig.worker_links.values():
        link.cut()
    yield chance.uniform(1, 5)
    for link in rig.worker_links.values():
        link.heal()


@cell("slow-workers", "each byte between workers and servers takes 200 ms longer", "no time-out for want of a heartbeat", {"late_s": 5},
      CLUSTER | {"links": ("worker",)}, keeps=True)
@cell("single-slow-workers", "as `slow-workers`, with one server over SQLite", "no time-out for want of a heartbeat", {"late_s": 5},
      SINGLE | {"links": ("worker",)}, keeps=True)
def slow_workers(rig, chance):
    for link in rig.worker_links.values():
        link.slow(200)
    yield 10
    for link in rig.worker_links.values():
        link.heal()


@cell("repeat-reports", "what workers say arrives twice, the second time up to 60 s later", "I3-I5", {"late_s": 5},
      CLUSTER | {"links": ("worker",)})
@cell("single-repeat-reports", "as `repeat-reports`, with one server over SQLite", "I3-I5", {"late_s": 5}, SINGLE | {"links": ("worker",)})
def repeat_reports(rig, chance):
    for link in rig.worker_links.values():
        link.repeat = lambda path: chance.choice([0, 0.05, 2, 20, 60]) if path.endswith(("/report", "/register")) else None
    yield 20
    for link in rig.worker_links.values():
        link.repeat = lambda path: None
    rig.note(f"{sum(len(link.repeated) for link in rig.worker_links.values())} copies were answered so far")


# ---- packets: what a proxy cannot do, as the kernel carries the bytes to it


def lose_packets(rig, whose, wires):
    rig.note(whose)
    for wire in wires:
        wire.hurt(lost=0.05, ms=200, jitter_ms=100)
    yield 20
    for wire in wires:
        wire.heal()
    rig.note(f"{sum(wire.lost for wire in wires)} packets were lost and {sum(wire.overtaken for wire in wires)} overtaken")


def drop_packets(rig, chance, whose, wire):
    """Nobody is told: what the kernels and AX have waited for long enough decides."""
    way, seconds = chance.choice([None, "in", "out"]), chance.choice([2, 10, 60])
    rig.note(f"{whose}, {way or 'both ways'}, for {seconds} s")
    wire.drop(way)
    yield seconds
    wire.heal()
    rig.note(f"{wire.lost} packets were lost")


@cell("lossy-database", "of the packets between one server of three, or all, and the database 5 % are lost and the others come 100-300 ms later, out of order, for 20 s",
      "all; no time-out for want of a heartbeat", {"late_s": 5, "normal_s": 10}, CLUSTER | {"wires": ("database",)}, ("wires",), keeps=True)
def lossy_database(rig, chance):
    n = chance.choice([None, *range(len(rig.servers))])
    whose, wires = ("all", rig.database_wires) if n is None else (rig.servers[n].name, [rig.database_wires[n]])
    yield from lose_packets(rig, whose, wires)


@cell("lossy-workers", "of the packets between one worker of three and everybody else 5 % are lost and the others come 100-300 ms later, out of order, for 20 s",
      "all; no time-out for want of a heartbeat", {"late_s": 5, "normal_s": 10}, CLUSTER | {"wires": ("worker",)}, ("wires",), keeps=True)
def lossy_workers(rig, chance):
    n = chance.randrange(len(rig.workers))
    yield from lose_packets(rig, rig.workers[n].name, [rig.worker_wires[n]])


@cell("dropped-database", "all packets between one server of three and the database vanish for 2-60 s, one way or both", "all; that server does nothing",
      {"late_s": 5, "normal_s": 10}, CLUSTER | {"wires": ("database",)}, ("wires",))
def dropped_database(rig, chance):
    n = chance.randrange(len(rig.servers))
    yield from drop_packets(rig, chance, rig.servers[n].name, rig.database_wires[n])


@cell("dropped-worker", "all packets between one worker of three and everybody else vanish for 2-60 s, one way or both", "I3, I5; it kills its own work in time",
      {"late_s": 5, "normal_s": 10}, CLUSTER | {"wires": ("worker",)}, ("wires",))
def dropped_worker(rig, chance):
    n = chance.randrange(len(rig.workers))
    yield from drop_packets(rig, chance, rig.workers[n].name, rig.worker_wires[n])


# ---- disks


@cell("full-worker-disk", "the disk of one worker of three is full for 10 s", "I5; no crash", {"late_s": 5},
      CLUSTER | {"disks": True}, ("root",))
@cell("single-full-worker-disk", "as `full-worker-disk`, with one server over SQLite", "I5; no crash", {"late_s": 5}, SINGLE | {"disks": True}, ("root",))
def full_worker_disk(rig, chance):
    n = chance.randrange(len(rig.workers))
    rig.note(rig.workers[n].name)
    filler = fill(rig.folder / f"disk{n}")
    yield 10
    filler.unlink()


# ---- the database


@cell("restart-database", "MariaDB ends and is started again", "all; no result is lost", {"normal_s": 10}, short=True)
def restart_database(rig, chance):
    how = chance.choice([signal.SIGTERM, signal.SIGKILL])
    rig.note(how.name)
    rig.database.halt(how)
    yield chance.uniform(0, 3)
    rig.database.start()


@cell("database-away", "MariaDB is down for 30 s", "all; no result is lost", {"normal_s": 15})
def database_away(rig, chance):
    rig.database.halt(chance.choice([signal.SIGTERM, signal.SIGKILL]))
    yield 30
    rig.database.start()


@cell("stop-database", "SIGSTOP of MariaDB for 1-20 s", "all", {"normal_s": 10})
def stop_database(rig, chance):
    seconds = chance.choice([1, 5, 20])
    rig.note(f"for {seconds} s")
    rig.database.pause()
    yield seconds
    rig.database.resume()


@cell("cut-database", "one server of three is cut off from the database for 2-60 s, one way or both", "all; that server does nothing",
      {"late_s": 5, "normal_s": 10}, CLUSTER | {"links": ("database",)})
def cut_database(rig, chance):
    n, way, seconds = chance.randrange(len(rig.servers)), chance.choice([None, "up", "down"]), chance.choice([2, 10, 60])
    rig.note(f"{rig.servers[n].name}, {way or 'both ways'}, for {seconds} s")
    rig.database_links[n].hang(way)
    yield seconds
    rig.database_links[n].reset()
    rig.database_links[n].heal()


@cell("slow-database", "each byte between servers and database takes 200 ms longer", "no time-out for want of a heartbeat", {"late_s": 5},
      CLUSTER | {"links": ("database",)}, keeps=True)
def slow_database(rig, chance):
    for link in rig.database_links:
        link.slow(200)
    yield 10
    for link in rig.database_links:
        link.heal()


@cell("unknown-commit", "the connection is cut after a COMMIT was sent and before its answer", "all", {"late_s": 5},
      CLUSTER | {"links": ("database",)})
def unknown_commit(rig, chance):
    link = chance.choice(rig.database_links)
    before = link.dropped
    link.drop_next_commit()
    wait_for(lambda: link.dropped > before, 30, "a COMMIT passes")
    yield 0


def lost_against_another(failed):
    return failed.number in (1205, 1213)


@cell("held-rows", "a session holds rows of groups, tasks and runs for 1-20 s", "all; calls fail with nothing but 503", {"normal_s": 10}, answers=True)
def held_rows(rig, chance):
    table = chance.choice(["ax_group", "ax_task", "ax_task_log WHERE status < 10"])
    rig.note(table.split()[0])
    with rig.database.session() as session:
        def hold():
            session.query("START TRANSACTION")
            try:
                session.query(f"SELECT 1 FROM {table} FOR UPDATE")
                return True
            except Failed as e:
                if not lost_against_another(e):
                    raise
        wait_for(hold, 60, "it holds the rows")
        yield chance.choice([1, 5, 20])
        session.query("ROLLBACK")


HEAVIER = 2000  # rows that the rig's session changes first: the database undoes the transaction that changed less


@cell("deadlocks", "a session takes rows of runs, of tasks and of groups in the other order than servers do, all the time, for 20 s",
      "all; calls fail with nothing but 503", {"late_s": 5}, answers=True)
def deadlocks(rig, chance):
    def undone():
        return int(rig.rows("SHOW GLOBAL STATUS LIKE 'Innodb_deadlocks'")[0][1])
    before, until = undone(), time.monotonic() + 20
    rig.database.client("CREATE DATABASE IF NOT EXISTS scratch; USE scratch; CREATE TABLE IF NOT EXISTS weight (n INT PRIMARY KEY, times INT);"
                        f" INSERT IGNORE INTO weight SELECT seq, 0 FROM seq_1_to_{HEAVIER}", "mysql")
    with rig.database.session() as session:
        while time.monotonic() < until:
            session.query("START TRANSACTION")
            try:
                session.query("UPDATE scratch.weight SET times = times + 1")
                for table in ("ax_task_log WHERE status IN (2, 3) ORDER BY gid DESC", "ax_task ORDER BY id DESC", "ax_group ORDER BY group_key DESC"):
                    session.query(f"SELECT 1 FROM {table} FOR UPDATE")
            except Failed as e:
                if not lost_against_another(e):
                    raise
            session.query("ROLLBACK")
            yield chance.uniform(0, 0.3)
    rig.note(f"{undone() - before} transactions were undone")


@cell("no-connections", "all connections that the database lets in are the rig's, for 10 s", "all; calls fail with nothing but 503",
      {"normal_s": 10}, answers=True)
def no_connections(rig, chance):
    with rig.database.session() as admin, contextlib.ExitStack() as held:
        usual = admin.query("SELECT @@max_connections")[0][0]
        for _ in range(10):  # with this session one more than the least limit there is, as servers' account may have one beyond it
            held.enter_context(rig.database.session()).query("SELECT 1")
        admin.query("SET GLOBAL max_connections = 10")
        end_connections(rig, admin.query)
        yield 10
        admin.query(f"SET GLOBAL max_connections = {usual}")


@cell("full-database-disk", "the disk of MariaDB is full until somebody says so, and for 10 s more; MariaDB is started again if that ends it",
      "all; no server ends; calls fail with nothing but 503 and 507, which say when to try again", {"alarm_s": 10, "normal_s": 10},
      CLUSTER | {"database": "disk"}, ("root",), answers=True, refusals=(503, 507))
def full_database_disk(rig, chance):
    said, begun = [len(server.log()) for server in rig.servers], time.monotonic()
    filler = fill(rig.database_disk)
    wait_for(lambda: any("no space left" in server.log()[n:] for server, n in zip(rig.servers, said)), 60, "a server says that the disk is full")
    rig.figure("alarm_s", time.monotonic() - begun)
    yield 10
    filler.unlink()
    if rig.database.fell():  # MariaDB 10.11 does when a rollback finds no space
        rig.note("MariaDB ended")
        rig.database.start()


@cell("database-clock", "the clock of the database is set forward by an hour or half a minute, or back by it, or goes 200 ppm too fast for 20 s",
      "I1, I2, I14: none early, none twice", {}, CLUSTER | {"database": "clock"}, ("faketime",))
def database_clock(rig, chance):
    seconds = chance.choice([3600, -3600, 30, -30, 0])
    if seconds == 0:
        rig.note("too fast")
        rig.set_database_clock(0, 1.0002)
        yield 20
        rig.set_database_clock(0)
        return
    rig.note(f"by {seconds} s")
    rig.set_database_clock(seconds)
    yield 10
    if seconds == -3600:  # until it comes by again nothing is due
        rig.set_database_clock(3600)


@cell("database-failover", "MariaDB's replica stands still; 2 s later the primary is killed, and the replica takes over after 0-3 s",
      "all but what was committed in those seconds; no id of a run is used twice", {"normal_s": 10},
      CLUSTER | {"links": ("database",), "database": "replica"}, answers=True)
def database_failover(rig, chance):
    replica = rig.make_replica()
    lost_from = now_ms()
    replica.catch_up(rig.database)
    replica.stop_following()
    yield 2
    rig.database.kill()
    yield chance.uniform(0, 3)
    n = rig.replace_database(replica, lost_from)
    rig.note(f"{n} runs were lost")


def end_connections(rig, query):
    """Of the servers: those that come over the network."""
    for (connection,) in query("SELECT id FROM information_schema.processlist WHERE host LIKE '127.0.0.1:%'"):
        try:
            query(f"KILL {connection}")
        except Failed as e:
            assert e.number == 1094, e  # it has ended meanwhile


@cell("kill-connections", "every connection of the servers is ended by the database", "all", {"late_s": 5})
def kill_connections(rig, chance):
    end_connections(rig, rig.database.client)
    yield 0


# ---- Redis


@cell("lose-redis", "FLUSHALL, or Redis is killed and comes back empty after 0-5 s", "all: it holds hints only", {"late_s": 5},
      CLUSTER, short=True)
def lose_redis(rig, chance):
    if chance.random() < 0.5:
        rig.note("flushed")
        rig.queue.ask("FLUSHALL")
        yield 0
    else:
        rig.note("killed")
        rig.queue.kill()
        yield chance.uniform(0, 5)
        rig.queue.start()


@cell("stop-redis", "SIGSTOP of Redis for 5 s", "all", {"late_s": 5})
def stop_redis(rig, chance):
    rig.queue.pause()
    yield 5
    rig.queue.resume()


@cell("full-redis", "Redis has no memory left for 10 s", "all", {"late_s": 5})
def full_redis(rig, chance):
    rig.queue.ask("CONFIG", "SET", "maxmemory", 1)
    yield 10
    rig.queue.ask("CONFIG", "SET", "maxmemory", 0)


def due_sets(redis):
    return [key for key in redis.ask("KEYS", "*") if redis.ask("TYPE", key) == "zset"]


@cell("stale-redis", "Redis holds again what it held 5 s ago, as after the promotion of a stale replica", "all", {"late_s": 5})
def stale_redis(rig, chance):
    old = {key: rig.queue.ask("ZRANGE", key, 0, -1, "WITHSCORES") for key in due_sets(rig.queue)}
    yield 5
    rig.queue.ask("FLUSHALL")
    for key, members in old.items():
        if members:
            rig.queue.ask("ZADD", key, *[word for pair in zip(members[1::2], members[::2]) for word in pair])


@cell("cut-redis", "one server of three, or all, are cut off from Redis for 2-20 s, one way or both", "all", {"late_s": 5, "normal_s": 10},
      CLUSTER | {"links": ("queue",)})
def cut_redis(rig, chance):
    links = chance.choice([rig.queue_links, [chance.choice(rig.queue_links)]])
    way, seconds = chance.choice([None, "up", "down"]), chance.choice([2, 10, 20])
    rig.note(f"{len(links)} servers, {way or 'both ways'}, for {seconds} s")
    for link in links:
        link.hang(way)
    yield seconds
    for link in links:
        link.reset()
        link.heal()


@cell("slow-redis", "each byte between servers and Redis takes 200 ms longer", "all", {"late_s": 5},
      CLUSTER | {"links": ("queue",)})
def slow_redis(rig, chance):
    for link in rig.queue_links:
        link.slow(200)
    yield 10
    for link in rig.queue_links:
        link.heal()


@cell("redis-failover", "the primary behind Sentinel dies, its replica takes over, the old one comes back", "all", {"late_s": 5},
      CLUSTER | {"queue": "redis-sentinel"})
def redis_failover(rig, chance):
    old = wait_for(rig.queue.master, 30, "a master")
    rig.queue.fail_over()
    yield chance.uniform(0, 2)
    old.start()
    wait_for(lambda: rig.queue.master() and old.ask("ROLE")[0] == "slave", 30, "the old primary follows the new one")


@cell("move-slots", "slots that hold keys move to another node of the Redis Cluster", "all", {"late_s": 5},
      CLUSTER | {"queue": "redis-cluster"})
def move_slots(rig, chance):
    source = chance.choice([node for node in rig.queue.nodes if due_sets(node)])
    slot = source.ask("CLUSTER", "KEYSLOT", chance.choice(due_sets(source)))
    to = chance.choice([node for node in rig.queue.nodes if node is not source])
    rig.queue.begin_move(slot, to)
    yield chance.uniform(0, 2)
    rig.queue.end_move(slot, source, to)
    rig.note(f"slot {slot}")


# ---- everything


ANYTHING = CLUSTER | {"disks": os.geteuid() == 0}


def is_for_anything(cell, rig):
    """What the cluster of `anything` can be hurt by, and has recovered from before the next fault comes."""
    usual = cell.rig["store"] == "mariadb" and cell.rig["queue"] == "redis" and not {"database", "wires"} & cell.rig.keys()
    at_hand = set(cell.rig.get("links", ())) <= set(rig.links) and rig.with_clocks >= cell.rig.get("clocks", False)
    return usual and at_hand and cell.hurt not in (anything, overload) and not cell.missing()


@cell("anything", "one cluster for the whole time, hurt by any of the faults above, drawn anew each time", "all", {},
      ANYTHING | {"links": ("database", "queue", "worker"), "clocks": FAKETIME.exists()})
@cell("anything-direct", "as `anything`, but by none that needs a proxy or a clock of the rig's, which take more of a small machine than AX at hundreds of fires a second",
      "all", {}, ANYTHING)
def anything(rig, chance):
    fault = chance.choice([cell for cell in CELLS if is_for_anything(cell, rig)])
    rig.note(fault.name)
    yield from fault.hurt(rig, chance)
