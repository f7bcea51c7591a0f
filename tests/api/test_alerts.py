"""Alerts and channels over the API, with real receivers that fail, hang and come back."""

import base64
import hashlib
import hmac
import json
import re
import time
import urllib.parse

import pytest
from ax_server import Worker, wait_for
from ax_world import free_port
from sinks import HttpSink, MailSink, make_certificate

SLOW = 40  # seconds: several retries fit in


@pytest.fixture
def sink():
    sink = HttpSink()
    yield sink
    sink.close()


class World:
    """A server of its own, one channel, a worker, a task that fails as told."""

    def __init__(self, start_server, *targets, options=()):
        allow = ",".join(f"127.0.0.1:{port},localhost:{port}" for port in targets)
        self.server = start_server("--alert-allow", allow, *options)
        self.admin = self.server.set_up()
        token = self.admin.post("/api/v1/tokens", {"name": "w", "worker_groups": ["default"]}).ok(201)["token"]
        self.worker = Worker(self.server.client(token))
        self.worker.register()

    def channel(self, kind, settings, **more):
        return self.admin.post("/api/v1/channels", {"name": f"c{time.monotonic_ns()}", "kind": kind, "settings": settings, **more}).ok(201)

    def task(self, name="job-α", **more):
        return self.admin.post("/api/v1/tasks", {
            "task_name": name, "task_type": "delay", "executor_key": "test", "retry_count": 0, **more}).ok(201)

    def run(self, task, outcome, **more):
        self.admin.post(f"/api/v1/tasks/{task['id']}/runs").ok(201)
        run = self.worker.poll_run()
        self.worker.finish(run, outcome, **more)
        return run

    def alerts(self, query=""):
        return self.admin.get(f"/api/v1/alerts?rule=failed{query}").ok()["items"]

    def alert(self, alert_id):
        return self.admin.get(f"/api/v1/alerts/{alert_id}").ok()

    def deliveries(self, channel):
        return self.admin.get(f"/api/v1/channels/{channel['id']}/deliveries").ok()["items"]

    def tested(self, channel):
        """Sends a test message; how it went."""
        sent = self.admin.post(f"/api/v1/channels/{channel['id']}/test").ok(202)
        assert sent["kind"] == "test" and sent["alert_id"] is None

        def ended():
            row = next(row for row in self.deliveries(channel) if row["id"] == sent["id"])
            return row if row["state"] != "pending" else None
        return wait_for(ended, SLOW)


def only_failed(events):
    return [(event["kind"], event["alert"]["subject"]) for event in events if event["alert"]["rule"] == "failed"]


# --- channels ---------------------------------------------------------------------------------------------------------


def test_secrets_go_in_and_never_come_out(server, admin, unique):
    made = admin.post("/api/v1/channels", {
        "name": unique, "kind": "webhook", "rules": ["failed", "missed"], "group_keys": ["default"], "language": "zh",
        "time_zone": "Asia/Shanghai", "quiet_hours": {"from": "22:00", "to": "07:30"}, "remind_seconds": 3600,
        "settings": {"url": "https://hooks.example.org/T0KEN/x?key=T0KEN", "secret": "S3CRET", "authorization": "Bearer AUTH"}}).ok(201)
    assert made["target"] == "https://hooks.example.org"
    assert made["settings"] == {} and sorted(made["secrets"]) == ["authorization", "secret", "url"]
    assert made["rules"] == ["failed", "missed"] and made["group_keys"] == ["default"]
    assert made["quiet_hours"] == {"from": "22:00", "to": "07:30"} and made["version"] == 1
    path = f"/api/v1/channels/{made['id']}"
    changed = admin.patch(path, {"version": 1, "settings": {"authorization": None}, "quiet_hours": None, "enabled": False}).ok()
    assert sorted(changed["secrets"]) == ["secret", "url"] and changed["quiet_hours"] is None and not changed["enabled"]
    assert changed["rules"] == ["failed", "missed"] and changed["version"] == 2
    texts = [admin.get(path).text, admin.get("/api/v1/channels").text, admin.get(f"/api/v1/audit/log?object=channel:{unique}").text]
    assert [entry["action"] for entry in admin.get(f"/api/v1/audit/log?object=channel:{unique}").ok()["items"]] == [
        "channel.update", "channel.create"]
    stored = [file.read_bytes() for file in server.state.glob("ax.db*")]
    for text in texts + stored:
        for secret in (b"T0KEN", b"S3CRET", b"Bearer AUTH"):
            assert secret not in text
    if stored:  # with a database that servers share there is no key unless one is given
        assert (server.state / "secret.key").stat().st_mode & 0o777 == 0o600
    admin.patch(path, {"version": 1, "enabled": True}).refused(409, "conflict", "version")
    admin.delete(path).ok(204)
    admin.get(path).refused(404, "not_found")


