"""HTTP tasks and plug-in functions."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from shim import BUILD, wait_for

PLUGIN = BUILD / "lib/axworker/libax_example_plugin.so"


class Target:
    """What HTTP tasks call."""

    def __init__(self):
        target = self
        self.requests = []
        self.hold = threading.Event()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def answer(self):
                n = int(self.headers.get("Content-Length") or 0)
                body = self.rfile.read(n)
                target.requests.append((self.command, self.path, dict(self.headers), body))
                path = self.path.split("?")[0]
                status, extra, data = 200, {}, b"fine\n"
                if path.startswith("/status/"):
                    status, data = int(path[8:]), b"no good\nsecond line"
                elif path == "/hang":
                    target.hold.wait(30)
                elif path == "/big":
                    data = b"x" * (11 << 20)
                elif path == "/200k":
                    data = b"y" * 200_000
                elif path.startswith("/to/"):
                    status, extra, data = 302, {"Location": self.path[4:].replace("|", "/")}, b""
                elif path == "/loop":
                    status, extra, data = 307, {"Location": "/loop"}, b""
                self.send_response(status)
                for name, value in extra.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                try:
                    if self.command != "HEAD":
                        self.wfile.write(data)
                except OSError:
                    pass

            do_GET = do_POST = do_PUT = do_HEAD = do_DELETE = answer

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 1024

            def handle_error(self, request, address):
                pass

        self.httpd = Server(("127.0.0.1", 0), Handler)
        self.port = self.httpd.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self.httpd.serve_forever, args=(0.05,), daemon=True).start()

    def close(self):
        self.hold.set()
        self.httpd.shutdown()
        self.httpd.server_close()


@pytest.fixture
def target():
    t = Target()
    yield t
    t.close()


def call(server, seconds=15, **param):
    more = param.pop("more", {})
    gid = server.give(executor="http", param=param, **more)
    return gid, server.result(gid, seconds)


def test_a_call_and_what_it_carries(server, start_worker, target):
    start_worker(server)
    gid, result = call(server, url=target.url + "/job?x=1", headers={"X-Team": "billing"}, body={"n": 1},
                       more={"attempt": 2, "fence": 7, "rerun_of": "55"})
    assert (result["outcome"], result["code"]) == ("success", 200)
    method, path, headers, body = target.requests[0]
    assert (method, path, json.loads(body)) == ("POST", "/job?x=1", {"n": 1})
    assert headers["Idempotency-Key"] == headers["AX-Gid"] == gid
    assert (headers["AX-Attempt"], headers["AX-Fence"], headers["AX-Rerun-Of"]) == ("2", "7", "55")
    assert headers["traceparent"].startswith("00-") and headers["X-Team"] == "billing"
    assert headers["Content-Type"] == "application/json" and headers["User-Agent"].startswith("ax-worker/")
    assert server.output(gid) == "fine\n"


def test_a_call_that_sends_the_run(server, start_worker, target):
    start_worker(server)
    upstream = [{"task_id": "7", "task_name": "load", "gid": gid, "status": "SUCCESS", "result": {"rows": 3}, "result_omitted": False}
                for gid in ("71", "72")]
    more = {"params": {"day": "2026-11-29"}, "upstream": upstream}
    assert call(server, url=target.url, send_run=True, more=more)[1]["outcome"] == "success"
    method, _, headers, body = target.requests[0]
    assert (method, headers["Content-Type"], headers["AX-Upstream"]) == ("POST", "application/json", "71, 72")
    assert json.loads(body) == {"params": {"day": "2026-11-29"}, "upstream": upstream}
    assert call(server, url=target.url, send_run=True)[1]["outcome"] == "success"
    assert json.loads(target.requests[1][3]) == {"params": None, "upstream": []} and "AX-Upstream" not in target.requests[1][2]
    assert call(server, url=target.url, send_run=True, body="x")[1]["outcome"] == "refused"
    assert call(server, url=target.url, send_run="yes")[1]["outcome"] == "refused"


def test_methods_bodies_and_success_lists(server, start_worker, target):
    start_worker(server)
    assert call(server, url=target.url)[1]["outcome"] == "success"
    assert call(server, url=target.url, method="HEAD")[1]["outcome"] == "success"
    assert call(server, url=target.url, method="PUT", body="text")[1]["outcome"] == "success"
    assert call(server, url=target.url + "/status/404", success=[404])[1]["outcome"] == "success"
    assert [r[0] for r in target.requests] == ["GET", "HEAD", "PUT", "GET"]
    assert target.requests[2][3] == b"text" and target.requests[2][2]["Content-Type"].startswith("text/plain")
    result = call(server, url=target.url + "/status/500")[1]
    assert (result["outcome"], result["code"], result["message"]) == ("failed", 500, "HTTP status 500: no good")


def test_time_limit_and_cancel_abort_the_call(quick_server, start_worker, target):
    start_worker(quick_server)
    result = call(quick_server, url=target.url + "/hang", more={"timeout_s": 1})[1]
    assert result["outcome"] == "timeout" and result["duration_ms"] < 2500
    gid = quick_server.give(executor="http", param={"url": target.url + "/hang"})
    quick_server.wait_said(gid, "started")
    quick_server.stops = [{"gid": gid, "fence": 1, "reason": "cancel"}]
    assert quick_server.result(gid)["outcome"] == "cancelled"


def test_long_answers_are_cut_and_endless_ones_refused(server, start_worker, target):
    start_worker(server)
    gid, result = call(server, url=target.url + "/200k")
    assert result["outcome"] == "success" and server.output(gid) == "y" * 65536
    result = call(server, url=target.url + "/big")[1]
    assert result["outcome"] == "failed" and "10 MiB" in result["message"]


def test_redirects(server, start_worker, target):
    start_worker(server)
    assert call(server, url=target.url + "/to/|job")[1]["code"] == 302
    assert call(server, url=target.url + "/to/|job", follow_redirects=1)[1]["outcome"] == "success"
    assert call(server, url=target.url + "/loop", follow_redirects=3)[1]["code"] == 307
    assert sum(r[1] == "/loop" for r in target.requests) == 4
    # Each hop is vetted anew, and credentials do not go to another origin.
    result = call(server, url=target.url + "/to/http:||169.254.169.254|latest", follow_redirects=3)[1]
    assert result["outcome"] == "refused"
    result = call(server, url=target.url + "/to/ftp:||127.0.0.1|", follow_redirects=3)[1]
    assert result["outcome"] != "success"
    other = Target()
    try:
        here = f"{target.url}/to/http:||localhost:{other.port}|"
        assert call(server, url=here, follow_redirects=1, headers={"Authorization": "Bearer x", "Cookie": "c=1",
                                                                  "Accept": "text/plain"})[1]["outcome"] == "success"
        headers = other.requests[0][2]
        assert "Authorization" not in headers and "Cookie" not in headers and headers["Accept"] == "text/plain"
    finally:
        other.close()


@pytest.mark.parametrize("host", [
    "127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "0x7f000001", "017700000001", "[::1]", "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]", "[::127.0.0.1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]", "0.0.0.0", "0", "[::]", "169.254.169.254",
    "[fe80::1]", "10.0.0.1", "[fd00:ec2::254]", "100.100.100.200", "①②⑦.⓪.⓪.①"])
def test_guard_by_default_reaches_public_addresses_only(server, start_worker, target, host):
    start_worker(server, dev=False)
    result = call(server, url=f"http://{host}:{target.port}/")[1]
    assert result["outcome"] in ("refused", "failed"), result
    assert result["outcome"] == "refused" or "no address" in result["message"]
    assert target.requests == []


def test_policy_opens_loopback_by_host_and_port(server, start_worker, target):
    start_worker(server, dev=False, policy={"http_allow": [f"localhost:{target.port}", "169.254.169.254:80"]})
    assert call(server, url=f"http://LOCALHOST:{target.port}/")[1]["outcome"] == "success"
    assert call(server, url=target.url)[1]["outcome"] == "refused"
    assert call(server, url=f"http://localhost:{server.port}/")[1]["outcome"] == "refused"
    assert call(server, url="http://169.254.169.254/")[1]["outcome"] == "refused"


def test_dev_does_not_open_the_servers_own_port(server, start_worker, target):
    start_worker(server)
    assert call(server, url=f"http://localhost:{server.port}/worker/v1/leave")[1]["outcome"] == "refused"
    assert not server.leaves


@pytest.mark.parametrize("param", [
    {}, {"url": 5}, {"url": "file:///etc/passwd"}, {"url": "http://u:p@127.0.0.1/"}, {"url": "http://127.0.0.1 /"},
    {"url": "http://127.0.0.1\\@example.com/"}, {"url": "http://[fe80::1%25eth0]/"}, {"url": "gopher://127.0.0.1/"},
    {"url": "http://127.0.0.1:0/"}, {"url": "http://x/", "headers": {"Host": "y"}}, {"url": "http://x/", "headers": {"A": "b\r\nC: d"}},
    {"url": "http://x/", "headers": {"AX-Gid": "1"}}, {"url": "http://x/", "method": "get"}, {"url": "http://x/", "method": "TRACE"},
    {"url": "http://x/", "follow_redirects": 4}, {"url": "http://x/", "success": ["200"]}, {"url": "http://x/", "extra": 1}])
def test_bad_parameters_are_refused(server, start_worker, param):
    start_worker(server)
    gid = server.give(executor="http", param=param)
    result = server.result(gid)
    assert result["outcome"] == "refused" and result["message"]


def test_unreachable_targets_do_not_tell_whether_a_port_is_open(server, start_worker):
    start_worker(server)
    import socket
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        port = s.getsockname()[1]
    result = call(server, url=f"http://127.0.0.1:{port}/")[1]
    assert (result["outcome"], result["message"]) == ("failed", "the target could not be reached")
    assert "no address" in call(server, url="http://no-such-host.invalid/")[1]["message"]


def test_two_thousand_calls_at_once(server, start_worker):
    """Each target connection is answered only when all of them are there."""
    import asyncio
    n = 2000
    ready = threading.Event()
    box = {}

    async def serve():
        waiting = []
        done = asyncio.Event()

        async def handle(reader, writer):
            try:
                await reader.readuntil(b"\r\n\r\n")
                waiting.append(writer)
                if len(waiting) == n:
                    done.set()
                await done.wait()
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                await writer.drain()
            finally:
                writer.close()

        srv = await asyncio.start_server(handle, "127.0.0.1", 0, backlog=4096)
        box["port"] = srv.sockets[0].getsockname()[1]
        box["loop"], box["stop"] = asyncio.get_running_loop(), asyncio.Event()
        ready.set()
        await box["stop"].wait()
        srv.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    ready.wait(5)
    start_worker(server, "--groups", f"default:{n}")
    gids = [server.give(executor="http", param={"url": f"http://127.0.0.1:{box['port']}/"}) for _ in range(n)]
    server.wait(lambda: sum(i["type"] == "result" for _, _, i in server.items) == n, 60)
    outcomes = {i["outcome"] for _, _, i in server.items if i["type"] == "result"}
    assert outcomes == {"success"} and len(gids) == n
    box["loop"].call_soon_threadsafe(box["stop"].set)
    thread.join(5)


# ---- plug-ins

def test_plugin_functions(server, start_worker):
    start_worker(server, "--plugin", PLUGIN)
    server.wait(lambda: server.registrations)
    assert {"example.echo", "example.count", "exec", "http"} <= set(server.registrations[0]["executors"])
    gid = server.give(executor="example.echo", param={"a": [1, "ü"]})
    assert server.result(gid)["result"] == {"a": [1, "ü"]}
    gid = server.give(executor="example.count", param={"n": 3})
    assert server.result(gid)["outcome"] == "success"
    assert server.output(gid) == "1 of 3\n2 of 3\n3 of 3\n"
    assert server.said(gid, "progress")[-1]["percent"] == 100


def test_output_survives_the_worker_with_the_result(server, start_worker, target):
    """Nobody but the worker has the answer of a call and what a function printed; it is killed, twice."""
    worker = start_worker(server, "--plugin", PLUGIN)
    called = server.give(executor="http", param={"url": target.url + "/hang"})
    counted = server.give(executor="example.count", param={"n": 20})
    server.wait(lambda: target.requests and server.said(counted, "output"))
    server.down()
    target.hold.set()
    wait_for(lambda: worker.has_stored(called) and worker.has_stored(counted))
    for _ in range(2):
        worker.kill()
        worker.start()
    server.up()
    assert server.result(called)["outcome"] == server.result(counted)["outcome"] == "success"
    assert server.output(called) == "fine\n"
    assert server.output(counted) == "".join(f"{i} of 20\n" for i in range(1, 21))
    assert [len(server.said(gid, "result")) for gid in (called, counted)] == [1, 1]


def nested(levels):
    value = []
    for _ in range(levels - 1):
        value = {"[": value}
    return value


def test_results_are_nested_as_deep_as_servers_read(server, start_worker):
    start_worker(server, "--plugin", PLUGIN)
    gid = server.give(executor="example.echo", param=nested(29))
    assert server.result(gid)["result"] == nested(29)
    gid = server.give(executor="example.echo", param=nested(30))
    result = server.result(gid)
    assert result["code"] == -1 and "result" not in result  # the function was told, and says so


def test_what_the_server_refuses_of_a_result_is_left_out(server, start_worker):
    worker = start_worker(server, "--plugin", PLUGIN)
    server.refuse = lambda item: item.get("result") == "bad"
    with server.lock:  # they are told together
        bad = [server.give(executor="example.echo", param="bad") for _ in range(2)]
        good = server.give(executor="example.echo", param="good")
    for gid in bad:
        result = server.result(gid)
        assert result["outcome"] == "success" and "result" not in result
        assert result["message"] == " [its result was refused by the server and left out]"
    assert server.result(good)["result"] == "good"
    assert len(worker.log("result_left_out")) == 2 and not worker.log("item_given_up")


def test_progress_is_told_at_most_once_a_second(server, start_worker):
    start_worker(server, "--plugin", PLUGIN)
    gid = server.give(executor="example.count", param={"n": 25})
    assert server.result(gid)["outcome"] == "success"
    percents = [i["percent"] for i in server.said(gid, "progress")]
    assert percents == sorted(percents) and percents[-1] == 100 and 3 <= len(percents) <= 5


def test_functions_are_cancelled_and_timed_out(quick_server, start_worker):
    worker = start_worker(quick_server, "--plugin", PLUGIN)
    gid = quick_server.give(executor="example.count", param={"n": 1000}, timeout_s=1)
    result = quick_server.result(gid)
    assert (result["outcome"], result["message"]) == ("timeout", "asked to stop")
    gid = quick_server.give(executor="example.count", param={"n": 1000})
    quick_server.wait_said(gid, "started")
    quick_server.stops = [{"gid": gid, "fence": 1, "reason": "cancel"}]
    assert quick_server.result(gid)["outcome"] == "cancelled"
    gid = quick_server.give(executor="example.deaf", param={"n": 5}, timeout_s=1, grace_s=1)
    result = quick_server.result(gid)
    assert (result["outcome"], result["message"]) == ("timeout", "the function did not stop")
    worker.process.terminate()
    assert worker.end(15) == 0  # a function that goes on does not hold up the end


def test_fifty_functions_at_once_and_no_more(server, start_worker):
    start_worker(server, "--plugin", PLUGIN, "--groups", "default:50")
    started = time.monotonic()
    gids = [server.give(executor="example.count", param={"n": 5}) for _ in range(100)]
    for gid in gids:
        assert server.result(gid)["outcome"] == "success"
    assert 1.0 <= time.monotonic() - started < 6


def test_results_that_wait_are_told_together(server, start_worker, target):
    worker = start_worker(server, "--groups", "default:200")
    with server.lock:
        gids = {server.give(executor="http", param={"url": target.url + "/hang"}) for _ in range(200)}
    server.wait(lambda: {i["gid"] for i in server.heard if i["type"] == "started"} == gids)
    with server.lock:  # no report is taken meanwhile, and no more than one is under way
        target.hold.set()
        wait_for(lambda: worker.journal.read_text().count('"event":"end"') == 200)
    for gid in gids:
        assert server.result(gid)["outcome"] == "success"
    told = [when for when, _, item in server.items if item["type"] == "result"]
    assert max(told.count(when) for when in told) >= 100


def test_a_start_is_told_with_the_end_that_follows_at_once(server, start_worker):
    start_worker(server, "--plugin", PLUGIN)

    def most_of_fifty_together():
        gids = [server.give(executor="example.echo", param={}) for _ in range(50)]
        for gid in gids:
            server.result(gid)
        return sum(len({when for when, _, item in server.items if item["gid"] == gid}) == 1 for gid in gids) > 25
    wait_for(most_of_fifty_together, 60)  # a busy machine tears some apart


@pytest.mark.parametrize("path, why", [("/nonexistent.so", "cannot load"), ("libm.so.6", "axw_plugin_entry")])
def test_what_is_no_plugin_does_not_start(server, start_worker, path, why):
    worker = start_worker(server, "--plugin", path)
    assert worker.end() == 2
    assert why in worker.log_path.read_text()


def test_library_exports_only_its_own_names():
    import subprocess
    names = subprocess.run(["nm", "-D", "--defined-only", "--format=posix", BUILD / "lib/axworker/libaxworker.so"],
                           check=True, capture_output=True, text=True).stdout.split("\n")
    names = [line.split()[0] for line in names if line]
    assert names and all(n.startswith("axw_") for n in names)
    header = (BUILD.parent / "lib/axworker/include/axworker.h")
    if not header.exists():
        pytest.skip("the build folder is not beside the sources")
    text = header.read_text()
    assert all(n in text for n in names)


def test_embedding_program(server, tmp_path):
    import subprocess
    (tmp_path / "token").write_text("test-token")
    process = subprocess.Popen([BUILD / "lib/axworker/embed", server.url, tmp_path / "token", tmp_path / "state"],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        gid = server.give(executor="greet", param=None)
        assert server.result(gid)["outcome"] == "success" and server.output(gid) == "hello\n"
    finally:
        process.terminate()
        out, _ = process.communicate(timeout=15)
    assert process.returncode == 0 and gid in out
