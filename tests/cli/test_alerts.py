"""Alerts and channels."""

CHANNEL = {"id": "7", "name": "ops", "kind": "webhook", "enabled": True, "language": "en", "rules": ["failed", "missed"], "group_keys": [],
           "time_zone": "UTC", "quiet_hours": None, "remind_seconds": 0, "settings": {}, "secrets": ["url"],
           "target": "https://example.org", "version": 3, "create_time": 1764451200000, "update_time": 1764451200000, "updated_by": "ann"}
DELIVERY = {"id": "41", "alert_id": "9", "channel_id": "7", "kind": "open", "state": "pending", "attempts": 2, "create_time": 1764451200000,
            "next_time": 1764451300000, "sent_time": None, "error": "the receiver answered HTTP 503"}
ALERT = {"id": "9", "rule": "failed", "group_key": "default", "episode": "3", "state": "open", "task_id": "3", "gid": "5", "subject": "nightly",
         "detail": "disk full", "detail_sentence": "alert_failed", "detail_params": {"run": "5"}, "value": 1, "bound": 0, "count": 4, "open_time": 1764451200000, "seen_time": 1764451200000,
         "resolve_time": None, "resolve_note": "fixed", "resolve_note_sentence": "alert_over", "resolve_note_params": {"n": 1}, "muted": True, "note": "", "note_by": None}


def test_channels(server, axctl, tmp_path):
    server.on("GET", "/channels", {"items": [CHANNEL], "next": None})
    server.on("POST", "/channels", lambda r: (201, {**CHANNEL, "name": r.body["name"]}))
    server.on("PATCH", "/channels/7", lambda r: CHANNEL)
    server.on("DELETE", "/channels/7", (204, None))
    server.on("GET", "/channels/7/deliveries", {"items": [DELIVERY], "next": None})
    out = axctl("channel", "list").out
    assert "https://example.org" in out and "failed" in out and "all" in out
    assert "secrets" in axctl("channel", "show", "ops").out
    axctl("channel", "show", "nope", code=5)
    (tmp_path / "secret").write_text("S3CRET\n")
    assert "created" in axctl("channel", "create", "ops", "webhook", "url=https://example.org/x?a=b", "secret=@secret", "--rules",
                              "failed,missed", "--groups", "a, b", "--quiet", "22:00-07:00", "--tz", "Asia/Shanghai", "--language", "zh",
                              "--remind", 3600, "--enabled", "false").out
    assert server.requests[-1].body == {
        "name": "ops", "kind": "webhook", "settings": {"url": "https://example.org/x?a=b", "secret": "S3CRET"},
        "rules": ["failed", "missed"], "group_keys": ["a", "b"], "quiet_hours": {"from": "22:00", "to": "07:00"},
        "time_zone": "Asia/Shanghai", "language": "zh", "remind_seconds": 3600, "enabled": False}
    axctl("channel", "create", "mail", "smtp", "host=m", "port=25", "to=a@b,c@d", "from=e@f")
    assert server.requests[-1].body["settings"] == {"host": "m", "port": 25, "to": ["a@b", "c@d"], "from": "e@f"}
    axctl("channel", "update", "ops", "secret=", "mention_all=true", "--quiet", "none", "--rules", "")
    assert server.requests[-1].body == {
        "version": 3, "settings": {"secret": None, "mention_all": True}, "quiet_hours": None, "rules": []}
    axctl("channel", "update", "ops", "--enabled", "true")
    assert server.requests[-1].body == {"version": 3, "enabled": True}
    for bad in (["update", "ops"], ["update", "ops", "url"], ["update", "ops", "--quiet", "22:00"], ["update", "ops", "--enabled", "1"],
                ["create", "ops"], ["update", "ops", "secret=@nothing"]):
        axctl("channel", *bad, code=2)
    assert "deleted" in axctl("channel", "delete", "ops").out
    out = axctl("channel", "deliveries", "ops").out
    assert "pending" in out and "HTTP 503" in out


def test_channel_test_waits_for_the_end(server, axctl):
    looks = iter(["pending", "sent"])
    server.on("GET", "/channels", {"items": [CHANNEL], "next": None})
    server.on("POST", "/channels/7/test", (202, {**DELIVERY, "kind": "test", "attempts": 0}))
    server.on("GET", "/channels/7/deliveries", lambda r: {"items": [{**DELIVERY, "state": next(looks)}], "next": None})
    assert "works" in axctl("channel", "test", "ops").out
    server.on("GET", "/channels/7/deliveries", {"items": [{**DELIVERY, "state": "given_up"}], "next": None})
    assert "HTTP 503" in axctl("channel", "test", "ops", code=1).err
    assert axctl("channel", "test", "ops", "--json", code=1).json["state"] == "given_up"


def test_alerts(server, axctl):
    server.on("GET", "/alerts", {"items": [ALERT], "next": None})
    server.on("GET", "/alerts/9", {**ALERT, "deliveries": [DELIVERY]})
    server.on("GET", "/tasks/3", {"id": "3"})
    for verb in ("mute", "unmute", "resolve"):
        server.on("POST", f"/alerts/9/{verb}", {**ALERT, "deliveries": []})
    out = axctl("alert", "list", "--state", "open", "--rule", "failed", "--group", "default", "--task", "3").out
    assert "nightly" in out and "open, muted" in out and "disk full" in out
    assert {key: server.requests[-1].query[key] for key in ("state", "rule", "group_key", "task_id")} == {
        "state": "open", "rule": "failed", "group_key": "default", "task_id": "3"}
    shown = axctl("alert", "show", "9").out
    assert "CHANNEL" in shown.split("told\n")[1] and DELIVERY["state"] in shown.split("told\n")[1]
    assert "disk full" in shown and "fixed" in shown and "_sentence" not in shown and "_params" not in shown  # that is for programs
    assert axctl("alert", "show", "9", "--json").json == {**ALERT, "deliveries": [DELIVERY]}
    assert "muted alert 9" in axctl("alert", "mute", "9", "--note", "known").out
    assert server.requests[-1].body == {"note": "known"}
    assert "unmuted" in axctl("alert", "unmute", "9").out
    assert axctl("alert", "resolve", "9", "--json").json["id"] == "9"
