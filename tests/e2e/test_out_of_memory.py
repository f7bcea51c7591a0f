"""One allocation of a program fails, the N-th, for growing N (fail_malloc.c). The program goes on, and did or refused what
it was asked; or it ends, and says why (docs/decisions/0002-out-of-memory-ends-the-process.md). The store is whole either
way, and when the program is started again no fire is lost or doubled. AX_SEED repeats a hunt."""

import itertools
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import time

import pytest

from ax_world import AXCTL, BUILD, TAG, ApiError, wait_for

FAIL_MALLOC = BUILD / "tests/e2e/libfail_malloc.so"
PATIENCE_S = 30
FOR_EVER = {"on_lost": "retry", "lost_limit": 20}

pytestmark = pytest.mark.skipif(any(k in os.environ for k in ("ASAN_OPTIONS", "TSAN_OPTIONS")), reason="sanitizers want to be loaded first")


class Ended(Exception):
    """The program is not there any more."""


def growing():
    """1, 2, 3, 5, 8 …"""
    a, b = 1, 2
    while True:
        yield a
        a, b = b, a + b


def scattered(first, last, times):
    seed = int(os.environ.get("AX_SEED", time.time_ns() % 1_000_000))
    print(f"seed {seed}")
    return sorted(random.Random(seed).sample(range(first, last), times))


def go_over(ns, hurt):
    """One after the other, until there are no more than that."""
    reached = len(list(itertools.takewhile(hurt, ns)))
    assert reached > 0


def failing(program, n):
    return {"LD_PRELOAD": str(FAIL_MALLOC), "FAIL_MALLOC": f"{program}:{n}"}


def judge_end(code, text):
    """0, or an end by name: with a status or abort(), and a sentence. A signal of the kernel's is neither, but where the C
    library looks up names for the first time: there it does not look at what it got."""
    if "(__nss_database_get+" in text:
        return
    own = [line for line in text.splitlines() if not re.match(r"allocation \d+ fails$|\S+\[0x[0-9a-f]+\]$", line)]
    if code != 0:
        named = any(re.search(r"fatal: |out of memory|cannot allocate memory|no threads can be had", line.lower()) for line in own)
        assert named and (code > 0 or code == -signal.SIGABRT), f"it ended with {code}:\n{text[-6000:]}"


def insist(process, step):
    """What the step answers, if need be after errors that a client knows how to meet. Ended when the program ended instead."""
    deadline = time.monotonic() + PATIENCE_S
    why = None
    while process.runs_now():
        try:
            if answer := step():
                return answer
        except OSError as e:
            why = e
        except ApiError as e:
            assert e.status >= 500, e
            why = e
        assert time.monotonic() < deadline, f"it hangs ({why}):\n{process.log()[-6000:]}"
        time.sleep(0.02)
    raise Ended


def spawn_failing(process, program, n):
    process.env.update(failing(program, n))
    process.log_path.unlink(missing_ok=True)
    process.spawn()


def start_again(process):
    """As if nothing had been."""
    for name in failing("", 0):
        process.env.pop(name, None)
    process.log_path.unlink(missing_ok=True)
    process.start()


def end_of(process, n):
    """True when the n-th allocation was reached, and failed."""
    judge_end(process.process.wait(PATIENCE_S), process.log())
    print(f"allocation {n}: ended with {process.process.returncode}", flush=True)
    return f"allocation {n} fails\n" in process.log()


def check(world, server, worker):
    """Of a server that does not run."""
    with sqlite3.connect(server.store) as store:
        assert store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    store.close()
    code, found = world.check(server, worker)
    assert code == 0, found


def settle(world, server, worker):
    server.quiesce(60)
    told = server.audit()
    assert (told["unexplained"], told["duplicates"]) == (0, 0), told
    assert worker.term() == 0 and server.term() == 0
    check(world, server, worker)


# ---- ax-server


def live_through(server, name):
    """From its start to a result that it has taken. As a client that repeats its calls under their key."""
    insist(server, server.is_ready)
    body = {"task_name": name, "executor_key": "exec", "biz_param": {"script": "true", "env": {TAG: server.world.tag}},
            "cron_expr": "* * * * * *", "retry_count": 0, **FOR_EVER}
    task = insist(server, lambda: server.api("POST", "/tasks", body, {"Idempotency-Key": name}))
    insist(server, lambda: server.runs(task, status="SUCCESS"))
    insist(server, lambda: server.stop_firing(task))
    server.signal(signal.SIGTERM)


