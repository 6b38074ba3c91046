# SPDX-License-Identifier: Apache-2.0
"""Programs whose waits are known: counted exactly, timed within 1 %, in the right bucket."""

from case import Case, main


class Sleeps(Case):
    def expect_sleep(self, window, count, low, high):
        """All sleeps counted once as `sleep`, in the buckets of [low, high] seconds but for those
        that the program itself saw outside."""
        sleep = window.blocked("sleep")
        books = window.books()
        self.expect_equal("sleeps", count, sleep.count, window.slack())
        asked, own_seconds, kept = window.waits("sleep")
        late = sum(1 for seconds in kept if seconds > high)
        self.expect_at_least(
            f"sleeps in the bucket of {low:g} to {high:g} s",
            count - late - window.slack(),
            sleep.between(low, high),
        )
        self.expect_at_least("shortest possible sum", (count - window.slack()) * low, sleep.seconds)
        self.expect_at_most("sum (the program's clock)", own_seconds, sleep.seconds)
        return sleep

    def test_sleeper_is_counted_and_timed(self):
        """100 sleeps of 10 ms."""
        window = self.run_workload("sleeper", "--count", 100, "--us", 10_000)
        sleep = self.expect_sleep(window, 100, 0.010, 0.0156)
        self.expect_counts(window)
        books = window.books()
        off_cpu = window.wall - (books.run_ns + books.run_delay_ns) / 1e9
        self.expect_close("sleep seconds (wall - run - delay)", off_cpu, sleep.seconds,
                          absolute=0.011 * window.slack())
        if not window.slack():
            expected = {"pipe": 1, "sleep": 100}  # the gate is a pipe
            self.say(window.reasons() == expected, "reasons", expected, window.reasons())
        self.expect_running(window, tolerance=0.05)

    def test_mean_of_known_sleeps(self):
        """D6, D8: a wrong unit, or a sum made from bucket ends, is far from 9 ms."""
        window = self.run_workload("sleeper", "--count", 100, "--us", 9_000)
        sleep = window.blocked("sleep")
        count, own_seconds, _ = window.waits("sleep")
        books = window.books()
        truth = window.wall - (books.run_ns + books.run_delay_ns) / 1e9
        self.expect_close("mean sleep", truth / count, sleep.seconds / sleep.count)

    def test_sleep_just_below_a_bound_is_below_it(self):
        """D4: 15.3 ms belongs to le = 2^-6 s, and would not if bounds were off by one."""
        window = self.run_workload("sleeper", "--count", 60, "--us", 15_200)
        sleep = window.blocked("sleep")
        _, _, kept = window.waits("sleep")
        below = sum(1 for seconds in kept if seconds <= 2**-6)
        self.expect_equal("sleeps", 60, sleep.count, window.slack())
        self.expect_at_least(
            "sleeps at or below 2^-6 s", below - window.slack(), sleep.at_most(2**-6)
        )
        self.expect_at_least("of which there are enough to tell", 20, sleep.at_most(2**-6))
        self.expect_equal("sleeps at or below 2^-7 s", 0, sleep.at_most(2**-7))

    def test_sleeps_of_seconds_are_in_their_buckets(self):
        """D5: 32-bit arithmetic wraps at 2.1 or 4.3 s."""
        sleepers = [
            (self.start("sleeper", "--count", 1, "--us", int(seconds * 1e6)), seconds)
            for seconds in (1.2, 3.0, 5.0)
        ]
        for sleeper, _ in sleepers:
            sleeper.go()
        for sleeper, seconds in sleepers:
            window = sleeper.finish()
            self.expect_nothing_lost(window)
            below = 1.0 if seconds < 2 else 2.0 if seconds < 4 else 4.0
            sleep = window.blocked("sleep")
            self.expect_equal(f"sleeps of {seconds} s in ({below}, {2 * below}] s", 1,
                              sleep.at_most(2 * below) - sleep.at_most(below))
            self.expect_equal("sleeps", 1, sleep.count)
            # What the program asked for is no truth: a busy host wakes it later.
            self.expect_close("its seconds (program's clock)", window.waits("sleep")[1], sleep.seconds)

    def test_sleeper_that_is_moved_between_cpus(self):
        """D12: the affinity of the sleeper flips every millisecond; no sleep is split, doubled or
        timed with another CPU's start."""
        window = self.run_workload("sleeper", "--count", 50, "--us", 10_300, "--flip", 1)
        own_count, own, _ = window.waits("sleep")
        naps, nap_seconds, _ = window.waits("nap")
        sleep = window.blocked("sleep")
        slack = window.slack()
        self.expect_equal("sleeps of both threads", own_count + naps, sleep.count, slack)
        self.expect_equal("sleeps of 10.3 ms and more", own_count,
                          sleep.count - sleep.at_most(2**-7), slack + sum(
                              1 for s in window.waits("nap")[2] if s > 2**-7))
        self.expect_at_least("seconds asked for", own_count * 0.0103 + naps * 0.001, sleep.seconds
                             + slack * 0.0103)
        self.expect_at_most("seconds (the program's clock)", own + nap_seconds, sleep.seconds)
        self.expect_counts(window)

    def test_sleep_that_signals_interrupt(self):
        """A signal may come while the thread is about to sleep; up to 6.15 the tracepoint then
        still says it sleeps. It is a wait for the CPU, and no wait is longer than the clock."""
        window = self.run_workload("signal_storm", "--ms", 1_000)
        books = window.books()
        off_cpu = window.blocked().count + window.runqueue("preempted").count
        slack = window.slack()
        self.expect_equal("blocked and preempted (all switches)", books.switches, off_cpu, slack)
        self.expect_equal("wakeups (blocked)", window.blocked().count,
                          window.runqueue("wakeup").count, slack)
        self.expect_at_most("sleep seconds (wall clock)", window.wall, window.blocked("sleep").seconds)


