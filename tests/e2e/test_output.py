"""What a task prints, and how it comes back."""

import os
import pty
import subprocess

import pytest

from ax_world import AXCTL, wait_for


@pytest.fixture
def node(world):
    server = world.server()
    world.worker(server)
    return server


def print_of(server, name, script, seconds=20):
    run = server.trigger(server.task(name, script=script))
    return server.wait_run(run, "SUCCESS", seconds)


def on_a_terminal(args, env):
    ours, theirs = pty.openpty()
    subprocess.run([*map(str, args)], stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, env=env, timeout=30, check=True)
    os.close(theirs)
    shown = b""
    try:
        while piece := os.read(ours, 65536):
            shown += piece
    except OSError:  # the end of a terminal
        pass
    os.close(ours)
    return shown.decode()


def test_lines_and_languages(world, node):
    run = print_of(node, "lines", "echo one; echo two >&2; printf '你好 %s\\n' ünïcode 🙂; printf end")
    assert node.text(run) == "one\ntwo\n你好 ünïcode\n你好 🙂\nend"
    assert world.axctl(node, "run", "log", run["gid"]).out.rstrip("\n") == node.text(run)


def test_nothing(world, node):
    run = print_of(node, "silent", "true")
    assert node.output(run) == {"text": "", "truncated": False, "live": False}
    assert world.axctl(node, "run", "log", run["gid"]).out == ""


# B124
def test_bytes_that_are_no_text(world, node):
    run = print_of(node, "broken", r"printf 'a\377b\300\200c\355\240\200d\342\202'; printf '\n'")
    assert node.text(run).replace("\ufffd", "") == "abcd\n" and "\ufffd" in node.text(run)
    run = print_of(node, "binary", "head -c 65536 /dev/urandom; printf '\\0\\1\\2end'")
    assert node.text(run).endswith("end")
    world.axctl(node, "run", "log", run["gid"])


# B124
def test_a_character_that_comes_in_two_writes(node):
    script = r"""printf '\344\275'; exec 3<>/dev/null; /usr/bin/python3 -c 'import time; time.sleep(0.7)'; printf '\240\n'"""
    assert node.text(print_of(node, "cut", script)) == "\u4f60\n"


def test_colours_do_not_reach_the_terminal_raw(world, node):
    run = print_of(node, "ansi", r"printf '\033[31mred\033[0m \033]0;title\007\033[2J\n'")
    assert "\x1b[31mred" in node.text(run)
    shown = on_a_terminal([AXCTL, "run", "log", run["gid"]], {"AX_SERVER": node.url, "AX_TOKEN": node.token})
    assert "red" in shown and "\x1b" not in shown and "\x07" not in shown


# B123
def test_a_flood_is_capped_at_both_ends(world, node):
    run = print_of(node, "flood", "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last", 60)
    output = node.output(run)
    assert output["text"].startswith("first\nxxx") and output["text"].endswith("x\nlast\n")
    assert output["truncated"] and 900_000 < len(output["text"]) <= 1024 * 1024
    assert world.axctl(node, "run", "log", run["gid"]).out.rstrip().endswith("last")
    assert node.run(run)["status"] == "SUCCESS"


def test_a_flood_without_end_is_stopped_by_the_time_limit(node):
    run = node.trigger(node.task("endless", script="while :; do echo yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy; done", timeout_seconds=2,
                                 grace_seconds=1))
    ended = node.wait_run(run, "TIMEOUT", 15)
    assert ended["reason"] == "timeout" and node.text(run).startswith("yyyy")


def test_output_is_there_while_the_task_runs(world, node):
    gate = world.folder / "gate"
    run = node.trigger(node.task("live", script=f"echo begun; mkfifo {gate}; read line < {gate}; echo ended"))
    wait_for(lambda: node.text(run) == "begun\n", 10)
    assert node.output(run)["live"] and node.run(run)["status"] == "RUNNING"
    wait_for(gate.exists, 5)
    gate.write_text("go\n")
    node.wait_run(run, "SUCCESS")
    assert node.text(run) == "begun\nended\n" and not node.output(run)["live"]


def test_the_reason_of_a_failure_is_its_last_line(node):
    run = node.trigger(node.task("fails", script="echo some noise; echo the disk is on fire >&2; exit 7"))
    ended = node.wait_run(run, "FAILED")
    assert ended["result_code"] == 7 and "the disk is on fire" in ended["result_msg"]
