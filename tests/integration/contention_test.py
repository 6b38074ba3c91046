# SPDX-License-Identifier: Apache-2.0
"""Waits for the CPU that a test makes itself, and those of real-time threads."""

import ctypes
import os
import struct

from case import Case, main

SYS_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}
SCHED_DEADLINE = 6


def take_deadline(runtime_us, period_us):
    """For a child, between fork and exec."""
    call = SYS_SCHED_SETATTR[os.uname().machine]
    attributes = struct.pack("=IIQiIQQQ", 48, SCHED_DEADLINE, 0, 0, 0, runtime_us * 1000,
                             period_us * 1000, period_us * 1000)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.syscall(call, 0, attributes, 0) != 0:
        raise OSError(ctypes.get_errno(), "sched_setattr")


class Periodic(Case):
    def beside(self, hogs):
        """A thread that sleeps 1 ms at a time beside so many hogs on one CPU: the mean wait after
        its wakeups."""
        hog = hogs and self.start("spinner", "--threads", hogs, "--ms", 2_500, "--cpu", 0)
        periodic = self.start("sleeper", "--count", 300, "--us", 1_000, "--cpu", 0)
        if hog:
            hog.go()
        periodic.go()
        window = periodic.finish()
        if hog:
            hog.process.kill()
        self.expect_nothing_lost(window)
        books, waited = window.books(), window.runqueue()
        slack = self.lost_seconds(window, books)
        self.expect_at_least("run-queue seconds (schedstat run_delay)",
                             round(books.run_delay_ns / 1e9 * 0.999 - slack, 6), waited.seconds)
        # Above, schedstat is no truth: its clock may stand still from the enqueueing to the switch,
        # which it takes for running then, and an interrupt that has another CPU do the enqueueing
        # takes as long as the host likes. The program's clock has both, around each sleep.
        wakeups, sleep = window.runqueue("wakeup"), window.blocked("sleep")
        at_the_gate = wakeups.longest()
        self.expect_at_most("seconds asleep and waiting after it (the program's clock)",
                            round(window.waits("sleep")[1] + at_the_gate, 6),
                            sleep.seconds + wakeups.seconds)
        self.expect_counts(window)
        return wakeups.seconds / max(1, wakeups.count)

    def test_wakeups_wait_as_long_as_others_make_them(self):
        """Alone, and beside four hogs: between what schedstat and what the program's clock says,
        and more contention is more waiting."""
        alone, crowded = self.beside(0), self.beside(4)
        self.expect_at_least("mean wait beside four hogs (that without)", alone, crowded)


class RealTime(Case):
    def sleeps(self, *arguments, on_start):
        def enter():
            try:
                on_start()
            except PermissionError:
                os._exit(77)  # real-time is not for everyone (RLIMIT_RTPRIO, a cpu cgroup)

        window = self.run_workload("sleeper", "--count", 60, "--us", 5_300, *arguments, on_start=enter)
        self.expect_counts(window)
        self.expect_running(window, tolerance=0.05)
        return window

    def test_fifo_thread_that_is_moved_between_cpus(self):
        """Its affinity flips every millisecond: no episode is split or doubled."""
        window = self.sleeps(
            "--flip", 1, on_start=lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10)))
        own, seconds, _ = window.waits("sleep")
        naps, nap_seconds, _ = window.waits("nap")
        sleep = window.blocked("sleep")
        self.expect_equal("sleeps", own + naps, sleep.count, window.slack())
        self.expect_at_most("seconds (the program's clock)", seconds + nap_seconds, sleep.seconds)

    def test_deadline_thread(self):
        """SCHED_DEADLINE, 2 ms in every 5 ms. The kernel may let it wait for its next period: that
        is time in the run queue."""
        window = self.sleeps(on_start=lambda: take_deadline(2_000, 5_000))
        own, seconds, _ = window.waits("sleep")
        sleep = window.blocked("sleep")
        self.expect_equal("sleeps", own, sleep.count, window.slack())
        self.expect_at_most("seconds (the program's clock)", seconds, sleep.seconds)
        self.expect_at_least("seconds asked for", (own - window.slack()) * 0.0053 * 0.99,
                             sleep.seconds)


if __name__ == "__main__":
    main()
