"""Servers and workers die at their crash points where there are two of each, over one MariaDB and one Redis: while one of
them is dead the other one does the work, nothing that the dead one left keeps it back, and what the store and the journals
say is in order each time. AX_POINTS=name,… takes those points alone."""

import contextlib
import itertools
import os
import re
import shutil
import socket
import subprocess
import time
import uuid

import pytest

from ax_world import AX_CHECK, Server, now_ms, wait_for
from mariadb import MariaDB
from redis import Redis
from sinks import HttpSink
from test_crash_points import (ELSEWHERE, FRESH, PATIENCE_S, SERVER_POINTS, WORKER_POINTS, Load, cancel_all, end_all,
                               needs_points)
from test_kills import check_journal_of_scripts, check_stub

AT_ONCE = 8  # points that one start may die at: the first that it passes
TAKES_OVER_S = 30
HANDS_OVER_S = 10
numbers = itertools.count(1)

# What servers of one database tell each other and lease, and what MariaDB is told of many runs at once, is passed here and
# nowhere else. Lives of ten runs that end in one report, and ten heartbeats in one, are not.
OF_SEVERAL = {"sql.lease_insert", "sql.lease_update", "sql.notice_insert", "sql.runs_given", "sql.runs_begun", "sql.runs_ended"}
NEVER = ELSEWHERE - OF_SEVERAL
ONCE = FRESH | {"sql.lease_insert"}  # once in a database's life: a test of their own

# What `make test` has time for: all that is no statement and no call, and the statements of a run's life.
SHORT = re.compile(r"sql\.(server_\w+|lease_\w+|notice_insert|task_advance|run_(insert|given|begun|ended)|attempt_put|output_insert)$|(?!sql\.|/)")


@pytest.fixture(scope="module")
def stores():
    with MariaDB() as database, Redis() as queue:
        yield database, queue


class Client(Server):
    """Of two servers: calls the one that is to die, and the other one while nobody listens there."""

    def __init__(self, world, servers):
        self.world, self.servers, self.token = world, servers, servers[0].token

    @property
    def port(self):
        def listens(server):
            with socket.socket() as s:
                return s.connect_ex(("127.0.0.1", server.port)) == 0
        return next((server.port for server in self.servers if listens(server)), self.servers[0].port)


class LoadOfMany(Load):
    """And many runs that take the same steps at the same time: this database has them written at once."""

    def click_many(self):
        self.api("POST", f"/tasks/{self.by_hand['id']}/runs/batch", {"runs": [{"delay_ms": 300}] * 40}, uuid.uuid4().hex)