def test_mail_settings_are_shown_but_for_the_password(admin, unique):
    made = admin.post("/api/v1/channels", {"name": unique, "kind": "smtp", "settings": {
        "host": "mail.example.org", "security": "starttls", "user": "ax", "password": "S3CRET", "from": "ax@example.org",
        "to": ["ops@example.org"]}}).ok(201)
    assert made["settings"] == {"host": "mail.example.org", "security": "starttls", "user": "ax", "from": "ax@example.org",
                                "to": ["ops@example.org"]}
    assert made["secrets"] == ["password"] and made["target"] == "mail.example.org:587"


HOOK = {"kind": "webhook", "settings": {"url": "https://example.org/"}}
MAIL = {"host": "mail.example.org", "from": "ax@example.org", "to": ["ops@example.org"]}


@pytest.mark.parametrize("body, field", [
    ({**HOOK, "name": "Ops"}, "name"), ({**HOOK, "name": ""}, "name"), ({"kind": "webhook", "settings": {}}, "settings.url"),
    ({**HOOK, "kind": "fax"}, "kind"), ({**HOOK, "rules": ["nope"]}, "rules"), ({**HOOK, "rules": "failed"}, "rules"),
    ({**HOOK, "time_zone": "Mars"}, "time_zone"), ({**HOOK, "quiet_hours": {"from": "7:00", "to": "08:00"}}, "quiet_hours.from"),
    ({**HOOK, "quiet_hours": {"from": "07:00"}}, "quiet_hours.to"), ({**HOOK, "quiet_hours": {"from": "24:00", "to": "08:00"}}, "quiet_hours.from"),
    ({**HOOK, "quiet_hours": {"from": "22:00", "to": "22:00"}}, "quiet_hours"), ({**HOOK, "quiet_hours": {"from": "00:00", "to": "00:00"}}, "quiet_hours"),
    ({**HOOK, "group_keys": ["default", "nowhere"]}, "group_keys"),
    ({**HOOK, "remind_seconds": 5}, "remind_seconds"), ({**HOOK, "language": "de"}, "language"), ({**HOOK, "what": 1}, "what"),
    ({"kind": "webhook", "settings": {"url": "ftp://example.org/"}}, "settings.url"),
    ({"kind": "webhook", "settings": {"url": "https://u:p@example.org/"}}, "settings.url"),
    ({"kind": "webhook", "settings": {"url": "https://example.org/", "authorization": "a\r\nX: y"}}, "settings.authorization"),
    ({"kind": "webhook", "settings": {"url": "https://example.org/", "what": 1}}, "settings.what"),
    ({"kind": "webhook", "settings": {"url": "https://example.org/", "secret": 1}}, "settings.secret"),
    ({"kind": "slack", "settings": {"url": "https://example.org/", "secret": "x"}}, "settings.secret"),
    ({"kind": "dingtalk", "settings": {"url": "https://example.org/", "mobiles": ["a b"]}}, "settings.mobiles"),
    ({"kind": "smtp", "settings": {**MAIL, "from": "ax@example.org\r\nBcc: x@y"}}, "settings.from"),
    ({"kind": "smtp", "settings": {**MAIL, "from": "AX <ax@example.org>"}}, "settings.from"),
    ({"kind": "smtp", "settings": {**MAIL, "to": []}}, "settings.to"),
    ({"kind": "smtp", "settings": {**MAIL, "to": ["a@b, c@d"]}}, "settings.to"),
    ({"kind": "smtp", "settings": {**MAIL, "to": ["a@b>\nRCPT TO:<c@d"]}}, "settings.to"),
    ({"kind": "smtp", "settings": {**MAIL, "host": "a/b"}}, "settings.host"),
    ({"kind": "smtp", "settings": {**MAIL, "port": 0}}, "settings.port"),
    ({"kind": "smtp", "settings": {**MAIL, "security": "none", "password": "x"}}, "settings.password"),
])
def test_bad_channels_are_refused_by_field(admin, unique, body, field):
    admin.post("/api/v1/channels", {"name": unique, **body}).refused(400, "invalid", field)


