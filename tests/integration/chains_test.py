# SPDX-License-Identifier: Apache-2.0
"""What those did for whom others wait, during these waits: services whose truth is known."""

import subprocess
import sys
import time
from pathlib import Path

from case import main
from waited_on_case import WaitedOnCase

TIERS = [sys.executable, Path(__file__).with_name("chain_tiers.py")]
SECONDS = 40
WINDOW = 30


class Chains(WaitedOnCase):
    patience = 60

    def tier(self, unit, *arguments):
        program = self.run_in(unit, *TIERS, *arguments, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        return program.stdout.readline().strip()

    def answer_of(self, front, server):
        """The part of what `front` waited for an answer that was on `server`; None: there is none yet."""
        return self.answer_to(f"unit={front.unit}&window={WINDOW}s", server)

    def answer_to(self, question, server):
        answer = self.daemon.get_json_as_root(f"/api/v1/why?{question}")
        for unit in answer["units"]:
            for cause in unit["causes"]:
                for part in cause["parts"]:
                    if cause["for"] == "answer" and part["name"] == server.unit:
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
        """Of what is known of a part, what is at the end of the path: kinds, or what was waited for."""
        whole, nodes = part["threads"] - self.unknown(part), [part]
        for step in path:
            nodes = [child for node in nodes for child in node["parts"]
                     if step in ((child["kind"], child["for"]) if child["kind"] == "for" else (child["kind"],))]
        return sum(node["threads"] for node in nodes) / whole

    def show(self, node, depth=1):
        print(f"  {'  ' * depth}{node['kind']} {node['for']} {node['name']} {node['because'] or ''}: "
              f"{node['threads']:.3f} +- {node['error']:.3f}", flush=True)
        for part in node["parts"]:
            self.show(part, depth + 1)

    def run_tiers(self, burn_ms, sleep_ms, last_burn_ms, rest_ms):
        """front1 asks tier2, which computes; front2 asks tier2, which asks tier3."""
        tier3, tier2 = self.new_unit("tier3"), self.new_unit("tier2")
        front1, front2 = self.new_unit("front1"), self.new_unit("front2")
        port3 = self.tier(tier3, "tier3", sleep_ms, last_burn_ms)
        port2 = self.tier(tier2, "tier2", burn_ms, port3)
        asking = [self.run_in(front, *TIERS, "front", port2, question, SECONDS, rest_ms, stdout=subprocess.PIPE)
                  for front, question in ((front1, "c"), (front2, "a"))]
        time.sleep(SECONDS - 2)
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

    def expect_shares(self, parts, truth, tolerance):
        """`truth`: the parts of the waits of front2 in which tier2 waits, and in which tier3 sleeps. Otherwise tier3 runs
        or waits for a CPU."""
        first, second = parts
        waits, sleeps = truth
        for part in parts:
            self.expect_at_most("not known", 0.1, self.unknown(part) / part["threads"])
        self.expect_close("of front1's waits tier2 runs", 1, self.share(first, "runs"), absolute=tolerance)
        self.expect_close("of front2's waits tier2 waits for an answer", waits, self.share(second, "for", "unit"),
                          absolute=tolerance)
        self.expect_close("of front2's waits tier3 sleeps", sleeps,
                          self.share(second, "for", "unit", "timer"), absolute=tolerance)
        self.expect_close("of front2's waits tier3 runs", waits - sleeps,
                          self.share(second, "for", "unit", "runs"), absolute=tolerance)

    def test_long_waits(self):
        """What tier2 does in general, multiplied, would be wrong for both fronts by tens of points."""
        tier3, parts, truth = self.run_tiers(20, 15, 5, 30)
        self.expect_shares(parts, truth, 0.05)
        first = self.daemon.offcpuctl("why").splitlines()[:5]
        print("\n".join(f"    | {line}" for line in first), flush=True)
        self.say(any("of that time" in line and tier3.unit in line for line in first),
                 "first five lines of offcpuctl why", "... of that time ... tier3", len(first))

    def test_short_waits(self):
        """Of waits of 2 ms few pairs are in the sample: the threads' own account tells."""
        _, parts, truth = self.run_tiers(2, 1.5, 0.5, 3)
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
        for text, deed in zip(told, (f"{tier2.unit} runs or waits for a CPU", f"an answer of {tier3.unit}")):
            first = text.splitlines()[0]
            print(f"    | {first}", flush=True)
            self.say("of that time" in first and deed in first, "first line of offcpuctl why PID",
                     f"... of that time ... {deed}", first)

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


if __name__ == "__main__":
    main()
