# SPDX-License-Identifier: Apache-2.0
"""The watchdog of the service manager is fed by completed passes and by nothing else."""

import os
import signal
import socket
import tempfile
import time
from pathlib import Path

import host
from case import Case, main
from daemon import BUILD, Daemon

INTERVAL = 1.5  # seconds; the daemon makes three passes in it
FAILURES = "offcpud_pass_failures_total"


class ServiceManager:
    """The other end of NOTIFY_SOCKET."""

    def __init__(self, directory):
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(f"{directory}/notify")
        self.environment = {"NOTIFY_SOCKET": f"{directory}/notify",
                            "WATCHDOG_USEC": str(int(INTERVAL * 1_000_000))}

    def heard(self, seconds, until=None):
        """The assignments that arrive, in order: for so long, or up to the first `until`."""
        found, end = [], time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and until not in found:
            self._socket.settimeout(left)
            try:
                found += self._socket.recv(65536).decode().split("\n")
            except TimeoutError:
                break
        return found

    def close(self):
        self._socket.close()


class Watchdog(Case):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        directory = tempfile.TemporaryDirectory(prefix="offcpud-watchdog-")
        cls.addClassCleanup(directory.cleanup)
        cls.manager = ServiceManager(directory.name)
        cls.addClassCleanup(cls.manager.close)
        cls.failing = Path(directory.name) / "walks-fail"
        environment = {**cls.manager.environment,
                       "LD_PRELOAD": str(BUILD / "tests" / "integration" / "libfailing_walks.so"),
                       "OFFCPUD_TEST_FAILING_WALKS": str(cls.failing)}
        # As a service manager does, the process is told that it is the one that is watched.
        cls.daemon = Daemon.start(launcher=("sh", "-c", 'WATCHDOG_PID=$$ exec "$@"', "sh"),
                                  environment=environment)
        cls.addClassCleanup(cls.daemon.stop)

    def failures(self):
        return self.daemon.scrape().value(FAILURES, stage="read")

    def test_only_completed_passes_feed_it(self):
        said = self.manager.heard(5, until="READY=1")
        self.say("READY=1" in said, "after the start", "READY=1", said)
        said = self.manager.heard(2 * INTERVAL)
        self.expect_at_least("feedings in two intervals", 2, said.count("WATCHDOG=1"))

        before = self.failures()
        self.failing.touch()
        self.manager.heard(0.3)  # a pass may have been under way
        seen = []
        for _ in range(10):  # scrapes ask for passes, too
            self.daemon.scrape()
            seen += self.manager.heard(2 * INTERVAL / 10)
        failed = self.failures() - before
        self.expect_at_least("failed passes of the timer and of scrapes", 10, failed)
        os.kill(self.daemon.pid, signal.SIGHUP)
        said = self.manager.heard(5, until="READY=1")
        self.say("RELOADING=1" in said and "READY=1" in said,
                 "answers of the loop meanwhile", "RELOADING=1 and READY=1", said)
        self.expect_equal("feedings while every pass fails", 0, (seen + said).count("WATCHDOG=1"))

        self.failing.unlink()
        said = self.manager.heard(INTERVAL, until="WATCHDOG=1")
        self.say("WATCHDOG=1" in said, "once passes complete again", "WATCHDOG=1", said)


if __name__ == "__main__":
    main()
