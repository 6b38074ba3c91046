# SPDX-License-Identifier: Apache-2.0
"""Who took the CPU of a thread that could have run on."""

import os
import time
from pathlib import Path

from case import Case, main

PREEMPTIONS = "offcpud_preemptions_total"
TAKERS = ("same_cgroup", "other_cgroup", "kernel")
STAT_REFRESH = Path("/proc/sys/vm/stat_refresh")  # reading it queues work on every CPU
MS = 3_000  # 30 turns of 0.1 s
MOST = 0.6


class Preemptors(Case):
    settings = {}

    @staticmethod
    def taken(window):
        """{taker: preemptions} in the window."""
        return {by: int(window.counter(PREEMPTIONS, cgroup=window.cgroup, by=by)) for by in TAKERS}

    def expect_all_named(self, window):
        """Every preemption has a taker."""
        taken = self.taken(window)
        self.expect_nothing_lost(window)
        self.expect_equal(f"preemptions by all takers {taken} (involuntary switches)",
                          window.books().involuntary, sum(taken.values()), window.slack())
        self.expect_equal("preempted episodes", sum(taken.values()),
                          window.runqueue("preempted").count + window.runqueue("throttled").count,
                          window.slack())
        return taken

    def expect_most_by(self, taker, window):
        """On a busy host kernel threads come in between, and the kernel's fair server gives other cgroups a part of
        each second (Linux 6.12, kernel/sched/deadline.c). Turns get longer where a hypervisor takes the CPU away, and
        a daemon may miss some (slack). So how many there were is compared with the kernel's count, and here is what
        part of those that were seen had this taker."""
        taken = self.expect_all_named(window)
        self.expect_at_least("involuntary switches (turns)", 6, window.books().involuntary)
        self.expect_at_least(f"of {sum(taken.values())} by the taker {taker}",
                             max(3, MOST * sum(taken.values())), taken[taker])
        return taken

    def test_hog_in_another_cgroup(self):
        victim = self.start("spinner", "--threads", 1, "--ms", MS, "--cpu", 0, "--name", "victim")
        hog = self.start("spinner", "--threads", 1, "--ms", MS, "--cpu", 0, "--name", "hog")
        self.put_first(victim, hog)
        victim.go()
        hog.go()
        window, other = victim.finish(), hog.finish()
        for one in (window, other):
            taken = self.expect_most_by("other_cgroup", one)
            self.expect_at_most("by its own cgroup (its main thread, at the gate)", 2,
                                taken["same_cgroup"])

    def test_hog_in_the_same_cgroup(self):
        workload = self.start("spinner", "--threads", 2, "--ms", MS, "--cpu", 0)
        self.put_first(workload)
        workload.go()
        self.expect_most_by("same_cgroup", workload.finish())

    def test_kernel_worker(self):
        """Each reading of stat_refresh wakes a kworker on every CPU."""
        if not STAT_REFRESH.exists():
            self.skipTest("this kernel has no vm.stat_refresh")
        workload = self.start("spinner", "--threads", 1, "--ms", 1_500, "--cpu", 0)
        # On the spinner's CPU the reader itself would be what the workers find there.
        cpus = os.sched_getaffinity(0)
        os.sched_setaffinity(0, cpus - {0} or cpus)
        self.addCleanup(os.sched_setaffinity, 0, cpus)
        workload.go()
        until = time.monotonic() + 1.4
        while time.monotonic() < until:
            STAT_REFRESH.read_bytes()
        window = workload.finish()
        taken = self.expect_all_named(window)
        # Those that find the spinner on the CPU, and not some other program of a busy host.
        self.expect_at_least("by the kernel", 5, taken["kernel"])
        self.expect_at_most("by its own cgroup (its main thread, at the gates)",
                            2 + 0.05 * sum(taken.values()), taken["same_cgroup"])


if __name__ == "__main__":
    main()
