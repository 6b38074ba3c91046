# SPDX-License-Identifier: Apache-2.0
"""A stall alert of the shipped rules arrives through a real Prometheus and a real Alertmanager, and
says which unit, since when, who is to blame and what to type; the command then says the same."""

import shlex
import subprocess
import sys
import tempfile
import time
from datetime import datetime, timezone
from pathlib import Path

import alertmanager
import prometheus_server
from case import main
from daemon import BUILD, TREE
from waited_on_case import WaitedOnCase

RULES = TREE / "config" / "prometheus"
HOLD = """
import fcntl, sys, time
book = open(sys.argv[1], "w")
fcntl.flock(book, fcntl.LOCK_EX)
print("holding", flush=True)
sys.stdin.read()
"""
NAME = "OffcpudLockStalled"


def sooner(rules):
    """The same rules, without their patience: two looks at who holds the lock are over by then."""
    begin = rules.index(f"- alert: {NAME}")
    end = rules.index("- alert: ", begin + 1)
    rule = rules[begin:end]
    for old, new in ((") > 60\n", ") > 35\n"), ("for: 1m\n", "for: 4s\n")):
        assert rule.count(old) == 1, f"{old!r} in {rule}"
        rule = rule.replace(old, new)
    return rules[:begin] + rule + rules[end:]


class Arrives(WaitedOnCase):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(prometheus_server.missing(), alertmanager.missing())
        super().setUpClass()

    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-alerts-")
        self.addCleanup(folder.cleanup)
        return Path(folder.name)

    def servers(self, folder):
        receiver = alertmanager.Receiver()
        self.addCleanup(receiver.stop)
        manager = alertmanager.Alertmanager(receiver)
        self.addCleanup(manager.stop)
        self.wait_until("Alertmanager is ready", manager.is_ready)
        rules = folder / "alerts.rules.yaml"
        rules.write_text(sooner((RULES / "alerts.rules.yaml").read_text()))
        config = prometheus_server.configuration(self.daemon, [rules, RULES / "classic.rules.yaml"])
        targets = f"{{targets: ['127.0.0.1:{manager.port}']}}"
        config += f"alerting: {{alertmanagers: [{{static_configs: [{targets}]}}]}}\n"
        server = prometheus_server.PrometheusServer(config=config)
        self.addCleanup(server.stop)
        return receiver

    def test_it_says_unit_since_when_who_and_what_to_type(self):
        folder = self.folder()
        receiver = self.servers(folder)
        report, ledger = self.new_unit("report"), self.new_unit("ledger")
        book = folder / "book"
        holder = self.run_in(report, sys.executable, "-c", HOLD, book, stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline(), "holding\n")
        began = time.time()
        self.run_in(ledger, "flock", book, "true")

        def arrived(status):
            return receiver.alerts(NAME, ledger.unit, status)

        self.wait_until("the alert has arrived", lambda: arrived("firing"), 90)
        alert, = arrived("firing")
        said = alert["annotations"]
        print("".join(f"    | {name}: {text}\n" for name, text in said.items()), flush=True)
        self.say(said["summary"].startswith(f"{ledger.unit}: "), "summary", f"{ledger.unit}: ...",
                 said["summary"])
        since = datetime.strptime(said["since"][:19], "%Y-%m-%d %H:%M:%S").replace(tzinfo=timezone.utc)
        self.expect_close("since", began, since.timestamp(), tolerance=0, absolute=3)
        culprit, command = f"{report.unit} (stalled threads: 1)", f"offcpuctl why {ledger.unit}"
        self.say(said["culprit"] == culprit, "culprit", culprit, said["culprit"])
        self.say(said["command"] == command, "command", command, said["command"])
        self.say((TREE / said["runbook_url"]).is_file(), "runbook", "a file", said["runbook_url"])
        answer = self.typed(said["command"])
        self.say(report.unit in answer, "what the command says", report.unit, answer)
        holder.stdin.close()
        self.wait_until("it has arrived that it is over", lambda: arrived("resolved"), 60)
        self.expect_equal("alerts of one stall", 1, len(arrived("firing")))

    def typed(self, command):
        """What somebody reads who copies the command of the alert into a shell of the host."""
        program, *words = shlex.split(command)
        self.assertEqual(program, "offcpuctl")
        done = subprocess.run([BUILD / "bin" / program, *words, "--server", f"127.0.0.1:{self.daemon.port}"],
                              capture_output=True, text=True, timeout=60, check=True)
        return done.stdout


if __name__ == "__main__":
    main()
