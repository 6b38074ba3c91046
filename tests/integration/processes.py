# SPDX-License-Identifier: Apache-2.0
"""What tests of /api/v1/top and of the series of processes share."""

import time

from case import Case

PROCESS_BLOCKED = "offcpud_process_blocked_seconds"
PROCESS_RUNQUEUE = "offcpud_process_runqueue_wait_seconds"


class ProcessCase(Case):
    """Every process of the workloads has series of its own, chosen by cgroup."""

    settings = {"pass_interval": "1s", "min_pass_interval": "50ms",
                "processes.rules": '[{cgroup: "/offcpud-test-.*"}]', "processes.top": "0"}

    def top(self, threads=False):
        return self.daemon.get_json("/api/v1/top" + ("?threads=true" if threads else ""))

    def rows(self, cgroup=None, pid=None):
        return [row for row in self.top()["processes"]
                if (cgroup is None or row["cgroup"] == cgroup.path)
                and (pid is None or row["pid"] == pid)]

    def only_row(self, pid):
        """The one row of a process, once the daemon has walked over it."""
        for _ in range(50):
            rows = self.rows(pid=pid)
            if rows:
                break
            time.sleep(0.1)
        self.expect_equal(f"rows of process {pid}", 1, len(rows))
        return rows[0]

    def thread(self, tid):
        for row in self.top(threads=True)["threads"]:
            if row["tid"] == tid:
                return row
        self.fail(f"no thread {tid} in /api/v1/top?threads=true")

    @staticmethod
    def series_of(scrape, family, **labels):
        """{(pid, comm): episodes} of the histograms of processes that carry these labels."""
        found = {}
        if family not in scrape.families:
            return found
        for having, one in scrape.families[family].histograms.items():
            of = dict(having)
            if all(of.get(key) == value for key, value in labels.items()):
                key = (int(of["pid"]), of["comm"])
                found[key] = found.get(key, 0) + int(one.count)
        return found
