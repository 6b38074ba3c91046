# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for work: none of them may lead a list, none is stuck."""

import json
import subprocess
import time

from incident_case import ROWS, IncidentCase, main

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


LEAST = 5.0  # percent of a thread: where nobody waits, a write of a file comes first


class Idle(IncidentCase):
    @staticmethod
    def waits(row):
        """WAIT% of a row: PID, COMM, WAIT%."""
        share = row.split()[2]
        return 0.0 if share == "-" else float(share)

    def test_3b_idle_go_is_not_told(self):
        go, prometheus = self.need("golang-go", "go"), self.need("prometheus", "prometheus")
        program = self.folder / "checkout"
        subprocess.run([go, "build", "-o", program, self.script("checkout.go", CHECKOUT)], check=True,
                       capture_output=True, timeout=120, env={"HOME": str(self.folder), "PATH": "/usr/bin:/bin"})
        self.run_in(self.unit("checkout"), program)
        self.run_in(self.unit("monitor"), prometheus, "--web.listen-address=127.0.0.1:0",
                    f"--storage.tsdb.path={self.folder}/tsdb",
                    f"--config.file={self.script('prometheus.yml', PROMETHEUS)}")
        time.sleep(5)  # what they read and write when they start
        until = time.monotonic() + 30
        while time.monotonic() < until:
            rows, said = self.first_rows()
            for unit in ("checkout", "monitor"):
                told = [row for row in rows if unit in row and any(f" {what} " in row for what in MATTERS)
                        and self.waits(row) >= LEAST]
                self.assertFalse(told, f"{unit} leads the first {ROWS} rows:\n{said}")
            time.sleep(2)
        stalls = json.loads(self.daemon.offcpuctl("stalls", "--json"))
        self.expect_equal("their stalls", 0, len([stall for stall in stalls["stalls"]
                                                   if "offcpud-incidents" in stall["cgroup"]]))


if __name__ == "__main__":
    main()
