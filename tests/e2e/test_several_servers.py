"""Several servers over one MariaDB: each fire runs once, and whatever happens to one of them or to the
database, nothing is lost or doubled."""

import contextlib
import http.client
import itertools
import json
import os
import socket
import subprocess
import threading
import time

import pytest

from ax_world import AX_CHECK, AX_SERVER, AX_SERVER_LATER, AX_SERVER_NEXT, ApiError, Worker, call, now_ms, wait_for
from mariadb import PASSWORD, USER, Failed, MariaDB

TASKS = 10
GAP_MS = 10500  # a server that could not look at its store for 10 s was away
numbers = itertools.count(1)


@pytest.fixture(scope="module")
def mariadb():
    with MariaDB() as db:
        yield db


class Servers:
    """Servers over a database of the test's own, and workers that dial all of them."""

    def __init__(self, world, mariadb, n, account=None):
        self.world, self.mariadb = world, mariadb
        self.database = mariadb.create_database(f"servers_{next(numbers)}")
        self.url, self.account = mariadb.url(self.database), account
        if account:  # one that may nothing but use its own database
            self.url = self.url.replace(f"{USER}:{PASSWORD}@", f"{account}:{account}@")
            mariadb.client(f"CREATE USER {account} IDENTIFIED BY '{account}'; GRANT ALL ON {self.database}.* TO {account};")
        self.all = []
        for _ in range(n):
            self.add()
        self.tasks = []

    def add(self):
        server = self.world.server(name=f"server{len(self.all) + 1}", options=["--store", self.url], start=False)
        if self.all:
            server.token, server.worker_token_file = self.all[0].token, self.all[0].worker_token_file
        server.start(60)
        self.all.append(server)
        return server

    @property
    def first(self):
        return self.all[0]

    def worker(self, name="w1", servers=None, options=()):
        worker = Worker(self.world, self.first, name, options)
        worker.args[worker.args.index("--server") + 1] = ",".join(s.url for s in servers or self.all)
        self.world.processes.append(worker)
        return worker.start()

    def make_tasks(self, n=TASKS, **fields):
        for _ in range(n):
            self.tasks.append(self.first.task(f"t{len(self.tasks) + 1}", argv=["/bin/true"], cron_expr="@every 1s", **fields))

    def rows(self, sql):
        return [[int(v) if v.lstrip("-").isdigit() else v for v in row] for row in self.mariadb.client(sql, self.database)]

    def ended(self, since=0):
        return self.rows(f"SELECT count(*) FROM ax_task_log WHERE status = 10 AND trigger_time >= {since}")[0][0]

    def wait_fires(self, rounds, seconds=60):
        """Until every task has run so often since now."""
        since = now_ms()
        wait_for(lambda: self.ended(since) >= rounds * len(self.tasks), seconds, lambda: f"{self.ended(since)} runs")

    def latest(self, since):
        """The greatest lateness of a fire since then, in ms."""
        return self.rows(f"SELECT max(create_time - trigger_time) FROM ax_task_log WHERE kind = 1 AND trigger_time >= {since}")[0][0]

    def settle(self, seconds=90):
        """Nothing fires any more, nothing lives; then ax-check, while the servers are at work."""
        live = [s for s in self.all if s.runs_now()]
        live[0].quiesce(seconds)
        done = subprocess.run([AX_CHECK, "--json", "--store", self.mariadb.url(self.database)], capture_output=True, text=True, timeout=120)
        said = json.loads(done.stdout)
        assert done.returncode == 0, done.stdout
        assert said["duplicates"] == 0 and said["unexplained"] == 0
        return said


@pytest.fixture
def servers(world, mariadb):
    return lambda n, **more: Servers(world, mariadb, n, **more)


def metric(server, name):
    status, text, _ = call(server.port, "GET", "/metrics", headers={"Authorization": f"Bearer {server.token}"})
    assert status == 200
    return float(next(line for line in text.splitlines() if line.startswith(name + " ")).split()[1])


