# SPDX-License-Identifier: Apache-2.0
"""An idle hour notices time that is in no `for`, and time that is there twice."""

import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("integration", "support")]
import report  # noqa: E402
from promises import Promises  # noqa: E402


class Page:
    def __init__(self, blocked, wait, variance=0.0, lost=0.0):
        self.sums = {report.BLOCKED: blocked, report.WAIT: wait}
        self.values = {report.VARIANCE: variance, report.LOST: lost}

    def histogram(self, family, cgroup):
        return {}, self.sums[family] if cgroup == "/a" else 0.0

    def value(self, name, **_labels):
        return self.values[name]


def broken(*pages):
    promises = Promises()
    report.judge_identity(promises, pages, {"/a", "/b"})
    return promises.broken


class Identity(unittest.TestCase):
    """Waits of 10 s come between two pages each."""

    def pages(self, seen, **more):
        return Page(100, 95), Page(110, 100), Page(1000, 980), Page(1010, 100 + seen, **more)

    def test_what_is_late_is_not_missing(self):
        for seen in (890, 900, 910):
            self.assertFalse(broken(*self.pages(seen)), seen)

    def test_what_is_missing_and_what_is_there_twice_is_told(self):
        for seen in (880, 920):
            self.assertTrue(broken(*self.pages(seen)), seen)

    def test_three_standard_errors_are_allowed_and_what_was_lost(self):
        self.assertFalse(broken(*self.pages(872, variance=36.0)))
        self.assertTrue(broken(*self.pages(868, variance=36.0)))
        self.assertFalse(broken(*self.pages(872, lost=18.0)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
