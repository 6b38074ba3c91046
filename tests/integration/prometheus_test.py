# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus scrapes the daemon and answers queries about a sleeper."""

import subprocess

import prometheus_server
from case import Case, main


class PrometheusCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(prometheus_server.missing())
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
        self.server = prometheus_server.PrometheusServer(self.daemon)
        self.addCleanup(self.server.stop)

    def test_quantile_of_a_sleeper(self):
        """histogram_quantile of a sleeper of 10 ms lies in the bucket of 10 ms."""
        sleeper = self.start("sleeper", "--count", 12_000, "--us", 10_000)
        sleeper.go()
        self.addCleanup(sleeper.process.kill)
        number = self.server.number
        of_sleeper = f'{{cgroup="{sleeper.cgroup.path}",reason="sleep"}}[30s]'
        count = f"offcpud_blocked_seconds_count{of_sleeper}"
        number(f"count_over_time({count}) >= 4")
        self.expect_at_least("sleeps in 30 s", 100, number(f"increase({count})"))
        for quantile in (0.5, 0.9):
            value = number(f"histogram_quantile({quantile}, sum by (le) (rate("
                           f"offcpud_blocked_seconds_bucket{of_sleeper})))")
            self.say(2**-7 < value <= 2**-6, f"quantile {quantile}", "in (0.0078, 0.0156] s", value)
        mean = number(f"sum(rate(offcpud_blocked_seconds_sum{of_sleeper})) / sum(rate({count}))")
        self.expect_close("mean sleep", 0.0101, mean, 0.05)


if __name__ == "__main__":
    main()
