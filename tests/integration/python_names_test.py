# SPDX-License-Identifier: Apache-2.0
"""The functions of Python programs in stacks, against what the programs say themselves, for each Python of this host:
python3.8 to python3.14 on the path, and those of pyenv."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import main
from snapshots_test import Stacks
from waited_on_case import HERE, WaitedOnCase

PROGRAM = HERE / "waiting_in_python.py"
LEFT_OUT = "offcpud_stack_sources_left_out_total"


def pythons():
    """{version: program} of those that can be named."""
    names = ["python3", *(f"python3.{minor}" for minor in range(8, 15))]
    candidates = [Path(folder, name) for folder in os.environ["PATH"].split(":") for name in names]
    found = {}
    for program in (*candidates, *Path.home().glob(".pyenv/versions/3.*/bin/python3")):
        if not program.is_file():
            continue
        told = subprocess.run([program, "-c", "import sys; print(*sys.version_info[:3], sep='.')"],
                              capture_output=True, text=True, check=False).stdout.strip()
        if told and 8 <= int(told.split(".")[1]) <= 14:
            found.setdefault(told, str(program))
    return found


def shown(function, file):
    return f"{function} ({'/'.join(file.lstrip('/').split('/')[-2:])})"


class StacksWithLines(Stacks):
    """Stacks whose rows also have `frames`: [function, object, line], from the root."""

    def __init__(self, answer):
        super().__init__(answer)
        strings = answer["strings"]
        frames = [[strings[name], strings[object_], line[0] if line else 0]
                  for name, object_, _, *line in answer["frames"]]
        column = answer["columns"].index("stack")
        for row, values in zip(self.rows, answer["rows"]):
            row["frames"] = [frames[frame] for frame in answer["stacks"][values[column]]]


class PythonNames(WaitedOnCase):
    settings = {**WaitedOnCase.settings, "stalls.threshold": "1s"}

    def begin(self, *arguments, python=sys.executable):
        unit = self.new_unit("python")
        program = self.run_in(unit, python, PROGRAM, *arguments, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        return unit, program, program.stdout.readline()

    def profile(self, program, seconds=2):
        path = f"/debug/pprof/offcpu?seconds={seconds}&pid={program.pid}&format=json"
        return StacksWithLines(self.daemon.get_json_as_root(path))

    def left_out(self, what):
        return self.daemon.scrape().value(LEFT_OUT, what=what)

    @staticmethod
    def of_python(row):
        """[function, line] of the row, innermost first."""
        return [[name, line] for name, object_, line in reversed(row["frames"]) if object_ == "[python]"]

    def compare(self, version, program, told):
        """Counts frames: all, and those that are right in name and line."""
        all_frames = right = 0
        rows = {row["thread"]: row for row in self.profile(program).rows}
        for place, frames in told.items():
            wanted = [[shown(function, file), line] for function, file, line in frames]
            seen = self.of_python(rows[place]) if place in rows else []
            all_frames += len(wanted)
            right += sum(one == other for one, other in zip(wanted, seen)) if len(wanted) == len(seen) else 0
            if wanted != seen:
                print(f"  {version} {place}: wanted {wanted}\n    seen {seen}\n    in {rows.get(place)}", flush=True)
        return all_frames, right, rows

    def test_function_file_and_line_of_each_version(self):
        refused = {what: self.left_out(what) for what in ("python_version", "python_build", "python_memory")}
        found = pythons()
        self.assertTrue(found)
        for version, python in sorted(found.items()):
            unit, program, line = self.begin("places", python=python)
            told = json.loads(line)
            time.sleep(0.5)
            all_frames, right, rows = self.compare(version, program, told)
            self.expect_equal(f"{version}: frames of {len(told)} threads that are right", all_frames, right)
            leftover = [row["thread"] for row in rows.values() if "_PyEval_EvalFrameDefault" in row["stack"]]
            self.expect_equal(f"{version}: threads with the interpreter's loop on their stacks", 0, len(leftover))
            self.expect_native_in_between(version, rows["sort"])
            (unit.directory / "cgroup.kill").write_text("1")
        for what, before in refused.items():
            self.expect_equal(f"refused by {what}", before, self.left_out(what))

    def expect_native_in_between(self, version, row):
        """The C function that sorts is between the function that calls it and the one that it calls."""
        names = [name for name, _, _ in row["frames"]]
        outer = next(i for i, name in enumerate(names) if name.startswith("in_a_sort "))
        inner = next(i for i, name in enumerate(names) if "__lt__" in name)
        between = row["frames"][outer + 1:inner]
        self.say(between and all(object_ != "[python]" for _, object_, _ in between),
                 f"{version}: between in_a_sort and __lt__", "functions of C", [name for name, _, _ in between])
        self.say(names[-1] != "[python]" and row["frames"][0][1] != "[python]", f"{version}: ends of the stack",
                 "functions of C", (names[0], names[-1]))

    def rounds_of(self, unit, seconds):
        """What the thread waited in snapshots of the last so many seconds; empty while there is none."""
        answer = self.daemon.get_json_as_root(f"/api/v1/snapshots/merge?from=-{seconds}s&cgroup={unit.path}")
        rows = StacksWithLines(answer).rows if "strings" in answer else []
        return [row for row in rows if row["thread"] == "rounds"]

    def test_a_block_that_ends_has_the_names_of_the_walks_that_saw_it(self):
        unit, _, _ = self.begin("rounds", "3")

        def ended():
            return [row for row in self.rounds_of(unit, 60) if not row["in_progress"] and self.of_python(row)]
        self.wait_until("a block of 3 s ended with names", ended, 60)
        time.sleep(30)
        rows = self.rounds_of(unit, 20)
        named = sum(row["ns"] for row in rows if self.of_python(row))
        self.expect_at_least("share of the time with names, in %", 90, 100 * named / sum(row["ns"] for row in rows))
        row = ended()[0]
        self.say(self.of_python(row)[0][0].startswith("wait_a_round ("), "innermost function", "wait_a_round",
                 self.of_python(row)[0])
        self.say(row["for"] == "timer", "it waits for", "timer", row["for"])

    def test_functions_that_are_gone_do_not_get_each_others_time(self):
        """Each function is freed before the next is made, often at the same address, and waits once in a round."""
        _, program, _ = self.begin("made", "0.45")
        time.sleep(2)
        named = {}
        for _ in range(4):
            for row in self.profile(program, 5).rows:
                for name, _ in self.of_python(row)[:1]:
                    named[name] = named.get(name, 0) + row["ns"] / 1e9
        print(f"  {named}", flush=True)
        self.expect_at_least("functions with names", 3, len(named))
        for name, seconds in named.items():
            self.expect_at_most(f"seconds in {name}", 0.55, seconds)

    def test_a_stall_shows_the_function_and_its_line(self):
        unit, _, _ = self.begin("lock")

        def stacks():
            stalls = self.daemon.get_json_as_root(f"/api/v1/stalls?cgroup={unit.path}")["stalls"]
            return [stall for stall in stalls if stall["comm"] == "lock-waiter" and "wait_for_the_lock" in str(stall)]
        self.wait_until("a stall has the function", stacks, 60)
        line = next(i for i, text in enumerate(PROGRAM.read_text().splitlines(), 1) if "with held:" in text)
        self.say(f"waiting_in_python.py:{line})" in str(stacks()[0]), "its line", line, stacks()[0])

    def test_who_only_has_the_name_of_python_is_counted(self):
        with tempfile.TemporaryDirectory() as folder:
            liar = shutil.copy(shutil.which("sleep"), Path(folder, "python3.12"))
            before = self.left_out("python_memory")
            program = self.run_in(self.new_unit("liar"), liar, "300")
            time.sleep(0.5)
            rows = self.profile(program).rows
            self.say(rows and not any(self.of_python(row) for row in rows), "functions of Python", "none", rows)
            self.expect_at_least("refused", before + 1, self.left_out("python_memory"))


if __name__ == "__main__":
    main()
