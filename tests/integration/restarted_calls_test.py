# SPDX-License-Identifier: Apache-2.0
"""A system call that SIGSTOP and SIGCONT interrupt goes on as restart_syscall, and keeps its reason:
also one that was interrupted before the daemon started."""

import signal
import subprocess
import time
from pathlib import Path

import host
from case import PREFIX, main
from daemon import REASONS, WORKLOADS, die_with_the_tester
from in_progress import InProgressCase

SECONDS = 300  # longer than the tests: nothing but their end ends a wait
# The program, its kind of wait, and the reason of that.
CALLS = (("timed_wait", "nanosleep", "sleep"), ("timed_wait", "clock_nanosleep", "sleep"),
         ("timed_wait", "poll", "poll"), ("timed_wait", "futex_wait", "lock"),
         ("timed_wait", "condition", "condvar"), ("compat_wait", "nanosleep", "sleep"),
         ("compat_wait", "poll", "poll"), ("compat_wait", "futex_wait", "lock"))
RESTART_SYSCALL = {"timed_wait": 219, "compat_wait": 0}


class Waiter:
    """A program in the one wait that it makes, in a cgroup of its own."""

    def __init__(self, program, kind, reason, when):
        self.program, self.name, self.reason = program, f"{program} {kind}", reason
        self.cgroup = host.Cgroup(f"{PREFIX}-{when}-{program}-{kind}")

        def enter():
            die_with_the_tester()
            self.cgroup.enter()

        self._process = subprocess.Popen(
            [WORKLOADS / program, "--kind", kind, "--count", "1", "--us", str(SECONDS * 1_000_000)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=enter, text=True)
        self.runs_here = self._process.stdout.readline() == "gate\n"
        if self.runs_here:
            self._process.stdin.write("g")
            self._process.stdin.flush()
            # The gate is a read, whose number both tables have at 3 or below.
            self._await(lambda: self._state() == "S" and (self._call() or 0) > 3)

    def stop(self):
        self._process.send_signal(signal.SIGSTOP)
        self._await(lambda: self._state() == "T")

    def go_on(self):
        self._process.send_signal(signal.SIGCONT)
        self._await(lambda: self._state() == "S" and self._call() == RESTART_SYSCALL[self.program])

    def end(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        self.cgroup.remove()

    def _state(self):
        return Path(f"/proc/{self._process.pid}/stat").read_text().rpartition(")")[2].split()[0]

    def _call(self):
        word = Path(f"/proc/{self._process.pid}/syscall").read_text().split()[0]
        return int(word) if word.lstrip("-").isdigit() else None

    def _await(self, holds):
        until = time.monotonic() + 10
        while not holds():
            if time.monotonic() > until:
                raise RuntimeError(f"{self.name}: {self._state()} in system call {self._call()}")
            time.sleep(0.01)


class RestartedCalls(InProgressCase):
    @classmethod
    def start_waiters(cls, when):
        waiters = []
        for program, kind, reason in CALLS:
            waiter = Waiter(program, kind, reason, when)
            cls.addClassCleanup(waiter.end)
            if waiter.runs_here:
                waiters.append(waiter)
            elif program != "compat_wait":  # which a host without 32-bit programs cannot run
                raise RuntimeError(f"{waiter.name} did not come to its gate")
        return waiters

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        cls.untouched = cls.start_waiters("untouched")
        cls.restarted = cls.start_waiters("restarted")
        cls.held = cls.start_waiters("held")
        for waiter in cls.restarted + cls.held:
            waiter.stop()
        for waiter in cls.restarted:
            waiter.go_on()
        super().setUpClass()

    def expect_reasons(self, waiters):
        """Each waiter's thread is in progress of its reason, and a stall only by its reason."""
        for waiter in waiters:
            with self.subTest(waiter.name):
                self.within_two_passes(
                    f"{waiter.name} is blocked in {waiter.reason}",
                    lambda scrape: self.reasons_now(scrape, waiter) == {waiter.reason: 1})

    def reasons_now(self, scrape, waiter):
        found = {reason: self.blocked_now(scrape, waiter.cgroup, reason) for reason in REASONS}
        return {reason: count for reason, count in found.items() if count}

    def expect_stalls(self, waiters, restarted):
        """Only the locks are stalls. restart_syscall is shown without arguments: it takes none."""
        time.sleep(3)
        locks = {w.cgroup.path: w for w in waiters if w.reason == "lock"}
        idle = {w.cgroup.path: w for w in waiters if w.reason != "lock"}
        self.within_two_passes("the stalls are on record", lambda _: {
            stall["cgroup"] for stall in self.stalls()} >= set(locks))
        for stall in self.stalls():
            self.assertNotIn(stall["cgroup"], idle, f"an idle wait is a stall: {stall}")
            if stall["cgroup"] not in locks:
                continue
            self.say(stall["reason"] == "lock", "reason of the stall", "lock", stall["reason"])
            name, count = ("restart_syscall", 0) if restarted else ("futex", 6)
            self.say(stall["syscall"]["name"] == name, "system call", name, stall["syscall"])
            self.expect_equal("arguments shown", count, len(stall["syscall"]["arguments"]))

    def stalls(self):
        """Those that are told, and locks of which nobody can tell what they are for."""
        def listed(query):
            return self.daemon.get_json_as_root("/api/v1/stalls?state=in_progress" + query)["stalls"]
        return listed("") + [one for one in listed("&for=unknown") if one["reason"] == "lock"]

    def test_never_interrupted(self):
        self.expect_reasons(self.untouched)
        self.expect_stalls(self.untouched, restarted=False)

    def test_restarted_before_the_daemon(self):
        self.expect_reasons(self.restarted)
        self.expect_stalls(self.restarted, restarted=True)

    def test_stopped_before_the_daemon_and_continued_after(self):
        for waiter in self.held:
            waiter.go_on()
        self.expect_reasons(self.held)
        self.expect_stalls(self.held, restarted=True)

    def test_restarted_under_the_daemon(self):
        waiters = self.start_waiters("later")
        for waiter in waiters:
            waiter.stop()
            waiter.go_on()
        self.expect_reasons(waiters)
        self.expect_stalls(waiters, restarted=True)


if __name__ == "__main__":
    main()
