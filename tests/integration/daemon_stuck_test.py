# SPDX-License-Identifier: Apache-2.0
"""A thread of the daemon that hangs is in its log, its status, its metrics and /-/ready, and when nothing
else helps the watchdog is not fed."""

import json
import os
import tempfile
import time
import unittest
from urllib.error import HTTPError

from case import Case, main
from daemon import BUILD, Daemon
from stopped_thread import StoppedThread
from watchdog_test import ServiceManager

# As in the daemon; docs/semantics.md has them, too.
LIMIT, WRITER_LIMIT, HOPELESS = 30, 60, 300


class StuckCase(Case):
    settings = {}  # each test starts a daemon of its own
    patience = 120

    def start_daemon(self, **options):
        self.daemon.stop()
        type(self).daemon = Daemon.start(**{"snapshots.interval": "1s", **options})
        self.addCleanup(self.daemon.stop)
        return self.daemon

    def ready(self):
        """Status and sentence."""
        try:
            return 200, self.daemon.get("/-/ready")
        except HTTPError as error:
            return error.code, json.loads(error.read())["error"]

    def stuck(self, thread):
        return self.daemon.scrape().value("offcpud_thread_stuck", thread=thread)

    def said(self, *words):
        return [line for line in self.daemon.log() if all(word in line for word in words)]

    def stop_thread(self, name):
        try:
            thread = StoppedThread(self.daemon.pid, name)
        except OSError as error:
            self.skipTest(f"no thread can be stopped here: {error}")
        self.addCleanup(thread.let_go)
        return thread

    def expect_stuck(self, thread, at, after, begin):
        """Everywhere, and not before its time."""
        self.wait_until(f"{thread} is stuck", lambda: self.stuck(thread) == 1)
        self.expect_at_least("seconds until then", after - 2, time.monotonic() - begin)
        self.expect_at_most("seconds until then", after + 20, time.monotonic() - begin)
        code, sentence = self.ready()
        self.expect_equal("/-/ready", 503, code)
        self.say(f"thread {thread} has been {at}" in sentence, "/-/ready says", at, sentence)
        status = self.daemon.get_json("/api/v1/status")
        states = {each["thread"]: each["state"] for each in status["threads"]}
        self.say(states[thread] == "stuck", f"{thread} in the status", "stuck", states[thread])
        self.say(f"thread {thread} has been {at}" in status["summary"], "summary", at, status["summary"])
        self.wait_until("the log says so", lambda: self.said("stuck: thread " + thread, at))

    def expect_to_go_on(self, thread, limit):
        begin = time.monotonic()
        self.wait_until(f"{thread} goes on", lambda: self.stuck(thread) == 0)
        self.expect_at_least("seconds that it counts as stuck after it has gone on", limit - 5,
                             time.monotonic() - begin)
        self.wait_until("it is ready", lambda: self.ready()[0] == 200)
        self.wait_until("the log says so", lambda: self.said(f"thread {thread} is not stuck any more"))
        self.expect_equal("begins in the log", 1, len(self.said("stuck: thread " + thread)))
        self.expect_equal("ends in the log", 1, len(self.said(f"thread {thread} is not stuck any more")))


class Stuck(StuckCase):
    def test_which_threads_are_watched(self):
        """All that somebody waits for; those of the local socket go by the same names."""
        self.start_daemon(**{"push.url": "http://127.0.0.1:1"})
        listed = [each["thread"] for each in self.daemon.get_json("/api/v1/status")["threads"]]
        expected = ["connections", "goroutine-looks", "goroutines", "http", "main", "passwords", "push",
                    "requests", "stacks", "symbols", "writer"]
        self.say(sorted(listed) == expected, "threads in the status", expected, sorted(listed))
        for thread in expected:
            self.expect_equal(f"{thread} stuck", 0, self.stuck(thread))

    def test_a_disk_that_does_not_answer(self):
        disk = self.new_disk()
        self.start_daemon(state_dir=disk.path / "state")
        self.wait_until("a snapshot is kept", lambda: self.daemon.get_json("/api/v1/snapshots")["snapshots"])
        self.expect_equal("/-/ready", 200, self.ready()[0])
        begin = time.monotonic()
        disk.freeze()
        self.expect_stuck("writer", "writing a snapshot", WRITER_LIMIT, begin)
        for thread in ("main", "http", "stacks", "symbols", "requests", "push"):
            self.expect_equal(f"{thread} stuck", 0, self.stuck(thread))
        disk.thaw()
        self.expect_to_go_on("writer", WRITER_LIMIT)

    def test_the_thread_that_takes_stacks(self):
        self.start_daemon()
        storm = self.start("paced_forks", "--rate", 200, "--ms", 60_000)
        storm.go()
        begin = time.monotonic()
        thread = self.stop_thread("offcpud-stacks")
        self.expect_stuck("stacks", "", LIMIT, begin)
        thread.let_go()
        self.expect_to_go_on("stacks", LIMIT)

    def test_the_main_thread(self):
        """/-/ready and /metrics answer all the same."""
        self.start_daemon(min_pass_interval="10ms", pass_interval="1s")
        begin = time.monotonic()
        thread = self.stop_thread("offcpud")
        self.expect_stuck("main", "", LIMIT, begin)
        thread.let_go()
        self.expect_to_go_on("main", LIMIT)


class Hopeless(StuckCase):
    """Five minutes."""

    def test_then_the_watchdog_is_not_fed(self):
        directory = tempfile.TemporaryDirectory(prefix="offcpud-hopeless-")
        self.addCleanup(directory.cleanup)
        manager = ServiceManager(directory.name)
        self.addCleanup(manager.close)
        self.daemon.stop()
        type(self).daemon = Daemon.start(launcher=("sh", "-c", 'WATCHDOG_PID=$$ exec "$@"', "sh"),
                                         environment={**os.environ, **manager.environment})
        self.addCleanup(self.daemon.stop)
        self.start("paced_forks", "--rate", 200, "--ms", 60_000).go()
        self.stop_thread("offcpud-stacks")
        manager.heard(HOPELESS - 30)
        said = manager.heard(20)
        self.expect_at_least("feedings while it may still go on", 5, said.count("WATCHDOG=1"))
        manager.heard(20)
        self.expect_equal("feedings when it is hopeless", 0, manager.heard(10).count("WATCHDOG=1"))
        self.say(self.said("stuck for good: thread stacks"), "the log", "stuck for good", self.daemon.log()[-3:])


if __name__ == "__main__":
    main()
