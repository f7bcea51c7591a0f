"""Generated requests, right and wrong, to this server and to node:http: a stream that is accepted here is cut into the
same requests with the same bodies there. (Refusing more than node does is intended.)"""

import pathlib
import random
import shutil
import subprocess

import pytest
from conftest import Client

CASES = 10_000
HERE = pathlib.Path(__file__).parent

HEADERS = ["X: y", "X:", "X: y\tz ", "Connection: keep-alive", "Upgrade: h2c", "Accept: */*",
           # the rest are wrong or frame the body
           "Content-Length: 3", "Content-Length: 0", "Content-Length: 5", "Content-Length: 03", "Transfer-Encoding: chunked",
           "transfer-encoding:\tchunked ", "Content-Length : 3", "Content-Length: +3", "Content-Length: 3, 3",
           "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked, identity", "Host: b:80", "Connection: close",
           "X: \xe4", "X y: z", "Expect: 100-continue", " folded", ""]
BODIES = ["", "abc", "3\r\nabc\r\n0\r\n\r\n", "3;x=y\r\nabc\r\n0\r\n\r\n", "0\r\n\r\n", "0\r\nT: u\r\n\r\n", "3\r\nabc\r\n00\r\nT:\r\n\r\n",
          "0x3\r\nabc\r\n0\r\n\r\n", "3 \r\nabc\r\n0\r\n\r\n", "3\nabc\n0\n\n", "1\r\na\r\n2\r\nbc\r\n0\r\n\r\n", "3;\r\nabc\r\n0\r\n\r\n",
          "A\r\n0123456789\r\n0\r\n\r\n", "0;x\r\n\r\n", "0\r\nContent-Length: 5\r\n\r\n", "3\r\nabc\r\n0\r\nT: u\n\r\n"]
LINES = ["GET / HTTP/1.1", "POST / HTTP/1.1", "PUT /a?b HTTP/1.1", "DELETE /%20 HTTP/1.1", "GET / HTTP/1.0", "POST / HTTP/1.0",
         "HEAD / HTTP/1.1", "GET http://a/ HTTP/1.1", "GET /  HTTP/1.1", "get / HTTP/1.1", "GET / HTTP/1.2", "GET /"]
PROBE = b"PATCH /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"


def weighted(rng, things, first):
    """The first ones more often: most requests should be nearly right."""
    return rng.choice(things[:first]) if rng.random() < 0.8 else rng.choice(things)


def make_request(rng):
    end = "\r\n" if rng.random() < 0.99 else "\n"
    headers = [rng.choice(["Host: a", "host:a"])] if rng.random() < 0.98 else []
    headers += [weighted(rng, HEADERS, 6) for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    rng.shuffle(headers)
    body = weighted(rng, BODIES, 7)
    if rng.random() < 0.8 and not any(h.lower().startswith(("content-l", "transfer")) for h in headers):
        headers.append("Transfer-Encoding: chunked" if "\r\n" in body else f"Content-Length: {len(body)}")
    return end.join([weighted(rng, LINES, 4), *headers, "", body]).encode("latin-1")


def make_case(rng):
    data = b"".join(make_request(rng) for _ in range(rng.choice([1, 1, 2, 3])))
    if rng.random() < 0.2:
        i = rng.randrange(len(data))
        data = data[:i] + bytes([rng.choice(b"\r\n \t\0:;0A\x80")]) + data[i + rng.randrange(2):]
    return data + PROBE


def ask(port, data):
    """The bodies of the answers up to the first that is no 200, or the end."""
    client = Client(port)
    client.socket.settimeout(0.3)
    said = []
    try:
        client.send(data)
        rest = client.rest()
    except OSError:
        rest, client.buffer = client.buffer, b""
    while b"\r\n\r\n" in rest:
        head, rest = rest.split(b"\r\n\r\n", 1)
        if head.startswith(b"HTTP/1.1 100 "):
            continue
        if not head.startswith(b"HTTP/1.1 200 "):
            break
        length = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        n = int(length[0].split(b":")[1]) if length else 0
        said.append(rest[:n] if rest[:5] != b"HTTP/" else b"HEAD")
        rest = rest[n:] if rest[:5] != b"HTTP/" else rest
    client.close()
    return said


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_same_framing_as_node(start):
    server = start(oracle=1, headers_ms=200, body_ms=200, linger_ms=50)
    node = subprocess.Popen(["node", HERE / "oracle.js"], stdout=subprocess.PIPE, text=True)
    accepted = 0
    try:
        node_port = int(node.stdout.readline())
        rng = random.Random(20261129)
        for _ in range(CASES):
            data = make_case(rng)
            ours = ask(server.port, data)
            if not ours:
                continue
            theirs = ask(node_port, data)
            if ours[-1] == b"PATCH ":
                accepted += len(ours)
                assert ours == theirs, data
            else:  # refused at some point; node drops earlier answers when it finds fault in the same packet
                n = min(len(ours), len(theirs))
                assert ours[:n] == theirs[:n], data
    finally:
        node.terminate()
        node.wait(10)
        node.stdout.close()
    print(f"{accepted} requests of {CASES} connections were read alike")
    assert accepted > CASES / 4
