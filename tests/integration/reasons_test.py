# SPDX-License-Identifier: Apache-2.0
"""Every reason of docs/semantics.md, by the system call that makes it."""

import time

from case import Case, main


class Reasons(Case):
    def waits_are(self, reason, program, *arguments, us=5_000, count=20):
        """Each of the program's timed waits is one episode of `reason`, and nothing else but the
        gate (a pipe) is blocked."""
        window = self.run_workload(program, "--count", count, "--us", us, *arguments)
        seen = window.blocked(reason)
        own_count, own_seconds, _ = window.waits("wait")
        gate, gate_seconds = (1, self.gate_seconds(window)) if reason == "pipe" else (0, 0.0)
        slack = window.slack()
        self.expect_equal(f"{reason} waits", own_count + gate, seen.count, slack)
        others = {r: n for r, n in window.reasons().items() if r not in (reason, "pipe")}
        self.say(sum(others.values()) <= slack, "other reasons", "none but the gate", others)
        queued = window.runqueue().seconds + window.running() + us * 1e-6 * slack
        own_seconds += gate_seconds
        self.expect_at_most("seconds (the program's clock)", round(own_seconds, 6),
                            round(seen.seconds, 6))
        self.expect_at_least("seconds (its clock less run queue and running)",
                             round((own_seconds - queued) * 0.99, 6), seen.seconds)
        self.expect_counts(window)

    @staticmethod
    def gate_seconds(window):
        """The main thread's wait at the first gate, by the program's clock."""
        return window.report["between_gates_ns"] / 1e9 - window.wall

    def test_sleep(self):
        for kind in ("nanosleep", "clock_nanosleep", "pause"):
            with self.subTest(kind):
                self.waits_are("sleep", "timed_wait", "--kind", kind)

    def test_poll(self):
        for kind in ("poll", "ppoll", "select", "pselect", "epoll", "sigtimedwait", "timerfd"):
            with self.subTest(kind):
                self.waits_are("poll", "timed_wait", "--kind", kind)

    def test_io_uring(self):
        """The kernel marks a wait for any request as I/O; one on an idle socket is none."""
        self.waits_are("poll", "timed_wait", "--kind", "io_uring")

    def test_lock(self):
        for kind in ("futex_wait",):
            with self.subTest(kind):
                self.waits_are("lock", "timed_wait", "--kind", kind)

    def test_condvar(self):
        for kind in ("condition", "semaphore", "sysv_semaphore"):
            with self.subTest(kind):
                self.waits_are("condvar", "timed_wait", "--kind", kind)

    def test_timed_mutex_waits_like_a_condition(self):
        """glibc's pthread_mutex_timedlock uses FUTEX_WAIT_BITSET for its absolute deadline, so by
        the contract's rule it is a `condvar`."""
        self.waits_are("condvar", "timed_wait", "--kind", "mutex_timedlock")

    def test_network(self):
        for kind in ("recv", "socket_read", "accept"):
            with self.subTest(kind):
                self.waits_are("network", "timed_wait", "--kind", kind)

    def test_pipe(self):
        self.waits_are("pipe", "timed_wait", "--kind", "pipe_read")

    def test_other(self):
        self.waits_are("other", "timed_wait", "--kind", "message_queue")

    def test_regular_files_without_a_disk_are_other(self):
        """In /proc and tracefs: regular files by their type, of which a read waits for messages."""
        for kind in ("kmsg", "trace_pipe"):
            with self.subTest(kind):
                self.waits_are("other", "timed_wait", "--kind", kind)

    def test_32_bit_calls(self):
        """The numbers and argument registers of 32-bit programs are others."""
        for kind, reason in (("nanosleep", "sleep"), ("poll", "poll"), ("futex_wait", "lock"),
                             ("pipe_read", "pipe")):
            with self.subTest(kind):
                self.waits_are(reason, "compat_wait", "--kind", kind)

    def child_waits(self, kind, reason):
        window = self.run_workload("child_wait", "--kind", kind, "--count", 10, "--us", 5_000)
        own_count, own_seconds, own = window.waits("child")
        seen = window.blocked(reason)
        # A parent that got no CPU until its child had slept did not wait for it.
        waited = sum(1 for seconds in own if seconds > 0.001)
        self.expect_at_least(f"{reason} waits", waited - window.slack(), seen.between(0.0005, 10))
        self.expect_at_most(f"{reason} waits", own_count + window.slack(), seen.count)
        self.expect_at_least("waits of the program's clock", own_count // 2, waited)
        self.expect_equal("the children's sleeps", 10, window.blocked("sleep").count, window.slack())
        books = window.books()
        self.expect_at_least(
            "seconds (the program's clock but for its time on and in front of a CPU)",
            own_seconds - (books.run_ns + books.run_delay_ns) / 1e9 - 0.006 * window.slack(),
            seen.seconds)
        self.expect_at_most("seconds (the program's clock)", own_seconds, seen.seconds)

    def test_child_by_wait4(self):
        self.child_waits("wait4", "child")

    def test_child_by_waitid(self):
        self.child_waits("waitid", "child")

    def test_vfork_parent_waits_in_the_kernel(self):
        self.child_waits("vfork", "kernel")

    def test_stopped_by_a_signal(self):
        """SIGSTOP for 3 x 300 ms."""
        self.stops("signal")

    def test_stopped_by_a_tracer(self):
        """PTRACE_INTERRUPT for 3 x 300 ms."""
        self.stops("ptrace")

    def stops(self, by):
        child = self.new_cgroup()
        window = self.run_workload("stopped", "--count", 3, "--ms", 300, "--by", by, "--cgroup",
                                   child.directory, others=[child])
        seen = window.blocked("stopped", child.path)
        own_count, own_seconds, _ = window.waits("stopped")
        self.expect_equal("stops", own_count, seen.count, window.slack())
        self.expect_close("stopped seconds (the program's clock)", own_seconds, seen.seconds,
                          absolute=0.3 * window.slack())
        self.expect_equal("stops in (0.25, 0.5] s", own_count,
                          seen.at_most(0.5) - seen.at_most(0.25), window.slack())
        self.expect_counts(window, child.path)

    def test_frozen(self):
        """cgroup.freeze holds the spinner and its main thread for 300 ms."""
        cgroup = self.new_cgroup()
        spinner = self.start("spinner", "--threads", 1, "--ms", 900, "--cpu", 0, cgroup=cgroup)
        spinner.go()
        time.sleep(0.2)
        (cgroup.directory / "cgroup.freeze").write_text("1")
        time.sleep(0.3)
        (cgroup.directory / "cgroup.freeze").write_text("0")
        window = spinner.finish()
        self.expect_nothing_lost(window)
        seen = window.blocked("stopped")
        self.expect_equal("stops of two threads", 2, seen.count, window.slack())
        self.expect_close("stopped seconds", 0.6, seen.seconds, 0.1,
                          absolute=0.06 + 0.3 * window.slack())


if __name__ == "__main__":
    main()
