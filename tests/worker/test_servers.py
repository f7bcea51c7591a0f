"""A worker of several servers: which of them it tells what, and what it does when one is gone, hangs, is slow or says no."""

import signal
import threading

import pytest

from fake_server import FakeServer
from proxy import HttpProxy
from shim import wait_for
from test_http import PLUGIN
from test_shim import python

QUICK = {"heartbeat_ms": 300, "unreachable_ms": 3000, "lease_ms": 4500, "poll_wait_ms": 250, "start_within_ms": 600}
LONG = {"argv": python("import time; time.sleep(5)")}  # longer than a lease may go unrenewed


class Pair:
    """Two servers of one database, each behind a proxy."""

    def __init__(self, **durations):
        self.a = FakeServer(**durations)
        self.b = FakeServer(peer=self.a)
        self.pa, self.pb = HttpProxy(self.a.port), HttpProxy(self.b.port)

    def __enter__(self):
        self.pa.__enter__()
        self.pb.__enter__()
        return self

    def __exit__(self, *_):
        for proxy in (self.pa, self.pb):
            proxy.__exit__()
        for server in (self.a, self.b):
            if server.httpd:
                server.close()
            assert not server.faults

    @property
    def urls(self):
        return f"http://127.0.0.1:{self.pa.port},http://127.0.0.1:{self.pb.port}"

    def wait_polled(self):
        for server in (self.a, self.b):
            server.wait(lambda server=server: server.polls)


@pytest.fixture
def pair():
    with Pair(**QUICK) as pair:
        yield pair


def kinds(server, gid):
    return {item["type"] for item in server.heard if item["gid"] == gid}


def beats(server, gid):
    """The longest time between two heartbeats of a run."""
    times = [when for when, _, item in server.items if item["gid"] == gid and item["type"] in ("started", "heartbeat")]
    return max(later - earlier for earlier, later in zip(times, times[1:]))


def end_well(pair, worker, gid):
    result = pair.a.result(gid)
    assert result["outcome"] == "success", result.get("message")
    assert not worker.log("lease_lost")


def test_the_giver_is_told(start_worker):
    with Pair() as pair:
        worker = start_worker(pair.urls)
        pair.wait_polled()
        one, two = pair.a.give(param={"script": "echo one"}), pair.b.give(param={"script": "echo two"})
        end_well(pair, worker, one)
        end_well(pair, worker, two)
        wait_for(lambda: worker.attempts() == [])
        everything = {"started", "output", "result"}
        assert kinds(pair.a, one) >= everything and kinds(pair.b, two) >= everything
        assert not kinds(pair.a, two) and not kinds(pair.b, one)
        assert pair.a.registrations[0]["incarnation"] == pair.b.registrations[0]["incarnation"]


FAULTS = {
    "gone": lambda pair: pair.a.down(),
    "reset": lambda pair: pair.pa.cut(),
    "hangs": lambda pair: pair.pa.hang(),
    "answers are lost": lambda pair: pair.pa.hang("down"),
    "very slow": lambda pair: pair.pa.slow(2000),
    "drains": lambda pair: setattr(pair.a, "status", 503),
    "refuses the token": lambda pair: setattr(pair.a, "status", 401),
    "forgot the worker": lambda pair: setattr(pair.a, "status", 404),
}


# B022
@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_in_trouble_costs_no_heartbeat(pair, start_worker, fault):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    gid = pair.a.give(param=LONG)
    pair.a.wait_said(gid, "started")
    FAULTS[fault](pair)
    end_well(pair, worker, gid)
    assert kinds(pair.b, gid) >= {"heartbeat", "result"}
    assert beats(pair.a, gid) < 2  # a beat of 0.3 s, the patience with one server, and a machine that is busy
    wait_for(lambda: worker.attempts() == [])
    other = pair.b.give(param={"argv": ["/bin/true"]})  # and the other one goes on as if nothing were
    assert pair.b.result(other, 2)["outcome"] == "success"


@pytest.mark.parametrize("fault", FAULTS)
def test_a_server_that_is_well_again_is_used_again(pair, start_worker, fault):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    FAULTS[fault](pair)
    gid = pair.b.give(param=LONG)
    end_well(pair, worker, gid)
    pair.pa.heal()
    pair.a.status = None
    if not pair.a.httpd:
        pair.a.up()
    polls = len(pair.a.polls)
    pair.a.wait(lambda: len(pair.a.polls) > polls, 8)

    def told_again():  # it is trusted when it has answered an empty report
        gid = pair.a.give(param={"argv": ["/bin/true"]})
        pair.a.wait(lambda: pair.a.said(gid, "result") or gid in {line["gid"] for line in worker.log("run_dropped")})
        return kinds(pair.a, gid)
    wait_for(told_again)


