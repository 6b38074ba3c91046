# SPDX-License-Identifier: Apache-2.0
"""Three daemons, the agent of config/examples beside each, and one VictoriaMetrics: the dashboards' queries
over hosts return what the panels promise, and what a host costs the store.

Usage: tests/fleet/run [--minutes N] [test ...]; needs root and a build in build-test/plain.
The three share this host. Each agent sends only what its daemon says of its own slice of units, and of what
belongs to none of the three.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
TESTS = HERE.parent
sys.path[:0] = [str(HERE), *(str(TESTS / name) for name in ("integration", "support", "unit/monitoring"))]

import dashboards  # noqa: E402
import host  # noqa: E402
import prometheus_server  # noqa: E402
import promql  # noqa: E402
import store  # noqa: E402
import unit_processes  # noqa: E402
from case import Case  # noqa: E402
from daemon import DEFAULTS, TREE, Daemon  # noqa: E402

SCRAPE = 5  # seconds between two scrapes; the example has 30
THOUSAND = 1_000
OTHER_SCRAPE = 30  # of the figures on paper
DAY = 86_400
WAITERS = 3
PAUSE = 0.2  # seconds for which somebody has the lock

# One of a unit has the lock nearly always, the others wait for it.
HOLDS = (TESTS / "support" / "lock_taker.py").read_text()
NAPS = "import time\nwhile True: time.sleep(1)\n"
IDLE = 20  # units of each host that only nap
# One process has a lock for good, the other is stuck.
STUCK = """
import fcntl, os, sys
book = open(sys.argv[1], "w")
fcntl.flock(book, fcntl.LOCK_EX)
read, write = os.pipe()
if os.fork() == 0:
    fcntl.flock(open(sys.argv[1]), fcntl.LOCK_EX)
