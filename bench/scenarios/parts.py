"""Parts by themselves, without a server: schedules (P9) and the store."""

import json
import subprocess
from pathlib import Path

from axbench.scenario import Scenario

LIST = Path(__file__).resolve().parents[2] / "tests/data/cron/bench-list.tsv"


def lines(build, program, *args):
    out = subprocess.run([build.path(program), *map(str, args)], check=True, capture_output=True, text=True).stdout
    return [json.loads(line) for line in out.splitlines() if line.startswith("{")]


def cron(build, quick):
    return {line["bench"].replace(" ", "_") + ("_" + line["zone"].split("/")[-1] if "zone" in line else "") + "_per_cpu_s":
            line["per_cpu_s"] for line in lines(build, "bench_cron", LIST)}


def store(build, quick):
    return {f"{line['shape'].split()[0]}_{line['n']}_cpu_us": line["cpu_us"]
            for line in lines(build, "bench_store", 0.3 if quick else 3) if line["store"] == "sqlite"}


def failures(build, quick):
    return {line["what"].replace(",", "").replace(" ", "_") + "_cpu_us": line["cpu_us"]
            for line in lines(build, "bench_failures", 2000 if quick else 40000)}


def shards(build, quick):
    return {f"{line['what'].replace(' ', '_')}_{line['shards']}_{unit}_ms": line[f"{unit}_ms"]
            for line in lines(build, "bench_shards", 3 if quick else 50) for unit in ("cpu", "wall")}


SCENARIOS = [
    Scenario("cron", "next fires of 100 expressions, per second of CPU", cron, {},
             {"cron_next_UTC_per_cpu_s": "≥ 10000000", "cron_next_Berlin_per_cpu_s": "≥ 5000000"}, "P9", quick=1),
    Scenario("store", "one run's life in the embedded store alone: CPU by runs in a transaction, transactions in a batch",
             store, quick=3),
    Scenario("failures", "what a failed run costs more than one that went well, and its message", failures, quick=2),
    Scenario("shards", "a fire that is split into shards, one transaction, and the ends of all of them", shards, quick=1),
]
