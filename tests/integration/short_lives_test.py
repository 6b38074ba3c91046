# SPDX-License-Identifier: Apache-2.0
"""Processes that live for moments have rows, too: what they wait for is not lost with them."""

import fcntl
import subprocess
import tempfile
import time

from case import Case, main
from daemon import die_with_the_tester

LOOPS, LIFE = 3, 1  # seconds


class ShortLives(Case):
    settings = {"pass_interval": "1s", "min_pass_interval": "100ms", "snapshots.stacks_per_second": "2000"}

    def clients(self, path):
        """The cgroup of loops, each of which has one client at a time that waits for the lock."""
        cgroup = self.new_cgroup()

        def enter():
            die_with_the_tester()
            cgroup.enter()

        loop = f"while true; do timeout {LIFE} flock {path} true; done"
        for _ in range(LOOPS):
            program = subprocess.Popen(["sh", "-c", loop], preexec_fn=enter)
            self.addCleanup(program.wait, 20)
        self.addCleanup((cgroup.directory / "cgroup.kill").write_text, "1")
        return cgroup

    def rows(self, cgroup):
        top = self.daemon.get_json(f"/api/v1/top?for=lock&cgroup={cgroup.path}")
        return [row for row in top["processes"] if row["comm"] == "flock"]

    def test_clients_that_wait_for_a_lock(self):
        """Whenever somebody looks, rows have all of them: in one row those that have ended, and each of
        the others in its own."""
        with tempfile.NamedTemporaryFile(prefix="offcpud-short-") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            cgroup = self.clients(file.name)
            time.sleep(5)
            seen = []
            for _ in range(20):
                rows = self.rows(cgroup)
                ended = [row for row in rows if row["ended_processes"] > 0]
                self.assertLessEqual(len(ended), 1, ended)
                self.assertTrue(all(row["pid"] is None for row in ended), ended)
                seen.append((sum(row["waits"]["for"]["lock"]["waiting"] for row in rows),
                             sum(row["ended_processes"] for row in ended)))
                time.sleep(0.5)
        print(f"  (threads before the lock, ended processes): {seen}", flush=True)
        waiting = sorted(waiting for waiting, _ in seen)[len(seen) // 2]
        # What is missing goes to starting and ending them, which takes longer on a busy host.
        self.expect_at_least("threads before the lock", 0.8 * LOOPS, waiting)
        self.expect_at_most("threads before the lock", 1.1 * LOOPS, waiting)
        self.expect_at_least("looks that saw some who had ended", 15, sum(ended > 0 for _, ended in seen))


if __name__ == "__main__":
    main()
