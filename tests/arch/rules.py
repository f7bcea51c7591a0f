"""The rules of the tree that a compiler does not know. Each takes what it looks at and returns what breaks it, a line
each; test_arch.py holds them against the tree, and against seeded violations."""

import ast
import re
import subprocess

# ---- floors

# Who may include whom: the law of ARCHITECTURE.md. A folder may always include itself.
PROGRAM = "base core port app sys adapters check"
LAW = {
    "src/base": "",
    "src/core": "base",
    "src/port": "base core",
    "src/app": "base core port",
    "src/sys": "base",
    "src/adapters": "base core port sys",  # each adapter: these, its own folder, and what it stands on
    "src/check": "base adapters/mariadb/url.h",  # shares nothing with the scheduler that it checks
    "src/exec_shim": "base sys",
    "src/worker": PROGRAM,
    "src/server": PROGRAM,
    "src/cli": PROGRAM,
    "lib/axworker": "base core port sys adapters/curl",
    "sim": "base core port app check",
}
# The stores in SQL share the operations, and bring the dialect and the driver.
STANDS_ON = {"adapters/sqlite": "adapters/sql", "adapters/mariadb": "adapters/sql"}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def home_of(path):
    """(folder in the law, the name by which files of it are included)."""
    parts = path.split("/")
    if parts[:2] == ["src", "adapters"]:
        return "src/adapters", "/".join(parts[1:3])
    folder = "sim" if parts[0] == "sim" else "/".join(parts[:2])
    return folder, parts[1] if parts[0] == "src" else ""


def check_floors(files):
    for path, text in files.items():
        if not path.endswith((".c", ".h", ".def")) or not path.startswith(("src/", "lib/", "sim/")):
            continue
        folder, own = home_of(path)
        if folder not in LAW:
            yield f"{path}: the law has no folder {folder}"
            continue
        for number, line in enumerate(text.splitlines(), 1):
            included = INCLUDE.match(line)
            if included is None or "/" not in included[1]:  # a file beside it, or version.h
                continue
            allowed = LAW[folder].split() + [own, STANDS_ON.get(own, "")]
            if not any(included[1] == other or included[1].startswith(other + "/") for other in allowed if other):
                yield f"{path}:{number}: {folder} may not include {included[1]}"


def check_app_cycles(files):
    """The services call each other in one direction: what includes what among them has no cycle."""
    uses = {}
    for path, text in files.items():
        if own := re.fullmatch(r"src/app/(\w+)\.[ch]", path):
            named = re.findall(r'^#include "app/(\w+)\.h"', text, re.M)
            uses.setdefault(own[1], set()).update(other for other in named if other != own[1])
    while leaves := [name for name, others in uses.items() if not others & uses.keys()]:
        for name in leaves:
            del uses[name]
    for name in sorted(uses):
        yield f"src/app/{name}.h: in a cycle, or above one, by {', '.join(sorted(uses[name] & uses.keys()))}"


# ---- purity of the deterministic floors

PURE = ("base", "core", "port", "app")
PURE_SYMBOLS = re.compile(
    r"mem(chr|cmp|cpy|move|set)|str(chr|rchr|cmp|len|ncmp|ncpy|pbrk|spn|cspn|sep|str|dup|ndup)|v?snprintf"
    r"|malloc|calloc|realloc|free|abort|qsort|bsearch|_GLOBAL_OFFSET_TABLE_"
    r"|__stack_chk_fail|__(mem|str)[a-z]+_chk|__v?snprintf_chk|__[a-z]+[sdt]i[0-9]"  # the compiler's own
)
LAST_WORDS = re.compile(r"stderr|fprintf|__fprintf_chk")  # of ax_die in base


def read_nm(archive, *options):
    return subprocess.run(["nm", *options, archive], check=True, capture_output=True, text=True).stdout


def check_symbols(floor, undefined, defined_below):
    """`undefined`: what `nm -u` prints of the floor's library."""
    for name in sorted(set(re.findall(r"^ +U (\S+)", undefined, re.M))):
        if name in defined_below or PURE_SYMBOLS.fullmatch(name) or (floor == "base" and LAST_WORDS.fullmatch(name)):
            continue
        yield f"{floor} calls {name}: it is deterministic, and knows the world through ports and lower floors alone"


def check_statics(floor, sections):
    """`sections`: what `nm -f sysv` prints; .data.rel.ro holds constants with addresses in them."""
    for line in sections.splitlines():
        columns = [column.strip() for column in line.split("|")]
        if len(columns) == 7 and re.match(r"\.t?(data|bss)", columns[6]) and ".rel.ro" not in columns[6]:
            yield f"{floor} keeps a variable between calls: {columns[0]} in {columns[6]}"


