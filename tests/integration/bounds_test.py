# SPDX-License-Identifier: Apache-2.0
"""Sleeps on either side of powers of two: a bucket's bound belongs to it, and what is longer is above."""

from case import Case, main

COUNT = 20
LATE = 250e-6
POWERS = (-10, -9, -8, -7, -6, -5, -4)  # of a second: 1 ms to 62 ms


class Bounds(Case):
    def sleeps(self, seconds):
        window = self.run_workload("sleeper", "--count", COUNT, "--us", int(seconds * 1e6))
        _, _, kept = window.waits("sleep")
        sleep = window.blocked("sleep")
        self.expect_equal("sleeps", COUNT, sleep.count, window.slack())
        return window, sleep, kept

    def test_sleeps_above_a_bound_are_above_it(self):
        """5 % above 2^k: none at or below. A sleep never ends early, and what it takes to go to
        sleep once the timer runs is microseconds."""
        for k in POWERS:
            with self.subTest(k):
                _, sleep, _ = self.sleeps(2.0**k * 1.05)
                self.expect_equal(f"sleeps at or below 2^{k} s", 0, sleep.at_most(2.0**k))

    def test_sleeps_below_a_bound_are_below_it(self):
        """12 % below 2^k, but as much as a host may wake too late: those that the program itself saw
        end in time are at or below it, and none is at or below 2^(k-1)."""
        for k in POWERS:
            with self.subTest(k):
                window, sleep, kept = self.sleeps(min(0.88 * 2.0**k, 2.0**k - LATE))
                in_time = sum(1 for seconds in kept if seconds <= 2.0**k)
                self.expect_at_least(f"sleeps at or below 2^{k} s", in_time - window.slack(),
                                     sleep.at_most(2.0**k))
                self.expect_equal(f"sleeps at or below 2^{k - 1} s", 0, sleep.at_most(2.0 ** (k - 1)))
                self.expect_at_least("of which there are enough to tell", COUNT // 4, in_time)


if __name__ == "__main__":
    main()
