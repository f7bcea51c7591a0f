"""A cell of the fault matrix: a cluster under load is hurt again and again for a while; then everything must add up."""

import dataclasses
import os
import random
import resource
import time
import traceback
from typing import Callable

import wire
from ax_world import FAKETIME, wait_for
from caller import NOT_NOW, Caller
from load import Load, work
from memory import Memory
from measure import count_lost, measure_calm, measure_round, read_fires, read_lost, worst

CALM_S = 5
GAP_S = (1, 4)  # between one fault's heal and the next fault
GOES_ON_S = 90  # after a heal some run must succeed
DRAIN_S = 240
SETTLED_S = 42  # a server that signed for 30 s (it does so every 10) has no excuse for what is overdue


# What a cell may need beside the programs of AX: what is said when it is not there, and whether it is.
NEEDS = {
    "root": ("a file system of its own needs root", lambda: os.geteuid() == 0),
    "wires": ("devices and network namespaces of one's own need root, TUN and iproute2", wire.can_be_made),
    "faketime": ("libfaketime is not installed", FAKETIME.exists),
}


@dataclasses.dataclass(frozen=True)
class Cell:
    name: str
    does: str  # what is done, in a sentence
    hurt: Callable  # hurt(rig, chance): a generator; yields how many seconds the fault stays as it is, ends healed
    holds: str  # the promises that must hold, beside those that ax-check always looks at
    aims: dict  # figure → most it may be
    rig: dict  # how the cluster is made: arguments of Rig
    needs: tuple = ()
    short: bool = False  # part of `make test`
    answers: bool = False  # no call fails but with 503
    refusals: tuple = NOT_NOW  # what calls may be refused with
    keeps: bool = False  # no attempt is lost

    def missing(self):
        """Why it cannot be run here, or None."""
        return next((why for why, there in map(NEEDS.get, self.needs) if not there()), None)


def pass_time(rig, seconds):
    """The moment of a fault is arbitrary: nothing is waited for but time itself, and whether somebody falls meanwhile."""
    until = time.monotonic() + seconds

    def look():
        assert not (fallen := rig.tell_fallen()), fallen
        return time.monotonic() >= until
    wait_for(look, seconds + 60)


def count_successes(rig):
    return rig.ask("GET", "/overview", seconds=GOES_ON_S)["last_24h"].get("SUCCESS", 0)


def wait_until_work_goes_on(rig):
    before = count_successes(rig)
    wait_for(lambda: count_successes(rig) > before, GOES_ON_S, "the work goes on after the fault")


def hurt_for(rig, cell, chance, seconds, memory):
    """Faults until the time is over, one at least: [{"begin", "heal", "what"}]."""
    rounds, until = [], time.monotonic() + seconds
    while not rounds or time.monotonic() < until:
        pass_time(rig, chance.uniform(*GAP_S))
        rig.said, rig.figures = [], {}
        begin = rig.now_ms()
        for stays_s in cell.hurt(rig, chance):
            pass_time(rig, stays_s)
        rounds.append({"begin": begin, "heal": rig.now_ms(), "what": "; ".join(rig.said), "own": rig.figures})
        wait_until_work_goes_on(rig)
        memory.look(rig)
    return rounds


def has_live_runs(rig):
    return bool(rig.ask("GET", "/runs?live=true&limit=1")["items"])


def drain(rig, load):
    """No more fires, and the end of all that is live: how long that took."""
    load.stop()
    begun = time.monotonic()
    wait_for(lambda: not has_live_runs(rig), DRAIN_S,
             lambda: [(r["gid"], r["task_name"], r["status"], r["waiting_for"]) for r in rig.ask("GET", "/runs?live=true&limit=10")["items"]])
    return time.monotonic() - begun


