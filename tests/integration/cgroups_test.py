# SPDX-License-Identifier: Apache-2.0
"""Attribution to cgroups that come, go, return, are too many or have no controller."""

import select
import subprocess
import time

import host
from case import PREFIX, Case, main, slow
from daemon import BLOCKED


def sleep_in(cgroup, seconds):
    """A process that sleeps once in `cgroup` and ends."""
    return subprocess.Popen(["sleep", str(seconds)], preexec_fn=cgroup.enter)


class Attribution(Case):
    def test_cgroup_without_controllers_has_its_own_series(self):
        """D18: no cpu controller in v2 and none in v1 that knows this cgroup: still its own series,
        with slice and unit from its path."""
        parent = self.new_cgroup(f"{PREFIX}.slice")
        service = self.new_cgroup(f"{PREFIX}.slice/web\\x2dserver.service")
        window = self.run_workload("sleeper", "--count", 20, "--us", 5_000, cgroup=service)
        controllers = (service.directory / "cgroup.controllers").read_text().split()
        self.say("cpu" not in controllers, "controllers of the cgroup", "no cpu", controllers)
        self.expect_equal("sleeps of the service", 20, window.blocked("sleep").count, window.slack())
        self.expect_equal("sleeps of its slice", 0, window.blocked("sleep", parent.path).count)
        labels = [dict(l) for l in window.after.scrape.labels_of(service.path)]
        expected = {"cgroup": service.path, "slice": f"{PREFIX[1:]}.slice", "unit": "web-server.service"}
        self.say(all(expected.items() <= l.items() for l in labels) and labels, "labels", expected, labels)

    def test_nothing_is_charged_to_a_neighbour(self):
        """An idle cgroup beside a busy one has exactly its own wait at the gate."""
        idle = self.start("sleeper", "--count", 1, "--us", 1)
        busy = self.run_workload("sleeper", "--count", 100, "--us", 2_000)
        idle.go()
        window = idle.finish()
        self.expect_counts(window)
        self.expect_at_most("blocked episodes of the idle one", 3, window.blocked().count)
        self.expect_equal("sleeps of the busy one", 100, busy.blocked("sleep").count, busy.slack())

    def test_cgroup_of_5_ms_keeps_its_name(self):
        """A walk of the file system would never meet it."""
        parent = self.new_cgroup()
        window = self.run_workload("cgroup_churn", "--parent", parent.directory, "--count", 20,
                                   "--us", 5_000, "--name", "brief-", "--pause_us", 5_000,
                                   attempts=1)
        known = {c for c in window.after.scrape.cgroups() if c.startswith(f"{parent.path}/brief-")}
        self.expect_equal("names of 20 cgroups", 20, len(known), window.slack())
        sleeps = [window.blocked("sleep", c).count for c in known]
        self.expect_equal("sleeps in them", 20, sum(sleeps), window.slack())
        self.expect_at_most("sleeps in one", 1, max(sleeps))

    def test_fork_storm_leaves_no_trace(self):
        """D11: after 12,000 processes nothing is full or stale: the sleeper is measured and no
        episode is older than the test."""
        window = self.run_workload("fork_storm", "--forks", 12_000, "--count", 50, attempts=2)
        self.expect_equal("sleeps", 50, window.blocked("sleep").count, window.slack())
        self.expect_at_least("seconds asked for", (50 - window.slack()) * 0.01,
                             window.blocked("sleep").seconds)
        self.expect_equal("sleeps outside (7.8, 62.5] ms", 0,
                          window.blocked("sleep").count - window.blocked("sleep").between(0.01, 0.06),
                          sum(1 for s in window.waits("sleep")[2] if s > 0.0625))
        self.expect_equal("waits for children", 12_000, window.blocked("child").count,
                          600 + window.slack())
        # Each child waits for its first run; some of its last steps may be preempted.
        self.expect_at_least("waits after wakeup", 12_000 - window.slack(),
                             window.runqueue("wakeup").count)
        for what, seen in (("blocked", window.blocked()), ("run queue", window.runqueue())):
            self.expect_at_most(f"longest {what} (twice the test)",
                                2 * (window.after.time - window.before.time), seen.longest())
        self.expect_at_most("threads without state", window.allowed_losses().get("no_thread_state", 0),
                            window.lost().get("no_thread_state", 0))

    def test_killed_while_asleep(self):
        """SIGKILL ends the sleep: counted once, as long as it was, and nothing after it."""
        cgroup = self.new_cgroup()
        before = self.daemon.scrape()
        process = sleep_in(cgroup, 100)
        time.sleep(0.7)
        process.kill()
        process.wait()
        time.sleep(0.05)
        after = self.daemon.scrape()
        buckets, seconds = after.histogram(BLOCKED, cgroup=cgroup.path, reason="sleep")
        self.expect_equal("sleeps", 1, int(sum(buckets.values())))
        self.expect_close("seconds", 0.7, seconds, 0.1, absolute=0.15)
        self.expect_equal("negative durations", before.lost()["negative_duration"],
                          after.lost()["negative_duration"])


