# SPDX-License-Identifier: Apache-2.0
"""The example configurations of config/examples, run by real Prometheus servers: what the agent and
the edge send to a central one, and what they keep back."""

import time
import unittest

from case import Case, main
from daemon import TREE
from prometheus_server import PrometheusServer, missing

EXAMPLES = TREE / "config" / "examples"


class Examples(Case):
    settings = {"min_pass_interval": "100ms"}

    @classmethod
    def setUpClass(cls):
        if missing():
            raise unittest.SkipTest(missing())
        super().setUpClass()

    def setUp(self):
        super().setUp()
        sleeper = self.start("busy_mix", "--ms", 120_000)
        sleeper.go()
        self.addCleanup(sleeper.process.kill)
        self.central = self.server(flags=["--web.enable-remote-write-receiver"],
                                   config="global: {scrape_interval: 1h}")
        self.central.wait_for(lambda: self.central.ask("targets"))

    def server(self, **options):
        server = PrometheusServer(**options)
        self.addCleanup(server.stop)
        return server

    def example(self, name):
        """With the addresses of this test, and no patience."""
        text = (EXAMPLES / name).read_text()
        for old, new in (("127.0.0.1:19435", f"127.0.0.1:{self.daemon.port}"),
                         ("127.0.0.1:9090", f"127.0.0.1:{self.central.port}"),
                         ("../prometheus/", f"{TREE}/config/prometheus/"),
                         ("_interval: 30s", "_interval: 2s"), ("_interval: 60s", "_interval: 2s")):
            text = text.replace(old, new)
        return text

    def names(self, selector="{__name__!=\"\"}"):
        return set(self.central.ask("label/__name__/values", **{"match[]": selector}))

    def arrived(self, *wanted):
        def all_there():
            return set(wanted) <= self.names() or None

        self.central.wait_for(all_there, seconds=60)
        time.sleep(5)  # for what should not come as well
        return self.names()

    def test_agent_sends_everything_but_processes_and_idle_buckets(self):
        self.server(flags=["--enable-feature=agent"], config=self.example("prometheus-agent.yaml"))
        names = self.arrived("offcpud_blocked_seconds_bucket", "offcpud_running_seconds_total", "up")
        self.expect_equal("families of processes", 0,
                          sum(name.startswith("offcpud_process_") for name in names))
        idle = 'reason=~"poll|sleep|child|condvar"'
        self.expect_equal("idle buckets", 0, len(self.names(f"offcpud_blocked_seconds_bucket{{{idle}}}")))
        self.expect_equal("idle sums", 1, len(self.names(f"offcpud_blocked_seconds_sum{{{idle}}}")))
        instances = self.central.ask("label/instance/values")
        self.say(instances == ["host.example:19435"], "instance", "as configured", instances)

    def test_edge_sends_what_it_recorded(self):
        self.server(config=self.example("prometheus-edge.yaml"))
        names = self.arrived("instance_unit_cause:offcpud_runqueue_wait_seconds:threads_rate5m",
                             "offcpud_oldest_blocked_seconds", "up")
        raw = {"up", "ALERTS", "offcpud_oldest_blocked_seconds", "offcpud_stalled_threads",
               "offcpud_lost_events_total", "offcpud_build_info"}
        strangers = {name for name in names if ":" not in name} - raw
        self.say(not strangers, "other raw series", "none", sorted(strangers) or "none")
        clusters = self.central.ask("label/cluster/values")
        self.say(clusters == ["one"], "external label", "one", clusters)


if __name__ == "__main__":
    main()
