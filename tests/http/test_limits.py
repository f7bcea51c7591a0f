"""Sizes, numbers and times: each limit just met and just passed."""

import socket
import time

import pytest
from conftest import get, post

MIB = 1 << 20


def test_request_line(server):
    line = "GET /echo?" + "a" * 4000 + "&" * 96 + " HTTP/1.1\r\nHost: t\r\n\r\n"
    assert server.ask(line).status == 200
    path = "/" + "a" * (8192 - len("GET / HTTP/1.1"))
    assert server.get(path + ".x").status == 414
    assert server.get(path[:-2] + ".x").status == 404


def test_headers(server):
    assert server.get("/small", *["A: b"] * 99).status == 200
    filler = "A: " + "b" * (16384 - len("Host: test\r\n") - len("A: \r\n"))
    assert server.get("/small", filler).status == 200
    assert server.get("/small", filler + "b").status == 431


# B159
def test_body(server):
    assert server.ask(post("/echo", b"x" * MIB)).status == 200
    assert server.ask(post("/echo", b"x" * (MIB + 1))).status == 413
    assert server.ask(post("/import", b"x" * (8 * MIB))).status == 200
    assert server.ask(post("/import", b"x" * (8 * MIB + 1))).status == 413


def test_large_refused_body_does_not_cost_the_answer(server):
    """The client is still sending when the answer comes: it must not be lost to a reset."""
    client = server.client()
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9000000\r\n\r\n")
    try:
        for _ in range(50):
            client.send(b"x" * 10000)
    except (BrokenPipeError, ConnectionResetError):
        pytest.fail("the connection was cut while the client was sending")
    assert client.answer().status == 413


def test_bodies_in_all(start):
    server = start(bodies_max_bytes=3 * MIB, linger_ms=100)
    half = b"POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n" + b"x" * 999999
    clients = [server.client().send(half) for _ in range(3)]
    server.wait(lambda s: s["bodies_bytes"] == 3 * 999999)
    assert server.ask(post("/echo", b"x" * 900000)).status == 503
    for client in clients:
        assert client.ask("x").status == 200
    assert server.ask(post("/echo", b"x" * 900000)).status == 200
    server.wait(lambda s: s["bodies_bytes"] == 0)


def test_connections(start):
    server = start(connections_max=10, connections_per_address_max=0)
    clients = [server.client() for _ in range(10)]
    for client in clients:
        assert client.ask(get("/small")).status == 200
    assert server.client().is_closed()
    clients[0].close()
    wait_for_room(server)


def test_connections_per_address(start):
    server = start(connections_per_address_max=5)
    clients = [server.client() for _ in range(5)]
    for client in clients:
        assert client.ask(get("/small")).status == 200
    assert server.client().is_closed()
    with socket.socket() as other:
        other.bind(("127.0.0.2", 0))
        other.connect(("127.0.0.1", server.port))
        other.sendall(get("/small").encode())
        assert other.recv(100).startswith(b"HTTP/1.1 200")
    clients[0].close()
    wait_for_room(server)


def wait_for_room(server):
    deadline = time.monotonic() + 5
    while True:
        client = server.client().send(get("/small"))
        if client.rest_or_answer():
            client.close()
            return
        assert time.monotonic() < deadline


def test_listens_on_ipv6(start):
    server = start(address="::")
    assert b"peer 127.0.0.1\n" in server.get("/echo").body
    with socket.socket(socket.AF_INET6) as six:
        six.settimeout(10)
        six.connect(("::1", server.port))
        six.sendall(get("/echo", "Connection: close").encode())
        assert b"peer ::1\n" in six.recv(4096)


# --- times ---


def closes_after(client, low_s, high_s):
    start = time.monotonic()
    said = client.rest()
    passed = time.monotonic() - start
    assert low_s <= passed <= high_s, f"closed after {passed:.2f} s"
    return said


def test_silent_connection(start):
    server = start(headers_ms=300, idle_ms=60000)
    assert closes_after(server.client(), 0.2, 2) == b""


# B159
def test_slow_headers(start):
    """Slowloris: a header line now and then does not buy time."""
    server = start(headers_ms=500, linger_ms=100)
    client = server.client().send("GET /small HTTP/1.1\r\n")
    start_s = time.monotonic()
    client.socket.settimeout(0.05)
    while time.monotonic() - start_s < 5:
        try:
            client.send("A: b\r\n")
            if client._more():
                break
        except socket.timeout:
            continue
        except (BrokenPipeError, ConnectionResetError):
            break
    client.socket.settimeout(10)
    assert 0.4 < time.monotonic() - start_s < 2
    answer = client.answer()
    assert answer.status == 408 and answer.headers["connection"] == "close"


def test_slow_second_request(start):
    server = start(headers_ms=300, linger_ms=100, idle_ms=60000)
    client = server.client()
    assert client.ask(get("/small")).status == 200
    client.send("GET /small")
    assert closes_after(client, 0.2, 2).startswith(b"HTTP/1.1 408 ")


# B159
def test_slow_body(start):
    server = start(body_ms=400, linger_ms=100)
    client = server.client().send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\n12345")
    assert closes_after(client, 0.3, 2).startswith(b"HTTP/1.1 408 ")
    # eight MiB may take eight times as long
    client = server.client().send("POST /import HTTP/1.1\r\nHost: t\r\nContent-Length: 8000000\r\n\r\n12345")
    assert closes_after(client, 3, 6).startswith(b"HTTP/1.1 408 ")


def test_body_has_time_of_its_own(start):
    server = start(headers_ms=300, body_ms=30000)
    client = server.client().send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\na")
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        assert server.get("/small").status == 200
    assert client.ask("b").status == 200


def test_idle(start):
    server = start(headers_ms=60000, idle_ms=400)
    client = server.client()
    for _ in range(3):  # each request begins the time anew
        assert client.ask(get("/late?ms=250")).status == 200
    assert closes_after(client, 0.3, 2) == b""


def test_parked_request_has_no_time_limit(start):
    server = start(headers_ms=100, idle_ms=100, body_ms=100, stall_ms=100)
    client = server.client()
    assert client.ask(get("/late?ms=1000&tag=x")).body == b"x"


def test_stalled_reader(start):
    server = start(stall_ms=300)
    client = server.client(receive_buffer=4096).send(get("/big?size=30000000"))
    client.exactly(1)
    server.wait(lambda s: s["connections"] == 1)  # only the one that asks
    slow = server.client(receive_buffer=4096).send(get("/big?size=3000000"))
    answer = slow.head()
    got = 0
    while got < 3000000:
        deadline = time.monotonic() + 0.01
        got += len(slow.exactly(min(60000, 3000000 - got)))
        while time.monotonic() < deadline:
            pass
    assert answer.status == 200, "slow but not stalled"


def test_lingering_ends(start):
    server = start(linger_ms=300)
    client = server.client().send("nonsense\r\n\r\n")
    assert client.answer().status == 400
    server.wait(lambda s: s["connections"] == 1, deadline_s=3)
