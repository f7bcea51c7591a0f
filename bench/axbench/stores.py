"""Where AX keeps its data: "E", the embedded store, or "MR", a MariaDB and a Redis of the benchmark's own."""

import re
import shutil
import sqlite3
import sys
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(SOURCE / "tests/lib"))

from mariadb import MYSQLD, MariaDB  # noqa: E402
from redis import Redis  # noqa: E402

# On top of tests/lib/mariadb.py, which makes commits reach the disk: room as a real one has it.
POOL, LOG = "1G", "512M"
SETTINGS = {
    "E": "embedded SQLite, WAL, synchronous=FULL",
    "MR": f"MariaDB, innodb_flush_log_at_trx_commit=1, buffer pool {POOL}, log {LOG}, no binary log, READ COMMITTED;"
          " Redis without persistence (AX needs none); both on this machine's loopback",
}
PREPARED = ["SET unique_checks = 0", *(["SET cte_max_recursion_depth = 4294967295"] if MYSQLD else [])]


class Database(MariaDB):
    """`copy_of`: begins with a copy of that folder."""

    def __init__(self, copy_of=None):
        self.copy_of = copy_of
        super().__init__(buffer_pool=POOL, log_size=LOG)

    def install(self):
        if self.copy_of:
            shutil.copytree(self.copy_of, self.data)
        else:
            super().install()


class Embedded:
    def __init__(self, folder, data=None):
        self.file = folder / "server1" / "ax.db"
        self.options = []
        self.url = f"sqlite:{self.file}"
        if data:
            self.file.parent.mkdir(mode=0o700)
            for file in data.iterdir():
                shutil.copy(file, self.file.parent)

    def pids(self):
        return {}

    def rows(self, sql):
        db = sqlite3.connect(f"file:{self.file}?mode=ro", uri=True)
        try:
            return db.execute(sql).fetchall()
        finally:
            db.close()

    def columns(self, table):
        """Without those that the database computes."""
        return [row[1] for row in self.rows(f"PRAGMA table_info({table})")]

    def write(self, statements):
        """Of a store that no server has open."""
        db = sqlite3.connect(self.file, isolation_level=None)
        db.executescript("PRAGMA synchronous=OFF; PRAGMA cache_size=-2000000; PRAGMA wal_autocheckpoint=50000")
        for sql in statements:
            db.execute(sql)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.close()

    def series(self, first, last):
        return (f"(WITH RECURSIVE s(seq) AS (SELECT {first} UNION ALL SELECT seq + 1 FROM s WHERE seq < {last})"
                " SELECT seq FROM s) n")

    def text(self, *parts):
        return " || ".join(parts)

    def save(self, folder):
        """A folder that another one may begin with."""
        shutil.copytree(self.file.parent, folder)

    def stop(self):
        pass


class Shared:
    def __init__(self, _, data=None):
        self.redis = None
        self.mariadb = Database(data)
        try:
            self.redis = Redis()
        except BaseException:
            self.stop()
            raise
        self.url = self.mariadb.url()
        self.options = ["--store", self.url, "--queue", self.redis.url()]

    def pids(self):
        return {"mariadb": self.mariadb.process.pid, "redis": self.redis.process.pid}

    def rows(self, sql):
        return [tuple(int(v) if re.fullmatch(r"-?\d+", v) else v for v in row) for row in self.mariadb.client(sql)]

    def columns(self, table):
        return [column[0] for column in self.mariadb.client(f"SHOW COLUMNS FROM {table}") if "GENERATED" not in column[-1]]

    def write(self, statements):
        self.mariadb.client(";\n".join([*PREPARED, *statements]))

    def series(self, first, last):
        if MYSQLD:
            return (f"(WITH RECURSIVE s(seq) AS (SELECT {first} UNION ALL SELECT seq + 1 FROM s WHERE seq < {last})"
                    " SELECT seq FROM s) n")
        return f"(SELECT seq FROM seq_{first}_to_{last}) n"

    def text(self, *parts):
        return f"CONCAT({', '.join(parts)})"

    def save(self, folder):
        self.mariadb.halt()
        shutil.copytree(self.mariadb.folder / "data", folder)
        self.mariadb.start()

    def stop(self):
        for program in (self.mariadb, self.redis):
            if program:
                program.stop()


KINDS = {"E": Embedded, "MR": Shared}
