# SPDX-License-Identifier: Apache-2.0
"""What waits are for while the code of their process changes, by exec and by dlopen: where the address of
a function has been that of another one a moment ago, no second of a wait is for what the other one waits
for."""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from case import main
from daemon import BUILD, die_with_the_tester
from snapshots_test import SnapshotCase

FOLDER = BUILD / "tests" / "integration"
PHASES = 10  # of a second
KINDS = ("convoy", "jobs")
FUNCTIONS = {"convoy": "wait_in_convoy", "jobs": "wait_for_a_job"}
RULES = """sites:
  - {name: test-convoy, for: lock, reason: lock | condvar, match: "... < wait_in_convoy"}
  - {name: test-jobs, for: work, reason: lock | condvar, match: "... < wait_for_a_job"}
"""
# Opens one library after the other, and says where each was. A wait's frames are located some moments after
# its end (on a busy host a second), with the libraries of that time: the kernel does not report that one is
# closed. So what is closed at once would have the names of what comes after it.
OPENER = """
import _ctypes, ctypes, sys, time
for i in range(int(sys.argv[3])):
    library = ctypes.CDLL(sys.argv[1 + i % 2])
    print(ctypes.cast(library.phase, ctypes.c_void_p).value, flush=True)
    library.phase(1)
    time.sleep(3)
    _ctypes.dlclose(library._handle)
"""


class ChangingCode(SnapshotCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-changing-code-")
        cls.addClassCleanup(folder.cleanup)
        config, rules = Path(folder.name) / "offcpud.yaml", Path(folder.name) / "wait-sites" / "own.yaml"
        config.write_text("snapshots: {interval: 1s, stacks_per_second: 20000}\n")
        rules.parent.mkdir()
        rules.write_text(RULES)
        cls.settings = {"config": config}
        super().setUpClass()

    def run_to_its_end(self, *command):
        """What it printed, and the rows of its threads' waits. A busy host repeats it: see there."""
        return self.until_all_are_located(lambda: self.run_once(*command))

    def run_once(self, *command):
        cgroup = self.new_cgroup()

        def enter():
            die_with_the_tester()
            cgroup.enter()

        self.wait_for_interval(0.001)
        begin = time.time()
        done = subprocess.run([str(word) for word in command], preexec_fn=enter, capture_output=True,
                              text=True, timeout=120, check=True)
        return done.stdout, self.stacks_since(begin, cgroup=cgroup.path).rows

    def expect_no_other_class(self, rows):
        """Threads are named after what they wait for, but when they sleep."""
        seen = Counter()
        for row in rows:
            truth = row["thread"].partition("-")[0]
            if truth in ("lock", "work") and row["reason"] in ("lock", "condvar"):
                seen[truth, row["for"]] += row["ns"] / 1e9
                if row["for"] not in (truth, "unknown"):
                    print(f"  {row['ns'] / 1e9:.3f} s {row['thread']} {row['for']}: {row['stack']}", flush=True)
        print(f"  seen { {key: round(seconds, 3) for key, seconds in seen.items()} }", flush=True)
        other = {key: seconds for key, seconds in seen.items() if key[0] != key[1] and key[1] != "unknown"}
        self.say(not other, "seconds for something else", {}, other)
        for truth in ("lock", "work"):
            # Three take turns, one of whom naps with the lock, and a fourth one waits for long.
            self.expect_at_least(f"seconds of {truth}", 0.7 * 3 * PHASES / 2, round(seen[truth, truth], 3))

    def test_a_library_where_another_one_was(self):
        libraries = [FOLDER / f"libchanging_{kind}.so" for kind in KINDS]
        said, rows = self.run_to_its_end(sys.executable, "-c", OPENER, *libraries, PHASES)
        self.expect_equal("addresses of the libraries", 1, len(set(said.split())))
        self.expect_no_other_class(rows)

    def test_a_program_that_becomes_another_one_while_its_threads_wait(self):
        programs = [FOLDER / f"changing_{kind}" for kind in KINDS]
        places = {self.address_of(FUNCTIONS[kind], program) for kind, program in zip(KINDS, programs)}
        self.expect_equal("addresses of the functions", 1, len(places))
        _, rows = self.run_to_its_end(*programs, PHASES - 1)
        self.expect_no_other_class(rows)

    def address_of(self, function, program):
        symbols = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
        return next(line.split()[0] for line in symbols.splitlines() if line.endswith(f" T {function}"))


if __name__ == "__main__":
    main()
