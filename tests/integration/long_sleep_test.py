# SPDX-License-Identifier: Apache-2.0
"""A sleep of two minutes is one episode of two minutes. `suite_daemon start` begins it, the other
tests run meanwhile, and this one comes last."""

import json
import os
import time

from case import Case, main
from cgroups_test import sleep_in
from daemon import BLOCKED, SUITE

SECONDS = int(os.environ.get("OFFCPUD_LONG_SLEEP", "120"))


class LongSleep(Case):
    def test_two_minutes_are_one_episode(self):
        """D13: nothing is thrown away for being long."""
        if SUITE.exists() and "OFFCPUD_OWN_DAEMON" not in os.environ:
            state = json.loads(SUITE.read_text())
            path, until, seconds = state["sleeper_cgroup"], state["sleeper_ends"], state["sleeper_seconds"]
        else:
            cgroup, seconds = self.new_cgroup(), SECONDS
            self.addCleanup(sleep_in(cgroup, seconds).wait)
            path, until = cgroup.path, time.time() + seconds
        time.sleep(max(0.0, until - time.time()) + 1)
        buckets, total = self.daemon.scrape().histogram(BLOCKED, cgroup=path, reason="sleep")
        self.expect_equal("sleeps", 1, int(sum(buckets.values())))
        self.expect_close("seconds", seconds, total, absolute=0.1)
        low = 2.0 ** ((seconds - 1).bit_length() - 1)
        self.expect_equal(f"sleeps in ({low:g}, {2 * low:g}] s", 1,
                          int(sum(n for le, n in buckets.items() if low < le <= 2 * low)))


if __name__ == "__main__":
    main()
