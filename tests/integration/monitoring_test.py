# SPDX-License-Identifier: Apache-2.0
"""Every expression of every dashboard and rule, run by a real Prometheus that scrapes the daemon
while programs wait in every way: each returns data, and names only metrics and labels that exist."""

import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

import host
import prometheus_server
import promql
from case import Case, main
from daemon import BUILD, TREE

sys.path.insert(0, str(TREE / "tests" / "unit" / "monitoring"))
import dashboards  # noqa: E402

RULES = TREE / "config" / "prometheus"
PROTOBUF = ("application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;"
            "encoding=delimited")
SECONDS = 30  # of work, and of scrapes before the questions
CONTAINER = "0123456789abcdef" * 4


class Monitoring(Case):
    """With snapshots soon enough to have some, and a pass whenever Prometheus asks."""

    settings = {"snapshots.interval": "5s", "min_pass_interval": "100ms"}
    kind, flags = "classic", ()

    @classmethod
    def setUpClass(cls):
        cls.skip_if(prometheus_server.missing())
        super().setUpClass()
        cls.require_kind()
        cls.start_work()
        cls.start_prometheus()
        time.sleep(SECONDS)

    @classmethod
    def require_kind(cls):
        """Native histograms come by protobuf, from a daemon that speaks it."""
        if cls.kind == "classic":
            return
        request = urllib.request.Request(f"http://127.0.0.1:{cls.daemon.port}/metrics",
                                         headers={"Accept": PROTOBUF})
        with urllib.request.urlopen(request, timeout=30) as answer:
            if "protobuf" not in answer.headers["Content-Type"]:
                raise unittest.SkipTest("this daemon has no native histograms")

    @classmethod
    def cgroup(cls, name):
        made = host.Cgroup(name)
        cls.addClassCleanup(made.remove)
        # The children of what was started outlive it.
        cls.addClassCleanup((made.directory / "cgroup.kill").write_text, "1")
        return made

    @classmethod
    def run_in(cls, cgroup, name, *arguments, quota=None):
        def enter():
            cgroup.enter()
            if quota:
                quota.apply(cgroup)

        # Past the gates that other tests need: its work begins at once.
        process = subprocess.Popen([str(BUILD / "tests/workloads/bin" / name), *map(str, arguments)],
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, preexec_fn=enter)
        cls.addClassCleanup(process.wait)
        cls.addClassCleanup(process.stdin.close)
        cls.addClassCleanup(process.kill)
        process.stdin.write(b"g")
        process.stdin.flush()

    @classmethod
    def start_work(cls):
        """Sleepers, lock waiters, pipes and disk; one unit that three times its threads keep off their
        CPU; one that is throttled; one that is stuck; a container of a pod. Cleaning up ends all of it."""
        ms = 20 * SECONDS * 1_000
        top = f"/offcpud-test-{os.getpid()}-{cls.kind}.slice"
        cls.cgroup(top)
        cls.mix = cls.cgroup(f"{top}/mix.service")
        cls.run_in(cls.mix, "busy_mix", "--ms", ms)
        cls.run_in(cls.mix, "fsync_loop", "--count", 1_000_000)
        for name, threads in (("noisy", 6), ("quiet", 2)):
            cls.run_in(cls.cgroup(f"{top}/{name}.service"), "spinner", "--threads", threads, "--ms", ms)
        cls.run_in(cls.cgroup(f"{top}/stuck.service"), "stuck", "--kind", "mutex", "--ms", ms)
        # vfork's parent is what a test can make wait in the kernel for long.
        cls.run_in(cls.cgroup(f"{top}/waiting.service"), "stuck", "--kind", "vfork", "--ms", ms)
        pod = cls.cgroup(f"{top}/kubepods-pod3b1f0c5e_8a2d_4e6f_9b7a_{os.getpid():012x}.slice")
        container = cls.cgroup(f"{pod.path}/cri-containerd-{CONTAINER}.scope")
        cls.run_in(container, "busy_mix", "--ms", ms)
        cls.run_in(container, "stuck", "--kind", "mutex", "--ms", ms)
        quota = host.CpuQuota(f"offcpud-test-{os.getpid()}-{cls.kind}", quota_us=10_000)
        cls.addClassCleanup(quota.remove)
        cls.run_in(cls.cgroup(f"{top}/limited.service"), "spinner", "--threads", 1, "--ms", ms,
                   "--cpu", 1, quota=quota)

    @classmethod
    def start_prometheus(cls):
        rules = [RULES / "alerts.rules.yaml", RULES / f"{cls.kind}.rules.yaml"]
        cls.server = prometheus_server.PrometheusServer(cls.daemon, rules, cls.flags)
        cls.addClassCleanup(cls.server.stop)

    def result(self, expr):
        """The series that have a number, or a histogram."""
        return [s for s in self.server.ask("query", query=expr)["result"]
                if "histogram" in s or s["value"][1] != "NaN"]

    def labels_of(self, metric):
        """{label: whether some series of the metric has it}"""
        if metric not in self.known:
            found = self.server.ask("series", **{"match[]": metric})
            self.known[metric] = {label for series in found for label in series}
        return self.known[metric]

    def setUp(self):
        super().setUp()
        self.known = {}

    def strangers(self, expr):
        """What the expression names and no series has. Of the other kind of histogram there is none
        in this Prometheus."""
        found, present = [], set()
        for metric, matched in promql.selectors(expr):
            having = self.labels_of(metric)
            present |= having
            if not having and not self.is_of_other_kind(metric):
                found.append(metric)
            found += [f"{metric}{{{label}}}" for label in sorted(matched - having) if having]
        return found + sorted(promql.grouping(expr) - present - promql.made(expr) - {"le"})

    def is_of_other_kind(self, metric):
        base = re.sub(r"_(bucket|sum|count)$", "", metric)
        return any(self.labels_of(name) for name in (base, base + "_count"))

    def wanted(self, target):
        """Of a heatmap, which has a query for each kind, the one of this kind."""
        return target["refId"] in (self.kind, "edges", "A", "B", "C", "D", "E")

    def selections(self, dashboard):
        """What Grafana would put in: of a variable without a value for All each of its values."""
        of = dashboards.values(dashboard)
        for variable in dashboard["templating"]["list"]:
            if variable["type"] != "query":
                continue
            query = dashboards.substituted(variable["query"]["query"], of)
            selector, label = re.fullmatch(r"label_values\((.*), (\w+)\)", query).groups()
            found = self.server.ask(f"label/{label}/values", **{"match[]": selector})
            self.say(bool(found), f"values of the variable {variable['name']}", "some", len(found))
            if not variable["includeAll"]:
                choice = variable["current"].get("value", found[0])  # without one Grafana takes the first
                self.say(choice in found, f"choice of {variable['name']}", choice, found)
                of[variable["name"]] = choice
            elif variable["allValue"] is None:
                of[variable["name"]] = "(" + "|".join(re.escape(v).replace("\\", "\\\\")
                                                      for v in found) + ")"
        return of

    def test_expressions_of_dashboards_return_data(self):
        for dashboard in dashboards.load():
            of, asked, silent = self.selections(dashboard), 0, []
            for panel, target in dashboards.targets(dashboard):
                if not self.wanted(target):
                    continue
                expr = dashboards.substituted(target["expr"], of)
                series, asked = self.result(expr), asked + 1
                if not series:
                    silent.append(f"{panel['title']}: {expr}")
                for label in re.findall(r"\{\{(\w+)\}\}", target["legendFormat"]):
                    if not any(label in s["metric"] for s in series):
                        silent.append(f"{panel['title']}: no {label} in the legend")
                silent += [f"{panel['title']}: {s} does not exist" for s in self.strangers(expr)]
            self.expect_at_least(f"queries of {dashboard['title']}", 20, asked)
            self.say(not silent, f"faults of {dashboard['title']}", "none", silent or "none")

    def test_graphs_have_what_grafana_draws_edges_from(self):
        """A table with a row for each edge: an id that no other one has, and the ids of the nodes at both ends."""
        graphs = 0
        for dashboard in dashboards.load():
            of = self.selections(dashboard)
            for panel, target in dashboards.targets(dashboard):
                if panel["type"] != "nodeGraph":
                    continue
                graphs += 1
                expr = dashboards.substituted(target["expr"], of)
                found = self.server.wait_for(lambda expr=expr: self.result(expr) or None, seconds=60)
                edges = [series["metric"] for series in found]
                self.say((target["format"], target["instant"]) == ("table", True), "answer that it asks for",
                         "a table of this moment", (target["format"], target["instant"]))
                faults = [edge for edge in edges if not all(edge.get(name) for name in ("id", "source", "target"))]
                self.say(not faults, "edges without id, source or target", "none", faults[:3] or "none")
                self.expect_equal("ids", len(edges), len({edge["id"] for edge in edges}))
                ends = {edge["source"] for edge in edges} | {edge["target"] for edge in edges}
                self.say("mix.service" in ends, "nodes", "with mix.service, whose threads wait for each other",
                         sorted(ends))
        self.expect_at_least("graphs", 1, graphs)

    def test_the_daemons_start_is_marked(self):
        for dashboard in dashboards.load():
            restarts, alerts = dashboard["annotations"]["list"]
            of = dashboards.values(dashboard)
            marked, = self.result(dashboards.substituted(restarts["expr"], of))
            age = time.time() - float(marked["value"][1]) / 1000
            self.say(0 < age < 600, "age of the mark", "that of the daemon", f"{age:.0f} s")
            labels = re.findall(r"\{\{(\w+)\}\}", alerts["titleFormat"] + alerts["textFormat"])
            self.expect_at_least("labels of alerts that are shown", 4, len(labels))

    def test_links_of_tables_have_their_labels(self):
        """A link takes instance, unit and cgroup from the row, or from the series."""
        for dashboard in dashboards.load():
            of = self.selections(dashboard)
            for panel, target in dashboards.targets(dashboard):
                for label in re.findall(r"__(?:data\.fields|field\.labels)\.(\w+)", repr(panel)):
                    series = self.result(dashboards.substituted(target["expr"], of))
                    self.assertTrue(any(label in s["metric"] for s in series),
                                    f"{panel['title']}: {label}")

    def test_rules_return_data(self):
        groups = self.server.ask("rules")["groups"]
        rules = [rule for group in groups for rule in group["rules"]]
        self.expect_at_least("rules", 25, len(rules))
        for rule in rules:
            self.say(rule["health"] == "ok", f"health of {rule['name']}", "ok",
                     rule.get("lastError") or rule["health"])
            if rule["name"] == "OffcpudCertificateExpires":
                continue  # this daemon has none: access_test.py asks it
            faults = self.strangers(rule["query"])
            for operand in promql.operands(rule["query"]):
                faults += [f"no data: {vector}" for vector in promql.compared(operand)
                           if not self.result(vector)]
            self.say(not faults, f"faults of {rule['name']}", "none", faults or "none")
            if rule["type"] == "recording":
                self.expect_at_least(f"series of {rule['name']}", 1, len(self.result(rule["name"])))

    def test_recorded_values_are_those_of_the_work(self):
        def of(name, unit, **more):
            labels = "".join(f',{k}="{v}"' for k, v in more.items())
            return float(self.result(f'{name}{{unit="{unit}"{labels}}}')[0]["value"][1])

        threads = "instance_unit_cause:offcpud_runqueue_wait_seconds:threads_rate5m"
        running = "instance_unit:offcpud_running_seconds_total:rate5m"
        # rate() divides by its five minutes, of which there are not yet so many: only ratios count.
        limited = of(threads, "limited.service", cause="throttled")
        limited /= limited + of(running, "limited.service")
        self.expect_at_least("throttled share of one that gets 0.1 CPUs", 0.5, limited)
        waiting = of(threads, "quiet.service", cause="preempted")
        waiting /= waiting + of(running, "quiet.service")
        self.expect_at_least("waiting share of two that share a CPU with six", 0.6, waiting)
        share = of("instance_unit:offcpud_preemptions_total:other_cgroup_ratio_rate5m", "quiet.service")
        self.say(0.2 < share < 1, "share of preemptions by others", "some, not all", share)
        for quantile in ("p50", "p90", "p99"):
            name = f"instance_unit:offcpud_runqueue_wait_seconds:{quantile}_rate5m"
            seconds = of(name, "quiet.service")
            self.say(1e-4 < seconds < 1, f"{quantile} of its waits", "time slices", seconds)

    def test_alerts_that_should_fire_are_on_their_way(self):
        """They need minutes (promtool's tests have these): here they are pending."""
        def pending(name, unit):
            return [a for a in self.server.ask("alerts")["alerts"]
                    if (a["labels"]["alertname"], a["labels"].get("unit")) == (name, unit)] or None

        for name, unit in (("OffcpudThrottled", "limited.service"),
                           ("OffcpudNoisyNeighbour", "quiet.service")):
            state = self.server.wait_for(lambda: pending(name, unit), seconds=60)[0]["state"]
            self.say(state == "pending", f"{name} of {unit}", "pending", state)

    def test_commands_of_runbooks_run(self):
        """Each offcpuctl of a runbook is understood and answered, on the cgroup of this test."""
        program, ran = BUILD / "bin" / "offcpuctl", 0
        with tempfile.TemporaryDirectory() as folder:
            for page in sorted((TREE / "docs" / "runbooks").glob("*.md")):
                for line in re.findall(r"^offcpuctl .*$", page.read_text(), re.MULTILINE):
                    words = shlex.split(line, comments=True)[1:]
                    words = words[:words.index("|")] if "|" in words else words
                    words = [self.mix.path if w.endswith(".service") else w for w in words]
                    if words[0] != "check-config":
                        words += ["--server", f"127.0.0.1:{self.daemon.port}"]
                    done = subprocess.run([program, *words], cwd=folder, capture_output=True, text=True,
                                          timeout=60, stdin=subprocess.DEVNULL, check=False)
                    ran += 1
                    self.assertEqual(done.returncode, 0, f"{page.name}: {line}: {done.stderr}")
        self.expect_at_least("commands of runbooks", 15, ran)


class NativeMonitoring(Monitoring):
    """The same with native histograms and the rules for them."""

    kind, flags = "native", ("--enable-feature=native-histograms",)


if __name__ == "__main__":
    main()
