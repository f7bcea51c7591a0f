"""Figures of several runs of a scenario, and how they are shown."""

from statistics import median


def summarise(runs):
    """{figure: {"median", "min", "max", "runs"}} of a list of {figure: number}."""
    summary = {}
    for name in runs[0]:
        values = [run[name] for run in runs if name in run]
        summary[name] = {"median": median(values), "min": min(values), "max": max(values), "runs": values}
    return summary


def number(value):
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.0f}" if value == int(value) else f"{value:.3g}"


def met(value, target):
    """Whether a figure is where "≤ 10" or "≥ 10" wants it; None without a target."""
    if not target:
        return None
    sign, limit = target.split()
    return value <= float(limit) if sign == "≤" else value >= float(limit)


def line(name, figure, target):
    reached = {True: "reached", False: "missed", None: ""}[met(figure["median"], target)]
    spread = f"{number(figure['min'])} – {number(figure['max'])}" if len(figure["runs"]) > 1 else ""
    return name, number(figure["median"]), spread, target or "", reached


def text(scenario, summary, seconds):
    rows = [line(name, figure, scenario.targets.get(name)) for name, figure in summary.items()]
    goal = f" ({scenario.goal})" if scenario.goal else ""
    out = [f"{scenario.name}: {scenario.title}{goal}; {seconds} s"]
    out += [f"  {name:36} {value:>12}  {spread:>20}  {target:>12} {reached}".rstrip()
            for name, value, spread, target, reached in rows]
    return "\n".join(out)