def test_names_are_unique(admin, unique):
    admin.post("/api/v1/channels", {"name": unique, **HOOK}).ok(201)
    admin.post("/api/v1/channels", {"name": unique, **HOOK}).refused(409, "exists", "name")


# --- what is sent -----------------------------------------------------------------------------------------------------


def test_an_episode_from_its_beginning_to_its_end(start_server, sink):
    world = World(start_server, sink.port)
    channel = world.channel("webhook", {"url": sink.url, "secret": "s3cret", "authorization": "Bearer x"}, rules=["failed"])
    task = world.task()
    run = world.run(task, "failed", message="disk full")
    event = wait_for(sink.events)[0]
    assert event["kind"] == "open" and event["title"] == "job-α failed" and "disk full" in event["text"]
    alert = event["alert"]
    assert alert["rule"] == "failed" and alert["task_id"] == task["id"] and alert["gid"] == run["gid"]
    assert alert["group_key"] == "default" and alert["count"] == 1 and alert["value"] == 1 and alert["state"] == "open"

    request = sink.requests[0]
    stamp = request.headers["AX-Timestamp"]
    mac = hmac.new(b"s3cret", stamp.encode() + b"." + request.raw, hashlib.sha256).hexdigest()
    assert request.headers["AX-Signature"] == f"v1={mac}" and abs(int(stamp) - time.time()) < 60
    assert request.headers["Authorization"] == "Bearer x" and request.headers["AX-Delivery"] == event["delivery_id"]
    assert request.headers["Content-Type"].startswith("application/json")

    world.run(task, "failed")  # the same episode: counted, not told
    assert wait_for(lambda: world.alert(alert["id"])["count"] == 2)
    world.run(task, "success")
    wait_for(lambda: len(sink.events()) == 2)
    end = sink.events()[1]
    assert end["kind"] == "resolved" and end["alert"]["id"] == alert["id"] and end["alert"]["count"] == 2
    assert end["alert"]["state"] == "resolved" and "succeeded" in end["alert"]["resolve_note"]
    shown = wait_for(lambda: (lambda a: a if all(d["state"] == "sent" for d in a["deliveries"]) else None)(world.alert(alert["id"])))
    assert [(d["kind"], d["attempts"], d["channel_id"]) for d in shown["deliveries"]] == [
        ("open", 1, channel["id"]), ("resolved", 1, channel["id"])]
    metrics = world.admin.get("/metrics").text.decode()
    assert "ax_alert_deliveries_sent_total 2" in metrics and "ax_alert_deliveries_pending 0" in metrics
    assert 'ax_alerts_open{rule="failed"} 0' in metrics


def test_a_channel_is_told_in_its_language(start_server, sink):
    world = World(start_server, sink.port)
    world.channel("webhook", {"url": sink.url}, rules=["failed"], language="zh")
    task = world.task()
    gid = world.run(task, "failed", message="disk full")["gid"]
    event = wait_for(sink.events)[0]
    said = f"运行 {gid} 失败，在节点 {world.worker.name} 上，代码 1：disk full。"
    params = {"run": gid, "worker": world.worker.name, "code": 1, "message": "disk full"}
    assert event["title"] == "job-α 失败" and event["text"].startswith(said + "\n分组：default\n")
    assert (event["alert"]["detail"], event["alert"]["detail_sentence"], event["alert"]["detail_params"]) == (said, "alert_failed", params)
    assert (event["alert"]["resolve_note"], event["alert"]["resolve_note_sentence"]) == ("", None)

    shown = world.alert(event["alert"]["id"])  # the API speaks English, and says what was said
    assert shown["detail"] == f"Run {gid} failed on {world.worker.name} with code 1: disk full."
    assert (shown["detail_sentence"], shown["detail_params"]) == ("alert_failed", params)

    newer = world.run(task, "success")["gid"]
    end = wait_for(lambda: sink.events()[1:])[0]
    assert end["title"] == "已恢复：job-α 失败" and f"\n说明：运行 {newer} 成功\n" in end["text"]
    assert (end["alert"]["resolve_note"], end["alert"]["resolve_note_params"]) == (f"运行 {newer} 成功", {"run": newer})
    shown = world.alert(event["alert"]["id"])
    assert (shown["resolve_note"], shown["resolve_note_sentence"]) == (f"run {newer} succeeded", "over_succeeded")


