# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for work: none of them may lead a list, none is stuck."""

import json
import subprocess
import time

from incident_case import SLICE, IncidentCase, main

CHECKOUT = """
package main
import ("net/http"; "time")
func main() {
  for i := 0; i < 8; i++ { go func() { for { time.Sleep(700 * time.Millisecond) } }() }
  http.ListenAndServe("127.0.0.1:0", nil)
}
"""

PROMETHEUS = "global: {scrape_interval: 60s}\n"
MATTERS = ("lock", "answer", "storage", "memory", "stopped")


SECONDS = 180  # false stalls came within minutes
PAGE_ROWS = 10
# Of fewer threads, top and page say that nobody waits: a file is written now and then.
LEAST = 0.05


class Idle(IncidentCase):
    @staticmethod
    def waits(row):
        """Threads that wait, of a row: PID, COMM, WAIT%."""
        share = row.split()[2]
        return 0.0 if share == "-" else float(share) / 100

    def told_by_top(self, units):
        rows, _ = self.first_rows()
        return [row for row in rows if any(unit in row for unit in units)
                and any(f" {what} " in row for what in MATTERS) and self.waits(row) >= LEAST]

    def told_by_page(self, units):
        answer = self.daemon.get_json(f"/api/v1/units?window=60s&limit={PAGE_ROWS}")
        return [row for row in answer["units"] if row.get("unit") in units and row["waits"]
                and row["waits"]["actionable"] >= LEAST]

    def stalls_of(self, units):
        stalls = json.loads(self.daemon.offcpuctl("stalls", "--all", "--json"))["stalls"]
        return [stall for stall in stalls if any(stall["cgroup"].endswith(f"/{unit}") for unit in units)]

    def test_3b_idle_go_is_not_told(self):
        go, prometheus = self.need("golang-go", "go"), self.need("prometheus", "prometheus")
        program = self.folder / "checkout"
        subprocess.run([go, "build", "-o", program, self.script("checkout.go", CHECKOUT)], check=True,
                       capture_output=True, timeout=120, env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"})
        self.run_in(self.unit("checkout"), program)
        self.run_in(self.unit("monitor"), prometheus, "--web.listen-address=127.0.0.1:0",
                    f"--storage.tsdb.path={self.folder}/tsdb",
                    f"--config.file={self.script('prometheus.yml', PROMETHEUS)}")
        units = ("checkout.service", "monitor.service")
        time.sleep(5)  # what they read and write when they start
        until, looks, idle = time.monotonic() + SECONDS, 0, 0
        while time.monotonic() < until:
            for where, told in (("top", self.told_by_top(units)), ("page", self.told_by_page(units)),
                                ("stalls", self.stalls_of(units))):
                self.assertFalse(told, f"after {looks} looks {where} tells of them")
            looks += 1
            idle += self.waiting_for_work(units) >= 3
            time.sleep(2)
        print(f"  {looks} looks", flush=True)
        # They have been looked at: their threads do wait.
        self.expect_at_least("looks at which three or more threads of theirs wait for work", 0.9 * looks - 10, idle)

    def waiting_for_work(self, units):
        """Threads of these units, on average, as the page says."""
        answer = self.daemon.get_json(f"/api/v1/units?window=60s&cgroup={SLICE}")
        return sum(row["waits"]["for"].get("work", {"waiting": 0})["waiting"]
                   for row in answer["units"] if row.get("unit") in units and row["waits"])


if __name__ == "__main__":
    main()