def test_servers_that_are_all_slow_are_waited_for(pair, start_worker):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    gid = pair.a.give(param=LONG)
    pair.a.wait_said(gid, "started")
    pair.pa.slow(250)
    pair.pb.slow(250)  # either way: half a second for an answer, more than the patience with one of several
    end_well(pair, worker, gid)
    wait_for(lambda: worker.attempts() == [])


def test_a_stopped_server_takes_up_its_late_messages_without_harm(pair, start_worker, tmp_path):
    """What it was sent arrives long after the worker told the other one."""
    worker = start_worker(pair.urls)
    pair.wait_polled()
    note = tmp_path / "ran"
    gid = pair.a.give(param={"script": f"echo x >> {note}; sleep 1"})
    pair.a.wait_said(gid, "started")
    pair.pa.hang()
    end_well(pair, worker, gid)
    pair.pa.heal()
    late = pair.a.give(param={"argv": ["/bin/true"]})
    assert pair.a.result(late)["outcome"] == "success"
    assert note.read_text() == "x\n"


def test_results_are_confirmed_by_any_server(pair, start_worker):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    gid = pair.a.give(param={"script": "sleep 0.5; exit 7"})
    pair.a.wait_said(gid, "started")
    pair.a.down()
    pair.b.down()
    wait_for(lambda: worker.has_stored(gid))
    worker.kill()
    worker.start()
    pair.b.up()
    assert pair.b.result(gid)["code"] == 7
    wait_for(lambda: worker.attempts() == [])
    worker.stop()
    worker.start()
    before = len(pair.b.registrations)
    pair.b.wait(lambda: len(pair.b.registrations) > before)
    assert pair.b.registrations[-1]["running"] == []


def test_a_result_that_two_servers_refuse_is_mended_once(pair, start_worker):
    """The second refusal is of what is said otherwise since: it must not end the attempt untold."""
    worker = start_worker(pair.urls, "--plugin", PLUGIN)
    pair.wait_polled()
    mended = threading.Event()

    def refuse_late(item):
        return "result" in item and mended.wait(10)

    def refuse_and_be_gone(item):
        if "result" in item:
            pair.b.status = 503
        return "result" in item

    pair.a.refuse, pair.b.refuse = refuse_late, refuse_and_be_gone
    gid = pair.a.give(executor="example.echo", param="bad", start="confirmed")  # its result is told alone
    worker.wait_log("result_left_out")
    mended.set()
    result = pair.a.result(gid)
    assert result["outcome"] == "success" and "result" not in result
    assert not worker.log("item_given_up")


def test_one_server_that_refuses_is_not_the_end_but_all_are(pair, start_worker):
    pair.a.status = 401
    worker = start_worker(pair.urls)
    pair.b.wait(lambda: pair.b.polls)
    gid = pair.b.give(param={"argv": ["/bin/true"]})
    assert pair.b.result(gid)["outcome"] == "success"
    pair.a.status = None
    pair.a.wait(lambda: pair.a.polls, 8)
    worker.stop()
    pair.a.status = pair.b.status = 401
    worker.start()
    assert worker.end() == 3


def test_unknown_to_one_server_is_registered_there_alone(pair, start_worker):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    pair.a.status = 404
    worker.wait_log("register_again")
    pair.a.status = None
    pair.a.wait(lambda: len(pair.a.registrations) >= 2)
    assert len(pair.b.registrations) == 1


def test_servers_restarted_in_turn(pair, start_worker):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    gid = pair.a.give(param={"argv": python("import time; time.sleep(6)")})
    pair.a.wait_said(gid, "started")
    for server in (pair.a, pair.b, pair.a):
        server.down()
        told = len(pair.a.said(gid, "heartbeat"))
        pair.a.wait(lambda: len(pair.a.said(gid, "heartbeat")) >= told + 2)
        polls = len(server.polls)
        server.up()
        server.wait(lambda: len(server.polls) > polls, 8)
    end_well(pair, worker, gid)


