"""The tables: what was measured, as Markdown, between the marks of docs/benchmarks.md and README.md."""

from pathlib import Path

from axbench.place import Failed
from axbench.report import number, summarise

from scenarios import DRAIN_S

SOURCE = Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- peers: what follows is written by `make bench PEERS=1 DOCS=1` -->\n", "<!-- peers: end -->\n"
NONE = "–"
KEPT_UP = .95  # of the fires that were due
QUIET = 1  # load average before the run

# figure -> heading
COLUMNS = {
    "enqueued_per_s": "enqueued/s", "drained_per_s": "drained/s", "fires_per_s": "fires/s", "late_p50_ms": "late p50 ms",
    "late_p99_ms": "p99", "late_max_ms": "max", "last_start_ms": "last begins after ms", "first_start_ms": "first run after ms",
    "lost": "lost", "longest_late_ms": "longest lateness ms", "normal_after_ms": "normal after ms",
    "cpu_s_per_10k": "CPU s per 10,000", "rss_mb": "its memory MB", "store_rss_mb": "its store's",
    "missing": "missing", "doubled": "doubled",
}


def row(*cells):
    return "| " + " | ".join(cells) + " |"


def spread(figure):
    if len(figure["runs"]) == 1:
        return number(figure["median"])
    return f"{number(figure['median'])} ({number(figure['min'])} – {number(figure['max'])})"


def one_line(text):
    return " ".join(text.replace("|", "/").split())[:200]


def scenario_table(scenario, peers):
    cells = scenario["cells"]
    measured = {name: summarise(cell["runs"]) for name, cell in cells.items() if cell.get("runs")}
    columns = [name for name in COLUMNS if any(name in figures for figures in measured.values())]
    most = max((cells[name]["n"] for name in measured), default=0)
    lines = [row("", *(COLUMNS[name] for name in columns)), "|---|" + "---:|" * len(columns)]
    beside = []  # the table: who is not in it, or not wholly
    for peer in peers:
        cell, title = cells.get(peer["name"]), peer["title"]
        if cell is None:
            continue
        if figures := measured.get(peer["name"]):
            fewer = f" ({cell['n']:,})" if cell["n"] < most else ""
            lines.append(row(title + fewer, *(spread(figures[name]) if name in figures else NONE for name in columns)))
        if "cannot" in cell:
            beside.append(f"- {title}: {cell['cannot']}.")
        elif cell["failed"]:
            beside.append(f"- {title}: {len(cell['failed'])} of {len(cell['failed']) + len(cell['runs'])} failed:"
                          f" {one_line(cell['failed'][0])}")
    title = scenario["title"].format(n=f"{most:,}")
    times = f"{scenario['times']} times" if scenario["times"] > 1 else "once"
    return "\n".join([f"**{scenario['name']}**: {title} ({times}).", "", *(lines if measured else []), "", *beside]).rstrip() + "\n"


def where(result):
    """When, where, and what else the machine did."""
    m = result["machine"]
    shared = ("**Something else shared this machine: these figures are upper bounds of lateness and lower ones of rates.**\n"
              if m["load_average"] > QUIET else "")
    return shared + (f"<sub>{m['cpu']}, {m['memory_gb']} GB, kernel {m['kernel']}; fdatasync {m['fdatasync_us']} µs; load average"
            f" {m['load_average']:.1f} before, {m['load_average_after']:.1f} after; revision {m['revision']}, {m['time']};"
            f" scale {result['scale']:g}, {result['seconds'] // 60} min {result['seconds'] % 60} s</sub>\n")


def page(result):
    peers = result["peers"]
    lines = [row("", "versions", "a power failure costs", "what it keeps of a run that is done"), "|---|---|---|---|"]
    lines += [row(p["title"], "left out: " + one_line(p["missing"]) if p["missing"] else p["versions"], p["loses"], p["keeps"])
              for p in peers]
    return "\n".join([where(result), *lines, "", *(scenario_table(s, peers) for s in result["scenarios"])])


# ---- the small one


def brief(result, scenario, peer, show):
    """show(figures, n) of the medians; what cannot be shown is a dash, and told in docs/benchmarks.md."""
    cell = next(s["cells"] for s in result["scenarios"] if s["name"] == scenario).get(peer["name"], {})
    if not cell.get("runs"):
        return NONE
    return show({name: figure["median"] for name, figure in summarise(cell["runs"]).items()}, cell["n"])


def show_recurring(f, n):
    if f["fires_per_s"] < KEPT_UP * n / 10:
        return f"{number(f['fires_per_s'])}/s, falls behind"
    return f"{number(f['fires_per_s'])}/s" + (f", p99 {number(f['late_p99_ms'])} ms" if "late_p99_ms" in f else "")


def show_burst(f, n):
    return f"{n - f['missing']:,.0f} of {n:,} in {DRAIN_S} s" if f["missing"] else f"{f['last_start_ms'] / 1000:.2f} s"


def show_kill(f, _):
    return f"{number(f['lost'])} / {number(f['doubled'])} / {f['longest_late_ms'] / 1000:.1f} s"


def small(result):
    sizes = {s["name"]: max([c["n"] for c in s["cells"].values() if "n" in c], default=0) for s in result["scenarios"]}

    def fewer(n, scenario):
        return f" ({n:,})" if n < sizes[scenario] else ""

    shown = [
        (f"{sizes['recurring']:,} tasks every 10 s", "recurring", show_recurring),
        (f"CPU s per 10,000 fires at {number(sizes['recurring-light'] / 10)}/s", "recurring-light",
         lambda f, _: number(f["cpu_s_per_10k"])),
        (f"{sizes['burst']:,} due at one second: the last begins after", "burst", lambda f, n: show_burst(f, n) + fewer(n, "burst")),
        ("one-shots enqueued/s", "delayed", lambda f, _: number(f["enqueued_per_s"])),
        (f"drained/s of {sizes['delayed']:,}", "delayed", lambda f, n: number(f["drained_per_s"]) + fewer(n, "delayed")),
        ("kill -9: lost / doubled / latest", "kill", show_kill),
        ("first run after start", "start", lambda f, _: f"{number(f['first_start_ms'])} ms"),
    ]
    lines = [row("", *(heading for heading, *_ in shown), "a power failure costs"), "|---|" + "---:|" * len(shown) + "---|"]
    for peer in result["peers"]:
        cells = [NONE] * len(shown) if peer["missing"] else [brief(result, name, peer, show) for _, name, show in shown]
        lines.append(row(peer["title"], *cells, "left out here" if peer["missing"] else peer["loses"]))
    return where(result) + "\n" + "\n".join(lines) + "\n"


def write(result):
    for name, text in (("docs/benchmarks.md", page(result)), ("README.md", small(result))):
        path = SOURCE / name
        old = path.read_text()
        if old.count(BEGIN) != 1 or old.count(END) != 1:
            raise Failed(f"{name} lacks the marks of the peers' table")
        before, rest = old.split(BEGIN)
        path.write_text(before + BEGIN + text + END + rest.split(END)[1])
