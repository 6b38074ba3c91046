# SPDX-License-Identifier: Apache-2.0
"""How long goroutines waited, against what a Go program measures of its own; what why says of them; and what looking at
100,000 of them costs."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

from case import main
from goroutines_test import compilers
from waited_on_case import HERE, WaitedOnCase

METRIC = "offcpud_goroutine_wait_seconds_total"


class WatchedGoroutines(WaitedOnCase):
    settings = {**WaitedOnCase.settings, "goroutines.interval": "250ms", "goroutines.cpu_budget": "50ms"}
    patience = 60

    @classmethod
    def setUpClass(cls):
        cls.skip_if(not compilers() and "go is not installed (Debian: golang-go)")
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.program = Path(folder.name) / "timed"
        environment = {"PATH": "/usr/bin:/bin", "HOME": folder.name, "GO111MODULE": "off",
                       "GOCACHE": str(Path(folder.name) / "cache"), "GOTOOLCHAIN": "local"}
        subprocess.run([next(iter(compilers().values())), "build", "-o", cls.program,
                        HERE / "timed_goroutines.go"], env=environment, check=True)

    def begin(self, unit, *arguments):
        process = self.run_in(unit, self.program, *arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.stdout.close)
        return process

    def waited(self, unit):
        """{for: seconds}"""
        family = self.daemon.scrape().families.get(METRIC)
        samples = family.samples.items() if family else ()
        return {dict(having)["for"]: seconds for (_, having), seconds in samples
                if dict(having)["cgroup"] == unit.path}

    def next_window(self, unit):
        """What waited, as soon as that has grown."""
        before = self.waited(unit)

        def has_grown():
            time.sleep(0.3)
            return self.waited(unit) != before

        self.wait_until("a window ends", has_grown)
        return self.waited(unit)

    def test_totals_are_those_that_the_program_measures(self):
        unit = self.new_unit("mixed")
        process = self.begin(unit, "mixed")

        def told():
            process.stdin.write("\n")
            process.stdin.flush()
            return json.loads(process.stdout.readline())

        self.next_window(unit)
        seen, true = self.next_window(unit), told()
        for _ in range(6):
            later_seen, later_true = self.next_window(unit), told()
        seconds = later_true["seconds"] - true["seconds"]
        self.expect_at_least("seconds", 55, round(seconds))
        for purpose in ("lock", "answer", "timer", "work"):
            expected = (later_true[purpose] - true[purpose]) / seconds
            average = (later_seen[purpose] - seen[purpose]) / seconds
            self.expect_close(f"goroutines that wait for {purpose}, on average", expected, average, 0.05)
        grown = {purpose: later_seen[purpose] - seen.get(purpose, 0) for purpose in later_seen}
        known = sum(grown.get(purpose, 0) for purpose in ("lock", "answer", "timer", "work"))
        self.expect_at_least("share of what is known of it", 0.99, round(known / sum(grown.values()), 4))

    def test_why_names_the_function_that_waits_for_a_lock(self):
        unit = self.new_unit("convoy")
        process = self.begin(unit, "convoy")
        self.next_window(unit)
        self.next_window(unit)
        text = self.daemon.offcpuctl("why", unit.unit)
        print(text, flush=True)
        wanted = f"goroutines of timed (pid {process.pid}) wait for a lock in main.chargeCard"
        self.say(wanted in text, "why says", wanted, "")
        self.say("who holds it is unknown" in text, "why says who holds it", "unknown", "")
        answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}")
        first = answer["goroutines"]["waits"][0]
        self.expect_close("goroutines that wait for the lock", 5, first["goroutines"], 0.1)
        whole = self.daemon.offcpuctl("why")
        self.say("main.chargeCard" in whole, "why of the host names it, too", True, whole)

    def test_many_cost_no_more_than_is_allowed_and_it_is_said_what_is_skipped(self):
        unit = self.new_unit("many")
        process = self.begin(unit, "many", "100000")
        self.assertEqual(process.stdout.readline(), "ready\n")
        self.next_window(unit)
        seen = self.next_window(unit)
        scrape, begin = self.daemon.scrape(), time.monotonic()
        for _ in range(3):
            later_seen = self.next_window(unit)
        later, seconds = self.daemon.scrape(), time.monotonic() - begin

        def grown(name):
            return later.value(name) - scrape.value(name)

        cost = grown("offcpud_goroutine_cpu_seconds_total") / seconds
        print(f"  in {seconds:.1f} s: {grown('offcpud_goroutine_looks_total')} looks, "
              f"{grown('offcpud_goroutines_looked_at_total'):.0f} goroutines, "
              f"{grown('offcpud_goroutines_left_out_total'):.0f} left out, {cost * 1e3:.1f} ms of CPU a second")
        self.expect_at_most("CPU time in a second, ms", 55, round(cost * 1e3, 1))
        self.expect_at_least("goroutines that are left out", 100_000,
                             int(grown("offcpud_goroutines_left_out_total")))
        self.expect_close("goroutines that wait for work", 100_000,
                          (later_seen["work"] - seen["work"]) / seconds, 0.05)


if __name__ == "__main__":
    main()
