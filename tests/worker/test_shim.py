"""ax-exec: one process attempt from start to the end of its last process."""

import errno
import os
import signal
import sys

import pytest

from shim import HEAD, ORDER_DEADLINE, ORDER_STOP, Shim, alive, boottime_ms, wait_for

FOREVER = "import time\nprint('up', flush=True)\nwhile True: time.sleep(1)"
DEAF = "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + FOREVER
DEAF_PID = DEAF.replace("print(", "import os\nprint(os.getpid(), ")  # deaf already when it says its pid
# A daemon's way out: a new session, twice, with its descriptors closed.
DAEMON = """
import os, sys, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.setsid()
        for fd in (0, 1, 2): os.close(fd)
        open(sys.argv[1], 'w').write(str(os.getpid()))
        while True: time.sleep(1)
    os._exit(0)
while not os.path.exists(sys.argv[1]) or not open(sys.argv[1]).read(): time.sleep(0.01)
"""


def python(code, *args):
    return [sys.executable, "-c", code, *map(str, args)]


def up(shim):
    return wait_for(lambda: shim.output()[0] >= 3)


def test_exit_status_and_output(tmp_path):
    shim = Shim(tmp_path / "a", ["/bin/sh", "-c", "echo out; echo err >&2; exit 3"])
    status = shim.end()
    assert (status["end"], status["code"], status["signal"], status["left"]) == ("exit", 3, 0, 0)
    assert status["end_ms"] >= status["start_ms"]
    assert shim.output() == (8, b"out\nerr\n")
    assert not shim.locked()


def test_signal_is_told(tmp_path):
    status = Shim(tmp_path / "a", ["/bin/sh", "-c", "kill -9 $$"]).end()
    assert (status["end"], status["signal"]) == ("exit", 9)


def test_stdin_from_file_or_null(tmp_path):
    shim = Shim(tmp_path / "a", ["/bin/cat"], stdin=b"hello")
    assert shim.end()["code"] == 0
    assert shim.output() == (5, b"hello")
    shim = Shim(tmp_path / "b", ["/bin/cat"])
    assert shim.end()["code"] == 0
    assert shim.output()[0] == 0


@pytest.mark.parametrize("program, cwd, stage, code", [
    ("/nonexistent/program", "/", 7, errno.ENOENT),
    ("/etc/passwd", "/", 7, errno.EACCES),
    ("{tmp}/text", "/", 7, errno.ENOEXEC),
    ("/bin/true", "/nonexistent", 6, errno.ENOENT),
])
def test_what_cannot_start_is_a_clear_error(tmp_path, program, cwd, stage, code):
    text = tmp_path / "text"
    text.write_text("no program")
    text.chmod(0o755)
    status = Shim(tmp_path / "a", [program.format(tmp=tmp_path)], "--cwd", cwd).end()
    assert (status["end"], status["stage"], status["errno"]) == ("error", stage, code)


# B118
def test_what_the_program_inherits(tmp_path):
    code = """
import os, resource, signal
print(sorted(os.listdir('/proc/self/fd'), key=int)[:-1])  # the last one is the listing itself
print(oct(os.umask(0)), resource.getrlimit(resource.RLIMIT_CORE)[0], os.getsid(0) == os.getpid())
status = dict(l.split(':\\t') for l in open('/proc/self/status').read().splitlines() if ':\\t' in l)
print(status['NoNewPrivs'], int(status['SigBlk'], 16), int(status['SigIgn'], 16) & ~(1 << 12 | 1 << 24))
print(sorted(os.environ))
"""
    leak = os.open("/etc/passwd", os.O_RDONLY)
    os.set_inheritable(leak, True)
    shim = Shim(tmp_path / "a", python(code), env={"AX_GID": "7"})
    os.close(leak)
    assert shim.end()["code"] == 0
    lines = shim.output()[1].decode().splitlines()
    assert lines[0] == "['0', '1', '2']"
    assert lines[1] == "0o77 0 True"
    assert lines[2] == "1 0 0"  # SIGPIPE and SIGXFSZ are python's own doing
    assert "AX_GID" in lines[3] and "PATH" in lines[3]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes users")
def test_runs_as_another_user(tmp_path):
    ids = ["/bin/sh", "-c", "grep -E '^(Uid|Gid|Groups|CapEff)' /proc/self/status"]
    shim = Shim(tmp_path / "a", ids, "--uid", 65534, "--gid", 65533, "--groups", "65533,100")
    assert (shim.end()["end"], shim.output()[1].split()) == ("exit", [
        b"Uid:", *[b"65534"] * 4, b"Gid:", *[b"65533"] * 4, b"Groups:", b"100", b"65533", b"CapEff:", b"0" * 16])


