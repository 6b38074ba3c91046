# SPDX-License-Identifier: Apache-2.0
"""Threads that end while they are blocked, or before, and process ids that are given out again."""

from case import Case, main


class Endings(Case):
    def end(self, way, count, threads, us=40_000):
        window = self.run_workload("exit_ways", "--way", way, "--count", count, "--threads", threads,
                                   "--us", us)
        blocked, slack = window.blocked(), window.slack()
        # A thread's last switch, when it is dead already, may or may not be in its process's account.
        switches = window.books().voluntary + window.report["children_nvcsw"]
        self.expect_at_most("blocked episodes (voluntary switches)", switches + slack, blocked.count)
        self.expect_at_least("blocked episodes (those less one for each process)",
                             switches - count - slack, blocked.count)
        self.expect_equal("negative durations", 0, window.lost().get("negative_duration", 0))
        return window

    def expect_pauses(self, window, count, threads, us):
        """Each pausing thread is one sleep as long as its process lived."""
        lives, life_seconds, _ = window.waits("life")
        sleep, slack = window.blocked("sleep"), window.slack()
        self.expect_equal("processes", count, lives)
        # The program's main thread or the child's sleeps as long as the others pause.
        self.expect_equal("sleeps", count * (threads + 1 if threads > 1 else 1), sleep.count, slack)
        self.expect_at_most("seconds (lives x sleepers)",
                            round(life_seconds * sleep.count / count, 4), round(sleep.seconds, 4))
        self.expect_at_least("seconds (70 % of what was asked for)",
                             round(0.7 * (sleep.count - slack) * us / 1e6, 4), sleep.seconds)

    def test_killed_with_all_threads_blocked(self):
        """4 threads pause, SIGKILL ends them: 4 sleeps, and the killer's own."""
        self.expect_pauses(self.end("kill", 20, 4), 20, 4, 40_000)

    def test_exit_group_with_blocked_siblings(self):
        """One thread ends the process while four others pause."""
        window = self.end("exit_group", 20, 5)
        self.expect_equal("sleeps", 20 * 5, window.blocked("sleep").count, window.slack())

    def test_children_that_end_at_once(self):
        """Not one sleep, and one wait for the first run each."""
        window = self.end("at_once", 200, 1)
        self.expect_equal("sleeps", 0, window.blocked("sleep").count)
        self.expect_at_least("waits after wakeup (each for its first run)", 200 - window.slack(),
                             window.runqueue("wakeup").count)


class Reborn(Case):
    def live_twice(self, count, *arguments):
        window = self.run_workload("reborn", "--count", count, *arguments)
        first, first_seconds, firsts = window.waits("first")
        second, second_seconds, _ = window.waits("second")
        sleep, slack = window.blocked("sleep"), window.slack()
        self.expect_equal("sleeps of both lives", first + second, sleep.count, slack)
        self.expect_at_most("seconds (the lives, by the program's clock)",
                            first_seconds + second_seconds, sleep.seconds)
        self.expect_at_least("seconds asked for", (count - slack) * (0.2 + 0.002) * 0.95,
                             sleep.seconds)
        self.expect_at_most("longest sleep's bucket (twice the longest life)", 2 * max(firsts),
                            sleep.longest())
        age = window.after.time - window.before.time
        for what, seen in (("blocked", window.blocked()), ("run queue", window.runqueue())):
            self.expect_at_most(f"longest {what} (twice the test)", 2 * age, seen.longest())
        return window

    def test_process_id_that_is_given_out_at_once(self):
        """The second life of an id is not charged with the sleep of the first."""
        self.live_twice(10)

    def test_process_ids_that_start_over(self):
        """So many forks that the ids wrap: nobody inherits anything."""
        window = self.live_twice(3, "--wrap", 1)
        self.expect_at_least("forks until the ids wrapped", 1, window.report["forks"])


if __name__ == "__main__":
    main()