# ---- hardening of the programs (SECURITY.md)


def read_elf(program):
    return subprocess.run(["readelf", "-hldW", "--dyn-syms", program], check=True, capture_output=True, text=True).stdout


def check_hardening(program, elf):
    wanted = {
        "is not position independent": r"Type:\s+DYN",
        "has no RELRO": r"GNU_RELRO",
        "does not bind at start": r"\(FLAGS(_1)?\).*NOW",
        "has no stack protector": r"__stack_chk_fail",
        "has no fortified calls": r"__\w+_chk@",
        "has an executable stack": r"GNU_STACK\s.*\sRW\s",
    }
    for said, pattern in wanted.items():
        if not re.search(pattern, elf):
            yield f"{program} {said}"
    for said, pattern in {"carries a library path": r"\((RPATH|RUNPATH)\)", "has text relocations": r"\(TEXTREL\)"}.items():
        if re.search(pattern, elf):
            yield f"{program} {said}"


# ---- what is written

C_SOURCES = re.compile(r"(src|lib|sim)/.*\.[ch]")
BANNED = re.compile(
    r"\b(strcpy|strcat|v?sprintf|gets|strtok|ato[il]l?|atof|system|popen|alloca|s?rand|tmpnam|mktemp"
    r"|(localtime|gmtime|asctime|ctime)(_r)?|mktime)\s*\(")


def without_comments(text):
    """C with comments and strings blanked, so that lines keep their numbers."""
    pattern = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
    return pattern.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)


def check_banned(files):
    for path, text in files.items():
        if not C_SOURCES.fullmatch(path):
            continue
        for number, line in enumerate(without_comments(text).splitlines(), 1):
            if found := BANNED.search(line):
                yield f"{path}:{number}: {found[1]} is not used here; see CONTRIBUTING.md for what is"


# A run changes its state in app/change.c alone; it is born in app/birth.c.
RUN_STATE = re.compile(
    r"\b(run|\w*runs|held|live|pending|overdue|some|missed)\b(\.at\[[^]]*\])?(->|\.)status\s*=(?!=)"
    r"|(->|\.)status\s*=\s*AX_RUN_\w+\s*;")
RUN_STATE_HOMES = ("src/app/change.c", "src/app/birth.c")


def check_run_state(files):
    for path, text in files.items():
        if not re.fullmatch(r"src/(core|app|server|cli|worker)/.*\.[ch]", path) or path in RUN_STATE_HOMES:
            continue
        for number, line in enumerate(without_comments(text).splitlines(), 1):
            if RUN_STATE.search(line):
                yield f"{path}:{number}: only app/change.c changes the state of a run: ax_change_run"


WORDS = {
    r"jobs?": "task (what should happen) or run (what happened)",
    r"instances?": "run, or server, or worker",
    r"job_\w+|\w+_job": "task or run",
    r"executions": "runs, or attempts",
    r"master|slave": "server, worker, primary, replica",
    r"whitelist|blacklist": "allow list, deny list",
}
ANY_WORD = re.compile(rf"\b({'|'.join(WORDS)})\b", re.I)
OTHERS_NAMES = re.compile(
    r"XXL-JOB|PowerJob|CronJob|[\w-]+/[\w-]*job[\w-]*|get-master-addr-by-name|\+switch-master|\"master\"", re.I)


def check_words(files):
    for path, text in files.items():
        if not re.fullmatch(r"((src|lib|sim|db)/.*|docs/.*\.md|console/src/.*|[A-Z]+\.md)", path):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if ANY_WORD.search(line) and (found := ANY_WORD.search(OTHERS_NAMES.sub("", line))):
                instead = next(WORDS[word] for word in WORDS if re.fullmatch(word, found[0], re.I))
                yield f"{path}:{number}: '{found[0]}': say {instead}"


def check_sleeps(files):
    """A test waits by asking again until a deadline. A sleep outside of such a loop says why time itself must pass."""
    for path, text in files.items():
        if path.startswith("tests/") and path.endswith(".py"):
            yield from check_sleeps_python(path, text)
        if path.startswith("tests/") and path.endswith((".c", ".h")):
            for number, line in enumerate(without_comments(text).splitlines(), 1):
                if re.search(r"\b(u|nano)?sleep\s*\(", line):
                    yield f"{path}:{number}: a test sleeps; ask again until a deadline"