# B001, B019, R6
def test_each_fire_is_one_servers(servers):
    s = servers(2)
    s.worker()
    s.make_tasks(20)
    s.wait_fires(8)
    # of what comes due at one instant the quicker one takes all it can: second by second chance shares the work, but nobody goes without
    wait_for(lambda: all(metric(server, "ax_fires_total") >= 2 * len(s.tasks) for server in s.all), 60,
             lambda: [metric(server, "ax_fires_total") for server in s.all])
    listed = s.first.get("/servers")["items"]
    assert [row["number"] for row in listed] == [0, 1] and len({row["server"] for row in listed}) == 2
    assert "failures" in [chore for row in listed for chore in row["chores"]]
    said = s.settle()
    assert said["missed"] == 0 and said["coalesced"] == 0
    # whoever comes first makes a fire; nobody else counts it
    fires = sum(metric(server, "ax_fires_total") for server in s.all)
    assert fires == s.rows("SELECT count(*) FROM ax_task_log WHERE kind = 1 AND shard = 0")[0][0]


# B025
def test_one_of_three_is_killed(servers):
    s = servers(3)
    s.worker()
    s.make_tasks()
    s.wait_fires(2)
    since = now_ms()
    s.all[1].kill()
    s.wait_fires(5)
    assert s.latest(since) <= 3000
    said = s.settle()
    assert said["missed"] == 0 and said["coalesced"] == 0


# B012, B019, B209
def test_rolling_restart(servers):
    s = servers(2)
    s.worker()
    s.make_tasks()
    s.wait_fires(2)
    since = now_ms()
    for server in s.all:
        assert server.term() == 0
        held = [row[0] for row in s.rows("SELECT until_time FROM ax_lease WHERE until_time > 0 AND holder NOT IN"
                                         " (SELECT incarnation FROM ax_server WHERE lease_time > 0)")]
        assert held == []  # given back, not left to lapse
        server.start(60)
        s.wait_fires(1)
    assert s.latest(since) <= 3000
    said = s.settle()
    assert said["missed"] == 0 and said["coalesced"] == 0


def become(server, program):
    assert server.term() == 0
    server.args[0] = program
    server.start(60)


def comes_back(s, server):
    """It dies, is started again, and works beside the other one."""
    server.kill()
    server.start(60)
    wait_for(lambda: metric(server, "ax_fires_total") > 0, 30)
    s.wait_fires(1)


# B207
def test_rolling_upgrade(servers):
    """To a release that expands the schema, then to one that has no room for the first one any more."""
    s = servers(2)
    s.worker()
    s.make_tasks()
    s.wait_fires(2)
    since = now_ms()
    one, two = s.all
    become(one, AX_SERVER_NEXT)
    assert s.rows("SELECT number, oldest FROM ax_migration ORDER BY number") == [[1, 1], [2, 1]]
    comes_back(s, two)
    become(two, AX_SERVER_NEXT)
    become(one, AX_SERVER_LATER)
    comes_back(s, two)
    become(two, AX_SERVER_LATER)
    s.wait_fires(1)
    assert s.latest(since) <= 3000

    assert one.term() == 0
    one.args[0] = AX_SERVER
    one.spawn()
    assert one.process.wait(30) == 1
    assert "schema version 3, this program knows version 1; use the newer program" in one.log()
    said = s.settle()
    assert said["missed"] == 0 and said["coalesced"] == 0


def reasons(server):
    status, said, _ = call(server.port, "GET", "/readyz", timeout=5)
    return said["reasons"] if status == 503 else []


def go_through(s, away):
    """The database is away for a while; calls meanwhile, and all is well again by itself."""
    s.mariadb.halt()
    wait_for(lambda: all(reasons(server) for server in s.all), 15)
    began = time.monotonic()
    for server in s.all:
        with pytest.raises(ApiError) as refused:
            server.task("not made", argv=["/bin/true"], cron_expr="@every 1s")
        assert refused.value.status == 503 and refused.value.code in ("unavailable", "uncertain")
    assert time.monotonic() - began < 10
    away()
    s.mariadb.start()
    wait_for(lambda: not any(reasons(server) for server in s.all), 30)


# B027
def test_database_is_restarted(servers):
    s = servers(2)
    s.worker()
    s.make_tasks()
    s.wait_fires(2)
    go_through(s, away=lambda: None)
    s.wait_fires(2)
    assert all(server.runs_now() for server in s.all)
    s.settle()


