"""A server of docs/protocol.md for tests: strict about what workers send, and as unkind as a test wants."""

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

FIELDS = {
    "register": {"worker", "incarnation", "groups", "executors", "tags", "version", "running"},
    "poll": {"worker", "incarnation", "number", "free", "wait_ms"},
    "report": {"worker", "incarnation", "unanswered", "items"},
    "leave": {"worker", "incarnation"},
}
ITEM_FIELDS = {
    "accepted": set(),
    "started": set(),
    "heartbeat": set(),
    "progress": {"percent", "message"},
    "output": {"seq", "data"},
    "result": {"outcome", "code", "message", "duration_ms", "signal", "result"},
}
REQUIRED = {
    "accepted": set(), "started": set(), "heartbeat": set(), "progress": {"percent"}, "output": {"seq", "data"},
    "result": {"outcome", "code", "message", "duration_ms"},
}
TOKEN = "test-token"


class FakeServer:
    def __init__(self, port=0, peer=None, **durations):
        """`peer`: another server of the same database."""
        self.lock = peer.lock if peer else threading.Condition()
        self.durations = {"heartbeat_ms": 15000, "lease_ms": 45000, "accept_ms": 15000, "poll_wait_ms": 5000,
                          "start_within_ms": 12000, "unreachable_ms": 35000, **(peer.durations if peer else {}), **durations}
        self.runs = []           # waiting for a poll
        self.items = peer.items if peer else []  # (time, incarnation, item)
        self.heard = []          # items that came to this server
        self.registrations = []
        self.polls = []
        self.leaves = []
        self.store_id = None     # of its database; None = a server that does not tell
        self.strays = []         # calls that were meant for another database
        self.reports = 0
        self.faults = []         # what a worker sent against the protocol
        self.stops = []          # said with the next report's answer
        self.register_stops = []
        self.duplicate_polls = False
        self.delay_poll_answer = 0.0
        self.unanswered = set()  # numbers of polls, as workers named them
        self.brought = {}        # gid: the number of the poll that was answered with it last
        self.connected = 0       # so often
        self.busy_group = None   # polls for it are answered 503
        self.drain = False
        self.status = None       # answer everything with this status
        self.refused = 0         # times
        self.verdict = lambda item: "applied"
        self.refuse = lambda item: False  # 400 for a report with such an item
        self.held = {}           # kind: an event that answers to reports with such an item wait for
        self.poll_stops = []     # said with the next poll's answer
        self.next_gid = 5000 if peer else 1000
        self.port = port
        self.httpd = None
        self.up()

    # ---- being there

    def up(self):
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def log_message(self, *args):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                status, answer = fake.handle(self.path, self.headers, body)
                data = json.dumps(answer).encode()
                try:
                    self.send_response(status)
                    self.send_header("Content-Type", "application/json")
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    self.wfile.write(data)
                except OSError:
                    pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128
            connections = set()

            def process_request(self, request, address):
                self.connections.add(request)
                fake.connected += 1
                super().process_request(request, address)

            def handle_error(self, request, address):
                pass

        self.is_up = True
        self.httpd = Server(("127.0.0.1", self.port), Handler)
        self.port = self.httpd.server_address[1]
        threading.Thread(target=self.httpd.serve_forever, args=(0.02,), daemon=True).start()

    def down(self):
        """As a machine that is gone: no connection stays, none is accepted."""
        with self.lock:
            self.is_up = False
            self.lock.notify_all()
        self.httpd.shutdown()
        self.httpd.server_close()
        for c in list(self.httpd.connections):
            try:
                c.shutdown(2)
            except OSError:
                pass
        self.httpd = None

    close = down

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    # ---- the protocol

    def fault(self, text):
        self.faults.append(text)
        return 400, {"code": "invalid", "detail": text}

    def handle(self, path, headers, body):
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"code": "denied", "detail": "unknown token"}
        what = path.removeprefix("/worker/v1/")
        if self.store_id and headers.get("AX-Store-Id", self.store_id) != self.store_id:
            self.strays.append(what)
            return 409, {"code": "other_store", "detail": "another store"}
        if self.status:
            self.refused += 1
            return self.status, {"code": {404: "unknown_worker", 409: "superseded"}.get(self.status, "busy")}
        try:
            request = json.loads(body)
        except ValueError as e:
            return self.fault(f"not JSON: {e}")
        if what not in FIELDS or set(request) - FIELDS[what] or len(body) > 4 << 20:
            return self.fault(f"{what}: {sorted(request)} {len(body)}")
        return getattr(self, what)(request)

    def register(self, request):
        if set(request) != FIELDS["register"]:
            return self.fault("register: fields are missing")
        with self.lock:
            self.registrations.append(request)
            self.lock.notify_all()
            store = {"store_id": self.store_id} if self.store_id else {}
            return 200, {**self.durations, "server": "fake", "stop": self.register_stops, **store}

    def poll(self, request):
        end = time.monotonic() + request["wait_ms"] / 1000
        with self.lock:
            # the same one may come again: libcurl repeats it when a kept connection was reset before the answer began
            if any(poll["number"] == request["number"] and poll != request for poll in self.polls if poll["incarnation"] == request["incarnation"]):
                return self.fault("a poll has the number of another")
            self.polls.append(request)
            if any(f["group"] == self.busy_group for f in request["free"]):
                return 503, {"code": "busy", "detail": "not now"}
            slots = {f["group"]: f["slots"] for f in request["free"]}
            out = []
            while self.is_up:
                for run in list(self.runs):
                    if slots.get(run["group"], 0) > 0:
                        slots[run["group"]] -= 1
                        self.brought[run["gid"]] = request["number"]
                        self.runs.remove(run)
                        out.append(run)
                left = end - time.monotonic()
                if out or self.poll_stops or left <= 0:
                    break
                self.lock.wait(left)
            stops, self.poll_stops = self.poll_stops, []
            delay = self.delay_poll_answer if out else 0
        time.sleep(delay)  # the answer is late on purpose
        if self.duplicate_polls:
            out = out + out
        return 200, {"runs": out, "stop": stops, "drain": self.drain}

    def report(self, request):
        items = request["items"]
        self.unanswered.update(request.get("unanswered", []))
        if len(items) > 1000:
            return self.fault("more than 1000 items")
        for item in items:
            kind = item.get("type")
            known = ITEM_FIELDS.get(kind, set())
            given = set(item) - {"type", "gid", "fence"}
            if given - known or REQUIRED.get(kind, {"?"}) - given or not isinstance(item["gid"], str):
                return self.fault(f"item: {item}")
            if kind == "output" and len(item["data"].encode()) > 65536:
                return self.fault("output item over 64 KiB")
            if kind == "result" and len(item["message"].encode()) > 4000:
                return self.fault("message over 4000 bytes")
        if any(self.refuse(item) for item in items):
            return 400, {"code": "invalid", "detail": "an item is not taken"}
        with self.lock:
            now = time.monotonic()
            self.reports += 1
            self.items += [(now, request["incarnation"], item) for item in items]
            self.heard += items
            stops, self.stops = self.stops, []
            self.lock.notify_all()
            answer = {"verdicts": [self.verdict(i) for i in items], "stop": stops, "drain": self.drain}
            holds = [self.held[i["type"]] for i in items if i["type"] in self.held]
        for event in holds:
            event.wait(20)
        return 200, answer

    def leave(self, request):
        with self.lock:
            self.leaves.append(request)
            self.lock.notify_all()
        return 200, {}

    # ---- for tests

    def give(self, executor="exec", param=None, **more):
        """A run for the next poll; its gid."""
        with self.lock:
            gid = str(more.pop("gid", self.next_gid))
            self.next_gid += 1
            self.runs.append({
                "gid": gid, "task_id": "42", "task": "nightly", "group": "default", "executor": executor,
                "param": param, "attempt": 1, "fence": 1, "priority": 5, "trigger_ms": 1764451200000,
                "kind": "schedule", "timeout_s": 60, "grace_s": 5, "on_unreachable": "kill", "start": "optimistic",
                "traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "params": None,
                "rerun_of": None, "retry_times": 0, **more})
            self.lock.notify_all()
            return gid

    def said(self, gid, kind):
        with self.lock:
            return [item for _, _, item in self.items if item["gid"] == gid and item["type"] == kind]

    def wait(self, what, seconds=15):
        end = time.monotonic() + seconds
        with self.lock:
            while True:
                value = what()
                if value:
                    return value
                left = end - time.monotonic()
                assert left > 0, f"did not happen in {seconds} s; items: {self.items[-5:]} faults: {self.faults}"
                self.lock.wait(min(left, 0.05))

    def result(self, gid, seconds=15):
        return self.wait(lambda: [i for _, _, i in self.items if i["gid"] == gid and i["type"] == "result"], seconds)[0]

    def wait_said(self, gid, kind, seconds=15):
        return self.wait(lambda: [i for _, _, i in self.items if i["gid"] == gid and i["type"] == kind], seconds)[0]

    def output(self, gid):
        """The output in order, each item once."""
        by_seq = {}
        for item in self.said(gid, "output"):
            by_seq.setdefault(item["seq"], item["data"])
        return "".join(by_seq[s] for s in sorted(by_seq))
