"""Holds the rules against the tree, and each rule against a tree in which it is broken."""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor

import pytest
import rules

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["AX_BUILD"])
CC = os.environ.get("AX_CC", "cc").split()


def read_tree():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT, capture_output=True)
    if listed.returncode == 0:
        paths = listed.stdout.decode().split("\0")
    else:  # a tree without its repository
        paths = [str(path.relative_to(ROOT)) for path in ROOT.rglob("*")
                 if not {"build", "node_modules", "dist", ".git"}.intersection(path.relative_to(ROOT).parts)]
    files = {}
    for path in filter(None, paths):
        try:
            files[path] = (ROOT / path).read_text()
        except (UnicodeDecodeError, IsADirectoryError, FileNotFoundError):
            continue
    return files


@pytest.fixture(scope="module")
def tree():
    files = read_tree()
    assert len(files) > 200
    return files


@pytest.mark.parametrize("rule", rules.OVER_FILES, ids=lambda rule: rule.__name__)
def test_tree_keeps(rule, tree):
    assert not (found := list(rule(tree))), "\n".join(found)


SEEDS = {  # a file that breaks each rule, and what is said of it
    "core includes app": (rules.check_floors, "src/core/x.c", '#include "app/tick.h"\n', "may not include app/tick.h"),
    "app includes sys": (rules.check_floors, "src/app/x.c", '#include "sys/pool.h"\n', "may not include"),
    "an adapter includes another": (
        rules.check_floors, "src/adapters/http/x.c", '#include "adapters/curl/curl_loop.h"\n', "may not include"),
    "a store in SQL includes another": (
        rules.check_floors, "src/adapters/mariadb/x.c", '#include "adapters/sqlite/conn.h"\n', "may not include"),
    "a store stands on SQL": (rules.check_floors, "src/adapters/mariadb/x.c", '#include "adapters/sql/sql.h"\n', None),
    "SQL stands on no store": (
        rules.check_floors, "src/adapters/sql/x.c", '#include "adapters/sqlite/conn.h"\n', "may not include"),
    "an adapter includes app": (rules.check_floors, "src/adapters/http/x.h", '#include "app/ctx.h"\n', "may not"),
    "check includes core": (rules.check_floors, "src/check/x.c", '#include "core/cron.h"\n', "may not include"),
    "a new folder": (rules.check_floors, "src/utils/x.c", "", "no folder src/utils"),
    "a cycle in app": (
        rules.check_app_cycles, "src/app/change.h", '#include "app/fire.h"\n', "above one, by fire"),
    "banned": (rules.check_banned, "src/cli/x.c", "void f(char *a)\n{\n\tstrcpy(a, b);\n}\n", "x.c:3: strcpy"),
    "banned in a comment is fine": (rules.check_banned, "src/cli/x.c", "/* like strcpy() */\n", None),
    "state": (rules.check_run_state, "src/app/x.c", "\trun->status = AX_RUN_SUCCESS;\n", "ax_change_run"),
    "state of a list": (rules.check_run_state, "src/app/x.c", "\truns.at[i].status = next;\n", "ax_change_run"),
    "state compared is fine": (rules.check_run_state, "src/app/x.c", "\tif (run->status == AX_RUN_SUCCESS)\n", None),
    "words": (rules.check_words, "src/app/x.c", "/* starts a job */\n", "'job'"),
    "words in docs": (rules.check_words, "docs/x.md", "two instances of a task\n", "'instances'"),
    "others' names are fine": (rules.check_words, "docs/x.md", "as XXL-JOB counts\n", None),
    "sleep": (rules.check_sleeps, "tests/x.py", "import time\ntime.sleep(1)\n", "x.py:2"),
    "sleep in a poll is fine": (rules.check_sleeps, "tests/x.py", "while f():\n    time.sleep(0.01)\n", None),
    "sleep in C": (rules.check_sleeps, "tests/x.c", "\tusleep(1000);\n", "x.c:1"),
    "home": (rules.check_places, "docs/x.md", "see /ro" + "ot/ax\n", "a path of one machine"),
    "registry": (rules.check_places, "tools/x", "https://py" + "pi.org/simple\n", "names a package registry"),
    "lock file": (rules.check_places, "console/package-lock.json", ' "resolved": "ht' + 'tps://x"\n', "registry"),
    "a case less": (rules.check_cases, "tests/CASES.md", "2 of them\n| B001 | x | not yet: y |\n", "1 cases"),
    "a case twice": (rules.check_cases, "tests/CASES.md", "2 of them\n" + "| B001 | x | not yet: y |\n" * 2, "once"),
    "a case without a reason": (rules.check_cases, "tests/CASES.md", "1 of them\n| B001 | x | y |\n", "no reason"),
    "a case whose test is gone": (
        rules.check_cases, "tests/CASES.md", "1 of them\n| B001 | x | `tests/x.py::test_b001` |\n", "not there"),
    "a test without its case": (rules.check_cases, "tests/x.c", "static void test_" + "b999_x(void **state)\n", "B999"),
    "a requirement less": (rules.check_requirements, "tests/REQUIREMENTS.md", "| R1 | x | not yet: y |\n", "1 requirements"),
    "a requirement whose test is gone": (
        rules.check_requirements, "tests/REQUIREMENTS.md", "| R1 | x | `tests/x.py::test_r01` |\n", "not there"),
    "a file that nothing runs": (rules.check_e2e_runs, "tests/e2e/test_x.py", "", "nothing runs it"),
    "MariaDB's own": (rules.check_dialect, "src/adapters/mariadb/statements.def",
                      'AX_SQL(X, NULL, "DELETE FROM ax_run WHERE gid = ?1 RETURNING gid")\n', "RETURNING"),
    "SQLite's own": (rules.check_dialect, "src/adapters/mariadb/statements.def",
                     'AX_SQL(X, NULL, "INSERT INTO x (a) VALUES (1) ON CONFLICT DO NOTHING")\n', "SQLite's"),
    "MySQL's own": (rules.check_dialect, "db/mariadb/0009_x.sql",
                    "CREATE TABLE x (a VARCHAR(9)) COLLATE=utf8mb4_0900_ai_ci;\n", "MySQL's"),
    "a column if not exists": (rules.check_dialect, "db/mariadb/0009_x.sql",
                               "ALTER TABLE x ADD COLUMN IF NOT EXISTS a BIGINT;\n", "IF EXISTS"),
    "what MySQL has no more": (rules.check_dialect, "db/mariadb/0009_x.sql",
                               "CREATE TABLE x (a BIGINT, b CHAR(32) AS (MD5(a)) STORED);\n", "SHA2"),
    "a word of MySQL's": (rules.check_dialect, "src/adapters/mariadb/statements.def",
                          'AX_SQL(X, NULL, "SELECT rank FROM x")\n', "in `"),
    "a word in quotes is fine": (rules.check_dialect, "src/adapters/mariadb/statements.def",
                                 'AX_SQL(X, NULL, "SELECT `rank` FROM x ORDER BY `rank` LIMIT 1 FOR UPDATE SKIP LOCKED")\n', None),
    "what both know is fine": (rules.check_dialect, "db/mariadb/0009_x.sql",
                               "CREATE TABLE IF NOT EXISTS x (a BIGINT); -- RETURNING\n", None),
    "a statement that is not measured": (rules.check_measured, "src/adapters/sql/names.def", "AX_SQL_NAME(RUNS_NEW)\n",
                                         "RUNS_NEW"),
    "first hour": (rules.check_first_hour, "src/core/task.h", "\n" * 3000, "are the most"),
    "first hour misses a file": (
        rules.check_first_hour, "ARCHITECTURE.md", "## The first hour\n| 5 | `src/core/gone.h` |\n", "is not there"),
    "link": (rules.check_links, "docs/x.md", "[a](gone.md)\n", "leads nowhere"),
    "a decision that nobody finds": (rules.check_decisions, "docs/decisions/0099-x.md", "# 0099 X\n", "does not name it"),
    "blanks": (rules.check_tabs_and_ends, "src/app/x.c", "int a; \n", "x.c:1: blanks"),
    "no newline": (rules.check_tabs_and_ends, "src/app/x.c", "int a;", "no newline"),
}