# B027, B033
def test_database_is_away_for_longer_than_a_gap(servers):
    """A run that is under way is not ended for the silence of the database."""
    s = servers(2)
    s.worker()
    s.make_tasks()
    long = s.first.task("long", argv=["/bin/sleep", "18"], timeout_seconds=120)
    run = s.first.wait_run(s.first.trigger(long), "RUNNING", 20)
    grown = [memory_kib(server) for server in s.all]
    go_through(s, away=lambda: wait_for(lambda: all(tick_age_ms(server) > GAP_MS for server in s.all), 20))
    assert s.first.wait_run(run, "SUCCESS", 60)["fence"] == 1
    s.wait_fires(2)
    assert all(memory_kib(server) < before + 32 * 1024 for server, before in zip(s.all, grown))
    for event in ("store_does_not_answer", "tick_failed", "dispatch_failed", "alerts_not_read"):
        assert all(len(server.events(event)) <= 2 for server in s.all), f"{event} is said each second"
    s.settle()


def tick_age_ms(server):
    return call(server.port, "GET", "/healthz", timeout=5)[1]["tick_age_ms"]


def memory_kib(server):
    text = open(f"/proc/{server.pid}/status").read()
    return int(text.split("VmRSS:")[1].split()[0])


def kill_connections(session, database):
    for (number,) in session.query(f"SELECT id FROM information_schema.processlist WHERE db = '{database}' AND id <> connection_id()"):
        try:
            session.query(f"KILL {number}")
        except Failed:
            pass  # it has ended meanwhile


def sockets(server):
    return len(os.listdir(f"/proc/{server.pid}/fd"))


# B027, B145
def test_connections_are_killed(servers):
    s = servers(2)
    s.worker()
    s.make_tasks()
    s.wait_fires(1)
    since, opened = now_ms(), [sockets(server) for server in s.all]
    with s.mariadb.session("mysql") as session:
        for _ in range(10):
            kill_connections(session, s.database)
            s.wait_fires(1)
    wait_for(lambda: all(sockets(server) <= before + 2 for server, before in zip(s.all, opened)), 10)  # none is left behind
    assert s.latest(since) <= 3000
    assert all(metric(server, 'ax_transactions_undone_total{by="connection"}') > 0 for server in s.all)
    s.settle()


def test_b003_a_database_that_only_reads_makes_no_fire(servers):
    """As a failover leaves it: nothing is fired from what cannot be written, and the server says so until it can."""
    s = servers(2, account="plain")
    s.worker()
    s.make_tasks()
    s.wait_fires(1)
    s.mariadb.client("SET GLOBAL read_only = 1")
    try:
        wait_for(lambda: all(any("read-only" in reason for reason in reasons(server)) for server in s.all), 30,
                 lambda: [reasons(server) for server in s.all])
        made = s.rows("SELECT max(gid) FROM ax_task_log")
        wait_for(lambda: all(tick_age_ms(server) > 3000 for server in s.all), 15)
        assert s.rows("SELECT max(gid) FROM ax_task_log") == made
    finally:
        s.mariadb.client("SET GLOBAL read_only = 0")
    wait_for(lambda: not any(reasons(server) for server in s.all), 30)
    s.wait_fires(2)
    s.settle()


def crowd_out(s, admin, crowd):
    """Takes whatever connections there are to be had; true when the servers have none left."""
    kill_connections(admin, s.database)
    try:
        while True:
            crowd.append(s.mariadb.session("mysql"))
            crowd[-1].query("SELECT 1")
    except (AssertionError, OSError):
        crowd.pop().end()
    return admin.query(f"SELECT count(*) FROM information_schema.processlist WHERE user = '{s.account}'") == [["0"]]


def test_b147_no_connection_is_to_be_had(servers):
    """The servers live on and are not ready; a time limit needs no database."""
    s = servers(2, account="crowded")
    worker = s.worker()
    s.make_tasks()
    run = s.first.trigger(s.first.task("limited", argv=["/bin/sleep", "60"], timeout_seconds=8, grace_seconds=1))
    s.first.wait_run(run, "RUNNING", 20)
    with s.mariadb.session("mysql") as admin, contextlib.ExitStack() as held:
        kept = admin.query("SELECT @@max_connections")[0][0]
        admin.query("SET GLOBAL max_connections = 10")
        try:
            crowd = []
            wait_for(lambda: crowd_out(s, admin, crowd), 30)
            for session in crowd:
                held.enter_context(session)
            wait_for(lambda: all(reasons(server) for server in s.all), 20)
            wait_for(lambda: not s.world.task_processes(), 15)  # ended by the worker, on time
        finally:
            admin.query(f"SET GLOBAL max_connections = {kept}")
    assert all("too many connections" in server.log() for server in s.all)
    wait_for(lambda: not any(reasons(server) for server in s.all), 30)
    assert s.first.wait_run(run, "TIMEOUT", 30)["reason"] == "timeout"
    s.wait_fires(2)
    assert all(server.runs_now() for server in s.all) and worker.runs_now()
    s.settle()


