# SPDX-License-Identifier: Apache-2.0
"""Whose waits get the stacks: a lock convoy beside crowds of idle threads."""

import math
import time

from case import main
from daemon import BLOCKED
from snapshots_test import INTERVAL, SnapshotCase

STACKS = "offcpud_stack_samples_total"
WAITED, LOST = "offcpud_wait_seconds", "offcpud_wait_lost_seconds_total"
VARIANCE = "offcpud_wait_variance_seconds_squared_total"
BUDGET = 200  # stacks a second, as the daemon has it unless it is told otherwise


class BesideACrowd(SnapshotCase):
    settings = {"snapshots.interval": "5s"}

    def beside(self, threads):
        """Spec: the time of a convoy of three threads has a standard error of at most 3 %, and is
        right; all stacks together keep to the budget."""
        crowd = self.start("many_threads", "--threads", threads, "--nap_ms", 1000)
        self.addCleanup(crowd.process.kill)
        convoy = self.start("convoy", "--ms", 23_000)
        crowd.go()
        time.sleep(15)
        begin, before = time.time(), self.daemon.scrape()
        convoy.go()
        window = convoy.finish()
        after, took = self.daemon.scrape(), time.time() - begin
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="lock")
        of_lock = window.blocked("lock")
        _, own_clock = window.waits_without_delay("lock")
        self.expect_close("seconds of the convoy (its own clock, the histogram)", own_clock,
                          of_lock.seconds, 0.02)
        self.expect_at_least("seconds of the convoy", 40, of_lock.seconds)
        error = stacks.error()
        # What an answer says of waits that were not sampled is of the reasons asked for.
        self.expect_at_most("sampling interval of locks", 0.1 * after.value(INTERVAL),
                            stacks.answer["sampling_interval_seconds"])
        self.expect_close("seconds by stacks (4 standard errors)", of_lock.seconds, stacks.seconds(),
                          0.03, absolute=4 * error)
        self.expect_at_most("standard error", 0.03 * of_lock.seconds, error)
        self.expect_at_most("stacks a second", 1.15 * BUDGET,
                            (after.value(STACKS) - before.value(STACKS)) / took)
        self.expect_the_same_sums(window.cgroup, before)

    def expect_the_same_sums(self, cgroup, before):
        """What waits were for adds up to what was waited, at the daemon's own number of stacks too."""
        time.sleep(15)  # a window, and the names of its stacks
        late = self.daemon.scrape()

        lost = late.value(LOST) - before.value(LOST)
        error = math.sqrt(late.value(VARIANCE, cgroup=cgroup))
        blocked, waited = (late.histogram(family, cgroup=cgroup)[1] for family in (BLOCKED, WAITED))
        self.expect_close("seconds over all `for`", blocked, waited, 0,
                          absolute=3 * error + 0.001 * blocked + lost)

    def test_beside_a_thousand_threads_that_nap(self):
        self.beside(1_000)

    def test_beside_ten_thousand(self):
        self.beside(10_000)


if __name__ == "__main__":
    main()
