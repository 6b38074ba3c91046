# SPDX-License-Identifier: Apache-2.0
"""What a measurement has to show."""

from collections import defaultdict
from dataclasses import dataclass

from scenario import APART, NO_RULES, RULES
from scores import Confusion, percent

ALL = "all"


@dataclass(frozen=True)
class Bound:
    group: str
    what: str
    share: object  # of a Confusion
    least: float = 0.0
    most: float = 1.0

    def limit(self):
        return f"at least {percent(self.least)}" if self.least > 0 else f"at most {percent(self.most)}"

    def holds(self, confusion):
        """Where there is nothing to measure it does not hold."""
        seen = self.share(confusion)
        return seen is not None and self.least <= seen <= self.most


BOUNDS = (
    Bound(RULES, "right", Confusion.right, least=0.97),
    Bound(RULES, "precision", Confusion.precision, least=0.98),
    Bound(RULES, "recall", Confusion.recall, least=0.95),
    Bound(NO_RULES, "precision", Confusion.precision, least=0.90),
    Bound(APART, "precision", Confusion.precision, least=0.90),
    Bound(ALL, "idle said to be actionable", Confusion.idle_called_actionable, most=0.005),
)
# Of the scenarios; the others are skipped by name.
LEAST_MEASURED = 0.9
# Waits of idle threads that people were told of as stalls.
MOST_FALSE_STALLS = 0


def grouped(sums):
    """{group: Confusion} of {scenario: [program, group, [[truth, said, seconds]], ...]}."""
    groups = defaultdict(Confusion)
    for _, group, pairs, *_ in sums.values():
        for truth, said, seconds in pairs:
            groups[group].add(truth, said, seconds)
            groups[ALL].add(truth, said, seconds)
    return groups


def broken(sums, scenarios):
    """Sentences on the bounds that do not hold for these sums of so many scenarios."""
    groups = grouped(sums)
    found = []
    for bound in BOUNDS:
        if not bound.holds(groups[bound.group]):
            seen = percent(bound.share(groups[bound.group])) or "nothing"
            found.append(f"{bound.group}: {bound.what}: {bound.limit()}; measured: {seen}")
    if len(sums) < LEAST_MEASURED * scenarios:
        found.append(f"scenarios: at least {percent(LEAST_MEASURED)} of {scenarios}; measured: {len(sums)}")
    false = [each for *_, stalls in sums.values() for each in stalls]
    if len(false) > MOST_FALSE_STALLS:
        found.append(f"idle threads that are told as stalls: at most {MOST_FALSE_STALLS}; measured: {len(false)}")
    return found
