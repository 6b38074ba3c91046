# SPDX-License-Identifier: Apache-2.0
"""Dashboards, rules and runbooks without a daemon: they are as generated, keep the rules of their
linters, belong together, and every alert fires and clears."""

import copy
import itertools
import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import dashboard_linter
import dashboards
from dashboards import TREE

HERE = Path(__file__).resolve().parent
PROMETHEUS = TREE / "config" / "prometheus"
RUNBOOKS = TREE / "docs" / "runbooks"
ALERTS = (PROMETHEUS / "alerts.rules.yaml").read_text()
NAMES = re.findall(r"- alert: (\w+)", ALERTS)


def promtool(*arguments):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          timeout=60, check=False)
    return done.returncode, done.stdout + done.stderr


class Generated(unittest.TestCase):
    def check(self, program, folder, pattern):
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, program, made], check=True)
            self.assertEqual({f.name: f.read_text() for f in Path(made).iterdir()},
                             {f.name: f.read_text() for f in folder.glob(pattern)},
                             f"run {program.relative_to(TREE)}")

    def test_dashboards(self):
        self.check(TREE / "config/grafana/generate", dashboards.FOLDER, "*")

    def test_dashboards_for_a_store_without_native_histograms(self):
        """The same panels, without what only native histograms have."""
        program = TREE / "config/grafana/generate"
        with tempfile.TemporaryDirectory() as made:
            subprocess.run([sys.executable, program, "--classic", made], check=True)
            for shipped in dashboards.load():
                classic = json.loads((Path(made) / f"{shipped['uid']}.json").read_text())
                titles = [[panel["title"] for panel in of["panels"]] for of in (shipped, classic)]
                self.assertEqual(*titles)
                asked = [target["expr"] for _, target in dashboards.targets(classic)]
                self.assertFalse([expr for expr in asked if "histogram_sum" in expr or "\nor\n" in expr])
                both = {target["expr"].split("\nor\n")[0] for _, target in dashboards.targets(shipped)}
                self.assertGreater(len(both & set(asked)), len(asked) / 2)
        refused = subprocess.run([sys.executable, program, "--classic"], capture_output=True, check=False)
        self.assertNotEqual(refused.returncode, 0)

    def test_rules_for_both_kinds_of_histograms(self):
        self.check(PROMETHEUS / "generate", PROMETHEUS, "[cn]*.rules.yaml")

    def test_both_kinds_record_the_same_series(self):
        recorded = [re.findall(r"record: (\S+)", (PROMETHEUS / f"{kind}.rules.yaml").read_text())
                    for kind in ("classic", "native")]
        self.assertGreater(len(recorded[0]), 5)
        self.assertEqual(*recorded)


@unittest.skipUnless(shutil.which("jsonnet"), "jsonnet is not installed")
class Mixin(unittest.TestCase):
    MIXIN = f"(import '{TREE}/config/mixin/mixin.libsonnet')"

    def evaluated(self, expression, config=""):
        program = f"local mixin = {self.MIXIN} {{ _config+:: {{ {config} }} }}; {expression}"
        done = subprocess.run(["jsonnet", "-e", program], capture_output=True, text=True, timeout=60,
                              check=False)
        return json.loads(done.stdout) if done.returncode == 0 else done.stderr

    def names(self, groups, kind):
        return [rule[kind] for group in groups for rule in group["rules"] if kind in rule]

    def test_it_has_every_dashboard(self):
        files = {file.name: json.loads(file.read_text()) for file in dashboards.FOLDER.glob("*.json")}
        self.assertEqual(files, self.evaluated("mixin.grafanaDashboards"))

    def test_it_has_every_rule(self):
        for kind in ("classic", "native"):
            groups = self.evaluated("mixin.prometheusRules.groups", f"histograms: '{kind}'")
            text = (PROMETHEUS / f"{kind}.rules.yaml").read_text()
            self.assertEqual(re.findall(r"- record: (\S+)", text), self.names(groups, "record"))
        self.assertIn("expected 'classic' or 'native', not 'old'",
                      self.evaluated("mixin.prometheusRules", "histograms: 'old'"))

    def test_its_alerts_lead_to_runbooks_at_the_address_of_who_deploys_them(self):
        groups = self.evaluated("mixin.prometheusAlerts.groups", "runbookPrefix: 'https://example.org/'")
        self.assertEqual(NAMES, self.names(groups, "alert"))
        for rule in itertools.chain.from_iterable(group["rules"] for group in groups):
            if "alert" in rule:
                path = rule["annotations"]["runbook_url"].removeprefix("https://example.org/")
                self.assertTrue((TREE / path.split("#")[0]).is_file(), path)

    def test_promtool_takes_what_it_makes(self):
        if not shutil.which("promtool"):
            self.skipTest("promtool is not installed")
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            json.dump(self.evaluated("mixin.prometheusAlerts"), file)  # JSON is YAML
            file.flush()
            code, text = promtool("check", "rules", file.name)
        self.assertEqual(0, code, text)


