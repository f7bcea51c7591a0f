"""Setup, sign-in, sessions, tokens, limits, developer's mode."""

import re
import stat
import threading
import time

import pytest

from ax_server import PASSWORD, Answer, wait_for


def post_open(server, path, body, **headers):
    connection, response = server.client().open("POST", path, body, headers)
    answer = Answer(response)
    connection.close()
    return answer


# B164
def test_setup(start_server):
    server = start_server()
    anyone = server.client()
    assert anyone.get("/api/v1/setup").ok() == {"needed": True}
    assert "setup link" in anyone.get("/api/v1/tasks").refused(401, "unauthenticated")["detail"]
    anyone.post("/api/v1/session", {"user": "admin", "password": PASSWORD}).refused(401, "unauthenticated")
    token = server.link("setup?token")
    good = {"token": token, "user": "admin", "password": PASSWORD}
    anyone.post("/api/v1/setup", {**good, "token": "x" * 43}).refused(403, "denied", "token")
    anyone.post("/api/v1/setup", {**good, "token": ""}).refused(403, "denied", "token")
    for field, value in (("user", "a b"), ("user", ""), ("user", "dev"), ("password", "short"), ("password", "x" * 257), ("password", "ü" * 11)):
        anyone.post("/api/v1/setup", {**good, field: value}).refused(400, "invalid", field)
    anyone.post("/api/v1/setup", {**good, "user": "admin12345678", "password": "admin12345678"}).refused(400, "invalid", "password")
    anyone.post("/api/v1/setup", {**good, "role": "admin"}).refused(400, "invalid", "role")

    answer = anyone.post("/api/v1/setup", good)
    session = answer.ok(201)
    assert session["user"] == "admin" and session["role"] == "admin" and session["dev"] is False
    flags = answer.headers["set-cookie"]
    assert re.match(r"ax=[\w-]{43}; ", flags)
    assert "HttpOnly" in flags and "SameSite=Strict" in flags and "Path=/" in flags and "Secure" not in flags
    assert anyone.get("/api/v1/setup").ok() == {"needed": False}
    anyone.post("/api/v1/setup", good).refused(409, "conflict")
    server.stop()
    server.start()
    assert "setup" not in server.out.read_text()
    server.client().post("/api/v1/session", {"user": "admin", "password": PASSWORD}).ok()


def test_the_setup_link_works_once(start_server):
    server = start_server()
    good = {"token": server.link("setup?token"), "user": "admin", "password": PASSWORD}
    answers = []
    threads = [threading.Thread(target=lambda i=i: answers.append(server.client().post("/api/v1/setup", {**good, "user": f"admin{i}"})))
               for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answer.status for answer in answers)[0] == 201
    assert all(answer.status in (403, 409) for answer in answers if answer.status != 201)
    assert sum(answer.status == 201 for answer in answers) == 1


@pytest.mark.embedded
def test_a_setup_token_of_an_earlier_start_is_over(start_server):
    server = start_server()
    token = server.link("setup?token")
    server.stop()
    server.start()
    server.client().post("/api/v1/setup", {"token": token, "user": "admin", "password": PASSWORD}).refused(403, "denied")
    server.set_up()


def sign_in(server):
    answer = server.client().post("/api/v1/session", {"user": "admin", "password": PASSWORD})
    session = answer.ok()
    return server.client(cookie=re.match(r"ax=([^;]+)", answer.headers["set-cookie"]).group(1), csrf=session["csrf"])


def test_sign_in_and_out(server):
    one, two = sign_in(server), sign_in(server)
    assert one.cookie != two.cookie and one.csrf != two.csrf
    assert one.get("/api/v1/session").ok()["csrf"] == one.csrf
    # the CSRF value belongs to its session
    server.client(cookie=one.cookie, csrf=two.csrf).delete("/api/v1/session").refused(403, "denied", "X-AX-CSRF")
    answer = one.delete("/api/v1/session")
    assert answer.status == 204 and "Max-Age=0" in answer.headers["set-cookie"]
    one.get("/api/v1/session").refused(401, "unauthenticated")
    two.get("/api/v1/session").ok()
    two.delete("/api/v1/session").ok(204)


def test_sign_out_ends_open_streams(server):
    session = sign_in(server)
    connection, response = session.open("GET", "/api/v1/live")
    assert response.status == 200
    session.delete("/api/v1/session").ok(204)
    start = time.monotonic()
    while response.readline():
        pass
    assert time.monotonic() - start < 1
    connection.close()


@pytest.mark.parametrize("body", [{}, {"user": "admin"}, {"password": "x"}, {"user": 1, "password": "x"}, {"once": "x", "user": "a"},
                                  {"user": "admin", "password": PASSWORD, "remember": True}])
def test_bad_sign_ins(server, body):
    server.client().post("/api/v1/session", body).refused(400, "invalid")


