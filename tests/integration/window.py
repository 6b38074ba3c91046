# SPDX-License-Identifier: Apache-2.0
"""Runs a workload between two quiet moments and compares the daemon with the kernel's own books.

A workload stops at a gate before and after its work, with all of its threads alive and asleep. At
both moments the threads' switch counts and schedstat and a scrape are read. A block that is in
progress at the first moment ends within the window, one that is in progress at the second does not;
so the blocked episodes of the window are exactly the voluntary switches of the window, the
preempted ones exactly the involuntary ones, and the seconds add up to the wall clock of the threads.
"""

import json
import math
import subprocess
import time
from dataclasses import dataclass, field

import host
from daemon import BLOCKED, REASONS, RUNQUEUE, WORKLOADS, die_with_the_tester

GUARDED_SHARE = 0.005  # of a test's switches that may be lost where host.init_is_guarded()
GUARDED_STATES = 2  # the most events of threads without state there


@dataclass
class Histogram:
    """Episodes that ended in the window."""

    buckets: dict = field(default_factory=dict)  # upper bound -> episodes in that bucket alone
    seconds: float = 0.0

    @property
    def count(self):
        return int(sum(self.buckets.values()))

    def between(self, low, high):
        """Episodes in the buckets that overlap [low, high] seconds."""
        inside, below = 0, 0.0
        for bound, episodes in sorted(self.buckets.items()):
            if bound >= low and below < high:
                inside += episodes
            below = bound
        return int(inside)

    def at_most(self, bound):
        """Episodes in the buckets up to `bound`, which must be one of the bounds."""
        return int(sum(episodes for le, episodes in self.buckets.items() if le <= bound))

    def longest(self):
        """Upper bound of the highest bucket that holds an episode."""
        return max((le for le, episodes in self.buckets.items() if episodes), default=0.0)


@dataclass
class Books:
    """What the kernel counted for the threads of a cgroup in the window."""

    voluntary: int = 0
    involuntary: int = 0
    run_ns: int = 0
    run_delay_ns: int = 0

    @property
    def switches(self):
        return self.voluntary + self.involuntary


class Moment:
    """A reading of everything while all threads of the workload sleep."""

    def __init__(self, daemon, cgroups, process):
        self.accounts = quiet_accounts(cgroups, process)
        self.time = time.clock_gettime(time.CLOCK_MONOTONIC)
        self.init_switches = host.switches_of_init()
        self.host_switches = host.switches_of_host()
        self.idle = host.idle_seconds()
        self.stolen = host.stolen_seconds()
        self.scrape = scrape_of_now(daemon)

    def see_again(self, scrape):
        """With a page of later on, and what the host did until then."""
        self.init_switches = host.switches_of_init()
        self.host_switches = host.switches_of_host()
        self.scrape = scrape


def scrape_of_now(daemon):
    """A page whose pass began after this call: what is counted before it is before the window."""
    asked = time.time()
    while True:
        scrape = daemon.scrape()
        began = scrape.value("offcpud_last_pass_timestamp_seconds") - daemon.clock_offset
        if began >= asked:
            return scrape
        if time.time() > asked + 30:
            raise AssertionError("no pass in 30 s")
        time.sleep(0.02)


def quiet_accounts(cgroups, process):
    """{cgroup path: {tid: Account}} once nobody has moved for longer than the daemon keeps a pass."""
    before = None
    for _ in range(1000):
        now = {cgroup.path: cgroup.accounts() for cgroup in cgroups}
        threads = [of for accounts in now.values() for of in accounts.values()]
        if now == before and threads and all(of.state in "StT" for of in threads):
            return now
        if process.poll() is not None:
            raise AssertionError(f"the workload ended with {process.returncode}")
        before = now
        time.sleep(0.02)
    raise AssertionError(f"the workload does not come to rest: {before}")