def test_b149_one_row_that_is_held_keeps_no_other_task_back(servers):
    s = servers(2)
    s.worker()
    s.make_tasks()
    s.wait_fires(1)
    held, others = s.tasks[0], s.tasks[1:]
    since = now_ms()
    with s.mariadb.session(s.database) as session:
        session.query("START TRANSACTION")
        session.query(f"SELECT 1 FROM ax_task WHERE id = {held['id']} FOR UPDATE")

        def fired(task):
            return s.rows(f"SELECT count(*) FROM ax_task_log WHERE task_id = {task['id']} AND kind = 1 AND trigger_time > {since}")[0][0]
        wait_for(lambda: all(fired(task) >= 8 for task in others), 60)
        assert s.latest(since) <= 5000
        assert fired(held) <= 1  # what was under way when it was taken
        assert all(5 < metric(server, "ax_oldest_overdue_seconds") < 60 for server in s.all)
        session.query("ROLLBACK")
    wait_for(lambda: fired(held) >= 1, 15)
    wait_for(lambda: all(metric(server, "ax_oldest_overdue_seconds") < 1 for server in s.all), 15)
    s.settle()


def test_what_a_killed_server_gave_out_is_given_out_again_at_once(servers):
    s = servers(2)
    s.worker()
    dying = s.all[1]
    dying.end()
    dying.env["AX_CRASH"] = "claim.before_reply:1:kill"
    dying.start(60)
    s.make_tasks()
    wait_for(lambda: not dying.runs_now(), 30)
    died = now_ms()
    s.wait_fires(2)
    fires = s.rows(f"SELECT fence, start_time - trigger_time, start_time FROM ax_task_log WHERE kind = 1 AND trigger_time < {died}")
    assert any(fence > 1 for fence, _, _ in fires)
    assert all(begun and late < 3000 for _, late, begun in fires), fires
    del dying.env["AX_CRASH"]
    dying.start(60)
    s.settle()


def test_a_group_whose_row_is_held_keeps_no_other_group_back(servers):
    s = servers(1)
    s.first.api("POST", "/groups", {"group_key": "held"})
    token = s.first.api("POST", "/tokens", {"name": "both", "worker_groups": ["default", "held"]})["token"]
    s.first.worker_token_file.write_text(token + "\n")
    s.worker(options=("--groups", "default:5,held:5"))
    held, other = s.first.task("held", argv=["/bin/true"], group_key="held"), s.first.task("other", argv=["/bin/true"])
    with s.mariadb.session(s.database) as session:
        session.query("START TRANSACTION")
        session.query("SELECT 1 FROM ax_group WHERE group_key = 'held' FOR UPDATE")
        waits = s.first.trigger(held)
        wait_for(lambda: s.rows("SHOW GLOBAL STATUS LIKE 'Innodb_row_lock_current_waits'")[0][1] > 0, 10)
        for _ in range(3):
            assert s.first.wait_run(s.first.trigger(other), "SUCCESS", 4)
        assert s.first.run(waits)["status"] == "WAITING"
        session.query("ROLLBACK")
    assert s.first.wait_run(waits, "SUCCESS", 10)


@contextlib.contextmanager
def nobody_is_let_in(s):
    """The database ends the servers' connections and takes no new ones."""
    with s.mariadb.session(s.database) as session:
        session.query(f"ALTER USER {USER}@'%' ACCOUNT LOCK")
        try:
            for row in session.query(f"SELECT id FROM information_schema.processlist WHERE db = '{s.database}' AND id <> connection_id()"):
                session.query(f"KILL {row[0]}")
            wait_for(lambda: all(reasons(server) for server in s.all), 15)
            yield
        finally:
            session.query(f"ALTER USER {USER}@'%' ACCOUNT UNLOCK")


