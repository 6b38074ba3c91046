# SPDX-License-Identifier: Apache-2.0
"""The base of every test: a daemon, cgroups of its own, and comparisons that say what was seen."""

import os
import sys
import time
import unittest
from pathlib import Path

import host
from daemon import Daemon
from disk import Disk
from window import Workload, WorkloadEnded

PREFIX = f"/offcpud-test-{os.getpid()}"
SKIPPED = 77


def slow(test):
    """Marks a class or a method that the suite `acceptance` runs, and `integration` does not."""
    test.slow = True
    return test


class Part(unittest.TestLoader):
    """Those that are marked as slow, or those that are not."""

    def __init__(self, wanted):
        super().__init__()
        self.slow = {"quick": False, "slow": True}[wanted]

    def getTestCaseNames(self, case):  # noqa: N802 unittest's name
        return [name for name in super().getTestCaseNames(case)
                if self.slow == (getattr(case, "slow", False) or getattr(getattr(case, name), "slow", False))]


class Case(unittest.TestCase):
    """Uses the suite's daemon; a class with `settings` starts one of its own."""

    settings = None
    _disks = ()
    patience = 20  # seconds that wait_until waits
    _shared = None

    @staticmethod
    def skip_if(*reasons):
        """Skips for the first of these that is one; empty or None is none."""
        for reason in reasons:
            if reason:
                raise unittest.SkipTest(reason)

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        cls.daemon = None
        if cls.settings is None:
            cls.daemon = Case._shared or Daemon.of_suite()
            if cls.daemon is None:
                cls.daemon = Case._shared = Daemon.start()
                unittest.addModuleCleanup(Case._stop_shared)
        else:
            cls.daemon = Daemon.start(**cls.settings)
            cls.addClassCleanup(cls.daemon.stop)

    @staticmethod
    def _stop_shared():
        Case._shared.stop()
        Case._shared = None

    def setUp(self):
        self._cgroups = 0
        print(f"\n{self.id().split('.', 1)[1]}", flush=True)
        if self.settings is None:
            self.wait_for_room()

    def wait_for_room(self):
        """Cgroups of an earlier test that are gone keep their places for some seconds, in every
        daemon; then the next test's would be counted as (other)."""
        for _ in range(600):
            scrape = self.daemon.scrape()
            used = scrape.value("offcpud_map_entries", map="cgroup_subjects")
            if used < 0.8 * scrape.value("offcpud_map_capacity", map="cgroup_subjects"):
                return
            time.sleep(0.1)

    def wait_until(self, what, condition, seconds=None):
        seconds = seconds or self.patience
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if condition():
                print(f"  ok   {what}", flush=True)
                return
            time.sleep(0.02)
        self.fail(f"not within {seconds} s: {what}")

    def new_cgroup(self, name=None):
        self._cgroups += 1
        test = self.id().rsplit(".", 1)[1].replace("test_", "")
        cgroup = host.Cgroup(name or f"{PREFIX}-{test}-{self._cgroups}")
        self.addCleanup(cgroup.remove)
        return cgroup

    def new_disk(self, mebibytes=32):
        """A Disk that is thawed and gone after the test."""
        try:
            disk = Disk(mebibytes)
        except OSError as error:
            self.skipTest(f"no disk of its own: {error}")
        self.addCleanup(disk.remove)
        self._disks = (*self._disks, disk)
        return disk

    def doCleanups(self):
        """Disks are thawed first: the others wait for processes that a frozen one holds."""
        for disk in self._disks:
            self.addCleanup(disk.thaw)
        return super().doCleanups()

    def start(self, name, *arguments, **options):
        """A Workload at its first gate, in a cgroup of its own."""
        options.setdefault("cgroup", None)
        cgroup = options.pop("cgroup") or self.new_cgroup()
        try:
            workload = Workload(self.daemon, cgroup, name, *arguments, **options)
        except WorkloadEnded as ended:
            if ended.args[0] == SKIPPED:
                self.skipTest(f"{name} cannot run on this kernel")
            raise
        self.addCleanup(workload.end)
        return workload

    def run_workload(self, name, *arguments, attempts=4, **options):
        """The Window of a whole run, checked for losses. Where the host guards process 1, a run in
        which it hid switches is repeated: exact comparisons want an undisturbed one."""
        for attempt in range(attempts):
            workload = self.start(name, *arguments, **options)
            workload.go()
            window = workload.finish()
            if not window.slack() or attempt + 1 == attempts:
                break
        self.expect_nothing_lost(window)
        return window

    @staticmethod
    def put_first(*workloads):
        """Real-time, in turns among themselves: a busy host comes in between only where the kernel
        lets it have its share (a twentieth of a second, each second)."""
        for workload in workloads:
            for task in Path(f"/proc/{workload.process.pid}/task").iterdir():
                os.sched_setscheduler(int(task.name), os.SCHED_RR, os.sched_param(1))

    # --- comparisons; each prints a line

    def say(self, ok, what, expected, seen):
        print(f"  {'ok  ' if ok else 'FAIL'} {what}: expected {expected}, seen {seen}", flush=True)
        if not ok:
            self.fail(f"{what}: expected {expected}, seen {seen}")

    def expect_equal(self, what, expected, seen, slack=0):
        within = f" (+-{slack} counted as missed)" if slack else ""
        self.say(expected - slack <= seen <= expected + slack, what, f"{expected}{within}", seen)

    def expect_close(self, what, expected, seen, tolerance=0.01, absolute=0.0):
        margin = max(abs(expected) * tolerance, absolute)
        self.say(
            abs(seen - expected) <= margin, what, f"{expected:.6f} +-{margin:.6f}", f"{seen:.6f}"
        )

    def expect_at_least(self, what, expected, seen):
        self.say(seen >= expected, what, f">= {expected}", seen)

    def expect_at_most(self, what, expected, seen):
        self.say(seen <= expected, what, f"<= {expected}", seen)

    def expect_nothing_lost(self, window, folded=()):
        """`folded`: causes that lose no time, where the test brings about more than there is room for."""
        lost, allowed = window.lost(), window.allowed_losses()
        for cause in folded:
            lost.pop(cause, None)
        worse = {cause: n for cause, n in lost.items() if n > allowed.get(cause, 0)}
        expected = f"none, or at most {allowed} beside a guarded init" if allowed else "none"
        self.say(not worse, "lost events", expected, lost or "none")

    def expect_counts(self, window, cgroup=None):
        """Every voluntary switch is one blocked episode and every involuntary one a preemption."""
        books = window.books(cgroup)
        slack = window.slack()
        preempted = window.runqueue("preempted", cgroup).count
        throttled = window.runqueue("throttled", cgroup).count
        self.expect_equal(
            "blocked episodes (voluntary switches)",
            books.voluntary,
            window.blocked(cgroup=cgroup).count,
            slack,
        )
        self.expect_equal(
            "preempted and throttled (involuntary switches)",
            books.involuntary,
            preempted + throttled,
            slack,
        )
        self.expect_equal(
            "waits after wakeup (wakeups)",
            books.voluntary,
            window.runqueue("wakeup", cgroup).count,
            slack,
        )

    def expect_running(self, window, cgroup=None, tolerance=0.01):
        """Running time equals schedstat's, but for what that leaves out: interrupts, stolen time and
        the switch itself."""
        books = window.books(cgroup)
        left_out = window.after.stolen - window.before.stolen + 0.02
        self.expect_close(
            "running seconds (schedstat)",
            books.run_ns / 1e9,
            window.running(cgroup),
            tolerance,
            absolute=books.switches * 1e-6 + left_out + self.lost_seconds(window, books),
        )

    @staticmethod
    def lost_seconds(window, books):
        """What the switches that a guarded host hid from this test may have cost: each one wait for
        the CPU and one stay on it."""
        hidden = min(window.slack(), max(0, books.switches - window.runqueue().count))
        average = (books.run_ns + books.run_delay_ns) / 1e9 / max(1, books.switches)
        return hidden * max(0.012, 4 * average)


def main():
    """Runs the module's tests, or the part of them that OFFCPUD_PART names; status 77 with the reason when every one
    of them was skipped."""
    part = os.environ.get("OFFCPUD_PART")
    loader = Part(part) if part else unittest.defaultTestLoader
    result = unittest.main(exit=False, verbosity=0, testLoader=loader).result
    if not result.wasSuccessful():
        sys.exit(1)
    if not result.testsRun and not result.skipped:
        sys.exit(f"{sys.argv[0]}: no test is {part or 'here'}")
    if result.testsRun == len(result.skipped) or (result.skipped and not result.testsRun):
        print("SKIP:", "; ".join(sorted({reason for _, reason in result.skipped})))
        sys.exit(SKIPPED)