def test_sign_in_needs_json_of_the_same_origin(server):
    body = {"user": "admin", "password": PASSWORD}
    for headers in ({"Content-Type": "text/plain"}, {"Origin": "https://elsewhere.example"}, {"Origin": "null"},
                    {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
        server.client().post("/api/v1/session", body, headers=headers).refused(403, "denied")
    server.client().post("/api/v1/session", body, headers={"Origin": server.url, "Sec-Fetch-Site": "same-origin"}).ok()


def test_sign_in_is_limited(start_server):
    server = start_server()
    admin = server.set_up()
    answers = [server.client().post("/api/v1/session", {"user": "nobody", "password": "x" * 12}) for _ in range(6)]
    for answer in answers[:5]:
        answer.refused(401, "unauthenticated")
    answers[5].refused(429, "busy")
    assert 1 <= int(answers[5].headers["retry-after"]) <= 61
    # another account is not locked by that, but the address has a limit of its own
    server.client().post("/api/v1/session", {"user": "admin", "password": PASSWORD}).ok()
    for i in range(15):
        server.client().post("/api/v1/session", {"user": f"nobody{i}", "password": "x" * 12}).refused(401, "unauthenticated")
    server.client().post("/api/v1/session", {"user": "admin", "password": PASSWORD}).refused(429, "busy")
    assert admin.get("/api/v1/session").status == 200
    refused = [entry for entry in admin.get("/api/v1/audit/log?limit=200").ok()["items"] if entry["action"] == "session.refused"]
    assert len(refused) == 20 and refused[0]["address"] == "127.0.0.1"


def test_unknown_users_take_as_long(start_server):
    server = start_server()
    server.set_up()

    def seconds(user):
        start = time.monotonic()
        server.client().post("/api/v1/session", {"user": user, "password": "wrong password!"}).refused(401, "unauthenticated")
        return time.monotonic() - start

    known, unknown = min(seconds("admin") for _ in range(3)), min(seconds("ghost") for _ in range(3))
    assert 0.5 < known / unknown < 2


def test_many_sign_ins_at_once_are_bounded(start_server):
    server = start_server()
    server.set_up()
    answers = []

    def attempt(i):
        answers.append(server.client().post("/api/v1/session", {"once": "x" * 40} if i % 2 else {"user": f"u{i}", "password": "x"}).status)

    threads = [threading.Thread(target=attempt, args=(i,)) for i in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) <= {401, 403, 429}


def test_tokens(server, admin, unique):
    made = admin.post("/api/v1/tokens", {"name": unique, "role": "viewer", "expire_days": 1}).ok(201)
    assert made["token"].startswith("axp_") and len(made["token"]) > 40
    assert abs(made["expire_time"] - made["create_time"] - 86_400_000) < 10
    client = server.client(made["token"])
    session = client.get("/api/v1/session").ok()
    assert session["user"] == unique and session["role"] == "viewer" and session["csrf"] is None
    server.client(made["token"].upper()).get("/api/v1/tasks").refused(401, "unauthenticated")
    server.client(made["token"][:-1]).get("/api/v1/tasks").refused(401, "unauthenticated")
    listed = wait_for(lambda: [t for t in admin.get("/api/v1/tokens").ok()["items"] if t["id"] == made["id"] and t["last_used_time"]])
    assert "token" not in listed[0]
    admin.delete(f"/api/v1/tokens/{made['id']}").ok(204)
    client.get("/api/v1/tasks").refused(401, "unauthenticated")
    admin.delete(f"/api/v1/tokens/{made['id']}").refused(404, "not_found")
    # sessions are no tokens of this list
    for id in range(1, 4):
        if str(id) not in [t["id"] for t in admin.get("/api/v1/tokens").ok()["items"]]:
            admin.delete(f"/api/v1/tokens/{id}").refused(404, "not_found")


@pytest.mark.embedded
def test_a_secret_is_not_in_the_file(server, admin, unique):
    made = admin.post("/api/v1/tokens", {"name": unique, "role": "viewer", "expire_days": 1}).ok(201)
    database = b"".join(path.read_bytes() for path in server.state.glob("ax.db*"))
    assert made["token"].encode() not in database and unique.encode() in database


@pytest.mark.parametrize("body,field", [
    ({}, "name"), ({"name": ""}, "name"), ({"name": "x"}, "role"), ({"name": "x", "role": "root"}, "role"),
    ({"name": "x", "role": "viewer", "worker_groups": ["default"]}, "role"), ({"name": "x", "worker_groups": []}, "worker_groups"),
    ({"name": "x", "worker_groups": ["*"]}, "worker_groups"), ({"name": "x", "worker_groups": ["nowhere"]}, "worker_groups"),
    ({"name": "x", "worker_groups": [1]}, "worker_groups"), ({"name": "x", "worker_groups": "default"}, "worker_groups"),
    ({"name": "x", "role": "viewer", "expire_days": 366}, "expire_days"), ({"name": "x", "role": "viewer", "expire_days": 0}, "expire_days")])
def test_bad_tokens(admin, body, field):
    admin.post("/api/v1/tokens", body).refused(400, "invalid", field)


def test_dev_mode(start_server):
    server = start_server("--dev")
    file = server.state / "dev.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(server.state.stat().st_mode) == 0o700
    import json
    dev = json.loads(file.read_text())
    assert dev["server"] == server.url and set(dev) == {"server", "token"}
    admin = server.client(dev["token"])
    session = admin.get("/api/v1/session").ok()
    assert session["dev"] and session["role"] == "admin"
    assert server.client().get("/api/v1/setup").ok() == {"needed": False}
    once = server.link("signin?once")
    answer = server.client().post("/api/v1/session", {"once": once})
    assert answer.ok()["user"] == "dev"
    cookie = re.match(r"ax=([^;]+)", answer.headers["set-cookie"]).group(1)
    server.client().post("/api/v1/session", {"once": once}).refused(403, "denied")
    server.stop()

    # none of that is worth anything to a server that is not in developer's mode
    server.options.remove("--dev")
    server.start()
    assert server.client().get("/api/v1/setup").ok() == {"needed": True}
    server.client(dev["token"]).get("/api/v1/tasks").refused(401, "unauthenticated")
    server.client(cookie=cookie).get("/api/v1/session").refused(401, "unauthenticated")


def test_sessions_live_in_the_store_not_in_memory(start_server):
    server = start_server()
    session = server.set_up()
    server.kill()
    server.start()
    session.server = server
    session.get("/api/v1/session").ok()
