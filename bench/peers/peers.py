"""The peers: what each is, what it cannot do, and how its driver is started."""

from functools import partial

import fetch
from ax import Ax, AxOnMariaDB
from peer import Peer
from services import Beanstalkd, Database, DurableRedis, Gearmand, PostgreSQL

PYTHON = "/usr/bin/python3"  # the distribution's, as the packages are
MINUTES = "its schedules have whole minutes"
ONE_PROCESS = {"kill-scheduler": "the process that schedules also executes"}
ONE_QUEUE = {"kill": "one server, no cluster", "kill-scheduler": "one server, no cluster"}
NO_SCHEDULES = "it has no schedules"
NOTHING = "nothing: each commit is flushed"
A_SECOND = "up to 1 s: the append-only file is flushed every second"


def node(driver):
    fetch.node_modules()
    return ["node", fetch.HERE / "node" / driver]


def python(driver, *packages):
    for package in packages:
        fetch.unpack(package)
    return [PYTHON, fetch.HERE / "python" / driver]


def beanstalkd():
    fetch.program("beanstalkd", "beanstalkd")
    return python("beanstalkd.py")


def gearmand():
    fetch.program("gearmand", "gearman-job-server")
    return python("gearmand.py")


def node_library(package):
    return partial(lambda: f"{package} {fetch.node_version(package)}")


def all_peers(build):
    return [
        Ax(build),
        AxOnMariaDB(build),
        Peer("quartz", "Quartz, clustered", NOTHING, "nothing",
             lambda: ["java", "-Xmx1g", "-cp", fetch.quartz(), "QuartzPeer"], Database, ONE_PROCESS,
             most={"delayed": 1000}, schedules_per_s=5000, enqueues_per_s=100, watch_s=45,
             peer_version=lambda: "Quartz " + fetch.jar("libquartz2-java", "quartz2.jar").resolve().stem.split("-")[1]),
        Peer("bullmq", "BullMQ", A_SECOND, "the last 1,000, as set here", partial(node, "bullmq.js"), DurableRedis, ONE_PROCESS,
             schedules_per_s=1200, enqueues_per_s=8000, processes=2, watch_s=65, peer_version=node_library("bullmq")),
        Peer("graphile-worker", "graphile-worker", NOTHING, "nothing",
             partial(node, "graphile.js"), PostgreSQL,
             {"recurring": MINUTES, "recurring-light": MINUTES, "kill": "what a dead worker had is locked for 4 hours"}
             | ONE_PROCESS,
             instants=False, enqueues_per_s=20_000, peer_version=node_library("graphile-worker")),
        Peer("pg-boss", "pg-boss", NOTHING, "a row of each", partial(node, "pgboss.js"), PostgreSQL,
             {"recurring": MINUTES, "recurring-light": MINUTES, "kill": "what a dead worker had expires after 15 minutes"}
             | ONE_PROCESS,
             instants=False, enqueues_per_s=12_000, peer_version=node_library("pg-boss")),
        Peer("beanstalkd", "beanstalkd", "up to 50 ms: the binlog is flushed every 50 ms", "nothing", beanstalkd, Beanstalkd,
             ONE_QUEUE, schedules_per_s=10_000, instants=False, enqueues_per_s=20_000),
        Peer("gearmand", "gearmand", "everything: memory alone", "nothing", gearmand, Gearmand,
             {"recurring": NO_SCHEDULES, "recurring-light": NO_SCHEDULES, "start": "it forgets all when it ends"} | ONE_QUEUE,
             instants=False, enqueues_per_s=20_000),
        Peer("celery", "Celery", A_SECOND, "nothing, as set here",
             partial(python, "celery_peer.py", "python3-celery", "python3-redis"), DurableRedis,
             {"recurring": "not tried: beat sends one by one; see the lighter load",
              "kill": "what a dead worker had comes back after an hour",
              "kill-scheduler": "it has one beat"},
             most={"burst": 2000, "delayed": 2000}, first_s=12, instants=False, enqueues_per_s=800,
             peer_version=lambda: "Celery " + fetch.output([PYTHON, "-c", "import celery; print(celery.__version__)"]).strip()),
    ]
