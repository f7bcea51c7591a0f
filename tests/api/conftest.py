import itertools
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "lib"))

from ax_server import Server, Worker  # noqa: E402

counter = itertools.count()


def pytest_configure(config):
    config.addinivalue_line("markers", "embedded: about the file of the embedded store; not run over MariaDB")


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    """One server for the tests that get along with each other: they use names of their own."""
    server = Server(tmp_path_factory.mktemp("server"))
    server.admin_session = server.set_up()
    server.tokens = {}
    for role in ("viewer", "operator", "editor", "admin"):
        answer = server.admin_session.post("/api/v1/tokens", {"name": f"the-{role}", "role": role}).ok(201)
        server.tokens[role] = answer["token"]
    answer = server.admin_session.post("/api/v1/tokens", {"name": "the-worker", "worker_groups": ["default"]}).ok(201)
    server.tokens["worker"] = answer["token"]
    yield server
    server.stop()


@pytest.fixture
def admin(server):
    return server.client(server.tokens["admin"])


@pytest.fixture
def start_server(tmp_path):
    """Starts servers that end with the test."""
    started = []

    def start(*options, **more):
        server = Server(tmp_path / f"s{len(started)}", *options, **more)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def unique():
    return f"t{next(counter)}"


@pytest.fixture
def group(admin, unique):
    """A group of the test's own, and a worker token for it."""
    admin.post("/api/v1/groups", {"group_key": unique}).ok(201)
    return unique


@pytest.fixture
def worker(server, admin, group):
    token = admin.post("/api/v1/tokens", {"name": group, "worker_groups": [group]}).ok(201)["token"]
    worker = Worker(server.client(token), name=f"w-{group}", group=group)
    worker.register()
    return worker


@pytest.fixture
def make_task(admin, group):
    def make(**fields):
        body = {"task_name": f"task-{next(counter)}", "group_key": group, "task_type": "delay", "executor_key": "test",
                **fields}
        return admin.post("/api/v1/tasks", body).ok(201)

    return make
