# SPDX-License-Identifier: Apache-2.0
"""Who had the CPU while the threads of a cgroup waited for it, against a record of every switch."""

import os
import subprocess
import time
from pathlib import Path

import host
import switch_record
from case import PREFIX, Case, main
from daemon import WORKLOADS, die_with_the_tester
from switch_record import Incomplete, SwitchRecord

KEPT_OFF = "offcpud_kept_off_seconds_total"
PF_KTHREAD = 0x200000


def is_kernel_thread(pid):
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return bool(int(stat.rsplit(")", 1)[1].split()[6]) & PF_KTHREAD)


class KeptOff(Case):
    settings = {"pass_interval": "1s", "min_pass_interval": "50ms"}

    def setUp(self):
        super().setUp()
        self.skip_if(switch_record.unavailable())
        self._names = {}

    def take_turns(self, workload, *arguments, nice=0, cpu=None):
        """Starts a process that nobody watches, in a cgroup of its own. Returns that."""
        cgroup = self.new_cgroup()

        def enter():
            die_with_the_tester()
            cgroup.enter()
            os.nice(nice)
            if cpu is not None:
                os.sched_setaffinity(0, {cpu})

        process = subprocess.Popen([str(WORKLOADS / workload), *map(str, arguments)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, preexec_fn=enter)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stdin.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        process.stdout.readline()
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            self._names[int(task.name)] = cgroup.path
        process.stdin.write(b"g")
        process.stdin.flush()
        return cgroup

    def name_of(self, pid, comm):
        if pid == 0:
            return "(idle)"
        if pid not in self._names:
            kernel = is_kernel_thread(pid) or comm.startswith(("kworker/", "ksoftirqd/"))
            self._names[pid] = "(kernel)" if kernel else "the rest of the host"
        return self._names[pid]

    @staticmethod
    def kept_off(window):
        """{by_cgroup: seconds} of the window."""
        seconds = {}
        for moment, sign in ((window.before, -1), (window.after, 1)):
            family = moment.scrape.families.get(KEPT_OFF)
            for (_, labels), value in (family.samples if family else {}).items():
                labels = dict(labels)
                if labels["cgroup"] == window.cgroup:
                    by = labels["by_cgroup"]
                    seconds[by] = seconds.get(by, 0) + sign * value
        return {by: value for by, value in seconds.items() if value}

    def expect_identity(self, window):
        """What all takers had is what the cgroup waited."""
        kept_off = self.kept_off(window)
        self.expect_close("all takers (run-queue seconds)", window.runqueue().seconds,
                          sum(kept_off.values()), 1e-9, absolute=1e-6)
        return kept_off

    def watch(self, victim):
        """Runs it under a record of all switches. Returns its Window, and who really had its CPU."""
        try:
            record = SwitchRecord()
        except RuntimeError as error:
            self.skipTest(str(error))
        self.addCleanup(record.remove)
        tids = [int(task.name) for task in Path(f"/proc/{victim.process.pid}/task").iterdir()]
        for tid in tids:
            self._names[tid] = victim.cgroup.path
        victim.go()
        window = victim.finish()
        truth = {}
        try:
            record.end()
            for tid in tids:
                for name, seconds in record.takers(tid, self.name_of).items():
                    truth[name] = truth.get(name, 0) + seconds
        except Incomplete as reason:
            self.skipTest(f"no record to compare with: {reason}")
        # perf also loses events without a word: then the kernel's own account tells.
        whole, account = sum(truth.values()), window.books().run_delay_ns / 1e9
        if abs(whole - account) > max(0.02 * account, 0.01):
            self.skipTest(f"no record to compare with: {whole:.3f} s of waits, by schedstat {account:.3f} s")
        return window, truth

    def expect_shares(self, truth, kept_off, *cgroups):
        """Each of these had as much of the waits as is true, within 2 points."""
        whole, told = sum(truth.values()), sum(kept_off.values())
        self.expect_close("seconds waited (the record)", whole, told, 0.02, absolute=0.01)
        for cgroup in cgroups:
            self.expect_close(f"percent by {cgroup.rsplit('-', 1)[-1]}",
                              100 * truth.get(cgroup, 0) / whole,
                              100 * kept_off.get(cgroup, 0) / told, absolute=2)

    def test_two_hogs_among_dozens_that_take_turns(self):
        """One at nice 0 and one at nice 5 have most of CPU 0; three dozen others run 0.03 to 0.2 ms
        at a time, so that whoever ran first or last before the victim is one of these."""
        hogs = [self.take_turns("spinner", "--threads", 1, "--ms", 60_000, "--cpu", 0, nice=nice)
                for nice in (0, 5)]
        for i in range(36):
            self.take_turns("bursts", "--us", 30 + 5 * i, "--sleep_us", 3_000 + 517 * i,
                            "--ms", 60_000, "--cpu", 0)
        victim = self.start("spinner", "--threads", 1, "--ms", 4_000, "--cpu", 0,
                            on_start=lambda: os.nice(10))
        window, truth = self.watch(victim)
        kept_off = self.expect_identity(window)
        self.expect_shares(truth, kept_off, hogs[0].path, hogs[1].path, "(kernel)", "(idle)")
        self.expect_at_most("unknown", 0.02 * sum(kept_off.values()), kept_off.get("(unknown)", 0))

    def test_a_victim_that_moves_between_cpus(self):
        """A hog on each of two CPUs; the victim is sent to and fro."""
        if os.cpu_count() < 2:
            self.skipTest("one CPU")
        hogs = [self.take_turns("spinner", "--threads", 1, "--ms", 60_000, "--cpu", cpu)
                for cpu in (0, 1)]
        victim = self.start("bursts", "--us", 2_000, "--sleep_us", 500, "--ms", 4_000,
                            on_start=lambda: os.nice(5))
        tid = victim.process.pid
        mover = subprocess.Popen(
            ["sh", "-c", f"while :; do for c in 0 1; do taskset -pc $c {tid}; sleep 0.03; done; done"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=die_with_the_tester)
        self.addCleanup(mover.wait)
        self.addCleanup(mover.kill)
        window, truth = self.watch(victim)
        kept_off = self.expect_identity(window)
        self.expect_shares(truth, kept_off, *(hog.path for hog in hogs))

    def test_throttled_waits_are_nobodys(self):
        try:
            quota = host.CpuQuota(f"{PREFIX}-quota".lstrip("/"), quota_us=20_000)
        except NotImplementedError as error:
            self.skipTest(str(error))
        self.addCleanup(quota.remove)
        hog = self.take_turns("spinner", "--threads", 1, "--ms", 60_000, "--cpu", 0)
        cgroup = self.new_cgroup()
        victim = self.start("spinner", "--threads", 1, "--ms", 3_000, "--cpu", 0, cgroup=cgroup,
                            on_start=lambda: quota.apply(cgroup))
        if victim.before.scrape.value("offcpud_feature_enabled", feature="throttled") != 1:
            self.skipTest("this kernel does not say which waits are throttled")
        victim.go()
        window = victim.finish()
        kept_off = self.expect_identity(window)
        self.expect_close("throttled (its run-queue seconds)", window.runqueue("throttled").seconds,
                          kept_off.get("(throttled)", 0), 1e-9, absolute=1e-6)
        self.expect_at_most("by the hog (the waits that were not throttled)",
                            window.runqueue().seconds - window.runqueue("throttled").seconds + 1e-6,
                            kept_off.get(hog.path, 0))

    def test_threads_name_whoever_had_most_of_the_wait(self):
        """What a thread's longest wait was for, while others came last and first."""
        hog = self.take_turns("spinner", "--threads", 1, "--ms", 60_000, "--cpu", 0, "--name", "hog")
        for i in range(12):
            self.take_turns("bursts", "--us", 50, "--sleep_us", 2_000 + 100 * i, "--ms", 60_000,
                            "--cpu", 0)
        victim = self.start("spinner", "--threads", 1, "--ms", 2_000, "--cpu", 0, "--name", "victim",
                            on_start=lambda: os.nice(10))
        victim.go()
        time.sleep(1.5)
        threads = self.daemon.get_json(f"/api/v1/top?threads=true&cgroup={victim.cgroup.path}")
        thread = next(row for row in threads["threads"] if row["comm"] == "victim")
        victim.finish()
        taker = thread["longest_wait"]["taker"]
        self.say(taker["comm"] == "hog", "taker of the longest wait", "hog", taker)
        kept_off = thread["kept_off_total_seconds"]
        self.expect_at_least(f"by another cgroup, of {kept_off}", 0.5 * sum(kept_off.values()),
                             kept_off["other_cgroup"])
        self.assertTrue(hog.path)

    def test_others_of_the_same_cgroup(self):
        window = self.run_workload("spinner", "--threads", 3, "--ms", 1_500, "--cpu", 0)
        kept_off = self.expect_identity(window)
        self.say(window.cgroup in kept_off, "its own cgroup is among the takers", window.cgroup,
                 sorted(kept_off))

    def test_thousands_of_cgroups_do_not_crowd_out_a_hog(self):
        """Cgroups that live for one short run come and go while a hog has the CPU."""
        hog = self.take_turns("spinner", "--threads", 1, "--ms", 60_000, "--cpu", 0)
        churn = self.start("cgroup_churn", "--count", 600)
        victim = self.start("spinner", "--threads", 1, "--ms", 3_000, "--cpu", 0)
        churn.go()
        victim.go()
        window = victim.finish()
        kept_off = self.expect_identity(window)
        self.expect_at_least("by the hog, of all waits", 0.2 * sum(kept_off.values()),
                             kept_off.get(hog.path, 0))


class Off(Case):
    settings = {"max_takers": "0"}

    def test_nobody_is_told(self):
        window = self.run_workload("spinner", "--threads", 2, "--ms", 300, "--cpu", 0)
        self.expect_counts(window)
        seen = window.after.scrape.families.get(KEPT_OFF)
        self.say(seen is None, "series of who kept whom off", "none", seen)


if __name__ == "__main__":
    main()
