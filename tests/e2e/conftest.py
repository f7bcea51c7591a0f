import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "lib"))

from ax_world import World, tagged  # noqa: E402


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes minutes of waiting; part of the CI set, beside the others")
    config.addinivalue_line("markers", "soak: for nights; run only with -m soak")


def pytest_collection_modifyitems(config, items):
    if config.option.markexpr or os.environ.get("AX_SOAK"):
        return
    soaks = [item for item in items if item.get_closest_marker("soak")]
    config.hook.pytest_deselected(items=soaks)
    items[:] = [item for item in items if item not in soaks]


@pytest.fixture
def world(request):
    with World() as world:
        request.node.ax_world = world
        yield world


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    """A failed test shows the ends of its programs' logs."""
    report = (yield).get_result()
    world = getattr(item, "ax_world", None)
    if report.when == "call" and report.failed and world:
        for name, text in world.logs():
            report.sections.append((f"log of {name}", text[-5000:]))


@pytest.fixture(scope="session", autouse=True)
def nothing_left_behind():
    yield
    left = {world.tag: tagged(world.tag) for world in World.made}
    assert not any(left.values()), f"processes are left: {left}"
    assert not [world.folder for world in World.made if world.folder.exists()]
