"""A MariaDB server of one's own: in a temporary folder, on a free port of the loopback and on a socket, as durable as a
real one, gone when its owner is.

    with MariaDB() as db:                      in a test
        db.client("SELECT 1") == [["1"]]
    python3 tests/lib/mariadb.py [--tls] COMMAND ARG…  runs COMMAND with its address in AX_TEST_MYSQL, and the folder of
                                               its certificates in AX_TEST_TLS: ca.pem, for localhost; client.pem, which
                                               it trusts; other.pem; and a .key of each

AX_MYSQLD=PROGRAM: a MySQL instead, by its mysqld, or by a program that becomes one (exec) with the same arguments.
"""

import os
import re
import select
import signal
import subprocess
import sys
import time

from started import Started

MYSQLD = os.environ.get("AX_MYSQLD")
USER, PASSWORD, DATABASE = "ax", "ax", "ax"
ACCOUNT = f"""
FLUSH PRIVILEGES;
CREATE DATABASE {DATABASE} CHARACTER SET utf8mb4;
CREATE USER '{USER}'@'%' IDENTIFIED BY '{PASSWORD}';
GRANT ALL ON *.* TO '{USER}'@'%' WITH GRANT OPTION;
"""
OPTIONS = [
    # As durable as a real one; commits must reach the disk.
    "--innodb-flush-log-at-trx-commit=1",
    "--sync-binlog=1",
    "--innodb-fast-shutdown=2",
    "--performance-schema=OFF",
    "--skip-name-resolve",
    "--bind-address=127.0.0.1",
    "--character-set-server=utf8mb4",
]
# So that another one can follow it, from its beginning.
REPLICATED = ["--log-bin=binlog", "--binlog-format=ROW", "--log-slave-updates"]
# What MySQL has and MariaDB has not, unless it is asked for.
NO_MORE = ["--skip-log-bin", "--mysqlx=OFF", "--secure-file-priv=NULL"]


class Failed(AssertionError):
    """A statement that the server refused; `number` is its number of the error."""

    def __init__(self, text):
        super().__init__(text)
        said = re.search(r"^ERROR (\d+) ", text, re.M)
        self.number = int(said[1]) if said else 0