class Dashboards(unittest.TestCase):
    def test_linter_has_nothing_to_say(self):
        self.assertEqual(len(dashboards.load()), 3)
        for dashboard in dashboards.load():
            self.assertEqual(dashboard_linter.complaints(dashboard), [], dashboard["title"])

    def test_linter_finds_each_fault(self):
        """Each rule complains of a dashboard that breaks it."""
        def panel(dashboard):
            return dashboards.panels(dashboard)[1]

        def expr(dashboard, old, new):
            for _, target in dashboards.targets(dashboard):
                target["expr"] = target["expr"].replace(old, new)

        faults = {
            "template-datasource": lambda d: d["templating"]["list"].pop(0),
            "template-job": lambda d: d["templating"]["list"][1].update(multi=False),
            "template-instance": lambda d: d["templating"]["list"][2].update(allValue=None),
            "template-label-promql": lambda d: d["templating"]["list"][3]["query"].update(query="x"),
            "template-on-time-change-reload": lambda d: d["templating"]["list"][3].update(refresh=1),
            "panel-datasource": lambda d: panel(d)["targets"][0].update(datasource={"uid": "x"}),
            "panel-title-description": lambda d: panel(d).update(description=""),
            "panel-units": lambda d: panel(d)["fieldConfig"]["defaults"].update(unit="seconds"),
            "panel-no-targets": lambda d: panel(d)["targets"].clear(),
            "target-rate-interval": lambda d: expr(d, "$__rate_interval", "5m"),
            "target-job": lambda d: expr(d, 'job=~"$job", ', ""),
            "target-instance": lambda d: expr(d, 'instance=~"$instance"', 'instance="a"'),
            "target-counter-agg": lambda d: expr(d, "rate(", "abs("),
            "uneditable-dashboard": lambda d: d.update(editable=True),
        }
        for rule, fault in faults.items():
            broken = copy.deepcopy(dashboards.load()[1])
            fault(broken)
            said = dashboard_linter.complaints(broken)
            self.assertTrue(any(s.startswith(rule) for s in said), f"{rule}: {said}")
        self.assertEqual(len(faults), len(dashboard_linter.RULES))

    def test_ids_and_places_are_apart(self):
        for dashboard in dashboards.load():
            taken, ids = set(), [p["id"] for p in dashboard["panels"]]
            self.assertEqual(len(ids), len(set(ids)))
            for panel in dashboard["panels"]:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                         for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(cells & taken, panel["title"])
                self.assertLessEqual(at["x"] + at["w"], 24)
                taken |= cells

    def test_links_lead_to_dashboards_and_parameters_that_exist(self):
        uids = {d["uid"] for d in dashboards.load()}
        page = (TREE / "daemon/page/script/address.js").read_text()
        for dashboard in dashboards.load():
            self.assertEqual(dashboard["links"][0]["tags"], dashboard["tags"])
            urls = re.findall(r"'url': '([^']+)'", repr(dashboard["panels"]))
            self.assertTrue(any("/flame?" in url for url in urls))
            names = dashboards.variables(dashboard)
            for url in urls:
                if url.startswith("/d/"):
                    self.assertIn(re.match(r"/d/([\w-]+)", url)[1], uids)
                    continue
                for parameter in re.findall(r"[?&](\w+)=", url):
                    self.assertRegex(page, rf'[("]{parameter}"')
                self.assertIn("scheme", names)
                of_point = "at=${__value.time}" in url
                self.assertNotEqual(of_point, "from=${__from:date:seconds}&to=${__to:date:seconds}" in url)

    def test_every_line_of_a_host_leads_to_its_flame_graph_of_that_minute(self):
        linked = 0
        for dashboard in dashboards.load()[1:]:  # what the daemon itself does is not in its snapshots
            for panel in dashboards.panels(dashboard):
                if panel["type"] != "timeseries":
                    continue
                of_host = any("{{instance}}" in target["legendFormat"] for target in panel["targets"])
                links = [link["url"] for link in panel["fieldConfig"]["defaults"]["links"]]
                leads = any("/flame?at=${__value.time}" in url for url in links)
                self.assertEqual(leads, of_host, panel["title"])
                linked += of_host
        self.assertGreater(linked, 15)

    def test_restarts_and_alerts_are_marked(self):
        for dashboard in dashboards.load():
            names = [each["name"] for each in dashboard["annotations"]["list"]]
            self.assertEqual(names, ["Restarts", "Alerts"], dashboard["title"])

    def test_idle_prone_reasons_are_off_until_asked_for(self):
        for dashboard in dashboards.load()[1:]:
            chosen = dashboards.variables(dashboard)["reason"]["current"]["value"]
            self.assertFalse({"poll", "sleep", "child", "condvar"} & set(chosen))

    def test_removed_cgroups_are_in_no_rate(self):
        subject = re.compile(r"rate\(offcpud_(?:blocked|runqueue|running|preemptions|wakeups|waited_on)\w*\{([^}]*)")
        for dashboard in dashboards.load():
            for _, target in dashboards.targets(dashboard):
                for matchers in subject.findall(target["expr"]):
                    self.assertIn('cgroup!~".*[(]removed[)]"', matchers)


