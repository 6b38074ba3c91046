# SPDX-License-Identifier: Apache-2.0
"""What looks at an idle host count: a finding that nobody counts makes the hour worth nothing."""

import contextlib
import io
import sys
import time
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("integration", "support")]
from looks import PENDING, Looks  # noqa: E402
from promises import Promises  # noqa: E402
from report import judge_findings  # noqa: E402


class Daemon:
    """Of which nobody waits."""

    def __init__(self):
        self.stalls, self.unusual = [], []

    def get_json_as_root(self, _path):
        return {"stalls": self.stalls, "unusual": self.unusual}

    def get_json(self, path):
        if path.startswith("/api/v1/top"):
            return {"window": {}, "processes": [], "interval_seconds": 10}
        if path.startswith("/api/v1/units"):
            return {"waits_window": {}, "units": []}
        return {"waiting": ["nobody waits"]}


class Prometheus:
    def __init__(self):
        self.alerts = []

    def ask(self, _what):
        return {"alerts": self.alerts}


def alert(state, age=0):
    began = time.strftime("%Y-%m-%dT%H:%M:%S.123Z", time.gmtime(time.time() - age))
    labels = {"alertname": "OffcpudLockStalled", "unit": "a.service"}
    return {"labels": labels, "state": state, "activeAt": began}


class LooksTest(unittest.TestCase):
    def setUp(self):
        self.daemon, self.prometheus = Daemon(), Prometheus()
        self.looks = Looks(self.daemon, self.prometheus, "/idle.slice")

    def look(self, *alerts):
        self.prometheus.alerts = list(alerts)
        with contextlib.redirect_stdout(io.StringIO()):
            self.looks.look()

    def broken(self):
        promises = Promises()
        judge_findings(promises, self.looks, shared=False)
        return promises.broken

    def test_nothing_is_found_where_nobody_waits(self):
        self.look()
        self.assertFalse(self.broken())

    def test_an_alert_that_fires_when_first_seen_counts(self):
        self.look(alert("firing", age=60))
        self.assertEqual(len(self.looks.alerts), 1)
        self.assertTrue(self.broken())

    def test_an_alert_that_was_pending_for_a_moment_counts_once_it_fires(self):
        self.look(alert("pending", age=10))
        self.assertFalse(self.broken())
        self.look(alert("firing", age=40))
        self.assertEqual([one["state"] for one in self.looks.alerts.values()], ["firing"])
        self.assertTrue(self.broken())

    def test_an_alert_that_is_pending_for_minutes_counts(self):
        self.look(alert("pending", age=PENDING + 1))
        self.assertTrue(self.broken())
        self.look(alert("firing", age=PENDING + 11))
        self.assertEqual([one["state"] for one in self.looks.alerts.values()], ["firing"])
        self.look(alert("pending", age=PENDING + 21))
        self.assertEqual([one["state"] for one in self.looks.alerts.values()], ["firing"], "it did fire")

    def test_a_stall_counts(self):
        self.daemon.stalls = [{"cgroup": "/idle.slice/a.service", "tid": 7, "since": "x", "comm": "a",
                               "for": "lock", "site": "mutex"}]
        self.look()
        self.assertTrue(self.broken())

    def test_an_unusual_wait_counts_once(self):
        self.daemon.unusual = [{"cgroup": "/idle.slice/a.service", "tid": 7, "since": "x"}]
        self.look()
        self.look()
        self.assertEqual(len(self.looks.unusual), 1)
        self.assertTrue(self.broken())


if __name__ == "__main__":
    unittest.main(verbosity=2)
