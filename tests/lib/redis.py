"""Redis servers of one's own: in temporary folders, on free ports of the loopback, gone when their owner is.

    with Redis() as redis:                         one server; Redis(tls=True), Redis(user=("ax", "secret")); tls=MUTUAL: it asks
                                                   for a certificate, too
        redis.ask("PING") == "PONG"
    with RedisCluster() as cluster:                three masters; with replicas=True a replica of each
    with RedisSentinel() as sentinels:             a master, a replica, three sentinels; both of these take tls and user, too
    python3 tests/lib/redis.py KIND COMMAND ARG…   runs COMMAND with its URL in AX_TEST_REDIS, and the authority of its
                                                   certificate in AX_TEST_REDIS_CA; KIND: one of KINDS
"""

import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import time

from started import Started, free_port

START_S = 20
MASTER = "ax"
MUTUAL = "mutual"
# What an account of AX needs, and no more: docs/queue.md shows the same lines.
ACL = ("~ax:* resetchannels &ax:* -@all +zadd +zrem +zrange +zrangebyscore +zcount +set +get +del +pexpire +eval"
       " +publish +subscribe +ping +select +role +asking +cluster|slots")
SENTINEL_ACL = "resetchannels &+switch-master -@all +ping +subscribe +sentinel|get-master-addr-by-name"


class Refused(AssertionError):
    """An answer that is an error."""


def wait_for(condition, seconds=START_S, every=0.02):
    end = time.monotonic() + seconds
    while True:
        try:
            if value := condition():
                return value
        except (OSError, Refused):
            pass
        assert time.monotonic() < end, f"not within {seconds} s"
        time.sleep(every)


