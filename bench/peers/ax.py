"""AX in the place of a peer: the same work, given through its API; what was done is read from its rows."""

import json
import sqlite3
import subprocess
import time

from axbench import machine, rows
from axbench.place import Failed, Place, now_ms

import services
from peer import DRIVER_S, PERIOD_MS, READY_MS, TooSlow

BATCH = 1000
DELAY_TASKS = 100
EVERY_FIRE = {"misfire": "fire_all", "overlap": "allow", "overlap_max": 100}  # as the peers do
ONE_SERVER = "one server; several share a MariaDB"
SCHEDULE = 1  # src/core/task.h


class Ax:
    name, title, on = "ax", "AX, embedded", "E"
    store = f"SQLite {sqlite3.sqlite_version}"
    loses, keeps = "nothing: each commit is flushed", "a row of each run and attempt"
    cannot = {"kill": ONE_SERVER, "kill-scheduler": ONE_SERVER}
    most = {}
    per_s = 5000  # tasks or runs that it takes in, at least

    def __init__(self, build):
        self.build, self.place, self.second = build, None, None

    def prepare(self, _):
        text = subprocess.run([self.build.path("ax-server"), "--version"], capture_output=True, text=True).stdout
        self.versions = f"AX {text.split()[-1]} on {self.store}"

    def close(self):
        self.end()
        if self.place:
            self.place.__exit__()
            self.place = None

    def empty(self, nodes=1):
        """Several servers: with a worker that notes in a journal what it really executed, which are calls of 80 ms."""
        self.close()
        self.place = Place(self.build, self.on, servers=nodes, journal=nodes > 1).__enter__()
        self.place.stop_servers()  # a password was hashed in it: begin anew
        self.place.start_servers()
        if nodes > 1:
            self.place.start_stub()

    # ---- its work

    def schedule(self, n):
        """`@after` counts milliseconds, from the creation: they are created as far apart as they shall fire. With a journal
        `@every`, which counts from full seconds: then it is known what is due."""
        start_ms = now_ms() + PERIOD_MS
        period_s = PERIOD_MS // 1000
        if self.place.journal:
            call = self.place.http(f"@every {period_s}s")
            self.place.create_spread(n, period_s, lambda i: call(i) | EVERY_FIRE)
        else:
            self.place.create_spread(n, period_s, self.place.noop(f"@after {period_s}s"))
        return start_ms

    def at_once(self, n, patience=1):
        due_s = now_ms() // 1000 + patience * (DRIVER_S + n // self.per_s + 1)
        try:
            self.place.create_tasks(n, self.place.noop(time.strftime("@at %Y-%m-%dT%H:%M:%SZ", time.gmtime(due_s))))
        except Failed as refused:
            if "never_fires" not in str(refused):
                raise
        if now_ms() > due_s * 1000 - READY_MS:
            raise TooSlow(f"{n} were not there in time")
        return due_s * 1000

    def enqueue(self, n, patience=1):
        """(seconds that it took, the instant at which all are due)."""
        ids = self.place.create_tasks(min(n, DELAY_TASKS), lambda i: {
            "task_type": "delay", "executor_key": "bench.noop", "overlap": "allow", "overlap_max": 1000})
        due_ms = now_ms() + patience * (DRIVER_S + n // self.per_s) * 1000
        begun = time.monotonic()
        for i, at in enumerate(range(0, n, BATCH)):
            runs = [{"run_at": due_ms}] * min(BATCH, n - at)
            self.place.call("POST", f"/tasks/{ids[i % len(ids)]}/runs/batch", {"runs": runs})
        took_s = time.monotonic() - begun
        if now_ms() > due_ms - READY_MS:
            raise TooSlow(f"{n} took {took_s:.0f} s to enqueue")
        return took_s, due_ms

    def work(self, _=0):
        if not self.place.servers:
            self.place.start_servers()
        self.place.start_worker()
        if self.place.journal:
            self.second = self.place.new_worker("w2", self.place.dir / "journal-w2")

    def kill_scheduler(self):
        killed = self.place.servers.pop(0)
        killed.kill()
        killed.popen.stdout.close()

    def kill_node(self):
        """A server, and a worker."""
        self.kill_scheduler()
        self.place.worker.kill()
        self.place.worker, self.second = self.second, None

    def end(self):
        if self.second:
            self.second.stop()
            self.second = None
        if self.place:
            self.place.stop()

    # ---- what is seen of it

    def node_pids(self):
        return [process.pid for process in (*self.place.servers, self.place.worker)]

    def store_pids(self):
        return list(self.place.store.pids().values())

    def done(self, due_ms):
        return self.place.store.rows(f"SELECT count(*) FROM ax_task_log WHERE start_time > 0 AND trigger_time <= {due_ms}")[0][0]

    def records(self):
        """A task's fire goes by the task, a one-shot by its own id."""
        if self.place.journal:
            return self.journal_records()
        return self.place.store.rows(f"SELECT CASE kind WHEN {SCHEDULE} THEN task_id ELSE gid END, trigger_time, start_time"
                                     " FROM ax_task_log WHERE start_time > 0")

    def journal_records(self):
        lines = [line for journal in self.place.dir.glob("journal*") for line in journal.read_text().splitlines()]
        events = [json.loads(line) for line in lines if line.endswith("}")]  # a killed worker may leave half of one
        begun = {(e["gid"], e["fence"]): e["time_ms"] for e in events if e["event"] == "start"}
        runs = {gid: (task, due) for gid, task, due in self.place.store.rows("SELECT gid, task_id, trigger_time FROM ax_task_log")}
        return [(*runs[int(e["gid"])], begun[e["gid"], e["fence"]]) for e in events if e["event"] == "end"]

    def check(self):
        rows.check(self.place)


class AxOnMariaDB(Ax):
    name, title, on = "ax-mariadb", "AX on MariaDB and Redis", "MR"
    cannot = {}
    most = {"delayed": 20_000}
    per_s = 2000
    watch_s = 40

    @property
    def store(self):
        return f"{machine.said('mariadbd', '--version', r'Ver ([0-9.]+)', 'MariaDB')}, {services.DurableRedis.version()}"