def test_a_poll_waits_while_the_database_is_away(servers):
    """A worker that is sent away comes back late."""
    s = servers(1)
    token = s.first.worker_token_file.read_text().strip()

    def say(what, **body):
        return call(s.first.port, "POST", f"/worker/v1/{what}", {"worker": "by-hand", "incarnation": "0" * 16, **body},
                    {"Authorization": f"Bearer {token}"})
    assert say("register", groups=[{"group": "default", "pool_size": 1}], executors=["test"], version="test")[0] == 200
    run = s.first.task("t", executor="test", param={}, task_type="delay")
    run = s.first.api("POST", f"/tasks/{run['id']}/runs", {"delay_ms": 1000})
    answers = []
    with nobody_is_let_in(s):
        poll = threading.Thread(target=lambda: answers.append(say("poll", free=[{"group": "default", "slots": 1}], wait_ms=5000)))
        poll.start()
        s.first.wait_event("dispatch_failed")
    poll.join()
    status, said, _ = answers[0]
    assert status == 200 and [given["gid"] for given in said["runs"]] == [run["gid"]], said


# --- what people notice of there being several -----------------------------------------------------------------------


def listen(server, path, heard):
    """The events of a stream, until it ends."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=30)
    connection.request("GET", "/api/v1" + path, headers={"Authorization": f"Bearer {server.token}"})
    response = connection.getresponse()
    assert response.status == 200

    def read():
        event = None
        try:
            for line in response:
                word, _, value = line.decode().strip().partition(": ")
                if word == "event":
                    event = value
                elif word == "data":
                    heard.append((event, json.loads(value)))
        except OSError:
            pass
        heard.append(("end", {}))
    thread = threading.Thread(target=read, daemon=True)
    thread.start()

    def hang_up():
        connection.sock.shutdown(socket.SHUT_RDWR)
        thread.join()
    return hang_up


def test_streams_hear_what_another_server_did(servers):
    s = servers(2)
    wait_for(lambda: len(s.first.get("/servers")["items"]) == 2, 10)
    heard = []
    hang_up = listen(s.all[0], "/live", heard)
    made = []

    def told():  # what was made before the two had met is told to nobody
        made.append(s.all[1].task(f"told{len(made)}", argv=["/bin/true"])["id"])
        return wait_soon(lambda: any(e == "task" and d["id"] in made for e, d in heard), 1.5)
    wait_for(told, 15)
    task = s.all[1].task("last", argv=["/bin/true"])
    wait_for(lambda: ("task", {"id": task["id"]}) in heard, 1.5)
    hang_up()


def wait_soon(look, seconds):
    try:
        return wait_for(look, seconds)
    except AssertionError:
        return None


def test_runs_reach_workers_of_the_other_server(servers):
    s = servers(2)
    s.worker(servers=[s.all[1]])
    task = s.all[0].task("here", argv=["/bin/true"])
    s.all[0].wait_run(s.all[0].trigger(task), "SUCCESS", 15)
    run = s.all[0].trigger(task)
    done = s.all[0].wait_run(run, "SUCCESS", 15)
    assert done["dispatch_time"] - done["create_time"] <= 2000


def test_what_is_revoked_is_dead_everywhere(servers):
    s = servers(2)
    made = s.first.api("POST", "/tokens", {"name": "short", "role": "viewer"})
    mine = {"Authorization": f"Bearer {made['token']}"}
    assert call(s.all[1].port, "GET", "/api/v1/tasks", headers=mine)[0] == 200
    heard = []
    keep, s.all[1].token = s.all[1].token, made["token"]
    hang_up = listen(s.all[1], "/live", heard)
    s.all[1].token = keep
    s.first.api("DELETE", f"/tokens/{made['id']}")
    assert call(s.all[1].port, "GET", "/api/v1/tasks", headers=mine)[0] == 401
    wait_for(lambda: ("end", {}) in heard, 5)
    hang_up()


def test_a_credential_that_is_gone_is_gone_for_all_who_wait_with_it(servers):
    s = servers(1)
    made = s.first.api("POST", "/tokens", {"name": "shared", "worker_groups": ["default"]})
    answers = []

    def say(name, what, **body):
        return call(s.first.port, "POST", f"/worker/v1/{what}", {"worker": name, "incarnation": "0" * 16, **body},
                    {"Authorization": f"Bearer {made['token']}"})

    def wait(name):
        answers.append(say(name, "poll", free=[{"group": "default", "slots": 1}], wait_ms=5000)[0])

    names = ["a", "b", "c"]
    for name in names:
        assert say(name, "register", groups=[{"group": "default", "pool_size": 1}], executors=["exec"], version="test", tags={})[0] == 200
    task = s.first.task("nobody's", argv=["/bin/true"])
    threads = [threading.Thread(target=wait, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    wait_for(lambda: metric(s.first, "ax_parked_polls") == len(names))
    s.rows(f"DELETE FROM ax_token WHERE id = {made['id']}")  # no server says so
    run = s.first.trigger(task)
    for thread in threads:
        thread.join()
    assert answers == [401] * len(names)
    assert s.first.run(run)["status"] == "WAITING"


def test_a_key_counts_once_at_two_servers(servers):
    s = servers(2)
    task = s.first.task("once", argv=["/bin/true"])
    for n in range(10):
        answers, go = [], threading.Barrier(4)

        def ask(server):
            go.wait()
            answers.append(call(server.port, "POST", f"/api/v1/tasks/{task['id']}/runs", {},
                                {"Authorization": f"Bearer {server.token}", "Idempotency-Key": f"k{n}"}))
        threads = [threading.Thread(target=ask, args=(server,)) for server in s.all * 2]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {status for status, _, _ in answers} == {201}, answers
        assert len({said["gid"] for _, said, _ in answers}) == 1


def test_a_name_made_twice_at_once_under_one_key_is_one_answer(servers):
    s = servers(2)
    answers = []

    def make(server, n):
        body = {"group_key": f"g{n}"}
        answers.append((n, call(server.port, "POST", "/api/v1/groups", body,
                                {"Authorization": f"Bearer {server.token}", "Idempotency-Key": f"k{n}"})))

    for n in range(5):
        threads = [threading.Thread(target=make, args=(server, n)) for server in s.all * 3]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert [answer[0] for _, answer in answers] == [201] * 30, answers


def test_the_limit_on_sign_ins_holds_over_both(servers):
    s = servers(2)
    wrong = {"user": "admin", "password": "wrong horse battery"}

    def tries(server):
        return call(server.port, "POST", "/api/v1/session", wrong)[0]
    assert [tries(s.all[0]) for _ in range(5)] == [401] * 5
    wait_for(lambda: tries(s.all[1]) == 429, 10)


def test_one_administrator_however_many_links(world, mariadb):
    database = mariadb.create_database(f"servers_{next(numbers)}")
    both = [world.server(name=f"setup{n}", options=["--store", mariadb.url(database)], start=False) for n in range(2)]
    for server in both:
        server.token = "none yet"
        server.start(60)
    links = [server.log().split("/#/setup?token=")[1].split()[0] for server in both]
    who = {"user": "admin", "password": "correct horse battery"}
    assert call(both[0].port, "POST", "/api/v1/setup", {"token": links[0], **who})[0] == 201
    assert call(both[1].port, "GET", "/api/v1/setup")[1] == {"needed": False}
    assert call(both[1].port, "POST", "/api/v1/setup", {"token": links[1], **who, "user": "other"})[0] in (403, 409)


def test_a_binary_log_needs_a_setting_until_the_tables_are_made(world, tmp_path):
    with MariaDB(["--log-bin"]) as db:
        db.client("CREATE USER plain IDENTIFIED BY 'plain'; GRANT ALL ON ax.* TO plain")
        url = db.url().replace(f"{USER}:{PASSWORD}@", "plain:plain@")
        refused = subprocess.run([AX_SERVER, "--listen", "127.0.0.1:0", "--state", tmp_path / "refused", "--store", url],
                                 capture_output=True, text=True, timeout=60)
        assert refused.returncode == 1
        assert "SET GLOBAL log_bin_trust_function_creators = 1" in refused.stderr
        db.client("SET GLOBAL log_bin_trust_function_creators = 1")
        server = world.server(name="logged", options=["--store", url], start=False).start(60)
        db.client("SET GLOBAL log_bin_trust_function_creators = 0")
        assert server.term() == 0
        server.start(60)