class Two:
    """Two servers and two workers that dial both, with the load of test_crash_points.py."""

    def __init__(self, world, stores):
        self.world, (self.mariadb, self.redis) = world, stores
        number = next(numbers)
        self.database, self.queue = self.mariadb.create_database(f"two_{number}"), self.redis.url(number)
        self.sink, self.stub = HttpSink(), world.stub()
        self.servers = [self.new_server(n) for n in (1, 2)]
        self.workers = []

    def new_server(self, n):
        return self.world.server(start=False, name=f"server{n}", options=[
            "--store", self.mariadb.url(self.database), "--queue", self.queue, "--alert-allow", f"127.0.0.1:{self.sink.port}"])

    def start(self, server):
        """It has the credentials of the first one, which set itself up."""
        server.token, server.worker_token_file = self.servers[0].token, self.servers[0].worker_token_file
        return server.start(60)

    def start_all(self, load):
        for server in self.servers:
            self.start(server)
        for name in ("w1", "w2"):
            worker = self.world.worker(self.servers[0], start=False, name=name)
            worker.args[worker.args.index("--server") + 1] = ",".join(s.url for s in self.servers)
            self.workers.append(worker.start())
        self.load = load(self.world, Client(self.world, list(self.servers)), self.stub, self.sink)
        return self

    def rows(self, sql):
        return self.mariadb.client(sql, self.database)

    def check(self):
        """ax-check while servers and workers are at work: by what the journals said before the store was read."""
        journals = [shutil.copy(worker.journal, worker.journal.with_suffix(".then")) for worker in self.workers]
        done = subprocess.run([AX_CHECK, "--store", self.mariadb.url(self.database), *(["--journal", *journals] if journals else [])],
                              capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stdout + done.stderr


def goes_on(two, since):
    """A fire that came due since then has begun: whoever is left made it, gave it out and took it."""
    def look():
        two.load.click()
        return two.rows(f"SELECT gid FROM ax_task_log WHERE kind = 1 AND trigger_time >= {since} AND start_time > 0 LIMIT 1")
    wait_for(look, TAKES_OVER_S, "nobody takes over")


def hand_over(two, other, victim):
    """What is one server's at a time is the other one's, which gives it back when it ends."""
    assert other.term(30) == 0

    def taken():
        two.load.click()
        return not victim.runs_now() or not two.rows("SELECT 1 FROM ax_lease WHERE until_time = 0 AND name = 'failures'")
    wait_for(taken, 30, "nobody takes what the other one gave back")
    other.start(60)


def die_at_one(two, victim, points):
    """Starts it with these points; the one that it died at, or None when it passed none in time."""
    victim.env["AX_CRASH"] = ",".join(f"{point}:1:kill" for point in points)
    victim.log_path.unlink(missing_ok=True)
    began = time.monotonic()
    victim.spawn()
    others = [server for server in two.servers if server is not victim] if victim in two.servers else []
    while victim.runs_now():
        two.load.click()
        if time.monotonic() > began + PATIENCE_S:
            victim.kill()
            return None
        if time.monotonic() > began + HANDS_OVER_S and others:
            hand_over(two, others.pop(), victim)
        time.sleep(0.02)  # the pace of somebody who clicks fast
    died = now_ms()
    at = re.search(r"^crash point (\S+)$", victim.log(), re.M)
    assert at and victim.process.returncode == -9, victim.log()[-3000:]
    took = time.monotonic()
    goes_on(two, died)
    taken = time.monotonic()
    two.check()
    print(f"died after {took - began:5.2f} s, taken over {taken - took:5.2f} s, checked {time.monotonic() - taken:5.2f} s  {at[1]}")
    return next(point for point in points if point.lower() == at[1].lower())


def die_at_each(two, victim, points):
    """What it did not pass."""
    left = list(points)
    victim.kill()
    while left:
        at = die_at_one(two, victim, left[:AT_ONCE])
        if at is None:
            break
        left.remove(at)
    victim.env.pop("AX_CRASH", None)
    victim.start()
    return left


def cancel_reruns(server):
    """What is retried all at once comes one after the other: more than anybody waits for."""
    return cancel_all(server, [run for run in server.items("/runs", live="true") if run["rerun_of"]])


def settle(two):
    load, server = two.load, two.load.server
    runs = end_all(server, load, lambda: cancel_reruns(server))
    wait_for(lambda: not two.world.task_processes(), 10, two.world.task_processes)
    assert [process.term(60) for process in (*two.workers, *two.servers)] == [0] * 4
    check_journal_of_scripts(load.notes, runs)
    check_stub(two.stub, runs)
    assert not [attempt for worker in two.workers for attempt in (worker.state / "attempts").iterdir()]
    two.check()


def hunt(world, stores, choose, load=Load):
    two = Two(world, stores)
    try:
        two.start_all(load)
        wanted = os.environ.get("AX_POINTS")
        choose = choose if wanted is None else wanted.split(",").__contains__
        points = [p for p in SERVER_POINTS if p not in NEVER | ONCE and choose(p)]
        half = (len(points) + 1) // 2
        missed = []
        for victim, some in zip(two.servers, (points[:half], points[half:])):
            two.load.server.servers.sort(key=lambda server: server is not victim)
            missed += die_at_each(two, victim, some)
        missed += die_at_each(two, two.workers[0], [p for p in WORKER_POINTS if choose(p)])
        settle(two)
        assert missed == [], f"not passed: {' '.join(missed)}"
    finally:
        two.sink.close()


@needs_points
@pytest.mark.slow
def test_the_other_one_takes_over(world, stores):
    hunt(world, stores, SHORT.match)


@needs_points
@pytest.mark.soak
def test_the_other_one_takes_over_at_every_point(world, stores):
    hunt(world, stores, lambda point: True, LoadOfMany)


@needs_points
@pytest.mark.parametrize("point", sorted(ONCE))
def test_the_first_start(world, stores, point):
    """What is done once in a database's life is half done by a server that dies of it, and the other one's to do."""
    two = Two(world, stores)
    try:
        one, other = two.servers
        one.env["AX_CRASH"] = f"{point}:1:kill"
        with contextlib.suppress(AssertionError, OSError):  # it dies while it starts, or is set up, or soon after
            one.start(60)
        wait_for(lambda: not one.runs_now(), 10)
        assert f"crash point {point}\n" in one.log()
        other.token = one.token
        other.start(60)
        del one.env["AX_CRASH"]
        one.token = other.token
        assert one.start(60).get("/overview")
        two.check()
    finally:
        two.sink.close()