def test_a_receiver_that_fails_and_comes_back(start_server, sink):
    world = World(start_server, sink.port)
    channel = world.channel("webhook", {"url": sink.url}, rules=["failed"])
    sink.answer = lambda request: (503, "not today")
    task = world.task()
    world.run(task, "failed")
    row = wait_for(lambda: next((d for d in world.deliveries(channel) if d["error"]), None))
    assert row["state"] == "pending" and row["attempts"] == 1 and row["error"] == "the receiver answered HTTP 503: not today"
    assert row["next_time"] > row["create_time"]
    world.run(task, "success")
    sink.answer = lambda request: (204, "")
    wait_for(lambda: {d["state"] for d in world.deliveries(channel)} == {"sent"}, SLOW)
    assert [kind for kind, _ in only_failed(sink.events())] == ["open", "open", "resolved"]
    assert "ax_alert_tries_failed_total 1" in world.admin.get("/metrics").text.decode()


def test_a_receiver_that_hangs_holds_up_nobody_else(start_server, sink):
    other = HttpSink()
    world = World(start_server, sink.port, other.port)
    slow = world.channel("webhook", {"url": sink.url}, rules=["failed"])
    world.channel("webhook", {"url": other.url}, rules=["failed"])
    sink.hang()
    for i in range(3):
        world.run(world.task(f"t{i}"), "failed")
        wait_for(lambda: len(other.events()) == i + 1)
    assert len(sink.requests) == 1  # one message to a channel at a time
    row = wait_for(lambda: next((d for d in world.deliveries(slow) if d["error"]), None), SLOW)
    assert row["error"] == "the receiver could not be reached in time"
    sink.come_back()
    wait_for(lambda: {d["state"] for d in world.deliveries(slow)} == {"sent"}, SLOW)
    assert {subject for _, subject in only_failed(sink.events())} == {"t0", "t1", "t2"}
    assert sorted(subject for _, subject in only_failed(other.events())) == ["t0", "t1", "t2"]
    other.close()


def test_nothing_is_lost_when_the_server_is_killed(start_server, sink):
    """Between commit and send, while sending, before the answer is recorded: at least once, the end after the beginning."""
    world = World(start_server, sink.port)
    world.channel("webhook", {"url": sink.url}, rules=["failed"])
    tasks = [world.task(f"t{i}") for i in range(6)]
    for i, task in enumerate(tasks):
        if i % 3 == 2:
            sink.hang()
        world.run(task, "failed")
        if i % 3 == 1:
            time.sleep(0.3 * (i % 2))
        if i % 3 == 2:
            wait_for(lambda: [r for r in sink.requests if any(e["alert"]["subject"] == f"t{i}" for e in r.json["events"])])
        world.server.kill()
        sink.come_back()
        world.server.start()
        world.admin.server = world.server
        world.worker.register()
    for task in tasks:
        world.run(task, "success")
    wanted = {(kind, f"t{i}") for kind in ("open", "resolved") for i in range(6)}
    wait_for(lambda: set(only_failed(sink.events())) == wanted, SLOW)
    told = only_failed(sink.events())
    for i in range(6):
        assert told.index(("open", f"t{i}")) < told.index(("resolved", f"t{i}"))
    wait_for(lambda: "ax_alert_deliveries_pending 0" in world.admin.get("/metrics").text.decode())
    # what was told twice had a cause: the server died while it was under way
    for alert in world.alerts():
        for row in world.alert(alert["id"])["deliveries"]:
            assert told.count((row["kind"], alert["subject"])) <= row["attempts"]
            assert row["attempts"] == 1 or row["kind"] == "open"


def test_a_burst_is_few_messages(start_server, sink):
    world = World(start_server, sink.port)
    world.channel("webhook", {"url": sink.url}, rules=["failed"])
    sink.hang()
    world.run(world.task("first"), "failed")
    wait_for(lambda: sink.requests)
    for i in range(25):
        world.run(world.task(f"t{i}"), "failed")
    sink.come_back()
    wait_for(lambda: len(only_failed(sink.events())) == 26, SLOW)
    assert len(sink.requests) == 3


