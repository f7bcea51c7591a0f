"""The program: options, exit codes, files, signals, faults of the disk, TLS."""

import json
import os
import resource
import shutil
import signal
import socket
import sqlite3
import ssl
import subprocess
import threading
import time

import pytest

from ax_server import AX_SERVER, PASSWORD, Worker, wait_for
from redis import make_certificates


def run(*options, **env):
    return subprocess.run([str(AX_SERVER), *options], capture_output=True, text=True, timeout=20,
                          env={"PATH": os.environ["PATH"], **env})


@pytest.mark.parametrize("options,named", [
    (["--listen", "nowhere"], "--listen"), (["--listen", "127.0.0.1:99999"], "--listen"), (["--listen"], "--listen"),
    (["--listen", "example.org:80"], "--listen"), (["--listen", "0.0.0.0:0"], "--insecure-http"),
    (["--listen", "0.0.0.0:0", "--dev"], "--listen"), (["--store", "mysql://x"], "--store"), (["--store", ""], "--store"), (["--queue", "amqp://x"], "--queue"),
    (["--retention-days", "0"], "--retention-days"), (["--log-level", "loud"], "--log-level"), (["--tls-cert", "x"], "--tls-key"),
    (["--alert-ca", "/nonexistent"], "--alert-ca"), (["--alert-ca", "/etc/passwd"], "no certificate"), (["--zoneinfo", "/etc"], "--zoneinfo"),
    (["--queue", "rediss://h", "--queue-ca", "/nonexistent"], "No such file"), (["--queue-ca", "/etc/passwd"], "--queue rediss"),
    (["--shards", "0-7"], "--queue redis"), (["--client-ca", "x"], "--client-ca"), (["--dev=yes"], "--dev"), (["--surprise"], "--surprise"), (["extra"], "extra")])