class LeftCensored(Case):
    settings = {}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        cls.cgroup = host.Cgroup(f"{PREFIX}-left-censored")
        cls.addClassCleanup(cls.cgroup.remove)
        cls.sleepers = [sleep_in(cls.cgroup, 4.0) for _ in range(5)]
        cls.addClassCleanup(lambda: [p.wait() for p in cls.sleepers])
        time.sleep(0.3)
        super().setUpClass()

    def test_threads_asleep_at_attach_are_counted_and_not_timed(self):
        """Their first sleep has no beginning: no duration is made up for it."""
        scrape = self.daemon.scrape()
        self.expect_at_least("threads left-censored", 5,
                             scrape.value("offcpud_threads_left_censored_total"))
        for process in self.sleepers:
            process.wait()
        time.sleep(0.1)
        buckets, seconds = self.daemon.scrape().histogram(
            BLOCKED, cgroup=self.cgroup.path, reason="sleep")
        self.expect_equal("sleeps", 0, int(sum(buckets.values())))
        self.expect_equal("their seconds", 0.0, seconds)


class FewPlaces(Case):
    settings = {"max_cgroups": 16}

    def test_full_table_is_counted_and_totals_stay_true(self):
        """D10: 40 active cgroups in 16 places: the rest is in "(other)", and said to be, in
        the log too."""
        cgroups = [self.new_cgroup() for _ in range(40)]
        before = self.daemon.scrape()
        old, _ = before.histogram(BLOCKED, reason="sleep")
        processes = [sleep_in(cgroup, 0.45) for cgroup in cgroups]
        for process in processes:
            process.wait()
        time.sleep(0.05)
        after = self.daemon.scrape()
        new, _ = after.histogram(BLOCKED, reason="sleep")
        sleeps = {le: n - old.get(le, 0) for le, n in new.items()}
        missed = sum(after.lost()[c] - before.lost()[c] for c in ("missed_switch", "missed_wakeup"))
        self.expect_at_least("sleeps of 0.25 to 0.5 s over all series",
                             40 - (missed if host.init_is_guarded() else 0), int(sleeps[0.5]))
        lost = after.lost()["cgroup_table_full"] - before.lost()["cgroup_table_full"]
        self.expect_at_least("events of cgroups without a place", 24, int(lost))
        other, _ = after.histogram(BLOCKED, cgroup="(other)", reason="sleep")
        self.expect_at_least('sleeps in "(other)"', 20, int(sum(other.values())))
        named = [c for c in after.cgroups() if c.startswith(PREFIX)]
        self.expect_at_most("cgroups with a place", 16, len(named))
        warnings = [line for line in self.daemon.log() if "cause cgroup_table_full" in line]
        self.expect_equal("warnings of it in the log, once a minute at most", 1, len(warnings))