def violations(found, excused):
    """What ax-check found, a line each. `excused`: rule → how often it may be broken."""
    if "error" in found:
        return [f"ax-check: {found['error']}"]
    wrong = [f"I2: {found['unexplained']} fires are unexplained"] if found["unexplained"] else []
    wrong += [f"I1: {found['duplicates']} fires are doubled"] if found["duplicates"] else []
    for rule in found["invariants"] + found.get("journals", []):
        if (rule["violations"] or 0) > excused.get(rule["id"], 0):
            wrong.append(f"{rule['id']}: {rule['violations']}: {rule['rule']}: {'; '.join(rule['rows'][:3])}")
    return wrong


def not_judged(found):
    return [rule["id"] for rule in found.get("invariants", []) + found.get("journals", []) if rule["violations"] is None]


def run_under(rig, cell, chance, seconds, rate, settle):
    """What happened to a started cluster, as the result's members."""
    load = Load(rig, rate).start()
    load.make([("called", work(5) | {"task_type": "delay"})])
    caller = Caller(rig, load.tasks["called"]["id"], cell.answers, cell.refusals)
    caller.start()
    wait_for(lambda: count_successes(rig) > rate, 60, "the load runs")
    calm_from = rig.now_ms()
    pass_time(rig, CALM_S)
    calm_until = rig.now_ms()
    memory = Memory()
    rounds = hurt_for(rig, cell, chance, seconds, memory)
    caller.stop()
    last_fire = rig.now_ms()
    drain_s = drain(rig, load)
    memory.look(rig)
    if settle:
        wait_for(lambda: all(s.up_s() >= SETTLED_S for s in rig.servers), SETTLED_S + 5)
    end = rig.now_ms()
    wrong = rig.tell_fallen() + rig.stop()
    code, found = rig.check(["--to", str(end)])
    wrong += violations(found, rig.excused()) + caller.faults(rig.losses) + rig.faults()
    if cell.keeps and (n := count_lost(rig)):
        wrong.append(f"{n} attempts were lost")
    fires = [fire for fire in read_fires(rig, load.probe_ids()) if fire[0] >= calm_from]
    lost, calm = read_lost(rig), measure_calm(fires, min(calm_until, rounds[0]["begin"]))
    for at, this in enumerate(rounds):
        until = rounds[at + 1]["begin"] if at + 1 < len(rounds) else last_fire
        this["figures"] = measure_round(rig, fires, lost, calm, this["begin"], this["heal"], until) | this.pop("own")
    return {
        "rounds": rounds, "calm": calm, "figures": worst(rounds) | {"drain_s": drain_s}, "violations": wrong,
        "not_judged": not_judged(found), "runs": rig.rows("SELECT COUNT(*) FROM ax_task_log")[0][0], "lost": len(lost),
        "fires": found.get("expected"), "missed": found.get("missed"), "coalesced": found.get("coalesced"),
        "calls": {"answered": len(caller.answers), "refused": dict(caller.refusals)},
        "checked": code, "memory": memory.told(),
    }


def missed_aims(cell, figures):
    return {name: [figures[name], most] for name, most in cell.aims.items() if figures.get(name, 0) > most}


def run_cell(cell, make_rig, seed, seconds, rate, settle=True):
    """The result, whatever happens: a cell that breaks is a cell with a violation."""
    begun, cpu = time.monotonic(), os.times()
    result = {"name": cell.name, "does": cell.does, "holds": cell.holds, "aims": cell.aims, "seed": seed, "rate": rate, "violations": []}
    chance = random.Random(f"{seed}/{cell.name}")
    try:
        with make_rig(**cell.rig) as rig:
            try:
                rig.rate = rate
                rig.start()
                result |= run_under(rig, cell, chance, seconds, rate, settle)
            finally:
                result["logs"] = rig.keep_logs(cell.name) if result["violations"] or "rounds" not in result else None
    except Exception as e:  # whatever a rig can say: the other cells are run all the same
        result["violations"].append(f"{type(e).__name__}: {e}")
        result["trace"] = traceback.format_exc()
    wall, now = time.monotonic() - begun, os.times()
    result["seconds"] = round(wall, 1)
    result["rig_cpu_percent"] = round(100 * (now.user + now.system - cpu.user - cpu.system) / wall, 1)
    result["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    result["missed_aims"] = missed_aims(cell, result.get("figures", {}))
    return result
