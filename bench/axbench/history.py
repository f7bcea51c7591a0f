"""Runs that ended long ago: copies of one that really ran, written straight into the store."""

import time

from axbench.place import Failed, wait_for

DAYS = 20  # so long ago the oldest one ended: before retention takes it
EPOCH_MS = 1704067200000  # of gids
CHUNK = 200_000  # rows of one INSERT


def add(place, ids, runs):
    """`runs` ended ones, evenly over time and over the tasks `ids`, which follow each other. Stops the servers."""
    ids = [int(i) for i in ids]
    if [i - ids[0] for i in ids] != [n * (ids[1] - ids[0]) for n in range(len(ids))]:
        raise Failed("the ids of the tasks do not follow each other")
    gid = make_example(place)
    place.stop()
    now = int(time.time() * 1000)
    step = max(1, DAYS * 86_400_000 // runs)
    example, = place.store.rows(f"SELECT create_time FROM ax_task_log WHERE gid = {gid}")
    columns = place.store.columns("ax_task_log")
    born = f"({now - 3_600_000 - step * runs} + n.seq * {step})"
    values = {c: f"CASE WHEN t.{c} > 0 THEN t.{c} - {example[0]} + {born} ELSE 0 END" for c in columns if c.endswith("_time")}
    values |= {"gid": f"({born} - {EPOCH_MS}) * 4194304", "task_id": f"{ids[0]} + n.seq % {len(ids)} * {ids[1] - ids[0]}",
               "fire_key": place.store.text("'h'", "n.seq")}
    place.store.write(
        f"INSERT INTO ax_task_log ({', '.join(f'`{c}`' for c in columns)})"
        f" SELECT {', '.join(values.get(c, f't.`{c}`') for c in columns)}"
        f" FROM ax_task_log t, {place.store.series(at, min(runs, at + CHUNK) - 1)} WHERE t.gid = {gid}"
        for at in range(0, runs, CHUNK))


def make_example(place):
    task, = place.create_tasks(1, lambda i: place.noop("0 0 29 2 *")(i) | {"task_name": "example"})
    gid = int(place.call("POST", f"/tasks/{task}/runs", {})["gid"])
    wait_for("the run", lambda: place.call("GET", f"/runs/{gid}")["status"] == "SUCCESS")
    return gid
