# SPDX-License-Identifier: Apache-2.0
"""Stacks of a program as the daemon keeps them, against those that other programs see."""

import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from datetime import datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))

import profile_reader  # noqa: E402
from case import Case, main  # noqa: E402,F401
from daemon import WORKLOADS, die_with_the_tester  # noqa: E402,F401
from stack_oracle import Places, eu_stacks  # noqa: E402

PROGRAMS = Path(__file__).resolve().parent / "programs"
INTERVAL = "offcpud_sampling_interval_seconds"
ROUNDS = 6
# The daemon makes the tables of a program that it never saw while that runs already; what is
# counted begins with the next snapshot.
SETTLE = 2.6
INCOMPLETE = "[incomplete"
# CPython's loop, in whose place the daemon shows the functions that it runs.
LOOP = "_PyEval_EvalFrameDefault"
PYTHON = ("[python]", 0)


def without_repeats(places):
    return tuple(place for place, before in zip(places, [None, *places]) if (place, before) != (PYTHON, PYTHON))


def places_of(sample):
    return without_repeats([PYTHON if frame.function == LOOP else (frame.object, frame.address)
                            for frame in sample.frames if not frame.function.startswith(INCOMPLETE)])


def shared(a, b):
    """How many frames two stacks share, from the innermost."""
    count = 0
    for one, other in zip(a, b):
        if one != other:
            break
        count += 1
    return count


def unix_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


def whole(stack, places):
    return places if stack.complete else None


def whole_python(stack, places):
    """One place for each run of frames of Python, whether it is shown as the loop or as functions."""
    found = [PYTHON if name == LOOP else place for place, name in zip(places, stack.functions)]
    return without_repeats(found) if stack.complete else None


class Seen:
    """What was seen of one process: the oracle's stacks, and the daemon's."""

    def __init__(self, oracle, samples):
        self.oracle = oracle  # [(thread's name, places, eu-stack's Stack)]
        self.samples = samples
        self.mine = {places_of(sample) for sample in samples}

    def add_those_up_to(self, function):
        """For an oracle that ends there: what the daemon's stacks have up to that function."""
        for sample in self.samples:
            for i, frame in enumerate(sample.frames):
                if frame.function.removesuffix(".abi0") == function:
                    self.mine.add(places_of(sample)[:i + 1])

    def ends(self):
        """{why stacks end: how many}; "" is a true root. Of each block that lasts one counts."""
        found = Counter()
        for sample in self.samples:
            if not sample.frames:
                continue
            root = sample.frames[-1].function
            found[root if root.startswith(INCOMPLETE) else ""] += max(1, round(sample.episodes))
        return found

    def functions(self):
        return {frame.function for sample in self.samples for frame in sample.frames}

    def roots(self):
        return Counter(sample.frames[-1].function for sample in self.samples if sample.frames)


