# SPDX-License-Identifier: Apache-2.0
"""Waits that last are visible while they last, with their age, and gone when they end."""

import datetime
import fcntl
import os
import subprocess
import time
from pathlib import Path

import host
from case import PREFIX, Case, main
from cgroups_test import sleep_in
from in_progress import InProgressCase


def state_of_waiter(pid):
    """State letter and wait channel of the thread that is stuck."""
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == "stuck-waiter":
            return host.account(task).state, (task / "wchan").read_text()
    return None, None


class Gauges(InProgressCase):
    def stuck(self, kind, reason, *arguments, ms=5_000):
        """A thread in a wait of that reason; returns the workload and when it began."""
        workload = self.start("stuck", "--kind", kind, "--ms", ms, *arguments)
        self.expect_equal(f"threads blocked in {reason} before", 0,
                          self.blocked_now(workload.before.scrape, workload.cgroup, reason))
        workload.go()
        return workload, time.time()

    def expect_visible(self, workload, began, reason):
        scrape = self.within_two_passes(
            f"one thread is blocked in {reason}",
            lambda scrape: self.blocked_now(scrape, workload.cgroup, reason) == 1)
        self.expect_age("its age", scrape, began, self.oldest(scrape, workload.cgroup, reason))
        time.sleep(max(0.0, began + 2 - time.time()))
        scrape = self.within_two_passes(
            "it is blocked for more than 2 s",
            lambda scrape: self.stalled(scrape, workload.cgroup, reason, "2s") == 1)
        self.expect_equal("threads blocked for more than 1 s", 1,
                          self.stalled(scrape, workload.cgroup, reason, "1s"))
        self.expect_equal("threads blocked for more than 60 s", 0,
                          self.stalled(scrape, workload.cgroup, reason, "60s"))
        self.expect_age("its age", scrape, began, self.oldest(scrape, workload.cgroup, reason))

    def expect_gone(self, workload, reason):
        """After its end: the gauges within two passes, the episode in the histogram once."""
        window = workload.finish()
        window.after.see_again(self.within_two_passes(
            "nobody is blocked any more",
            lambda scrape: not self.blocked_now(scrape, workload.cgroup, reason)
            and not self.oldest(scrape, workload.cgroup, reason)
            and not self.stalled(scrape, workload.cgroup, reason, "1s"), since=window.after.scrape))
        self.expect_nothing_lost(window)
        _, seconds, _ = window.waits("stuck")
        seen = window.blocked(reason)
        self.expect_equal("episodes in the histogram of a second and more", 1,
                          seen.count - seen.at_most(1.0), window.slack())
        self.expect_close("seconds (the program's clock)", seconds, seen.seconds, 0.02)

    def test_lock_whose_owner_sleeps(self):
        workload, began = self.stuck("mutex", "lock")
        self.expect_visible(workload, began, "lock")
        for family, labels in (("offcpud_blocked_seconds", {"reason": "lock"}),
                               ("offcpud_wait_seconds", {"for": "lock"})):
            def is_at_zero(scrape, family=family, labels=labels):
                buckets, _ = scrape.histogram(family, cgroup=workload.cgroup.path, **labels)
                return buckets and not any(buckets.values())
            self.within_two_passes(f"{family} {labels} is there at 0 before it ends", is_at_zero, most=4)
        self.expect_gone(workload, "lock")

    def test_parent_of_a_vfork(self):
        """Uninterruptible, on every kernel."""
        workload, began = self.stuck("vfork", "kernel")
        time.sleep(0.1)
        state, channel = state_of_waiter(workload.process.pid)
        self.say(state == "D", f"state of the thread (in {channel})", "D", state)
        self.expect_visible(workload, began, "kernel")
        self.expect_gone(workload, "kernel")

    def test_write_to_a_frozen_file_system(self):
        disk = self.new_disk()
        file = disk.path / "file"
        file.touch()
        workload = self.start("stuck", "--kind", "write", "--path", file)
        disk.freeze()
        workload.go()
        began = time.time()
        time.sleep(0.2)
        state, channel = state_of_waiter(workload.process.pid)
        self.say(state == "D", f"state of the thread (in {channel})", "D", state)
        self.expect_visible(workload, began, "disk")
        disk.thaw()
        self.expect_gone(workload, "disk")

    def test_opening_below_a_frozen_file_system(self):
        """No read or write: a wait inside the kernel."""
        disk = self.new_disk()
        cgroup = self.new_cgroup()
        disk.freeze()
        process = subprocess.Popen(["touch", disk.path / "new"], preexec_fn=cgroup.enter)
        began = time.time()
        self.addCleanup(process.wait)
        scrape = self.within_two_passes(
            "one thread is blocked in kernel",
            lambda scrape: self.blocked_now(scrape, cgroup, "kernel") == 1)
        self.expect_age("its age", scrape, began, self.oldest(scrape, cgroup, "kernel"))


