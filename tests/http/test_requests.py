"""Requests as they should be."""

import pytest
from conftest import get, post


def lines(answer):
    head, _, body = answer.body.partition(b"\n\n")
    return head.decode().split("\n"), body


def test_echo(server):
    answer = server.get("/echo/%E4%BB%BB%E5%8A%A1%20a?name=b+c&x=%26&y&=z&name=2", "X-Two:  words here \t", "x-two: 2")
    assert answer.status == 200
    said, _ = lines(answer)
    assert said == [
        "method GET", "path /echo/任务 a", "query name=b+c&x=%26&y&=z&name=2", "peer 127.0.0.1", "tls 0",
        "header host=test", "header x-two=words here", "header x-two=2",
        "param name=b c", "param x=&", "param y=", "param =z", "param name=2", "body 0"]


def test_headers_of_every_answer(server):
    answer = server.get("/small")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["date"].endswith(" GMT")
    assert "connection" not in answer.headers
    odd = server.get("/odd").headers
    assert odd["server"] == "mine", "a handler's header replaces a configured one"
    assert odd["x-odd"] == "a  X-Injected: 1" and "x-injected" not in odd


def test_date_is_now(server):
    import email.utils
    import time
    date = email.utils.parsedate_to_datetime(server.get("/small").headers["date"]).timestamp()
    assert abs(date - time.time()) < 5


@pytest.mark.parametrize("request_, body", [
    (post("/echo", "abc"), b"abc"),
    (post("/echo", b"\0\xff\r\n"), b"\0\xff\r\n"),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", b"abcde"),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: Chunked\r\n\r\n0A;x=y\r\n0123456789\r\n0;z\r\nT: 1\r\n\r\n",
     b"0123456789"),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3;" + "x" * 64 + "\r\nabc\r\n0\r\n\r\n", b"abc"),
    ("POST /echo HTTP/1.1\r\nHost: t\r\n\r\n", b""),
    ("GET /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nok", b"ok"),
    ("\r\n\r\nGET /echo HTTP/1.1\r\nHost: t\r\n\r\n", b""),
    ("GET http://t:80/echo?q HTTP/1.1\r\nHost: T:80\r\n\r\n", b""),
    ("GET /echo HTTP/1.1\r\nHost: [::1]:80\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n\r\n", b""),
    ("POST /echo HTTP/1.1\r\nHost: t\r\nConnection: upgrade\r\nUpgrade: websocket\r\nContent-Length: 2\r\n\r\nhi", b"hi"),
])
def test_bodies(server, request_, body):
    client = server.client()
    for _ in range(2):  # also as the second request of a connection
        answer = client.ask(request_)
        assert answer.status == 200
        said, got = lines(answer)
        assert got == body and said[-1] == f"body {len(body)}"
        assert not any(line.startswith("header t=") for line in said), "trailers are dropped"
    # and cut at every byte
    data = request_ if isinstance(request_, bytes) else request_.encode()
    for byte in data:
        client.send(bytes([byte]))
    assert lines(client.answer())[1] == body


def test_pipelined_answers_keep_their_order(server):
    client = server.client()
    tags = [f"t{i}" for i in range(50)]
    client.send("".join(get(f"/late?ms={(50 - i) % 7}&tag={tag}") for i, tag in enumerate(tags)))
    assert [client.answer().body.decode() for _ in tags] == tags
    client.send("".join(get("/small") for _ in range(3000)))
    for _ in range(3000):
        assert client.answer().status == 200


def test_pipelined_bodies(server):
    client = server.client()
    client.send(b"".join(post("/echo", f"body {i}") + get("/late").encode() for i in range(200)))
    for i in range(200):
        assert lines(client.answer())[1] == f"body {i}".encode()
        assert client.answer().status == 200


def test_head(server):
    client = server.client()
    for path in ("/small", "/big?size=100000", "/stream", "/index.html"):
        answer = client.ask(get(path).replace("GET", "HEAD"), "HEAD")
        assert answer.status == 200
        assert ("content-length" in answer.headers) == (path != "/stream")
    assert client.ask(get("/small")).status == 200
    client = server.client()
    client.send("HEAD /small HTTP/1.1\r\n\r\n")
    assert client.head().status == 400 and client.is_closed()


def test_http_1_0(server):
    client = server.client()
    answer = client.ask("GET /small HTTP/1.0\r\n\r\n")
    assert answer.status == 200 and answer.headers["connection"] == "close" and client.is_closed()
    client = server.client()
    for _ in range(3):
        answer = client.ask("GET /small HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
        assert answer.headers["connection"] == "keep-alive"
    client = server.client()
    answer = client.ask("GET /stream?n=5 HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    assert "transfer-encoding" not in answer.headers and answer.headers["connection"] == "close"
    assert answer.body == b"s" * 50


def test_connection_close(server):
    client = server.client()
    answer = client.send(get("/small", "Connection: close") + get("/small")).answer()
    assert answer.headers["connection"] == "close" and client.is_closed()


def test_expect_continue(server):
    client = server.client()
    head = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
    assert client.ask(head).status == 100
    assert lines(client.ask("abc"))[1] == b"abc"
    assert client.ask(head + "abc").status == 200, "no 100 when the body is already there"
    refused = client.ask(head.replace("/echo", "/secret"))
    assert refused.status == 401 and client.is_closed()
    client = server.client()
    assert client.ask(head.replace(": 3", ": 2000000")).status == 413 and client.is_closed()
    assert server.ask(head.replace("HTTP/1.1", "HTTP/1.0") + "abc").status == 200


def test_routes(server):
    assert server.get("/nothing.here").status == 404
    answer = server.ask(post("/small", ""))
    assert answer.status == 405 and answer.headers["allow"] == "GET, HEAD"
    assert server.ask(get("/echo").replace("GET", "OPTIONS")).headers["allow"] == "GET, HEAD, POST, PUT, PATCH, DELETE"
    assert server.ask("OPTIONS * HTTP/1.1\r\nHost: t\r\n\r\n").status == 404
    answer = server.get("/secret")
    assert answer.status == 401 and b"Sign in first." in answer.body and b"unauthenticated" in answer.body


def test_no_content(server):
    client = server.client()
    answer = client.ask(post("/publish", "x"))
    assert answer.status == 204 and "content-length" not in answer.headers
    assert client.ask(get("/small")).status == 200


def test_discard(server):
    assert server.client().send(get("/cut")).is_closed()


def test_half_closed_client_gets_its_answers(server):
    """Answers already made are delivered; only waiting ones count as given up."""
    import socket
    client = server.client().send(get("/small") * 20)
    client.socket.shutdown(socket.SHUT_WR)
    for _ in range(20):
        assert client.answer().status == 200
    assert client.is_closed()
