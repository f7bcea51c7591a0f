"""Requests that wait: long polls. Clients that leave, and a server that stops."""

import resource
import signal
import time

import pytest
from conftest import get, post

PARKED = 3000


@pytest.fixture(autouse=True)
def descriptors():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 16384), hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_three_thousand_parked_clients(start):
    server = start()
    before = server.stats()["resident_kb"]
    clients = [server.client().send(get("/park?worker=w", "User-Agent: ax-worker/0.1", "Authorization: Bearer " + "x" * 64))
               for _ in range(PARKED)]
    server.wait(lambda s: s["parked"] == PARKED)
    each = (server.stats()["resident_kb"] - before) * 1024 / PARKED
    print(f"{each:.0f} bytes for each parked request")
    assert each <= 8192 or "asan" in str(server.process.args[0])

    cpu = cpu_s(server)
    deadline = time.monotonic() + 1
    while time.monotonic() < deadline:
        pass
    assert cpu_s(server) - cpu <= 0.02, "parked requests cost time"

    for client in clients[:1000]:
        client.close()
    took = server.wait(lambda s: s["gone"] == 1000)
    print(f"1000 of {PARKED} left: seen after {took:.3f} s")
    assert took < 1
    assert server.stats()["parked"] == PARKED - 1000

    assert server.ask(post("/release", "")).body == b"2000"
    for client in clients[1000:]:
        assert client.answer().body == b"released"
        assert client.ask(get("/small")).status == 200, "the connection lives on"


def cpu_s(server):
    with open(f"/proc/{server.process.pid}/stat") as f:
        fields = f.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / 100


def test_all_parked_clients_leave(start):
    server = start()
    clients = [server.client().send(get("/park")) for _ in range(PARKED)]
    server.wait(lambda s: s["parked"] == PARKED)
    for client in clients:
        client.close()
    assert server.wait(lambda s: s["gone"] == PARKED) < 1
    assert server.stats()["connections"] == 1


def test_reset_is_seen(start):
    import socket
    import struct
    server = start()
    client = server.client().send(get("/park"))
    server.wait(lambda s: s["parked"] == 1)
    client.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    assert server.wait(lambda s: s["gone"] == 1) < 1


@pytest.mark.parametrize("waiting", [1000, 70_000])
def test_leaving_is_seen_behind_unread_bytes(start, waiting):
    """A client may send on while its request is parked; the server reads only 64 kB of it."""
    server = start()
    client = server.client().send(get("/park"))
    server.wait(lambda s: s["parked"] == 1)
    client.socket.setblocking(False)
    sent = 0
    data = get("/small").encode() * 40000
    try:
        while sent < waiting:
            sent += client.socket.send(data[sent:waiting])
    except BlockingIOError:
        pass
    assert server.stats()["resident_kb"] < 60_000 or "asan" in str(server.process.args[0])
    client.close()
    assert server.wait(lambda s: s["gone"] == 1) < 1.2


def test_what_waits_behind_a_parked_request_is_read_later(start):
    server = start()
    client = server.client().send(get("/park"))
    server.wait(lambda s: s["parked"] == 1)
    body = b"x" * 500_000  # beyond what is read ahead; fits the socket buffers of both sides
    client.send(post("/echo", body))
    assert server.ask(post("/release", "")).status == 200
    assert client.answer().body == b"released"
    assert client.answer().body.endswith(body)


def test_answers_that_cause_answers_do_not_nest(start):
    """Each released connection has a /release waiting, which releases the next park behind it, and so on."""
    server = start(connections_per_address_max=0)
    chain = get("/park").encode() + post("/release", "")
    clients = [server.client().send(chain * 30) for _ in range(300)]
    server.wait(lambda s: s["parked"] == 300)
    deadline = time.monotonic() + 20
    while (stats := server.stats())["total"] < 300 * 30 * 2:
        if stats["parked"] > 0:
            server.ask(post("/release", ""))
        assert time.monotonic() < deadline, stats
    for client in clients:
        for _ in range(60):
            assert client.answer().status == 200


def test_answer_after_leaving_goes_nowhere(start):
    server = start()
    clients = [server.client().send(get(f"/late?ms={300 + i % 50}&tag=x")) for i in range(200)]
    server.wait(lambda s: s["requests"] == 201)
    for client in clients:
        client.close()
    server.wait(lambda s: s["gone"] == 200)
    assert server.stats()["requests"] == 1
    client = server.client()
    assert client.ask(get("/late?ms=400")).status == 200  # the others' answers come meanwhile


def test_drain(start):
    server = start()
    parked = [server.client().send(get("/park")) for _ in range(300)]
    late = [server.client().send(get("/late?ms=300&tag=done")) for _ in range(20)]
    idle = [server.client() for _ in range(50)]
    for client in idle:
        assert client.ask(get("/small")).status == 200
    half = server.client().send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\na")
    server.wait(lambda s: s["requests"] == 321 and s["parked"] == 300)
    server.signal(signal.SIGTERM)
    for client in idle:
        assert client.is_closed()
    for client in parked:
        answer = client.answer()
        assert answer.body == b"draining" and answer.headers["connection"] == "close"
        assert client.is_closed()
    assert half.ask("b").status == 200 and half.is_closed()
    for client in late:
        assert client.answer().body == b"done" and client.is_closed()
    with pytest.raises(ConnectionRefusedError):
        server.client()
    assert server.process.wait(5) == 0


def test_drain_has_an_end(start):
    server = start(drain_ms=300)
    client = server.client().send(get("/late?ms=1500&tag=x"))
    server.wait(lambda s: s["requests"] == 2)
    server.signal(signal.SIGTERM)
    begin = time.monotonic()
    assert client.is_closed()
    assert 0.2 < time.monotonic() - begin < 1.2
    assert server.process.wait(5) == 0  # after the handler's late answer, which nobody hears


def test_drain_of_an_idle_server_is_at_once(start):
    server = start()
    begin = time.monotonic()
    server.signal(signal.SIGTERM)
    assert server.process.wait(5) == 0
    assert time.monotonic() - begin < 1