def make_certificates(folder):
    """ca.pem, cert.pem and key.pem of 127.0.0.1."""
    def openssl(*words):
        done = subprocess.run(["openssl", *words], cwd=folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr

    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    openssl("req", "-x509", *key, "-subj", "/CN=AX test authority", "-keyout", "ca.key", "-out", "ca.pem")
    openssl("req", *key, "-subj", "/CN=redis", "-keyout", "key.pem", "-out", "cert.csr")
    (folder / "san").write_text("subjectAltName=IP:127.0.0.1,DNS:localhost\n")
    openssl("x509", "-req", "-in", "cert.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
            "-extfile", "san", "-out", "cert.pem")


def url_head(kind, tls, user):
    """What comes before the addresses. `kind`: "", "-cluster", "-sentinel"."""
    who = f"{user[0]}:{user[1]}@" if user else ""
    return f"redis{'s' if tls else ''}{kind}://{who}"


def read_answer(stream):
    line = stream.readline()
    if not line.endswith(b"\r\n"):
        raise ConnectionError("it ended the connection")
    kind, rest = line[:1], line[1:-2].decode()
    if kind == b"-":
        raise Refused(rest)
    if kind == b"+":
        return rest
    if kind == b":":
        return int(rest)
    if kind == b"$":
        return None if rest == "-1" else stream.read(int(rest) + 2)[:-2].decode()
    return [read_answer(stream) for _ in range(int(rest))]


class Redis(Started):
    """One process. It keeps its port over restarts, and nothing on disk unless `options` say so."""

    program = "redis-server"
    start_s = START_S
    password = None  # of the user who may do everything

    def __init__(self, tls=False, user=None, options=(), like=None):
        """`like`: another one, whose certificate this one has, too."""
        self.tls, self.user, self.options, self.like = tls, user, list(options), like
        super().__init__("ax-redis-")

    def install(self):
        if self.tls and self.like is None:
            make_certificates(self.folder)

    @property
    def certificates(self):
        return self.folder if self.like is None else self.like.certificates

    def doors(self):
        """What it listens on, and how it speaks to its like."""
        if not self.tls:
            return [f"port {self.port}"]
        at = self.certificates
        return ["port 0", f"tls-port {self.port}", f"tls-cert-file {at}/cert.pem", f"tls-key-file {at}/key.pem",
                f"tls-ca-cert-file {at}/ca.pem", f"tls-auth-clients {'yes' if self.tls == MUTUAL else 'no'}", "tls-replication yes"]

    def config(self):
        account = [f"user {self.user[0]} on >{self.user[1]} {ACL}"] if self.user else []
        return ["bind 127.0.0.1", 'save ""', "appendonly no", f"dir {self.folder}", "loglevel notice", *self.doors(), *account,
                *self.options]

    def serve(self):
        config = self.folder / "config"
        if not config.exists() or self.program == "redis-server":
            config.write_text("\n".join(self.config()) + "\n")
        return [self.program, config]

    def answers(self):
        try:
            return self.ask("PING") == "PONG"
        except (OSError, Refused):
            return False

    def restart(self):
        """Comes back empty, unless it keeps its data."""
        self.kill()
        self.start()

    # --- talking to it

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    @property
    def authority(self):
        return str(self.certificates / "ca.pem") if self.tls else ""

    def tls_options(self):
        """What makes an ax-server trust it, and be trusted."""
        at = self.certificates
        mine = ["--queue-cert", at / "cert.pem", "--queue-key", at / "key.pem"] if self.tls == MUTUAL else []
        return ["--queue-ca", self.authority, *mine] if self.tls else []

    def url(self, db=0):
        return f"{url_head('', self.tls, self.user)}{self.address}/{db}"

    def ask(self, *words, seconds=10):
        """One command over a connection of its own, as the user who may do everything."""
        with socket.create_connection(("127.0.0.1", self.port), seconds) as plain:
            channel = plain
            if self.tls:
                context = ssl.create_default_context(cafile=self.authority)
                context.load_cert_chain(self.certificates / "cert.pem", self.certificates / "key.pem")
                channel = context.wrap_socket(plain, server_hostname="127.0.0.1")
            answers = channel.makefile("rb")

            def exchange(*words):
                texts = [str(word).encode() for word in words]
                channel.sendall(b"*%d\r\n" % len(texts) + b"".join(b"$%d\r\n%s\r\n" % (len(t), t) for t in texts))
                return read_answer(answers)

            if self.password:
                exchange("AUTH", self.password)
            return exchange(*words)


class RedisCluster:
    """Masters; the slots are spread evenly."""

    def __init__(self, masters=3, tls=False, user=None, replicas=False):
        self.nodes, self.replicas = [], []  # the replica of each, in the same order
        try:
            for nodes in (self.nodes, self.replicas) if replicas else (self.nodes,):
                for _ in range(masters):
                    nodes.append(Redis(tls, user, [
                        "cluster-enabled yes", f"cluster-port {free_port()}", "cluster-node-timeout 1000",
                        "cluster-require-full-coverage no", f"tls-cluster {'yes' if tls else 'no'}",
                        "repl-diskless-sync-delay 0"],
                        self.nodes[0] if self.nodes else None))
            self.join()
            for node, replica in zip(self.nodes, self.replicas):
                self.pair(node, replica)
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for node in (*self.nodes, *self.replicas):
            node.stop()

    def join(self):
        share = 16384 // len(self.nodes)
        for i, node in enumerate(self.nodes):
            last = 16383 if i == len(self.nodes) - 1 else (i + 1) * share - 1
            node.ask("CLUSTER", "ADDSLOTSRANGE", i * share, last)
            node.ask("CLUSTER", "SET-CONFIG-EPOCH", i + 1)
        for node in (*self.nodes[1:], *self.replicas):
            bus = next(line.split()[1] for line in node.options if line.startswith("cluster-port"))
            self.nodes[0].ask("CLUSTER", "MEET", "127.0.0.1", node.port, bus)
        for node in (*self.nodes, *self.replicas):
            wait_for(lambda node=node: "cluster_state:ok" in node.ask("CLUSTER", "INFO") and
                     len(node.ask("CLUSTER", "SLOTS")) == len(self.nodes))

    def pair(self, node, replica):
        wait_for(lambda: replica.ask("CLUSTER", "REPLICATE", node.ask("CLUSTER", "MYID")) == "OK")
        wait_for(lambda: "master_link_status:up" in replica.ask("INFO", "replication"))

    @property
    def authority(self):
        return self.nodes[0].authority

    def tls_options(self):
        return self.nodes[0].tls_options()

    def url(self):
        return url_head("-cluster", self.nodes[0].tls, self.nodes[0].user) + ",".join(node.address for node in self.nodes)

    def owner(self, slot):
        """The node that itself says so."""
        for node in self.nodes:
            for first, last, master, *_ in node.ask("CLUSTER", "SLOTS"):
                if first <= slot <= last and master[1] == node.port:
                    return node
        raise AssertionError(f"nobody has slot {slot}")

    def fail_over(self, node):
        """The master dies; waits until its replica has its slots."""
        heir = self.replicas[self.nodes.index(node)]
        node.kill()
        wait_for(lambda: heir.ask("ROLE")[0] == "master")

    def begin_move(self, slot, to):
        """Its keys are at the other node, which may be asked for them by who was sent there (ASK); the slot is not. Answers
        whose it was."""
        source = self.owner(slot)
        to.ask("CLUSTER", "SETSLOT", slot, "IMPORTING", source.ask("CLUSTER", "MYID"))
        source.ask("CLUSTER", "SETSLOT", slot, "MIGRATING", to.ask("CLUSTER", "MYID"))
        while keys := source.ask("CLUSTER", "GETKEYSINSLOT", slot, 100):
            source.ask("MIGRATE", "127.0.0.1", to.port, "", 0, 5000, "KEYS", *keys)
        return source

    def end_move(self, slot, source, to):
        for node in (to, source, *self.nodes):
            node.ask("CLUSTER", "SETSLOT", slot, "NODE", to.ask("CLUSTER", "MYID"))

    def asked(self):
        """How many commands came to a node that the slot's owner had named with ASK."""
        said = [re.search(r"^cmdstat_asking:calls=(\d+)", node.ask("INFO", "commandstats"), re.M) for node in self.nodes]
        return sum(int(one[1]) for one in said if one)


class Sentinel(Redis):
    program = "redis-sentinel"

    def __init__(self, master, account=None):
        """`account`: (user, password) that lets AX in; without one, it lets everybody in."""
        self.master_port, self.account = master.port, account
        if account:
            self.password = account[1] if account[0] == "default" else "0thers"
        super().__init__(master.tls, like=master)

    def locks(self):
        if self.account is None:
            return []
        locks = [f"requirepass {self.password}", f"sentinel sentinel-pass {self.password}"]
        user, password = self.account
        return locks if user == "default" else [*locks, f"user {user} on >{password} {SENTINEL_ACL}"]

    def config(self):
        return ["bind 127.0.0.1", f"dir {self.folder}", *self.doors(), *self.locks(),
                f"sentinel monitor {MASTER} 127.0.0.1 {self.master_port} 2",
                f"sentinel down-after-milliseconds {MASTER} 500", f"sentinel failover-timeout {MASTER} 3000"]


class RedisSentinel:
    def __init__(self, sentinels=3, tls=False, user=None, account=None):
        """`account`: of AX at the sentinels themselves."""
        self.servers, self.sentinels = [], []
        try:
            self.servers.append(Redis(tls, user))
            first = self.servers[0]
            self.servers.append(Redis(tls, user, [f"replicaof 127.0.0.1 {first.port}", "repl-diskless-sync-delay 0"], first))
            self.sentinels = [Sentinel(first, account) for _ in range(sentinels)]
            wait_for(lambda: "master_link_status:up" in self.servers[1].ask("INFO", "replication"))
            for sentinel in self.sentinels:
                wait_for(lambda sentinel=sentinel: self.knows_all(sentinel))
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        for process in (*self.sentinels, *self.servers):
            process.stop()

    def knows_all(self, sentinel):
        fields = sentinel.ask("SENTINEL", "MASTER", MASTER)
        told = dict(zip(fields[::2], fields[1::2]))
        return int(told["num-slaves"]) == 1 and int(told["num-other-sentinels"]) == len(self.sentinels) - 1

    @property
    def authority(self):
        return self.servers[0].authority

    def tls_options(self):
        return self.servers[0].tls_options()

    def url(self):
        head = url_head("-sentinel", self.servers[0].tls, self.servers[0].user)
        return head + ",".join(s.address for s in self.sentinels) + f"/{MASTER}"

    def master(self):
        """The server that sentinels name and that says so itself."""
        _, port = self.sentinels[0].ask("SENTINEL", "GET-MASTER-ADDR-BY-NAME", MASTER)
        for server in self.servers:
            if server.process is not None and server.port == int(port) and server.ask("ROLE")[0] == "master":
                return server
        return None

    def fail_over(self):
        """The master dies; waits until the other one is it."""
        old = wait_for(self.master)
        old.kill()
        return wait_for(lambda: (now := self.master()) is not None and now is not old and now)


SECURE = {"tls": True, "user": ("ax", "s3cret")}
STRICT = {"tls": MUTUAL, "user": ("ax", "s3cret")}
KINDS = {
    "single": Redis, "cluster": RedisCluster, "sentinel": RedisSentinel,
    "secure": lambda: Redis(**SECURE), "secure-cluster": lambda: RedisCluster(**SECURE),
    "secure-sentinel": lambda: RedisSentinel(**SECURE),
    "strict": lambda: Redis(**STRICT), "strict-cluster": lambda: RedisCluster(**STRICT),
    "strict-sentinel": lambda: RedisSentinel(**STRICT),
}


def main(kind, command):
    if kind not in KINDS or not command:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with KINDS[kind]() as redis:
        return subprocess.run(command, env=dict(os.environ, AX_TEST_REDIS=redis.url(),
                                                AX_TEST_REDIS_CA=redis.authority)).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2] or [""], sys.argv[2:]))
