"""The work that AX and its peers do in turns. Each function does it once with one of them and returns figures.

Counted every time: `missing`, what was due and not begun two seconds after the end of the measurement; `doubled`, what was
done more than once."""

import collections
import time
from dataclasses import dataclass
from typing import Callable

from axbench.place import Failed, now_ms
from axbench.rows import percentile

from peer import PERIOD_MS, TooSlow, cpu_s, rss_mb

WARM_S, WINDOW_S, SETTLE_S = 3, 10, 2  # the window is one period
DRAIN_S = 30  # of a burst; five times as many one-shots have twice as long; then what is not done is missing
WORK_MS = 80  # of a run in the kill
KILL_AFTER_S = 10
SLOW_MS = 1000  # not normal yet
SCHEDULER_WATCH_S = 15


def sleep_until(ms):
    time.sleep(max(0, ms - now_ms()) / 1000)


def doubled(records):
    return sum(n - 1 for (_, due), n in collections.Counter(r[:2] for r in records).items() if due)


def everything(peer):
    return [*peer.node_pids(), *peer.store_pids()]


def recurring(peer, tasks):
    """Every 10 s each, spread evenly."""
    peer.empty()
    start_ms = peer.schedule(tasks)
    peer.work()
    begin = max(start_ms, now_ms()) + WARM_S * 1000
    end = begin + WINDOW_S * 1000
    sleep_until(begin)
    cpu = cpu_s(everything(peer))
    sleep_until(end)
    cpu = cpu_s(everything(peer)) - cpu
    memory = {"rss_mb": rss_mb(peer.node_pids()), "store_rss_mb": rss_mb(peer.store_pids())}
    time.sleep(SETTLE_S)
    peer.end()
    return count_window(peer.records(), tasks, begin, end, cpu) | memory


def count_window(records, tasks, begin, end, cpu):
    """Of tasks that each fire once within [begin, end)."""
    fires = [(due, begun) for _, due, begun in records if begin <= begun < end]
    if not fires:
        raise Failed("nothing was begun")
    instants = collections.defaultdict(list)
    for name, due, begun in records:
        instants[name].append(due or begun)  # 0: it knows of no due instant
    figures = {"fires_per_s": len(fires) / (end - begin) * 1000, "cpu_s_per_10k": cpu / len(fires) * 10_000,
               "missing": tasks - sum(fired(at, begin, end) for at in instants.values()), "doubled": doubled(records)}
    late = sorted(begun - due for due, begun in fires if due)
    if late:
        figures |= {"late_p50_ms": percentile(late, .5), "late_p99_ms": percentile(late, .99), "late_max_ms": late[-1]}
    return figures


def fired(instants, begin, end):
    """Whether a task did within the window; or around it in the distance of one period, which may be some milliseconds longer
    where it counts from the last run."""
    before, after = [at for at in instants if at < begin], [at for at in instants if at >= end]
    return len(before) + len(after) < len(instants) or bool(before and after and min(after) - max(before) < 1.5 * PERIOD_MS)


def wait_for_all(peer, n, due_ms, until_ms):
    """Until all that were due then are done, or time is up; how many are."""
    while (done := peer.done(due_ms)) < n and now_ms() < until_ms:
        time.sleep(0.2)
    return done


def drained(peer, n, due_ms, limit_s):
    """What became of n that were due at one instant, from then on."""
    sleep_until(due_ms)
    cpu = cpu_s(everything(peer))
    done = wait_for_all(peer, n, due_ms, due_ms + limit_s * 1000)
    cpu = cpu_s(everything(peer)) - cpu
    time.sleep(0.3)  # what is in the drivers' buffers
    peer.end()
    records = [r for r in peer.records() if r[1] <= due_ms]
    if not records:
        raise Failed(f"none of {n} was done within {limit_s} s")
    return {"late_p50_ms": percentile(sorted(begun for *_, begun in records), .5) - due_ms,
            "last_start_ms": max(begun for *_, begun in records) - due_ms, "cpu_s_per_10k": cpu / max(1, done) * 10_000,
            "missing": n - len({r[0] for r in records}), "doubled": doubled(records)}


