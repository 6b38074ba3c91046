# SPDX-License-Identifier: Apache-2.0
"""Processes one by one: their series are those of their cgroup, and top shows who waits."""

import time

from case import main
from daemon import BLOCKED
from processes import PROCESS_BLOCKED, PROCESS_RUNQUEUE, ProcessCase


class Series(ProcessCase):
    def test_series_of_a_process(self):
        """A cgroup with one process: both tell the same."""
        workload = self.start("sleeper", "--count", 100, "--us", 5_000)
        pid = workload.process.pid
        workload.go()
        window = workload.finish()
        self.expect_nothing_lost(window)
        labels = {"pid": str(pid), "comm": "sleeper", "cgroup": workload.cgroup.path}
        own = window.histogram(PROCESS_BLOCKED, reason="sleep", **labels)
        whole = window.blocked("sleep")
        self.expect_equal("sleeps of the process (of its cgroup)", whole.count, own.count)
        self.expect_close("seconds", whole.seconds, own.seconds, 1e-6)
        waits = window.histogram(PROCESS_RUNQUEUE, **labels)
        self.expect_equal("run-queue waits", window.runqueue().count, waits.count)

    def test_oldest_block_of_a_process(self):
        workload = self.start("stuck", "--kind", "mutex", "--ms", 5_000)
        workload.go()
        began = time.monotonic()
        time.sleep(3.5)
        scrape = self.daemon.scrape()
        age = time.monotonic() - began
        labels = {"pid": str(workload.process.pid), "reason": "lock"}
        self.expect_close("oldest block of the process", age,
                          scrape.value("offcpud_process_oldest_blocked_seconds", **labels),
                          tolerance=0, absolute=1.2)
        workload.finish()

    def test_processes_that_are_gone_leave_no_series(self):
        workload = self.start("sleeper", "--count", 5, "--us", 1_000)
        pid = workload.process.pid
        workload.go()
        window = workload.finish()
        self.expect_at_least("series while it lived", 1,
                             len(self.series_of(window.after.scrape, PROCESS_BLOCKED, pid=str(pid))))
        time.sleep(2.5)
        self.daemon.scrape()
        left = self.series_of(self.daemon.scrape(), PROCESS_BLOCKED, pid=str(pid))
        self.say(not left, "series afterwards", "none", left or "none")
        rows = self.rows(pid=pid)
        self.say(not rows, "rows of top afterwards", "none", rows or "none")


