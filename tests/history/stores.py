"""The two databases with the schema of AX in them, asked as the server asks them, and how much work an answer was."""

import dataclasses
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import time

from world import arguments

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("AX_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests/lib"))

from mariadb import MYSQLD, Failed, MariaDB  # noqa: E402

# What the programs make before they apply the migrations.
APPLIED = ("CREATE TABLE IF NOT EXISTS ax_migration (number BIGINT NOT NULL PRIMARY KEY, name VARCHAR(255) NOT NULL,"
           " hash VARCHAR(64) NOT NULL, time BIGINT NOT NULL, oldest BIGINT NOT NULL);\n")
CHUNK = 200_000  # rows of one INSERT


def statements(dialect):
    """Their texts, by name."""
    program = BUILD / "tests/history/statements"
    printed = subprocess.run([program, dialect], capture_output=True, text=True, check=True).stdout
    return dict(entry.split("\t", 1) for entry in printed.split("\0")[:-1])


@dataclasses.dataclass
class Work:
    rows: int  # that it answered
    steps: int  # rows and index entries that were looked at
    ms: float
    pages: int = 0  # that were asked for


class Store:
    """`columns` are those of each table, in order: {table: {column: is text}}."""

    def __init__(self, dialect):
        self.texts = statements(dialect)
        self.columns = {}

    def insert(self, table, first, last, **given):
        """One row for each seq from first to last: the given columns as expressions, the others 0 or ''."""
        columns = self.columns[table]
        assert set(given) <= set(columns), (table, set(given) - set(columns))
        values = [str(given.get(name, "''" if is_text else "0")) for name, is_text in columns.items()]
        names = ", ".join(f"`{name}`" for name in columns)
        while first <= last:
            upto = min(last, first + CHUNK - 1)
            self.run(f"INSERT INTO {table} ({names}) SELECT {', '.join(values)} FROM {self.series(first, upto)}")
            first = upto + 1

    def row(self, table, **given):
        """The parameters of a row, in the order in which the statements on the table take its columns."""
        names = self.order(table)
        assert set(given) <= set(names), (table, set(given) - set(names))
        return [given.get(name, "" if self.columns[table][name] else 0) for name in names]

    def arguments(self, runs):
        """Arguments for each statement, when `runs` have ended."""
        given = arguments(self.row, runs)
        return {name: given[re.sub(r"_(LOCK|HOLD|FREE)$", "", name)] for name in self.texts}

    def order(self, table):
        for text in self.texts.values():
            listed = re.match(rf"INSERT (?:OR REPLACE )?INTO {table} \(([^)]*)\)", text)
            if listed:
                return re.findall(r"`(\w+)`", listed[1])
        raise AssertionError(table)


class SQLite(Store):
    """Steps: how often its machine went round a loop."""

    def __init__(self, folder):
        super().__init__("sqlite")
        self.file = folder / "history.db"
        self.db = sqlite3.connect(self.file, isolation_level=None)
        # Nothing here must outlast the machine; a cache that holds the inner pages of 20 million rows.
        self.db.executescript("PRAGMA journal_mode=MEMORY; PRAGMA synchronous=OFF; PRAGMA cache_size=-1000000")
        self.db.executescript(APPLIED)
        for path in sorted((ROOT / "db/sqlite").glob("*.sql")):
            self.db.executescript(path.read_text())
        for (table,) in self.db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'ax_%'").fetchall():
            described = self.db.execute(f"PRAGMA table_info({table})").fetchall()
            self.columns[table] = {column[1]: "INT" not in column[2] for column in described}

    def series(self, first, last):
        return (f"(WITH RECURSIVE series(seq) AS (SELECT {first} UNION ALL SELECT seq + 1 FROM series WHERE seq < {last})"
                " SELECT seq FROM series)")

    def insert(self, table, first, last, **given):
        if table == "ax_task_log":
            status = given["status"]
            given |= {"phase": f"({status} > 0) + ({status} >= 10)", "given": f"{status} IN (2, 3)"}
        super().insert(table, first, last, **given)

    def run(self, sql):
        self.db.execute(sql)

    def settle(self):
        pass

    def measure(self, name, arguments):
        steps = 0

        def count():
            nonlocal steps
            steps += 1

        sql = self.texts[name]
        self.db.execute("BEGIN")
        self.db.set_progress_handler(count, 1)
        began = time.perf_counter()
        rows = self.db.execute(sql, arguments).fetchall()
        ms = (time.perf_counter() - began) * 1000
        self.db.set_progress_handler(None, 0)
        self.db.execute("ROLLBACK")
        return Work(len(rows), steps, ms)

    def size(self):
        return self.file.stat().st_size

    def close(self):
        self.db.close()


