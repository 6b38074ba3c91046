# SPDX-License-Identifier: Apache-2.0
"""One user with millions of mappings: his own stacks may suffer, and those of nobody else."""

import json
import time
from pathlib import Path

import host
from case import main
from snapshots_test import SnapshotCase, Stacks

NOBODY = 65534
PROFILE = "/debug/pprof/offcpu?seconds=2&format=json"


class Shares(SnapshotCase):
    settings = {"snapshots.interval": "5s", "pass_interval": "1s"}

    def profile(self, **filters):
        """A profile of 2 s. Its answer comes in time, but for what the two threads that make it, which
        are nice, waited for a CPU that others had; and that of stacks has little to do."""
        begin, before = time.monotonic(), self.accounts()
        answer = self.daemon.get_json(PROFILE + "".join(f"&{k}={v}" for k, v in filters.items()))
        seconds, after = time.monotonic() - begin, self.accounts()
        waited = sum(after[name].run_delay_ns - before[name].run_delay_ns for name in after) / 1e9
        worked = (after["offcpud-stacks"].run_ns - before["offcpud-stacks"].run_ns) / 1e9
        self.expect_at_most("seconds until the answer of 2 s, and waits for a CPU", 4 + waited, seconds)
        self.expect_at_most("of a CPU for the thread of stacks", 0.25, worked / seconds)
        return Stacks(answer)

    def accounts(self):
        found = {}
        for task in Path(f"/proc/{self.daemon.pid}/task").iterdir():
            name = (task / "comm").read_text().strip()
            if name in ("offcpud-stacks", "offcpud-symbols"):
                found[name] = host.account(task)
        return found

    def crowd(self, *arguments, uid=NOBODY):
        crowd = self.start("crowded_memory", "--uid", uid, *arguments)
        crowd.go()
        return crowd

    def expect_others_served(self):
        """Programs of another user, which start in the middle of it."""
        for _ in range(3):
            # Long sleeps, beside which the waits for the CPU of a busy host are short.
            victim = self.start("sleeper", "--count", 500, "--us", 200_000)
            victim.go()
            stacks = self.profile(pid=victim.process.pid)
            incomplete = sum(row["ns"] for row in stacks.rows if "incomplete" in row["stack"][0]) / 1e9
            self.expect_at_least("seconds of the other program's sleep", 1.5, stacks.seconds())
            self.expect_at_most("of them with incomplete stacks", 0.01 * stacks.seconds(), incomplete)
            victim.end()
        self.profile()

    def test_many_mappings_in_many_processes(self):
        crowd = self.crowd("--processes", 41, "--mappings", 60_000, "--seconds", 25)
        time.sleep(3)
        self.expect_others_served()
        self.expect_it_is_said(NOBODY)
        crowd.end()

    def test_many_mappings_of_the_same_user(self):
        """As where every container runs as root."""
        crowd = self.crowd("--processes", 41, "--mappings", 60_000, "--seconds", 25, uid=0)
        time.sleep(3)
        self.expect_others_served()
        self.expect_it_is_said(0)
        crowd.end()

    def test_mappings_that_come_and_go_without_end(self):
        crowd = self.crowd("--processes", 2, "--mappings", 20, "--remap", 4000, "--ms", 20,
                           "--seconds", 25)
        time.sleep(3)
        self.expect_others_served()
        self.expect_at_least("events left out", 1,
                             self.daemon.scrape().value("offcpud_mappings_left_out_total"))
        crowd.end()

    def expect_others_served_in_a_storm(self, *arguments, count=1):
        """Events that cost their program microseconds, and the daemon a hundred entries of a map."""
        storms = [self.start("entry_storm", "--uid", NOBODY, "--seconds", 25, *arguments)
                  for _ in range(count)]
        for storm in storms:
            storm.go()
        time.sleep(3)
        self.expect_others_served()
        for storm in storms:
            self.expect_at_least("rounds", 100, storm.finish().report["rounds"])

    def test_huge_mappings_and_execs(self):
        self.expect_others_served_in_a_storm("--way", "exec")

    def test_huge_mappings_and_forks(self):
        self.expect_others_served_in_a_storm("--way", "fork", "--ms", 20)

    def test_huge_mappings_that_are_replaced(self):
        self.expect_others_served_in_a_storm("--way", "replace", "--ms", 1, count=10)

    def expect_it_is_said(self, uid):
        said = self.daemon.get_json("/api/v1/status")["over_share"]
        self.say(any(one["uid"] == uid for one in said), "status", f"user {uid}",
                 json.dumps(said)[:300])
        lines = [line for line in self.daemon.log() if f"user {uid} " in line]
        self.expect_at_least("lines of the log that name him", 1, len(lines))
        self.expect_at_most("lines of the log that name him", 5, len(lines))
        scrape = self.daemon.scrape()
        self.expect_at_least("processes over their share",
                             1, scrape.value("offcpud_processes_over_share"))


if __name__ == "__main__":
    main()
