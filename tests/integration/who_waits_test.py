# SPDX-License-Identifier: Apache-2.0
"""What a person sees first: who waits for what leads every list, beside idle programs that wait in the
same system calls."""

import os
import time

import postgres_server
import prometheus_server
from case import Case, main

IDLE_PROMETHEUS = "global: {scrape_interval: 1h}\nscrape_configs: []\n"
SOON = 25  # seconds; a window of 1 s, the naming of its stacks, and a busy host


class WhoWaits(Case):
    settings = {"pass_interval": "1s", "min_pass_interval": "100ms", "stalls.threshold": "3s"}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(postgres_server.missing() or prometheus_server.missing())
        super().setUpClass()
        cls.postgres = postgres_server.PostgresServer()
        cls.addClassCleanup(cls.postgres.remove)
        cls.prometheus = prometheus_server.PrometheusServer(config=IDLE_PROMETHEUS)
        cls.addClassCleanup(cls.prometheus.stop)

    def said(self, *arguments):
        """What a person sees of it: the lines."""
        return self.daemon.offcpuctl(*arguments).splitlines()

    def soon(self, what, holds, *arguments):
        """The lines, once they are as wanted; shown either way."""
        until = time.monotonic() + SOON
        lines = self.said(*arguments)
        while not holds(lines) and time.monotonic() < until:
            time.sleep(0.5)
            lines = self.said(*arguments)
        print("\n".join(["", *lines[:8], ""]), flush=True)
        self.say(holds(lines), what, "seen", "seen" if holds(lines) else lines[:12])
        return lines

    @staticmethod
    def rows(lines):
        """Below the titles."""
        titles = next(i for i, line in enumerate(lines) if line.lstrip().startswith("PID "))
        return [line.split() for line in lines[titles + 1:]] if "WAIT%" in lines[titles] else []

    def test_clients_behind_a_row_lock(self):
        cgroup = self.new_cgroup(f"/offcpud-test-{os.getpid()}-postgresql.service")
        self.postgres.start(self, cgroup)
        holder = self.postgres.psql(self, "begin; update stock set left_over = 4; select pg_sleep(90); commit")
        self.addCleanup(holder.wait, 20)
        self.addCleanup(holder.kill)
        time.sleep(0.5)
        for _ in range(4):
            waiter = self.postgres.psql(self, "update stock set left_over = 3")
            self.addCleanup(waiter.wait, 20)
            self.addCleanup(waiter.kill)
        unit = cgroup.path.rsplit("/", 1)[1]

        def backends(lines):
            return [i for i, row in enumerate(self.rows(lines))
                    if "postgresql-heavyweight-lock" in row and unit in row[-1]]

        def leads(lines):
            """Only what waits for a CPU, or for a lock or an answer of its own, may come before them."""
            names = [row[1] for row in self.rows(lines)]
            found = backends(lines)
            return len(found) == 4 and "prometheus" not in names[:found[-1]]

        lines = self.soon("4 backends come before who idles in offcpuctl top", leads, "top", "--once")
        idle = [row for row in self.rows(lines) if row[1] == "prometheus"]
        self.say(all(row[2] == "-" or float(row[2]) < 5 for row in idle), "waits of an idle Prometheus",
                 "none", idle)

        def says(lines):
            first = [line for line in lines[:5] if line.startswith("waiting for a lock: ")]
            named = any(unit in line and "postgresql-heavyweight-lock" in line for line in first)
            return named or any(line.endswith(", and more") for line in first)  # others wait, too

        self.soon("offcpuctl status says it in its first lines", says, "status")
        def of_unit():
            units = self.daemon.get_json("/api/v1/units?window=1s&for=lock")["units"]
            return next((one for one in units if one["cgroup"] == cgroup.path), None)

        self.wait_until("its unit waits for a lock, with 4 threads", lambda: of_unit() and
                        abs(of_unit()["waits"]["for"]["lock"]["waiting"] - 4) < 0.5)
        self.soon("stalls are told in its first lines", lambda lines: any(
            line.startswith("stalls: ") and "lock " in line for line in lines[:8]), "status")
        stalls = {"cgroup": cgroup.path, "for": "lock"}
        self.wait_until("a stall for each (metric)", lambda: int(self.daemon.scrape().value(
            "offcpud_stalls_in_progress", **stalls)) == 4, SOON)
        page = self.daemon.scrape()
        self.expect_at_least("oldest stall (metric)", 3, page.value("offcpud_oldest_stall_seconds", **stalls))

    def test_a_convoy_on_a_mutex(self):
        """Four threads want one mutex; where CPUs are busy, most of their time goes there."""
        workload = self.start("purposes", "--ms", 40_000)
        workload.go()

        def leads(lines):
            return any(row[1] == "purposes" and "lock" in row for row in self.rows(lines)[:3])

        self.soon("the convoy leads offcpuctl top", leads, "top", "--once")
        row = next(row for row in self.daemon.get_json("/api/v1/top?for=lock")["processes"]
                   if row["cgroup"] == workload.cgroup.path)
        self.say(row["waits"]["sites"][0]["for"] == "lock", "what for", "lock", row["waits"]["sites"][0])
        lock = row["waits"]["for"]["lock"]
        self.say(lock["error"] < 0.3, "standard error", "below 0.3 threads", lock["error"])
        self.expect_at_least("threads in its convoy", 0.1, lock["waiting"])
        self.expect_at_most("threads in its convoy", 4.3, lock["waiting"])
        self.expect_at_least("its idle threads", 0.5, row["waits"]["idle"])


if __name__ == "__main__":
    main()
