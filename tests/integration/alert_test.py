# SPDX-License-Identifier: Apache-2.0
"""A stall alert, evaluated by a real Prometheus, fires while the thread is stuck and clears after."""

import time

import prometheus_server
from case import main
from daemon import TREE
from in_progress import InProgressCase

RULES = TREE / "tests" / "data" / "stalls.rules.yaml"


class Alert(InProgressCase):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(prometheus_server.missing())
        super().setUpClass()

    def test_alert_fires_while_a_thread_is_stuck(self):
        server = prometheus_server.PrometheusServer(self.daemon, rules=[RULES])
        self.addCleanup(server.stop)
        workload = self.start("stuck", "--kind", "mutex", "--ms", 20_000)

        def alerts():
            return [a for a in server.ask("alerts")["alerts"] if a["state"] == "firing"
                    and a["labels"].get("cgroup") == workload.cgroup.path
                    and a["labels"].get("for") == "lock"]

        target = server.wait_for(lambda: next(
            (t for t in server.ask("targets")["activeTargets"] if t["health"] == "up"), None))
        self.say(target["health"] == "up", "the daemon as a target", "up", target["health"])
        self.expect_equal("alerts before", 0, len(alerts()))
        workload.go()
        began = time.monotonic()
        firing = server.wait_for(lambda: alerts() or None, seconds=18)
        self.expect_at_least("seconds until it fired", 2.0, time.monotonic() - began)
        self.say(firing[0]["labels"]["alertname"] == "ThreadStalled", "alert", "ThreadStalled",
                 firing[0]["labels"])
        window = workload.finish()
        _, seconds, _ = window.waits("stuck")
        self.expect_at_least("seconds that the thread was stuck", 19.0, seconds)
        ended = time.monotonic()
        # A pass, a scrape and an evaluation, each of which comes in its own time.
        server.wait_for(lambda: True if not alerts() else None, seconds=30)
        self.expect_at_most("seconds until it cleared", 20, round(time.monotonic() - ended, 1))


if __name__ == "__main__":
    main()
