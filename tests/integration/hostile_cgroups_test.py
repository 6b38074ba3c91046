# SPDX-License-Identifier: Apache-2.0
"""Cgroups that do not behave: names that are no text or mean something else, and depth without end."""

import os
import time

import host
from case import PREFIX, Case, main
from cgroups_test import sleep_in
from daemon import BLOCKED

PLACES = 256
DEEPER_THAN_A_NAME = 70  # levels; the daemon names 64


class Hostile(Case):
    settings = {"max_cgroups": PLACES, "linger": "10s"}

    def sleeps(self, scrape, path):
        """Sleeps counted for a path; None while it has no series."""
        if path not in scrape.cgroups():
            return None
        buckets, _ = scrape.histogram(BLOCKED, cgroup=path, reason="sleep")
        return int(sum(buckets.values()))

    def test_names_that_are_no_text_stay_apart(self):
        """Names that differ in invalid bytes alone: the parser refuses a label set that is there
        twice, and each name has its own sleep."""
        cgroups = [self.new_cgroup(os.fsdecode(f"{PREFIX}-bytes-".encode() + end))
                   for end in (b"\xff", b"\xfe", b"\xfe\xfe")]
        for process in [sleep_in(cgroup, 0.05) for cgroup in cgroups]:
            process.wait()
        time.sleep(0.05)
        scrape = self.daemon.scrape()
        found = [path for path in scrape.cgroups() if path.startswith(f"{PREFIX}-bytes-")]
        self.expect_equal("names", 3, len(found))
        sleeps = [self.sleeps(scrape, path) for path in found]
        self.say(sleeps == [1, 1, 1], "sleeps of each", [1, 1, 1], sleeps)

    def test_living_cgroup_with_the_name_of_removed_ones(self):
        """It keeps its series beyond `linger`, busy or idle, and the series never restarts."""
        cgroups = [self.new_cgroup(f"{PREFIX}-living{end}") for end in ("(removed)", "-2 (removed)")]
        busy = self.start("sleeper", "--count", 10_000, "--us", 5_000, cgroup=cgroups[0])
        self.addCleanup(busy.process.kill)
        busy.go()
        sleep_in(cgroups[1], 0.05).wait()
        time.sleep(0.1)
        fell, last = [], {}
        until = time.monotonic() + 15
        while time.monotonic() < until:
            scrape = self.daemon.scrape()
            for cgroup in cgroups:
                seen, before = self.sleeps(scrape, cgroup.path), last.get(cgroup.path, 0)
                if seen is None or seen < before:
                    fell.append((cgroup.path, before, seen))
                last[cgroup.path] = max(seen or 0, before)
            time.sleep(0.25)
        self.say(not fell, "series that fell or vanished", "none", fell[:3] or "none")
        self.expect_at_least("sleeps of the busy one", 500, last[cgroups[0].path])
        self.expect_equal("sleeps of the idle one", 1, last[cgroups[1].path])


class DeeperThanNames(Case):
    settings = {"max_cgroups": PLACES, "linger": "10s"}

    def nest(self, levels):
        """The deepest of so many cgroups within each other."""
        cgroup = self.new_cgroup()
        for _ in range(levels):
            cgroup = host.Cgroup(cgroup.path + "/d")
            self.addCleanup(cgroup.remove)
        return cgroup

    def test_places_of_dead_cgroups_without_a_name_come_back(self):
        """400 of them fill 256 places; once they are gone, a new cgroup has its own series."""
        deep = self.nest(DEEPER_THAN_A_NAME)
        before = self.daemon.scrape().lost()["cgroup_table_full"]
        churn = self.start("cgroup_churn", "--parent", deep.directory, "--count", 400, "--us", 500)
        churn.go()
        churn.finish()
        full = self.daemon.scrape().lost()["cgroup_table_full"]
        self.expect_at_least("times that the table was full", 1, full - before)
        gone = time.monotonic()
        while True:
            cgroup = self.new_cgroup()
            sleep_in(cgroup, 0.05).wait()
            time.sleep(0.05)
            found = cgroup.path in self.daemon.scrape().cgroups()
            waited = time.monotonic() - gone
            if found or waited > 60:
                break
            time.sleep(1)
        self.say(found, "a new cgroup has a series after some 20 s", "yes",
                 f"{'yes' if found else 'no'}, after {waited:.0f} s")
        self.expect_at_most("seconds until then", 45, round(waited))


if __name__ == "__main__":
    main()
