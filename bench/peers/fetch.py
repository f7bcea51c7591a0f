"""What peers need and the machine lacks: packages of the distribution are unpacked into build/peers, not installed, so that
no service starts, nobody must be root, and `make clean` removes them. npm's packages go there too."""

import os
import re
import shutil
import subprocess
from pathlib import Path

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parents[1] / "build/peers"
ROOT = FOLDER / "root"
NODE = FOLDER / "node"
LIMIT_S = 300


class Missing(Exception):
    """Why a peer cannot be had on this machine."""


def output(command, **how):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S,
                          env=environment(), **how)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip().splitlines()
        raise Missing(f"{Path(command[0]).name} {command[1]}: {said[-1] if said else done.returncode}")
    return done.stdout + done.stderr


def environment(**more):
    """In which unpacked programs find each other and their libraries."""
    paths = [ROOT / "usr/sbin", ROOT / "usr/bin", os.environ["PATH"], "/usr/sbin"]
    libraries = [ROOT / "usr/lib" / f"{os.uname().machine}-linux-gnu"]
    return os.environ | {"PATH": ":".join(map(str, paths)), "LD_LIBRARY_PATH": ":".join(map(str, libraries)),
                         "PYTHONPATH": str(ROOT / "usr/lib/python3/dist-packages"), "NODE_PATH": str(NODE / "node_modules"),
                         "PYTHONDONTWRITEBYTECODE": "1"} | more


def unpack(package):
    """That package and what it depends on, as far as neither the machine nor an earlier call has them."""
    marks = FOLDER / "unpacked"
    if (marks / package).exists():
        return
    if not shutil.which("apt-get"):
        raise Missing("this machine has no apt-get")
    wanted = re.findall(r"^'\S+' (\S+?)_", output(["apt-get", "install", "--print-uris", "-qq", "-y",
                                                   "--no-install-recommends", package]), re.M)
    debs = FOLDER / "debs"
    debs.mkdir(parents=True, exist_ok=True)
    if wanted:
        output(["apt-get", "download", "-qq", *wanted], cwd=debs)
    for deb in debs.glob("*.deb"):
        output(["dpkg-deb", "-x", deb, ROOT])
        deb.unlink()
    marks.mkdir(exist_ok=True)
    (marks / package).touch()


def program(name, package):
    """Sees to it that this program can be started."""
    if not shutil.which(name, path=environment()["PATH"]):
        unpack(package)


def find_postgres():
    """The folder of its programs, the newest one's."""
    if not (found := sorted([*Path("/usr/lib/postgresql").glob("*/bin"), *(ROOT / "usr/lib/postgresql").glob("*/bin")])):
        unpack("postgresql")
        found = sorted((ROOT / "usr/lib/postgresql").glob("*/bin"))
    return found[-1]


def jar(package, name):
    unpack(package)
    for root in (ROOT, Path("/")):
        if (path := root / "usr/share/java" / name).exists():
            return path
    raise Missing(f"{package} has no {name}")


def node_modules():
    """As bench/peers/node/package-lock.json says."""
    version = output(["node", "--version"]) if shutil.which("node") else "v0"
    if int(version[1:].split(".")[0]) < 18:
        raise Missing(f"Node.js 18 or newer is needed, with npm; there is {version.strip()}")
    lock = (HERE / "node/package-lock.json").read_text()
    done = NODE / "package-lock.json"
    if done.exists() and done.read_text() == lock:
        return
    shutil.rmtree(NODE, ignore_errors=True)
    NODE.mkdir(parents=True)
    for name in ("package.json", ".npmrc"):
        shutil.copy(HERE / "node" / name, NODE)
    (NODE / "package-lock.json.new").write_text(lock)
    (NODE / "package-lock.json.new").rename(done)
    try:
        output(["npm", "ci", "--ignore-scripts"], cwd=NODE)
    except BaseException:
        done.unlink()
        raise


def node_version(package):
    return re.search(r'"version": "(.*)"', (NODE / "node_modules" / package / "package.json").read_text())[1]


def quartz():
    """The class path of the compiled driver."""
    if not shutil.which("javac"):
        raise Missing("no JDK: there is no javac")
    jars = [jar("libquartz2-java", "quartz2.jar"), jar("libmariadb-java", "mariadb-java-client.jar"),
            jar("libhikaricp-java", "HikariCP.jar"), jar("libslf4j-java", "slf4j-api.jar"), jar("libslf4j-java", "slf4j-nop.jar")]
    classes = FOLDER / "quartz"
    path = ":".join(map(str, [*jars, classes]))
    output(["javac", "-cp", path, "-d", classes, HERE / "quartz/QuartzPeer.java"])
    return path
