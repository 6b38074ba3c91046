# SPDX-License-Identifier: Apache-2.0
"""Confusion matrices: what waits were for, and what the daemon said, by seconds."""

from collections import Counter

IDLE = ("work", "timer")
ACTIONABLE = ("lock", "answer", "storage", "memory", "stopped")
CLASSES = (*ACTIONABLE, *IDLE, "unknown")


class Confusion:
    """Seconds by (truth, what was said)."""

    def __init__(self):
        self.seconds = Counter()

    def add(self, truth, said, seconds):
        self.seconds[truth, said] += seconds

    def add_all(self, other):
        self.seconds.update(other.seconds)

    def total(self, truths=CLASSES, saids=CLASSES):
        return sum(seconds for (truth, said), seconds in self.seconds.items()
                   if truth in truths and said in saids)

    # Shares, or None of nothing.

    def right(self):
        return share(sum(self.seconds[each, each] for each in CLASSES), self.total())

    def unknown(self):
        return share(self.total(saids=("unknown",)), self.total())

    def precision(self):
        """Of the time that is said to be actionable, what is."""
        return share(self.total(ACTIONABLE, ACTIONABLE), self.total(saids=ACTIONABLE))

    def recall(self):
        """Of the time that is actionable, what is said to be."""
        return share(self.total(ACTIONABLE, ACTIONABLE), self.total(ACTIONABLE))

    def idle_called_actionable(self):
        return share(self.total(IDLE, ACTIONABLE), self.total(IDLE))


def share(part, whole):
    return part / whole if whole > 0 else None


def percent(value):
    return "" if value is None else f"{100 * value:.1f} %"


def row(name, confusion):
    cells = [name, f"{confusion.total():.0f} s", *map(percent, (
        confusion.right(), confusion.unknown(), confusion.precision(), confusion.recall(),
        confusion.idle_called_actionable()))]
    return "| " + " | ".join(cells) + " |"


def table(confusions):
    """Of {name: Confusion}, a row for each."""
    lines = ["| program | time | right | unknown | precision | recall | idle said to be actionable |",
             "|---|---|---|---|---|---|---|"]
    return "\n".join(lines + [row(name, each) for name, each in confusions.items()])


def matrix(confusion):
    """Truths down, what was said across, in seconds."""
    said = [each for each in CLASSES if confusion.total(saids=(each,)) > 0]
    lines = ["| in truth | " + " | ".join(f"said `{each}`" for each in said) + " |",
             "|---" * (len(said) + 1) + "|"]
    for truth in CLASSES:
        if confusion.total((truth,)) > 0:
            cells = [f"{confusion.seconds[truth, each]:.0f}" for each in said]
            lines.append(f"| `{truth}` | " + " | ".join(cells) + " |")
    return "\n".join(lines)
