# SPDX-License-Identifier: Apache-2.0
"""Programs of another user have the daemon wait for a file system that never answers
(hanging_programs.py): nobody else is kept waiting."""

import os
import signal
import tempfile
import time
from datetime import datetime
from pathlib import Path

from case import Case, main
from daemon import Daemon
from hanging_programs import HangingPrograms, fresh_copy
from snapshots_test import Stacks

PROFILE = "/debug/pprof/offcpu?seconds=2&format=json"


class HangCase(Case):
    settings = {"snapshots.interval": "15s"}
    patience = 15

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="hangs-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        self.programs = HangingPrograms(self.folder)
        self.addCleanup(self.programs.end)
        # A daemon that has just started reads the symbols of all programs first; and a busy host
        # makes everything late: what counts is what the attack adds.
        for _ in range(5):
            self.usual = self.seconds_of_a_profile()[0]
            if self.usual < 2.5:
                break

    def seconds_of_a_profile(self):
        begin = time.monotonic()
        try:
            answer = self.daemon.get_json(PROFILE)
        except OSError as error:
            self.fail(f"no profile within {time.monotonic() - begin:.1f} s: {error}")
        return time.monotonic() - begin, answer

    def attack(self, *ways):
        """What is done to the daemon; returns once it has been."""
        for way in ways:
            try:
                getattr(self.programs, way)()
            except OSError as error:
                self.skipTest(str(error))

    # --- what everybody else still gets

    def expect_others_answered(self):
        """Programs that start now have their stacks, young and old, in a profile that is on time."""
        program = fresh_copy("sleeper", self.folder / "bystander")
        pids = set()
        for us, count in ((20_000, 1_000_000), (600_000_000, 1)):
            process = self.programs.run(program, "--us", us, "--count", count)
            pids.add(process.pid)
            said = process.stdout.readline()
            self.say(said == "gate\n", "the bystander says", "gate", said)
            process.stdin.write("g")
            process.stdin.flush()
        time.sleep(1)
        slowest, complete = 0.0, {}
        for _ in range(3):
            took, answer = self.seconds_of_a_profile()
            slowest = max(slowest, took)
            complete = {}
            for row in Stacks(answer).select("workload::sleep_ns"):
                if row["pid"] not in pids:
                    continue
                complete[row["pid"]] = "main" in row["stack"]
        self.expect_at_most(f"seconds until a profile of 2 s answers (before: {self.usual:.2f})",
                            2 + max(self.usual, 2), slowest)
        self.expect_equal("bystanders with whole stacks", 2, sum(complete.values()))

    def expect_stop(self):
        begin = time.monotonic()
        os.kill(self.daemon.pid, signal.SIGTERM)
        while self.daemon.poll() is None and time.monotonic() - begin < 10:
            time.sleep(0.01)
        self.expect_at_most("seconds until it has stopped", 2, time.monotonic() - begin)
        self.expect_equal("exit code", 0, self.daemon.poll())

    def hung(self):
        scrape = self.daemon.scrape()
        return scrape.value("offcpud_reader_hangs_total")


class One(HangCase):
    """Each by itself, against a daemon that has not met the user before."""

    def setUp(self):
        type(self).daemon.stop()
        type(self).daemon = Daemon.start(**self.settings)
        self.addCleanup(self.daemon.stop)
        super().setUp()

    def expect_survived(self):
        time.sleep(1)
        self.expect_others_answered()
        self.wait_until("it says so", lambda: self.hung() > 0)
        self.wait_until("in its log", lambda: any("does not answer" in line
                                                  for line in self.daemon.log()))
        self.expect_stop()

    def test_a_stack_pointer_into_a_file(self):
        self.attack("stack_in_a_file")
        self.expect_survived()

    def test_a_program_on_overlayfs(self):
        self.attack("program_on_overlay")
        self.expect_survived()

    def test_debug_files(self):
        self.attack("debug_files")
        self.expect_survived()

    def test_a_perf_map(self):
        self.attack("perf_map")
        self.expect_survived()


class All(HangCase):
    def test_all_at_once_and_again(self):
        """Snapshots stay as long as they are; the time that is waited is bounded."""
        begin = time.time()
        self.attack(*3 * ("stack_in_a_file",), "debug_files", "perf_map", "program_on_overlay")
        self.expect_others_answered()
        self.wait_until("two snapshots began since", lambda: len(self.since(begin)) >= 2, 50)
        for snapshot in self.since(begin):
            self.expect_close("seconds of a snapshot", 15, snapshot, absolute=1)
        self.expect_stop()

    def since(self, begin):
        lengths = []
        for one in self.daemon.get_json("/api/v1/snapshots")["snapshots"]:
            first, last = (datetime.fromisoformat(one[key].replace("Z", "+00:00")).timestamp()
                           for key in ("begin", "end"))
            if first >= begin - 15:
                lengths.append(last - first)
        return lengths


if __name__ == "__main__":
    main()