class Passing(Case):
    settings = {"pass_interval": "300ms", "min_pass_interval": "100ms"}

    def test_sleep_of_many_passes_is_in_progress_and_then_one_episode(self):
        """Sleeps of a second, passes of 0.3 s: each is seen as it grows, none is counted before its
        end, and each counts once."""
        workload = self.start("sleeper", "--count", 5, "--us", 1_000_000)
        workload.go()
        began, ages, ended = time.monotonic(), [], []
        while time.monotonic() < began + 4.9:
            scrape = self.daemon.scrape()
            ages.append(scrape.value("offcpud_oldest_blocked_seconds",
                                     cgroup=workload.cgroup.path, reason="sleep"))
            buckets, _ = scrape.histogram("offcpud_blocked_seconds", cgroup=workload.cgroup.path,
                                          reason="sleep")
            ended.append(int(sum(buckets.values())))
            time.sleep(0.15)
        window = workload.finish()
        self.expect_at_most("oldest sleep in progress", 1.3, max(ages))
        grew = sum(1 for before, now in zip(ages, ages[1:]) if now > before)
        self.expect_at_least("times that the age was seen to grow", 4, grew)
        self.expect_at_least("ages of more than 0.4 s", 3,
                             sum(1 for age in ages if age > 0.4))
        self.expect_equal("sleeps that ended while they were counted", 4, max(ended), 1)
        self.expect_equal("sleeps in the histogram", 5, window.blocked("sleep").count,
                          window.slack())
        self.expect_close("seconds", 5.0, window.blocked("sleep").seconds, 0.01,
                          absolute=min(1, window.slack()))

    def test_wait_for_the_cpu_in_progress(self):
        """A spinner with 20 ms of each second: it waits for up to 980 ms at a time."""
        try:
            quota = host.CpuQuota(f"{PREFIX}-slow".lstrip("/"), 20_000, 1_000_000)
        except NotImplementedError as error:
            self.skipTest(str(error))
        self.addCleanup(quota.remove)
        cgroup = self.new_cgroup()
        workload = self.start("spinner", "--threads", 1, "--ms", 8_000, cgroup=cgroup,
                              on_start=lambda: quota.apply(cgroup))
        workload.go()
        ages, until = [], time.monotonic() + 7.5
        while time.monotonic() < until:
            ages.append(self.daemon.scrape().value("offcpud_oldest_runnable_seconds",
                                                   cgroup=cgroup.path))
            time.sleep(0.15)
        workload.finish()
        self.expect_at_least("longest wait in a run queue in progress", 0.3, max(ages))
        self.expect_at_most("longest wait in a run queue in progress", 1.2, max(ages))


class Before(InProgressCase):
    """Fifty threads asleep, and one that waits for a pipe, for three seconds before the start."""

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        cls.cgroup = host.Cgroup(f"{PREFIX}-before")
        cls.addClassCleanup(cls.cgroup.remove)
        ends = os.pipe()
        cls.began = {"sleep": time.time()}
        cls.sleepers = [sleep_in(cls.cgroup, 12.0) for _ in range(50)]
        cls.began["pipe"] = time.time()  # fifty starts may take a second or two
        cls.reader = subprocess.Popen(["head", "-c", "1"], stdin=ends[0], stdout=subprocess.DEVNULL,
                                      preexec_fn=cls.cgroup.enter)
        os.close(ends[0])
        cls.writer = fcntl.fcntl(ends[1], fcntl.F_DUPFD_CLOEXEC, 100)  # where nobody looks for it
        os.close(ends[1])
        cls.addClassCleanup(lambda: [(p.kill(), p.wait()) for p in [*cls.sleepers, cls.reader]])
        time.sleep(3)
        super().setUpClass()

    def expect_the_age_of_the_stall(self, stall):
        """What stacks say has the same age as the stall, and the same mark."""
        top = self.daemon.get_json("/api/v1/top")
        row = next(row for row in top["processes"] if row["pid"] == self.reader.pid)
        site = row["waits"]["sites"][0]
        taken, since = (datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
                        for text in (top["taken"], stall["since"]))
        self.expect_close("age at the end of the window", taken - top["window"]["age_seconds"] - since,
                          site["oldest_seconds"], absolute=0.7)
        for who, mark in (("site", site["oldest_estimated"]), ("reason", row["oldest_blocked"]["estimated"])):
            self.say(mark is True, f"its beginning, by {who}", "estimated", mark)

    def test_threads_asleep_before_the_start_are_visible(self):
        """With what is known of them: that they wait, why, and since when within a second."""
        scrape = self.within_two_passes(
            "50 threads sleep", lambda s: self.blocked_now(s, self.cgroup, "sleep") == 50)
        self.expect_equal("threads that wait for a pipe", 1,
                          self.blocked_now(scrape, self.cgroup, "pipe"))
        for reason in ("sleep", "pipe"):
            self.expect_age(f"age of the oldest in {reason}", scrape, self.began[reason],
                            self.oldest(scrape, self.cgroup, reason))
        self.expect_equal("stalled for more than 2 s", 1,
                          self.stalled(scrape, self.cgroup, "pipe", "2s"))
        # Nobody can tell what this pipe's reader waits for, so it is shown only if one asks. Names of a program that
        # the daemon has not seen before take some 2 s more (docs/semantics.md, stalls).
        self.within_two_passes("the reader's stack is examined", lambda _: self.stall_of(
            self.cgroup, "head", None, "?for=unknown"), most=4)
        self.assertIsNone(self.stall_of(self.cgroup, "head"), "it is not told")
        stall = self.stall_of(self.cgroup, "head", None, "?for=unknown")
        self.say(stall["estimated"] is True, "its beginning", "estimated", stall["estimated"])
        self.say(any("pipe_read" in frame for frame in stall["stack"]), "its stack",
                 "a frame pipe_read", stall["stack"])
        self.expect_the_age_of_the_stall(stall)
        os.write(self.writer, b"x")
        os.close(self.writer)
        self.within_two_passes("nobody waits for a pipe",
                               lambda s: not self.blocked_now(s, self.cgroup, "pipe"))
        for process in self.sleepers:
            process.wait()
        scrape = self.within_two_passes("nobody sleeps",
                                        lambda s: not self.blocked_now(s, self.cgroup, "sleep"))
        buckets, _ = scrape.histogram("offcpud_blocked_seconds", cgroup=self.cgroup.path)
        self.expect_equal("episodes of 2 s and more (their beginning is not known)", 0,
                          int(sum(n for le, n in buckets.items() if le > 2)))


if __name__ == "__main__":
    main()
