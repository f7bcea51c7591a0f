"""docs/reliability-report.md: what was done to AX, and what was found."""

from itertools import groupby

import memory
from ax_world import ROOT
from measure import FIGURES, worst

DOC = ROOT / "docs/reliability-report.md"
MARK = "<!-- what follows is written by `make chaos` -->\n"


def number(value):
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def summary(result):
    """A line for people who watch."""
    if "rounds" not in result:
        return "broke off"
    figures = "  ".join(f"{name} {number(value)}{aim(result, name)}" for name, value in result["figures"].items())
    return f"{len(result['rounds'])} faults, {result['runs']} runs  {figures}{memory.summary(result)}"


def aim(result, name):
    most = result["aims"].get(name)
    return "" if most is None else f" (≤ {most})" if result["figures"].get(name, 0) <= most else f" (MISSED {most})"


def figures_of(result):
    figures = result.get("figures", {})
    return [number(figures[name]) + aim(result, name) if name in figures else "" for name in FIGURES]


def row(result):
    verdict = "nothing" if not result["violations"] else f"**{len(result['violations'])}**"
    return f"| `{result['name']}` | {len(result.get('rounds', []))} | {result.get('runs', '')} | {verdict} | {' | '.join(figures_of(result))} |"


def by_fault(result, all_cells):
    """A row for each fault of a cell that draws from several."""
    def name(this):
        return this["what"].split("; ")[0]
    aims = {cell.name: cell.aims for cell in all_cells}
    for fault, rounds in groupby(sorted(result["rounds"], key=name), name):
        rounds = list(rounds)
        these = {"figures": worst(rounds), "aims": aims[fault]}
        yield f"| `{fault}` | {len(rounds)} | {' | '.join(figures_of(these))} |"


def everything(result, all_cells):
    """The table of a cell that draws from all others."""
    calm = result["calm"]
    return [
        f"## Everything, on one cluster, at {result['rate']} fires/s", "",
        f"{len(result['rounds'])} faults in {result['seconds'] / 60:.0f} min, {result['runs']} runs, {result['fires']} fires of schedules, {result['lost']} attempts lost;"
        f" in the calm before, half of the fires began within {calm['p50_ms']} ms and all within {calm['max_ms']} ms.", "",
        *table_head("| fault | times |", "|---|---:|"), *by_fault(result, all_cells), ""]


def table_head(first, line):
    return [f"{first} {' | '.join(name.replace('_s', ', s') for name in FIGURES)} |", line + "---:|" * len(FIGURES)]


def missed(cells):
    """A row for each aim that was not kept."""
    rows = [f"| `{r['name']}` | {FIGURES[name]} | {number(value)} s | ≤ {most} s |"
            for r in cells for name, (value, most) in r["missed_aims"].items()]
    return ["## Aims that were missed", "", *(["| cell | | measured | aim |", "|---|---|---:|---:|", *rows] if rows else ["None."]), ""]


def write(told, all_cells):
    """The tables of what was measured now replace the old ones; what people wrote above the mark stays."""
    head = DOC.read_text().split(MARK)[0]
    where, cells = told["where"], told["cells"]
    lines = [
        f"<sub>{where['time']}, revision {where['revision']}; {where['cpus']} processors, kernel {where['kernel']}, load average before"
        f" {where['load_average']:.1f}; seed {told['seed']}, {told['rate']} fires/s, faults for {told['seconds']} s in each cell</sub>", "",
        *table_head("| cell | faults | runs | found wrong |", "|---|---:|---:|---|"), *map(row, cells), "",
        *missed(cells),
        *memory.section(cells),
        *[line for r in cells if r["name"].startswith("anything") and "rounds" in r for line in everything(r, all_cells)],
        "## What each cell does", "", "| cell | what is done | what must hold |", "|---|---|---|",
        *[f"| `{r['name']}` | {r['does']} | {r['holds']} |" for r in cells], "",
    ]
    if wrong := [r for r in cells if r["violations"]]:
        lines += ["## What was found wrong", "", *[f"- `{r['name']}`: {v.splitlines()[0][:300]}" for r in wrong for v in r["violations"]], ""]
    if told["skipped"]:
        lines += ["## What could not be run here", "", *[f"- `{s['name']}` ({s['does']}): {s['why']}" for s in told["skipped"]], ""]
    run = {r["name"] for r in cells + told["skipped"]}
    if left_out := [cell for cell in all_cells if cell.name not in run]:
        lines += ["## What was left out this time", "", *[f"- `{cell.name}`: {cell.does}" for cell in left_out], ""]
    DOC.write_text(head + MARK + "\n" + "\n".join(lines))
