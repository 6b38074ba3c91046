# SPDX-License-Identifier: Apache-2.0
"""Two Prometheus servers scrape the same daemon, one with native histograms and exemplars and one
with neither: what they answer about a sleeper agrees, and an exemplar leads to its stack."""

import time

import prometheus_server
from case import Case, main

NAME = "offcpud_blocked_seconds"
SLEEP_US = 10_000


class TwoServers(Case):
    settings = {"snapshots.interval": "5s"}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(prometheus_server.missing())
        super().setUpClass()

    def setUp(self):
        super().setUp()
        self.classic = self.server()
        self.native = self.server("native-histograms")
        self.sleeper = self.start("sleeper", "--count", 1_000_000, "--us", SLEEP_US)
        self.sleeper.go()
        self.addCleanup(self.sleeper.process.kill)
        self.series = f'{{cgroup="{self.sleeper.cgroup.path}",reason="sleep"}}'

    def server(self, features="", **parameters):
        server = prometheus_server.PrometheusServer(
            flags=[f"--enable-feature={features}"] if features else [],
            config=prometheus_server.configuration(self.daemon, parameters=parameters))
        self.addCleanup(server.stop)
        return server

    def test_the_same_quantile_and_the_same_rate(self):
        window = f"{self.series}[30s]"
        self.classic.number(f"count_over_time({NAME}_count{window}) >= 8")
        for quantile in (0.5, 0.9):
            classic = self.classic.number(
                f"histogram_quantile({quantile}, sum by (le) (rate({NAME}_bucket{window})))")
            native = self.native.number(f"histogram_quantile({quantile}, sum(rate({NAME}{window})))")
            self.say(2**-7 < classic <= 2**-6, f"classic quantile {quantile}",
                     "in the bucket of 10 ms, (0.0078, 0.0156] s", classic)
            self.say(2**-6.75 < native <= 2**-6.25, f"native quantile {quantile}",
                     "in the buckets of 10 to 11.4 ms, (0.0093, 0.0131] s", native)
            self.expect_close(f"quantile {quantile} of both", classic, native, 0.5)
        by_count = self.classic.number(f"rate({NAME}_count{window})")
        self.expect_close("sleeps a second", by_count,
                          self.native.number(f"histogram_count(rate({NAME}{window}))"), 0.1)
        by_sum = self.classic.number(f"rate({NAME}_sum{window})")
        self.expect_close("seconds of sleep a second", by_sum,
                          self.native.number(f"histogram_sum(rate({NAME}{window}))"), 0.1)
        self.expect_close("mean of both", by_sum / by_count, self.native.number(
            f"histogram_sum(rate({NAME}{window})) / histogram_count(rate({NAME}{window}))"), 0.02)
        self.expect_equal("series of classic buckets in the native server", 0, len(
            self.native.ask("query", query=f"{NAME}_bucket")["result"]))

    def exemplars(self, server):
        now = time.time()
        found = server.ask("query_exemplars", query=NAME + self.series, start=now - 600, end=now)
        return [one for series in found for one in series["exemplars"]] or None

    def test_an_exemplar_leads_to_its_stack(self):
        """2.42 looks for them in classic buckets, which it does not store."""
        server = self.server("native-histograms,exemplar-storage", histograms=["both"])
        found = server.wait_for(lambda: self.exemplars(server))
        for one in found:
            self.expect_equal("pid", self.sleeper.process.pid, int(one["labels"]["pid"]))
            self.expect_at_least("seconds of the episode", SLEEP_US / 1e6, float(one["value"]))
            self.say(abs(one["timestamp"] - time.time()) < 120, "its time", "now", one["timestamp"])
        stack = found[-1]["labels"]["stack"]
        answer = self.daemon.get_json(f"/api/v1/snapshots?stack={stack}&from=-10min")
        self.expect_at_least("snapshots that have the stack", 1, len(answer["snapshots"]))
        self.say(any("nanosleep" in function for function in answer["stack"]), "functions on it",
                 "one is nanosleep", answer["stack"])
        merged = self.daemon.get(f"/api/v1/snapshots/merge?stack={stack}&format=folded&from=-10min")
        self.say("nanosleep" in merged and "sleeper" in merged, "folded text", "the sleeper's", merged[:200])
        server.wait_for(lambda: len(self.exemplars(server)) > len(found) or None)  # others come
        self.expect_equal("series of classic buckets in the server", 0, len(
            server.ask("query", query=f"{NAME}_bucket")["result"]))
        log = server.log.read_text(errors="replace")
        self.say("exemplar" not in log, "words of the server about exemplars", "none", log[-300:])


if __name__ == "__main__":
    main()
