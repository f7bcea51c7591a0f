"""Delayed runs that are far from due: how fast they are taken in, and that they cost next to nothing while they wait (P4)."""

from axbench import rows
from axbench.place import Place, cpu_s, now_ms, wait_for
from axbench.scenario import on_both

BATCH = 1000


def run(build, quick, on, runs):
    if quick:
        runs = 2000
    with Place(build, on) as place:
        task, soon = place.create_tasks(2, lambda i: {"task_type": "delay", "executor_key": "bench.noop", "overlap": "allow",
                                                      "overlap_max": 1000})
        place.stop_servers()  # a password was hashed in it: begin anew
        place.start_servers()
        empty = place.server.rss_mb()
        begun = now_ms()
        for at in range(0, runs, BATCH):
            place.call("POST", f"/tasks/{task}/runs/batch",
                       {"runs": [{"delay_ms": 86_400_000 + (at + i) % 3_600_000, "dedup_key": f"k{at + i}"} for i in range(BATCH)]})
        taken_s = (now_ms() - begun) / 1000
        filled = place.server.rss_mb()
        place.stop_servers()
        place.start_servers()
        restarted = place.server.rss_mb()
        started_ms = place.server.listening - place.server.began
        cpu = cpu_s(place.server.pid)
        made = now_ms()
        gid = place.call("POST", f"/tasks/{soon}/runs", {"delay_ms": 500})["gid"]
        wait_for("the one that is due", lambda: place.call("GET", f"/runs/{gid}")["status"] != "PENDING", pause=0.002)
        late = now_ms() - made - 500
        place.stop()
        waiting, = place.store.rows("SELECT count(*) FROM ax_task_log WHERE status = 0")[0]
        if waiting != runs:
            raise rows.Failed(f"{waiting} runs wait, there should be {runs}")
        rows.check(place)
        return {"enqueued_per_s": runs / taken_s, "rss_mb_more": filled - empty, "rss_mb_restarted": restarted,
                "listening_ms": started_ms, "one_due_late_ms": late, "cpu_s": cpu}


SCENARIOS = on_both("pending-1m", "a million delayed runs that wait, made by one caller; restart; one that is due among them", run,
                    {"runs": 1_000_000}, {"rss_mb_restarted": "≤ 20", "listening_ms": "≤ 150", "one_due_late_ms": "≤ 50"},
                    "P4", quick=(2, 0))