def fill(peer, give, n):
    """What give() returns; with more time when all was due before it was there: then the machine is busy."""
    for patience in (1, 4):
        peer.empty()
        try:
            return give(n, patience)
        except TooSlow as slow:
            why = slow
    raise why


def burst(peer, tasks):
    """All due at one second."""
    due_ms = fill(peer, peer.at_once, tasks)
    peer.work()
    return drained(peer, tasks, due_ms, DRAIN_S)


def delayed(peer, runs):
    """One-shots for one instant: taken in, then worked off."""
    took_s, due_ms = fill(peer, peer.enqueue, runs)
    peer.work()
    figures = drained(peer, runs, due_ms, 2 * DRAIN_S)
    return {"enqueued_per_s": runs / took_s, "drained_per_s": (runs - figures["missing"]) / figures["last_start_ms"] * 1000} | figures


def start(peer, runs):
    """From the start of its programs to the first run, with one that is due in the store."""
    _, due_ms = fill(peer, peer.enqueue, runs)
    peer.end()
    sleep_until(due_ms)
    begun = now_ms()
    peer.work()
    done = wait_for_all(peer, runs, due_ms, begun + DRAIN_S * 1000)
    memory = {"rss_mb": rss_mb(peer.node_pids())}
    peer.end()
    if not done:
        raise Failed("nothing was begun")
    return {"first_start_ms": min(at for *_, at in peer.records()) - begun} | memory


def kill(peer, tasks):
    """kill -9 of one of two nodes, each task every 10 s with work of 80 ms."""
    return kill_and_watch(peer, tasks, peer.kill_node, peer.watch_s)


def kill_scheduler(peer, tasks):
    return kill_and_watch(peer, tasks, peer.kill_scheduler, SCHEDULER_WATCH_S)


def kill_and_watch(peer, tasks, kill_it, watch_s):
    peer.empty(nodes=2)
    start_ms = peer.schedule(tasks)
    peer.work(WORK_MS)
    sleep_until(max(start_ms, now_ms()) + KILL_AFTER_S * 1000)
    killed = now_ms()
    kill_it()
    time.sleep(watch_s)
    ended = now_ms()
    peer.end()
    return count_kill(peer.records(), tasks, killed, ended)


def count_kill(records, tasks, killed, ended):
    """Fires are a grid: what lies between two of a task is known, and that it goes on until the end."""
    due = collections.defaultdict(set)
    for name, at, _ in records:
        due[name].add(at)
    lost = sum(round((max(at) - min(at)) / PERIOD_MS) + 1 - len(at) for at in due.values())
    stopped = tasks - sum(max(at) > ended - 2 * PERIOD_MS for at in due.values())
    late = [(at, begun - at) for _, at, begun in records if killed - PERIOD_MS <= at]
    slow = [at + ms - killed for at, ms in late if ms > SLOW_MS]
    return {"lost": lost + stopped, "doubled": doubled(records), "longest_late_ms": max(ms for _, ms in late),
            "normal_after_ms": max(slow, default=0)}


@dataclass
class Scenario:
    name: str
    title: str
    run: Callable  # run(peer, n) -> {"name_unit": number}
    n: int
    scales: bool = True
    times: int = 0  # how often it is measured; 0: as often as asked for


SCENARIOS = [
    Scenario("recurring", "{n} tasks every 10 s, spread evenly", recurring, 20_000),
    Scenario("recurring-light", "{n} tasks every 10 s, spread evenly", recurring, 1000, times=1),
    Scenario("burst", "{n} tasks, all due at one second", burst, 20_000),
    Scenario("delayed", "{n} one-shots, all due at one instant, enqueued by one client", delayed, 100_000),
    Scenario("start", "from the start of its programs to the first run, {n} being due", start, 1, scales=False),
    Scenario("kill", "kill -9 of one of two nodes; {n} tasks every 10 s, each takes 80 ms", kill, 2000, times=1),
    Scenario("kill-scheduler", "kill -9 of one of two schedulers, while all workers live on; the same work", kill_scheduler, 2000,
             times=1),
]
