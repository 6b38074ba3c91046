# SPDX-License-Identifier: Apache-2.0
"""An idle host for an hour, and whether the daemon says that nobody waits.

Starts the programs of services.py, each in a unit of its own, with a trickle of work; a daemon with the
settings that it has by default; and a Prometheus with the alerts that are shipped. Looks every ten
seconds. At the end somebody does wait, for a lock, to show that it would have been seen.

Needs root, and a built tree: $OFFCPUD_BUILD, by default that of tests/run, build-test/plain. Exit status:
0 nobody was said to wait, 1 somebody was, or a program or the daemon did not work, 77 nothing can be
measured here.
"""
import argparse
import json
import os
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("integration", "support")]
import host  # noqa: E402
import prometheus_server  # noqa: E402
import report  # noqa: E402
import unit_processes  # noqa: E402
from daemon import DEFAULTS, TREE, Daemon  # noqa: E402
from guard import Guard  # noqa: E402
from looks import Looks  # noqa: E402
from promises import Promises  # noqa: E402
from services import Services  # noqa: E402

EVERY = 10  # seconds from look to look
# Seconds in which programs may do what they do when they start, and the means of top and page forget it.
SETTLE = 90
CONTROL = 180  # seconds within which the wait at the end is seen by everybody


def options():
    parser = argparse.ArgumentParser(prog="tests/idle/run", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minutes", type=float, nargs="?", default=60, help="how long (default: 60)")
    parser.add_argument("--shared", action="store_true",
                        help="the host has other work: judge only the programs that this starts")
    parser.add_argument("--keep", type=Path, metavar="FOLDER",
                        help="where findings, the daemon's log and its snapshots are kept")
    return parser.parse_args()


class IdleHour:
    def __init__(self, arguments):
        self.arguments = arguments
        self.promises = Promises()
        self.folder = Path(tempfile.mkdtemp(prefix="offcpud-idle-"))
        self.folder.chmod(0o755)
        tempfile.tempdir = str(self.folder)  # also of what others make, so that the guard removes it
        self.slice = host.Cgroup(f"/offcpud_idle_{os.getpid()}.slice")
        self.guard = Guard(self.slice, self.folder)
        self.services = Services(self.slice.path, self.folder)
        self.answers = self.folder / "answers"
        self.answers.touch()

    def run(self):
        self.start_programs()
        state = self.folder / "state"
        state.mkdir()
        self.daemon = Daemon.start(on_start=self.services.unit("offcpud").enter, state_dir=state, **DEFAULTS)
        self.prometheus = prometheus_server.PrometheusServer(
            config=self.prometheus_config(), on_start=self.services.unit("prometheus").enter)
        self.services.check("prometheus", "", url=f"http://127.0.0.1:{self.prometheus.port}/-/healthy")
        self.prometheus.wait_for(lambda: self.prometheus.ask("query", query="up")["result"] or None)
        self.start_health(len(self.services.checks))
        print(f"everything answers; {SETTLE} s to settle", flush=True)
        time.sleep(SETTLE)
        looks = self.watch()
        own = {cgroup for cgroup in self.last.cgroups() if cgroup.startswith(self.slice.path)}
        report.judge_identity(self.promises, (self.first, self.first_late, self.last, self.last_late), own)
        report.judge_time(self.promises, self.first, self.last, self.slice.path)
        report.print_findings(looks)
        report.judge_programs(self.promises, self.services, self.answers, self.begin, self.end)
        report.judge_sight(self.promises, looks, self.services, self.first, self.last)
        self.judge_prometheus(looks)
        report.judge_findings(self.promises, looks, self.arguments.shared)
        self.control()
        if self.arguments.keep:
            self.keep(looks)

    def start_programs(self):
        print("starting the programs", flush=True)
        self.services.start_all()

    def start_health(self, count):
        """The health checks, until each program has answered."""
        checks = self.folder / "checks.json"
        checks.write_text(json.dumps(self.services.checks))
        self.services.start_health(checks, self.answers)

        def answered():
            lines = [json.loads(line) for line in self.answers.read_text().splitlines()]
            return len({line["name"] for line in lines if line["ok"]}) == count

        try:
            self.services.wait_until("every program answers", answered, seconds=180)
        except SystemExit:
            for line in self.answers.read_text().splitlines()[-2 * count:]:
                print(line)
            raise

    def prometheus_config(self):
        """The example that is shipped, of this daemon, with the other programs."""
        text = (TREE / "config" / "examples" / "prometheus.yaml").read_text()
        text = text.replace("../prometheus/", f"{TREE}/config/prometheus/")
        text = text.replace("127.0.0.1:19435", f"127.0.0.1:{self.daemon.port}")
        for name, port in self.services.targets.items():
            text += f"  - {{job_name: {name}, static_configs: [{{targets: ['127.0.0.1:{port}']}}]}}\n"
        return text + (f"alerting: {{alertmanagers: [{{static_configs: [{{targets: "
                       f"['127.0.0.1:{self.services.targets['alertmanager']}']}}]}}]}}\n")

    def watch(self):
        self.first = self.daemon.scrape()
        self.first_late = self.page_later()
        self.begin = time.time()
        looks = Looks(self.daemon, self.prometheus, self.slice.path, self.arguments.shared)
        seconds = self.arguments.minutes * 60
        print(f"looking every {EVERY} s for {seconds:.0f} s", flush=True)
        while time.time() < self.begin + seconds:
            looks.look()
            if looks.looks % 6 == 0:
                print(f"{looks.looks} looks: {len(looks.stalls)} stalls, {len(looks.alerts)} alerts, "
                      f"{sum(one.looks for one in looks.rows.values())} rows that wait", flush=True)
            time.sleep(max(0, self.begin + EVERY * looks.looks - time.time()))
        self.end, self.last = time.time(), self.daemon.scrape()
        self.last_late = self.page_later()
        return looks

    def page_later(self):
        time.sleep(report.LATE)
        return self.daemon.scrape()

    def judge_prometheus(self, looks):
        minutes = max(1, int((self.end - self.begin) / 60))
        for job in ("offcpud", *self.services.targets):
            up = self.prometheus.number(f'min_over_time(up{{job="{job}"}}[{minutes}m])')
            self.promises.holds("every scrape of Prometheus was answered", up == 1, job)
        count = self.prometheus.number(f'count_over_time(up{{job="offcpud"}}[{minutes}m])')
        self.promises.at_least("scrapes of the daemon", 2 * minutes - 2, count)
        fired = self.prometheus.ask(
            "query", query=f'count_over_time(ALERTS{{alertstate="firing"}}[{minutes}m])')["result"]
        fired = [series["metric"] for series in fired if looks.is_own_alert(series["metric"])]
        self.promises.at_most("alerts that Prometheus has on record", 0, len(fired), note=f"{fired or ''}")
        missing = self.prometheus.number("instance:offcpud_wait_seconds:missing_ratio_rate1h")
        self.promises.at_most("blocked time that is in no `for`, of all", report.MISSING, abs(missing))
        rules = [rule for group in self.prometheus.ask("rules")["groups"] for rule in group["rules"]]
        self.promises.at_least("rules that alert", 20, sum(rule["type"] == "alerting" for rule in rules))
        self.promises.holds("every rule is evaluated", all(rule["health"] == "ok" for rule in rules),
                            [rule["name"] for rule in rules if rule["health"] != "ok"])

    def control(self):
        """Somebody waits for a lock: what said nothing all the time has to say so now."""
        print("\nnow somebody waits for a lock", flush=True)
        unit, lock = self.services.unit("control"), self.folder / "lock"
        holder = unit_processes.start(unit, ["flock", lock, "sleep", 2 * CONTROL])
        time.sleep(1)
        waiter = unit_processes.start(unit, ["flock", lock, "true"])
        looks = Looks(self.daemon, self.prometheus, self.slice.path, self.arguments.shared)
        missing = ["stall", "top", "page", "alert"]
        until = time.monotonic() + CONTROL
        while missing and time.monotonic() < until:
            time.sleep(EVERY)
            looks.look()
            stalls = [stall for stall in looks.stalls.values() if stall["pid"] == waiter.pid]
            alerts = [alert for alert in (*looks.alerts.values(), *looks.pending.values())
                      if (alert["labels"]["alertname"], alert["labels"].get("unit")) ==
                      ("OffcpudLockStalled", "control.service")]
            rows = {key[0] for key in looks.rows if key[1] == "control.service" and key[3] == "lock"}
            missing = [name for name, seen in (("stall", stalls), ("top", "top" in rows),
                                               ("page", "page" in rows), ("alert", alerts)) if not seen]
        self.promises.holds("a wait for a lock is seen by stalls, top, page and alerts", not missing, missing)
        unit_processes.end(waiter)
        unit_processes.end(holder)

    def keep(self, looks):
        self.arguments.keep.mkdir(parents=True, exist_ok=True)
        findings = {"stalls": list(looks.stalls.values()), "unusual": list(looks.unusual.values()),
                    "alerts": list(looks.alerts.values()),
                    "pending": list(looks.pending.values()),
                    "of_others": list(looks.of_others.values()), "words": looks.words,
                    "rows": {" ".join(key): found.rows for key, found in looks.rows.items()}}
        (self.arguments.keep / "findings.json").write_text(json.dumps(findings, indent=1))
        shutil.copyfile(self.daemon.log_path, self.arguments.keep / "daemon.log")
        shutil.copyfile(self.answers, self.arguments.keep / "answers.json")
        shutil.copytree(self.folder / "state", self.arguments.keep / "state", dirs_exist_ok=True)

    def verdict(self):
        print("\n" + self.promises.table())
        if broken := self.promises.broken:
            print(f"\n{len(broken)} promises were NOT KEPT")
            return 1
        print("\nnobody was said to wait, and every program was well")
        return 0


def main():
    arguments = options()
    if reason := host.unavailable() or prometheus_server.missing():
        print(f"SKIP: {reason}")
        return 77
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(130))
    hour = IdleHour(arguments)
    try:
        hour.run()
        return hour.verdict()
    finally:
        hour.guard.release()


if __name__ == "__main__":
    sys.exit(main())
