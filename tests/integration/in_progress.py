# SPDX-License-Identifier: Apache-2.0
"""What tests of waits in progress share: passes counted, ages compared, stalls looked up."""

import time

from case import Case

PASS_SECONDS = 1.0


def passes(scrape):
    """How many passes this page is the result of."""
    stages = scrape.families["offcpud_pass_duration_seconds"].histograms.values()
    return int(max(one.count for one in stages))


class InProgressCase(Case):
    """With a pass each second, scraped or not, so that passes can be counted."""

    settings = {"pass_interval": "1s", "min_pass_interval": "1s", "stalls.threshold": "2s",
                "stalls.over": "[1s, 2s, 60s]"}

    def within_two_passes(self, what, holds, since=None, most=2):
        """The first scrape of which `holds` is true, at most two passes, or `most`, after `since`."""
        first = passes(since or self.daemon.scrape())
        until = time.monotonic() + 20 * PASS_SECONDS
        while time.monotonic() < until:
            scrape = self.daemon.scrape()
            if holds(scrape):
                self.expect_at_most(f"passes until {what}", most, passes(scrape) - first)
                return scrape
            if passes(scrape) > first + most:
                break
            time.sleep(0.1)
        self.fail(f"not within {most} passes: {what}")

    def expect_age(self, what, scrape, began, seen):
        """Of the pass that the page shows, against the wall clock when it began."""
        of_pass = scrape.value("offcpud_last_pass_timestamp_seconds")
        self.expect_close(what, of_pass - began, seen, tolerance=0, absolute=1.0)

    @staticmethod
    def blocked_now(scrape, cgroup, reason):
        return int(scrape.value("offcpud_blocked_threads", cgroup=cgroup.path, reason=reason))

    @staticmethod
    def oldest(scrape, cgroup, reason):
        return scrape.value("offcpud_oldest_blocked_seconds", cgroup=cgroup.path, reason=reason)

    @staticmethod
    def stalled(scrape, cgroup, reason, over):
        return int(scrape.value("offcpud_stalled_threads", cgroup=cgroup.path, reason=reason,
                                over=over))

    def stall_of(self, cgroup, comm, state=None, query=""):
        """The newest stall of such a thread; None when there is none. `query`: "?for=unknown" also
        finds those that are not told."""
        for stall in self.daemon.get_json_as_root("/api/v1/stalls" + query)["stalls"]:
            if stall["cgroup"] == cgroup.path and stall["comm"] == comm:
                if state is None or stall["state"] == state:
                    return stall
        return None