def test_chat_robots(start_server, sink):
    world = World(start_server, sink.port)
    sink.answer = lambda request: (200, '{"errcode":0,"code":0,"errmsg":"ok"}')
    task = "<b>&\"*_`<at user_id=\"all\">"
    channels = {kind: world.channel(kind, {"url": f"http://localhost:{sink.port}/{kind}?token=T", **more}, rules=["failed"], language=language)
                for kind, language, more in [
                    ("dingtalk", "zh", {"secret": "SEC1", "mobiles": ["13800000000"], "mention_all": True}),
                    ("feishu", "zh", {"secret": "SEC2"}), ("wecom", "zh", {"mobiles": ["13800000000"], "mention_all": True}),
                    ("slack", "en", {})]}
    gid = world.run(world.task(task), "failed", message="boom")["gid"]
    wait_for(lambda: len(sink.requests) == 4, SLOW)
    by_kind = {re.match(r"/(\w+)", request.path).group(1): request for request in sink.requests}

    request = by_kind["dingtalk"]
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(request.path).query))
    assert query["token"] == "T"
    mac = hmac.new(b"SEC1", f"{query['timestamp']}\nSEC1".encode(), hashlib.sha256).digest()
    assert query["sign"] == base64.b64encode(mac).decode()
    assert request.json["msgtype"] == "text" and request.json["at"] == {"atMobiles": ["13800000000"], "isAtAll": True}
    assert request.json["text"]["content"].startswith(f"[AX] {task} 失败\n运行 {gid} 失败，在节点 w1 上，代码 1：boom。\n分组：default\n开始：")

    request = by_kind["feishu"]
    mac = hmac.new(f"{request.json['timestamp']}\nSEC2".encode(), b"", hashlib.sha256).digest()
    assert request.json["sign"] == base64.b64encode(mac).decode() and request.json["msg_type"] == "post"
    element = request.json["content"]["post"]["zh_cn"]["content"][0][0]
    assert element["tag"] == "text" and element["text"].startswith(f"[AX] {task} 失败\n运行 {gid} 失败")

    assert by_kind["wecom"].json["text"]["mentioned_mobile_list"] == ["13800000000", "@all"]
    assert by_kind["slack"].json["text"].startswith(
        f'[AX] &lt;b&gt;&amp;"*_`&lt;at user_id="all"&gt; failed\nRun {gid} failed on w1 with code 1: boom.\ngroup: default')
    assert by_kind["slack"].json["mrkdwn"] is False

    sink.answer = lambda request: (200, '{"errcode":310000,"errmsg":"sign not match","code":19021,"msg":"sign not match"}')
    for kind in ("dingtalk", "feishu", "wecom"):
        row = world.tested(channels[kind])
        assert row["state"] == "given_up" and "sign not match" in row["error"]
    sink.answer = lambda request: (404, "no_team")
    assert world.tested(channels["slack"])["error"] == "the receiver answered HTTP 404: no_team"
    sink.answer = lambda request: (200, '{"errcode":0,"code":0}')
    for channel in channels.values():
        assert world.tested(channel)["state"] == "sent"


@pytest.mark.parametrize("security", ["starttls", "tls"])
def test_mail_over_tls(start_server, tmp_path, security):
    certificate = make_certificate(tmp_path)
    mail = MailSink(security, certificate, ("ax", "pass word"))
    world = World(start_server, mail.port, options=("--alert-ca", certificate[0]))
    channel = world.channel("smtp", {
        "host": "localhost", "port": mail.port, "security": security, "user": "ax", "password": "pass word",
        "from": "ax@example.org", "to": ["ops@example.org", "dev@example.org"]}, rules=["failed"], language="zh")
    name = "出账任务 " + "很长的名字" * 20
    world.run(world.task(name), "failed", message="磁盘已满\n.\nQUIT")
    got = wait_for(lambda: mail.mails)[0]
    assert got.subject == f"[AX] {name} 失败" and got.sender == "MAIL FROM:<ax@example.org>"
    assert got.recipients == ["RCPT TO:<ops@example.org>", "RCPT TO:<dev@example.org>"]
    assert got.message["from"] == "AX <ax@example.org>" and got.message["to"] == "ops@example.org, dev@example.org"
    assert "上，代码 1：磁盘已满 . QUIT。" in got.text and got.message["auto-submitted"] == "auto-generated"
    assert all(len(line) <= 78 for line in got.data.split(b"\r\n")) and b"\n" not in got.data.replace(b"\r\n", b"")
    assert mail.logins == [("ax", "pass word", True)]
    wait_for(lambda: world.deliveries(channel)[0]["state"] == "sent")

    mail.refuse = {"RCPT": "550 no such user"}
    assert world.tested(channel)["error"] == "the mail server refused it with code 550"
    mail.refuse = {}
    mail.login = ("ax", "other")
    assert world.tested(channel)["error"] == "the mail server refused the login"
    mail.close()