class Window:
    """What the daemon and the kernel say about the time between two Moments."""

    def __init__(self, before, after, cgroups, report):
        self.before, self.after = before, after
        self.cgroup = cgroups[0].path
        self.cgroups = [cgroup.path for cgroup in cgroups]
        self.report = report
        self.wall = (report["end_ns"] - report["start_ns"]) / 1e9 if report else 0.0

    def histogram(self, family, **labels):
        old, old_sum = self.before.scrape.histogram(family, **labels)
        new, new_sum = self.after.scrape.histogram(family, **labels)
        return Histogram({le: n - old.get(le, 0) for le, n in new.items()}, new_sum - old_sum)

    def blocked(self, reason=None, cgroup=None):
        labels = {"cgroup": cgroup or self.cgroup, **({"reason": reason} if reason else {})}
        return self.histogram(BLOCKED, **labels)

    def runqueue(self, cause=None, cgroup=None):
        labels = {"cgroup": cgroup or self.cgroup, **({"cause": cause} if cause else {})}
        return self.histogram(RUNQUEUE, **labels)

    def counter(self, name, **labels):
        return self.after.scrape.value(name, **labels) - self.before.scrape.value(name, **labels)

    def running(self, cgroup=None):
        return self.counter("offcpud_running_seconds_total", cgroup=cgroup or self.cgroup)

    def reasons(self, cgroup=None):
        """{reason: episodes} of the window, for messages."""
        found = {}
        for reason in REASONS:
            count = self.blocked(reason, cgroup).count
            if count:
                found[reason] = count
        return found

    def books(self, cgroup=None):
        cgroup = cgroup or self.cgroup
        total = Books()
        for tid, now in self.after.accounts[cgroup].items():
            then = self.before.accounts[cgroup].get(tid)
            total.voluntary += now.voluntary - (then.voluntary if then else 0)
            total.involuntary += now.involuntary - (then.involuntary if then else 0)
            total.run_ns += now.run_ns - (then.run_ns if then else 0)
            total.run_delay_ns += now.run_delay_ns - (then.run_delay_ns if then else 0)
        return total

    def waits(self, name):
        """The workload's own clock: (count, seconds, [seconds of each of the first])."""
        of = self.report["waits"][name]
        return of["count"], of["sum_ns"] / 1e9, [ns / 1e9 for ns in of["kept_ns"]]

    def waits_without_delay(self, name):
        """(count, seconds) of waits that the program timed with its waits for a CPU, without these."""
        of = self.report["waits"][name]
        return of["count"], (of["sum_ns"] - of["run_delay_ns"]) / 1e9

    def lost(self):
        """{cause: events} that are not 0."""
        old, new = self.before.scrape.lost(), self.after.scrape.lost()
        return {cause: n - old.get(cause, 0) for cause, n in new.items() if n != old.get(cause, 0)}

    def allowed_losses(self):
        """{cause: events} that the host's guard of process 1 explains: every switch of one of its
        threads hides one switch-in, its own next switch and the wakeups it makes."""
        if not host.init_is_guarded():
            return {}
        init = self.after.init_switches - self.before.init_switches
        all_switches = self.after.host_switches - self.before.host_switches
        bound = 2 * init + math.ceil(GUARDED_SHARE * all_switches) + 4  # at the edges of the window
        # Threads that process 1 starts are not seen to start, so their first event makes their state.
        # The kernel refuses that to an interrupt in the middle of another look-up on that CPU.
        states = min(init, GUARDED_STATES)
        # The stacks of a block are taken at the switch that follows it.
        return {"missed_switch": bound, "missed_wakeup": bound, "sample_lost": bound,
                "no_thread_state": states}

    def slack(self):
        """How many episodes of the test may be missing: none, or on a host that guards process 1 as
        many as the daemon says it missed, so that nothing is missing without being counted."""
        lost = self.lost()
        return int(sum(lost.get(cause, 0) for cause in self.allowed_losses()))


class Workload:
    """A workload process, held at its first gate after construction."""

    def __init__(self, daemon, cgroup, name, *arguments, others=(), on_start=None):
        self.cgroup = cgroup
        self._daemon, self._cgroups = daemon, [cgroup, *others]

        def enter():
            die_with_the_tester()
            if on_start:
                on_start()
            cgroup.enter()

        self.process = subprocess.Popen(
            [str(WORKLOADS / name), *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=enter,
            text=True,
        )
        if self.process.stdout.readline() != "gate\n":
            raise WorkloadEnded(self.process.wait())
        try:
            self.before = Moment(daemon, self._cgroups, self.process)
        except BaseException:
            self.process.kill()
            self.end()
            raise

    def go(self):
        self.process.stdin.write("g")
        self.process.stdin.flush()

    def finish(self):
        """Waits for the second gate; returns the Window."""
        line = self.process.stdout.readline()
        if not line:
            raise WorkloadEnded(self.process.wait())
        self.after = Moment(self._daemon, self._cgroups, self.process)
        self.end()
        return Window(self.before, self.after, self._cgroups, json.loads(line))

    def end(self):
        self.process.stdin.close()
        if self.process.poll() is None:
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        self.process.stdout.close()


class WorkloadEnded(Exception):
    """The workload ended before it should; its status is the argument."""
