# SPDX-License-Identifier: Apache-2.0
"""The daemon stops within 2 s, with nothing left attached, whatever it is doing."""

import os
import signal
import socket
import tempfile
import threading
import time
from pathlib import Path

from case import Case, main, slow
from daemon import Daemon
from stopped_thread import StoppedThread

WITHIN = 2.0  # seconds


def attached(pid):
    """Links of BPF programs to tracepoints that a process, or what is left of it, holds."""
    links = 0
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            texts = [info.read_text() for info in (task / "fdinfo").iterdir()]
        except OSError:
            continue  # that thread is gone
        links = max(links, sum("link_type:" in text and "iter" not in text for text in texts))
    return links


def states(pid):
    """States of the threads of a process."""
    return [stat.read_text().rpartition(")")[2].split()[0]
            for stat in Path(f"/proc/{pid}/task").glob("*/stat")]


class StopCase(Case):
    settings = {}  # each test starts a daemon of its own
    patience = 10

    def start_daemon(self, **settings):
        self.daemon.stop()
        type(self).daemon = Daemon.start(**{"snapshots.interval": "1s", **settings})
        self.addCleanup(self.daemon.stop)
        return self.daemon

    def kept(self):
        return self.daemon.get_json("/api/v1/snapshots")["snapshots"]


class Stopping(StopCase):
    def test_of_what_does_not_hang_nothing_is_said(self):
        """Every thread has ended and let go of what others wait for: the log ends with the request to stop."""
        daemon = self.start_daemon()
        self.wait_until("a snapshot is kept", self.kept)
        os.kill(daemon.pid, signal.SIGTERM)
        self.wait_until("it has ended", lambda: daemon.poll() is not None)
        said = [line for line in daemon.log() if line.strip()]
        self.say(said[-1].endswith(" stopping"), "the last line", "... stopping", said[-1])

    @slow
    def test_a_disk_that_hangs(self):
        """It goes on measuring, and stops: nothing is attached and nobody listens, although the thread
        that writes cannot be ended by anybody before the disk answers."""
        disk = self.new_disk()
        daemon = self.start_daemon(state_dir=disk.path / "state")
        self.wait_until("a snapshot is kept", self.kept)
        self.expect_at_least("attached", 4, attached(daemon.pid))
        disk.freeze()
        self.wait_until("a thread waits for the disk", lambda: "D" in states(daemon.pid))
        begin = time.monotonic()
        passes = daemon.get_json("/api/v1/status")["passes"]
        daemon.scrape()
        self.expect_at_least("passes while the disk hangs", passes + 1,
                             daemon.get_json("/api/v1/status")["passes"])
        os.kill(daemon.pid, signal.SIGHUP)  # nor does a reload wait for it
        self.wait_until("it reloads", lambda: any("reloaded" in line for line in daemon.log()))
        self.expect_at_most("seconds for all of this", 5, time.monotonic() - begin)

        begin = time.monotonic()
        os.kill(daemon.pid, signal.SIGTERM)
        self.wait_until("all its other threads end", lambda: set(states(daemon.pid)) <= {"D", "Z"})
        self.expect_at_most("seconds until it has stopped", WITHIN, time.monotonic() - begin)
        self.expect_equal("attached", 0, attached(daemon.pid))
        with socket.socket() as client:
            self.say(client.connect_ex(("127.0.0.1", daemon.port)) != 0, "connections", "refused", "")
        disk.thaw()
        self.wait_until("it is gone once the disk answers", lambda: daemon.poll() is not None)
        self.expect_equal("exit code", 0, daemon.poll())

        successor = self.start_daemon(state_dir=disk.path / "state")
        files = os.listdir(disk.path / "state" / "snapshots")
        self.say(not any(".tmp" in name for name in files), "temporary files", "none", files)
        self.wait_until("the next one writes again", lambda: self.metric("written_total") > 0)
        listing = successor.get_json("/api/v1/snapshots?comm=none-of-that-name")
        self.expect_equal("unreadable snapshots", 0, listing["unreadable"])

    @slow
    def test_a_main_thread_that_hangs(self):
        """It is the one that takes the signal; the time to stop runs all the same."""
        daemon = self.start_daemon()
        stop = threading.Event()

        def ask_for_passes():
            while not stop.is_set():
                try:
                    daemon.scrape()
                except OSError:
                    pass

        asker = threading.Thread(target=ask_for_passes)
        asker.start()
        self.addCleanup(asker.join)
        self.addCleanup(stop.set)
        try:
            thread = StoppedThread(daemon.pid, "offcpud")
        except OSError as error:
            self.skipTest(f"no thread can be stopped here: {error}")
        self.addCleanup(self.let_go, thread)
        begin = time.monotonic()
        os.kill(daemon.pid, signal.SIGTERM)
        self.wait_until("it ends", lambda: daemon.poll() is not None)
        self.expect_at_most("seconds until it has stopped", WITHIN, time.monotonic() - begin)
        self.expect_equal("exit code", 0, daemon.poll())

    @staticmethod
    def let_go(thread):
        try:
            thread.let_go()
        except OSError:
            pass  # it has ended

    def metric(self, name):
        return self.daemon.scrape().value(f"offcpud_snapshots_{name}")

    @slow
    def test_a_sum_of_a_long_time(self):
        """Twenty thousand files, which take much longer to add up."""
        with tempfile.TemporaryDirectory(prefix="offcpud-many-") as folder:
            many = {"state_dir": folder, "snapshots.keep_bytes": "1TiB", "snapshots.keep_for": "90d"}
            daemon = self.start_daemon(**many)
            self.wait_until("a snapshot is kept", self.kept)
            daemon.stop()
            snapshots = Path(folder) / "snapshots"
            name = sorted(os.listdir(snapshots))[0]
            head, _, _ = name.partition("-0")
            for sequence in range(1000, 21000):
                os.link(snapshots / name, snapshots / f"{head}-{sequence:020}.pb.gz")

            daemon = self.start_daemon(**many, **{"snapshots.interval": "1h"})
            answers = []

            def ask():
                try:
                    daemon.get("/api/v1/snapshots/merge?from=0&format=folded")
                    answers.append("whole")
                except OSError as error:
                    answers.append(str(error))

            asker = threading.Thread(target=ask)
            asker.start()
            time.sleep(0.5)
            begin = time.monotonic()
            os.kill(daemon.pid, signal.SIGTERM)
            self.wait_until("it ends", lambda: daemon.poll() is not None)
            self.expect_at_most("seconds until it has stopped", WITHIN, time.monotonic() - begin)
            self.expect_equal("exit code", 0, daemon.poll())
            asker.join(10)
            self.say(answers and answers[0] != "whole", "the answer", "given up", answers)
            partial = [name for name in os.listdir(snapshots) if "partial" in name]
            self.expect_equal("snapshots that the stop cut short", 2, len(partial))


if __name__ == "__main__":
    main()