def test_no_more_is_taken_than_there_are_places(pair, start_worker, tmp_path):
    """Each server gives all that was asked for, as if it did not know of the other."""
    worker = start_worker(pair.urls, "--groups", "default:2")
    pair.wait_polled()
    go = tmp_path / "go"
    wait = {"script": f"while [ ! -e {go} ]; do sleep 0.05; done"}
    with pair.a.lock:
        given = [server.give(param=wait) for server in (pair.a, pair.b) for _ in range(6)]
    dropped = {line["gid"] for line in worker.wait_log("run_dropped") and wait_for(
        lambda: len(worker.log("run_dropped")) == 6 and worker.log("run_dropped"))}
    assert {line["reason"] for line in worker.log("run_dropped")} == {"no_place"}
    assert len(worker.log("run_received")) == 6 and dropped < set(given)
    go.write_text("")
    for gid in set(given) - dropped:
        assert pair.a.result(gid)["outcome"] == "success"
    for gid in dropped:  # given back at once, by whoever gave it
        back = wait_for(lambda: [item for s in (pair.a, pair.b) for item in s.said(gid, "result")])
        assert {item["outcome"] for item in back} == {"cancelled"}
        assert not any(s.said(gid, kind) for s in (pair.a, pair.b) for kind in ("accepted", "started"))
        pair.b.give(gid=gid, fence=2, param={"argv": ["/bin/true"]})
    for gid in dropped:
        assert wait_for(lambda: [item for s in (pair.a, pair.b) for item in s.said(gid, "result")
                                 if item["fence"] == 2])[0]["outcome"] == "success"
    assert all(f["slots"] <= 6 for server in (pair.a, pair.b) for p in server.polls for f in p["free"])


def test_repeated_and_reordered_messages(pair, start_worker, tmp_path):
    """Every message but polls comes again, up to three seconds later: 60 s at the pace of these servers."""
    note = tmp_path / "ran"
    turn = iter(range(1 << 30))
    for proxy in (pair.pa, pair.pb):
        proxy.repeat = lambda path: None if path.endswith("poll") else (next(turn) % 7) / 2
    worker = start_worker(pair.urls, "--groups", "default:20")
    pair.wait_polled()
    given = [server.give(param={"script": f"echo $AX_GID >> {note}; sleep 0.{i}"}, start=start)
             for i in range(1, 10) for server in (pair.a, pair.b) for start in ("optimistic", "confirmed")]
    for gid in given:
        end_well(pair, worker, gid)
    wait_for(lambda: "/worker/v1/report" in pair.pa.repeated and "/worker/v1/report" in pair.pb.repeated)
    assert sorted(note.read_text().split()) == sorted(given)
    wait_for(lambda: worker.attempts() == [])


def test_a_poll_that_comes_twice_and_late_starts_nothing_twice(pair, start_worker, tmp_path):
    note = tmp_path / "ran"
    pair.a.duplicate_polls = pair.b.duplicate_polls = True
    worker = start_worker(pair.urls)
    pair.wait_polled()
    gid = pair.a.give(gid=77, param={"script": f"echo x >> {note}; sleep 0.5"})
    pair.b.give(gid=77, param={"script": f"echo x >> {note}"})
    end_well(pair, worker, gid)
    assert note.read_text() == "x\n" and len(worker.log("run_received")) == 1


@pytest.mark.parametrize("fault", ["hangs", "gone"])
def test_leaving_does_not_wait_for_a_server_in_trouble(pair, start_worker, fault):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    gid = pair.a.give(param={"argv": python("import time; time.sleep(1)")})
    pair.a.wait_said(gid, "started")
    FAULTS[fault](pair)
    worker.process.send_signal(signal.SIGTERM)
    assert worker.end(5) == 0
    assert pair.b.leaves and pair.b.result(gid, 0.1)["outcome"] == "success"


def test_a_server_that_comes_back_during_a_drain_takes_the_result(pair, start_worker):
    pair.b.down()
    worker = start_worker(pair.urls)
    pair.a.wait(lambda: pair.a.polls)
    gid = pair.a.give(param={"argv": python("import time; time.sleep(1.5)")})
    pair.a.wait_said(gid, "started")
    worker.process.send_signal(signal.SIGTERM)
    worker.wait_log("draining")
    pair.b.up()
    pair.a.down()
    assert worker.end() == 0
    assert pair.b.result(gid, 0.1)["outcome"] == "success"


def test_a_name_of_several_addresses(server, start_worker):
    """localhost is ::1 as well, where nobody listens."""
    start_worker(f"http://localhost:{server.port}")
    gid = server.give(param={"argv": ["/bin/true"]})
    assert server.result(gid)["outcome"] == "success"


@pytest.fixture
def strangers():
    """Servers of two databases, at which the worker's token is good."""
    servers = FakeServer(**QUICK), FakeServer(**QUICK)
    servers[0].store_id, servers[1].store_id = "store-a", "store-b"
    yield servers
    for server in servers:
        if server.httpd:
            server.close()
        assert not server.faults


def is_of_both(worker, *servers):
    lines = worker.log("other_store")
    assert len(lines) == 1 and lines[0]["level"] == "error"
    assert [lines[0]["url"], lines[0]["own_url"]] == [server.url for server in servers]
    return True