@pytest.mark.parametrize("seed", SEEDS)
def test_rule_sees(seed, tree):
    rule, path, text, said = SEEDS[seed]
    others = tree if rule in (rules.check_app_cycles, rules.check_first_hour, rules.check_links) else {}
    found = [line for line in rule({**others, path: text}) if path.split("/")[-1] in line or "first hour" in line]
    assert (not found) if said is None else any(said in line for line in found), found


# ---- libraries


def library(floor):
    return BUILD / f"src/{floor}/libax_{floor}.a"


def defined(archive):
    return set(rules.re.findall(r"^\S+ [A-TV-Zi] (\S+)", rules.read_nm(archive, "--defined-only"), rules.re.M))


@pytest.mark.parametrize("floor", rules.PURE)
def test_floor_is_pure(floor):
    below = set().union(*(defined(library(other)) for other in rules.PURE[: rules.PURE.index(floor) + 1]))
    found = list(rules.check_symbols(floor, rules.read_nm(library(floor), "-u"), below))
    found += rules.check_statics(floor, rules.read_nm(library(floor), "-f", "sysv"))
    assert not found, "\n".join(found)


def compile_seed(folder, text):
    (folder / "seed.c").write_text(text)
    subprocess.run([*CC, "-O1", "-fPIE", "-c", "seed.c", "-o", "seed.o"], cwd=folder, check=True)
    return folder / "seed.o"