os.read(read, 1)
"""


class Host:
    """A daemon, its agent, and units of its own."""

    def __init__(self, letter, central):
        self.name = f"{letter}.example:19435"
        self.slice = host.Cgroup(f"/offcpud-fleet-{os.getpid()}-{letter}.slice")
        self.others = f"/offcpud-fleet-{os.getpid()}-[^{letter}].*"
        self.cgroups, self.processes = [], []
        self.daemon = Daemon.start(**DEFAULTS)
        self.agent = prometheus_server.PrometheusServer(flags=["--enable-feature=agent"],
                                                        config=self.configuration(central))

    def configuration(self, central):
        text = (TREE / "config" / "examples" / "prometheus-agent.yaml").read_text()
        relabel = ("    metric_relabel_configs:\n"
                   f"      - {{source_labels: [cgroup], regex: '{self.others}', action: drop}}\n")
        for old, new in (("127.0.0.1:19435", f"127.0.0.1:{self.daemon.port}"),
                         ("host.example:19435", self.name),
                         ("http://127.0.0.1:9090", f"http://127.0.0.1:{central.port}"),
                         ("scrape_interval: 30s", f"scrape_interval: {SCRAPE}s"),
                         ("\nremote_write:", f"{relabel}\nremote_write:")):
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        return text

    def run(self, unit, program, *arguments, count=1):
        cgroup = host.Cgroup(f"{self.slice.path}/{unit}.service")
        self.cgroups.append(cgroup)
        for _ in range(count):
            self.processes.append(unit_processes.start(
                cgroup, [sys.executable, "-c", program, *map(str, arguments)]))

    def stop(self):
        self.agent.stop()
        self.daemon.stop()
        for process in self.processes:
            unit_processes.end(process)
        for cgroup in [*self.cgroups, self.slice]:
            cgroup.remove()


class Fleet(Case):
    settings = {}  # it has three daemons of its own
    minutes = 3

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable(), prometheus_server.missing(), store.missing())
        cls.central = store.Store()
        cls.addClassCleanup(cls.central.stop)
        until = time.monotonic() + 30
        while not cls.central.is_ready() and time.monotonic() < until:
            time.sleep(0.2)
        cls.hosts = []
        folder = tempfile.TemporaryDirectory(prefix="offcpud-fleet-")
        cls.addClassCleanup(folder.cleanup)
        for letter in "abc":
            one = Host(letter, cls.central)
            cls.hosts.append(one)
            cls.addClassCleanup(one.stop)
            cls.start_work(one, letter, Path(folder.name))
        # This store refuses queries that also ask for native histograms.
        dashboards.FOLDER = Path(folder.name) / "dashboards"
        dashboards.FOLDER.mkdir()
        subprocess.run([TREE / "config" / "grafana" / "generate", "--classic", dashboards.FOLDER], check=True)
        cls.began = time.monotonic()
        print(f"  {cls.minutes} min of scrapes, every {SCRAPE} s", flush=True)
        time.sleep(60 * cls.minutes)

    @staticmethod
    def start_work(one, letter, folder):
        for i in range(IDLE):
            one.run(f"idle-{i:02}", NAPS)
        if letter == "b":  # the same unit, which waits for nobody
            one.run("shop", NAPS, count=WAITERS)
            return
        one.run("report", HOLDS, folder / letter, PAUSE)
        one.run("shop", HOLDS, folder / letter, 0, count=WAITERS)
        if letter == "c":
            one.run("stuck", STUCK, folder / "stuck")

    @property
    def names(self):
        return {one.name for one in self.hosts}

    @staticmethod
    def panel(title, **chosen):
        """The first expression of a panel with this title."""
        for dashboard in dashboards.load():
            for panel, target in dashboards.targets(dashboard):
                if panel["title"] == title:
                    return dashboards.substituted(target["expr"], dashboards.values(dashboard, **chosen))
        raise AssertionError(f"no panel {title!r}")

    def is_sent(self, metric):
        return bool(self.central.result(f"count({metric})"))

    def test_queries_over_hosts_return_data(self):
        """Each that names a metric which the agents send."""
        asked, silent, unsent = 0, [], set()
        for dashboard in dashboards.load():
            for panel, target in dashboards.targets(dashboard):
                expr = dashboards.substituted(target["expr"], dashboards.values(dashboard))
                metrics = {metric for metric, _ in promql.selectors(expr)}
                missing = {metric for metric in metrics if not self.is_sent(metric)}
                if missing == metrics:
                    unsent |= missing
                    continue
                series, asked = self.central.result(expr), asked + 1
                if not series:
                    silent.append(f"{panel['title']}: {expr}")
                instances = {one["metric"]["instance"] for one in series if "instance" in one["metric"]}
                if not instances <= self.names:
                    silent.append(f"{panel['title']}: of {instances}")
        self.expect_at_least("queries", 70, asked)
        self.say(not silent, "queries without what they ask for", "none", silent or "none")
        # The example keeps processes on their host, and this store takes classic histograms alone.
        wrong = {name for name in unsent if not re.match(r"offcpud_(process_|\w+_seconds$)", name)}
        self.say(not wrong, "other metrics that are not sent", "none", wrong or "none")

    def test_who_waits_is_told_by_host(self):
        hosts = self.central.numbers(self.panel("Hosts"))
        self.expect_equal("hosts", len(self.hosts), list(hosts.values())[0])
        waiting = self.central.numbers(self.panel("Threads that wait, by unit and what for"),
                                       "instance", "unit", "for")
        for one in self.hosts:
            seen = waiting.get((one.name, "shop.service", "lock"), 0.0)
            expected = 0 if one.name.startswith("b.") else WAITERS
            # On a busy host those that get the lock then wait for a CPU, and others have it.
            self.expect_close(f"threads of {one.name} that wait for the lock", expected, seen, 0.3, 0.1)

    def test_which_hosts_wait_as_this_one(self):
        for like, alike in (("a", {"a", "c"}), ("c", {"a", "c"}), ("b", set())):
            name = re.escape(f"{like}.example:19435").replace("\\", "\\\\")  # as Grafana escapes it
            rows = self.central.numbers(self.panel("Hosts that wait as $like does", like=name),
                                        "instance", "unit", "for")
            seen = {instance[0] for instance, *what in rows if what == ["shop.service", "lock"]}
            self.say(seen == alike, f"hosts whose shop waits for a lock as that of {like}", alike, seen)

    def test_who_waits_for_whom(self):
        edges = self.central.numbers(self.panel("Who waits for whom"), "source", "target")
        self.expect_at_least("threads of shop that wait on report, of two hosts", 1,
                             round(edges.get(("shop.service", "report.service"), 0), 2))

    def test_what_is_stuck_is_told_by_host(self):
        ages = self.central.numbers(self.panel("Longest stall, by unit and what for"),
                                    "instance", "unit", "for")
        age = ages.get((self.hosts[2].name, "stuck.service", "lock"), 0)
        self.expect_close("age of the stall", time.monotonic() - self.began, age, 0, 3 * SCRAPE)

    def test_what_a_host_costs(self):
        """Figures, for docs/fleet.md; each is sane."""
        series = self.central.numbers('count by (instance) ({instance!=""})', "instance")
        active = self.central.numbers('count by (instance) (last_over_time({instance!=""}[1m]))', "instance")
        units = self.central.numbers("count by (instance) (offcpud_running_seconds_total)", "instance")
        sent = [dict(samples=0.0, bytes=0.0) for _ in self.hosts]
        for one, sums in zip(self.hosts, sent):
            for name, _, value in store.samples_of(one.agent.port):
                if name == "prometheus_remote_storage_samples_total":
                    sums["samples"] += value
                if name == "prometheus_remote_storage_bytes_total":
                    sums["bytes"] += value
        rows, data, index = self.central.size()
        each = max(active.values())
        wire = sum(sums["bytes"] for sums in sent) / sum(sums["samples"] for sums in sent)
        disk, per_series = data / rows, index / sum(series.values())
        print(f"  series of a host: {each:.0f}, of {max(units.values()):.0f} cgroups, most of which idle")
        print(f"  bytes of a sample: {wire:.2f} sent, {disk:.2f} on the store's disk after "
              f"{rows / sum(series.values()):.0f} samples of a series; {per_series:.0f} of one in the index")
        every = each * THOUSAND
        a_second = every / OTHER_SCRAPE
        figures = (f"{every / 1e6:.1f} million series", f"{a_second:,.0f} samples/s",
                   f"{a_second * wire / 1e6:.2f} MB/s sent", f"{a_second * disk * DAY / 1e9:.1f} GB a day",
                   f"index {per_series * every / 1e9:.1f} GB")
        print(f"  {THOUSAND} such hosts, scraped every {OTHER_SCRAPE} s: {', '.join(figures)}", flush=True)
        self.expect_at_least("series of a host", 500, each)
        self.expect_at_most("bytes of a sample that is sent", 60, round(wire, 2))
        self.expect_at_most("bytes of a sample on disk", 10, round(disk, 2))


def main():
    arguments = argparse.ArgumentParser(prog="tests/fleet/run", description=__doc__,
                                        formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--minutes", type=float, default=Fleet.minutes,
                           help="of scrapes before the questions (default: %(default)s)")
    arguments.add_argument("tests", nargs="*", help="such as Fleet.test_who_waits_for_whom; default: all")
    chosen = arguments.parse_args()
    Fleet.minutes = max(1.5, chosen.minutes)
    program = unittest.main(argv=[sys.argv[0], *chosen.tests], exit=False)
    sys.exit(0 if program.result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