def test_timeout_is_term_then_kill(tmp_path):
    shim = Shim(tmp_path / "a", python(FOREVER), "--timeout-ms", 300)
    status = shim.end()
    assert (status["end"], status["signal"]) == ("timeout", signal.SIGTERM)
    shim = Shim(tmp_path / "b", python(DEAF), "--timeout-ms", 500, "--grace-ms", 200)
    status = shim.end()
    assert (status["end"], status["signal"]) == ("timeout", signal.SIGKILL)
    assert 700 <= status["end_ms"] - status["start_ms"] < 3000


def test_stop_order_and_a_second_one_that_shortens_the_grace(tmp_path):
    shim = Shim(tmp_path / "a", python(DEAF))
    up(shim)
    shim.order(ORDER_STOP, 60_000)
    shim.order(ORDER_STOP, 0)
    status = shim.end()
    assert (status["end"], status["signal"]) == ("stop", signal.SIGKILL)


def test_term_to_the_shim_stops_the_task(tmp_path):
    shim = Shim(tmp_path / "a", python(FOREVER))
    up(shim)
    shim.process.terminate()
    assert shim.end()["end"] == "stop"


def test_deadline_kills_unless_it_is_extended(tmp_path):
    shim = Shim(tmp_path / "a", python(DEAF), "--deadline-ms", boottime_ms() + 1000)
    started = boottime_ms()
    up(shim)
    shim.order(ORDER_DEADLINE, boottime_ms() + 2500)
    status = shim.end()
    assert (status["end"], status["signal"]) == ("deadline", signal.SIGKILL)
    assert boottime_ms() - started >= 2400


# B117
@pytest.mark.parametrize("main_ends", [True, False])
def test_daemon_children_are_ended(tmp_path, main_ends):
    note = tmp_path / "pid"
    code = DAEMON + ("" if main_ends else FOREVER)
    shim = Shim(tmp_path / "a", python(code, note))
    if not main_ends:
        up(shim)
        assert alive(int(note.read_text()))
        shim.order(ORDER_STOP, 1000)
    status = shim.end()
    assert (status["end"], status["left"]) == ("exit" if main_ends else "stop", 0)
    assert not alive(int(note.read_text()))


def test_kill_of_the_shim_takes_the_program_along(tmp_path):
    shim = Shim(tmp_path / "a", python(FOREVER))
    up(shim)
    pid = shim.started()["pid"]
    shim.process.kill()
    shim.process.wait()
    wait_for(lambda: not alive(pid))
    assert not shim.locked() and not (tmp_path / "a/status").exists()


def test_output_flood_keeps_first_and_last_part(tmp_path):
    code = "import os\nb = bytes(range(97, 123)) * 2521 + b'\\n'\nfor i in range(1600): os.write(1, b)\nos.write(1, b'END')"
    shim = Shim(tmp_path / "a", python(code))
    assert shim.end(60)["code"] == 0
    total, kept = shim.output()
    assert total > 100_000_000 and len(kept) == 1024 * 1024
    assert kept[:26] == b"abcdefghijklmnopqrstuvwxyz" and kept.endswith(b"\nEND")
    assert kept[HEAD - 1:HEAD] != b""


def test_nobody_reading_does_not_stop_the_task(tmp_path):
    """The worker is dead: nobody holds the control fifo or reads the output; the task goes on to its end."""
    shim = Shim(tmp_path / "a", ["/bin/sh", "-c", "i=0; while [ $i -lt 3000 ]; do echo 0123456789012345678901234567890123456789; i=$((i+1)); done"])
    assert shim.end()["code"] == 0
    assert shim.output()[0] == 3000 * 41


def test_a_stopped_program_is_ended(tmp_path):
    shim = Shim(tmp_path / "a", python(FOREVER))
    up(shim)
    os.kill(shim.started()["pid"], signal.SIGSTOP)
    shim.order(ORDER_STOP, 5000)
    assert shim.end()["signal"] == signal.SIGTERM


def test_cgroup_leaf_is_joined_and_killed(tmp_path):
    root = "/sys/fs/cgroup/unified"
    leaf = f"{root}/ax-test-{os.getpid()}"
    try:
        os.mkdir(leaf)
    except OSError as e:
        pytest.skip(f"no cgroup v2 here: {e}")
    try:
        note = tmp_path / "pid"
        shim = Shim(tmp_path / "a", python(DAEMON + FOREVER, note), "--cgroup", leaf)
        up(shim)
        inside = open(f"{leaf}/cgroup.procs").read().split()
        assert note.read_text() in inside
        shim.order(ORDER_STOP, 1000)
        assert shim.end()["end"] == "stop"
        assert not alive(int(note.read_text()))
    finally:
        os.rmdir(leaf)