# Ways of a mail server to fail: each answers how it comes back, and what is said of it meanwhile.


def refuse(mail):
    mail.refuse = {"RCPT": "451 come back later"}

    def allow():
        mail.refuse = {}
        return mail
    return allow, "the mail server refused it with code 451"


def hang(mail):
    mail.hang()

    def answer():
        mail.come_back()
        return mail
    return answer, "the receiver could not be reached in time"


def close_the_port(mail):
    mail.close()
    return lambda: MailSink(port=mail.port), "the receiver could not be reached in time"


@pytest.mark.parametrize("fail", [refuse, hang, close_the_port])
def test_mail_that_fails_is_sent_when_the_server_is_back(start_server, fail):
    mail = MailSink(port=free_port())
    world = World(start_server, mail.port)
    channel = world.channel("smtp", {"host": "127.0.0.1", "port": mail.port, "security": "none", "from": "ax@example.org",
                                     "to": ["ops@example.org"]}, rules=["failed"])
    come_back, error = fail(mail)
    task = world.task()
    world.run(task, "failed")
    row = wait_for(lambda: next((d for d in world.deliveries(channel) if d["error"]), None), SLOW)
    assert (row["kind"], row["state"], row["attempts"], row["error"]) == ("open", "pending", 1, error)
    world.run(task, "success")  # the end waits until the beginning was told
    assert mail.mails == []
    mail = come_back()
    wait_for(lambda: [d["state"] for d in world.deliveries(channel)] == ["sent", "sent"], SLOW)
    assert [m.subject for m in mail.mails] == ["[AX] job-α failed", "[AX] resolved: job-α failed"]
    tries = {d["kind"]: d["attempts"] for d in world.deliveries(channel) if d["error"] is None}
    assert tries["open"] >= 2 and tries["resolved"] == 1
    assert f"ax_alert_tries_failed_total {tries['open'] - 1}\n" in world.admin.get("/metrics").text.decode()
    mail.close()


def test_mail_needs_the_promised_tls(start_server, tmp_path):
    mail = MailSink("none")
    impostor = MailSink("tls", make_certificate(tmp_path))
    world = World(start_server, mail.port, impostor.port)  # trusts the system's authorities only
    settings = {"host": "localhost", "from": "ax@example.org", "to": ["ops@example.org"]}
    assert "STARTTLS" in world.tested(world.channel("smtp", {**settings, "port": mail.port}))["error"]
    row = world.tested(world.channel("smtp", {**settings, "port": impostor.port, "security": "tls"}))
    assert row["error"] == "the receiver's certificate is not valid for it"
    assert mail.mails == [] and impostor.mails == []
    assert world.tested(world.channel("smtp", {**settings, "port": mail.port, "security": "none"}))["state"] == "sent"
    assert mail.mails[0].subject == "[AX] test message: this channel works"
    mail.close()
    impostor.close()


def test_targets_are_guarded(start_server, sink):
    world = World(start_server, 1)
    for url in (sink.url, f"http://localhost:{sink.port}/", f"http://[::ffff:127.0.0.1]:{sink.port}/", f"http://0x7f.1:{sink.port}/",
                "http://169.254.169.254/latest", "http://10.0.0.1/", f"http://127.0.0.1:{world.server.port}/api/v1/setup"):
        row = world.tested(world.channel("webhook", {"url": url}))
        assert row["state"] == "given_up" and row["error"] == "this server does not call that address", url
    assert sink.requests == []
    mail = {"host": "127.0.0.1", "port": sink.port, "security": "none", "from": "a@b.c", "to": ["a@b.c"]}
    assert world.tested(world.channel("smtp", mail))["error"] == "this server does not call that address"