def test_bad_options(options, named):
    done = run(*options)
    assert done.returncode == 2 and named in done.stderr and len(done.stderr.splitlines()) == 1


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    """cert.pem and key.pem; locked.pem, the key under a passphrase; other.pem, another's key."""
    folder = tmp_path_factory.mktemp("certificates")
    make_certificates(folder)
    subprocess.run(["openssl", "pkey", "-in", "key.pem", "-aes128", "-passout", "pass:x", "-out", "locked.pem"], cwd=folder, check=True)
    subprocess.run(["openssl", "genpkey", "-algorithm", "RSA", "-out", "other.pem"], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
@pytest.mark.parametrize("cert, key, named, rule", [
    ("cert.pem", None, "key", "is missing"), (None, "key.pem", "cert", "is missing"),
    ("none.pem", "key.pem", "cert", "No such file"), ("cert.pem", "none.pem", "key", "No such file"),
    ("key.pem", "key.pem", "cert", "holds no certificate"), ("cert.pem", "cert.pem", "key", "holds no private key"),
    ("cert.pem", "other.pem", "key", "is not the key of the certificate"), ("cert.pem", "locked.pem", "key", "passphrase")])
def test_a_certificate_that_cannot_be_used(certificates, cert, key, named, rule):
    files = [(option, certificates / file) for option, file in (("cert", cert), ("key", key)) if file]
    in_options = run("--queue", "rediss://127.0.0.1:1", *(word for option, file in files for word in (f"--queue-{option}", file)))
    in_address = run("--store", "mysql://ax@127.0.0.1:1/ax?tls=on" + "".join(f"&{option}={file}" for option, file in files))
    for done, option in ((in_options, f"--queue-{named} (or "), (in_address, f"--store (or AX_STORE) {named}=FILE ")):
        assert done.returncode == 2 and option in done.stderr and rule in done.stderr
        assert len(done.stderr.splitlines()) == 1


def test_a_certificate_that_nobody_would_see(certificates):
    cert, key = certificates / "cert.pem", certificates / "key.pem"
    done = run("--queue", "redis://127.0.0.1:1", "--queue-cert", cert, "--queue-key", key)
    assert done.returncode == 2 and "--queue-cert" in done.stderr and "rediss://" in done.stderr
    done = run("--store", f"mysql://ax@127.0.0.1:1/ax?cert={cert}&key={key}")
    assert done.returncode == 2 and "cert=FILE" in done.stderr and "tls=on" in done.stderr


def test_bad_environment():
    done = run(AX_LISTEN="nowhere")
    assert done.returncode == 2 and "AX_LISTEN" in done.stderr


def test_help_and_version():
    done = run("--help")
    assert done.returncode == 0
    for option in ("--listen", "AX_LISTEN", "--store", "--state", "--dev", "--retention-days"):
        assert option in done.stdout
    assert run("--version").stdout.startswith("ax-server ")


def test_a_state_that_is_a_file_is_refused_as_it_was(tmp_path):
    state = tmp_path / "state"
    state.write_text("mine")
    state.chmod(0o644)
    for options in ((), ("--dev",)):
        done = run("--listen", "127.0.0.1:0", "--state", str(state), *options)
        assert done.returncode == 1 and f"{state} is no folder" in done.stderr
    assert state.stat().st_mode & 0o777 == 0o644


def test_a_folder_that_is_for_everybody_stays_so(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    done = run("--listen", "127.0.0.1:0", "--state", str(shared), "--dev")
    assert done.returncode == 1 and "is everybody's" in done.stderr
    assert shared.stat().st_mode & 0o7777 == 0o1777


# B019
@pytest.mark.embedded
def test_second_server_on_the_same_state(start_server):
    first = start_server()
    second = run("--listen", "127.0.0.1:0", "--state", str(first.state))
    assert second.returncode == 1 and "ax.db" in second.stderr and "in use" in second.stderr
    assert first.client().get("/healthz").status == 200


def test_taken_port(start_server, tmp_path):
    first = start_server()
    second = run("--listen", f"127.0.0.1:{first.port}", "--state", str(tmp_path / "other"))
    assert second.returncode == 1 and str(first.port) in second.stderr


# B207
@pytest.mark.embedded
def test_newer_database(start_server):
    server = start_server()
    server.stop()
    database = sqlite3.connect(server.state / "ax.db")
    table = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE name LIKE '%migration%'")]
    assert table, "no table of migrations"
    columns = [row[1] for row in database.execute(f"PRAGMA table_info({table[0]})")]
    row = list(database.execute(f"SELECT * FROM {table[0]} ORDER BY 1 DESC LIMIT 1").fetchone())
    row[0] = row[columns.index("oldest")] = 9999
    database.execute(f"INSERT INTO {table[0]} VALUES ({','.join('?' * len(columns))})", row)
    database.commit()
    database.close()
    done = run("--listen", "127.0.0.1:0", "--state", str(server.state))
    assert done.returncode == 1 and "newer" in done.stderr


def test_damaged_database(tmp_path):
    state = tmp_path / "state"
    state.mkdir()
    (state / "ax.db").write_bytes(b"this is no database " * 500)
    done = run("--listen", "127.0.0.1:0", "--state", str(state))
    assert done.returncode == 1 and "ax.db" in done.stderr


def test_files_are_private(start_server):
    server = start_server()
    for path in server.state.iterdir():
        assert path.stat().st_mode & 0o077 == 0, path


def test_term_finishes_what_was_begun(start_server):
    server = start_server()
    admin = server.set_up()
    token = admin.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]
    worker = Worker(server.client(token))
    worker.register()
    polls = []
    thread = threading.Thread(target=lambda: polls.append(worker.poll(1, 5000)))
    thread.start()
    wait_for(lambda: "ax_parked_polls 1" in admin.get("/metrics").text.decode())
    start = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    thread.join()
    assert polls == [{"runs": [], "stop": [], "drain": False}]
    assert server.process.wait(20) == 0
    assert time.monotonic() - start < 5
    assert not (server.state / "ax.db-wal").exists()


def test_killed_server_keeps_what_it_answered(start_server):
    server = start_server()
    admin = server.set_up()
    made = [admin.post("/api/v1/tasks", {"task_name": f"t{i}", "executor_key": "test", "task_type": "delay"}).ok(201)["id"] for i in range(5)]
    server.kill()
    server.start()
    admin.server = server
    assert [task["id"] for task in admin.get("/api/v1/tasks").ok()["items"]] == made


def ask_for_runs(server, worker):
    """The socket of a poll that was sent."""
    body = json.dumps({"worker": worker.name, "incarnation": worker.incarnation, "wait_ms": 5000, "free": [{"group": "default", "slots": 10}]})
    connection = socket.create_connection(("127.0.0.1", server.port), 15)
    connection.sendall(f"POST /worker/v1/poll HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {worker.client.token}\r\n"
                       f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
    return connection


@pytest.mark.parametrize("asked", ["before it was stopped", "while it was stopped"])
def test_polls_that_nobody_waits_for_keep_no_run_away(start_server, asked):
    """A server that stood still finds requests of workers that have given up meanwhile."""
    server = start_server()
    admin = server.set_up()
    worker = Worker(server.client(admin.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]))
    worker.register()
    task = admin.post("/api/v1/tasks", {"task_name": "t", "executor_key": "test", "task_type": "delay"}).ok(201)
    dead = []
    if asked == "before it was stopped":
        dead.append(ask_for_runs(server, worker))
        wait_for(lambda: "ax_parked_polls 1" in admin.get("/metrics").text.decode())
    run = admin.post(f"/api/v1/tasks/{task['id']}/runs", {"delay_ms": 500}).ok(201)
    server.process.send_signal(signal.SIGSTOP)
    if asked == "while it was stopped":
        dead += [ask_for_runs(server, worker) for _ in range(4)]
    due = time.monotonic() + 1
    wait_for(lambda: time.monotonic() >= due)
    for connection in dead:
        connection.close()
    server.process.send_signal(signal.SIGCONT)
    start = time.monotonic()
    assert worker.poll_run(20)["gid"] == run["gid"]
    assert time.monotonic() - start < 8, "it was given to somebody who is gone, and came back after 15 s"


@pytest.mark.embedded
def test_an_idempotency_key_is_over_after_its_time(start_server):
    server = start_server()
    admin = server.set_up()
    body = {"task_name": "a", "executor_key": "test", "task_type": "delay"}
    admin.post("/api/v1/tasks", body, headers={"Idempotency-Key": "k"}).ok(201)
    server.stop()
    database = sqlite3.connect(server.state / "ax.db")
    database.execute("UPDATE ax_idem SET expire_time = (SELECT max(create_time) FROM ax_task) + 1")
    database.commit()
    database.close()
    server.start()
    admin.server = server
    admin.post("/api/v1/tasks", {**body, "task_name": "b"}, headers={"Idempotency-Key": "k"}).ok(201)
    admin.post("/api/v1/tasks", {**body, "task_name": "c"}, headers={"Idempotency-Key": "k"}).refused(409, "conflict")


def test_fires_while_away_are_made_up(start_server):
    server = start_server()
    admin = server.set_up()
    task = admin.post("/api/v1/tasks", {"task_name": "t", "executor_key": "test", "cron_expr": "@every 1s"}).ok(201)
    wait_for(lambda: admin.get(f"/api/v1/runs?task_id={task['id']}").ok()["items"])
    server.kill()
    time.sleep(2.1)  # the schedule, not a wait for something to happen
    server.start()
    admin.server = server

    def made_up():
        now = admin.get("/api/v1/overview").ok()["server_time"]
        admin.post(f"/api/v1/tasks/{task['id']}/pause").ok()
        audit = admin.get(f"/api/v1/audit/fires?from={now - 60_000}&to={now}").ok()
        return audit if audit["expected"] >= 3 else None

    audit = wait_for(made_up)
    assert audit["unexplained"] == 0 and audit["duplicates"] == 0


@pytest.mark.embedded
def test_full_disk(start_server):
    """The file may not grow any more: creates are refused whole, results stay with the worker, reading goes on."""
    server = start_server()
    admin = server.set_up()
    token = admin.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]
    worker = Worker(server.client(token))
    worker.register()
    task = admin.post("/api/v1/tasks", {"task_name": "first", "executor_key": "test", "task_type": "delay"}).ok(201)
    run = admin.post(f"/api/v1/tasks/{task['id']}/runs").ok(201)
    given = worker.poll_run()
    size = max(path.stat().st_size for path in server.state.glob("ax.db*"))
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    refused = None
    for i in range(200):
        answer = admin.post("/api/v1/tasks", {"task_name": f"t{i}", "executor_key": "test", "task_type": "delay", "notes": "x" * 4000})
        if answer.status != 201:
            refused = answer
            break
    assert refused is not None and refused.status in (503, 507), refused and refused.text
    assert int(refused.headers.get("retry-after", 0)) > 0
    assert refused.json["code"] in ("out_of_space", "unavailable", "uncertain", "busy")
    report = worker.say("report", {"items": [worker.item(given, "result", outcome="success", code=0)]})
    assert report.status in (503, 507)
    names = {t["task_name"] for t in admin.get("/api/v1/tasks?limit=200").ok()["items"]}
    assert f"t{i}" not in names and "first" in names and len(names) == i + 1

    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    if worker.say("report", {"items": []}).status == 503:  # a store that failed to flush must be opened again
        server.kill()
        server.start()
        admin.server = worker.client.server = server
    assert worker.report(worker.item(given, "result", outcome="success", code=0))["verdicts"] == ["applied"]
    assert admin.get(f"/api/v1/runs/{run['gid']}").ok()["status"] == "SUCCESS"
    admin.post("/api/v1/tasks", {"task_name": f"t{i}", "executor_key": "test", "task_type": "delay"}).ok(201)


