"""Every route: without a credential, with too little of a right, with the wrong CSRF header; and its description."""

import json
import re
import subprocess
import sys

import pytest

from ax_server import OPENAPI, ROOT, wait_for

ROUTES = [
    (method, path, may)
    for method, path, may in re.findall(r'^AX_ROUTE\((\w+),\s*"([^"]+)",\s*(\w+)', (ROOT / "src/server/routes.def").read_text(), re.M)
]
ROLES = ["viewer", "operator", "editor", "admin"]
NEEDED = {"VIEW": 0, "OPERATE": 1, "EDIT": 2, "ADMINISTER": 3}
CLOSED = [route for route in ROUTES if route[2] != "ANYONE"]


def fill(path):
    return re.sub(r"{\w+}", "1", path)


def body_of(method):
    return {} if method in ("POST", "PATCH") else None


def test_there_are_routes():
    assert len(ROUTES) > 45


# B171, B164
@pytest.mark.parametrize("method,path,may", CLOSED)
def test_no_credential(server, method, path, may):
    answer = server.client().call(method, fill(path), body_of(method))
    answer.refused(401, "unauthenticated")
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize("credential", ["", "x", "axp_", "axp_" + "A" * 43, "axp_" + "A" * 5000])
def test_wrong_credential(server, credential):
    server.client(credential).get("/api/v1/tasks").refused(401, "unauthenticated")


# B168
@pytest.mark.parametrize("method,path,may", CLOSED)
def test_too_little_right(server, method, path, may):
    for role in [*ROLES, "worker"]:
        if may == "WORK":
            allowed = role == "worker"
        else:
            allowed = role != "worker" and ROLES.index(role) >= NEEDED[may]
        if allowed:
            continue
        server.client(server.tokens[role]).call(method, fill(path), body_of(method)).refused(403, "denied")


@pytest.mark.parametrize("method,path,may", [r for r in CLOSED if r[0] != "GET" and r[2] != "WORK"])
def test_wrong_csrf(server, method, path, may):
    session = server.admin_session
    for csrf in (None, "", "x" * len(session.csrf)):
        client = server.client(cookie=session.cookie, csrf=csrf)
        client.call(method, fill(path), body_of(method)).refused(403, "denied")
    plain = server.client(cookie=session.cookie, csrf=session.csrf)
    plain.call(method, fill(path), body_of(method), headers={"Content-Type": "text/plain"}).refused(403, "denied")
    plain.call(method, fill(path), body_of(method), headers={"Origin": "https://elsewhere.example"}).refused(403, "denied")
    plain.call(method, fill(path), body_of(method), headers={"Sec-Fetch-Site": "cross-site"}).refused(403, "denied")


def test_denied_calls_are_in_the_audit_log(server, admin):
    server.client(server.tokens["viewer"]).delete("/api/v1/tasks/424242").refused(403, "denied")
    wait_for(lambda: any(entry["object"] == "call:DELETE /api/v1/tasks/424242" and entry["actor"] == "token the-viewer"
                         for entry in admin.get("/api/v1/audit/log?limit=200").ok()["items"]))


def test_a_token_is_no_cookie_and_a_cookie_no_token(server):
    server.client(cookie=server.tokens["admin"]).get("/api/v1/tasks").refused(401, "unauthenticated")
    server.client(server.admin_session.cookie).get("/api/v1/tasks").refused(401, "unauthenticated")


def test_description_has_every_route_and_no_other(server):
    served = server.client().get("/api/v1/openapi.json").ok()
    assert served == OPENAPI
    described = {(method.upper(), path) for path, methods in served["paths"].items() for method in methods}
    assert described == {(method, path) for method, path, _ in ROUTES}


def test_description_is_up_to_date():
    subprocess.run([sys.executable, str(ROOT / "tools/gen_openapi.py"), "--check"], check=True)


def test_tour_names_only_real_calls():
    """Each call of docs/api.md exists."""
    described = {(method.upper(), re.sub(r"{\w+}", "{}", path))
                 for path, methods in OPENAPI["paths"].items() for method in methods}
    text = (ROOT / "docs/api.md").read_text()
    for methods, path in re.findall(r"`((?:GET|POST|PATCH|DELETE)(?:/(?:GET|POST|PATCH|DELETE))*) (/[^`?]+)", text):
        path = re.sub(r"{\w+}", "{}", path)
        for method in methods.split("/"):
            full = path if path.startswith("/api/v1") else "/api/v1" + path
            assert (method, full) in described, (method, path)


def test_state_machine_page_is_up_to_date(server):
    text = subprocess.run([server.options[0], "--print-state-machine"], check=True, capture_output=True, text=True).stdout
    assert text == (ROOT / "docs/state-machine.md").read_text()


# B173
def test_headers_of_every_answer(server):
    for path in ("/", "/api/v1/tasks", "/nothing", "/healthz"):
        headers = server.client().open("GET", path)[1].headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in headers
    assert server.client().get("/api/v1/tasks").headers["cache-control"] == "no-store"


def test_unknown_paths_and_methods(server, admin):
    admin.get("/api/v1/nothing").refused(404, "not_found")
    answer = admin.call("DELETE", "/api/v1/tasks")
    answer.refused(405, "method_not_allowed")
    assert set(answer.headers["allow"].split(", ")) >= {"GET", "POST"}


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "localhost.evil.example:{port}"])
def test_foreign_host_names_are_refused(server, host):
    answer = server.client(server.tokens["admin"]).open("GET", "/api/v1/tasks", headers={"Host": host.format(port=server.port)})[1]
    assert answer.status == 421


@pytest.mark.parametrize("host", ["localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}"])
def test_own_host_names(server, host):
    answer = server.client(server.tokens["admin"]).open("GET", "/api/v1/tasks", headers={"Host": host.format(port=server.port)})[1]
    assert answer.status == 200


def test_reading_pages_of_everything(server, admin):
    for path in ("tasks", "runs", "groups", "workers", "servers", "tokens", "audit/log", "overview", "audit/fires", "session"):
        admin.get(f"/api/v1/{path}").ok()
    assert json.loads(json.dumps(admin.get("/api/v1/servers").json["items"][0]))["store"] in ("sqlite", "mariadb")
    text = admin.get("/metrics").text.decode()
    for name in ("ax_fires_total", "ax_fire_lateness_seconds_bucket", "ax_runs{", "ax_tick_age_seconds", "ax_oldest_overdue_seconds",
                 "ax_commits_total", "ax_quota_differs_total"):
        assert name in text
    assert server.client().get("/healthz").ok()["status"] == "ok"
    assert server.client().get("/readyz").ok()["status"] == "ok"