def check_sleeps_python(path, text):
    lines = text.splitlines()
    polls = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.While, ast.For)):
            polls.update(range(node.lineno, node.end_lineno + 1))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("time.sleep", "sleep"):
            if node.lineno not in polls and "#" not in lines[node.lineno - 1]:
                yield f"{path}:{node.lineno}: a test sleeps; ask again until a deadline, or say why time must pass"


MACHINES = re.compile(r"(?<![\w.$}/*-])/(work|root|farm)/|(?<![\w.$}/*-])/home/\w+/")
HOSTS = re.compile(
    r"registry\.npmjs|registry\.yarnpkg|npmmirror|pypi\.(org|python)|deb\.debian\.org|security\.debian\.org"
    r'|crates\.io|proxy\.golang|repo1?\.maven|"resolved": *"http')
NOT_READ = re.compile(r"tests/(arch|data)/.*|fuzz/corpus/.*|LICENSE")


def check_places(files):
    for path, text in files.items():
        if NOT_READ.fullmatch(path):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if MACHINES.search(line):
                yield f"{path}:{number}: a path of one machine"
            if HOSTS.search(line):
                yield f"{path}:{number}: names a package registry"


# R31
def check_first_hour(files):
    """What a newcomer reads in the first hour (ARCHITECTURE.md lists it) stays short enough for an hour."""
    text = files["ARCHITECTURE.md"]
    part = text[text.index("## The first hour"):].split("\n## ")[0]
    part = "\n".join(line for line in part.splitlines() if line.startswith("| "))
    listed = [name for name in re.findall(r"`((?:src|sim|docs)/[\w/.]+|[A-Z]+\.md)`", part) if name != "ARCHITECTURE.md"]
    missing = [name for name in listed if name not in files]
    for name in missing:
        yield f"ARCHITECTURE.md: the first hour reads {name}, which is not there"
    lines = sum(len(files[name].splitlines()) for name in listed if name not in missing)
    if not listed or lines > 3000:
        yield f"ARCHITECTURE.md: the first hour has {lines} lines in {len(listed)} files; 3,000 are the most"


ROW = re.compile(r"^\| ([BR]\d+) \| [^|]+ \| ([^|]+) \|$", re.M)
ROW_TEST = re.compile(r"`([\w/.]+)::(\w+)`")


def check_rows(files, table, number):
    """What a table names is there and says its row's number; what has no test has a reason."""
    for row, where in ROW.findall(files.get(table, "")):
        tests = ROW_TEST.findall(where)
        if not tests and not where.startswith(("`console/tests/browser/", "not yet: ", "does not apply: ")):
            yield f"{table}: {row} names no test and no reason"
        for path, name in tests:
            if not re.search(rf"\b{name}\(", files.get(path, "")):
                yield f"{table}: {row} names {path}::{name}, which is not there"
            elif not re.search(number(row), files[path], re.I):
                yield f"{table}: {path} does not mention {row}"


def check_cases(files):
    """The table of cases is whole."""
    text = files.get("tests/CASES.md", "")
    ids = [row for row, _ in ROW.findall(text)]
    counted = re.search(r"(\d+) of them", text)
    if counted is None or int(counted[1]) != len(ids) or ids != sorted(set(ids)):
        yield f"tests/CASES.md: {len(ids)} cases; the table says how many there are, and holds each once, in order"
    yield from check_rows(files, "tests/CASES.md", str)
    for path, text in files.items():
        for case in sorted(set(re.findall(r"\btest_b(\d{3})_", text)) if path.startswith("tests/") else ()):
            if f"B{case}" not in ids:
                yield f"{path}: a test of B{case}, which tests/CASES.md does not list"


def check_requirements(files):
    """Each requirement is shown by a test."""
    ids = [row for row, _ in ROW.findall(files.get("tests/REQUIREMENTS.md", ""))]
    if ids != [f"R{n}" for n in range(1, 33)]:
        yield f"tests/REQUIREMENTS.md: {len(ids)} requirements; there are R1 to R32, each once, in order"
    yield from check_rows(files, "tests/REQUIREMENTS.md", lambda row: rf"\b{row}\b|_r{int(row[1:]):02}_")


def check_e2e_runs(files):
    """Each file of tests/e2e is an entry of its own: one that is not named is never run."""
    named = files.get("tests/e2e/meson.build", "")
    for path in files:
        found = re.fullmatch(r"tests/e2e/test_(\w+)\.py", path)
        if found and f"'{found[1]}'" not in named and f"'test_{found[1]}.py'" not in named:
            yield f"{path}: not in tests/e2e/meson.build, so nothing runs it"


