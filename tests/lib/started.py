"""A server that a test started for itself, in a temporary folder, and ends by its own process."""

import shutil
import signal


class Started:
    """`folder` and `process` (None = it does not run) are set by who inherits."""

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