def test_a_developers_server_calls_loopback_but_not_itself(start_server, sink):
    server = start_server("--dev")
    admin = server.client(wait_for(lambda: json.loads((server.state / "dev.json").read_text()))["token"])

    def error(url):
        channel = admin.post("/api/v1/channels", {"name": f"c{time.monotonic_ns()}", "kind": "webhook", "settings": {"url": url}}).ok(201)
        admin.post(f"/api/v1/channels/{channel['id']}/test").ok(202)
        path = f"/api/v1/channels/{channel['id']}/deliveries"
        row = wait_for(lambda: next((d for d in admin.get(path).ok()["items"] if d["state"] != "pending"), None), SLOW)
        return row["error"]
    assert error(sink.url) is None
    assert error(f"http://127.0.0.1:{server.port}/api/v1/setup") == "this server does not call that address"
    assert error("http://10.0.0.1/") == "this server does not call that address"


def test_redirects_are_not_followed(start_server, sink):
    other = HttpSink()
    sink.answer = lambda request: (302, other.url)
    world = World(start_server, sink.port, other.port)
    assert world.tested(world.channel("webhook", {"url": sink.url}))["error"].startswith("the receiver answered HTTP 302")
    assert other.requests == []
    other.close()


# --- what people do ---------------------------------------------------------------------------------------------------


def test_mute_resolve_and_lists(start_server, sink):
    world = World(start_server, sink.port)
    world.channel("webhook", {"url": sink.url}, rules=["failed"])
    muted, closed, other = (world.task(name) for name in ("muted", "closed", "other"))
    for task in (muted, closed, other):
        world.run(task, "failed")
    wait_for(lambda: len(sink.events()) == 3)
    ids = {alert["subject"]: alert["id"] for alert in world.alerts("&state=open")}
    assert set(ids) == {"muted", "closed", "other"}
    assert [a["subject"] for a in world.alerts(f"&task_id={closed['id']}")] == ["closed"]
    assert world.alerts("&state=resolved") == [] and world.alerts("&group_key=nope") == []
    page = world.admin.get("/api/v1/alerts?rule=failed&limit=2").ok()
    assert len(page["items"]) == 2
    rest = world.admin.get(f"/api/v1/alerts?rule=failed&limit=2&after={page['next']}").ok()
    assert len(rest["items"]) == 1 and rest["next"] is None

    answer = world.admin.post(f"/api/v1/alerts/{ids['muted']}/mute", {"note": "known since noon"}).ok()
    assert answer["muted"] and answer["note"] == "known since noon" and answer["note_by"] == "admin"
    world.run(muted, "success")
    answer = world.admin.post(f"/api/v1/alerts/{ids['closed']}/resolve", {"note": "fixed"}).ok()
    assert answer["state"] == "resolved" and answer["resolve_note"] == "resolved by admin"
    wait_for(lambda: only_failed(sink.events())[3:] == [("resolved", "closed")])
    assert world.alert(ids["muted"])["state"] == "resolved"
    for verb in ("mute", "unmute", "resolve"):
        world.admin.post(f"/api/v1/alerts/{ids['closed']}/{verb}", {}).refused(409, "conflict", "state")
    world.admin.post("/api/v1/alerts/999/mute", {}).refused(404, "not_found")
    world.admin.get("/api/v1/alerts?state=maybe").refused(400, "invalid", "state")
    world.admin.get("/api/v1/alerts?rule=maybe").refused(400, "invalid", "rule")
    actions = [entry["action"] for entry in world.admin.get(f"/api/v1/audit/log?object=alert:{ids['closed']}").ok()["items"]]
    assert actions == ["alert.resolve"]
    world.admin.post(f"/api/v1/alerts/{ids['other']}/mute", {}).ok()
    assert not world.admin.post(f"/api/v1/alerts/{ids['other']}/unmute", {}).ok()["muted"]
    world.run(other, "success")
    wait_for(lambda: only_failed(sink.events())[4:] == [("resolved", "other")])


# R17
def test_a_group_names_its_channels(start_server, sink):
    other = HttpSink()
    world = World(start_server, sink.port, other.port)
    world.channel("webhook", {"url": sink.url}, rules=["failed"])
    theirs = world.channel("webhook", {"url": other.url}, rules=["failed"])
    world.admin.patch("/api/v1/groups/default", {"version": 1, "contacts": ["ann@example.org", theirs["name"]]}).ok()
    world.run(world.task(), "failed")
    wait_for(other.events)
    assert len(world.deliveries(theirs)) == 1 and sink.requests == []
    other.close()
