# SPDX-License-Identifier: Apache-2.0
"""Storms of short-lived processes and cgroups: measured whole, and nothing of them stays."""

import os
import time
from pathlib import Path

from case import Case, main

STORM_SECONDS = int(os.environ.get("OFFCPUD_STORM_SECONDS", "12"))
CHURN = int(os.environ.get("OFFCPUD_CHURN", "10000"))
PLACES = 512
MAY_GROW = 4 << 20  # bytes: what a page of metrics and the allocator take on busy days


def resident(pid):
    """Without the kernel maps that the daemon has mapped: their size is fixed."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("no RssAnon")


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Storm(Case):
    settings = {"linger": "10s", "max_series": 200, "max_cgroups": PLACES,
                "snapshots.interval": "10s"}  # what one holds is given back when it is written

    def maps(self):
        samples = self.daemon.scrape().families["offcpud_map_entries"].samples
        return {dict(labels)["map"]: value for (_, labels), value in samples.items()}

    def expect_back(self, before, resident_before):
        """Map entries and memory are where they were, some time after the storm: what stacks said is
        known for half a minute, the paths of removed cgroups for a whole one."""
        for _ in range(70):
            now = self.maps()
            grown = {name: (before[name], n) for name, n in now.items() if n > before[name] + 64}
            stayed = resident(self.daemon.pid) - resident_before
            if not grown and stayed <= MAY_GROW:
                break
            time.sleep(1)
        self.say(not grown, "maps that hold more than before (before, now)", "none", grown or "none")
        self.expect_at_most("bytes of memory that stayed", MAY_GROW, stayed)

    def test_storm_of_forks(self):
        """800 processes a second, each of which sleeps 1 ms."""
        self.daemon.scrape()
        before, memory = self.maps(), resident(self.daemon.pid)
        window = self.run_workload("paced_forks", "--ms", STORM_SECONDS * 1000, attempts=2)
        children = window.report["children"]
        seconds = window.report["children_sleep_ns"] / 1e9
        sleep, slack = window.blocked("sleep"), window.slack()
        self.expect_at_least("children (70 % of the pace)", int(0.7 * 800 * STORM_SECONDS), children)
        self.expect_equal("sleeps (children)", children, sleep.count, slack)
        self.expect_at_least("seconds asked for", round((children - slack) * 0.001, 4), sleep.seconds)
        self.expect_at_most("seconds (the children's clocks)", seconds, sleep.seconds)
        self.expect_at_least("waits after wakeup (a first run and one after the sleep each)",
                             2 * children - slack, window.runqueue("wakeup").count)
        self.expect_back(before, memory)

    def test_12000_forks_leave_nothing(self):
        """As fast as they come. What they left would be seen in the second storm."""
        self.run_workload("fork_storm", "--forks", 12_000, "--count", 1, attempts=1)
        before, memory = self.maps(), resident(self.daemon.pid)
        window = self.run_workload("fork_storm", "--forks", 12_000, "--count", 20, attempts=1)
        self.expect_equal("sleeps", 20, window.blocked("sleep").count, window.slack())
        self.expect_back(before, memory)

    def test_many_transient_cgroups(self):
        """D20: thousands of services that come and go: each is seen, none leaves a descriptor or
        memory behind, and the last has its name like the first."""
        parent = self.new_cgroup()
        # As many as fill the history of waits of ten minutes, and read the names of what runs here.
        warm = self.start("cgroup_churn", "--parent", parent.directory, "--count", CHURN,
                          "--us", 300, "--name", "warm-")
        warm.go()
        warm.finish()
        time.sleep(12)
        before, memory, files = self.maps(), resident(self.daemon.pid), descriptors(self.daemon.pid)
        churn = self.start("cgroup_churn", "--parent", parent.directory, "--count", CHURN,
                           "--us", 300, "--name", "service-")
        churn.go()
        window = churn.finish()
        old, _ = window.before.scrape.histogram("offcpud_blocked_seconds", reason="sleep")
        new, _ = window.after.scrape.histogram("offcpud_blocked_seconds", reason="sleep")
        self.expect_at_least("sleeps over all series", CHURN - window.slack(),
                             int(sum(new.values()) - sum(old.values())))
        self.expect_equal("descriptors", files, descriptors(self.daemon.pid), 2)
        time.sleep(12)  # by then the places of those that are gone are free again
        self.expect_back(before, memory)
        last = self.run_workload("sleeper", "--count", 20, "--us", 2_000)
        self.expect_equal("sleeps of a cgroup made afterwards", 20, last.blocked("sleep").count,
                          last.slack())


if __name__ == "__main__":
    main()