class Handoffs(Case):
    def ping_pong(self, kind, reason, count, cpus):
        sides = [self.new_cgroup(), self.new_cgroup()]
        window = self.run_workload(
            "ping_pong", "--kind", kind, "--count", count, "--cpu0", cpus[0], "--cpu1", cpus[1],
            "--cgroup0", sides[0].directory, "--cgroup1", sides[1].directory, others=sides)
        for side in sides:
            self.expect_counts(window, side.path)
            books = window.books(side.path)
            seen = window.blocked(reason, side.path).count
            extra = 0 if reason != "pipe" else 1  # the gate is a pipe too
            # A socket's own mutex may make a few more, of another reason.
            strangers = max(window.slack(), 5 if kind == "socket" else 0)
            self.expect_equal(f"all waits but the gate are {reason}",
                              books.voluntary - 1 + extra, seen, strangers)
            total = (window.blocked(cgroup=side.path).seconds
                     + window.runqueue(cgroup=side.path).seconds + window.running(side.path))
            self.expect_at_least("seconds of the side (wall clock of the exchange)",
                                 round(window.wall * 0.98, 4), round(total, 4))
        return window, sides

    def test_pipe_between_two_cpus(self):
        window, sides = self.ping_pong("pipe", "pipe", 5_000, (0, 1))
        self.expect_at_least("waits", 2_000, window.blocked("pipe", sides[0].path).count)

    def test_waits_of_microseconds_are_counted(self):
        """D13: a pipe on one CPU; each side waits only while the other runs, for 2 to 7 us."""
        window, sides = self.ping_pong("pipe", "pipe", 20_000, (0, 0))
        short = sum(window.blocked("pipe", side.path).at_most(2**-17) for side in sides)
        waits = sum(window.books(side.path).voluntary for side in sides)
        self.expect_at_least("waits", 10_000, waits)
        self.expect_at_least("waits up to 7.6 us", int(0.5 * waits), short)

    def test_socket_pair(self):
        """D17: wakers on the other CPU often rewrite the state of a thread that goes to sleep."""
        self.ping_pong("socket", "network", 3_000, (0, 1))

    def test_eventfd(self):
        self.ping_pong("eventfd", "poll", 3_000, (0, 0))


