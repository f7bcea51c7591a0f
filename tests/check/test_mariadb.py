"""The same rows in a MariaDB database: ax-check says the same about them, while others have it open."""

import sqlite3
import sys

import pytest

from store import ROOT, broken, check, make
from test_store import FAULTS

sys.path.insert(0, str(ROOT / "tests/lib"))

from mariadb import MariaDB, PASSWORD, USER  # noqa: E402

GUARD = [rule for rule, _ in FAULTS].index("I4.guard")
KINDS = {"INTEGER": "BIGINT", "TEXT": "LONGTEXT", "BLOB": "LONGBLOB"}


@pytest.fixture(scope="module")
def mariadb():
    with MariaDB() as db:
        yield db


def literal(value):
    if value is None:
        return "NULL"
    if isinstance(value, int):
        return str(value)
    data = value.encode() if isinstance(value, str) else value
    return f"X'{data.hex()}'" if data else "''"


def guarded(store):
    return store.execute("SELECT 1 FROM sqlite_schema WHERE name = 'ax_task_log_terminal'").fetchone() is not None


def carry_over(path, db, name):
    """The tables of an embedded store, with their rows and without anything else."""
    script = []
    with sqlite3.connect(path) as store:
        for (table,) in store.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'ax\\_%' ESCAPE '\\'").fetchall():
            columns = store.execute(f"PRAGMA table_info({table})").fetchall()
            script.append(f"CREATE TABLE {table} ({', '.join(f'`{c[1]}` {KINDS[c[2]]}' for c in columns)});")
            if table == "ax_task_log" and guarded(store):
                script.append(f"CREATE TRIGGER ax_task_log_terminal BEFORE UPDATE ON {table} FOR EACH ROW SET @ended = 1;")
            script += [f"INSERT INTO {table} VALUES ({', '.join(map(literal, row))});" for row in store.execute(f"SELECT * FROM {table}")]
    db.create_database(name)
    db.client("\n".join(script), name)
    return db.url(name)


@pytest.mark.parametrize("n", [*range(0, len(FAULTS), 7), GUARD])
def test_says_the_same(tmp_path, mariadb, n):
    store = make(tmp_path / "ax.db")
    store.db.executescript(FAULTS[n][1])
    path = store.done()
    url = carry_over(path, mariadb, f"fault_{n}")
    expected, found = check("--store", f"sqlite:{path}"), check("--store", url)
    assert FAULTS[n][0] in broken(found[1])
    assert found == expected


def test_clean_and_with_a_password_file(tmp_path, mariadb):
    path = make(tmp_path / "ax.db").done()
    url = carry_over(path, mariadb, "clean")
    secret = tmp_path / "secret"
    secret.write_text(PASSWORD + "\n")
    with mariadb.session("clean") as other:
        other.query("START TRANSACTION")
        other.query("UPDATE ax_group SET running = 9")
        status, said = check("--store", url.replace(f":{PASSWORD}@", "@") + f"?password_file={secret}")
        assert status == 0, said
        assert said["runs"] > 0 and said["unexplained"] == 0


def test_takes_what_a_server_takes(tmp_path, mariadb):
    url = carry_over(make(tmp_path / "ax.db").done(), mariadb, "options")
    secret = tmp_path / "secret"
    secret.write_text(PASSWORD + "\n")
    bare = url.replace(f":{PASSWORD}@", "@")
    assert check("--store", bare, "--store-password-file", secret)[0] == 0
    by_socket = f"mysql://{USER}@/options?socket={mariadb.socket}"
    assert check("--store", by_socket, "--store-password-file", secret)[0] == 0
    status, said = check("--store", f"{url}?tls=on")
    assert status == 2 and "TLS" in said
    status, said = check("--store", bare, "--store-password-file", tmp_path / "none")
    assert status == 2 and "none cannot be read: No such file" in said
    assert check("--store", "sqlite:x", "--store-password-file", secret)[0] == 2


def test_shows_a_certificate(tmp_path):
    with MariaDB(tls=True) as db:
        carry_over(make(tmp_path / "ax.db").done(), db, "shown")
        db.client("CREATE USER reader IDENTIFIED BY 'r' REQUIRE X509; GRANT SELECT, TRIGGER ON shown.* TO reader", "mysql")
        url = f"mysql://reader:r@localhost:{db.port}/shown?tls=on&ca={db.folder}/ca.pem"
        status, said = check("--store", url)
        assert status == 2 and "Access denied" in said
        status, said = check("--store", f"{url}&cert={db.folder}/client.pem")
        assert status == 2 and "key=FILE is missing" in said
        assert check("--store", f"{url}&cert={db.folder}/client.pem&key={db.folder}/client.key")[0] == 0


@pytest.mark.parametrize("url", ["mysql://", "mysql://host/db", "mysql://u:p@host", "mysql://u:p@/db", "mysql://u:%zz@h/db", "postgres://x"])
def test_what_is_no_address(url):
    status, said = check("--store", url)
    assert status == 2 and "mysql://USER:PASSWORD@HOST:PORT/DATABASE" in said


def test_nobody_there(mariadb):
    status, said = check("--store", mariadb.url("nothing"))
    assert status == 2 and "nothing" in said
    mariadb.create_database("bare")
    status, said = check("--store", mariadb.url("bare"))
    assert status == 2 and "no tables" in said
