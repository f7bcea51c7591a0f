"""Answers of unknown length: chunked streams, server-sent events, readers that are too slow."""

import signal

from conftest import get, post


def test_chunked(server):
    client = server.client()
    assert client.ask(get("/stream?n=4&size=25000")).body == b"s" * 100_000
    assert client.ask(get("/stream?n=0")).body == b""
    assert client.ask(get("/small")).status == 200


def test_pipelined_streams(server):
    client = server.client().send(get("/stream") * 30)
    for _ in range(30):
        assert client.answer().body == b"s" * 30


def next_event(client):
    size = int(client.until(b"\r\n"), 16)
    data = client.exactly(size)
    assert client.exactly(2) == b"\r\n"
    return data


def test_server_sent_events(start):
    server = start(sse_ping_ms=200)
    client = server.client().send(get("/events"))
    head = client.head()
    assert head.headers["content-type"] == "text/event-stream" and head.headers["cache-control"] == "no-store"
    assert next_event(client) == b": keep-alive\n\n"
    assert server.ask(post("/publish", "one\ntwo\r\nthree")).status == 204
    while (event := next_event(client)) == b": keep-alive\n\n":
        pass
    assert event == b"event: change\nid: 7\ndata: one\ndata: two\ndata: three\n\n"
    client.close()
    assert server.wait(lambda s: s["gone"] == 1) < 1


def test_events_end_with_the_server(start):
    server = start()
    clients = [server.client().send(get("/events")) for _ in range(20)]
    for client in clients:
        client.head()
    server.signal(signal.SIGTERM)
    for client in clients:
        assert client.rest() == b"0\r\n\r\n"


def test_flood_drops_the_reader(start):
    server = start(stream_max_bytes=1_000_000)
    client = server.client(receive_buffer=4096).send(get("/flood"))
    server.wait(lambda s: s["gone"] == 1)
    assert len(client.rest()) < 10_000_000
    assert server.stats()["resident_kb"] < 60_000 or "asan" in str(server.process.args[0])


def test_slow_event_reader_is_dropped(start):
    server = start(stream_max_bytes=200_000)
    slow = server.client(receive_buffer=4096).send(get("/events"))
    fast = server.client().send(get("/events"))
    slow.head(), fast.head()
    publisher = server.client()
    payload = "x" * 100_000
    for _ in range(1000):
        assert publisher.ask(post("/publish", payload)).status == 204
        assert len(next_event(fast)) > 100_000
        if server.stats()["gone"] == 1:
            break
    else:
        raise AssertionError("the slow reader was kept")


def test_stream_to_http_1_0(server):
    answer = server.ask("GET /stream?n=3 HTTP/1.0\r\n\r\n")
    assert answer.body == b"s" * 30 and "transfer-encoding" not in answer.headers


def test_large_answers_to_a_client_that_pipelines_but_does_not_read(start):
    """The server must not gather a gigabyte of answers."""
    server = start()
    client = server.client(receive_buffer=4096).send(get("/big?size=1000000") * 100)
    server.wait(lambda s: s["total"] > 5)
    assert server.stats()["resident_kb"] < 60_000 or "asan" in str(server.process.args[0])
    for _ in range(5):
        assert len(client.answer().body) == 1_000_000
