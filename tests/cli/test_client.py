"""Finding the server, saying who we are, and telling what went wrong."""

import json
import socket
import subprocess

import pytest

from fake_server import FakeServer, problem

EMPTY = {"items": [], "next": None}


def test_options_environment_and_dev_file(server, axctl, tmp_path):
    server.on("GET", "/groups", EMPTY)
    token_file = tmp_path / "token"
    token_file.write_text("axp_file\n")
    (tmp_path / "dev.json").write_text(json.dumps({"server": server.url + "/", "token": "axp_dev"}))
    cases = [
        (["--server", server.url, "--token", "axp_opt"], {}, "axp_opt"),
        (["--server", server.url, "--token-file", token_file], {}, "axp_file"),
        ([], {"AX_SERVER": server.url, "AX_TOKEN": "axp_env"}, "axp_env"),
        (["--token", "axp_opt"], {"AX_SERVER": server.url, "AX_TOKEN": "axp_env"}, "axp_opt"),
        ([], {"AX_STATE": str(tmp_path)}, "axp_dev"),
        ([], {"AX_STATE": str(tmp_path), "AX_SERVER": server.url, "AX_TOKEN": "axp_env"}, "axp_env"),
    ]
    for options, env, token in cases:
        axctl("group", "list", *options, env=env)
        axctl(*options, "group", "list", env=env)
        for request in server.requests[-2:]:
            assert request.headers["Authorization"] == f"Bearer {token}"


def test_no_server_named(axctl):
    assert "AX_SERVER" in axctl("group", "list", code=2, server=False).err
    assert "no address" in axctl("group", "list", "--server", "example.org", code=2, server=False).err
    assert "dev.json" in axctl("group", "list", code=3, env={"AX_STATE": "/nonexistent"}).err


def test_nobody_answers(axctl):
    assert "cannot reach" in axctl("task", "list", "--server", nobody(), code=3, server=False).err


@pytest.fixture
def other():
    fake = FakeServer()
    yield fake
    fake.close()


