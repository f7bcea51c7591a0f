"""A store as a server leaves it: ten minutes of a few tasks, everything in order. Tests break one thing each."""

import json
import os
import sqlite3
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("AX_BUILD", ROOT / "build"))
AX_CHECK = BUILD / "src/check/ax-check"

START = 1767225600000  # 2026-01-01T00:00:00Z
MINUTE = 60000
END = START + 10 * MINUTE
GID_EPOCH = 1704067200000

SUCCESS, FAILED, CANCELLED, BLOCKED = 10, 11, 13, 14
EVERY_MINUTE, PAUSED, AFTER, LATER, SPLIT, LOAD, CLEAN, REPORT = 1, 2, 3, 4, 6, 7, 8, 9


class Store:
    def __init__(self, path):
        self.path = path
        self.db = sqlite3.connect(path)
        for file in sorted((ROOT / "db/sqlite").glob("*.sql")):
            self.db.executescript(file.read_text())
        self.db.execute("PRAGMA ignore_check_constraints = ON")  # phase and given stay 0: ax-check looks at the states
        self.sequence = 0

    def insert(self, table, **columns):
        """Missing columns get 0 or ''."""
        for _, name, kind, notnull, default, pk in self.db.execute(f"PRAGMA table_info({table})").fetchall():
            if name not in columns and not (pk and kind == "INTEGER"):
                columns[name] = {"TEXT": "", "BLOB": b""}.get(kind, 0)
        self.db.execute(
            f"INSERT INTO {table} ({','.join(columns)}) VALUES ({','.join('?' * len(columns))})", list(columns.values())
        )

    def task(self, id, **columns):
        row = dict(id=id, group_key="default", task_name=f"task-{id}", task_type=1, status=1, cron_expr="* * * * *",
                   time_zone="UTC", executor_key="exec", retry_count=3, lost_limit=3, overlap_max=1, priority=5,
                   version=1, create_time=START - MINUTE, anchor_time=START - MINUTE, absence_time=START - MINUTE)
        row.update(columns)
        self.insert("ax_task", **row)
        self.insert("ax_task_version", task_id=id, version=1, time=START - MINUTE, author="a", group_key=row["group_key"],
                    retry_count=3, lost_limit=3, overlap_max=1, upstreams=row.get("upstreams", ""), join_all=row.get("join_all", 0))
        if row["task_type"] == 1:
            self.insert("ax_schedule_epoch", task_id=id, from_time=START - MINUTE, enabled=int(row["status"] == 1),
                        cron_expr=row["cron_expr"], dialect=0, time_zone="UTC", anchor_time=row["anchor_time"],
                        tzdata="2026f")

    def gid(self, ms):
        self.sequence += 1
        return (ms - GID_EPOCH << 22) + self.sequence

    def run(self, task_id, due, **columns):
        row = dict(gid=self.gid(due), task_id=task_id, kind=1, fire_key=str(due), group_key="default",
                   executor_key="exec", status=SUCCESS, version=1, trigger_time=due, create_time=due,
                   dispatch_time=due + 2, start_time=due + 5, end_time=due + 1000, fence=1, worker="w1", incarnation="i", ended_by_worker=1, lane=1)
        row.update(columns)
        self.insert("ax_task_log", **row)
        return row["gid"]

    def follow(self, task_id, key, due, seen, **columns):
        """A run of a chain or a join, and the ends that it has seen: (task, run, state)."""
        gid = self.run(task_id, due, kind=6, fire_key=key, **columns)
        for upstream, upstream_gid, state in seen:
            self.insert("ax_run_upstream", gid=gid, upstream_id=upstream, upstream_gid=upstream_gid, upstream_status=state)
        return gid

    def done(self):
        self.db.commit()
        self.db.close()
        return self.path


