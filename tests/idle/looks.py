# SPDX-License-Identifier: Apache-2.0
"""What somebody sees who looks at the daemon: its stalls, the alerts, and the first ten rows of top and page."""

import calendar
import time
from collections import defaultdict
from dataclasses import dataclass, field
from urllib.parse import quote

import host

ROWS = 10
WINDOW = 60  # seconds that the page takes means of
LEAST = 0.05  # threads on average: of fewer, top and page say that nobody waits
PENDING = 300  # seconds for which an alert may be pending, as when the daemon starts
# Alerts without a unit that other programs cannot bring about.
OF_DAEMON = ("OffcpudDown", "OffcpudNotMeasuring", "OffcpudDaemonStuck", "OffcpudConfigReloadFailed",
             "OffcpudSnapshotsFailing", "OffcpudPushFailing", "OffcpudCertificateExpires")
# Switches that no program can see where a sandbox guards process 1: host.init_is_guarded().
GUARDED = ("missed_switch", "missed_wakeup")


@dataclass
class Finding:
    """Rows that say the same: how often, and how much at most."""
    looks: int = 0
    most: float = 0.0
    total: float = 0.0
    rows: list = field(default_factory=list)  # the answers' own, at most MOST_ROWS

    MOST_ROWS = 5

    def add(self, waiting, row):
        self.looks += 1
        self.total += waiting
        if waiting > self.most or len(self.rows) < self.MOST_ROWS:
            self.rows = [*self.rows[-self.MOST_ROWS + 1:], row]
        self.most = max(self.most, waiting)


def age_of(alert):
    """Seconds since the alert is pending."""
    began = time.strptime(alert["activeAt"][:19], "%Y-%m-%dT%H:%M:%S")
    return time.time() - calendar.timegm(began)


def waits_for_cpu(row, interval):
    if "runqueue_seconds" in row:
        return sum(row["runqueue_seconds"].values()) / interval if interval else 0.0
    return sum(one["waiting"] for one in row["runqueue"].values())


class Looks:
    """`shared`: other programs run on this host; of theirs nothing counts, and rows are asked for within
    the slice."""

    def __init__(self, daemon, prometheus, slice_path, shared=False):
        self._daemon, self._prometheus = daemon, prometheus
        self._slice, self._shared = slice_path, shared
        self.looks = 0
        self.stalls, self.unusual, self.alerts, self.of_others = {}, {}, {}, {}
        self.pending = {}  # alerts for less than PENDING, of which nobody hears
        self.rows = defaultdict(Finding)  # (where, unit, name, for, site)
        # (where, unit, name, for, site): rows that say it with an error so large that it may be nothing
        self.unsure_rows = defaultdict(Finding)
        self.cpu_rows = defaultdict(Finding)  # (where, unit, name)
        self.words = defaultdict(int)  # what the daemon says first, by how often
        self.units_seen = defaultdict(int)  # looks in which threads of the unit were seen to wait
        self.blind = []  # looks in which the daemon did not know what waits are for

    def look(self):
        self.looks += 1
        self._look_at_stalls()
        self._look_at_alerts()
        within = f"&cgroup={quote(self._slice)}" if self._shared else ""
        top = self._daemon.get_json(f"/api/v1/top?limit={ROWS}{within}")
        page = self._daemon.get_json(f"/api/v1/units?window={WINDOW}s&limit={ROWS}{within}")
        if top["window"] is None or page["waits_window"] is None:
            self.blind.append(time.time())
        for row in top["processes"]:
            self._judge("top", row, row["comm"], waits_for_cpu(row, top["interval_seconds"]))
        for row in page["units"]:
            self._judge("page", row, "", waits_for_cpu(row, None))
        for line in self._daemon.get_json("/api/v1/status")["waiting"][:1]:
            self.words[line if line.startswith("nobody") is False else "nobody waits ..."] += 1
        seen = self._daemon.get_json(f"/api/v1/units?window={WINDOW}s&cgroup={quote(self._slice)}")
        for unit in seen["units"]:
            waits = unit["waits"] or {}
            if sum(one["waiting"] for one in waits.get("for", {}).values()) > 0:
                self.units_seen[unit.get("unit", unit["cgroup"])] += 1

    def _is_own(self, cgroup):
        return not self._shared or cgroup.startswith(self._slice)

    def _look_at_stalls(self):
        answer = self._daemon.get_json_as_root("/api/v1/stalls?limit=20000")
        for wait in answer["unusual"]:
            if self._is_own(wait["cgroup"]):
                self.unusual[(wait["cgroup"], wait["tid"], wait["since"])] = wait
        for stall in answer["stalls"]:
            key = ("stall", stall["cgroup"], stall["tid"], stall["since"])
            kept = self.stalls if self._is_own(stall["cgroup"]) else self.of_others
            if kept is self.stalls and key not in kept:
                print(f"  {time.strftime('%X')} stall of {stall['comm']} in {stall['cgroup']}: "
                      f"{stall['for']} {stall['site']}", flush=True)
            kept[key] = stall  # the last answer knows most

    def _look_at_alerts(self):
        for alert in self._prometheus.ask("alerts")["alerts"]:
            key = tuple(sorted(alert["labels"].items()))
            if not self.is_own_alert(alert["labels"]):
                self.of_others[key] = alert
            elif alert["state"] == "firing" or age_of(alert) >= PENDING:
                if key not in self.alerts:
                    print(f"  {time.strftime('%X')} alert {alert['labels']}", flush=True)
                if key not in self.alerts or self.alerts[key]["state"] == "pending":
                    self.alerts[key] = alert
            else:
                self.pending[key] = alert

    def is_own_alert(self, labels):
        if labels.get("cause") in GUARDED and host.init_is_guarded():
            return False
        if not self._shared:
            return True
        if "slice" in labels or "cgroup" in labels or "unit" in labels:
            return labels.get("slice") == self._slice.strip("/") or \
                labels.get("cgroup", "").startswith(self._slice)
        return labels["alertname"] in OF_DAEMON

    def _judge(self, where, row, name, cpu):
        unit = row.get("unit", row["cgroup"])
        waits = row["waits"]
        if waits and waits["actionable"] >= LEAST:
            site = (waits["sites"] or [{"for": "?", "site": None}])[0]
            key = (where, unit, name, site["for"], site["site"] or "no rule")
            sure = waits["actionable"] - 2 * waits["error"] >= LEAST
            kept = self.rows if sure else self.unsure_rows
            if key not in kept:
                print(f"  {time.strftime('%X')} {' '.join(key)}: {waits['actionable']:.3f} "
                      f"+- {waits['error']:.3f}", flush=True)
            kept[key].add(waits["actionable"], row)
        if cpu >= LEAST:
            self.cpu_rows[where, unit, name].add(cpu, row)