def make_certificates(folder):
    """ca.pem, cert.pem signed by it for localhost, client.pem signed by it for whoever has it, and other.pem, which signed nothing."""
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    for command in (
            ["req", "-x509", *new, "-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=test CA"],
            ["req", "-x509", *new, "-keyout", "other.key", "-out", "other.pem", "-days", "2", "-subj", "/CN=other CA"],
            ["req", *new, "-keyout", "cert.key", "-out", "cert.req", "-subj", "/CN=localhost"],
            ["x509", "-req", "-in", "cert.req", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
             "-out", "cert.pem", "-extfile", "names"],
            ["req", *new, "-keyout", "client.key", "-out", "client.req", "-subj", "/CN=ax"],
            ["x509", "-req", "-in", "client.req", "-CA", "ca.pem", "-CAkey", "ca.key", "-days", "2", "-out", "client.pem"]):
        made = subprocess.run(["openssl", *command], cwd=folder, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr


class MariaDB(Started):
    def __init__(self, options=(), buffer_pool="64M", log_size="64M", tls=False, data=None, env=None, within=(), host="127.0.0.1"):
        """`data`: where its files are to lie; `env`: of its process, beside what this one has; `within`: what its command begins with;
        `host`: where it is reached."""
        self.options = [*OPTIONS, f"--innodb-buffer-pool-size={buffer_pool}", *self.log_options(log_size), *options]
        self.tls, self.own_data, self.env, self.within, self.host = tls, data, env, within, host
        self.user = ["--user=root"] if os.geteuid() == 0 else []
        super().__init__("ax-mariadb-")

    @property
    def socket(self):
        return self.folder / "socket"

    @property
    def data(self):
        return self.own_data or self.folder / "data"

    def log_options(self, size):
        return [*NO_MORE, f"--loose-innodb-redo-log-capacity={size}"] if MYSQLD else [f"--innodb-log-file-size={size}"]

    def install(self):
        if self.tls:
            self.options += [f"--ssl-ca={self.folder}/ca.pem", f"--ssl-cert={self.folder}/cert.pem",
                             f"--ssl-key={self.folder}/cert.key"]
            make_certificates(self.folder)
        account = self.folder / "account.sql"
        account.write_text(ACCOUNT)
        common = ["--no-defaults", *self.user, f"--datadir={self.data}",
                  f"--tmpdir={self.folder}"]  # a server that starts empties it of tables, others' as well
        if MYSQLD:
            command = [MYSQLD, *common, "--initialize-insecure", f"--init-file={account}", *self.log_options("64M")]
        else:
            command = ["mariadb-install-db", *common, "--skip-test-db", "--auth-root-authentication-method=normal",
                       f"--extra-file={account}", *self.log_options("64M")]
        made = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert made.returncode == 0, made.stdout

    # --- its life

    def serve(self):
        return [*self.within, MYSQLD or "mariadbd", "--no-defaults", *self.user, f"--datadir={self.data}", f"--socket={self.socket}",
                f"--port={self.port}", f"--pid-file={self.folder}/pid", f"--tmpdir={self.folder}", *self.options]

    def popen(self):
        return {"env": {**os.environ, **self.env}} if self.env else {}

    def answers(self):
        try:
            return self.client("SELECT 1") == [["1"]]
        except Failed:
            return False

    def restart(self):
        self.halt()
        self.start()

    # --- replication (of MariaDB)

    def follow(self, primary):
        """What was committed there is committed here a little later, by itself; returns when nothing is left to do."""
        self.client(f"CHANGE MASTER TO MASTER_HOST = '127.0.0.1', MASTER_PORT = {primary.port}, MASTER_USER = '{USER}',"
                    f" MASTER_PASSWORD = '{PASSWORD}', MASTER_USE_GTID = slave_pos; START SLAVE", "mysql")
        self.catch_up(primary)

    def catch_up(self, primary, seconds=60):
        """All that is committed at the primary when this is called is committed here."""
        ((position,),) = primary.client("SELECT @@gtid_binlog_pos")
        ((late,),) = self.client(f"SELECT MASTER_GTID_WAIT('{position}', {seconds})")
        assert late == "0", self.client("SHOW SLAVE STATUS")

    def stop_following(self):
        """For now; what has come over and is not applied is forgotten at the promotion."""
        self.client("STOP SLAVE", "mysql")

    def promote(self):
        self.client("STOP SLAVE; RESET SLAVE ALL", "mysql")

    # --- talking to it

    def url(self, database=DATABASE):
        beyond = "" if self.host == "127.0.0.1" else "?tls=off"  # which nobody has to say of the loopback
        return f"mysql://{USER}:{PASSWORD}@{self.host}:{self.port}/{database}{beyond}"

    def command(self, database):
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", f"--user={USER}", f"--password={PASSWORD}",
                "--default-character-set=utf8mb4", "--batch", "--skip-column-names", database]

    def client(self, sql, database=DATABASE):
        """What the statements answer: rows of texts, NULL is "NULL"."""
        done = subprocess.run(self.command(database), input=sql, capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(done.stderr.strip())
        return [line.split("\t") for line in done.stdout.splitlines()]

    def create_database(self, name):
        self.client(f"CREATE DATABASE {name} CHARACTER SET utf8mb4", "mysql")
        return name

    def session(self, database=DATABASE):
        return Session(self.command(database))


class Session:
    """One connection that stays: transactions, and several of them beside each other."""

    END = "-- that was all --"

    def __init__(self, command):
        self.process = subprocess.Popen([*command, "--force", "--unbuffered"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.read = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def query(self, sql, seconds=60):
        """Rows of texts; Failed when a statement failed."""
        self.process.stdin.write(f"{sql};\nSELECT '{self.END}';\n".encode())
        self.process.stdin.flush()
        end = time.monotonic() + seconds
        mark = f"{self.END}\n".encode()
        while mark not in self.read:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, end - time.monotonic()))
            assert ready, f"no answer within {seconds} s: {sql}"
            got = os.read(self.process.stdout.fileno(), 1 << 20)
            assert got, f"the connection is gone: {sql}"
            self.read += got
        answer, self.read = self.read.split(mark, 1)
        lines = answer.decode().splitlines()
        for line in lines:
            if line.startswith("ERROR "):
                raise Failed(line)
        return [line.split("\t") for line in lines]

    def close(self):
        self.process.stdin.close()
        self.process.wait(10)
        self.process.stdout.close()

    def end(self):
        """Of one that was refused its connection, and has ended by itself."""
        self.process.kill()
        try:
            self.close()
        except BrokenPipeError:
            self.process.wait(10)


def main(command):
    if not command:
        sys.exit(__doc__)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    tls = command[0] == "--tls"
    with MariaDB(tls=tls) as db:
        env = dict(os.environ, AX_TEST_MYSQL=db.url(), AX_TEST_TLS=str(db.folder), AX_TEST_MYSQL_PID=str(db.process.pid))
        return subprocess.run(command[1:] if tls else command, env=env).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