def nobody():
    """An address that nobody listens at."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return f"http://127.0.0.1:{s.getsockname()[1]}"


def test_of_several_servers_the_first_that_is_ready(server, other, axctl):
    for fake in (server, other):
        fake.on("GET", "/groups", EMPTY)
        fake.on("POST", "/groups", {"name": "ops"})
    both = f"{nobody()},{server.url}/,{other.url}"
    axctl("group", "list", "--server", both, server=False)
    assert (len(server.requests), len(other.requests)) == (1, 0)
    server.ready = False
    axctl("group", "list", env={"AX_SERVER": both})
    assert (len(server.requests), len(other.requests)) == (1, 1)
    other.ready = False  # the first that answers at all says what is wrong
    server.on("GET", "/groups", problem(503, "unavailable", "The database is away."))
    assert "The database is away." in axctl("group", "list", env={"AX_SERVER": both}, code=3).err
    assert "cannot reach" in axctl("group", "list", env={"AX_SERVER": f"{nobody()},{nobody()}"}, code=3).err
    assert "no address" in axctl("group", "list", env={"AX_SERVER": f"{server.url},example.org"}, code=2).err


def test_a_server_that_goes_away_is_replaced_and_no_change_sent_twice(server, other, axctl):
    both = {"AX_SERVER": f"{server.url},{other.url}"}

    def vanish(request):
        server.ready = False
        raise ConnectionAbortedError

    for fake in (server, other):
        fake.on("GET", "/groups", EMPTY)
    server.on("GET", "/groups", vanish)
    axctl("group", "list", env=both)
    assert len(other.requests) == 1
    server.ready = True
    server.on("POST", "/groups", vanish)
    assert "cannot reach" in axctl("group", "create", "ops", env=both, code=3).err
    assert [request.method for request in server.requests] == ["GET", "POST"] and len(other.requests) == 1


def test_no_change_is_sent_again_over_a_connection_that_broke(server, axctl):
    """The server ends the connection that the look before the change had left open."""
    def vanish(request):
        raise ConnectionAbortedError

    server.on("GET", "/groups/ops", {"group_key": "ops", "version": 3})
    server.on("PATCH", "/groups/ops", vanish)
    assert "cannot reach" in axctl("group", "pause", "ops", code=3).err
    server.on("GET", "/tasks/17", {"id": "17", "version": 3})
    server.on("POST", "/tasks/17/runs", vanish)
    assert "cannot reach" in axctl("task", "trigger", "17", code=3).err
    server.on("DELETE", "/tasks/17", vanish)
    assert "cannot reach" in axctl("task", "delete", "17", code=3).err
    assert [request.method for request in server.requests] == ["GET", "PATCH", "GET", "POST", "GET", "DELETE"]


def test_a_private_authority(axctl, tmp_path):
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=ours", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "ca.pem"],
                   cwd=tmp_path, check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_text((tmp_path / "ca.pem").read_text() + (tmp_path / "key.pem").read_text())
    ours = FakeServer(certificate=both)
    try:
        ours.on("GET", "/groups", EMPTY)
        assert "certificate" in axctl("group", "list", "--server", ours.url, code=3, server=False).err
        axctl("group", "list", "--server", ours.url, "--ca", tmp_path / "ca.pem", server=False)
        axctl("group", "list", "--server", ours.url, env={"AX_CA": str(tmp_path / "ca.pem")})
    finally:
        ours.close()
    missing = axctl("group", "list", "--server", ours.url, "--ca", tmp_path / "none", code=2, server=False).err
    assert "--ca" in missing and "No such file" in missing
    assert "no certificate" in axctl("group", "list", "--server", ours.url, "--ca", tmp_path / "key.pem", code=2, server=False).err


@pytest.mark.parametrize("status, code, exit_code", [
    (400, "invalid", 2), (400, "never_fires", 2), (401, "unauthenticated", 4), (403, "denied", 4),
    (404, "not_found", 5), (409, "conflict", 6), (409, "exists", 6), (413, "too_large", 2),
    (500, "internal", 3), (503, "busy", 3), (507, "out_of_space", 3)])
def test_problems_have_exit_codes(server, axctl, status, code, exit_code):
    server.on("GET", "/groups", problem(status, code, "The reason.", "some.field", **{"Retry-After": "7"}))
    result = axctl("group", "list", code=exit_code)
    assert result.out == ""
    assert f"axctl: some.field: The reason. [{code}]" in result.err
    assert "wait 7 s" in result.err


def test_an_answer_that_is_not_json(server, axctl):
    server.on("GET", "/workers/w1", (200, b"<html>hello</html>"))
    assert "is it ax-server?" in axctl("worker", "show", "w1", code=3).err
    server.on("GET", "/workers/w1", (502, b"<html>bad gateway</html>"))
    assert "502" in axctl("worker", "show", "w1", code=3).err


def test_what_the_server_says_cannot_steer_the_terminal(server, axctl):
    server.on("GET", "/groups", problem(400, "invalid", "bad \x1b[31m\u202e", "f\x07"))
    assert "\x1b" not in axctl("group", "list", code=2).err
    server.on("GET", "/groups", {"items": [{"group_key": "a\x1b]0;x\x07"}], "next": None})
    assert "\x1b" not in axctl("group", "list").out


def test_usage(axctl):
    for args in ([], ["nonsense"], ["task"], ["task", "nonsense"], ["task", "show"], ["task", "show", "1", "2"],
                 ["task", "list", "--nonsense"], ["task", "list", "--group"], ["import", "crontab"],
                 ["import", "anacrontab", "F"], ["run", "show", "x1"], ["completion", "fish"],
                 ["task", "list", "--limit", "many"], ["run", "list", "--from", "yesterday"]):
        assert axctl(*args, code=2).err != "", args
    assert "task" in axctl("help").out
    assert "--cron" in axctl("help", "task", "create").out
    assert "--cron" in axctl("task", "create", "--help").out
    assert "trigger" in axctl("help", "task").out
    assert axctl("version").out.startswith("axctl ")
    assert axctl("--version").out.startswith("axctl ")
    assert axctl("version", "--json").json["version"]


def test_what_is_not_utf_8_is_refused_and_not_left_out(server, axctl, tmp_path):
    server.on("GET", "/tasks/17", {"id": "17"})
    for args, field in ((["task", "trigger", "17", "--dedup-key", b"k\xff"], "dedup-key"), (["task", "create", "t", "--", "echo", b"\xff"], "--"),
                        (["failure", "assign", "12", b"ann\xe9"], "ID [WHO]"), (["task", "trigger", "17", b"--dedup-key=\xff"], "dedup-key")):
        assert f"{field}: not UTF-8 text" in axctl(*args, code=2).err
    assert server.requests == []
    (tmp_path / "caf\udce9").write_text("0 1 * * * a\n")
    axctl("import", "crontab", b"caf\xe9", "--dry-run", server=False)


def test_cron_needs_no_server(axctl):
    out = axctl("cron", "next", "--tz", "Europe/Berlin", "--from", "2026-03-28T12:00:00Z", "-n", "2", "30 2 * * *",
                server=False).out
    assert out.split() == ["2026-03-29T01:00:00Z", "2026-03-30T00:30:00Z"]


def test_every_command_takes_the_options_that_are_said_to_be_of_every_command(axctl, tmp_path):
    everywhere = ["--server", "https://ax.example.org", "--ca", "none.pem", "--token", "t", "--token-file", "none"]
    for command in (["cron", "next", "@daily"], ["cron", "explain", "@daily"], ["version"], ["completion", "bash"]):
        axctl(*command, *everywhere, server=False)
        axctl(*everywhere, *command, server=False)
    assert "--tz" in axctl("cron", "next", "--help", server=False).out
    assert axctl("cron", "next", "--json", "-n", 1, "--from", "2026-03-28T12:00:00Z", "@daily", server=False).json == {
        "next": ["2026-03-29T00:00:00Z"]}
    for expr, count in (("5", "1 field;"), ("5 4", "2 fields;"), ("1 " * 9, "more than 7 fields;")):
        assert f"The schedule has {count}" in axctl("cron", "next", expr, code=2, server=False).err
    assert "verb" in axctl("cron", "sometimes", "@daily", code=2, server=False).err


def test_completion_scripts_are_shell(axctl):
    import subprocess
    script = axctl("completion", "bash", server=False).out
    probe = script + '\nCOMP_WORDS=(axctl task tri); COMP_CWORD=2; _axctl; echo "${COMPREPLY[@]}"' \
                     '\nCOMP_WORDS=(axctl task create --cro); COMP_CWORD=3; _axctl; echo "${COMPREPLY[@]}"' \
                     '\nCOMP_WORDS=(axctl aud); COMP_CWORD=1; _axctl; echo "${COMPREPLY[@]}"\n'
    done = subprocess.run(["bash", "-c", probe], capture_output=True, text=True)
    assert done.stdout.split() == ["trigger", "--cron", "audit"], done.stderr
    assert "#compdef axctl" in axctl("completion", "zsh", server=False).out


def test_setup(server, axctl, tmp_path):
    server.on("POST", "/setup", lambda r: (201, {"user": r.body["user"], "role": "admin"}))
    (tmp_path / "setup").write_text("ABC\n")
    (tmp_path / "password").write_text("correct horse\n")
    result = axctl("setup", "--token-file", "setup", "--user", "anna", "--password-file", "password")
    assert "anna" in result.out and "horse" not in result.out
    assert server.requests[-1].body == {"token": "ABC", "user": "anna", "password": "correct horse"}
    assert server.requests[-1].headers["Authorization"] is None
    axctl("setup", "--token-file", "setup", "--user", "anna", "--password-file", "-", input="from stdin\n")
    assert server.requests[-1].body["password"] == "from stdin"
    axctl("setup", "--token-file", "setup", "--user", "anna", input="from a pipe\nfrom a pipe\n")  # for who pipes what a terminal wants
    assert server.requests[-1].body["password"] == "from a pipe"
    axctl("setup", "--token-file", "setup", "--user", "anna", input="p" * 256)
    assert server.requests[-1].body["password"] == "p" * 256
    made = len(server.requests)
    assert "no password" in axctl("setup", "--token-file", "setup", "--user", "anna", code=2).err
    assert "longer than" in axctl("setup", "--token-file", "setup", "--user", "anna", input="p" * 300 + "\n", code=2).err
    out = axctl("setup", "--token-file", "setup", "--user", "anna", "--out", "setup", input="correct horse\n", code=2)
    assert "setup exists" in out.err  # said before the setup token is used up
    for options, rule in ((["--out", "no/where"], "--out: cannot create no/where"), (["--out", "t", "--expire-days", 999], "expire-days: ")):
        assert rule in axctl("setup", "--token-file", "setup", "--user", "anna", *options, input="correct horse\n", code=2).err
    assert len(server.requests) == made
    server.on("POST", "/setup", (403, {"status": 403, "code": "denied", "field": "token", "detail": "this is not the token"}))
    out = axctl("setup", "--token-file", "setup", "--user", "anna", "--out", "t", input="correct horse\n", code=4)
    assert out.err == "axctl: token: this is not the token [denied]\n"  # no word of roles: nobody has one yet
    assert not (tmp_path / "t").exists()
    assert "--user" in axctl("setup", "--token-file", "setup", code=2).err
    assert "setup token" in axctl("setup", "--user", "anna", code=2).err


@pytest.mark.parametrize("password, rule", [
    (b"correct\0horse battery\n", "NUL"), (b"\0", "NUL"), (b"caf\xe9 au lait et pain\n", "not UTF-8"),
    (b"p" * 257, "longer than 256 bytes"), ("ä".encode() * 129 + b"\r\n", "longer than 256 bytes"), (b"\nsecond line\n", "first line is empty")],
    ids=["nul", "only-nul", "latin-1", "long", "long-in-bytes", "empty"])
def test_setup_refuses_a_password_whole_and_says_why(server, axctl, tmp_path, password, rule):
    (tmp_path / "setup").write_text("ABC\n")
    (tmp_path / "password").write_bytes(password)
    setup, text = ["setup", "--token-file", "setup", "--user", "anna"], password.decode(errors="surrogateescape")
    for options, given, field in ((["--password-file", "password"], None, "--password-file"), (["--password-file", "-"], text, "--password-file"),
                                  ([], text, "standard input")):
        err = axctl(*setup, *options, input=given, code=2).err
        assert err.startswith(f"axctl: {field}: ") and rule in err, err
    assert server.requests == []


def test_setup_takes_a_password_of_256_bytes(server, axctl, tmp_path):
    server.on("POST", "/setup", lambda r: (201, {"user": r.body["user"], "role": "admin"}))
    (tmp_path / "setup").write_text("ABC\n")
    for password, line in (("ä" * 128, "{}\r\n"), ("p" * 256, "{}\n"), ("p" * 256, "{}"), ("one\rtwo", "{}\n")):
        (tmp_path / "password").write_bytes(line.format(password).encode())
        axctl("setup", "--token-file", "setup", "--user", "anna", "--password-file", "password")
        assert server.requests[-1].body["password"] == password
    assert "user: not UTF-8" in axctl("setup", "--token-file", "setup", "--user", b"ann\xe9", input="p" * 12, code=2).err
    (tmp_path / "setup").write_bytes(b"\xff")
    assert "--token-file: not UTF-8" in axctl("setup", "--token-file", "setup", "--user", "anna", input="p" * 12, code=2).err


def test_setup_can_leave_a_token(server, axctl, tmp_path):
    server.on("POST", "/setup", lambda r: (201, {"user": r.body["user"], "role": "admin", "csrf": "c5f"}))
    server.on("POST", "/tokens", lambda r: (201, {"id": "1", "token": "axp_x"}) if r.headers.get("X-AX-CSRF") == "c5f" else (401, {}))
    (tmp_path / "setup").write_text("ABC\n")
    (tmp_path / "password").write_text("correct horse battery\n")
    axctl("setup", "--token-file", "setup", "--user", "anna", "--password-file", "password", "--out", "admin.token")
    assert (tmp_path / "admin.token").read_text() == "axp_x\n" and (tmp_path / "admin.token").stat().st_mode & 0o077 == 0
    made = len(server.requests)
    assert "exists" in axctl("token", "create", "x", "--out", "admin.token", code=2).err
    assert len(server.requests) == made  # no token is made that nobody keeps


def test_setup_asks_on_a_terminal_without_echo(server, axctl, tmp_path):
    import os
    import pty
    server.on("POST", "/setup", lambda r: (201, {"user": r.body["user"]}))
    (tmp_path / "setup").write_text("ABC\n")
    from conftest import BUILD
    for answers, code in ((["s3cret\n", "s3cret\n"], 0), (["one\n", "two\n"], 2), (["\x03"], 2), (["p" * 300 + "\n"], 2), (["p" * 257 + "\n"], 2),
                          (["nul\x00l\n"], 2), (["p" * 256 + "\n", "p" * 256 + "\n"], 0), (["s3cret\n", "s3cret\n"], 0)):
        pid, fd = pty.fork()
        if pid == 0:
            os.chdir(tmp_path)
            os.execve(BUILD / "src/cli/axctl", ["axctl", "setup", "--token-file", "setup", "--user", "anna"],
                      axctl.env(AX_SERVER=server.url))
        seen = b""
        for answer in answers:
            while not seen.endswith(b": "):
                seen += os.read(fd, 1000)
            os.write(fd, answer.encode())
            seen += os.read(fd, 1000)
        try:
            while data := os.read(fd, 1000):
                seen += data
        except OSError:
            pass
        os.close(fd)
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == code, seen
        assert b"s3cret" not in seen and b"two" not in seen.replace(b"the two are", b"")
    assert server.requests[-1].body["password"] == "s3cret"
