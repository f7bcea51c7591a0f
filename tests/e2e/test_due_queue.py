"""The due queue in Redis: servers fire through it, and whatever happens to it costs lateness alone."""

import re
import time

import pytest

from ax_server import Server, wait_for
from mariadb import MariaDB
from redis import KINDS, SECURE, STRICT, Redis, RedisCluster, RedisSentinel, make_certificates

GROUPS = 8
EVERY_MS = 1000
LATE_MS = 5000  # the promise: later than that only while the database is away
READY_S = 20


def metrics(client):
    lines = client.get("/metrics").text.decode().splitlines()
    return {line.split()[0]: float(line.split()[1]) for line in lines if not line.startswith("#")}


def leads(client):
    return metrics(client).get("ax_due_queue_leads") == 1


def make_tasks(client, n=GROUPS, cron="@every 1s"):
    """One task in each of some groups, so that several shards have members."""
    ids = []
    for i in range(n):
        client.post("/api/v1/groups", {"group_key": f"g{i}"}).ok(201)
        ids.append(client.post("/api/v1/tasks", {
            "group_key": f"g{i}", "task_name": "t", "cron_expr": cron, "executor_key": "nobody", "overlap": "allow",
            "overlap_max": 1000}).ok(201)["id"])
    return ids


def runs_of(client, task_id):
    runs, before = [], ""
    while True:
        page = client.get(f"/api/v1/runs?task_id={task_id}&limit=200{before}").ok()
        runs += page["items"]
        if not page.get("next"):
            return runs
        before = f"&after={page['next']}"


def check_fires(client, ids, least):
    """No fire is missing between the first and the last, none is doubled; how late the latest of them was."""
    worst = 0
    for task_id in ids:
        runs = runs_of(client, task_id)
        fires = sorted(run["trigger_time"] for run in runs)
        assert len(fires) >= least, len(fires)
        assert all(b - a == EVERY_MS for a, b in zip(fires, fires[1:])), fires
        worst = max(worst, *(run["create_time"] - run["trigger_time"] for run in runs))
    return worst


class One:
    """A server with its embedded database, and a Redis."""

    def __init__(self, folder, redis, *options):
        self.server = Server(folder, "--queue", redis.url(), *redis.tls_options(), *options)
        self.client = self.server.set_up()
        wait_for(lambda: leads(self.client), READY_S)
        self.ids = make_tasks(self.client)

    def fires(self):
        return metrics(self.client)["ax_fires_total"]

    def fire_on(self, seconds):
        """Until so many more seconds' fires were made."""
        wanted = self.fires() + seconds * len(self.ids)
        wait_for(lambda: self.fires() >= wanted, seconds + 30, 0.05)

    def end(self, least):
        worst = check_fires(self.client, self.ids, least)
        self.server.stop()
        return worst


@pytest.fixture
def one(tmp_path):
    made = []

    def make(redis, *options):
        made.append(One(tmp_path / "server", redis, *options))
        return made[-1]

    yield make
    for server in (one.server for one in made):
        if server.process.poll() is None:
            server.kill()


# R20, R25
@pytest.mark.parametrize("kind", KINDS)
def test_it_fires_through_the_queue(one, kind):
    with KINDS[kind]() as redis:
        it = one(redis)
        it.fire_on(5)
        told = metrics(it.client)
        assert told["ax_due_queue_taken_total"] >= 5 * GROUPS
        assert told["ax_redis_refused_total"] == 0
        assert it.end(5) < 500
        log = it.server.log.read_text()
        assert "s3cret" not in log and "queue_lags" not in log


def test_an_account_whose_password_is_in_a_file(tmp_path):
    user, password = SECURE["user"]
    (tmp_path / "password").write_text(password + "\n")
    with Redis(user=(user, password)) as redis:
        server = Server(tmp_path / "server", "--queue", f"redis://{user}@{redis.address}/0", "--queue-password-file", tmp_path / "password")
        try:
            client = server.set_up()
            wait_for(lambda: leads(client), READY_S)
            assert password not in server.log.read_text()
            server.stop()
        finally:
            if server.process.poll() is None:
                server.kill()