def make(path):
    s = Store(path)
    s.insert("ax_server", number=1, name="s", start_time=START - MINUTE, seen_time=END)
    s.insert("ax_group", group_key="default", dispatch_quota=200, pool_size=50, running=3)
    s.insert("ax_worker_group", worker="w1", group_key="default", pool_size=50, given=3)
    s.insert("ax_worker", name="w1", incarnation="i", executors="other exec", register_time=START, seen_time=END)
    s.task(EVERY_MINUTE, next_trigger_time=END + MINUTE, last_trigger_time=END)
    s.task(PAUSED, status=2)
    s.task(AFTER, cron_expr="@after 30s", next_trigger_time=END + 20000)
    s.task(LATER, task_type=2, cron_expr="")
    s.task(SPLIT, task_type=2, cron_expr="")
    s.task(LOAD, task_type=2, cron_expr="")
    s.task(CLEAN, task_type=2, cron_expr="", upstreams=f"{LOAD}")
    s.task(REPORT, task_type=2, cron_expr="", upstreams=f"{LOAD} {CLEAN}", join_all=1)
    for down, up in ((CLEAN, LOAD), (REPORT, LOAD), (REPORT, CLEAN)):
        s.insert("ax_upstream", task_id=down, upstream_id=up)
    for n in range(10):
        s.run(EVERY_MINUTE, START + n * MINUTE)
    live = dict(end_time=0, deadline_time=END + 45000)
    s.run(EVERY_MINUTE, END, status=3, **live)
    for n in range(4):
        s.run(AFTER, START + n * 90000, end_time=START + n * 90000 + MINUTE)
    # a run that was lost once, failed once and succeeded at the third attempt
    gid = s.run(LATER, START, kind=3, fence=3, retry_times=1, lost_times=1, end_time=START + 5 * MINUTE)
    s.insert("ax_attempt", gid=gid, fence=1, attempt=1, worker="w1", start_time=START + 5, end_time=START + MINUTE,
             outcome=6)
    s.insert("ax_attempt", gid=gid, fence=2, attempt=2, worker="w1", start_time=START + MINUTE,
             end_time=START + 2 * MINUTE, outcome=2)
    s.insert("ax_output", gid=gid, fence=3, seq=0, time=START, data=b"x")
    # two runs that failed; the second is not counted into its group yet
    for n in range(2):
        gid = s.run(LATER, START + (6 + n) * MINUTE, kind=3, status=FAILED, reason="exit", result_code=1)
        s.insert("ax_failure", gid=gid, fingerprint=7, group_key="default", task_id=LATER, version=1, worker="w1", folded=1 - n,
                 time=START + (6 + n) * MINUTE + 1000)
    # they are on an open alert; an earlier one is over, and a channel was told of both its ends
    s.insert("ax_channel", id=1, name="ops", kind=2, enabled=1)
    s.insert("ax_alert", id=1, rule=1, group_key="default", episode="4", state=1, task_id=LATER, count=1, open_time=START - MINUTE,
             seen_time=START - MINUTE, resolve_time=START)
    s.insert("ax_alert", id=2, rule=1, group_key="default", episode="4", task_id=LATER, count=2, open_time=START + 6 * MINUTE + 1000,
             seen_time=START + 7 * MINUTE + 1000)
    for kind in (1, 2):
        s.insert("ax_alert_outbox", alert_id=1, channel_id=1, kind=kind, state=1, attempts=1, sent_time=START + kind, server=-1)
    s.insert("ax_alert_outbox", alert_id=2, channel_id=1, kind=1, attempts=1, next_time=END, server=-1)
    s.insert("ax_failure_group", id=1, fingerprint=7, group_key="default", count=1)
    s.insert("ax_failure_spread", failure_id=1, task_id=LATER, version=1, worker="", count=1)
    s.insert("ax_failure_spread", failure_id=1, task_id=0, version=0, worker="w1", count=1)
    s.run(LATER, END, kind=3, fire_key="k", status=2, start_time=0, **live)
    s.run(LATER, END, kind=3, fire_key="l", status=1, fence=0, worker="", dispatch_time=0, start_time=0, end_time=0,
          ready_time=END - 59000)
    # a chain that came through, with a join at its end; and one whose first run was cancelled
    load = s.run(LOAD, START + MINUTE, kind=3, fire_key="load")
    batch = dict(batch=load)
    s.db.execute("UPDATE ax_task_log SET batch = gid WHERE gid = ?", [load])
    clean = s.follow(CLEAN, f"{load}", START + MINUTE + 1000, [(LOAD, load, SUCCESS)], **batch)
    s.follow(REPORT, f"b{load}", START + MINUTE + 2000, [(LOAD, load, SUCCESS), (CLEAN, clean, SUCCESS)], **batch)
    stopped = s.run(LOAD, START + 3 * MINUTE, kind=3, fire_key="stopped", status=CANCELLED)
    blocked = dict(status=BLOCKED, batch=stopped, blocked_by=stopped, fence=0, worker="", dispatch_time=0, start_time=0)
    for task_id, key in ((CLEAN, f"{stopped}"), (REPORT, f"b{stopped}")):
        s.follow(task_id, key, START + 3 * MINUTE + 1000, [(LOAD, stopped, CANCELLED)], **blocked)
    # a run of two shards that succeeded, a broadcast of which one shard is at work and one had an attempt before
    shards = dict(kind=3, spread=1, shard_total=2)
    nobody = dict(fence=0, worker="", dispatch_time=0)
    parent = s.run(SPLIT, START, fire_key="p", **shards, **nobody)
    for n in (1, 2):
        s.run(SPLIT, START, fire_key="p", parent=parent, shard=n, **shards)
    shards["spread"] = 2
    parent = s.run(SPLIT, END, fire_key="b", status=3, start_time=END, **shards, **nobody, **live)
    s.run(SPLIT, END, fire_key="b", status=3, parent=parent, shard=1, **shards, **live)
    gid = s.run(SPLIT, END, fire_key="b", status=1, parent=parent, shard=2, **{**shards, "lost_times": 1}, end_time=0)
    s.insert("ax_attempt", gid=gid, fence=1, attempt=1, worker="w1", start_time=END, end_time=END, outcome=6)
    # a parent that waits for the one before it
    s.run(SPLIT, END, fire_key="c", status=1, hold=1, start_time=0, end_time=0, **shards, **nobody)
    return s


def check(*args):
    """Exit status and what ax-check --json said."""
    done = subprocess.run([AX_CHECK, "--json", *map(str, args)], capture_output=True, text=True, timeout=60)
    return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr


def broken(said, part="invariants"):
    """The rules that were broken."""
    return {f["id"] for f in said[part] if f["violations"]}