class ZooCase(Case):
    """All languages share one daemon, to which every stack of them is added."""

    settings = {"snapshots.interval": "1s", "snapshots.stacks_per_second": "100000"}
    all_ends = Counter()
    by_language = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = Path(tempfile.mkdtemp(prefix="offcpud-zoo-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        for _ in range(200):  # until everything is sampled
            if 0 < cls.daemon.scrape().value(INTERVAL) <= 0.0001:
                return
            time.sleep(0.1)
        raise AssertionError("the sampling interval stays long")

    def run_program(self, *command, settle=SETTLE):
        """Starts a program that says a line when its threads wait; it ends with the test."""
        cgroup = self.new_cgroup()

        def enter():
            die_with_the_tester()
            cgroup.enter()

        # Node writes logs to where it is started.
        process = subprocess.Popen([str(part) for part in command], cwd=self.folder,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                   preexec_fn=enter)
        self.addCleanup(self.end, process)
        line = process.stdout.readline().strip()
        self.assertTrue(line, f"{command[0]} does not begin")
        time.sleep(settle)
        return process, cgroup, line

    @staticmethod
    def end(process):
        process.stdin.close()
        process.stdout.close()
        process.kill()
        process.wait()

    def count(self, language, seen):
        """Adds the ends of its stacks to those of all."""
        ends = seen.ends()
        self.by_language[language] = ends
        self.all_ends.update(ends)
        others = {end: count for end, count in ends.items() if end}
        print(f"  {language}: {sum(ends.values())} stacks, {percent_at_root(ends):.2f} % at a root"
              f"{f'; others {others}' if others else ''}", flush=True)

    def watch(self, language, *command, settle=SETTLE, before=None):
        """A program's stacks while it waits, and eu-stack's of the same time."""
        process, cgroup, said = self.run_program(*command, settle=settle)
        self.assertEqual("ready", said)
        if before:
            before(process)
        begin = time.time()
        oracle = []
        for _ in range(ROUNDS):
            stacks = eu_stacks(process.pid)
            where = Places(process.pid)
            names = {tid: thread_name(process.pid, tid) for tid in stacks}
            oracle += [(names[tid], where.places(stack.addresses), stack)
                       for tid, stack in stacks.items() if stack.addresses]
            time.sleep(0.4)
        seen = Seen(oracle, self.samples_since(begin, cgroup))
        self.count(language, seen)
        return seen

    def samples_since(self, begin, cgroup):
        now = time.time()
        for _ in range(200):
            kept = self.daemon.get_json("/api/v1/snapshots")["snapshots"]
            if kept and unix_time(kept[-1]["end"]) >= now:
                break
            time.sleep(0.1)
        return profile_reader.read(self.daemon.get_as_root(
            f"/api/v1/snapshots/merge?format=pprof&from={begin:.3f}&to={now:.3f}&cgroup={cgroup.path}"))

    # --- comparisons

    def expect_roots(self, language, share=0.99):
        ends = self.by_language[language]
        self.expect_at_least(f"{language}: stacks", 20, sum(ends.values()))
        self.expect_at_least(f"{language}: share of them that ends at a true root", share,
                             percent_at_root(ends) / 100)

    def expect_equal_to_oracle(self, language, seen, least, up_to_root=whole):
        """Every stack that the oracle walked to its end is one of the daemon's, address by address.
        `up_to_root` takes off what the oracle goes on to beyond the root; None where it lost its way.
        It stops the process while it looks, which is a block, so the daemon looks at the same stack."""
        equal, different, unusable = 0, [], Counter()
        for thread, places, stack in seen.oracle:
            wanted = up_to_root(stack, places)
            if wanted is None:
                unusable[stack.error] += 1
            elif wanted in seen.mine:
                equal += 1
            else:
                different.append((thread, wanted))
        for thread, wanted in different[:2]:
            print(self.difference(thread, wanted, seen))
        if unusable:
            print(f"  eu-stack lost its way: {dict(unusable)}")
        self.expect_at_least(f"{language}: stacks that equal eu-stack's", least, equal)
        self.expect_at_most(f"{language}: stacks that differ (of {equal + len(different)})",
                            (equal + len(different)) // 50, len(different))

    @staticmethod
    def difference(thread, wanted, seen):
        best = max(seen.mine, key=lambda mine: shared(mine, wanted), default=())
        lines = [f"  {thread}: eu-stack | offcpud, the nearest"]
        for i in range(max(len(best), len(wanted))):
            left, right = (stack[i] if i < len(stack) else ("", 0) for stack in (wanted, best))
            lines.append(f"   {'  ' if left == right else '!!'} {left[0]}+{left[1]:#x} | "
                         f"{right[0]}+{right[1]:#x}")
        return "\n".join(lines)

    def expect_functions(self, language, seen, *names):
        functions = seen.functions()
        missing = [name for name in names
                   if not any(name in function for function in functions)]
        self.say(not missing, f"{language}: functions on stacks", f"{', '.join(names)}",
                 "all" if not missing else f"not {missing}")


def percent_at_root(ends):
    return 100 * ends[""] / max(1, sum(ends.values()))


def thread_name(pid, tid):
    try:
        return Path(f"/proc/{pid}/task/{tid}/comm").read_text().strip()
    except FileNotFoundError:
        return ""
