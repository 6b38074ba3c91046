# SPDX-License-Identifier: Apache-2.0
"""Who woke a thread: its own cgroup, another one, the kernel or an interrupt."""

from case import Case, main

WAKEUPS = "offcpud_wakeups_total"
WAKERS = ("same_cgroup", "other_cgroup", "kernel", "interrupt")


class Wakers(Case):
    settings = {}

    def woken(self, window, cgroup=None):
        """{from: wakeups} in the window; together they are the blocks that ended."""
        path = cgroup.path if cgroup else window.cgroup
        found = {of: int(window.counter(WAKEUPS, cgroup=path, **{"from": of})) for of in WAKERS}
        self.expect_equal(f"wakeups {found} (voluntary switches)", window.books(path).voluntary,
                          sum(found.values()), window.slack())
        return found

    def expect_mostly(self, found, *of, share=0.99, gates=3):
        """All but the wakeups at the gates, by the tester and by threads of the workload, and a few."""
        seen = sum(found[one] for one in of)
        self.expect_at_least(f"wakeups from {' and '.join(of)}",
                             int(share * sum(found.values())) - gates, seen)

    def ping_pong(self, kind, cpus, count=2_000):
        sides = [self.new_cgroup(), self.new_cgroup()]
        window = self.run_workload(
            "ping_pong", "--kind", kind, "--count", count, "--cpu0", cpus[0], "--cpu1", cpus[1],
            "--cgroup0", sides[0].directory, "--cgroup1", sides[1].directory, others=sides)
        return [self.woken(window, side) for side in sides]

    def test_pipe_writer_in_another_cgroup(self):
        """On one CPU, and on two, where the kernel may queue the wakeup for the other CPU to finish in
        an interrupt: the writer stays the waker."""
        for cpus in ((0, 0), (0, 1)):
            with self.subTest(cpus):
                for found in self.ping_pong("pipe", cpus):
                    self.expect_mostly(found, "other_cgroup")

    def test_loopback_packet(self):
        """Delivered in a softirq, on whichever thread that happens to run: an interrupt."""
        for found in self.ping_pong("udp", (0, 1)):
            self.expect_mostly(found, "interrupt")

    def test_timers(self):
        """Also while a hog of another cgroup is what every tick interrupts."""
        hog = self.start("spinner", "--threads", 1, "--ms", 20_000, "--cpu", 0)
        self.addCleanup(hog.process.kill)
        hog.go()
        window = self.run_workload("sleeper", "--count", 200, "--us", 2_000, "--cpu", 0)
        self.expect_mostly(self.woken(window), "interrupt")

    def test_lock_of_its_own_process(self):
        window = self.run_workload("lock_holder", "--kind", "mutex", "--count", 50)
        self.expect_mostly(self.woken(window), "same_cgroup", gates=4)

    def test_broadcast_to_a_condition(self):
        """Eight waiters, one waker, and the waker's own sleeps, which a timer ends."""
        window = self.run_workload("broadcast", "--threads", 8, "--count", 10)
        found = self.woken(window)
        sleeps = window.blocked("sleep").count
        self.expect_equal("wakeups from interrupt (sleeps of the waker)", sleeps, found["interrupt"],
                          2 + window.slack())
        self.expect_at_least("wakeups from same_cgroup", 80 - window.slack(), found["same_cgroup"])

    def test_disk(self):
        """fsync is ended by the journal's thread or by the disk's interrupt."""
        window = self.run_workload("fsync_loop", "--count", 50)
        self.expect_mostly(self.woken(window), "kernel", "interrupt", share=0.9)


if __name__ == "__main__":
    main()
