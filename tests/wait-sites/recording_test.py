# SPDX-License-Identifier: Apache-2.0
"""What is written of a measurement is what LabelledStacks reads, and no more of each site than is said."""

import sys
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
import recording  # noqa: E402
from truth import Role, Verdict  # noqa: E402

SCENARIO = SimpleNamespace(program="C++", name="cpp-threads")
CGROUP = SimpleNamespace(path="/a")


def row(stack, seconds=1.0, **more):
    return {"comm": "threads", "thread": "lock-0", "pid": 1, "reason": "lock", "for": "lock", "site": "mutex",
            "in_progress": False, "episodes": 10, "ns": seconds * 1e9, "stack": stack, **more}


def written(*rows, role=None):
    verdict = Verdict()
    verdict.compare(role or Role("threads", CGROUP), rows, 10)
    record = recording.Recording()
    record.add(SCENARIO, verdict)
    return record.files().get("cpp-threads", [])


class Recorded(unittest.TestCase):
    def test_a_line_has_truth_and_stack(self):
        self.assertEqual(written(row("main{app};pthread_mutex_lock{libc.so.6};futex_wait_[k]", 1.5)),
                         ["lock;C++;cpp-threads;lock|threads;main{app};pthread_mutex_lock{libc.so.6};futex_wait_[k] "
                          "1500000"])

    def test_the_heaviest_of_a_site(self):
        lines = written(*(row(f"f{i}{{app}}", i) for i in range(1, 9)))
        self.assertEqual(len(lines), recording.KEPT)
        self.assertTrue(all("f8{" in line or "f7{" in line for line in lines), lines)

    def test_no_more_of_all_programs(self):
        record = recording.Recording()
        for i in range(recording.KEPT_OF_SITE + 2):
            verdict = Verdict()
            verdict.compare(Role("threads", CGROUP), [row(f"f{i}{{app}}")], 10)
            record.add(SimpleNamespace(program=f"p{i}", name="all"), verdict)
        self.assertEqual(len(record.files()["all"]), recording.KEPT_OF_SITE)

    def test_truth_counts_and_not_what_was_said(self):
        self.assertTrue(written(row("f{app}", **{"for": "work"}))[0].startswith("lock;"))

    def test_what_is_left_out(self):
        self.assertEqual(written(row("f{app}", site="")), [], "without a site")
        self.assertEqual(written(row("[app+0x12]{app};f{app}")), [], "names are still to be read")
        self.assertEqual(written(row("f{app}", 0.04)), [], "too little time")
        self.assertEqual(written(row("f{app}", thread="-main")), [], "truth is not known")

    def test_a_crowd_only_if_its_numbers_are_right(self):
        for seconds, lines in ((10.0, 1), (20.0, 0)):
            role = Role("server", CGROUP, "work")
            role.numbers = {"lock": 1}
            self.assertEqual(len(written(row("f{app}", seconds, in_progress=True), role=role)), lines)

    def test_the_loop_of_python_in_place_of_its_functions(self):
        stack = "main{python3.11};run (a.py){[python]};wait (b.py){[python]};take{python3.11};go (c.py){[python]}"
        loop = "_PyEval_EvalFrameDefault{python3.11}"
        self.assertEqual(recording.as_rules_see_it(stack), f"main{{python3.11}};{loop};take{{python3.11}};{loop}")

    def test_files(self):
        verdict = Verdict()
        verdict.compare(Role("threads", CGROUP), [row("f{app}")], 10)
        record = recording.Recording()
        record.add(SCENARIO, verdict)
        with tempfile.TemporaryDirectory() as folder:
            record.write(Path(folder) / "new")
            self.assertEqual((Path(folder) / "new" / "cpp-threads.folded").read_text(),
                             "lock;C++;cpp-threads;lock|threads;f{app} 1000000\n")


if __name__ == "__main__":
    unittest.main()
