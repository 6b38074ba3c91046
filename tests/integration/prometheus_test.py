# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the daemon and answers queries about a sleeper."""

import json
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from case import Case, main


class Prometheus(Case):
    @classmethod
    def setUpClass(cls):
        for program in ("prometheus", "promtool"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed (Debian package prometheus)")
        super().setUpClass()

    def test_promtool_finds_nothing_to_complain_about(self):
        check = subprocess.run(["promtool", "check", "metrics"], input=self.daemon.text(), text=True,
                               capture_output=True, timeout=60, check=False)
        self.expect_equal("status of promtool", 0, check.returncode)
        self.say(not check.stderr + check.stdout, "words of promtool", "none",
                 (check.stderr + check.stdout)[:400] or "none")

    def test_quantile_of_a_sleeper(self):
        """histogram_quantile of a sleeper of 10 ms lies in the bucket of 10 ms."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        directory = tempfile.TemporaryDirectory(prefix="offcpud-prometheus-")
        self.addCleanup(directory.cleanup)
        config = Path(directory.name) / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 1s, scrape_timeout: 1s}\n"
            "scrape_configs: [{job_name: offcpud, static_configs: "
            f"[{{targets: ['127.0.0.1:{self.daemon.port}']}}]}}]\n")
        with open(Path(directory.name) / "log", "wb") as log:
            server = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{port}",
                 f"--storage.tsdb.path={directory.name}/data", "--log.level=warn"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL)
        self.addCleanup(server.wait, 10)
        self.addCleanup(server.terminate)
        cgroup = self.new_cgroup()
        sleeper = self.start("sleeper", "--count", 6_000, "--us", 10_000, cgroup=cgroup)
        sleeper.go()
        for quantile in (0.5, 0.9):
            value = self.answer(
                port, f'histogram_quantile({quantile}, sum by (le) (rate(offcpud_blocked_seconds_bucket'
                f'{{cgroup="{cgroup.path}",reason="sleep"}}[5s])))')
            self.say(2**-7 < value <= 2**-6, f"quantile {quantile}", "in (0.0078, 0.0156] s", value)
        of_sleeper = f'{{cgroup="{cgroup.path}",reason="sleep"}}[5s]'
        mean = self.answer(port, f"sum(rate(offcpud_blocked_seconds_sum{of_sleeper})) / "
                           f"sum(rate(offcpud_blocked_seconds_count{of_sleeper}))")
        self.expect_close("mean sleep", 0.0101, mean, 0.05)
        sleeper.process.kill()

    def answer(self, port, query):
        """The number that answers a query; waits until there are enough scrapes for one."""
        url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query})
        for _ in range(120):
            try:
                with urllib.request.urlopen(url, timeout=5) as reply:
                    found = json.load(reply)["data"]["result"]
                if found and found[0]["value"][1] != "NaN":
                    return float(found[0]["value"][1])
            except OSError:
                pass
            time.sleep(0.3)
        self.fail(f"no answer to {query}")


if __name__ == "__main__":
    main()
