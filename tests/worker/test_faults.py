"""What goes wrong: workers, shims, tasks and servers that die, stall, repeat themselves or disappear."""

import fcntl
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from shim import BUILD, alive, wait_for
from test_shim import DAEMON, DEAF, DEAF_PID, FOREVER, python


def leader(server, gid):
    """The pid that the task printed first."""
    return int(server.wait(lambda: server.output(gid).strip() and server.output(gid)).split()[0])


SLEEPY = "import os, time; print(os.getpid(), flush=True); time.sleep(%s); print('done', flush=True)"


# ---- death of a worker

# B114
def test_killed_worker_is_restarted_and_adopts_what_runs(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": python(SLEEPY % 2)})
    pid = leader(server, gid)
    worker.kill()
    worker.start()
    server.wait(lambda: len(server.registrations) == 2)
    assert server.registrations[1]["running"] == [{"gid": gid, "fence": 1}]
    assert server.registrations[1]["incarnation"] != server.registrations[0]["incarnation"]
    assert alive(pid)
    result = server.result(gid)
    assert result["outcome"] == "success" and result["duration_ms"] >= 2000
    assert server.output(gid) == f"{pid}\ndone\n"
    wait_for(lambda: worker.attempts() == [])
    assert len(server.said(gid, "result")) == 1


def test_result_of_a_task_that_ended_while_no_worker_was_there(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": python(SLEEPY % 0.5)})
    pid = leader(server, gid)
    worker.kill()
    wait_for(lambda: not alive(pid))
    worker.start()
    assert server.result(gid)["outcome"] == "success"
    assert server.output(gid).endswith("done\n")
    assert len(server.said(gid, "result")) == 1


def is_locked(folder):
    """An ax-exec lives in this attempt's folder."""
    with open(folder / "lock", "rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return True
    return False


# B010
def test_dead_worker_does_not_leave_tasks_beyond_their_lease(quick_server, start_worker):
    worker = start_worker(quick_server, dev=False, policy=exec_policy())
    gid = quick_server.give(param={"argv": ["/bin/sh", "-c", "trap '' TERM; while :; do sleep 1; done"]})
    quick_server.wait_said(gid, "started")
    folder = worker.state / "attempts" / f"{gid}-1"
    pid = int(wait_for(lambda: (folder / "started").exists() and (folder / "started").read_text()).split("pid=")[1].split()[0])
    worker.kill()
    assert alive(pid)
    wait_for(lambda: not alive(pid), 4)
    wait_for(lambda: not is_locked(folder))  # ax-exec, too, has ended
    worker.start()
    quick_server.wait(lambda: len(quick_server.registrations) == 2)
    assert quick_server.registrations[1]["running"] == []  # lost, and the server is not told otherwise
    wait_for(lambda: worker.attempts() == [])
    assert quick_server.said(gid, "result") == []


def exec_policy(**more):
    """Process tasks outside of --dev; as root they need a user to run as."""
    users = {"users": ["nobody"]} if os.geteuid() == 0 else {}
    return {"allow_exec": True, **users, **more}


def test_adopted_attempt_that_the_server_gave_away_is_ended(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": python(DEAF_PID)})
    pid = leader(server, gid)
    worker.kill()
    server.register_stops = [{"gid": gid, "fence": 1, "reason": "lost"}]
    worker.start()
    wait_for(lambda: not alive(pid) and worker.attempts() == [])
    assert server.said(gid, "result") == []


# B010
def test_stopped_worker_does_not_keep_tasks_beyond_their_lease(quick_server, start_worker):
    worker = start_worker(quick_server)
    gid = quick_server.give(param={"argv": python(DEAF_PID)})
    pid = leader(quick_server, gid)
    worker.process.send_signal(signal.SIGSTOP)
    wait_for(lambda: not alive(pid), 4)
    worker.process.send_signal(signal.SIGCONT)
    wait_for(lambda: worker.attempts() == [])
    assert quick_server.said(gid, "result") == []


# ---- death of a shim or a task

def test_killed_task_is_a_failure_with_its_signal(server, start_worker):
    start_worker(server)
    gid = server.give(param={"argv": python(SLEEPY % 60)})
    os.kill(leader(server, gid), signal.SIGKILL)
    result = server.result(gid)
    assert (result["outcome"], result["code"], result["signal"]) == ("failed", 137, "SIGKILL")
    assert "SIGKILL" in result["message"]


# B133
def test_killed_shim_takes_all_of_the_task_along(server, start_worker, tmp_path):
    worker = start_worker(server)
    note = tmp_path / "daemon"
    gid = server.give(param={"argv": python(DAEMON + "print(os.getpid(), flush=True)\n" + FOREVER, note)})
    pid = leader(server, gid)
    daemon = int(note.read_text())
    started = (worker.state / "attempts" / f"{gid}-1" / "started").read_text()
    os.kill(int(started.split("shim=")[1].split()[0]), signal.SIGKILL)
    result = server.result(gid)
    assert result["outcome"] == "failed" and "ax-exec" in result["message"]
    wait_for(lambda: not alive(pid) and not alive(daemon))
    wait_for(lambda: worker.attempts() == [])


# B114
def test_worker_and_shim_killed_together(server, start_worker, tmp_path):
    worker = start_worker(server)
    note = tmp_path / "daemon"
    gid = server.give(param={"argv": python(DAEMON + "print(os.getpid(), flush=True)\n" + FOREVER, note)})
    leader(server, gid)
    daemon = int(note.read_text())
    started = (worker.state / "attempts" / f"{gid}-1" / "started").read_text()
    shim = int(started.split("shim=")[1].split()[0])
    worker.kill()
    os.kill(shim, signal.SIGKILL)
    wait_for(lambda: not alive(shim))
    worker.start()
    server.wait(lambda: len(server.registrations) == 2)
    assert server.registrations[1]["running"] == []
    wait_for(lambda: not alive(daemon) and worker.attempts() == [])
    assert server.said(gid, "result") == []


def test_leftovers_of_another_installation_live_on(server, quick_server, start_worker, tmp_path):
    """Two fresh installations give the same gids and fences."""
    daemons = []
    ours, other = start_worker(server), start_worker(quick_server, name="other")
    for here, place in ((server, "ours"), (quick_server, "other")):
        note = tmp_path / place
        here.give(gid="77", param={"argv": python(DAEMON + "print(os.getpid(), flush=True)\n" + FOREVER, note)})
        leader(here, "77")
        daemons.append(int(note.read_text()))
    started = (ours.state / "attempts/77-1/started").read_text()
    os.kill(int(started.split("shim=")[1].split()[0]), signal.SIGKILL)
    assert server.result("77")["outcome"] == "failed"
    wait_for(lambda: not alive(daemons[0]))
    assert alive(daemons[1]) and other.attempts() == ["77-1"]
    other.kill()
    other.start()
    wait_for(lambda: other.log("attempt_adopted"))
    assert alive(daemons[1])


# B117
def test_daemon_children_end_with_the_task(server, start_worker, tmp_path):
    start_worker(server)
    note = tmp_path / "daemon"
    gid = server.give(param={"argv": python(DAEMON, note)})
    assert server.result(gid)["outcome"] == "success"
    assert not alive(int(note.read_text()))


# ---- output

# B123
def test_output_flood(server, start_worker):
    worker = start_worker(server)
    code = ("import os\nb = (b'%07d' + b'.' * 1016 + b'\\n')\nfor i in range(100000): os.write(1, b.replace(b'%07d', b'%07d' % i))\n"
            "os.write(1, b'the end')")
    gid = server.give(param={"argv": python(code)})
    assert server.result(gid, 60)["outcome"] == "success"
    text = server.output(gid)
    assert text.startswith("0000000....") and text.endswith("the end")
    assert 1024 * 1024 <= len(text) <= 1792 * 1024 + 200
    assert "bytes of output were not kept]" in text
    assert text.count("\n0000001.") == 1 and "\n0099999." in text
    assert rss_kb(worker.process.pid) < 64 * 1024


def rss_kb(pid):
    with open(f"/proc/{pid}/status") as f:
        return int(next(line for line in f if line.startswith("VmRSS")).split()[1])


# B124
def test_output_is_streamed_while_the_task_runs_and_is_always_text(server, start_worker):
    start_worker(server)
    code = (r"import os, time; os.write(1, b'caf\xc3'); time.sleep(0.6); os.write(1, b'\xa9 \xff\x00\x1b[31m\xed\xa0\x80\n');"
            "time.sleep(60)")
    gid = server.give(param={"argv": python(code)})
    server.wait(lambda: server.output(gid).endswith("\n"))
    assert server.output(gid).startswith("café \ufffd\u2400\x1b[31m\ufffd")
    assert server.said(gid, "result") == []


LINES = "import os, time\nfor i in range(%d): os.write(1, b'%%05d caf\\xc3\\xa9 \\xff%%s\\n' %% (i, b'.' * %d)); time.sleep(%g)"


def lines(n, dots):
    return "".join(f"{i:05} café \ufffd{'.' * dots}\n" for i in range(n))


def test_output_survives_the_worker_with_the_result(server, start_worker):
    """The result is in the spool, the output is nowhere but in the attempt's folder, and the worker is killed, twice."""
    worker = start_worker(server)
    gid = server.give(param={"argv": python(LINES % (2000, 80, 0.0005))})
    server.wait_said(gid, "started")
    server.down()
    wait_for(lambda: worker.has_stored(gid))
    worker.kill()
    worker.start()
    worker.wait_log("output_adopted")
    worker.kill()
    worker.start()
    server.up()
    assert server.result(gid)["outcome"] == "success"
    assert server.output(gid) == lines(2000, 80)
    wait_for(lambda: worker.attempts() == [])
    assert len(server.said(gid, "result")) == 1


def test_output_is_said_again_as_it_was(server, start_worker):
    """A server that heard some of it when the worker was killed knows its items by their numbers alone."""
    worker = start_worker(server)
    gid = server.give(param={"argv": python(LINES % (1000, 10, 0.005))})
    for _ in range(3):
        heard = len(server.said(gid, "output"))
        server.wait(lambda: len(server.said(gid, "output")) > heard)
        server.status = 503  # the next pieces are made, and not heard
        made = (worker.state / "attempts" / f"{gid}-1" / "sent").stat().st_size
        wait_for(lambda: (worker.state / "attempts" / f"{gid}-1" / "sent").stat().st_size > made)
        worker.kill()
        server.status = None
        worker.start()
    assert server.result(gid)["outcome"] == "success"
    assert server.output(gid) == lines(1000, 10)
    by_seq = {}
    for item in server.said(gid, "output"):
        assert by_seq.setdefault(item["seq"], item["data"]) == item["data"]


@pytest.mark.parametrize("restart", [False, True])
def test_output_that_finds_no_room_in_memory_goes_before_the_result(server, start_worker, restart):
    worker = start_worker(server)
    code = "import os\nfor i in range(1000): os.write(1, b'%04d' % i + b'.' * 1019 + b'\\n')"
    server.report = lambda request: (503, {"code": "busy"})
    gids = [server.give(param={"argv": python(code)}) for _ in range(72)]
    wait_for(lambda: all(worker.has_stored(gid) for gid in gids), 60)
    if restart:
        worker.kill()
        worker.start()
        worker.wait_log("output_adopted")
    del server.report
    for gid in gids:
        server.result(gid, 60)
    wanted = "".join(f"{i:04}" + "." * 1019 + "\n" for i in range(1000))
    assert all(server.output(gid) == wanted for gid in gids)


# ---- servers that are away, slow or say no

# B150
def test_result_waits_for_the_server(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": python(SLEEPY % 0.3)})
    server.wait_said(gid, "started")
    server.down()
    wait_for(lambda: worker.has_stored(gid))
    server.up()
    assert server.result(gid)["outcome"] == "success"
    assert server.output(gid).endswith("done\n")
    wait_for(lambda: worker.attempts() == [])


def test_result_survives_the_worker_while_the_server_is_away(server, start_worker):
    worker = start_worker(server)
    gid = server.give(param={"argv": ["/bin/sh", "-c", "sleep 0.3; exit 9"]})
    server.wait_said(gid, "started")
    server.down()
    wait_for(lambda: worker.has_stored(gid))
    worker.kill()
    worker.start()
    server.up()
    result = server.result(gid)
    assert (result["outcome"], result["code"]) == ("failed", 9)
    assert server.registrations[-1]["running"] == [{"gid": gid, "fence": 1}]
    worker.stop()
    before = len(server.said(gid, "result"))
    worker.start()  # delivered once, it is gone
    server.wait(lambda: len(server.registrations) >= 3)
    assert server.registrations[-1]["running"] == [] and len(server.said(gid, "result")) == before


@pytest.mark.parametrize("stored", [True, False])
def test_a_start_that_no_server_heard_is_said_by_the_next_worker(server, start_worker, stored):
    """Killed when the result of a brief task was in the spool, or while its task ran."""
    worker = start_worker(server)
    server.report = lambda request: (503, {"code": "busy"})
    gid = server.give(param={"argv": ["/bin/true"] if stored else python(FOREVER)})
    if stored:
        wait_for(lambda: worker.has_stored(gid))
    else:
        wait_for(lambda: (worker.state / "attempts" / f"{gid}-1" / "started").exists())
    assert server.said(gid, "started") == []
    worker.kill()
    del server.report
    worker.start()
    server.wait_said(gid, "started")
    if stored:
        server.result(gid)
        assert [item["type"] for _, _, item in server.items if item["gid"] == gid] == ["started", "result"]


def test_what_never_began_is_not_said_to_have_started(server, start_worker):
    worker = start_worker(server)
    tried = []
    server.report = lambda request: tried.extend(request["items"]) or (503, {"code": "busy"})
    gid = server.give(executor="nobody-has-it")
    wait_for(lambda: any(item["type"] == "result" for item in tried))
    worker.kill()
    del server.report
    worker.start()
    assert server.result(gid)["outcome"] == "refused" and server.said(gid, "started") == []


# B008
def test_lease_lost_ends_the_task_and_reports_nothing(quick_server, start_worker):
    worker = start_worker(quick_server)
    gid = quick_server.give(param={"argv": python(DEAF_PID)})
    pid = leader(quick_server, gid)
    quick_server.down()
    started = time.monotonic()
    wait_for(lambda: not alive(pid), 5)
    assert time.monotonic() - started < 1.5 + 1.5  # unreachable_ms, and a second's tick
    wait_for(lambda: worker.attempts() == [])
    quick_server.up()
    quick_server.wait(lambda: len(quick_server.polls) > 0)
    second = quick_server.give(param={"argv": ["/bin/true"]})
    assert quick_server.result(second)["outcome"] == "success"
    assert quick_server.said(gid, "result") == []


def test_on_unreachable_continue_goes_on(quick_server, start_worker):
    start_worker(quick_server)
    gid = quick_server.give(param={"argv": python(SLEEPY % 3)}, on_unreachable="continue")
    pid = leader(quick_server, gid)
    quick_server.down()
    time.sleep(2.2)  # longer than unreachable_ms: this is the time that must pass
    assert alive(pid)
    quick_server.up()
    assert quick_server.result(gid)["outcome"] == "success"


def test_lease_is_renewed_by_answered_heartbeats(quick_server, start_worker):
    start_worker(quick_server)
    gid = quick_server.give(param={"argv": python(SLEEPY % 3)})
    assert quick_server.result(gid)["outcome"] == "success"
    assert len(quick_server.said(gid, "heartbeat")) >= 5


def test_runs_that_come_too_late_are_given_back(start_worker):
    from fake_server import FakeServer
    server = FakeServer(start_within_ms=300, poll_wait_ms=2000)
    try:
        server.delay_poll_answer = 0.5
        worker = start_worker(server)
        gid = server.give(param={"argv": ["/bin/true"]})
        worker.wait_log("run_dropped")
        server.delay_poll_answer = 0
        second = server.give(param={"argv": ["/bin/true"]})
        assert server.result(second)["outcome"] == "success"
        assert server.result(gid)["outcome"] == "cancelled"
        assert server.said(gid, "accepted") == [] and server.said(gid, "started") == []
    finally:
        server.close()


def test_duplicate_deliveries_run_once(server, start_worker, tmp_path):
    start_worker(server)
    server.duplicate_polls = True
    note = tmp_path / "ran"
    gid = server.give(param={"script": f"echo x >> {note}"})
    assert server.result(gid)["outcome"] == "success"
    server.give(gid=gid, param={"script": f"echo again >> {note}"})  # the same gid and fence, after its end
    second = server.give(param={"argv": ["/bin/true"]})
    server.result(second)
    assert note.read_text() == "x\n"


def test_newer_fence_ends_the_older_attempt(server, start_worker):
    start_worker(server)
    gid = server.give(param={"argv": python(DEAF_PID)})
    pid = leader(server, gid)
    server.give(gid=gid, fence=2, attempt=1, param={"argv": ["/bin/echo", "second"]})
    result = server.result(gid)
    assert (result["fence"], result["outcome"]) == (2, "success")
    assert not alive(pid)


def test_cancel_by_stop_list_and_by_verdict(quick_server, start_worker):
    start_worker(quick_server)
    gid = quick_server.give(param={"argv": python(FOREVER)})
    quick_server.wait_said(gid, "started")
    quick_server.stops = [{"gid": gid, "fence": 1, "reason": "cancel"}]
    assert quick_server.result(gid)["outcome"] == "cancelled"
    gid = quick_server.give(param={"argv": python(FOREVER)})
    quick_server.wait_said(gid, "started")
    quick_server.verdict = lambda item: "stop" if item["type"] == "heartbeat" else "applied"
    assert quick_server.result(gid)["outcome"] == "cancelled"


def test_late_and_unknown_stops_do_no_harm(quick_server, start_worker):
    start_worker(quick_server)
    done = quick_server.give(param={"argv": ["/bin/true"]})
    quick_server.result(done)
    quick_server.stops = [{"gid": done, "fence": 1, "reason": "cancel"}, {"gid": "77", "fence": 3, "reason": "lost"},
                          {"gid": "nonsense", "fence": 1, "reason": "lost"}]
    gid = quick_server.give(param={"argv": python(SLEEPY % 1)})
    assert quick_server.result(gid)["outcome"] == "success"
    assert len(quick_server.said(done, "result")) == 1


# B109
def test_late_verdict_ends_the_attempt(quick_server, start_worker):
    worker = start_worker(quick_server)
    gid = quick_server.give(param={"argv": python(DEAF_PID)})
    pid = leader(quick_server, gid)
    quick_server.verdict = lambda item: "late" if item["type"] == "heartbeat" else "applied"
    wait_for(lambda: not alive(pid))
    wait_for(lambda: worker.attempts() == [])
    assert quick_server.said(gid, "result") == []


def test_confirmed_start_waits_for_the_verdict(server, start_worker, tmp_path):
    start_worker(server)
    note = tmp_path / "ran"
    gid = server.give(param={"script": f"echo x > {note}"}, start="confirmed")
    assert server.result(gid)["outcome"] == "success" and note.exists()
    note.unlink()
    server.verdict = lambda item: "late" if item["type"] == "started" else "applied"
    gid = server.give(param={"script": f"echo x > {note}"}, start="confirmed")
    server.wait_said(gid, "started")
    server.verdict = lambda item: "applied"
    second = server.give(param={"argv": ["/bin/true"]})
    server.result(second)
    assert not note.exists() and server.said(gid, "result") == []


# ---- an attempt that is dropped while a report that names it is on its way

def hold(server, kind):
    """Reports with such items are unanswered until the event is set."""
    server.held[kind] = threading.Event()
    return server.held[kind]


def answer(server, event):
    with server.lock:
        server.held.clear()
    event.set()


def begin_to_begin(server, note):
    """A run with a confirmed start that would write `note`, with its `started` heard and not answered: its gid, and
    the event that lets the answer go."""
    started = hold(server, "started")
    gid = server.give(param={"script": f"echo older >> {note}; sleep 60"}, start="confirmed")
    server.wait_said(gid, "started")
    return gid, started


def is_well(server, worker):
    assert server.result(server.give(param={"argv": ["/bin/true"]}))["outcome"] == "success"
    assert worker.process.poll() is None


def test_drain_before_the_word_on_a_confirmed_start(server, start_worker, tmp_path):
    worker = start_worker(server)
    note = tmp_path / "ran"
    gid, started = begin_to_begin(server, note)
    worker.process.terminate()
    worker.wait_log("draining")
    answer(server, started)
    assert worker.end() == 0 and server.leaves
    assert not note.exists() and server.said(gid, "result") == []


def test_lost_before_the_word_on_a_confirmed_start(server, start_worker, tmp_path):
    worker = start_worker(server)
    note = tmp_path / "ran"
    gid, started = begin_to_begin(server, note)
    with server.lock:
        polls = len(server.polls)
        server.poll_stops = [{"gid": gid, "fence": 1, "reason": "lost"}]
        server.lock.notify_all()
    server.wait(lambda: len(server.polls) > polls)  # the answer before was read
    answer(server, started)
    is_well(server, worker)
    assert not note.exists() and server.said(gid, "result") == []


def test_lease_runs_out_before_the_word_on_a_confirmed_start(quick_server, start_worker, tmp_path):
    worker = start_worker(quick_server)
    note = tmp_path / "ran"
    gid, started = begin_to_begin(quick_server, note)
    worker.wait_log("lease_lost")
    answer(quick_server, started)
    is_well(quick_server, worker)
    assert not note.exists() and quick_server.said(gid, "result") == []


def test_newer_fence_before_the_word_on_a_confirmed_start(server, start_worker, tmp_path):
    worker = start_worker(server)
    note = tmp_path / "ran"
    gid, started = begin_to_begin(server, note)
    server.give(gid=gid, fence=2, param={"script": f"echo newer >> {note}"}, start="confirmed")
    wait_for(lambda: len(worker.log("run_received")) == 2)
    answer(server, started)
    assert server.result(gid)["fence"] == 2
    is_well(server, worker)
    assert note.read_text() == "newer\n" and len(server.said(gid, "result")) == 1


def test_drain_before_the_word_on_queued_runs(server, start_worker):
    worker = start_worker(server, "--groups", "default:1")
    first = server.give(param={"argv": python(SLEEPY % 2)})
    server.wait_said(first, "started")
    accepted = hold(server, "accepted")
    server.verdict = lambda item: "stop" if item["type"] == "accepted" else "applied"
    queued = [server.give(param={"argv": ["/bin/true"]}) for _ in range(2)]
    server.wait(lambda: any(server.said(gid, "accepted") for gid in queued))
    worker.process.terminate()
    worker.wait_log("draining")
    answer(server, accepted)
    assert server.result(first)["outcome"] == "success"
    assert worker.end() == 0 and server.leaves
    assert not any(server.said(gid, "result") for gid in queued)


def test_older_fence_that_comes_later_is_not_taken(server, start_worker, tmp_path):
    worker = start_worker(server)
    note = tmp_path / "ran"
    gid = server.give(fence=2, param={"script": f"sleep 1; echo newer >> {note}"})
    server.wait_said(gid, "started")
    server.give(gid=gid, fence=1, param={"script": f"echo older >> {note}"})
    assert worker.wait_log("run_dropped")[0]["reason"] == "overtaken"
    assert server.result(gid)["fence"] == 2
    is_well(server, worker)
    assert note.read_text() == "newer\n" and len(server.said(gid, "result")) == 1


# B100
def test_timeout_is_term_grace_kill(server, start_worker):
    start_worker(server)
    polite = server.give(param={"argv": python(FOREVER)}, timeout_s=1)
    deaf = server.give(param={"argv": python(DEAF)}, timeout_s=1, grace_s=1)
    result = server.result(polite)
    assert (result["outcome"], result["signal"]) == ("timeout", "SIGTERM")
    assert 700 <= result["duration_ms"] < 1900
    result = server.result(deaf)
    assert (result["outcome"], result["signal"]) == ("timeout", "SIGKILL")
    assert 1700 <= result["duration_ms"] < 3500
    assert "1 s" in result["message"]


def test_register_again_when_the_server_does_not_know_it(quick_server, start_worker):
    start_worker(quick_server)
    quick_server.wait(lambda: quick_server.polls)
    gid = quick_server.give(param={"argv": python(SLEEPY % 1.5)})
    quick_server.wait_said(gid, "started")
    quick_server.status = 404
    time.sleep(0.5)  # let it be refused a few times
    quick_server.status = None
    quick_server.wait(lambda: len(quick_server.registrations) >= 2)
    assert quick_server.registrations[-1]["running"] == [{"gid": gid, "fence": 1}]
    assert quick_server.result(gid)["outcome"] == "success"


def test_superseded_worker_ends(quick_server, start_worker):
    worker = start_worker(quick_server)
    gid = quick_server.give(param={"argv": python("import os; print(os.getpid(), flush=True)\n" + FOREVER)})
    pid = leader(quick_server, gid)
    quick_server.status = 409
    assert worker.end() == 4
    assert not alive(pid)


def test_refused_token_ends_the_start(server, start_worker):
    worker = start_worker(server)
    worker.stop()
    (worker.state.parent / "token").write_text("wrong")
    worker.start()
    assert worker.end() == 3


def test_two_servers_one_of_them_dead(server, start_worker):
    from fake_server import FakeServer
    second = FakeServer()
    try:
        worker = start_worker(f"{server.url},{second.url}")
        server.wait(lambda: server.polls)
        second.wait(lambda: second.polls)
        second.next_gid = 5000
        one = server.give(param={"argv": ["/bin/true"]})
        two = second.give(param={"argv": ["/bin/true"]})
        wait_for(lambda: len(server.said(one, "result") + second.said(one, "result")) == 1)
        wait_for(lambda: len(server.said(two, "result") + second.said(two, "result")) == 1)
        server.down()
        three = second.give(param={"argv": ["/bin/true"]})
        assert second.result(three, 30)["outcome"] == "success"
        assert len(worker.log("run_received")) == 3
    finally:
        second.close()


# ---- the end of a worker

def test_drain_kills_what_does_not_end_in_time(server, start_worker):
    worker = start_worker(server, "--drain-seconds", 1)
    gid = server.give(param={"argv": python(DEAF_PID)})
    pid = leader(server, gid)
    worker.process.terminate()
    assert worker.end() == 0
    assert not alive(pid) and server.leaves
    assert server.said(gid, "result") == []  # lost, which costs no retry


def test_second_term_ends_at_once(server, start_worker):
    worker = start_worker(server, "--drain-seconds", 600)
    gid = server.give(param={"argv": python(DEAF_PID)})
    pid = leader(server, gid)
    worker.process.terminate()
    worker.wait_log("draining")
    worker.process.terminate()
    assert worker.end(5) == 0
    assert not alive(pid)


def test_server_can_drain_a_worker(server, start_worker):
    worker = start_worker(server)
    server.wait(lambda: server.polls)
    server.drain = True  # no runs come; what the worker has goes on, and it stays
    gid = server.give(param={"argv": python(SLEEPY % 0.5)})
    assert server.result(gid)["outcome"] == "success"
    server.drain = False
    gid = server.give(param={"argv": python(SLEEPY % 0.1)})
    assert server.result(gid)["outcome"] == "success"
    assert not server.leaves


def test_dev_worker_ends_with_its_parent(server, tmp_path, start_worker):
    worker = start_worker(server)
    server.wait(lambda: len(server.registrations) == 1)
    worker.stop()
    code = f"import subprocess, sys, time; p = subprocess.Popen({worker.args!r}); print(p.pid, flush=True); time.sleep(600)"
    with open(worker.log_path, "ab") as log:
        parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=log)
    pid = int(parent.stdout.readline())
    server.wait(lambda: len(server.registrations) >= 2)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    wait_for(lambda: not alive(pid))


def test_one_worker_per_state_folder(server, start_worker):
    first = start_worker(server)
    first.wait_log("registered")
    second = start_worker(server)
    assert second.end() == 1
    assert "another worker uses the state folder" in first.log_path.read_text()


# ---- policy

def refusal(server, **param):
    result = server.result(server.give(param=param))
    assert result["outcome"] == "refused", result
    return result["message"]


def test_process_tasks_are_off_by_default(server, start_worker):
    start_worker(server, dev=False)
    assert "allow_exec" in refusal(server, argv=["/bin/true"])


def test_scripts_need_their_own_permission(server, start_worker):
    start_worker(server, dev=False, policy=exec_policy())
    assert "allow_scripts" in refusal(server, script="true")
    assert server.result(server.give(param={"argv": ["/bin/true"]}))["outcome"] == "success"


def test_policy_limits_programs_folders_and_users(server, start_worker):
    start_worker(server, dev=False, policy=exec_policy(programs=["/bin/true"], dirs=["/tmp"]))
    assert "/bin/false" in refusal(server, argv=["/bin/false"])
    assert "list" in refusal(server, argv=["/bin/../bin/true"])
    assert "/etc" in refusal(server, argv=["/bin/true"], cwd="/etc")
    assert "/tmp/../etc" in refusal(server, argv=["/bin/true"], cwd="/tmp/../etc")
    assert "root" in refusal(server, argv=["/bin/true"], user="root")
    assert "daemon" in refusal(server, argv=["/bin/true"], user="daemon")
    assert server.result(server.give(param={"argv": ["/bin/true"], "cwd": "/tmp"}))["outcome"] == "success"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")
def test_root_worker_never_runs_tasks_as_root(server, start_worker):
    start_worker(server, dev=False, policy={"allow_exec": True, "users": ["nobody"]})
    gid = server.give(param={"argv": ["/usr/bin/id", "-un"]})
    assert server.result(gid)["outcome"] == "success"
    assert server.output(gid) == "nobody\n"


@pytest.mark.parametrize("name", ["LD_PRELOAD", "PATH", "BASH_ENV", "PYTHONPATH", "GIT_SSH", "NODE_OPTIONS", "IFS",
                                  "AX_GID", "MY_SECRET", "1BAD", "A B", "JAVA_TOOL_OPTIONS", "PERL5LIB", "RUBYOPT"])
def test_denied_environment(server, start_worker, name):
    start_worker(server, dev=False, policy=exec_policy(deny_env=["MY_*"]))
    assert name in refusal(server, argv=["/bin/true"], env={name: "x"})


def test_malformed_parameters_are_refused_with_the_reason(server, start_worker):
    start_worker(server)
    assert "argv or script" in refusal(server)
    assert "argv or script" in refusal(server, argv=["/bin/true"], script="true")
    assert "absolute" in refusal(server, argv=["true"])
    assert "argz" in refusal(server, argv=["/bin/true"], argz=1)
    assert "1-256" in refusal(server, argv=[])
    gid = server.give(param="text")
    assert server.result(gid)["outcome"] == "refused"
    gid = server.give(executor="nobody.offers.it")
    assert server.result(gid)["outcome"] == "refused"


def test_what_cannot_start_says_why(server, start_worker):
    start_worker(server)
    result = server.result(server.give(param={"argv": ["/nonexistent"]}))
    assert result["outcome"] == "failed" and "No such file" in result["message"]
    result = server.result(server.give(param={"argv": ["/bin/true"], "cwd": "/nonexistent"}))
    assert result["outcome"] == "failed" and "cwd" in result["message"]


def test_bad_options_and_policies_do_not_start(server, start_worker, tmp_path):
    (tmp_path / "text").write_text("no certificate\n")
    for n, (option, value, said) in enumerate([
            ("--groups", "a:0", "pool size"), ("--ca", tmp_path / "none", "No such file"), ("--ca", tmp_path / "text", "no certificate"),
            ("--token-file", tmp_path / "none", "No such file"), ("--ax-exec", tmp_path / "none", "No such file"),
            ("--plugin", tmp_path / "none", "No such file"), ("--policy", tmp_path / "none", "No such file")]):
        worker = start_worker(server, option, value, name=f"w{n}", dev=False)
        assert worker.end() == 2, option
        text = worker.log_path.read_text()
        assert said in text and len(text.splitlines()) == 1, text
    worker = start_worker(server, dev=False, policy={"allow_exce": True})
    assert worker.end() == 2
    assert "allow_exce" in worker.log_path.read_text()


def test_refusals_are_told_once_with_their_number(server, start_worker):
    server.status = 503
    worker = start_worker(server)
    server.wait(lambda: server.refused >= 4)
    server.status = 429
    server.wait(lambda: worker.log("registration_refused")[-1]["http_status"] == 429)
    server.status = None
    registered = worker.wait_log("registered")[0]
    told = worker.log("registration_refused")
    assert [line["http_status"] for line in told] == [503, 429]
    assert told[0]["times"] == 1 and told[1]["times"] >= 5
    assert registered["refusals"] >= told[1]["times"]


# ---- queue, back-pressure

def test_priority_decides_the_order_in_the_queue(server, start_worker, tmp_path):
    start_worker(server, "--groups", "default:1")
    note = tmp_path / "order"
    server.wait(lambda: server.polls)
    first = server.give(param={"script": f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"})
    server.wait_said(first, "started")
    low = server.give(param={"script": f"echo low >> {note}"}, priority=2)
    server.wait_said(low, "accepted")
    high = server.give(param={"script": f"echo high >> {note}"}, priority=9)
    server.wait_said(high, "accepted")
    (tmp_path / "go").write_text("")
    server.result(low)
    assert note.read_text() == "high\nlow\n"


def test_slots_are_three_times_the_pool(server, start_worker):
    start_worker(server, "--groups", "default:2,other:5")
    server.wait(lambda: len(server.polls) >= 2)
    asked = sorted((poll["free"] for poll in server.polls[:2]), key=str)
    assert asked == [[{"group": "default", "slots": 6}], [{"group": "other", "slots": 15}]]


def test_a_group_that_is_answered_leaves_the_polls_of_others_parked(server, start_worker):
    start_worker(server, "--groups", ",".join(f"{name}:1" for name in "abcdef"))
    server.wait(lambda: len(server.polls) >= 4)
    asked = sorted([free["group"] for free in poll["free"]] for poll in server.polls[:4])
    assert asked == [["a", "e"], ["b", "f"], ["c"], ["d"]]
    for name in "bcb":
        gid = server.give(group=name, param={"script": "true"})
        server.result(gid)
        answered = next(poll for poll in server.polls if poll["number"] == server.brought[gid])
        assert answered["free"][0]["group"] == name
        server.wait(lambda: any(poll["number"] > server.brought[gid] and poll["free"][0]["group"] == name for poll in server.polls))


def test_a_group_that_is_refused_leaves_the_polls_of_others_parked(server, start_worker):
    worker = start_worker(server, "--groups", "a:1,b:1")
    server.busy_group = "b"

    def asked(group):
        return sum(poll["free"][0]["group"] == group for poll in server.polls)
    server.wait(lambda: asked("b") >= 2, 15)
    for _ in range(5):  # each at once, though the pause for the other one grows
        server.result(server.give(group="a", param={"script": "true"}), 2)
    server.wait(lambda: asked("b") >= 5, 20)
    assert len(worker.log("poll_refused")) == 1
    server.busy_group = None
    server.result(server.give(group="b", param={"script": "true"}), 10)


def test_connections_are_kept(server, start_worker):
    start_worker(server, "--groups", "a:1,b:1,c:1,d:1")
    server.wait(lambda: len(server.polls) >= 4)
    for n in range(12):
        server.result(server.give(group="abcd"[n % 4], param={"script": "true"}))
    assert server.connected <= 6  # four polls, a report, a registration


# ---- disks

@pytest.fixture
def small_disk(tmp_path):
    """A disk of its own; gives a function that changes its size."""
    folder = tmp_path / "disk"
    folder.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600m", "tmpfs", folder], capture_output=True).returncode:
        pytest.skip("cannot mount here")
    yield folder, lambda size: subprocess.run(["mount", "-o", f"remount,size={size}", folder], check=True)
    subprocess.run(["umount", "-l", folder], check=True)


def test_no_runs_are_taken_while_the_disk_is_low(quick_server, start_worker, small_disk):
    folder, resize = small_disk
    resize("250m")
    worker = start_worker(quick_server, "--state", folder / "state")
    quick_server.wait(lambda: quick_server.polls)
    (folder / "junk").write_bytes(b"x" * (100 << 20))
    worker.wait_log("disk_low")
    quick_server.wait(lambda: quick_server.reports > 3)  # it is still there for the server
    before = len(quick_server.polls)
    gid = quick_server.give(param={"argv": ["/bin/true"]})
    reports = quick_server.reports
    quick_server.wait(lambda: quick_server.reports > reports + 2)
    assert len(quick_server.polls) <= before + 1 and quick_server.said(gid, "started") == []
    (folder / "junk").unlink()
    assert quick_server.result(gid)["outcome"] == "success"


def test_results_get_through_on_a_full_disk(server, start_worker, small_disk, tmp_path):
    folder, _ = small_disk
    worker = start_worker(server, "--state", folder / "state")
    go = tmp_path / "go"
    gid = server.give(param={"script": f"while [ ! -e {go} ]; do sleep 0.05; done; seq 100000; exit 5"})
    server.wait_said(gid, "started")
    wait_for(lambda: (folder / "state/attempts" / f"{gid}-1" / "started").exists())
    assert (folder / "state/reserve").stat().st_size == 64 << 20
    with open(folder / "junk", "wb", 0) as f, pytest.raises(OSError):
        while True:
            f.write(b"x" * 4096)
    go.write_text("")
    result = server.result(gid, 20)
    assert (result["outcome"], result["code"]) == ("failed", 5)
    assert worker.process.poll() is None


def test_failing_sync_ends_the_worker_loudly(server, start_worker, tmp_path):
    flag = tmp_path / "disk-is-broken"
    preload = BUILD / "tests/worker/libfail_sync.so"
    if any(k in os.environ for k in ("ASAN_OPTIONS", "TSAN_OPTIONS")):
        pytest.skip("sanitizers want to be loaded first")
    worker = start_worker(server, env={"LD_PRELOAD": str(preload), "FAIL_SYNC_FLAG": str(flag)})
    go = tmp_path / "go"
    gid = server.give(param={"script": f"while [ ! -e {go} ]; do sleep 0.05; done"})
    server.wait_said(gid, "started")
    flag.write_text("")
    go.write_text("")
    assert worker.end() == 74
    assert worker.log("spool_io_error") and server.said(gid, "result") == []
    flag.unlink()
    worker.start()
    assert server.result(gid)["outcome"] == "success"  # ax-exec's status file still knows
