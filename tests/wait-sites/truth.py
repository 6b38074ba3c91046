# SPDX-License-Identifier: Apache-2.0
"""What waits are for in truth, and the comparison with what a daemon said of them.

Truth never comes from functions on stacks. It is known by which thread it is, whose load is built to
do one thing; by what the program itself says of its processes; or, of a crowd of threads that look
alike, by how many of them do what."""

from collections import Counter, defaultdict
from fnmatch import fnmatchcase

from scores import CLASSES, IDLE, Confusion

LEFT_OUT = "-"  # nobody can say what it is for
# It waits for something to do or for the next time to look: threads of a program whose load does not
# tell which.
EITHER = "idle"
# Between two waits that the load is made of, threads wait a little for something else.
SHORT_NS = 5e6
STEADY = 0.95  # of the times that a process was looked at, it did the same


def label_of(name):
    """By convention `lock-2` waits for a lock."""
    label = name.split("-", 1)[0]
    return label if label in (*CLASSES, LEFT_OUT, EITHER) else None


class Role:
    """One program of a scenario, in a cgroup of its own.

    `truth`: a label for all of its waits, or {"THREAD" or "THREAD:REASON": label}, tried in that order,
    with wildcards. Without it the names of its threads say it, or its own."""

    def __init__(self, name, cgroup, truth=None):
        self.name = name
        self.cgroup = cgroup
        self.truth = {"*": truth} if isinstance(truth, str) else truth or {}
        self.numbers = {}  # of threads: {label: how many wait for it all the time}
        self.pids = defaultdict(Counter)  # {process: {label: times that it was seen so}}

    def see(self, labels):
        """What the program says of its processes at this moment: {pid: label}."""
        for pid, label in labels.items():
            self.pids[pid][label] += 1

    def label(self, row):
        if row["pid"] in self.pids:
            label, times = self.pids[row["pid"]].most_common(1)[0]
            return label if times >= STEADY * self.pids[row["pid"]].total() else LEFT_OUT
        for pattern, label in self.truth.items():
            thread, _, reason = pattern.partition(":")
            if fnmatchcase(row["thread"], thread) and reason in ("", row["reason"]):
                return label
        return label_of(row["thread"]) or label_of(self.name) or LEFT_OUT

    def truth_of(self, row):
        """As `label`, of what the daemon's row itself says that it asked to sleep."""
        label = self.label(row)
        if label in ("work", EITHER) and row["reason"] == "sleep":
            return "timer"
        if label == EITHER:
            return row["for"] if row["for"] in IDLE else "work"
        return label


class Verdict:
    """The comparison for one scenario."""

    def __init__(self):
        self.confusion = Confusion()
        self.left_out = 0.0  # seconds
        self.short = 0.0
        self.wrong = Counter()  # {(role, thread, truth, said, site, reason, stack): seconds}
        self.labelled = []  # (truth, row) whose truth is that of the row itself
        self.false_stalls = []  # in words

    def add_stall(self, role, stall, truth):
        """A stall that people are told of."""
        if truth in IDLE:
            self.false_stalls.append(f"{role.name}/{stall['comm']} {truth}, told as {stall['for']} "
                                     f"({stall['site'] or 'no site'}), {stall['reason']}")

    def add(self, role, row, truth, seconds):
        self.confusion.add(truth, row["for"], seconds)
        if truth != row["for"]:
            self.wrong[role.name, row["thread"], truth, row["for"], row["site"], row["reason"],
                       row["stack"]] += seconds

    def compare(self, role, rows, seconds):
        """Rows of the role's cgroup, which cover so many seconds."""
        counted = []
        for row in rows:
            spent = row["ns"] / 1e9
            if is_short(row):
                self.short += spent
            elif role.truth_of(row) == LEFT_OUT:
                self.left_out += spent
            else:
                counted.append(row)
        if role.numbers:
            self.compare_numbers(role, counted, seconds)
            # Which thread does what is known only where the numbers are right.
            if not any(name == role.name for name, *_ in self.wrong):
                self.labelled += [(row["for"], row) for row in counted]
            return
        for row in counted:
            self.add(role, row, role.truth_of(row), row["ns"] / 1e9)
            self.labelled.append((role.truth_of(row), row))

    def compare_numbers(self, role, rows, seconds):
        """So many threads did what: what was said of them adds up to that, or is wrong."""
        missing = {label: number * seconds for label, number in role.numbers.items()}
        others = []
        for row in rows:
            spent = row["ns"] / 1e9
            taken = min(spent, missing.get(row["for"], 0.0))
            if taken > 0:
                missing[row["for"]] -= taken
                self.add(role, row, row["for"], taken)
            others.append([row, spent - taken])
        # What is too much at a label that is not the rest's takes what another lacks.
        others.sort(key=lambda pair: pair[0]["for"] == role.truth_of(pair[0]))
        for label, lacking in missing.items():
            lacking = lacking if lacking > 0.05 * role.numbers[label] * seconds else 0
            for pair in others:
                taken = min(pair[1], lacking)
                if taken > 0:
                    lacking -= taken
                    pair[1] -= taken
                    self.add(role, pair[0], label, taken)
        for row, spent in others:
            # What a wait lasts longer than the time that is looked at.
            near = role.numbers.get(row["for"], 0) * seconds * 0.05
            if spent > near:
                self.add(role, row, role.truth_of(row), spent)


def is_short(row):
    return not row["in_progress"] and row["episodes"] > 0 and row["ns"] / row["episodes"] < SHORT_NS
