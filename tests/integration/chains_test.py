# SPDX-License-Identifier: Apache-2.0
"""What those did for whom others wait, during these waits: services whose truth is known."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import main
from daemon import Daemon
from waited_on_case import WaitedOnCase

TIERS = [sys.executable, Path(__file__).with_name("chain_tiers.py")]
SECONDS, WINDOW = 40, 30
LONG_WAITS = (20, 15, 5, 30)  # tier2 computes, tier3 sleeps and computes, the fronts rest: milliseconds
SHORT_WAITS = (2, 1.5, 0.5, 3)


class Tiers(WaitedOnCase):
    """Two fronts, of which one asks tier2, which computes, and the other tier2, which asks tier3."""
    patience = 60
    seconds, window = SECONDS, WINDOW

    def tier(self, unit, *arguments):
        program = self.run_in(unit, *TIERS, *arguments, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        return program.stdout.readline().strip()

    def answer_of(self, front, server):
        """The part of what `front` waited for an answer that was on `server`; None: there is none yet."""
        return self.answer_to(f"unit={front.unit}&window={self.window}s", server)

    def answer_to(self, question, server):
        answer = self.daemon.get_json_as_root(f"/api/v1/why?{question}")
        for unit in answer["units"]:
            for cause in unit["causes"]:
                for part in cause["parts"]:
                    if cause["for"] == "answer" and part["name"] == server.unit:
                        self.answered_seconds = answer["window_seconds"]
                        return part
        return None

    def unknown(self, node):
        return node["threads"] if node["kind"] == "unknown" else sum(map(self.unknown, node["parts"]))

    def expect_parts_add_up(self, node):
        if node["parts"]:
            self.expect_close(f"parts of {node['kind']} {node['name']}", node["threads"],
                              sum(part["threads"] for part in node["parts"]), absolute=1e-6)
        for part in node["parts"]:
            self.expect_parts_add_up(part)

    def share(self, part, *path):
        """What is at the end of the path, of the whole part: kinds, or what was waited for."""
        nodes = [part]
        for step in path:
            nodes = [child for node in nodes for child in node["parts"]
                     if step in ((child["kind"], child["for"]) if child["kind"] == "for" else (child["kind"],))]
        return sum(node["threads"] for node in nodes) / part["threads"]

    def show(self, node, depth=1):
        print(f"  {'  ' * depth}{node['kind']} {node['for']} {node['name']} {node['because'] or ''}: "
              f"{node['threads']:.3f} +- {node['error']:.3f}", flush=True)
        for part in node["parts"]:
            self.show(part, depth + 1)

    def prepare(self, fronts, server):
        """Called when they have begun."""

    def run_tiers(self, burn_ms, sleep_ms, last_burn_ms, rest_ms):
        """front1 asks tier2, which computes; front2 asks tier2, which asks tier3."""
        tier3, tier2 = self.new_unit("tier3"), self.new_unit("tier2")
        front1, front2 = self.new_unit("front1"), self.new_unit("front2")
        port3 = self.tier(tier3, "tier3", sleep_ms, last_burn_ms)
        port2 = self.tier(tier2, "tier2", burn_ms, port3)
        asking = [self.run_in(front, *TIERS, "front", port2, question, self.seconds, rest_ms, self.window,
                              stdout=subprocess.PIPE)
                  for front, question in ((front1, "c"), (front2, "a"))]
        until = time.monotonic() + self.seconds - 2
        self.prepare((front1, front2), tier2)
        time.sleep(max(0, until - time.monotonic()))
        parts = [self.answer_of(front, tier2) for front in (front1, front2)]
        for part in parts:
            self.assertIsNotNone(part, "tier2 is waited for")
            self.show(part)
            self.expect_parts_add_up(part)
        clocks = [tuple(map(float, program.communicate(timeout=20)[0].split())) for program in asking]
        for front, (mean, waits, sleeps) in zip((front1, front2), clocks):
            print(f"  {front.unit} waited {1e3 * mean:.2f} ms; of that tier2 waited {waits:.1%}, tier3 slept {sleeps:.1%}",
                  flush=True)
        return tier3, parts, clocks[1][1:]

    def share_of_cpu(self, part, *path):
        """In which the last one runs, or waits for a CPU."""
        return self.share(part, *path, "runs") + self.share(part, *path, "cpu")

    def expect_shares(self, parts, truth, tolerance):
        """`truth`: the parts of the waits of front2 in which tier2 waits, and in which tier3 sleeps. Otherwise tier3 runs
        or waits for a CPU. What is unknown of a part is missing in its shares."""
        first, second = parts
        waits, sleeps = truth
        for part in parts:
            print(f"  not known: {self.unknown(part) / part['threads']:.2%}", flush=True)
        self.expect_close("of front1's waits tier2 runs", 1, self.share_of_cpu(first), absolute=tolerance)
        self.expect_close("of front2's waits tier2 waits for an answer", waits, self.share(second, "for", "unit"),
                          absolute=tolerance)
        self.expect_close("of front2's waits tier3 sleeps", sleeps,
                          self.share(second, "for", "unit", "timer"), absolute=tolerance)
        self.expect_close("of front2's waits tier3 runs", waits - sleeps,
                          self.share_of_cpu(second, "for", "unit"), absolute=tolerance)


class Chains(Tiers):
    def test_long_waits(self):
        """What tier2 does in general, multiplied, would be wrong for both fronts by tens of points."""
        tier3, parts, truth = self.run_tiers(*LONG_WAITS)
        self.expect_shares(parts, truth, 0.02)
        first = self.daemon.offcpuctl("why").splitlines()[:5]
        print("\n".join(f"    | {line}" for line in first), flush=True)
        self.say(any("of that time" in line and tier3.unit in line for line in first),
                 "first five lines of offcpuctl why", "... of that time ... tier3", len(first))

    def test_short_waits(self):
        """Of waits of 2 ms few pairs are in the sample: the threads' own account tells."""
        _, parts, truth = self.run_tiers(*SHORT_WAITS)
        self.expect_shares(parts, truth, 0.05)

    def test_processes_of_one_unit(self):
        """One process asks tier2 to compute, another one of the same unit what tier2 asks tier3: what is said of their
        unit is true of neither."""
        tier3, tier2, fronts = self.new_unit("tier3"), self.new_unit("tier2"), self.new_unit("fronts")
        port3 = self.tier(tier3, "tier3", 15, 5)
        port2 = self.tier(tier2, "tier2", 20, port3)
        # The answer is of the last window, which has ended some seconds ago at most.
        asking = [self.run_in(fronts, *TIERS, "front", port2, question, SECONDS, 30, 15, stdout=subprocess.PIPE)
                  for question in "ca"]
        time.sleep(SECONDS - 2)
        parts = [self.answer_to(f"pid={program.pid}", tier2) for program in asking]
        for part in parts:
            self.assertIsNotNone(part, "tier2 is waited for")
            self.show(part)
            self.expect_parts_add_up(part)
        told = [self.daemon.offcpuctl("why", str(program.pid)) for program in asking]
        clocks = [tuple(map(float, program.communicate(timeout=20)[0].split())) for program in asking]
        print("  by their own clocks tier2 waited, tier3 slept: "
              f"{clocks[1][1]:.1%}, {clocks[1][2]:.1%}", flush=True)
        self.expect_shares(parts, clocks[1][1:], 0.05)
        for text, deed in zip(told, (f"{tier2.unit} runs", f"an answer of {tier3.unit}")):
            first = text.splitlines()[0]
            print(f"    | {first}", flush=True)
            self.say("of that time" in first and deed in first, "first line of offcpuctl why PID",
                     f"... of that time ... {deed}", first)

    def test_behind_other_requests(self):
        """A server with one thread, and requests of 3 ms behind some of 20 ms: what it does for the other front is told
        apart from what it does for this one."""
        server = self.new_unit("single")
        port = self.tier(server, "single", 3, 20)
        fronts = {question: self.new_unit(name) for question, name in (("s", "short"), ("l", "long"))}
        asking = {question: self.run_in(front, *TIERS, "front", port, question, SECONDS, 10, WINDOW,
                                        stdout=subprocess.PIPE) for question, front in fronts.items()}
        time.sleep(SECONDS - 2)
        parts = {question: self.answer_of(front, server) for question, front in fronts.items()}
        first = self.daemon.offcpuctl("why", fronts["s"].unit).splitlines()[0]
        truth = {}
        for question, part in parts.items():
            self.assertIsNotNone(part, "the server is waited for")
            self.show(part)
            self.expect_parts_add_up(part)
            mean, *truth[question] = map(float, asking[question].communicate(timeout=20)[0].split())
            print("  it waited {:.2f} ms; of that the server served others {:.1%}, and slept for them {:.1%}".format(
                1e3 * mean, *truth[question]), flush=True)
        self.expect_at_least("of the short ones' waits the server serves others, by its own clock", 0.4, truth["s"][0])
        self.expect_at_most("the same of the long ones' waits", 0.2, truth["l"][0])
        for question, part in parts.items():
            served, slept = truth[question]
            # On a busy host, as in test_behind_a_hog.
            known = 1 - self.unknown(part) / part["threads"]
            self.expect_at_least("known", 0.5, known)
            self.expect_close(f"of the waits of {question} the server is busy with other requests", served,
                              self.share(part, "busy") / known, absolute=0.05)
            self.expect_close("of the waits it sleeps for others", slept, self.share(part, "busy", "timer") / known,
                              absolute=0.05)
        print(f"    | {first}", flush=True)
        deed = f"of that time {server.unit} is busy with other requests"
        self.say(deed in first, "first line of offcpuctl why UNIT", f"... {deed}", first)

    def most_had_by(self, unit):
        """Who had the CPU for at least half of the unit's waits for one; None: nobody."""
        answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit}&window={WINDOW}s")
        cpu = next(cause for cause in answer["units"][0]["causes"] if cause["for"] == "cpu")
        most = max(cpu["parts"], key=lambda part: part["threads"])
        print(f"  {most['name']} had the CPU for {most['threads'] / cpu['threads']:.1%} of its waits", flush=True)
        return most["name"] if most["threads"] >= cpu["threads"] / 2 else None

    def test_behind_a_hog(self):
        """A server on a CPU that a hog of another unit has as well: its clients wait while it is queued."""
        crowded, hogs, front = self.new_unit("crowded"), self.new_unit("hogs"), self.new_unit("front")
        cpu = min(os.sched_getaffinity(0))
        for _ in range(2):
            self.run_in(hogs, *TIERS, "hog", cpu)
        address = self.tier(crowded, "crowded", cpu, 4)
        asking = self.run_in(front, *TIERS, "front", address, "c", SECONDS, 20, WINDOW, stdout=subprocess.PIPE)
        time.sleep(SECONDS - 2)
        part = self.answer_of(front, crowded)
        taker = self.most_had_by(crowded.unit)
        answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={front.unit}&window={WINDOW}s")
        first = answer["verdicts"][0]["sentence"]
        self.assertIsNotNone(part, "the server is waited for")
        self.show(part)
        self.expect_parts_add_up(part)
        mean, ran, _ = map(float, asking.communicate(timeout=20)[0].split())
        queued = 1 - ran  # the server waits for nothing else
        print(f"  it waited {1e3 * mean:.2f} ms; of that the server waited for a CPU {queued:.1%}", flush=True)
        self.expect_at_least("of the waits the server is queued, by its own clock", 0.2, queued)
        # On a busy host single waits last for seconds. What lies in the window before their end is not known.
        self.expect_at_most("not known", 0.5, self.unknown(part) / part["threads"])
        told = self.share_of_cpu(part)
        self.expect_close("of the waits the server is queued", queued, self.share(part, "cpu") / told, absolute=0.05)
        print(f"    | {first}", flush=True)
        self.say("of that time" in first and "waits for a CPU" in first, "the sentence",
                 "... of that time ... waits for a CPU", first)
        # Others may have the CPU more than the hogs on a busy host.
        who = "processes outside of all units" if taker == "no unit (/)" else taker
        if taker:
            self.say(f"mostly behind {who} (" in first, "who had the CPU", f"mostly behind {who}", first)

    def test_who_sleeps_with_a_lock(self):
        """Threads of one unit, of which each sleeps while it has the lock: those behind wait for nothing else."""
        unit = self.new_unit("convoy")
        program = self.start("convoy", "--threads", 4, "--ms", 1000 * SECONDS, "--hold_us", 20_000, cgroup=unit)
        program.go()
        time.sleep(SECONDS - 2)
        answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}&window={WINDOW}s")
        first = self.daemon.offcpuctl("why", unit.unit).splitlines()[0]
        lock = next(cause for cause in answer["units"][0]["causes"] if cause["for"] == "lock")
        self.show(lock)
        self.expect_parts_add_up(lock)
        own = next(part for part in lock["parts"] if part["kind"] == "self")
        truth = program.finish().report["waits"]
        waiting = (truth["lock"]["sum_ns"] - truth["lock"]["run_delay_ns"]) / (1e9 * SECONDS)
        sleeps = 1 - truth["hold"]["run_delay_ns"] / truth["hold"]["sum_ns"]
        self.expect_close("threads that wait for the lock", waiting, lock["threads"], 0.05)
        self.expect_at_most("not known", 0.1, self.unknown(own) / own["threads"])
        self.expect_close("of their waits the one that has it sleeps", sleeps, self.share(own, "timer"), absolute=0.05)
        print(f"    | {first}", flush=True)
        self.say("of their wait the thread that they wait for sleeps" in first, "first line of offcpuctl why",
                 "... of their wait the thread that they wait for sleeps", first)