class Reused(Case):
    @classmethod
    def setUpClass(cls):
        # Room for what is there and for ten more: the next ten need the places of the first.
        if not host.unavailable():
            cls.settings = {"max_cgroups": max(16, host.cgroups_present() + 12), "linger": "300s"}
        super().setUpClass()

    def test_place_and_name_of_a_removed_cgroup_start_from_zero(self):
        """D19: the kernel's place of a removed cgroup goes to another one, which must not inherit
        its numbers; a path that is made again continues its own."""
        first = [self.new_cgroup() for _ in range(10)]
        for process in [sleep_in(cgroup, 0.2) for cgroup in first]:
            process.wait()
        time.sleep(0.1)
        scrape = self.daemon.scrape()
        self.expect_equal("cgroups of the first ten with a series", 10,
                          sum(1 for c in first if c.path in scrape.cgroups()))
        used = scrape.value("offcpud_map_entries", map="cgroup_subjects")
        places = scrape.value("offcpud_map_capacity", map="cgroup_subjects")
        self.expect_at_least("places in use, and those of the next ten", places + 1, used + 10)
        for cgroup in first:
            cgroup.remove()
        until = time.monotonic() + 12  # what the daemon waits before it gives a place away
        while time.monotonic() < until:
            time.sleep(1)
            self.daemon.scrape()
        full = self.daemon.scrape().lost()["cgroup_table_full"]
        second = [self.new_cgroup() for _ in range(9)] + [host.Cgroup(first[0].path)]
        for process in [sleep_in(cgroup, 0.02) for cgroup in second]:
            process.wait()
        time.sleep(0.1)
        after = self.daemon.scrape()
        self.expect_equal("cgroups that found no place", 0, int(after.lost()["cgroup_table_full"] - full))
        for cgroup in second[:9]:
            buckets, seconds = after.histogram(BLOCKED, cgroup=cgroup.path, reason="sleep")
            self.expect_at_most("sleeps of a new cgroup", 1, int(sum(buckets.values())))
            self.expect_at_most("its seconds", 0.19, seconds)
        buckets, seconds = after.histogram(BLOCKED, cgroup=first[0].path, reason="sleep")
        self.expect_equal("sleeps of the path that came back", 2, int(sum(buckets.values())),
                          1 if host.init_is_guarded() else 0)


@slow
class NamedInTime(Case):
    settings = {"max_cgroups": 4096, "max_series": 20_000, "classic_buckets": 14}

    def test_cgroup_of_a_moment_keeps_its_name_while_scrapes_never_stop(self):
        """One that comes and goes while a pass reads the counters is told of in time for that pass.
        It lives for less time than a pass takes, so no walk over the directories finds its name.
        `max_series` has room for all, so none is in "(other)"."""
        count = 2_000
        parent = self.new_cgroup()
        churn = self.start("cgroup_churn", "--parent", parent.directory, "--count", count,
                           "--us", 500, "--name", "brief-")
        churn.go()
        scrapes = 0
        while not readable(churn.process.stdout, 0):
            self.daemon.ask_for_a_pass()
            scrapes += 1
        window = churn.finish()
        self.expect_at_least("scrapes meanwhile", 200, scrapes)
        known = {c for c in window.after.scrape.cgroups() if c.startswith(f"{parent.path}/brief-")}
        self.expect_equal(f"names of {count} cgroups", count, len(known), window.slack())
        sleeps = sum(window.blocked("sleep", c).count for c in known)
        self.expect_equal("sleeps in them", count, sleeps, window.slack())
        self.expect_equal('sleeps in "(unknown)"', 0, window.blocked("sleep", "(unknown)").count)
        self.expect_equal('waits for a CPU in "(unknown)"', 0,
                          window.runqueue(cgroup="(unknown)").count)


@slow
class ManyShortLived(Case):
    settings = {"max_series": 150, "max_cgroups": 8192, "linger": "10s"}

    def test_series_stay_bounded(self):
        """D14: 2,000 cgroups that live for moments: their series fold, the totals stay."""
        parent = self.new_cgroup()
        churn = self.start("cgroup_churn", "--parent", parent.directory, "--count", 2_000, "--us", 500)
        churn.go()
        most, before = 0, churn.before.scrape
        while not readable(churn.process.stdout, 0.3):
            most = max(most, self.daemon.scrape().value("offcpud_series"))
        window = churn.finish()
        self.expect_nothing_lost(window, folded=("takers_full",))
        self.expect_at_most("histogram series at any time (max_series and those of (other) and "
                            "(removed))", 150 + 2 * 14, int(most))
        old, _ = before.histogram(BLOCKED, reason="sleep")
        new, _ = window.after.scrape.histogram(BLOCKED, reason="sleep")
        self.expect_at_least("sleeps over all series", 2_000 - window.slack(),
                             int(sum(new.values()) - sum(old.values())))
        for _ in range(12):
            time.sleep(1)
            scrape = self.daemon.scrape()
        left = [c for c in scrape.cgroups() if c.startswith(f"{parent.path}/short-")]
        self.expect_at_most("series of removed cgroups after `linger`", 0, len(left))


def readable(stream, seconds):
    return select.select([stream], [], [], seconds)[0]


if __name__ == "__main__":
    main()