@unittest.skipUnless(shutil.which("promtool"), "promtool is not installed (Debian package prometheus)")
class Promtool(unittest.TestCase):
    def expect_success(self, *arguments):
        status, said = promtool(*arguments)
        self.assertEqual(status, 0, said)

    def test_rules_are_valid(self):
        self.expect_success("check", "rules", *sorted(PROMETHEUS.glob("*.rules.yaml")))

    def test_examples_are_valid(self):
        self.expect_success("check", "config", *sorted((TREE / "config/examples").glob("prom*.yaml")))

    def test_expressions_of_dashboards_are_valid(self):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write("groups: [{name: all, rules: [\n")
            number = 0
            for dashboard in dashboards.load():
                of = dashboards.values(dashboard)
                queries = [target["expr"] for _, target in dashboards.targets(dashboard)]
                queries += [each["expr"] for each in dashboard["annotations"]["list"]]
                for query in queries:
                    number += 1
                    expr = dashboards.substituted(query, of).replace("'", "''")
                    file.write(f"{{record: 'r{number}', expr: '{expr}'}},\n")
            file.write("]}]\n")
            file.flush()
            self.expect_success("check", "rules", file.name)
            self.assertGreater(number, 80)

    def test_alerts_fire_and_clear(self):
        self.expect_success("test", "rules", *sorted(HERE.glob("*.test.yaml")))

    def test_a_changed_threshold_would_be_found(self):
        """The rule tests fail for alerts that never fire, and for alerts that always do."""
        of_stalls = r"(offcpud_oldest_stall_seconds\{for=~[^)]*\)) > 60"
        of_disks = r'(\{reason="disk"\}\), [^)]*\)) > 60'
        for old, new in itertools.product((of_stalls, of_disks), (r"\1 > 1e9", r"\1 > -1")):
            with tempfile.TemporaryDirectory() as folder:
                for file in PROMETHEUS.glob("*.rules.yaml"):
                    text = re.sub(old, new, file.read_text())
                    (Path(folder) / file.name).write_text(text)
                test = (HERE / "wait_alerts.test.yaml").read_text()
                changed = Path(folder) / "changed.test.yaml"
                changed.write_text(test.replace("../../../config/prometheus/", ""))
                status, said = promtool("test", "rules", changed)
                self.assertNotEqual(status, 0, said)
                self.assertIn("OffcpudThreadStalled", said)


class Alerts(unittest.TestCase):
    def test_every_alert_is_tested_firing_and_clear(self):
        tests = "".join(f.read_text() for f in HERE.glob("*.test.yaml"))
        for name in NAMES:
            self.assertRegex(tests, rf"alertname: {name}\n\s+exp_alerts:\n")
            clear = re.findall(rf"eval_time: (\d+)m, alertname: {name}, exp_alerts: \[\]", tests)
            self.assertGreaterEqual(len(clear), 2, name)

    def test_every_alert_says_what_it_is(self):
        for rule in re.split(r"- alert: ", ALERTS)[1:]:
            name = rule.split("\n", 1)[0]
            self.assertRegex(rule, r"severity: (critical|warning|info)\n")
            for annotation in ("summary: ", "description: "):
                self.assertIn(annotation, rule)
            self.assertIn(f"runbook_url: docs/runbooks/{name}.md\n", rule)

    def test_alerts_on_waits_say_who_and_what_to_type(self):
        waits = re.search(r"- name: offcpud-waits\n(.*?)\n  - name: ", ALERTS, re.DOTALL)[1]
        rules = re.split(r"- alert: ", waits)[1:]
        self.assertGreater(len(rules), 5)
        for rule in rules:
            self.assertIn("          command: ", rule)
            if "offcpud_oldest_stall_seconds{" in rule:
                self.assertIn("          since: ", rule)
                self.assertIn("          culprit: ", rule)
        # Go's %q escapes as PromQL does; a name in quotes of a template's own could end them.
        self.assertNotIn("%s", ALERTS)
        # Old versions of jsonnet do not escape a backslash when they read YAML.
        self.assertNotIn("\\", re.sub(r"(?m)^ *#.*", "", ALERTS))

    def test_every_alert_has_a_runbook_and_the_other_way_round(self):
        self.assertEqual({f.stem for f in RUNBOOKS.glob("Offcpud*.md")}, set(NAMES))
        for name in NAMES:
            headings = re.findall(r"^#+ (.+)$", (RUNBOOKS / f"{name}.md").read_text(), re.MULTILINE)
            self.assertEqual(headings, [name, "Meaning", "Impact", "How to look", "What to do",
                                        "When it is a false alarm"])


if __name__ == "__main__":
    unittest.main()
