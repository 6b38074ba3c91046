# SPDX-License-Identifier: Apache-2.0
"""Waits that are far longer than usual where no rule knows what they are for."""

import time

from case import Case, main
from daemon import DEFAULTS
from snapshots_test import Stacks

LIVELY, SILENT = 80, 40  # seconds
# Evidence needs two snapshots of a minute; at 200 stacks a second, a silence takes longer to be noticed.
LIVELY_BY_DEFAULT, SILENT_BY_DEFAULT = 260, 120


class Unusual(Case):
    settings = {"pass_interval": "1s", "min_pass_interval": "100ms",
                "snapshots.stacks_per_second": "2000"}

    def unusual(self, workload, **query):
        """{thread: wait}, and the stalls of the workload."""
        query["cgroup"] = workload.cgroup.path
        text = "&".join(f"{name}={value}" for name, value in query.items())
        answer = self.daemon.get_json_as_root(f"/api/v1/stalls?{text}")
        return ({wait["comm"]: wait for wait in answer["unusual"]},
                {stall["comm"]: stall for stall in answer["stalls"]})

    def test_a_worker_whose_peer_stopped(self):
        """Two workers get a message every 10 ms, then none. The unit of one goes on working: it is
        shown within 15 s. That of the other is idle as well: it is not."""
        works = self.start("messages", "--lively", LIVELY * 1000, "--silent", SILENT * 1000)
        home = self.start("messages", "--lively", LIVELY * 1000, "--silent", SILENT * 1000,
                          "--home", 1)
        works.go()
        home.go()
        began = time.monotonic()
        while time.monotonic() < began + LIVELY - 1:
            for each in (works, home):
                self.assertEqual(self.unusual(each), ({}, {}), "while they work")
            time.sleep(1)
        self.wait_until("the worker is shown", lambda: "worker" in self.unusual(works)[0], 16)
        waited = time.monotonic() - began - LIVELY
        found, stalls = self.unusual(works)
        self.assertEqual((set(found), stalls), ({"worker"}, {}), "apart from stalls")
        self.expect_at_most("seconds from the silence on", 15, waited)
        self.check_usual(found["worker"])
        self.expect_at_least("the metric", 1, self.daemon.scrape().value("offcpud_unusual_waits"))
        until = began + LIVELY + SILENT - 5
        while time.monotonic() < until:
            self.assertEqual(self.unusual(home)[0], {}, "an idle unit has no work to do")
            time.sleep(1)
        _, unknown = self.unusual(home, **{"for": "unknown"})
        self.expect_at_least("seconds that the other one has waited", 20,
                             unknown["worker"]["duration_seconds"])
        works.finish()
        home.finish()
        self.wait_until("it is over", lambda: not self.unusual(works)[0])

    def check_usual(self, wait):
        usual = wait["usual"]
        print(f"       {wait['duration_seconds']:.1f} s, usually {usual}", flush=True)
        for member, expected in (("for", "unknown"), ("state", "in_progress")):
            self.say(wait[member] == expected, member, expected, wait[member])
        self.expect_at_least("its own length", 10, wait["duration_seconds"])
        self.expect_close("number of waits", LIVELY * 100, usual["waits"], 0.3)
        self.expect_at_least("99 % of them", 0.004, usual["p99_seconds"])
        self.expect_at_most("99 % of them", 0.1, usual["p99_seconds"])
        self.expect_close("seconds in which they were seen", LIVELY, usual["seen_seconds"], 0.1)


class UnusualByDefault(Case):
    """With a daemon's own settings, where wakers, not a rule, say what waits are for."""

    settings = DEFAULTS

    def test_a_worker_on_a_condition_whose_peer_stopped(self):
        works = self.start("messages", "--lively", LIVELY_BY_DEFAULT * 1000, "--silent",
                           SILENT_BY_DEFAULT * 1000, "--condition", 1)
        path = f"/api/v1/stalls?cgroup={works.cgroup.path}"
        works.go()
        began = time.monotonic()
        while time.monotonic() < began + LIVELY_BY_DEFAULT - 1:
            self.assertEqual(self.daemon.get_json_as_root(path)["unusual"], [], "while it works")
            time.sleep(1)
        merged = f"/api/v1/snapshots/merge?from=-70s&cgroup={works.cgroup.path}"
        rows = Stacks(self.daemon.get_json(merged)).rows
        said = {row["for"] for row in rows if row["thread"] == "worker" and row["reason"] == "condvar"}
        self.say(said == {"work"}, "what wakers say that it waits for", {"work"}, said)

        def shown():
            return [wait["comm"] for wait in self.daemon.get_json_as_root(path)["unusual"]] == ["worker"]

        self.wait_until("the worker is shown", shown, SILENT_BY_DEFAULT - 10)
        print(f"       after {time.monotonic() - began - LIVELY_BY_DEFAULT:.1f} s", flush=True)
        answer = self.daemon.get_json_as_root(path)
        self.say(not answer["stalls"], "stalls of its unit", [], answer["stalls"])
        works.finish()
        self.wait_until("it is over", lambda: not self.daemon.get_json_as_root(path)["unusual"])


if __name__ == "__main__":
    main()
