"""A scenario: one function that starts what it needs, measures once, and returns named figures."""

from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Scenario:
    name: str
    title: str
    run: Callable  # run(build, quick, **args) -> {"name_unit": number}
    args: dict = field(default_factory=dict)
    targets: dict = field(default_factory=dict)  # figure -> "≤ 10"
    goal: str = ""  # the row of docs/benchmarks.md that its targets belong to: "P1"
    quick: int = 0  # part of --quick, for about so many seconds
    times: int = 3  # how often it is measured


def on_both(name, title, run, args, targets=None, goal="", mr_targets=None, quick=(0, 0), **more):
    """The scenario over the embedded store, and over MariaDB and Redis; `quick` of the one and of the other."""
    mr_targets = targets if mr_targets is None else mr_targets
    return [Scenario(name, f"{title}; embedded store", run, {"on": "E", **args}, targets or {}, goal, quick[0], **more),
            Scenario(f"{name}-mr", f"{title}; MariaDB + Redis", run, {"on": "MR", **args}, mr_targets or {}, goal, quick[1],
                     **more)]