@pytest.mark.parametrize("call", ["time(0)", "getenv(0)", "random()", "open(0, 0)", "ax_upstairs()"])
def test_purity_sees_a_call(call, tmp_path):
    name = call.split("(")[0]
    seed = compile_seed(tmp_path, f"long {name}(); long f(void) {{ return (long){call}; }}\n".replace("long getenv", "char *getenv").replace("long open", "int open"))
    assert name in " ".join(rules.check_symbols("core", rules.read_nm(seed, "-u"), {"ax_fail"}))


@pytest.mark.parametrize("variable", ["static int kept;", "static int kept = 7;", "static _Thread_local int kept;"])
def test_statics_sees_a_variable(variable, tmp_path):
    seed = compile_seed(tmp_path, f"{variable}\nint f(void) {{ return kept++; }}\n")
    assert "kept" in " ".join(rules.check_statics("core", rules.read_nm(seed, "-f", "sysv")))


def test_statics_lets_constants_be(tmp_path):
    seed = compile_seed(tmp_path, 'static const char *const names[] = { "a", "b" };\n'
                                  "const char *f(int i) { return names[i]; }\n")
    assert not list(rules.check_statics("core", rules.read_nm(seed, "-f", "sysv")))


# ---- programs

PROGRAMS = ["server/ax-server", "worker/ax-worker", "worker/ax-exec", "cli/axctl", "check/ax-check"]


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_is_hardened(program):
    assert not (found := list(rules.check_hardening(program, rules.read_elf(BUILD / "src" / program)))), found


