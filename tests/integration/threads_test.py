# SPDX-License-Identifier: Apache-2.0
"""Threads one by one: who kept a pinned one off its CPU, and what ten thousand of them cost."""

import os
import time
from pathlib import Path

from case import main
from in_progress import passes
from processes import ProcessCase

THREADS = int(os.environ.get("OFFCPUD_THREADS", "10000"))
BUDGET = 0.050  # walk_cpu_budget, seconds of CPU for a pass


def tid_of(pid, comm):
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == comm:
            return int(task.name)
    raise AssertionError(f"no thread {comm} in process {pid}")


class Pinned(ProcessCase):
    def test_hog_of_a_pinned_thread(self):
        """Two spinners on CPU 0: each is kept off it as long as its schedstat says, by the other."""
        victim = self.start("spinner", "--threads", 1, "--ms", 4_000, "--cpu", 0, "--name", "victim")
        hog = self.start("spinner", "--threads", 1, "--ms", 60_000, "--cpu", 0, "--name", "hog")
        self.addCleanup(hog.process.kill)
        tid, hog_tid = tid_of(victim.process.pid, "victim"), tid_of(hog.process.pid, "hog")
        schedstat = Path(f"/proc/{tid}/schedstat")
        self.put_first(victim, hog)
        hog.go()
        victim.go()
        time.sleep(3.2)
        delay = int(schedstat.read_text().split()[1]) / 1e9
        thread = self.thread(tid)
        for what, expected, seen in (("process", victim.process.pid, thread["pid"]),
                                     ("comm", "victim", thread["comm"]), ("CPU", 0, thread["cpu"]),
                                     ("pinned", True, thread["pinned"])):
            self.say(expected == seen, what, expected, seen)
        kept_off = thread["kept_off_total_seconds"]
        self.expect_close(f"kept off {kept_off} (schedstat run_delay)", delay, sum(kept_off.values()),
                          0.1, absolute=0.2)
        self.expect_at_least("by another cgroup (80 % of it)", round(0.8 * sum(kept_off.values()), 3),
                             kept_off["other_cgroup"])
        longest = thread["longest_wait"]
        self.expect_at_least("longest wait", 0.001, longest["seconds"])
        self.expect_at_most("longest wait", delay + 0.1, longest["seconds"])
        # The machine's other work takes the CPU now and then; ask until it was the hog.
        takers = []
        for _ in range(20):
            takers.append(self.thread(tid)["last_taker"])
            if takers[-1]["tid"] == hog_tid:
                break
            time.sleep(0.1)
        self.say(takers[-1]["comm"] == "hog", "last taker", f"hog, thread {hog_tid}", takers[-1])
        self.say(bool(longest["taker"]["comm"]), "taker in the longest wait", "somebody",
                 longest["taker"])
        victim.finish()


class TenThousand(ProcessCase):
    settings = {"pass_interval": "1s", "min_pass_interval": "1s"}

    def cpu_of_passes(self, seconds):
        """CPU seconds of the daemon for each pass, over some passes that nobody scrapes."""
        before = self.daemon.scrape()
        time.sleep(seconds)
        after = self.daemon.scrape()
        cpu = after.value("process_cpu_seconds_total") - before.value("process_cpu_seconds_total")
        return cpu / max(1, passes(after) - passes(before))

    @staticmethod
    def cpu_of_reading(pid):
        """CPU seconds for reading /proc/PID/task/*/stat once: how fast this host is at that, the least of three."""
        took = []
        for _ in range(3):
            begin = time.process_time()
            for thread in os.listdir(f"/proc/{pid}/task"):
                file = os.open(f"/proc/{pid}/task/{thread}/stat", os.O_RDONLY)
                os.read(file, 4096)
                os.close(file)
            took.append(time.process_time() - begin)
        return min(took)

    def test_cost_of_ten_thousand_threads(self):
        """Blocked ones, all of which are counted; a pass takes no more CPU than its budget on top of what it took
        before, or on a slow host than a quarter more than it takes there to read the stat file of each thread; and a
        hundredth of a CPU is not exceeded by far."""
        few = self.cpu_of_passes(10)
        workload = self.start("many_threads", "--threads", THREADS)
        cgroup = workload.cgroup.path
        seen = 0
        for _ in range(100):
            seen = int(self.daemon.scrape().value("offcpud_blocked_threads", cgroup=cgroup))
            if seen > THREADS:
                break
            time.sleep(0.3)
        self.expect_equal("blocked threads (and the main one)", THREADS + 1, seen)
        many = self.cpu_of_passes(20)
        print(f"  CPU of a pass: {few * 1e3:.2f} ms, with {THREADS} threads {many * 1e3:.2f} ms: "
              f"{(many - few) / THREADS * 1e6:.2f} us for each thread")
        reading = self.cpu_of_reading(workload.process.pid)
        print(f"  CPU of reading each one's stat file once: {reading * 1e3:.2f} ms")
        self.expect_at_most("CPU of a pass (before, and its budget)",
                            round(few + max(1.2 * BUDGET, 1.25 * reading), 4), round(many, 4))
        self.expect_at_most("share of a CPU at a pass each second", 0.12, round(many, 4))
        workload.process.kill()


if __name__ == "__main__":
    main()
