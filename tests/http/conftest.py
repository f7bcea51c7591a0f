"""A test server per test (or module) and a client that says exactly the bytes it is told."""

import os
import pathlib
import signal
import socket
import subprocess
import time

import pytest

BUILD = pathlib.Path(os.environ.get("AX_BUILD", pathlib.Path(__file__).parents[2] / "build"))
PROGRAM = BUILD / "tests/http/http_test_server"


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __repr__(self):
        return f"Answer({self.status}, {self.headers}, {self.body[:80]!r})"


class Client:
    """One connection. Answers are read strictly: every byte must be accounted for."""

    def __init__(self, port, wrap=None, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(10)
        self.socket.connect(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if wrap:
            self.socket = wrap(self.socket)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data if isinstance(data, bytes) else data.encode())
        return self

    def _more(self):
        try:
            data = self.socket.recv(65536)
        except ConnectionResetError:
            data = b""
        self.buffer += data
        return data

    def until(self, mark):
        while mark not in self.buffer:
            assert self._more(), f"closed before {mark!r}: {self.buffer!r}"
        found, self.buffer = self.buffer.split(mark, 1)
        return found

    def exactly(self, n):
        while len(self.buffer) < n:
            assert self._more(), "closed within a body"
        found, self.buffer = self.buffer[:n], self.buffer[n:]
        return found

    def rest(self):
        """What comes until the server closes."""
        while self._more():
            pass
        found, self.buffer = self.buffer, b""
        return found

    def head(self):
        lines = self.until(b"\r\n\r\n").decode().split("\r\n")
        version, status, *_ = lines[0].split(" ", 2)
        assert version == "HTTP/1.1"
        headers = {}
        for line in lines[1:]:
            name, value = line.split(": ", 1)
            assert name.lower() not in headers, f"{name} twice"
            headers[name.lower()] = value
        return Answer(int(status), headers, b"")

    def answer(self, method="GET"):
        answer = self.head()
        if method == "HEAD" or answer.status in (100, 204, 304):
            return answer
        if answer.headers.get("transfer-encoding") == "chunked":
            while size := int(self.until(b"\r\n"), 16):
                answer.body += self.exactly(size)
                assert self.exactly(2) == b"\r\n"
            assert self.exactly(2) == b"\r\n"
        elif "content-length" in answer.headers:
            answer.body = self.exactly(int(answer.headers["content-length"]))
        else:
            answer.body = self.rest()
        return answer

    def ask(self, data, method="GET"):
        return self.send(data).answer(method)

    def rest_or_answer(self):
        """The answer, or None when the connection was closed instead."""
        try:
            if not self.buffer and not self._more():
                return None
        except BrokenPipeError:
            return None
        return self.answer()

    def is_closed(self):
        """True when the server closes without another byte."""
        return self.rest() == b""

    def close(self):
        self.socket.close()


class Server:
    def __init__(self, **config):
        self.process = subprocess.Popen(
            [PROGRAM] + [f"{name}={value}" for name, value in config.items()], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline().split()
        assert line and line[0] == "port", line
        self.port = int(line[1])
        self.clients = []
        self.stopping = False

    def client(self, **options):
        client = Client(self.port, **options)
        self.clients.append(client)
        return client

    def ask(self, data, method="GET"):
        client = Client(self.port)
        try:
            return client.ask(data, method)
        finally:
            client.close()

    def get(self, path, *headers):
        return self.ask(get(path, *headers))

    def stats(self):
        import json
        return json.loads(self.get("/stats").body)

    def wait(self, what, deadline_s=10):
        """Polls the numbers of /stats; returns how long it took."""
        start = time.monotonic()
        while not what(self.stats()):
            assert time.monotonic() - start < deadline_s, self.stats()
            time.sleep(0.005)
        return time.monotonic() - start

    def signal(self, number):
        self.stopping |= number == signal.SIGTERM
        self.process.send_signal(number)

    def stop(self):
        for client in self.clients:
            client.close()
        if not self.stopping:
            self.signal(signal.SIGTERM)
        code = self.process.wait(20)
        self.process.stdout.close()
        assert code == 0, f"the server ended with {code}"


def get(path, *headers):
    return "\r\n".join([f"GET {path} HTTP/1.1", "Host: test", *headers, "", ""])


def post(path, body, *headers):
    body = body.encode() if isinstance(body, str) else body
    head = [f"POST {path} HTTP/1.1", "Host: test", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(head).encode() + body


@pytest.fixture
def start():
    """start(**config) gives a server that is stopped, and whose exit is checked, after the test."""
    servers = []

    def make(**config):
        servers.append(Server(**config))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()


@pytest.fixture(scope="module")
def server():
    """One server with short lingering for tests that change nothing."""
    server = Server(linger_ms=200)
    yield server
    server.stop()