class Locks(Case):
    def hold(self, kind, *arguments, count=30):
        window = self.run_workload("lock_holder", "--kind", kind, "--count", count, *arguments)
        rounds, own_seconds, _ = window.waits("lock")
        lock = window.blocked("lock")
        slack = window.slack()
        # A busy host may let the waiter come too late, when the lock is free again.
        waited = window.report["lock_switches"]
        self.expect_at_least("waits the program made", rounds // 2, waited)
        self.expect_equal("lock waits (switches of the waiter while it took the lock)", waited,
                          lock.count + window.blocked("kernel").count, slack)
        self.expect_at_most("lock waits", rounds + slack, lock.count)
        # What the program saw includes the wait for the CPU after the wakeup.
        queued = window.runqueue().seconds
        self.expect_at_most("lock seconds (the program's clock)", own_seconds, lock.seconds)
        self.expect_at_least("lock seconds (its clock less the run queue)",
                             round((own_seconds - queued) * 0.99 - 0.010 * slack, 6), lock.seconds)
        self.expect_counts(window)
        return window

    def test_mutex_holder_and_waiter(self):
        self.hold("mutex")

    def test_priority_inheriting_mutex(self):
        """On one CPU: on two the waiter spins in the kernel while the holder runs
        (rtmutex_spin_on_owner), which is no wait."""
        self.hold("pi_mutex", "--cpu0", 0, "--cpu1", 0)

    def test_flock(self):
        self.hold("flock")

    def test_file_region_lock(self):
        self.hold("fcntl")

    def test_broadcast_to_a_condition(self):
        """8 threads x 10 rounds: as many waits, each as long as the pause."""
        window = self.run_workload("broadcast", "--threads", 8, "--count", 10)
        count, own_seconds, kept = window.waits("condvar")
        seen = window.blocked("condvar")
        self.expect_equal("waits the program made", 80, count)
        self.expect_at_least("condvar waits", 80 - window.slack(), seen.count)
        self.expect_at_most("condvar waits, with those repeated", 96, seen.count)
        queued = window.runqueue().seconds + window.blocked("lock").seconds
        self.expect_at_most("condvar seconds (the program's clock)", own_seconds, seen.seconds)
        self.expect_at_least("condvar seconds (less run queue and mutex)",
                             round((own_seconds - queued) * 0.98, 6), seen.seconds)
        self.expect_counts(window)


class Disk(Case):
    def expect_disk_time(self, window):
        disk = window.blocked("disk")
        _, own_seconds, _ = window.waits("disk")
        queued = window.runqueue().seconds + window.running() + window.blocked("kernel").seconds
        self.expect_at_most("disk seconds (the program's clock)", own_seconds, disk.seconds)
        self.expect_at_least("disk seconds (less run queue and running)",
                             round((own_seconds - queued) * 0.99 - 0.004 * window.slack(), 6),
                             disk.seconds)
        self.expect_counts(window)

    def test_fsync(self):
        window = self.run_workload("fsync_loop", "--count", 50)
        self.expect_at_least("disk waits", 50 - window.slack(), window.blocked("disk").count)
        self.expect_disk_time(window)

    def test_read_past_the_page_cache(self):
        for _ in range(4):
            window = self.run_workload("direct_read", "--count", 100)
            waited = window.report["disk_switches"]
            if waited >= 50:
                break
        # A virtual disk may answer before the thread that asks has given up the CPU.
        self.skip_if(waited < 50 and f"only {waited} of 100 reads waited: this disk is too fast")
        seen = window.blocked("disk").count
        self.expect_at_least("disk waits (switches of the reads)", waited - window.slack(), seen)
        # Pages of the program itself that had to be read again, where memory is short.
        self.expect_at_most("disk waits (and major page faults)", waited + window.report["majflt"],
                            seen)
        self.expect_disk_time(window)


if __name__ == "__main__":
    main()