@pytest.mark.parametrize("protocols", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize("whose, said", [
    ("none", "--queue-cert and --queue-key"), ("another authority's", "does not trust whoever signed the certificate of --queue-cert")])
def test_a_redis_that_wants_a_certificate(tmp_path, protocols, whose, said):
    """It is told which of the options is amiss; the database decides."""
    make_certificates(tmp_path)
    mine = ["--queue-cert", tmp_path / "cert.pem", "--queue-key", tmp_path / "key.pem"] if whose != "none" else []
    with Redis(**STRICT, options=[f'tls-protocols "{protocols}"']) as redis:
        server = Server(tmp_path / "server", "--queue", redis.url(), "--queue-ca", redis.authority, *mine)
        try:
            client = server.set_up()
            ids = make_tasks(client)
            wait_for(lambda: metrics(client)["ax_fires_total"] >= 3 * len(ids))
            assert any(said in event["message"] for event in server.events("redis_lost")), server.log.read_text()
            assert not server.events("redis_ready") and "cmdstat_auth" not in redis.ask("INFO", "commandstats")
            assert check_fires(client, ids, 3) < 1500
            server.stop()
        finally:
            if server.process.poll() is None:
                server.kill()


@pytest.mark.parametrize("user", ["default", "ax-there"])
def test_sentinels_with_an_account_of_their_own(one, tmp_path, user):
    """Theirs is not that of the Redis that they watch; with it a new primary is found, too."""
    (tmp_path / "password").write_text("s3ntinel\n")
    who = [] if user == "default" else ["--queue-sentinel-user", user]
    with RedisSentinel(user=SECURE["user"], account=(user, "s3ntinel")) as redis:
        it = one(redis, *who, "--queue-sentinel-password-file", tmp_path / "password")
        wait_for(lambda: any(f" user={user} " in sentinel.ask("CLIENT", "LIST", "TYPE", "pubsub") for sentinel in redis.sentinels))
        it.fire_on(2)
        redis.fail_over()
        wait_for(lambda: leads(it.client), READY_S)
        it.fire_on(3)
        assert it.end(6) < LATE_MS
        log = it.server.log.read_text()
        assert "s3cret" not in log and "s3ntinel" not in log


@pytest.mark.parametrize("password, said", [(None, "NOAUTH"), ("s3ntine1", "WRONGPASS")])
def test_sentinels_that_do_not_let_it_in(tmp_path, password, said):
    (tmp_path / "password").write_text(f"{password}\n")
    options = ["--queue-sentinel-password-file", tmp_path / "password"] if password else []
    with RedisSentinel(user=SECURE["user"], account=("default", "s3ntinel")) as redis:
        server = Server(tmp_path / "server", "--queue", redis.url(), *options)
        try:
            client = server.set_up()
            ids = make_tasks(client)
            wait_for(lambda: metrics(client)["ax_fires_total"] >= 3 * len(ids))
            lost = server.events("redis_lost")
            assert lost and all(event["message"].startswith(f"this sentinel: {said}") for event in lost)
            assert not server.events("redis_ready") and "s3ntine" not in server.log.read_text()
            assert check_fires(client, ids, 3) < 1500
            server.stop()
        finally:
            if server.process.poll() is None:
                server.kill()


@pytest.mark.parametrize("whose, said", [("another authority's", "certificate"), ("another host's", "mismatch")])
def test_a_certificate_that_is_not_to_be_trusted(tmp_path, whose, said):
    """It is told nothing, least of all the password; the database decides."""
    with Redis(**SECURE, options=["bind 127.0.0.1 127.0.0.2"]) as redis:
        url, authority = redis.url(), redis.authority
        if whose == "another host's":
            url = url.replace("127.0.0.1", "127.0.0.2")
        else:
            make_certificates(tmp_path)
            authority = tmp_path / "ca.pem"
        server = Server(tmp_path / "server", "--queue", url, "--queue-ca", authority)
        try:
            client = server.set_up()
            ids = make_tasks(client)
            wait_for(lambda: metrics(client)["ax_fires_total"] >= 3 * len(ids))
            assert all(said in event["message"] for event in server.events("redis_lost")) and server.events("redis_lost")
            assert not server.events("redis_ready") and "cmdstat_auth" not in redis.ask("INFO", "commandstats")
            assert check_fires(client, ids, 3) < 1500
            server.stop()
        finally:
            if server.process.poll() is None:
                server.kill()


def test_a_flushed_queue(one):
    with Redis() as redis:
        it = one(redis)
        for _ in range(3):
            it.fire_on(2)
            redis.ask("FLUSHALL")
            wait_for(lambda: leads(it.client) and redis.ask("KEYS", "ax:*:due"), READY_S)
        it.fire_on(2)
        assert it.end(8) < LATE_MS


@pytest.mark.parametrize("how", ["restart", "away"])
def test_redis_ends(one, how):
    with Redis() as redis:
        it = one(redis)
        it.fire_on(2)
        redis.kill()
        if how == "away":
            wait_for(lambda: not leads(it.client))
            it.fire_on(5)  # the database alone
        redis.start()
        wait_for(lambda: leads(it.client), READY_S)
        taken = metrics(it.client)["ax_due_queue_taken_total"]
        it.fire_on(3)
        assert metrics(it.client)["ax_due_queue_taken_total"] > taken
        assert it.end(5) < LATE_MS


# B033
def test_redis_hangs(one):
    with Redis() as redis:
        it = one(redis)
        it.fire_on(2)
        redis.pause()
        it.fire_on(5)
        assert not leads(it.client)
        redis.resume()
        wait_for(lambda: leads(it.client), READY_S)
        it.fire_on(2)
        assert it.end(9) < LATE_MS


# B032
def test_redis_is_full(one):
    with Redis() as redis:
        it = one(redis)
        it.fire_on(2)
        redis.ask("CONFIG", "SET", "maxmemory", "1")
        it.fire_on(5)
        assert not leads(it.client)
        redis.ask("CONFIG", "SET", "maxmemory", "0")
        wait_for(lambda: leads(it.client), READY_S)
        it.fire_on(2)
        assert metrics(it.client)["ax_redis_refused_total"] > 0
        assert it.end(9) < LATE_MS


def test_each_refusal_is_told_once(one):
    """Keys of another kind are refused with a text of its own for each command, all the time."""
    with Redis() as redis:
        it = one(redis)
        before = metrics(it.client)["ax_redis_refused_total"]
        for shard in range(16):
            redis.ask("SET", f"ax:{{s{shard:02}}}:due", "not a set")
        wait_for(lambda: metrics(it.client)["ax_redis_refused_total"] > before + 100, 30)
        told = [event["message"] for event in it.server.events("redis_refused")]
        assert told and len(told) == len(set(told)), told
        redis.ask("FLUSHALL")
        wait_for(lambda: leads(it.client), READY_S)


def test_what_a_dead_server_took_is_late_by_less_than_3_s(one):
    """It took what is due, so that nobody sees it for 5 s, and died."""
    with Redis() as redis:
        it = one(redis)
        for _ in range(3):
            it.fire_on(2)
            for key in redis.ask("KEYS", "ax:*:due"):
                for member in redis.ask("ZRANGE", key, 0, -1):
                    if member.startswith("t"):
                        redis.ask("ZINCRBY", key, 5000 * 16, member)
        it.fire_on(3)
        assert it.end(9) < 3000


def test_an_old_copy_comes_back(one):
    with Redis(options=["dbfilename old.rdb"]) as redis:
        it = one(redis)
        it.fire_on(1)
        redis.ask("SAVE")
        late = it.client.post("/api/v1/tasks", {
            "group_key": "g0", "task_name": "late", "cron_expr": "@every 1s", "executor_key": "nobody",
            "overlap": "allow", "overlap_max": 1000}).ok(201)["id"]
        it.ids.append(late)
        it.fire_on(3)
        redis.restart()  # with what was saved
        assert redis.ask("KEYS", "ax:*:due")
        wait_for(lambda: leads(it.client), READY_S)
        it.fire_on(3)
        assert it.end(5) < LATE_MS


def test_the_primary_fails(one):
    with RedisSentinel() as redis:
        it = one(redis)
        it.fire_on(2)
        redis.fail_over()
        wait_for(lambda: leads(it.client), READY_S)
        it.fire_on(3)
        assert it.end(6) < LATE_MS


def test_a_primary_of_the_cluster_fails(one):
    with RedisCluster(replicas=True) as redis:
        it = one(redis)
        it.fire_on(2)
        redis.fail_over(next(node for node in redis.nodes if node.ask("KEYS", "ax:*:due")))
        wait_for(lambda: metrics(it.client)["ax_redis_losses_total"] > 0 and leads(it.client), READY_S)
        taken = metrics(it.client)["ax_due_queue_taken_total"]
        it.fire_on(3)
        assert metrics(it.client)["ax_due_queue_taken_total"] >= taken + 2 * GROUPS
        assert it.end(6) < LATE_MS


def test_slots_move_under_load(one):
    """Every slot that holds a queue goes from node to node, and is between two for a while: nothing is refused, nothing is late."""
    with RedisCluster() as redis:
        it = one(redis)
        slots = {node.ask("CLUSTER", "KEYSLOT", key) for node in redis.nodes for key in node.ask("KEYS", "ax:*:due")}
        assert len(slots) == 16
        nodes, moves = redis.nodes, []
        for slot in slots:
            to = nodes[(nodes.index(redis.owner(slot)) + 1) % len(nodes)]
            moves.append((slot, redis.begin_move(slot, to), to))
        asked = redis.asked()
        it.fire_on(3)
        wait_for(lambda: redis.asked() - asked >= GROUPS)  # it took from where it was sent to
        for move in moves:
            redis.end_move(*move)
        it.fire_on(3)
        told = metrics(it.client)
        assert told["ax_redis_refused_total"] == 0
        assert it.end(6) < LATE_MS


def test_another_installation_is_left_alone(one, tmp_path):
    with Redis() as redis:
        it = one(redis)
        other = Server(tmp_path / "other", "--queue", redis.url())
        client = other.set_up()
        wait_for(lambda: other.events("queue_foreign"))
        ids = make_tasks(client)
        it.fire_on(6)
        assert not leads(client) and leads(it.client)
        assert check_fires(client, ids, 4) < LATE_MS
        other.stop()
        assert it.end(6) < 500


def test_a_start_without_redis(tmp_path):
    redis = Redis()
    redis.kill()
    server = Server(tmp_path / "server", "--queue", redis.url())
    try:
        client = server.set_up()
        ids = make_tasks(client)
        wait_for(lambda: metrics(client)["ax_fires_total"] >= 3 * len(ids))
        assert server.events("redis_lost") and server.events("queue_of_one")
        redis.start()
        wait_for(lambda: leads(client), READY_S)
        assert check_fires(client, ids, 3) < 1500
        server.stop()
    finally:
        redis.stop()
        if server.process.poll() is None:
            server.kill()


@pytest.mark.parametrize("options, said", [
    (["--queue", "redis://:s3cret@h:1/x"], "number of the database"),
    (["--queue", "memcached://h"], "must be redis://"),
    (["--queue", "redis://s3cret@h:1"], "names a user without a password"),
    (["--queue-password-file", "/nonexistent"], "goes with --queue redis"),
    (["--queue", "redis://ax:s3cret@h:1", "--queue-password-file", "/nonexistent"], "--queue (or AX_QUEUE) holds another"),
    (["--shards", "16"], "numbers from 0 to 15"),
    (["--shards", "3-1"], "numbers from 0 to 15"),
])
def test_wrong_options_are_told(tmp_path, options, said):
    server = Server(tmp_path, *options, wait=False)
    assert server.process.wait(10) != 0
    text = server.log.read_text() + server.out.read_text()
    assert said in text and "s3cret" not in text


def taken_by_connection(redis):
    """The shards that each connection has taken from, by the commands that Redis noted."""
    shards = {}
    for _, _, _, words, address, *_ in redis.ask("SLOWLOG", "GET", "-1"):
        if words[0] == "EVAL" and "'-inf'" in words[1]:
            shards.setdefault(address, set()).add(int(re.search(r"\{s(\d+)\}", words[3])[1]))
    return list(shards.values())


# R8, R25
def test_two_servers_share_a_database_and_a_queue(tmp_path):
    with MariaDB() as database, Redis(options=["slowlog-log-slower-than 0", "slowlog-max-len 100000"]) as redis:
        options = ["--store", database.url(), "--queue", redis.url()]
        a = Server(tmp_path / "a", *options, "--shards", "0-7")
        b = None
        try:
            client = a.set_up()
            b = Server(tmp_path / "b", *options, "--shards", "8-15")
            other = b.client(cookie=client.cookie, csrf=client.csrf)
            wait_for(lambda: leads(client) and leads(other), READY_S)
            ids = make_tasks(client, 24)
            wait_for(lambda: metrics(client)["ax_fires_total"] + metrics(other)["ax_fires_total"] >= 5 * len(ids), 30)
            taken = [metrics(c)["ax_due_queue_taken_total"] for c in (client, other)]
            assert min(taken) >= len(ids), taken
            assert sorted(taken_by_connection(redis), key=min) == [set(range(8)), set(range(8, 16))]  # each had its shards
            b.kill()  # nobody is there for 8-15
            begun = metrics(client)["ax_fires_total"]
            wait_for(lambda: metrics(client)["ax_fires_total"] >= begun + 6 * len(ids), 30)
            assert check_fires(client, ids, 8) < LATE_MS
            a.stop()
        finally:
            for server in (a, b):
                if server is not None and server.process.poll() is None:
                    server.kill()


# R14
def test_a_lock_in_redis_is_its_holders_and_ends_by_itself(one):
    """Taken in one step with a random token and an end; another's is neither taken, nor prolonged, nor given back."""
    lock = "ax:{load-ffff}:lock"
    with Redis() as redis:
        redis.ask("CONFIG", "SET", "slowlog-log-slower-than", "0")
        redis.ask("CONFIG", "SET", "slowlog-max-len", "10000")
        it = one(redis)
        taken = next(words for _, _, _, words, *_ in redis.ask("SLOWLOG", "GET", "-1") if words[0].upper() == "SET" and words[1] == lock)
        assert len(taken[2]) >= 16 and taken[3:] == ["NX", "PX", "15000"]
        redis.ask("FLUSHALL")
        assert redis.ask("SET", lock, "another's", "NX", "PX", "6000") == "OK"
        wait_for(lambda: not leads(it.client))
        it.fire_on(3)  # by the database
        assert redis.ask("GET", lock) == "another's" and 0 < redis.ask("PTTL", lock) <= 3500
        wait_for(lambda: leads(it.client), READY_S)
        wait_for(lambda: redis.ask("GET", lock) is None, READY_S)
        assert it.end(3) < LATE_MS