# What only one of MySQL 8.0 and MariaDB 10.6 knows, and SQLite's own: the texts for both keep to what both know.
ONE_DIALECT = {
    r"RETURNING": "read the row, decide, then write it",
    r"ON CONFLICT|INSERT OR|UPDATE OR|INDEXED BY|WITHOUT ROWID": "SQLite's",
    r"CREATE OR REPLACE": "MariaDB's; DROP … IF EXISTS, then CREATE",
    r"(INDEX|KEY|COLUMN|ADD|DROP|MODIFY|CHANGE) IF (NOT )?EXISTS": "MariaDB's: columns and indexes have no IF EXISTS; tests/e2e/next/mariadb shows how",
    r"(MD5|SHA1?)(?=\()": "not in MySQL 9.6 and later; SHA2",
    r"NEXTVAL|NEXT VALUE FOR|CREATE SEQUENCE": "MariaDB's; AUTO_INCREMENT",
    r"EXCEPT|INTERSECT": "not in MySQL 8.0 before its 31st release; NOT EXISTS, EXISTS",
    r"PERSISTENT": "MariaDB's; STORED",
    r"VALUE(?=\()": "MariaDB's; VALUES(column)",
    r"AS new": "MySQL's; VALUES(column)",
    r"ROWS EXAMINED|FOR UPDATE WAIT": "MariaDB's",
    r"FOR SHARE": "MySQL's; LOCK IN SHARE MODE",
    r"LATERAL|MEMBER OF|utf8mb4_0900\w*": "MySQL's",
    r"UUID(?!\()|INET4|INET6|JSON": "types differ; BIGINT, VARCHAR, TEXT",
    r"rank|groups|system|lead|lag|ntile|empty|cube|of|window|row_number": "a word of MySQL's: in `…`",
}
BOTH_DIALECTS = re.compile(r"src/adapters/mariadb/statements\.def|(db|tests/e2e/next)/mariadb/.*\.sql")


def check_dialect(files):
    for path, text in files.items():
        if not BOTH_DIALECTS.fullmatch(path):
            continue
        text = re.sub(r"/\*.*?\*/", lambda found: re.sub(r"[^\n]", " ", found[0]), text, flags=re.S)
        for number, line in enumerate(text.splitlines(), 1):
            line = re.sub(r"^AX_SQL\(\w+,|-- .*", "", line)
            for pattern, instead in ONE_DIALECT.items():
                if found := re.search(rf"(?<![`$\w])({pattern})(?!\w)", line, re.I):
                    yield f"{path}:{number}: '{found[0]}': {instead}"


def check_measured(files):
    """Every statement of the store has arguments in the test that holds its work against the history behind it."""
    world = files.get("tests/history/world.py", "")
    for number, line in enumerate(files.get("src/adapters/sql/names.def", "").splitlines(), 1):
        found = re.match(r"AX_SQL_NAME\((\w+)\)", line)
        if found and f'"{re.sub(r"_(LOCK|HOLD|FREE)$", "", found[1])}":' not in world:
            yield f"src/adapters/sql/names.def:{number}: tests/history/world.py has no arguments for {found[1]}"


LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)")


def check_links(files):
    """Links between the documents lead somewhere."""
    folders = {path.rsplit("/", depth)[0] for path in files for depth in range(1, path.count("/") + 1)}
    for path, text in files.items():
        if not path.endswith(".md"):
            continue
        for target in LINK.findall(text):
            parts = [] if target.startswith("/") else path.split("/")[:-1]
            for part in target.strip("/").split("/"):
                if part == "..":
                    parts = parts[:-1]
                elif part != ".":
                    parts = parts + [part]
            if "/".join(parts) not in files and "/".join(parts) not in folders:
                yield f"{path}: the link to {target} leads nowhere"


def check_decisions(files):
    """docs/README.md, which people read, names every decision."""
    for path in files:
        if path.startswith("docs/decisions/") and path[len("docs/"):] not in files.get("docs/README.md", ""):
            yield f"{path}: docs/README.md does not name it"


def check_tabs_and_ends(files):
    for path, text in files.items():
        if NOT_READ.fullmatch(path) or not re.search(r"\.(c|h|py|md|build|txt|sh|sql|def|ts|vue)$|/(Makefile|run)$", path):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if line != line.rstrip():
                yield f"{path}:{number}: blanks at the end of the line"
        if text and not text.endswith("\n"):
            yield f"{path}: no newline at the end"


OVER_FILES = [check_floors, check_app_cycles, check_banned, check_run_state, check_words, check_sleeps, check_places, check_first_hour,
              check_links, check_decisions, check_cases, check_requirements, check_e2e_runs, check_dialect, check_measured, check_tabs_and_ends]