def test_log_lines_are_json(start_server):
    server = start_server()
    server.stop()
    lines = [json.loads(line) for line in server.log.read_text().splitlines()]
    assert [line["event"] for line in lines if line["level"] == "info"][0] == "started"
    assert all({"time", "level", "program", "event"} <= set(line) for line in lines)


def test_overload_is_refused_and_passes(start_server):
    server = start_server()
    admin = server.set_up()
    body = json.dumps({"task_name": "x", "executor_key": "test", "cron_expr": "bad"}).encode()
    request = (b"POST /api/v1/tasks HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nContent-Type: application/json\r\nCookie: ax=%s\r\n"
               b"X-AX-CSRF: %s\r\nContent-Length: %d\r\n\r\n" % (server.port, admin.cookie.encode(), admin.csrf.encode(), len(body))) + body
    os.kill(server.process.pid, 0)
    sockets = [socket.create_connection(("127.0.0.1", server.port)) for _ in range(50)]
    for s in sockets:
        s.sendall(request)
    for s in sockets:
        assert s.recv(65536).split(b" ")[1] in (b"400", b"503")
        s.close()
    assert admin.get("/api/v1/session").status == 200


def test_a_link_that_can_be_opened(start_server):
    """Nobody can open http://0.0.0.0."""
    server = start_server("--listen", "0.0.0.0:0", "--insecure-http")
    said = server.out.read_text()
    here = f"http://{socket.gethostname()}:{server.port}"
    assert f"  {here}/#/setup?token=" in said and f"axctl --server {here} setup" in said


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_tls(start_server, tmp_path):
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", str(key), "-out",
                    str(cert), "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
                   check=True, capture_output=True)
    server = start_server("--tls-cert", cert, "--tls-key", key)
    assert f"axctl --server {server.url} --ca {cert} setup" in server.out.read_text()
    assert server.url.startswith("https://")
    context = ssl.create_default_context(cafile=str(cert))
    import http.client
    connection = http.client.HTTPSConnection("127.0.0.1", server.port, context=context, timeout=10)
    body = json.dumps({"token": server.link("setup?token"), "user": "admin", "password": PASSWORD})
    connection.request("POST", "/api/v1/setup", body, {"Content-Type": "application/json"})
    response = connection.getresponse()
    cookie = response.headers["set-cookie"]
    assert response.status == 201 and cookie.startswith("__Host-ax=") and "; Secure" in cookie
    assert "max-age" in response.headers["strict-transport-security"]
    response.read()
    connection.request("GET", "/api/v1/session", headers={"Cookie": cookie.split(";")[0]})
    assert connection.getresponse().status == 200
    connection.close()