def test_a_server_of_another_database_is_left_alone(strangers, start_worker):
    own, other = strangers
    other.status = 503
    worker = start_worker(f"{own.url},{other.url}")
    own.wait(lambda: own.polls)
    other.status = None
    worker.wait_log("other_store")
    gid = own.give(param={"argv": ["/bin/true"]})
    assert own.result(gid)["outcome"] == "success"
    other.wait(lambda: len(other.strays) >= 3)  # it is asked again, and says it no second time
    assert is_of_both(worker, other, own)
    assert set(other.strays) == {"register"} and not other.registrations and not other.polls and not other.heard
    other.store_id = own.store_id
    other.wait(lambda: other.polls)
    gid = other.give(gid=4000, param={"argv": ["/bin/true"]})
    assert other.result(gid)["outcome"] == "success"


def test_of_two_databases_that_answer_together_one_is_served(strangers, start_worker):
    worker = start_worker(",".join(server.url for server in strangers))
    url = worker.wait_log("other_store")[0]["url"]
    own, other = sorted(strangers, key=lambda server: server.url == url)
    assert is_of_both(worker, other, own)
    own.wait(lambda: own.polls)
    for server in (other, own):
        server.give(param={"argv": ["/bin/true"]})
    own.wait(lambda: [item for item in own.heard if item["type"] == "result"])
    assert not other.polls and not other.heard and len(other.registrations) <= 1


def test_a_server_that_changes_its_database_is_told_nothing_more(strangers, start_worker, tmp_path):
    own, other = strangers
    worker = start_worker(own)
    own.wait(lambda: own.polls)
    go = tmp_path / "go"
    gid = own.give(param={"script": f"while [ ! -e {go} ]; do sleep 0.05; done"})
    own.wait_said(gid, "started")
    own.store_id = other.store_id
    assert worker.wait_log("other_store")[0]["url"] == own.url
    heard = len(own.heard)
    go.write_text("")
    wait_for(lambda: worker.has_stored(gid))
    strays = len(own.strays)
    own.wait(lambda: len(own.strays) > strays)
    assert len(own.heard) == heard and len(own.registrations) == 1
    own.store_id = "store-a"
    assert own.result(gid)["outcome"] == "success"


def test_a_spool_for_another_database_is_refused(strangers, start_worker, tmp_path):
    own, other = strangers
    worker = start_worker(own)
    own.wait(lambda: own.polls)
    gid = own.give(param={"script": "sleep 0.5; exit 7"})
    own.wait_said(gid, "started")
    own.down()
    wait_for(lambda: worker.has_stored(gid))
    worker.kill()
    worker.args[worker.args.index("--server") + 1] = other.url
    worker.start()
    assert worker.end() == 5
    line = worker.wait_log("other_store")[0]
    assert (line["url"], line["state"]) == (other.url, str(worker.state)) and "spool" in line["error"]
    assert not other.registrations and not other.heard
    own.up()
    worker.args[worker.args.index("--server") + 1] = f"{other.url},{own.url}"  # one of them is the right one
    worker.start()
    assert own.result(gid)["code"] == 7
    wait_for(lambda: worker.attempts() == [])
    worker.stop()
    worker.args[worker.args.index("--server") + 1] = other.url  # nothing is left that were another's
    worker.start()
    other.wait(lambda: other.polls)


def test_the_log_tells_each_servers_state(pair, start_worker):
    worker = start_worker(pair.urls)
    pair.wait_polled()
    wait_for(lambda: {line["url"] for line in worker.log("registered")} == set(pair.urls.split(",")))
    gid = pair.a.give(param={"argv": python("import time; time.sleep(60)")})
    pair.a.wait_said(gid, "started")
    url = f"http://127.0.0.1:{pair.pa.port}"

    def wait_told(event):
        wait_for(lambda: [line for line in worker.log(event) if line["url"] == url])
    pair.pa.hang()
    wait_told("server_slow")
    pair.pa.cut()
    wait_told("server_away")
    pair.pa.heal()
    wait_told("server_back")
    wait_told("server_quick")


def test_a_poll_whose_answer_is_lost_is_named_to_another_server(pair, start_worker):
    start_worker(pair.urls, "--groups", "default:2,other:2")
    pair.wait_polled()
    done = pair.a.give(param={"script": "true"})
    pair.b.wait(lambda: pair.b.said(done, "result"))
    pair.pa.hang("down")
    lost = pair.a.give(param={"script": "true"})
    pair.a.wait(lambda: lost in pair.a.brought)
    pair.pa.cut()
    pair.b.wait(lambda: pair.a.brought[lost] in pair.b.unanswered, 2)
    assert pair.a.brought[done] not in pair.a.unanswered | pair.b.unanswered
