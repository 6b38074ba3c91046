# SPDX-License-Identifier: Apache-2.0
"""Every metric that a document, rule or dashboard of this tree names is on a real page, as said."""

import json
import re
import shutil
import subprocess
import unittest

from case import Case, main
from daemon import TREE

METRIC = re.compile(r"\b(?:offcpud|process)_[a-z0-9_]*[a-z0-9]\b")
SUFFIXES = ("_bucket", "_sum", "_count")
# Not on every page: with the first waits that were examined, after some seconds (waits_for_test.py);
# with a Go program (goroutines_watched_test.py); with the first stall (stalls_test.py);
# with the first snapshot, after a minute (monitoring_test.py has one sooner); with TLS (secure_test.py);
# with the first snapshot that was pushed (push_test.py); with stalls.unusual (unusual_test.py).
LATE = {"offcpud_wait_seconds": "histogram",
        "offcpud_wait_variance_seconds_squared_total": "counter",
        "offcpud_waited_on_seconds_total": "counter",
        "offcpud_goroutine_wait_seconds_total": "counter",
        "offcpud_stalls_in_progress": "gauge",
        "offcpud_oldest_stall_seconds": "gauge",
        "offcpud_stalls_waiting_on": "gauge",
        "offcpud_deadlocked_threads": "gauge",
        "offcpud_unusual_waits": "gauge",
        "offcpud_last_snapshot_timestamp_seconds": "gauge",
        "offcpud_web_certificate_expiry_timestamp_seconds": "gauge",
        "offcpud_push_last_success_timestamp_seconds": "gauge"}
# Words with these beginnings that are no metric: libraries, programs, system calls, columns.
TARGETS = {target for file in [TREE / "bpf/CMakeLists.txt", *(TREE / "daemon").rglob("CMakeLists.txt"),
                               *(TREE / "tests").rglob("CMakeLists.txt")]
           for target in re.findall(r"add_(?:library|executable)\(\s*(offcpud_\w+)", file.read_text())}
FOREIGN = re.compile(r"offcpud_(?:skeleton|slot\w*)$|process_(?:cpu|families|wide|hists|table(?:_full)?|vm_readv)$")

TYPE = re.compile(r"(?:struct|enum) offcpud_\w+")


def names_in(text):
    return {name for name in METRIC.findall(TYPE.sub("", text)) if not FOREIGN.match(name)} - TARGETS


class Names(Case):
    def page(self):
        """{family: its type}, after something happened."""
        self.run_workload("sleeper", "--count", 2, "--us", 1_000)
        return {name: family.type for name, family in self.daemon.scrape().families.items()}

    def unknown(self, names, page):
        """Those that are neither a family nor a part of a histogram."""
        def known(name):
            parts = [name[: -len(s)] for s in SUFFIXES if name.endswith(s)]
            return name in page or any(page.get(p) == "histogram" for p in parts)

        return sorted(name for name in names if not known(name))

    def test_documented_metrics_exist(self):
        """docs/metrics.md is the list: each metric of it is on the page with its type, unless it
        can only come with its first event, and each on the page is in it."""
        page = self.page()
        rows = re.findall(r"^\| \x60([a-z_0-9]+)\x60 \| (\w+) \|", (TREE / "docs/metrics.md").read_text(),
                          re.MULTILINE)
        documented = dict(rows)
        self.expect_at_least("documented metrics", 20, len(documented))
        strangers = sorted(set(page) - set(documented))
        self.say(not strangers, "metrics on the page that are not documented", "none",
                 strangers or "none")
        wrong = {n: (t, page[n]) for n, t in documented.items() if n in page and page[n] != t}
        self.say(not wrong, "metrics of another type than documented", "none", wrong or "none")

    def test_documents_name_metrics_that_exist(self):
        documented = names_in((TREE / "docs/metrics.md").read_text())
        for document in sorted([TREE / "README.md", *(TREE / "docs").rglob("*.md")]):
            unknown = names_in(document.read_text()) - documented
            unknown = [n for n in unknown if not any(n == d + s for d in documented for s in SUFFIXES)]
            self.say(not unknown, f"metrics of {document.relative_to(TREE)} that do not exist", "none",
                     sorted(unknown) or "none")

    def test_rules_and_dashboards_name_metrics_that_exist(self):
        """D15: also with the types and suffixes of a real page."""
        rules = [f for f in TREE.rglob("*.rules.yaml") if "build" not in f.relative_to(TREE).parts[0]]
        dashboards = [f for f in TREE.rglob("*.json") if "dashboard" in str(f.relative_to(TREE))
                      and "build" not in f.relative_to(TREE).parts[0]]
        if not rules + dashboards:
            self.skipTest("no rules and no dashboards are shipped so far")
        page = {**LATE, **self.page()}
        for file in rules + dashboards:
            unknown = self.unknown(names_in(file.read_text()), page)
            self.say(not unknown, f"metrics of {file.relative_to(TREE)} that do not exist", "none",
                     unknown or "none")
        for file in dashboards:
            json.loads(file.read_text())
        if rules and not shutil.which("promtool"):
            raise unittest.SkipTest("promtool is not installed (Debian package prometheus)")
        for file in rules:
            check = subprocess.run(["promtool", "check", "rules", str(file)], capture_output=True,
                                   text=True, timeout=60, check=False)
            self.expect_equal(f"status of promtool for {file.name}", 0, check.returncode)


if __name__ == "__main__":
    main()
