# SPDX-License-Identifier: Apache-2.0
"""What tests of offcpud_waited_on_seconds_total share: programs in units of their own, and whom they wait on."""

import itertools
import os
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

from case import Case
from daemon import die_with_the_tester

HERE = Path(__file__).resolve().parent
METRIC = "offcpud_waited_on_seconds_total"
WAITS = "offcpud_wait_seconds"
PROGRAMS = [sys.executable, HERE / "waiting_programs.py"]
NOBODY = ("(unknown)", "(nobody)")


class WaitedOnCase(Case):
    settings = {"pass_interval": "1s", "min_pass_interval": "100ms", "snapshots.interval": "5s",
                "snapshots.stacks_per_second": "2000"}
    _units = itertools.count(1)

    def new_unit(self, name):
        """A cgroup whose path is that of a unit of systemd; its `unit` has the name."""
        unit = f"{name}-{next(self._units)}-{os.getpid()}.service"
        cgroup = self.new_cgroup(f"/{unit}")
        cgroup.unit = unit
        return cgroup

    def run_in(self, cgroup, *command, namespace=None, **options):
        """The program, in the cgroup and in a network namespace."""
        def enter():
            die_with_the_tester()
            cgroup.enter()

        words = [str(word) for word in command]
        if namespace:
            words = ["ip", "netns", "exec", namespace, *words]
        program = subprocess.Popen(words, preexec_fn=enter, text=True, **options)
        self.addCleanup(program.wait, 20)
        self.addCleanup((cgroup.directory / "cgroup.kill").write_text, "1")  # its children, too
        return program

    def serve(self, cgroup, kind, address, **options):
        program = self.run_in(cgroup, *PROGRAMS, "serve", kind, address, stdout=subprocess.PIPE, **options)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "listening\n")
        return program

    def waited_on(self, cgroup):
        """{(for, on): seconds} of the cgroup so far."""
        family = self.daemon.scrape().families.get(METRIC)
        sums = Counter()
        for (_, having), seconds in family.samples.items() if family else ():
            labels = dict(having)
            if labels["cgroup"] == cgroup.path:
                sums[labels["for"], labels["on"]] += seconds
        return sums

    def until_told(self):
        """The waits up to now have been told: a process that ends now has its row. A busy host takes long to read the
        functions of programs that it has not seen before."""
        last = self.new_cgroup()
        self.run_in(last, "sleep", "0.3").wait()
        self.wait_until("windows tell what was waited on", lambda: self.waited_on(last), 90)
        time.sleep(1)

    def expect_on(self, what, cgroup, wanted, purposes=("answer",), share=0.99, also=()):
        """So much of the time that is for these is on `wanted`, and none on anybody else but `also`."""
        sums = self.waited_on(cgroup)
        print(f"  {what}: { {' '.join(key): round(seconds, 3) for key, seconds in sums.items()} }", flush=True)
        seen = Counter()
        for (purpose, on), seconds in sums.items():
            if purpose in purposes:
                seen[on] += seconds
        total = sum(seen.values())
        self.expect_at_least(f"{what}: seconds for {purposes}", 0.5, round(total, 3))
        wrong = {on: seconds for on, seconds in seen.items() if on not in (wanted, *also, *NOBODY)}
        self.expect_equal(f"{what}: seconds on anybody but {wanted}", {}, wrong)
        self.expect_at_least(f"{what}: share on {wanted}", share, round(seen[wanted] / total, 4))

    def expect_equal(self, what, expected, seen, slack=0):
        if isinstance(expected, dict):
            return self.say(expected == seen, what, expected, seen)
        return super().expect_equal(what, expected, seen, slack)

    def expect_sums(self, cgroup):
        """Summed over `on` it is what they were for."""
        by_on, by_for = Counter(), Counter()
        scrape = self.daemon.scrape()
        for (_, having), seconds in scrape.families[METRIC].samples.items():
            labels = dict(having)
            if labels["cgroup"] == cgroup.path:
                by_on[labels["for"]] += seconds
        for having, one in scrape.families[WAITS].histograms.items():
            labels = dict(having)
            if labels["cgroup"] == cgroup.path:
                by_for[labels["for"]] += one.sum
        for purpose, seconds in by_for.items():
            self.expect_close(f"seconds for {purpose}, summed over whom they are on", seconds,
                              by_on[purpose], 1e-6, 1e-6)
