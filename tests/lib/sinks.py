"""Receivers of alerts on free ports of 127.0.0.1: an HTTP server and a mail server that fail, hang and come back as told."""

import base64
import email
import email.policy
import http.server
import json
import socketserver
import ssl
import subprocess
import threading
import types


class HttpSink:
    """Keeps every request. `answer(request)` gives (status, body); `hang` keeps answers back until it is cleared."""

    def __init__(self, answer=lambda request: (200, "{}")):
        self.requests, self.answer, self.hanging = [], answer, threading.Event()
        self.hanging.set()
        self.lock = threading.Lock()
        sink = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                raw = self.rfile.read(int(self.headers.get("content-length", 0)))
                request = types.SimpleNamespace(path=self.path, headers=self.headers, raw=raw, json=json.loads(raw))
                with sink.lock:
                    sink.requests.append(request)
                sink.hanging.wait(60)
                status, body = sink.answer(request)
                try:
                    self.send_response(status)
                    if 300 <= status < 400:
                        self.send_header("Location", body)
                    self.send_header("Content-Length", str(len(body.encode())))
                    self.end_headers()
                    self.wfile.write(body.encode())
                except OSError:
                    pass  # the caller is gone

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = f"http://127.0.0.1:{self.port}/hook"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def hang(self):
        self.hanging.clear()

    def come_back(self):
        self.hanging.set()

    def events(self):
        """What webhooks were told, in order: events of answered requests."""
        with self.lock:
            return [event for request in self.requests for event in request.json["events"]]

    def close(self):
        self.come_back()
        self.server.shutdown()
        self.server.server_close()


def make_certificate(folder):
    """A certificate for localhost and its key, trusted by whoever trusts the certificate itself."""
    cert, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", str(key),
                    "-out", str(cert)], check=True, capture_output=True)
    return cert, key


class MailSink:
    """A mail server: `security` is none, starttls or tls; `login` is (user, password) or None; `refuse` maps a command to an
    answer, as {"RCPT": "550 no such user"}; `hang` keeps answers back until it is cleared."""

    def __init__(self, security="none", certificate=None, login=None, port=0):
        self.mails, self.logins, self.security, self.login, self.refuse = [], [], security, login, {}
        self.hanging = threading.Event()
        self.hanging.set()
        self.lock = threading.Lock()
        self.context = None
        if certificate is not None:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(*map(str, certificate))
        sink = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self):
                try:
                    sink.speak(self.request)
                except OSError:
                    pass

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        self.thread.start()

    def hang(self):
        self.hanging.clear()

    def come_back(self):
        self.hanging.set()

    def speak(self, sock):
        secure = self.security == "tls"
        if secure:
            sock = self.context.wrap_socket(sock, server_side=True)
        lines = sock.makefile("rb")

        def say(text):
            self.hanging.wait(60)
            sock.sendall(text.encode() + b"\r\n")

        say("220 sink")
        sender, recipients, signed_in = None, [], self.login is None
        while line := lines.readline():
            line = line.decode().rstrip("\r\n")
            verb = line.split(" ")[0].split(":")[0].upper()
            if verb in self.refuse:
                say(self.refuse[verb])
            elif verb == "EHLO":
                offers = ["250-sink", "250-8BITMIME"]
                if self.security == "starttls" and not secure:
                    offers.append("250-STARTTLS")
                if self.login is not None and (secure or self.security == "none"):
                    offers.append("250-AUTH PLAIN")
                say("\r\n".join(offers) + "\r\n250 HELP")
            elif verb == "STARTTLS":
                say("220 go")
                sock = self.context.wrap_socket(sock, server_side=True)
                lines, secure = sock.makefile("rb"), True
            elif verb == "AUTH":
                words = line.split(" ")
                if len(words) < 3:
                    say("334 ")
                    words.append(lines.readline().decode().strip())
                _, user, password = base64.b64decode(words[2]).decode().split("\0")
                with self.lock:
                    self.logins.append((user, password, secure))
                signed_in = (user, password) == self.login
                say("235 welcome" if signed_in else "535 no")
            elif verb == "MAIL":
                sender, recipients = line, []
                say("250 ok" if signed_in else "530 sign in first")
            elif verb == "RCPT":
                recipients.append(line)
                say("250 ok")
            elif verb == "DATA":
                say("354 go")
                data = b""
                while not data.endswith(b"\r\n.\r\n"):
                    data += lines.readline()
                with self.lock:
                    self.mails.append(Mail(sender, recipients, data[:-3]))
                say("250 taken")
            elif verb == "QUIT":
                say("221 bye")
                return
            else:
                say("250 ok")

    def close(self):
        self.come_back()
        self.server.shutdown()
        self.server.server_close()


class Mail:
    def __init__(self, sender, recipients, data):
        self.sender, self.recipients, self.data = sender, recipients, data
        self.message = email.message_from_bytes(data, policy=email.policy.default)

    @property
    def subject(self):
        return self.message["subject"]

    @property
    def text(self):
        return self.message.get_content()
