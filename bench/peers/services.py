"""The servers that peers stand on, each a process of its own in a temporary folder, on a free port of the loopback.

MariaDB and Redis are those of the tests; PostgreSQL, beanstalkd and gearmand are added here in the same manner."""

import os
import shutil
import socket
import subprocess

from axbench import machine, stores
from axbench.place import Failed
from redis import Redis
from started import Started

import fetch

# initdb and postgres refuse to be root
UNPRIVILEGED = "nobody" if os.geteuid() == 0 else None


class Listening(Started):
    """A server that is well when its port answers."""

    user = None

    def __init__(self):
        super().__init__("ax-bench-peer-")

    def popen(self):
        return {"user": self.user, "group": self.user and os.stat(self.folder).st_gid, "env": fetch.environment()}

    def answers(self):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


class PostgreSQL(Listening):
    user = UNPRIVILEGED

    def serve(self):
        return [self.bin / "postgres", "-D", self.folder / "data", "-p", str(self.port), "-k", self.folder,
                "-c", "listen_addresses=127.0.0.1", "-c", "shared_buffers=512MB", "-c", "max_wal_size=4GB"]

    def install(self):
        self.bin = fetch.find_postgres()
        if self.user:
            shutil.chown(self.folder, self.user)
        made = subprocess.run([self.bin / "initdb", "-D", self.folder / "data", "-A", "trust", "-U", "bench", "-E", "UTF8",
                               "--locale=C"], user=self.user, env=fetch.environment(), capture_output=True, text=True)
        if made.returncode != 0:
            raise Failed(f"initdb: {made.stderr}")

    def version(self):
        return "PostgreSQL " + fetch.output([self.bin / "postgres", "--version"]).split()[2]

    def url(self, database="postgres"):
        return f"postgres://bench@127.0.0.1:{self.port}/{database}"

    def empty(self):
        """A database of one's own each time: the old one may have connections yet."""
        sql = ("DROP DATABASE IF EXISTS work WITH (FORCE)", "CREATE DATABASE work")
        fetch.output([self.bin / "psql", "-q", self.url(), *(word for line in sql for word in ("-c", line))])
        return self.url("work")


class Beanstalkd(Listening):
    def serve(self):
        return ["beanstalkd", "-l", "127.0.0.1", "-p", str(self.port), "-b", self.folder]

    def version(self):
        return fetch.output(["beanstalkd", "-v"]).strip()

    def empty(self):
        self.halt()
        for log in self.folder.glob("binlog*"):
            log.unlink()
        self.start()
        return f"127.0.0.1:{self.port}"


class Gearmand(Listening):
    def serve(self):
        return ["gearmand", "--listen=127.0.0.1", f"--port={self.port}", f"--log-file={self.folder}/gearmand.log"]

    def version(self):
        return fetch.output(["gearmand", "--version"]).split("-")[0].strip()

    def empty(self):
        self.halt()
        self.start()
        return f"127.0.0.1:{self.port}"


class DurableRedis(Redis):
    def __init__(self):
        super().__init__(options=["appendonly yes", "appendfsync everysec"])

    @staticmethod
    def version():
        return machine.said("redis-server", "--version", r"v=(\S+)", "Redis")

    def empty(self):
        self.ask("FLUSHALL")
        return self.url()


class Database(stores.Database):
    """As AX has it."""

    def version(self):
        return "MariaDB " + self.client("SELECT VERSION()")[0][0].split("-")[0]

    def empty(self):
        self.client("DROP DATABASE IF EXISTS work", "mysql")
        self.create_database("work")
        return f"jdbc:mariadb://127.0.0.1:{self.port}/work?user=ax&password=ax"


class Stores:
    """Each is started when it is first asked for; all of them end together."""

    def __init__(self):
        self.started = {}

    def get(self, kind):
        if kind not in self.started:
            self.started[kind] = kind()
        return self.started[kind]

    def stop(self):
        for store in self.started.values():
            store.stop()