def hurt_server(world, server, worker, n):
    spawn_failing(server, "ax-server", n)
    try:
        live_through(server, f"under-{n}")
    except Ended:
        pass
    failed = end_of(server, n)
    check(world, server, worker)
    return failed


def goes_on(server, clock):
    start_again(server)
    before = len(server.runs(clock, status="SUCCESS"))
    wait_for(lambda: len(server.runs(clock, status="SUCCESS")) > before, PATIENCE_S)
    return server.term() == 0


def hunt_server(world, ns):
    server = world.server()
    worker = world.worker(server)
    clock = server.task("clock", script="true", cron_expr="* * * * * *", **FOR_EVER)
    assert server.term() == 0
    go_over(ns, lambda n: hurt_server(world, server, worker, n) and goes_on(server, clock))
    start_again(server)
    settle(world, server, worker)


def hurt_start(server, n):
    spawn_failing(server, "ax-server", n)
    try:
        insist(server, server.is_ready)
        server.signal(signal.SIGTERM)
    except Ended:
        pass
    return end_of(server, n)


@pytest.mark.slow
def test_server(world):
    hunt_server(world, growing())


@pytest.mark.soak
def test_server_anywhere(world):
    hunt_server(world, scattered(1, 30_000, 1000))


@pytest.mark.soak
def test_server_while_it_starts(world):
    """Each of them, from the first to the last before it ends."""
    server = world.server()
    worker = world.worker(server)
    assert server.term() == 0
    go_over(itertools.count(1), lambda n: hurt_start(server, n))
    start_again(server)
    settle(world, server, worker)


def test_the_first_start(world):
    """The tables are made, or they are not."""
    server = world.server(start=False)
    for n in (200, 500, 2000, 10_000, 50_000, 150_000):
        shutil.rmtree(server.state, ignore_errors=True)
        assert hurt_start(server, n)
    start_again(server)
    worker = world.worker(server)
    server.wait_run(server.trigger(server.task("first", script="true")), "SUCCESS")
    settle(world, server, worker)


# ---- ax-worker


def make_tasks(world, server):
    """What succeeds unless somebody lies about it."""
    return [server.task("process", script="echo hello", **FOR_EVER), server.task("call", url=world.stub().url("/ok"), **FOR_EVER),
            server.task("function", executor="example.echo", param={"n": 1}, **FOR_EVER)]


def hurt_worker(server, worker, tasks, n):
    """No run fails for want of memory: it is done, or lost with the worker and done by the next one."""
    spawn_failing(worker, "ax-worker", n)
    runs = [server.trigger(task) for task in tasks]
    try:
        for run in runs:
            insist(worker, lambda: server.run(run)["status"] in ("SUCCESS", "FAILED"))
        worker.signal(signal.SIGTERM)
    except Ended:
        pass
    failed = end_of(worker, n)
    start_again(worker)
    for run in runs:
        server.wait_run(run, "SUCCESS", PATIENCE_S)
    assert worker.term() == 0
    return failed


def hunt_worker(world, ns):
    server = world.server()
    worker = world.worker(server)
    tasks = make_tasks(world, server)
    assert worker.term() == 0
    go_over(ns, lambda n: hurt_worker(server, worker, tasks, n))
    start_again(worker)
    settle(world, server, worker)


@pytest.mark.slow
def test_worker(world):
    hunt_worker(world, (1, 10, 100, 1000, *range(2900, 5500, 90)))


@pytest.mark.soak
def test_worker_everywhere(world):
    hunt_worker(world, range(1, 100_000))


# ---- axctl


def hunt_axctl(world, ns):
    server = world.server()
    for n in range(3):
        server.task(f"t{n}", script="true")
    env = {"PATH": os.environ["PATH"], "AX_SERVER": server.url, "AX_TOKEN": server.token, "LC_ALL": "C.UTF-8", TAG: world.tag}

    def call(**more):
        done = subprocess.run([AXCTL, "task", "list", "--json"], env={**env, **more}, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr
    whole = call()
    assert whole[0] == 0

    def hurt(n):
        code, out, err = call(**failing("axctl", n))
        judge_end(code, err)
        assert code != 0 or out == whole[1], "it did half and said that all is well"
        return f"allocation {n} fails\n" in err
    go_over(ns, hurt)


def test_axctl(world):
    hunt_axctl(world, growing())


@pytest.mark.soak
def test_axctl_everywhere(world):
    hunt_axctl(world, range(1, 100_000))
