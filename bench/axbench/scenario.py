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
    quick: bool = False  # part of --quick
    times: int = 3  # how often it is measured
