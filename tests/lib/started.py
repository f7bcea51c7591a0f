"""A server that a test started for itself, in a temporary folder, and ends by its own process."""

import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Started:
    """Who inherits says how it is served, serve() -> a command, and when it is well, answers() -> bool; and, if that
    is needed, what to do before its first start, install(), and options of its process, popen()."""

    start_s = 60

    def __init__(self, prefix="ax-started-"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
        self.log = self.folder / "log"
        self.process, self.port = None, 0  # None = it does not run
        try:
            self.install()
            self.start()
        except BaseException:
            self.stop()
            raise

    def install(self):
        pass

    def popen(self):
        return {}

    def start(self):
        """On the port it had before, if it had one."""
        for attempt in range(3):
            self.port = self.port or free_port()
            # pdeathsig: it dies with whoever started it, even when that one is killed.
            self.process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, self.serve())], stdin=subprocess.DEVNULL,
                stdout=self.log.open("ab"), stderr=subprocess.STDOUT, start_new_session=True, **self.popen())
            if self.wait_until_it_answers():
                return
            assert attempt < 2, self.log.read_text()
            self.port = 0  # another one took it in between

    def wait_until_it_answers(self):
        """False when it ended instead."""
        end = time.monotonic() + self.start_s
        while self.process.poll() is None:
            if self.answers():
                return True
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.02)
        return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def halt(self, how=signal.SIGTERM):
        """Ends the process; its data stay."""
        if self.process is not None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(how)
            self.process.wait()
            self.process = None

    def fell(self):
        """Has it ended by itself?"""
        return self.process is not None and self.process.poll() is not None

    def kill(self):
        self.halt(signal.SIGKILL)

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """Ends it for good, with its data."""
        self.halt(signal.SIGKILL)
        shutil.rmtree(self.folder, ignore_errors=True)
