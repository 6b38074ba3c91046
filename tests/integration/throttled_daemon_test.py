# SPDX-License-Identifier: Apache-2.0
"""A daemon that is short of CPU itself: what the kernel counted meanwhile is all there."""

import time

import host
from case import PREFIX, Case, main


class Throttled(Case):
    settings = {}

    def setUp(self):
        super().setUp()
        try:
            self.quota = host.CpuQuota(f"{PREFIX}-agent".lstrip("/"), quota_us=2_000)
        except NotImplementedError as error:
            self.skipTest(str(error))
        self.addCleanup(self.quota.remove)
        self.cgroup = self.new_cgroup()
        self.quota.take(self.cgroup, self.daemon.pid)
        self.addCleanup(self.quota.give_back, self.daemon.pid)

    def test_throttled_daemon_reports_everything(self):
        """D22: with 2 % of a CPU the daemon is slow to answer, but not one wait is missing, and its
        own CPU time is on the page."""
        throttled = self.quota.throttled_seconds(self.cgroup)
        own = self.daemon.scrape()
        began = time.monotonic()
        window = self.run_workload("ping_pong", "--count", 20_000, attempts=2)
        slack = window.slack()
        self.expect_equal("blocked episodes (voluntary switches)", window.books().voluntary,
                          window.blocked().count, slack)
        self.expect_equal("preempted (involuntary switches)", window.books().involuntary,
                          window.runqueue("preempted").count + window.runqueue("throttled").count,
                          slack)
        for _ in range(60):
            self.daemon.scrape()
        later, took = self.daemon.scrape(), time.monotonic() - began
        throttled = self.quota.throttled_seconds(self.cgroup) - throttled
        self.expect_at_least("seconds that the daemon was throttled (cpu.stat)", 0.1, throttled)
        cpu = later.value("process_cpu_seconds_total") - own.value("process_cpu_seconds_total")
        self.expect_at_least("its own CPU seconds", 0.001, cpu)
        self.expect_at_most("its own CPU seconds (four times its quota)", round(0.08 * took + 0.05, 3),
                            cpu)


if __name__ == "__main__":
    main()
