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
from daemon import die_with_the_tester


class PrometheusCase(Case):
    @classmethod
    def setUpClass(cls):
        for program in ("prometheus", "promtool"):
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed (Debian package prometheus)")
        super().setUpClass()


class Promtool(PrometheusCase):
    def test_promtool_finds_nothing_to_complain_about(self):
        check = subprocess.run(["promtool", "check", "metrics"], input=self.daemon.text(), text=True,
                               capture_output=True, timeout=60, check=False)
        self.expect_equal("status of promtool", 0, check.returncode)
        self.say(not check.stderr + check.stdout, "words of promtool", "none",
                 (check.stderr + check.stdout)[:400] or "none")


class Queries(PrometheusCase):
    """With a daemon of its own: Prometheus needs seconds for the suite's page of megabytes when the
    host is busy, and then drops the scrape."""

    settings = {}

    def setUp(self):
        super().setUp()
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        directory = tempfile.TemporaryDirectory(prefix="offcpud-prometheus-")
        self.addCleanup(directory.cleanup)
        config = Path(directory.name) / "prometheus.yml"
        config.write_text(
            "global: {scrape_interval: 2s, scrape_timeout: 2s}\n"
            "scrape_configs: [{job_name: offcpud, static_configs: "
            f"[{{targets: ['127.0.0.1:{self.daemon.port}']}}]}}]\n")
        self.log = Path(directory.name) / "log"
        with open(self.log, "wb") as log:
            server = subprocess.Popen(
                ["prometheus", f"--config.file={config}", f"--web.listen-address=127.0.0.1:{self.port}",
                 f"--storage.tsdb.path={directory.name}/data", "--log.level=warn"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_the_tester)
        self.addCleanup(server.wait, 10)
        self.addCleanup(server.terminate)

    def test_quantile_of_a_sleeper(self):
        """histogram_quantile of a sleeper of 10 ms lies in the bucket of 10 ms."""
        sleeper = self.start("sleeper", "--count", 12_000, "--us", 10_000)
        sleeper.go()
        self.addCleanup(sleeper.process.kill)
        of_sleeper = f'{{cgroup="{sleeper.cgroup.path}",reason="sleep"}}[30s]'
        count = f"offcpud_blocked_seconds_count{of_sleeper}"
        self.wait_for(f"count_over_time({count}) >= 4")
        self.expect_at_least("sleeps in 30 s", 100, self.wait_for(f"increase({count})"))
        for quantile in (0.5, 0.9):
            value = self.wait_for(f"histogram_quantile({quantile}, sum by (le) (rate("
                                  f"offcpud_blocked_seconds_bucket{of_sleeper})))")
            self.say(2**-7 < value <= 2**-6, f"quantile {quantile}", "in (0.0078, 0.0156] s", value)
        mean = self.wait_for(f"sum(rate(offcpud_blocked_seconds_sum{of_sleeper})) / sum(rate({count}))")
        self.expect_close("mean sleep", 0.0101, mean, 0.05)

    def wait_for(self, query):
        """The number that answers a query, once there are enough scrapes for one."""
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                found = self.ask("query", query=query)["result"]
                if found and found[0]["value"][1] != "NaN":
                    return float(found[0]["value"][1])
            except OSError:  # it is still starting
                pass
            time.sleep(0.3)
        print(self.log.read_text(errors="replace"))
        print([(t["health"], t["lastError"], t["lastScrapeDuration"])
               for t in self.ask("targets")["activeTargets"]])
        self.fail(f"no answer to {query}")

    def ask(self, what, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?" + urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(url, timeout=10) as reply:
            return json.load(reply)["data"]


if __name__ == "__main__":
    main()
