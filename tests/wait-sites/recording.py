# SPDX-License-Identifier: Apache-2.0
"""Writes stacks with their truth, as tests/data/wait-sites has them."""

import re
from collections import Counter

KEPT = 2  # stacks of each site, truth and program
KEPT_OF_SITE = 4  # of all programs
LEAST_NS = 50e6
# Names of these were still to be read.
UNREAD = re.compile(r"\[[^\];]*\+0x[0-9a-f]+\]\{")
# Functions of Python stand in the place of the interpreter's loop, and rules look at that.
PYTHON = re.compile(r"[^;]*\{\[python\]\}")
LOOP = "_PyEval_EvalFrameDefault"


def as_rules_see_it(stack):
    """A stack with the interpreter's own functions."""
    frames = stack.split(";")
    interpreter = next((frame[frame.rfind("{"):] for frame in frames
                        if re.search(r"\{(lib)?python3[^}]*\}$", frame)), "{python3}")
    kept = []
    for frame in frames:
        if not PYTHON.fullmatch(frame):
            kept.append(frame)
        elif not kept or kept[-1] != LOOP + interpreter:  # one loop runs several functions
            kept.append(LOOP + interpreter)
    return ";".join(kept)


def line(truth, program, phase, row, nanoseconds):
    program = program.replace(";", ",").replace(" ", "-")
    return (f"{truth};{program};{phase};{row['reason']}|{row['comm']};{as_rules_see_it(row['stack'])} "
            f"{round(nanoseconds / 1e3)}")


class Recording:
    """The heaviest stacks of each site."""

    def __init__(self):
        self._sums = Counter()  # {(program, scenario, truth, site, reason, comm, stack): ns}

    def add(self, each, verdict):
        for truth, row in verdict.labelled:
            # Between an exec and the next look the name of a process is that of another.
            if row["site"] and not UNREAD.search(row["stack"]):
                key = (each.program, each.name, truth, row["site"], row["reason"], row["comm"], row["stack"])
                self._sums[key] += row["ns"]

    def files(self):
        """{scenario: lines}"""
        taken, files = Counter(), {}
        for (program, name, truth, site, reason, comm, stack), nanoseconds in self._sums.most_common():
            if nanoseconds < LEAST_NS or taken[program, truth, site] == KEPT or taken[truth, site] == KEPT_OF_SITE:
                continue
            taken[program, truth, site] += 1
            taken[truth, site] += 1
            row = {"reason": reason, "comm": comm, "stack": stack}
            files.setdefault(name, []).append(line(truth, program, name, row, nanoseconds))
        return files

    def write(self, folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name, lines in self.files().items():
            (folder / f"{name}.folded").write_text("\n".join(sorted(lines)) + "\n")
