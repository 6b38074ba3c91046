# SPDX-License-Identifier: Apache-2.0
"""A process is one and the same through exec, rename and the end of its first thread, and another
one when only its id is the same."""

import json
import time

import host
from case import main
from processes import PROCESS_BLOCKED, ProcessCase


class Identity(ProcessCase):
    def sleeps(self, pid, comm=None):
        found = self.series_of(self.daemon.scrape(), PROCESS_BLOCKED, pid=str(pid), reason="sleep")
        return {name: n for (_, name), n in found.items() if comm in (None, name)}

    def missed_since(self, before):
        """As Window.slack(); the first thread may have ended, so there is no quiet moment for one."""
        if not host.init_is_guarded():
            return 0
        old, new = before.lost(), self.daemon.scrape().lost()
        return int(sum(new[c] - old[c] for c in ("missed_switch", "missed_wakeup")))

    def change(self, kind, rows_threads=1):
        """50 sleeps under one name and 50 under another: one process with 100."""
        workload = self.start("identity", "--kind", kind, "--count", 50, "--us", 4_000)
        pid, stdout = workload.process.pid, workload.process.stdout
        workload.go()
        said = stdout.readline()
        self.say(said == "changed\n", "its word", "changed", said)
        time.sleep(1.2)
        row = self.only_row(pid)
        self.say(row["comm"] == "after-change", "comm in top", "after-change", row["comm"])
        self.expect_equal("threads in top", rows_threads, row["threads"])
        workload.go()
        report = json.loads(stdout.readline())
        self.expect_equal("its process id", pid, report["pid"])
        time.sleep(0.3)
        self.only_row(pid)
        sleeps = self.sleeps(pid)
        slack = self.missed_since(workload.before.scrape)
        self.expect_equal(f"sleeps of the process {sleeps}", 100, sum(sleeps.values()), slack)
        self.expect_equal("series of the process, by its present name alone", 1, len(sleeps))
        whole, _ = self.daemon.scrape().histogram("offcpud_blocked_seconds", reason="sleep",
                                                  cgroup=workload.cgroup.path)
        self.expect_equal("sleeps of its cgroup", 100, int(sum(whole.values())), slack)

    def test_exec(self):
        self.change("exec")

    def test_rename(self):
        self.change("rename")

    def test_end_of_the_first_thread(self):
        """The process goes on under its id, with the threads that are left."""
        self.change("leader_exit")

    def test_id_that_is_given_out_again(self):
        """The second life of an id starts from nothing: no wait of the first, no age beyond its own."""
        workload = self.start("reborn", "--count", 1, "--long_us", 2_500_000, "--short_us", 2_000,
                              "--linger_us", 3_000_000)
        workload.go()
        seen, row = {}, None
        until = time.monotonic() + 6
        while time.monotonic() < until and (not row or row["comm"] != "second-life"):
            for row in [r for r in self.rows(cgroup=workload.cgroup)
                        if r["comm"] in ("first-life", "second-life")]:
                seen.setdefault(row["comm"], set()).add(row["pid"])
            time.sleep(0.1)
        self.say(set(seen) == {"first-life", "second-life"}, "lives in top", "both", seen)
        self.say(seen["first-life"] == seen["second-life"], "their ids", "the same", seen)
        time.sleep(1.2)
        pid = next(iter(seen["second-life"]))
        row = self.only_row(pid)
        oldest = row["oldest_blocked"]
        if oldest:
            self.expect_at_most("age of the second life's block", 2.5, oldest["seconds"])
        second = self.sleeps(pid, "second-life")
        self.expect_at_most("sleeps of the second life", 1, sum(second.values()))
        self.expect_equal("series of the first life", 0, sum(self.sleeps(pid, "first-life").values()))
        workload.process.kill()

    def test_threads_that_end(self):
        """Their waits stay with the process."""
        workload = self.start("exit_ways", "--way", "at_once", "--count", 200)
        pid = workload.process.pid
        workload.go()
        window = workload.finish()
        self.expect_nothing_lost(window)
        waits = window.histogram(PROCESS_BLOCKED, pid=str(pid))
        self.expect_at_least("waits of the parent", 1, waits.count)
        strangers = {key for key in self.series_of(window.after.scrape, PROCESS_BLOCKED,
                                                   cgroup=workload.cgroup.path) if key[0] != pid}
        self.say(not strangers, "series of its children, which are gone", "none", strangers or "none")


if __name__ == "__main__":
    main()
