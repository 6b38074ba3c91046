# SPDX-License-Identifier: Apache-2.0
"""Far more cgroups than there are places and series: nothing is thrown out to make room."""

from case import Case, main
from cgroups_test import readable

PLACES = 64


class Eviction(Case):
    settings = {"max_cgroups": PLACES, "max_series": 100, "linger": "10s"}

    @staticmethod
    def sleeps(scrape):
        buckets, _ = scrape.histogram("offcpud_blocked_seconds", reason="sleep")
        return int(sum(buckets.values()))

    def test_ten_times_as_many_cgroups_as_places(self):
        """D9: a busy cgroup keeps its place and its numbers while hundreds pass by, no counter of
        any series falls, and the totals hold every sleep."""
        parent, busy = self.new_cgroup(), self.new_cgroup()
        sleeper = self.start("sleeper", "--count", 100_000, "--us", 5_000, cgroup=busy)
        self.addCleanup(sleeper.process.kill)
        sleeper.go()
        churn = self.start("cgroup_churn", "--parent", parent.directory, "--count", 10 * PLACES,
                           "--us", 3_000, "--pause_us", 10_000)
        churn.go()
        last, fell, scrapes = {}, [], 0
        while not readable(churn.process.stdout, 0.05):
            for family in self.daemon.scrape().families.values():
                if family.type not in ("counter", "histogram"):
                    continue
                for key, value in family.samples.items():
                    if value < last.get(key, 0):
                        fell.append((key, last[key], value))
                    last[key] = value
            scrapes += 1
        window = churn.finish()
        self.say(not fell, f"counters that fell in {scrapes} scrapes", "none", fell[:3] or "none")
        self.expect_at_least("scrapes meanwhile", 10, scrapes)
        grown = self.sleeps(window.after.scrape) - self.sleeps(window.before.scrape)
        self.expect_at_least("sleeps over all series (of both workloads)",
                             10 * PLACES + 200 - window.slack(), grown)
        own, _ = window.after.scrape.histogram("offcpud_blocked_seconds", cgroup=busy.path,
                                               reason="sleep")
        self.expect_at_least("sleeps of the busy cgroup under its own name", 200,
                             int(sum(own.values())))
        full = window.lost().get("cgroup_table_full", 0)
        self.expect_at_least("events that found no place, as counted", 1, int(full))


class LivingFirst(Case):
    settings = {"max_cgroups": 4096, "max_series": 400, "linger": "10min"}

    def test_removed_cgroups_give_their_series_to_living_ones(self):
        """400 cgroups that live for moments leave more series than there is room for; a service that
        starts then has all of its own, and nothing is in "(other)"."""
        parent, late = self.new_cgroup(), self.new_cgroup()
        churn = self.start("cgroup_churn", "--parent", parent.directory, "--count", 400, "--us", 500)
        churn.go()
        while not readable(churn.process.stdout, 0.3):
            self.daemon.ask_for_a_pass()
        churn.finish()
        before = self.daemon.scrape()
        self.expect_at_least("histogram series", 300, int(before.value("offcpud_series")))
        sleeper = self.start("sleeper", "--count", 200, "--us", 5_000, cgroup=late)
        sleeper.go()
        window = sleeper.finish()
        after = window.after.scrape
        own, _ = after.histogram("offcpud_blocked_seconds", cgroup=late.path, reason="sleep")
        self.expect_at_least("sleeps under its own name", 200 - window.slack(), int(sum(own.values())))
        _, waited = after.histogram("offcpud_runqueue_wait_seconds", cgroup=late.path)
        self.expect_close("who kept it off, over its waits for a CPU", waited,
                          after.value("offcpud_kept_off_seconds_total", cgroup=late.path), 1e-6)
        self.expect_equal("series folded", 0, int(after.value("offcpud_series_folded_total")))


if __name__ == "__main__":
    main()
