# SPDX-License-Identifier: Apache-2.0
"""Snapshots end in time, whatever the daemon has to learn of meanwhile."""

import os
import subprocess
import sys
import tempfile
import time
from datetime import datetime

import large_objects
from case import Case, main
from daemon import Daemon

INTERVAL = 3
COPIES = int(os.environ.get("OFFCPUD_LARGE_OBJECTS", "300"))  # 12 ms each on a fast CPU


def seconds(snapshot):
    times = [datetime.fromisoformat(snapshot[name].replace("Z", "+00:00")) for name in ("begin", "end")]
    return (times[1] - times[0]).total_seconds()


class WindowLength(Case):
    settings = {}
    patience = 180

    def test_many_large_objects_at_once(self):
        library = large_objects.large_library()
        if library is None:
            self.skipTest("no large library is installed")
        folder = tempfile.TemporaryDirectory(prefix="offcpud-large-")
        self.addCleanup(folder.cleanup)
        paths = large_objects.make(library, folder.name, COPIES)
        self.daemon.stop()
        type(self).daemon = Daemon.start(**{"snapshots.interval": f"{INTERVAL}s"})
        self.addCleanup(self.daemon.stop)
        self.wait_until("a snapshot is kept", lambda: len(self.kept()) > 1)

        used = self.stacks_thread_seconds()
        begin = time.monotonic()
        mapper = subprocess.Popen([sys.executable, large_objects.__file__, *paths], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE)
        self.addCleanup(mapper.wait)
        self.addCleanup(mapper.stdin.close)
        mapper.stdout.readline()
        self.addCleanup(mapper.stdout.close)
        # Less would show nothing: all of them within one snapshot.
        self.wait_until("it takes seconds of CPU",
                        lambda: self.stacks_thread_seconds() - used > 2 * INTERVAL / 3)
        self.wait_until("the daemon has learned of them", self.is_quiet)
        count = len(self.kept())
        self.wait_until("it goes on", lambda: len(self.kept()) > count)
        lengths = [seconds(snapshot) for snapshot in self.kept()]
        self.expect_at_least("snapshots meanwhile", (time.monotonic() - begin) / (INTERVAL + 1) - 1,
                             len(lengths))
        self.expect_at_most("seconds of the longest snapshot", INTERVAL + 1, max(lengths))
        self.expect_at_least("seconds of the shortest one", INTERVAL - 1, min(lengths))

    def kept(self):
        return self.daemon.get_json("/api/v1/snapshots")["snapshots"]

    def stacks_thread_seconds(self):
        for task in os.listdir(f"/proc/{self.daemon.pid}/task"):
            with open(f"/proc/{self.daemon.pid}/task/{task}/comm") as comm:
                if comm.read().strip() != "offcpud-stacks":
                    continue
            with open(f"/proc/{self.daemon.pid}/task/{task}/schedstat") as stat:
                return int(stat.read().split()[0]) / 1e9
        return 0

    def is_quiet(self):
        before = self.stacks_thread_seconds()
        time.sleep(1)
        return self.stacks_thread_seconds() - before < 0.1


if __name__ == "__main__":
    main()
