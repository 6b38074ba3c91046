# SPDX-License-Identifier: Apache-2.0
"""Every context switch of the host is accounted for: under load, while scrapes come ten a second."""

import os
import time

import host
from case import Case, main
from daemon import BLOCKED, RUNQUEUE

SECONDS = float(os.environ.get("OFFCPUD_HOT_SECONDS", "10"))


class Moment:
    """A scrape between two readings of the host's counter of context switches."""

    def __init__(self, daemon):
        self.switches_before = host.switches_of_host()
        self.scrape = daemon.scrape()
        self.switches_after = host.switches_of_host()
        self.forks = host.forks()
        self.init = host.switches_of_init()
        self.idle = host.idle_seconds()
        self.lost = sum(self.scrape.lost().values())

    def departures(self):
        """Episodes that began with a switch: blocked, preempted and throttled."""
        total = 0
        for family, labels in ((BLOCKED, {}), (RUNQUEUE, {"cause": "preempted"}),
                               (RUNQUEUE, {"cause": "throttled"})):
            buckets, _ = self.scrape.histogram(family, **labels)
            total += sum(buckets.values())
        return total


class Hot(Case):
    settings = {}

    def test_switches_of_the_host(self):
        """Ping-pong on every CPU beside a spinner, so that no CPU idles: the switches of /proc/stat
        are the episodes of all cgroups, but for those of dead threads and in progress."""
        workloads = []
        for cpu in range(os.cpu_count()):
            workloads += [self.start("spinner", "--threads", 1, "--ms", 600_000, "--cpu", cpu),
                          self.start("ping_pong", "--count", 100_000_000, "--cpu0", cpu, "--cpu1",
                                     cpu)]
        for workload in workloads:
            self.addCleanup(workload.process.kill)
            workload.go()
        time.sleep(0.5)
        before = now = Moment(self.daemon)
        departures, counted = before.departures(), 0
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            time.sleep(0.1)
            now = Moment(self.daemon)
            more = now.departures()
            self.assertGreaterEqual(more, departures, "the total over all series went down")
            counted, departures = counted + more - departures, more
        idle = now.idle - before.idle
        if idle > 0.03 * SECONDS:
            self.skipTest(f"{idle:.2f} s of idle time: idle tasks switched too")
        lost = now.lost - before.lost
        forks, init = now.forks - before.forks, 2 * (now.init - before.init)
        least = now.switches_before - before.switches_after
        most = now.switches_after - before.switches_before
        # Of the idle time's switches at most one in 20 us; a thread's last switch is no episode; one
        # in progress at either end belongs to the other.
        margin = forks + lost + init + 500 + idle / 20e-6
        print(f"  {counted / SECONDS:.0f} switches a second, {forks} forks, {lost} lost")
        self.expect_at_least("switches a second of the load", 20_000, round(counted / SECONDS))
        self.expect_at_least("episodes (switches of /proc/stat)", least - margin - 0.001 * least,
                             counted)
        self.expect_at_most("episodes (switches of /proc/stat)", most + 500, counted)


if __name__ == "__main__":
    main()