class MariaDBStore(Store):
    """Steps: what the storage engine was asked for, by the counters of the session."""

    def __init__(self, buffer_pool):
        super().__init__("mariadb")
        # Nothing here must outlast the machine; nothing else is to read pages while they are counted.
        self.server = MariaDB(["--innodb-stats-auto-recalc=OFF", "--innodb-flush-log-at-trx-commit=0", "--innodb-doublewrite=OFF",
                               "--sql-mode=STRICT_TRANS_TABLES,PIPES_AS_CONCAT", "--transaction-isolation=READ-COMMITTED"],
                              buffer_pool, log_size="1G")
        self.migrate()
        self.session = self.server.session()
        if MYSQLD:
            self.session.query(f"SET cte_max_recursion_depth = {CHUNK}")
        for table, column, kind in self.session.query(
                "SELECT table_name, column_name, data_type FROM information_schema.columns WHERE table_schema = 'ax'"
                " AND COALESCE(generation_expression, '') = '' ORDER BY table_name, ordinal_position"):
            self.columns.setdefault(table, {})[column] = not kind.endswith("int")

    def migrate(self):
        self.server.client(APPLIED)
        for path in sorted((ROOT / "db/mariadb").glob("*.sql")):
            self.server.client(f"DELIMITER $$\n{path.read_text()}\n$$\n")

    def series(self, first, last):
        if MYSQLD:
            return (f"(WITH RECURSIVE series(seq) AS (SELECT {first} UNION ALL SELECT seq + 1 FROM series WHERE seq < {last})"
                    " SELECT seq FROM series) AS numbers")
        return f"seq_{first}_to_{last}"

    def run(self, sql):
        self.session.query(sql, 3600)

    def settle(self):
        """Statistics as they are in a server that has run for a while."""
        self.run(f"ANALYZE TABLE {', '.join(self.columns)}")

    def literal(self, name, arguments):
        def value(match):
            argument = arguments[int(match[1]) - 1]
            if argument is None:
                return "NULL"
            if isinstance(argument, bytes):
                return f"x'{argument.hex()}'"
            return str(argument) if isinstance(argument, int) else "'" + argument.replace("'", "''") + "'"
        return re.sub(r"\?(\d+)", value, self.texts[name])

    def pages(self):
        return int(self.session.query("SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_read_requests'")[0][1])

    def measure(self, name, arguments):
        """The last of some times, when what it needs is in memory; the pages of the one that nothing came between."""
        times = [self.measure_once(name, arguments) for _ in range(4)]
        return dataclasses.replace(times[-1], pages=min(work.pages for work in times))

    def measure_once(self, name, arguments):
        sql = self.literal(name, arguments)
        self.run("FLUSH STATUS")
        self.run("START TRANSACTION")
        pages = self.pages()
        began = time.perf_counter()
        rows = self.session.query(sql)
        ms = (time.perf_counter() - began) * 1000
        pages = self.pages() - pages
        counters = self.session.query("SHOW SESSION STATUS LIKE 'Handler_%'")
        self.run("ROLLBACK")
        looked = ("Handler_read", "Handler_icp_attempts", "Handler_tmp_write")
        steps = sum(int(number) for counter, number in counters if counter.startswith(looked))
        return Work(len(rows), steps, ms, pages)

    def explain(self, name, arguments):
        """(table, kind of access, index, estimated rows, notes) of each step of the plan."""
        plan = self.session.query("EXPLAIN " + self.literal(name, arguments))
        if MYSQLD:
            plan = [[*step[:3], *step[4:10], step[11]] for step in plan if len(step) == 12]  # without partitions, filtered
        return [(step[2], step[3], step[5], int(step[8]) if step[8] != "NULL" else 0, step[9]) for step in plan
                if len(step) == 10]

    def size(self):
        return sum(file.stat().st_size for file in (self.server.folder / "data/ax").glob("*.ibd"))

    def close(self):
        self.session.close()
        self.server.stop()
