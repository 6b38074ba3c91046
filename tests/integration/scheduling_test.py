# SPDX-License-Identifier: Apache-2.0
"""Waits for a CPU: whose they are, why, and how long; and the identity over all three states."""

import os

import host
from case import PREFIX, Case, main, slow


class RunQueue(Case):
    def spin(self, threads, ms=800, **options):
        window = self.run_workload("spinner", "--threads", threads, "--ms", ms, "--cpu", 0, **options)
        self.expect_counts(window)
        self.expect_running(window)
        books = window.books()
        waited = window.runqueue().seconds
        self.expect_close("run-queue seconds (schedstat run_delay)", books.run_delay_ns / 1e9, waited,
                          absolute=books.switches * 30e-6 + self.lost_seconds(window, books))
        self.expect_at_least("run queue and running (threads x time to spin)",
                             threads * ms / 1e3 * 0.98 - self.lost_seconds(window, books),
                             waited + window.running())
        self.expect_close("blocked, run queue and running (the program's clock)",
                          window.report["between_gates_ns"] / 1e9,
                          window.blocked().seconds + waited + window.running(), 0.02,
                          absolute=self.lost_seconds(window, books) + 0.02)
        blocked = window.blocked()
        gates = window.blocked("pipe").count
        self.expect_equal("blocked episodes but the gates", 0, blocked.count - gates, 2)
        return window

    @slow
    def test_two_spinners_share_a_cpu(self):
        self.spin(2)

    def test_three_spinners_share_a_cpu(self):
        self.spin(3)

    @slow
    def test_eight_spinners_share_a_cpu(self):
        self.spin(8)

    def test_wait_belongs_to_the_one_that_waits(self):
        """D1: a hog and a sleeper share CPU 0, each in a cgroup of its own. The sleeper's waits
        after its wakeups are its own, not those of the hog that had to leave."""
        sleeper = self.start("sleeper", "--count", 150, "--us", 4_000, "--cpu", 0)
        hog = self.start("spinner", "--threads", 1, "--ms", 1_200, "--cpu", 0)
        sleeper.go()
        hog.go()
        of_sleeper, of_hog = sleeper.finish(), hog.finish()
        self.expect_nothing_lost(of_hog)
        slack = of_sleeper.slack() + of_hog.slack()
        self.expect_equal("waits after wakeup of the sleeper (its wakeups)",
                          of_sleeper.books().voluntary, of_sleeper.runqueue("wakeup").count, slack)
        self.expect_equal("waits after wakeup of the hog (its wakeups)",
                          of_hog.books().voluntary, of_hog.runqueue("wakeup").count, slack)
        self.expect_equal("preemptions of the hog (its involuntary switches)",
                          of_hog.books().involuntary, of_hog.runqueue("preempted").count, slack)
        self.expect_equal("sleeps charged to the hog", 0, of_hog.blocked("sleep").count)
        books = of_sleeper.books()
        self.expect_close("run-queue seconds of the sleeper (schedstat)", books.run_delay_ns / 1e9,
                          of_sleeper.runqueue().seconds, 0.02,
                          absolute=books.switches * 30e-6 + 0.004 * slack)

    def test_preemption_inside_the_kernel(self):
        """A thread preempted in a system call may have a sleeping state; it is still runnable."""
        for call in ("random", "zero"):
            with self.subTest(call):
                window = self.run_workload("spinner", "--threads", 2, "--ms", 800, "--in", call)
                self.expect_counts(window)
                blocked = window.blocked().count - window.blocked("pipe").count
                self.expect_equal("blocked episodes but the gates", 0, blocked, 2)

    def test_yield_is_a_preemption(self):
        """A call of sched_yield that switches is a wait for a CPU; one that does not is nothing."""
        window = self.run_workload("spinner", "--threads", 2, "--ms", 400, "--in", "yield")
        self.expect_counts(window)
        self.expect_at_least("preempted", 20, window.runqueue("preempted").count)

    def test_throttled_by_cpu_max(self):
        """A spinner with 20 % of a CPU: waits of some 80 ms, and not blocked ones."""
        try:
            quota = host.CpuQuota(f"{PREFIX}-quota".lstrip("/"), quota_us=20_000)
        except NotImplementedError as error:
            self.skipTest(str(error))
        self.addCleanup(quota.remove)
        cgroup = self.new_cgroup()
        runs = []
        while len(runs) < 4 and not any(window.slack() == 0 for window, _ in runs):
            before = quota.throttled_seconds(cgroup)
            window = self.run_workload("spinner", "--threads", 1, "--ms", 2_000, cgroup=cgroup,
                                       on_start=lambda: quota.apply(cgroup), attempts=1)
            runs.append((window, quota.throttled_seconds(cgroup) - before))
        window, throttled_time = min(runs, key=lambda run: run[0].slack())
        knows = window.after.scrape.value("offcpud_feature_enabled", feature="throttled") == 1
        cause = "throttled" if knows else "preempted"
        seen = window.runqueue(cause)
        self.expect_counts(window)
        self.expect_close(f"{cause} and preempted seconds (wall - run)",
                          window.wall - window.books().run_ns / 1e9, window.runqueue().seconds, 0.02,
                          absolute=0.09 * window.slack())
        self.expect_at_least(f"{cause} waits of 31 to 125 ms", 10,
                             seen.at_most(0.125) - seen.at_most(0.03125))
        self.expect_at_least(f"{cause} seconds (90 % of cpu.stat)", round(0.9 * throttled_time, 3),
                             round(seen.seconds, 3))
        self.expect_equal("blocked episodes but the gates", 0,
                          window.blocked().count - window.blocked("pipe").count, 1)

    @slow
    def test_idle_is_nobodys(self):
        """D2: running time and idle time add up to the CPUs; the idle task is in no cgroup. Where it
        is, they exceed them by the idle time, so there must be some to tell."""
        judged = 0
        for _ in range(15):
            window = self.run_workload("sleeper", "--count", 15, "--us", 100_000, attempts=1)
            cpu_seconds = (window.after.time - window.before.time) * os.cpu_count()
            idle = window.after.idle - window.before.idle
            ran = window.counter("offcpud_running_seconds_total")
            allowed = cpu_seconds + 0.05
            tells = idle > 0.15
            judged += tells
            # Once more: a spinner that ran alone is charged late, for time before the window.
            if tells and (ran + idle <= allowed or judged == 3):
                break
        else:
            self.skipTest("this host has no idle time: the idle task hardly runs")
        self.expect_at_most(f"running {ran:.2f} s + idle {idle:.2f} s (all CPUs)", round(allowed, 2),
                            round(ran + idle, 2))
        own = window.books()
        self.expect_close("running seconds of the sleeper", own.run_ns / 1e9, window.running(), 0.02,
                          absolute=0.002)

    def test_clocks_of_two_cpus(self):
        """D3: a wait that starts on one CPU and ends on another is never negative or enormous."""
        window = self.run_workload("ping_pong", "--count", 5_000, "--cpu0", 0,
                                   "--cpu1", (os.cpu_count() or 1) - 1)
        self.expect_equal("negative durations", 0, window.lost().get("negative_duration", 0))
        longest = max(window.blocked().longest(), window.runqueue().longest())
        age = window.after.time - window.before.time + 30
        self.expect_at_most("longest episode's bucket", 2 * age, longest)


class Identity(Case):
    def test_blocked_runqueue_and_running_add_up(self):
        """10 s of sleeping, locking, passing bytes and spinning in 8 threads: the three states add up
        to threads x wall clock."""
        window = self.run_workload("busy_mix", "--ms", 10_000, attempts=1)
        blocked, queued, ran = window.blocked(), window.runqueue(), window.running()
        wall = window.report["between_gates_ns"] / 1e9
        self.expect_counts(window)
        self.expect_close(
            f"blocked {blocked.seconds:.3f} + run queue {queued.seconds:.3f} + running {ran:.3f} s",
            wall, blocked.seconds + queued.seconds + ran)
        self.expect_running(window)


if __name__ == "__main__":
    main()
