# SPDX-License-Identifier: Apache-2.0
"""A measurement fails where a bound is broken, however little, and where nothing was measured."""

import sys
import unittest

sys.dont_write_bytecode = True
import bounds  # noqa: E402
from scenario import APART, NO_RULES, RULES  # noqa: E402


def scenario(group, *pairs, stalls=()):
    return ["a program", group, [list(pair) for pair in pairs], list(stalls)]


def good(**others):
    """Sums that keep each bound just so, with some of them replaced."""
    return {
        "rules": scenario(RULES, ("lock", "lock", 9800), ("lock", "work", 50), ("work", "work", 89_900),
                          ("work", "answer", 50)),
        "none": scenario(NO_RULES, ("answer", "answer", 90), ("work", "work", 89_900), ("work", "lock", 10)),
        "apart": scenario(APART, ("answer", "answer", 90), ("work", "work", 89_900), ("timer", "lock", 10)),
        **others}


def broken(sums, scenarios=3):
    return [sentence.partition("; measured")[0] for sentence in bounds.broken(sums, scenarios)]


class Bounds(unittest.TestCase):
    def test_what_keeps_them_passes(self):
        self.assertEqual(broken(good()), [])

    def test_each_of_them_fails(self):
        cases = {
            "with rules: right": (("lock", "lock", 1e4), ("timer", "work", 310)),
            "with rules: precision": (("lock", "lock", 979), ("work", "lock", 21), ("work", "work", 1e4)),
            "with rules: recall": (("lock", "lock", 899), ("lock", "unknown", 101), ("work", "work", 1e4)),
        }
        for what, pairs in cases.items():
            with self.subTest(what):
                sums = good(rules=scenario(RULES, *pairs))
                self.assertEqual([each.partition(": at")[0] for each in broken(sums)], [what])
        for group in (NO_RULES, APART):
            sums = scenario(group, ("answer", "answer", 899), ("timer", "lock", 101), ("work", "work", 1e5))
            self.assertEqual(len(broken(good(**{"none" if group == NO_RULES else "apart": sums}))), 1)

    def test_idle_time_of_all_together(self):
        much = scenario(NO_RULES, ("answer", "answer", 1e5), ("work", "lock", 1500))
        self.assertEqual([each.partition(": at")[0] for each in broken(good(none=much))],
                         ["all: idle said to be actionable"])

    def test_nothing_measured_is_no_success(self):
        self.assertEqual(len(bounds.broken({}, 3)), len(bounds.BOUNDS) + 1)
        without = good()
        del without["apart"]
        self.assertEqual(len(broken(without)), 2, "a group and a third of the scenarios are missing")

    def test_an_idle_thread_that_people_are_told_of(self):
        told = scenario(RULES, ("lock", "lock", 1e5), ("work", "work", 1e5), stalls=["server/pool work, told as lock"])
        self.assertEqual([each.partition(":")[0] for each in broken(good(rules=told))],
                         ["idle threads that are told as stalls"])


if __name__ == "__main__":
    unittest.main()