class FewStacks(Tiers):
    """A sampling interval of twenty times the waits: of each twenty one is sampled. The budget of stacks is made
    smaller until the interval is so long. Windows have their default length."""
    settings = {"snapshots.interval": "60s"}
    seconds, window = 170, 60
    length, interval, least = 0.002, 0.06, 0.04  # of waits; wanted; asked for

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon.stop()
        folder = tempfile.TemporaryDirectory(prefix="offcpud-chains-")
        cls.addClassCleanup(folder.cleanup)
        cls.file = Path(folder.name) / "offcpud.yaml"
        cls.take_stacks(200)
        cls.daemon = Daemon.start(config=cls.file, **cls.settings)
        cls.addClassCleanup(cls.daemon.stop)

    @classmethod
    def take_stacks(cls, per_second):
        cls.budget = per_second
        cls.file.write_text(f"snapshots: {{stacks_per_second: {round(per_second)}}}\n")

    def interval_of(self, part):
        """The sampling interval of the waits, by the standard error of their sum: sqrt(n d (T - d))."""
        waited = part["threads"] * self.answered_seconds
        return self.length + (part["error"] * self.answered_seconds) ** 2 / waited

    def prepare(self, fronts, server):
        """The interval is about inversely proportional to the budget."""
        self.window = 10
        for _ in range(4):
            time.sleep(22)  # a whole window
            parts = list(filter(None, (self.answer_of(front, server) for front in fronts)))
            shortest = min(map(self.interval_of, parts), default=self.interval)
            print(f"  {self.budget:.0f} stacks a second: an interval of {1000 * shortest:.0f} ms", flush=True)
            self.take_stacks(max(1, self.budget * shortest / self.interval))
            os.kill(self.daemon.pid, signal.SIGHUP)
        del self.window

    def test_short_waits(self):
        _, parts, truth = self.run_tiers(*SHORT_WAITS)
        for part in parts:
            self.expect_at_least("sampling interval of the front, s", self.least, self.interval_of(part))
        longest = self.daemon.scrape().value("offcpud_sampling_interval_seconds")
        self.expect_at_least("longest sampling interval, s", self.least, longest)
        self.expect_shares(parts, truth, 0.05)


if __name__ == "__main__":
    main()
