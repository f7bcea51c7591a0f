"""Many POSTs at once, over connections that stay open: the server can commit them together."""

import json
import socket

from axbench.place import Failed

WINDOW = 4  # requests sent on a connection before its answers are read


class Many:
    def __init__(self, place, connections):
        self.place = place
        host, port = place.api.host.split(":")
        self.conns = [socket.create_connection((host, int(port))) for _ in range(connections)]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for conn in self.conns:
            conn.close()

    def post(self, paths, body=None):
        """The same body to each path; returns when all have been answered."""
        text = "" if body is None else json.dumps(body)
        head = (f"Host: {self.place.api.host}\r\nAuthorization: {self.place.api.headers['Authorization']}\r\n"
                f"Content-Type: application/json\r\nContent-Length: {len(text)}\r\n\r\n{text}")
        for at in range(0, len(paths), WINDOW * len(self.conns)):
            some = paths[at:at + WINDOW * len(self.conns)]
            shares = [(conn, some[i::len(self.conns)]) for i, conn in enumerate(self.conns)]
            for conn, share in shares:
                conn.sendall("".join(f"POST /api/v1{path} HTTP/1.1\r\n{head}" for path in share).encode())
            for conn, share in shares:
                take_answers(conn, len(share))


def take_answers(conn, n):
    text = b""
    while n and (text.count(b"HTTP/1.1 20") < n or not text.endswith(b"}")):
        part = conn.recv(1 << 20)
        if not part or b"HTTP/1.1 4" in text or b"HTTP/1.1 5" in text:
            raise Failed(f"a call was refused: {text[-500:]}")
        text += part