@pytest.mark.parametrize("options, said", [
    (["-no-pie"], "position independent"),
    (["-Wl,-z,norelro"], "RELRO"),
    (["-Wl,-z,lazy"], "bind at start"),
    (["-fno-stack-protector"], "stack protector"),
    (["-U_FORTIFY_SOURCE", "-O0"], "fortified"),
    (["-Wl,-z,execstack"], "executable stack"),
    (["-Wl,-rpath,/opt/lib"], "library path"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_hardening_sees(options, said, tmp_path):
    (tmp_path / "seed.c").write_text('#include <stdio.h>\n#include <string.h>\n'
                                     'int main(int n, char **v) { char b[64]; strcpy(b, v[n - 1]); return puts(b) < 0; }\n')
    hard = ["-O2", "-D_FORTIFY_SOURCE=2", "-fstack-protector-all", "-fPIE", "-pie", "-Wl,-z,relro,-z,now,-z,noexecstack"]
    for more, expected in ((hard, []), (hard + options, [f"seed {said}"])):
        subprocess.run([*CC, "-w", "seed.c", "-o", "seed", *more], cwd=tmp_path, check=True)
        found = list(rules.check_hardening("seed", rules.read_elf(tmp_path / "seed")))
        assert bool(found) == bool(expected) and (not expected or any(said in line for line in found)), found


# ---- headers


def include_flags():
    commands = json.loads((BUILD / "compile_commands.json").read_text())
    flags = {"-I" + str(ROOT / "src"), "-I" + str(BUILD / "src")}
    for entry in commands:
        words = entry["command"].split()
        for word, after in zip(words, words[1:] + [""]):
            if word == "-isystem":
                flags.add("-isystem" + after)
            elif word.startswith(("-I", "-isystem")):
                flags.add(word)
    return sorted(flags)


def compile_header(path, flags):
    return subprocess.run([*CC, "-std=c17", "-D_GNU_SOURCE", "-fsyntax-only", "-Werror", *flags, "-I", path.parent,
                           "-x", "c", path], cwd=BUILD, capture_output=True, text=True).stderr


def test_headers_stand_alone():
    headers = [path for folder in ("src", "lib", "sim", "fuzz", "tests") for path in (ROOT / folder).rglob("*.h")]
    flags = include_flags()
    assert len(headers) > 50
    with ThreadPoolExecutor(2) as pool:
        found = [said for said in pool.map(lambda path: compile_header(path, flags), headers) if said]
    assert not found, "\n".join(found)


def test_headers_sees_one_that_leans(tmp_path):
    header = tmp_path / "leans.h"
    header.write_text("int f(uint32_t n);\n")
    assert "uint32_t" in compile_header(header, [])


# ---- mutants


def test_mutants_match():
    """tools/mutants says the same, but later: who moves a guard learns of it here."""
    spec = importlib.util.spec_from_file_location("mutants", ROOT / "tests/mutants/mutants.py")
    mutants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutants)
    assert len(mutants.MUTANTS) >= 14
    found = [f"{mutant.name}: {name} has its old text {(ROOT / name).read_text().count(old)} times"
             for mutant in mutants.MUTANTS for name, old, new in mutant.edits
             if (ROOT / name).read_text().count(old) != 1 or new == old]
    assert not found, "\n".join(found)


# ---- a fresh clone

def test_what_takes_the_console_in_builds_it_first(tmp_path):
    shutil.copy(ROOT / "Makefile", tmp_path)
    for goal in ("build/gcc/build.ninja", "build/release/build.ninja"):
        steps = subprocess.run(["make", "-n", goal], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
        assert -1 < steps.find("tools/console") < steps.find("meson setup"), steps


# ---- packaging

def test_samples_name_settings_that_there_are():
    """Environment variables in the compose file, the units and their description are options of a program."""
    known = {f"AX_{name.upper()}" for name in rules.re.findall(r"^AX_OPTION\((\w+)", (ROOT / "src/server/config.def").read_text(), rules.re.M)}
    known |= set(rules.re.findall(r"AX_[A-Z_]+", (ROOT / "src/worker/options.c").read_text())) | {"AX_TOKEN"}
    samples = [*(ROOT / "packaging").rglob("*"), ROOT / "docs/deploy.md"]
    used = {name for path in samples if path.is_file() for name in rules.re.findall(r"\bAX_[A-Z_]+", path.read_text())}
    assert {"AX_STORE", "AX_SERVER"} <= used <= known


def verify_unit(folder):
    return subprocess.run(["systemd-analyze", "verify", *sorted(folder.glob("*.service"))], capture_output=True, text=True)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="this machine has no systemd-analyze")
@pytest.mark.parametrize("drop_in", [False, True], ids=["plain", "process tasks"])
def test_units_verify(drop_in, tmp_path):
    for unit in (ROOT / "packaging/systemd").glob("*.service"):
        text = rules.re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", unit.read_text(), flags=rules.re.M)
        (tmp_path / unit.name).write_text(text)
    if drop_in:
        (tmp_path / "ax-worker.service.d").mkdir()
        shutil.copy(ROOT / "packaging/systemd/process-tasks.conf", tmp_path / "ax-worker.service.d")
    done = verify_unit(tmp_path)
    assert done.returncode == 0 and not done.stderr, done.stderr
    with next(tmp_path.glob("*.service")).open("a") as unit:
        unit.write("[Service]\nProtectNonsense=yes\n")
    assert "ProtectNonsense" in verify_unit(tmp_path).stderr
