# SPDX-License-Identifier: Apache-2.0
"""Programs whose waits are known, beside a siege: how many, from the kernel's switch counts; how long, from
the programs' own clock less what schedstat says they ran and waited for a CPU; where, by function."""

import select

from host import Cgroup
from snapshots_test import PLACES, Stacks, blocked_in_places
from window import Workload

# The reason of each. None that waits for a pipe, as all of them do at their gates.
KINDS = {"poll": "poll", "futex_wait": "lock", "semaphore": "condvar", "recv": "network"}
EACH_US = 100_000  # of a timed_wait: what it waits for a CPU is short beside it


class KnownWaits:
    """Held at their first gate after construction."""

    def __init__(self, daemon, parent, seconds):
        self._daemon = daemon
        self._parent = parent
        # They also wait for CPUs: those that count their waits are to end before the other.
        count = int(0.85 * seconds * 1e6 / EACH_US)
        self._running = {"known_places": self._start("known_places", "known_places", "--threads", 2,
                                                     "--ms", int(seconds * 1000))}
        for kind in KINDS:
            self._running[kind] = self._start(kind, "timed_wait", "--kind", kind, "--us", EACH_US,
                                              "--count", count)
        self.windows = {}

    def _start(self, name, *command):
        return Workload(self._daemon, Cgroup(f"{self._parent.path}/{name}"), *command)

    def go(self):
        for workload in self._running.values():
            workload.go()

    def are_over(self):
        outputs = [workload.process.stdout for workload in self._running.values()]
        return len(select.select(outputs, [], [], 0)[0]) == len(outputs)

    def finish(self):
        for name, workload in self._running.items():
            self.windows[name] = workload.finish()

    def cgroup(self, name):
        return f"{self._parent.path}/{name}"


def truth_of(window):
    """Blocked episodes and seconds of a workload, as the kernel and its own clock have them."""
    books = window.books()
    wall = window.report["between_gates_ns"]
    return books.voluntary, (wall - books.run_ns - books.run_delay_ns) / 1e9


class KnownStacks:
    """What the daemon's snapshots say about one of the workloads."""

    def __init__(self, answer, reason, functions):
        self._stacks = Stacks(answer)
        self._rows = self._stacks.select(reason=reason)
        self._functions = set(functions)

    @property
    def seconds(self):
        return sum(row["ns"] for row in self._rows) / 1e9

    @property
    def error(self):
        return sum(row["variance"] for row in self._rows) ** 0.5 / 1e9

    @property
    def complete(self):
        """Share of the time whose stack was walked to its end and has one of the functions."""
        whole = sum(row["ns"] for row in self._rows if "[incomplete" not in row["stack"][0]
                    and self._functions & set(row["stack"])) / 1e9
        return whole / self.seconds if self._rows else 0.0

    def seconds_in(self, function):
        return self._stacks.seconds(function)

    def error_in(self, function):
        return self._stacks.error(function)


def seconds_by_place(window):
    return {place: seconds for place, (_, seconds) in blocked_in_places(window).items()}


FUNCTIONS = {"known_places": PLACES, **{kind: ("main",) for kind in KINDS}}
REASONS = {"known_places": "sleep", **KINDS}
