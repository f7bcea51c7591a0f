"""A server that answers what a test tells it to, and remembers what it was asked."""

import json
import ssl
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Request:
    def __init__(self, method, path, query, headers, body):
        self.method, self.path, self.query, self.headers = method, path, query, headers
        self.text = body.decode()
        self.body = json.loads(body) if body else None

    def __repr__(self):
        return f"{self.method} {self.path} {self.query} {self.text}"


def problem(status, code, detail, field=None, **headers):
    body = {"type": "about:blank", "title": code, "status": status, "code": code, "detail": detail}
    if field:
        body["field"] = field
    return status, body, {"Content-Type": "application/problem+json", **headers}


class FakeServer:
    """on("GET", "/tasks", answer): answer is a body, (status, body[, headers]), or a function of the request that
    returns one of these; a function may also be a generator of bytes, sent as they come (event streams)."""

    def __init__(self, certificate=None):
        """`certificate`: PEM with its key, to speak TLS with."""
        self.routes, self.requests, self.lock = {}, [], threading.Lock()
        self.ready = True
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def handle_any(self):
                fake.handle(self)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def log_message(self, *args):
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http{'s' if certificate else ''}://127.0.0.1:{self.http.server_address[1]}"
        if certificate:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            self.http.socket = tls.wrap_socket(self.http.socket, server_side=True)
        self.thread = threading.Thread(target=self.http.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def on(self, method, path, answer):
        self.routes[method, path] = answer

    def close(self):
        self.http.shutdown()
        self.thread.join()
        self.http.server_close()

    def handle(self, http):
        url = urllib.parse.urlsplit(http.path)
        body = http.rfile.read(int(http.headers.get("Content-Length") or 0))
        if url.path == "/readyz":
            return self.answer(http, 200 if self.ready else 503, {})
        assert url.path.startswith("/api/v1"), url.path
        request = Request(http.command, url.path[len("/api/v1"):], dict(urllib.parse.parse_qsl(url.query)),
                          http.headers, body)
        with self.lock:
            self.requests.append(request)
        answer = self.routes.get((request.method, request.path),
                                 problem(404, "not_found", f"no {request.method} {request.path} here"))
        if callable(answer):
            answer = answer(request)
        if hasattr(answer, "__next__"):
            return self.stream(http, answer)
        self.answer(http, *(answer if isinstance(answer, tuple) else (200, answer)))

    def answer(self, http, status, body, headers=()):
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        http.send_response(status)
        for name, value in {"Content-Type": "application/json", **dict(headers), "Content-Length": str(len(data))}.items():
            http.send_header(name, value)
        http.end_headers()
        http.wfile.write(data)

    def stream(self, http, chunks):
        http.send_response(200)
        http.send_header("Content-Type", "text/event-stream")
        http.send_header("Connection", "close")
        http.end_headers()
        http.close_connection = True
        for chunk in chunks:
            http.wfile.write(chunk)
            http.wfile.flush()