class Top(ProcessCase):
    def test_row_of_a_waiting_process(self):
        """A lock that is held for 20 ms at a time: top says so of the last interval."""
        workload = self.start("lock_holder", "--kind", "mutex", "--count", 300, "--hold_us", 20_000)
        self.addCleanup(workload.process.kill)
        workload.go()
        time.sleep(3.5)
        top = self.top()
        row = [r for r in top["processes"] if r["pid"] == workload.process.pid][0]
        interval = top["interval_seconds"]
        self.say(row["comm"] == "lock_holder", "comm", "lock_holder", row["comm"])
        self.say(row["cgroup"] == workload.cgroup.path, "cgroup", workload.cgroup.path, row["cgroup"])
        self.expect_equal("threads", 3, row["threads"])
        self.expect_close("share of the interval in the lock", 1.0,
                          row["blocked_seconds"]["lock"] / interval, 0.25)
        everything = (sum(row["blocked_seconds"].values()) + sum(row["runqueue_seconds"].values())
                      + row["running_seconds"])
        self.expect_close("waiting and running (three threads)", 3 * interval, everything, 0.05)
        actionable = sum(s for reason, s in row["blocked_seconds"].items()
                         if reason not in ("poll", "sleep", "child", "condvar"))
        self.expect_close("actionable seconds (run queue and what is not idle-prone)",
                          actionable + sum(row["runqueue_seconds"].values()),
                          row["actionable_seconds"], 0.02, absolute=0.001)
        self.say(row["p50_seconds"] <= row["p99_seconds"] <= row["max_seconds"], "order",
                 "p50 <= p99 <= max", (row["p50_seconds"], row["p99_seconds"], row["max_seconds"]))
        # 20 ms held, and what the holder waits for the CPU meanwhile; the bound of a slot above.
        self.expect_at_least("longest wait of the interval", 0.016, row["max_seconds"])
        self.expect_at_most("longest wait of the interval", 0.5, row["max_seconds"])

    def test_rows_come_by_actionable_wait(self):
        answer = self.top()
        top, interval = answer["processes"], answer["interval_seconds"]
        if answer["window"] is None:
            waits = [row["actionable_seconds"] / interval for row in top]
        else:
            waits = [row["waits"]["actionable"] + sum(row["runqueue_seconds"].values()) / interval
                     for row in top]
        rises = [round(b - a, 3) for a, b in zip(waits, waits[1:]) if b > a]
        print(f"  waiting {[round(w, 3) for w in waits[:10]]}", flush=True)
        # Within a tenth of a thread, those that wait for an answer come last.
        self.expect_at_most("rows that wait longer than the one above, by", 0.101, max(rises, default=0))
        rows = self.daemon.get_json("/api/v1/top?sort=actionable")["processes"]
        waits = [row["actionable_seconds"] for row in rows]
        self.say(waits == sorted(waits, reverse=True), "order by reason", "the longest first",
                 [round(w, 3) for w in waits[:10]])
        # Those that have ended between two walks are one row for each name and cgroup.
        of = [(row["pid"],) if row["pid"] is not None else (row["comm"], row["cgroup"]) for row in top]
        self.expect_equal("rows of one process at most", len(of), len(set(of)))
        self.say(all((row["pid"] is None) == (row["ended_processes"] > 0) for row in top),
                 "rows without a pid", "those of processes that have ended",
                 [row["comm"] for row in top if row["pid"] is None])
        pids = {row["pid"] for row in top}
        self.say(0 not in pids, "the idle task", "in no row", 0 in pids)

    def test_oldest_block(self):
        workload = self.start("stuck", "--kind", "mutex", "--ms", 5_000)
        workload.go()
        began = time.monotonic()
        time.sleep(3)
        row = self.only_row(workload.process.pid)
        age = time.monotonic() - began
        self.expect_close("oldest block", age, row["oldest_blocked"]["seconds"], tolerance=0,
                          absolute=1.5)
        workload.finish()


class TopOfAll(ProcessCase):
    settings = {"pass_interval": "1s", "min_pass_interval": "50ms", "processes.top": "2"}

    def test_those_that_wait_most_have_series(self):
        """Two places, one of them for a process that always waits for a lock: it stays in while
        others come and go; the totals of cgroups do not depend on it."""
        workload = self.start("lock_holder", "--kind", "mutex", "--count", 200, "--hold_us", 20_000)
        workload.go()
        found = {}
        for _ in range(40):
            found = self.series_of(self.daemon.scrape(), PROCESS_BLOCKED,
                                   pid=str(workload.process.pid))
            if found:
                break
            time.sleep(0.2)
        self.say(bool(found), "series of the process that waits most", "there", found)
        pids = {pid for pid, _ in self.series_of(self.daemon.scrape(), PROCESS_BLOCKED)}
        # Those that were among the top two lately stay: four times as many at most.
        self.expect_at_most("processes with series", 8, len(pids))
        window = workload.finish()
        whole, _ = window.after.scrape.histogram(BLOCKED, cgroup=workload.cgroup.path)
        own = self.series_of(window.after.scrape, PROCESS_BLOCKED, pid=str(workload.process.pid))
        self.expect_equal("its blocked episodes (of its cgroup)", int(sum(whole.values())),
                          sum(own.values()), 8)


if __name__ == "__main__":
    main()
