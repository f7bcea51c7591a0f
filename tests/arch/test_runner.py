"""What tools/test makes of what test programs print."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def runner():
    loader = importlib.machinery.SourceFileLoader("runner", str(ROOT / "tools/test"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("runner", loader))
    sys.modules["runner"] = module
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


@pytest.mark.parametrize("text, counts", [
    ("[==========] 12 test(s) run.\n[  PASSED  ] 12 test(s).\n", (12, 0, 0)),
    ("[  PASSED  ] 10 test(s).\n[  FAILED  ] 2 test(s), listed below:\n[  FAILED  ] test_a\n\n 2 FAILED TEST(S)\n", (10, 2, 0)),
    ("....F\n=== short test summary info ===\n1 failed, 97 passed, 2 skipped in 3.21s\n", (97, 1, 2)),
    ("12 passed in 0.10s\n", (12, 0, 0)),
    ("1 error in 0.10s\n", (0, 1, 0)),
    (" Test Files  2 failed | 3 passed (5)\n      Tests  1 failed | 41 passed (42)\n", (41, 1, 0)),
    ("      \x1b[2mTests\x1b[22m \x1b[32m 41 passed\x1b[39m (41)\n", (41, 0, 0)),
    ("  1 failed\n    a.spec.ts:3:1 › signs in\n  1 flaky\n  20 passed (1.2m)\n", (20, 2, 0)),
    ("1000 seeds, 5 transactions, 3 messages, 2 crashes, 9 attempts: 0 failed\n", (1000, 0, 0)),
    ("9 seeds, 5 transactions, 3 messages, 2 crashes, 9 attempts: 2 failed\n", (7, 2, 0)),
    ("14 passed, 1 failed\n", (14, 1, 0)),
    ("all is well\n", (1, 0, 0)),
])
def test_counts(runner, text, counts):
    assert runner.count_program(text, counts[1] == 0) == counts


def test_a_program_that_breaks_is_a_failure(runner):
    assert runner.count_program("12 passed in 0.10s\nSegmentation fault\n", False) == (12, 1, 0)


def test_meson_results(runner, tmp_path):
    results = tmp_path / "x.json"
    assert runner.count_meson(results, True)[1] == 1  # no results at all
    lines = [{"result": "OK", "stdout": "[  PASSED  ] 3 test(s).\n"}, {"result": "TIMEOUT", "stdout": ""},
             {"result": "OK", "stdout": "", "stderr": "7 passed in 1.00s"}, {"result": "SKIP", "stdout": ""}]
    results.write_text("\n".join(json.dumps(line) for line in lines))
    assert runner.count_meson(results, False) == (10, 1, 1)
    results.write_text(json.dumps(lines[0]))
    assert runner.count_meson(results, False) == (3, 1, 0)  # meson itself said no


def run_stages(runner, monkeypatch, tmp_path, capsys, *stages):
    monkeypatch.setattr(runner, "LOGS", tmp_path)
    monkeypatch.setattr(runner, "ROOT", tmp_path)
    monkeypatch.setattr(runner, "STAGES", list(stages))
    monkeypatch.setattr(sys, "argv", ["tools/test"])
    code = runner.main()
    return code, capsys.readouterr().out.splitlines()


def test_stages(runner, monkeypatch, tmp_path, capsys):
    stages = [runner.Stage("a", "echo 3 passed, 0 failed"), runner.Stage("b", "true", ("a",), counts=False)]
    code, out = run_stages(runner, monkeypatch, tmp_path, capsys, *stages)
    assert code == 0 and out[-1] == "3 passed, 0 failed"
    stages.append(runner.Stage("c", "echo 2 passed, 0 failed; echo why >&2; false", ("b",)))
    stages.append(runner.Stage("d", "echo 9 passed, 0 failed", ("c",)))
    code, out = run_stages(runner, monkeypatch, tmp_path, capsys, *stages)
    assert code == 1 and out[-1] == "5 passed, 2 failed"  # c itself, and d, which could not run
    assert any("why" in line for line in out)


def test_a_stage_that_hangs_is_ended(runner, monkeypatch, tmp_path, capsys):
    stage = runner.Stage("a", "echo $$ >pid; sleep 1000 & wait", limit_s=1)
    code, out = run_stages(runner, monkeypatch, tmp_path, capsys, stage)
    assert code == 1 and "stopped after 1 s" in out[0]
    pid = (tmp_path / "pid").read_text().strip()
    assert not pathlib.Path(f"/proc/{pid}").exists()


def test_every_test_has_a_stage(runner):
    """What meson knows as a test is run by a stage; nothing is left out by a forgotten suite."""
    tests = json.loads(subprocess.run(["meson", "introspect", "--tests", os.environ["AX_BUILD"]],
                                      check=True, capture_output=True, text=True).stdout)
    suites = {suite.split(":")[-1] for test in tests for suite in test["suite"]}
    staged = {word for stage in runner.STAGES if "build/gcc" in stage.command for word in stage.command.split()}
    assert suites - staged - {"sim"} == set()  # sim has a stage of its own, with more seeds
