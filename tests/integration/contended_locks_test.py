# SPDX-License-Identifier: Apache-2.0
"""Nobody is said to hold a lock that passes from thread to thread millions of times."""

import select
import time

from case import main
from waited_on_case import WaitedOnCase

OPERATIONS = 10_000_000


class ContendedLocks(WaitedOnCase):
    """At any moment somebody holds the lock, and of six threads the same one is often found twice. No wait lasts as long
    as those do of which a holder is looked for, and nothing else may name one."""

    settings = {**WaitedOnCase.settings, "stalls.threshold": "1s"}

    def holders_now(self, unit):
        told = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}")
        parts = [(top, part) for tree in told["units"] for top in tree["causes"] for part in top["parts"]]
        named = [part["holder"] for _, part in parts if part.get("holder")]
        stalls = self.daemon.get_json_as_root(f"/api/v1/stalls?cgroup={unit.path}")["stalls"]
        named += [stall["held_by"] for stall in stalls if stall.get("held_by")]
        return named, any(top["for"] == "lock" and top["threads"] > 0 for top, _ in parts)

    def test_ten_million_operations(self):
        unit = self.new_unit("contended")
        program = self.start("contended", "--threads", 6, "--operations", OPERATIONS, cgroup=unit)
        program.go()
        named, looks, waited, until = [], 0, 0, time.monotonic() + 300
        while time.monotonic() < until and not select.select([program.process.stdout], [], [], 0.1)[0]:
            holders, waits = self.holders_now(unit)
            named += holders
            looks += 1
            waited += waits
        # The windows of the last waits are looked at, too.
        for _ in range(50):
            named += self.holders_now(unit)[0]
            time.sleep(0.2)
        truth = program.finish().report
        self.expect_at_least("operations while others waited", OPERATIONS, truth["contended"])
        self.expect_at_least("times that a thread found the lock taken", 10_000, truth["taken"])
        self.expect_at_most("longest time with the lock, s", 1, truth["longest_ns"] / 1e9)
        self.expect_at_least(f"of {looks} looks, those at threads that wait for a lock", 1, waited)
        self.say(not named, "holders that were named", "none", named[:5])


if __name__ == "__main__":
    main()
