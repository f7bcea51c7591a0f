"""The measured part of docs/benchmarks.md: a table of targets, and one table for each scenario.

What was measured now replaces the old table of its scenario; the others stay."""

from pathlib import Path

from axbench import report

PAGE = Path(__file__).resolve().parents[2] / "docs/benchmarks.md"
MARK = "<!-- measured: what follows is written by `make bench DOCS=1` -->\n"


def write(machine, results, scenarios):
    """`scenarios`: all that there are, in their order."""
    text, measured = PAGE.read_text().split(MARK)
    tables = {part.split("\n", 1)[0]: part.rstrip() for part in measured.split("\n### ")[1:]}
    tables |= {s.name: table(s, machine, summary, seconds) for s, summary, seconds in results}
    there = [s for s in scenarios if s.name in tables]
    PAGE.write_text(text + MARK + targets(there, tables) + "".join(f"\n### {tables[s.name]}\n" for s in there))


def table(scenario, machine, summary, seconds):
    where = (f"{machine['cpu']}, {machine['memory_gb']} GB, kernel {machine['kernel']}, {machine['compiler']}, SQLite"
             f" {machine['sqlite']}, {machine['mariadb']}, {machine['redis']}; fdatasync {machine['fdatasync_us']} µs, load average"
             f" {machine['load_average']:.1f}; revision {machine['revision']}, {machine['time']}; {seconds} s")
    rows = ["| " + " | ".join(report.line(name, figure, scenario.targets.get(name))) + " |" for name, figure in summary.items()]
    return "\n".join([scenario.name, "", f"{scenario.title}.", "", f"<sub>{where}</sub>", "",
                      "| figure | median | min – max | target | |", "|---|---:|---:|---:|---|", *rows])


def targets(scenarios, tables):
    """Every figure that has a target, as its table has it."""
    rows = []
    for s in sorted((s for s in scenarios if s.goal), key=lambda s: int(s.goal[1:])):
        for line in tables[s.name].splitlines():
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if len(cells) == 5 and cells[4] in ("reached", "missed"):
                name, value, spread, target, reached = cells
                rows.append(f"| {s.goal} | [{s.name}](#{s.name}) | {name} | {target} | {value} | {spread} | {reached} |")
    return "\n".join(["\n| | scenario | figure | target | median | min – max | |", "|---|---|---|---:|---:|---:|---|", *rows]) + "\n"
