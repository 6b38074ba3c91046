# SPDX-License-Identifier: Apache-2.0
"""The accounting identity as the daemon itself states it."""

import time

from case import Case, main


class Completeness(Case):
    settings = {"pass_interval": "1s", "min_pass_interval": "100ms"}

    def ratio(self, scrape, cgroup):
        samples = scrape.families["offcpud_unaccounted_ratio"].samples
        found = [v for (_, labels), v in samples.items() if ("cgroup", cgroup.path) in labels]
        self.expect_equal("ratios of the cgroup", 1, len(found))
        return found[0]

    def test_nothing_is_unaccounted(self):
        """Eight threads that sleep, lock, pass bytes and spin: what they do is in the sums."""
        workload = self.start("busy_mix", "--ms", 6_000)
        workload.go()
        for _ in range(4):
            self.daemon.scrape()
            time.sleep(1)
        ratio = self.ratio(self.daemon.scrape(), workload.cgroup)
        window = workload.finish()
        self.expect_nothing_lost(window)
        self.expect_close("unaccounted ratio", 0, ratio, absolute=0.02)


if __name__ == "__main__":
    main()
