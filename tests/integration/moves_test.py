# SPDX-License-Identifier: Apache-2.0
"""A thread that changes its cgroup while it sleeps."""

import time

from case import Case, main
from cgroups_test import sleep_in
from daemon import BLOCKED


class Moves(Case):
    def test_sleep_belongs_to_the_cgroup_in_which_it_ends(self):
        """Asleep in one cgroup, awake in another: whole and once, in the second."""
        first, second = self.new_cgroup(), self.new_cgroup()
        process = sleep_in(first, 0.8)
        time.sleep(0.3)
        (second.directory / "cgroup.procs").write_text(str(process.pid))
        process.wait()
        time.sleep(0.05)
        scrape = self.daemon.scrape()
        left, _ = scrape.histogram(BLOCKED, cgroup=first.path, reason="sleep")
        found, seconds = scrape.histogram(BLOCKED, cgroup=second.path, reason="sleep")
        self.expect_equal("sleeps of the cgroup that it left", 0, int(sum(left.values())))
        self.expect_equal("sleeps of the cgroup that it is in", 1, int(sum(found.values())))
        self.expect_close("its seconds", 0.8, seconds, absolute=0.05)

    def test_sleeps_while_the_cgroup_flips(self):
        """Moved every few milliseconds: no sleep is lost, doubled or split between the two."""
        cgroups = [self.new_cgroup(), self.new_cgroup()]
        workload = self.start("sleeper", "--count", 100, "--us", 9_000, cgroup=cgroups[0],
                              others=[cgroups[1]])
        workload.go()
        for i in range(60):
            pid = str(workload.process.pid)
            (cgroups[(i + 1) % 2].directory / "cgroup.procs").write_text(pid)
            time.sleep(0.005)
        (cgroups[0].directory / "cgroup.procs").write_text(str(workload.process.pid))
        window = workload.finish()
        self.expect_nothing_lost(window)
        sleeps = [window.blocked("sleep", cgroup.path) for cgroup in cgroups]
        self.expect_equal("sleeps of both", 100, sleeps[0].count + sleeps[1].count, window.slack())
        self.expect_at_least("of the second", 1, sleeps[1].count)
        self.expect_at_most("seconds (the program's clock)", window.waits("sleep")[1],
                            sleeps[0].seconds + sleeps[1].seconds)


if __name__ == "__main__":
    main()
