# SPDX-License-Identifier: Apache-2.0
"""What changed: rates of two ranges against the clock of a program that waits, and units that begin or
end between them."""

import json
import os
import shlex
import signal
import sys
import tempfile
import time
import urllib.parse
from datetime import datetime
from pathlib import Path

from case import Case, main

sys.path.append(str(Path(__file__).resolve().parents[1] / "support"))
import unit_processes  # noqa: E402

# Holds a lock on a file for a tenth of the time, after SIGUSR1 for a fifth.
HOLDER = """
import fcntl, signal, sys, time
hold = 0.02
def longer(*_):
    global hold
    hold = 0.04
signal.signal(signal.SIGUSR1, longer)
file = open(sys.argv[1], "w")
while True:
    fcntl.flock(file, fcntl.LOCK_EX)
    time.sleep(hold)
    fcntl.flock(file, fcntl.LOCK_UN)
    time.sleep(0.2 - hold)
"""

# Wants the lock all the time, and writes when and for how long it waited, by its own clock.
WAITER = """
import fcntl, sys, time
file = open(sys.argv[1], "w")
with open(sys.argv[2], "w", buffering=1) as log:
    while True:
        begin = time.time()
        fcntl.flock(file, fcntl.LOCK_EX)
        end = time.time()
        fcntl.flock(file, fcntl.LOCK_UN)
        log.write(f"{begin} {end}\\n")
        time.sleep(0.005)
"""

SPINNER = "while True: pass"


class Changes(Case):
    settings = {"snapshots.interval": "2s", "snapshots.stacks_per_second": "5000", "pass_interval": "1s",
                "min_pass_interval": "100ms"}

    def unit(self, name):
        cgroup = self.new_cgroup(f"/offcpud-test-{os.getpid()}-{name}.service")
        self.addCleanup((cgroup.directory / "cgroup.kill").write_text, "1")
        return cgroup

    def run_in(self, unit, *command):
        process = unit_processes.start(unit, command)
        self.addCleanup(unit_processes.end, process)
        return process

    def pair(self, name, folder):
        """A holder and a waiter in a unit; the log of the latter."""
        unit, lock, log = self.unit(name), folder / f"{name}.lock", folder / f"{name}.log"
        holder = self.run_in(unit, "python3", "-c", HOLDER, lock)
        waiter = self.run_in(unit, "python3", "-c", WAITER, lock, log)
        # Its clock shall not measure how busy the host is.
        for process in (holder, waiter):
            os.sched_setscheduler(process.pid, os.SCHED_RR, os.sched_param(1))
        return holder, waiter, log

    @staticmethod
    def truth(log, begin, end):
        """Threads that waited on average."""
        waited = 0.0
        for line in log.read_text().splitlines()[:-1]:
            since, until = map(float, line.split())
            waited += max(0.0, min(until, end) - max(since, begin))
        return waited / (end - begin)

    def ask(self, **parameters):
        answer = self.daemon.get_json("/api/v1/changes?" + urllib.parse.urlencode(parameters))
        print("\n".join(f"       {row['unit']} {row['for']} {row['site']} {row['before']:.3f} -> "
                        f"{row['after']:.3f} +- {row['error']:.3f}" for row in answer["rows"][:6]), flush=True)
        return answer

    @staticmethod
    def instant(text):
        return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()

    def row(self, answer, unit):
        # Python waits for locks of the kernel when it starts.
        rows = [row for row in answer["rows"] if unit in row["unit"] and row["site"] == "file-lock"]
        self.assertEqual(len(rows), 1, [(row["unit"], row["for"], row["site"]) for row in rows])
        return rows[0]

    def test_twice_as_long_new_and_ended(self):
        folder = Path(tempfile.mkdtemp(prefix="offcpud-changes-"))
        self.addCleanup(lambda: [file.unlink() for file in folder.iterdir()] and folder.rmdir())
        holder, _, log = self.pair("steady", folder)
        old = self.pair("old", folder)
        time.sleep(3)
        base = time.time()
        time.sleep(12)
        change = time.time()
        holder.send_signal(signal.SIGUSR1)
        for process in old[:2]:
            unit_processes.end(process)
        time.sleep(1.5)  # the last snapshot of the earlier range may end a second after the change
        self.pair("new", folder)
        spinner = self.run_in(self.unit("spinner"), "python3", "-c", SPINNER)
        time.sleep(14)
        unit_processes.end(spinner)
        answer = self.ask(**{"from": f"{change:.3f}", "base_from": f"{base:.3f}", "limit": 1000})

        steady = self.row(answer, "steady")
        ranges = {"before": answer["base"], "after": answer}
        for which, part in ranges.items():
            truth = self.truth(log, self.instant(part["begin"]), self.instant(part["end"]))
            # The signal falls into a snapshot, which is of one side.
            self.expect_close(f"threads that wait {which}", truth, steady[which], 0.05,
                              3 * steady[which + "_error"] + 0.005)
        self.say(steady["significant"] and steady["change"] > 0, "twice as long is a change", True,
                 steady["sigma"])
        self.assertEqual(steady["site"], "file-lock")
        new, ended = self.row(answer, "new"), self.row(answer, "old")
        self.say(new["new"] and new["significant"], "a unit that began", "new", new)
        self.say(ended["after"] < 0.2 * ended["before"] and ended["significant"], "a unit that ended", "ended",
                 ended)
        ranked = [abs(row["change"]) for row in answer["rows"] if row["significant"] and row["for"] != "unknown"]
        self.assertEqual(ranked, sorted(ranked, reverse=True))
        running = [row for row in answer["running"] if "spinner" in row["unit"]]
        self.say(len(running) == 1 and running[0]["after"] > running[0]["before"] + 0.05,
                 "who uses a CPU now", "spinner", answer["running"])
        self.expect_text_with_evidence(change, base, folder)

    def expect_text_with_evidence(self, change, base, folder):
        said = self.daemon.offcpuctl("diff", "--from", f"{change:.3f}", "--base-from", f"{base:.3f}", "--for", "lock",
                                     "--cgroup", f"offcpud-test-{os.getpid()}-steady.service")
        print("\n".join(f"    | {line}" for line in said.splitlines()), flush=True)
        lines = said.splitlines()
        rows = [line for line in lines if line.startswith("offcpud-test-") and " lock " in line]
        self.assertEqual(len(rows), 1, said)
        self.assertIn("file-lock", rows[0])
        self.assertTrue(lines[-1].startswith("evidence: offcpuctl flame -o waits.html --cgroup "), said)
        words = shlex.split(lines[-1].removeprefix("evidence: offcpuctl "))
        page = folder / "waits.html"
        words[words.index("-o") + 1] = str(page)
        self.daemon.offcpuctl(*words)
        self.expect_at_least("bytes of the page that the evidence names", 100_000, page.stat().st_size)

    def test_an_idle_host_says_what_was_left_out(self):
        self.wait_until("snapshots are kept",
                        lambda: len(self.daemon.get_json("/api/v1/snapshots")["snapshots"]) > 3)
        said = self.daemon.offcpuctl("diff", "--last", "4s", "--base-from", "-8s", "--for", "stopped")
        self.assertIn("nothing waits longer or shorter than before", said)
        self.assertIn("left out as idle: work", said)

    def test_errors_can_be_acted_on(self):
        import urllib.error
        for query, status, words in (("unit=nosuch.service", 404, "belongs to a unit called"),
                                     ("base_from=-1min", 400, "use an earlier base_from"),
                                     ("from=-1h&base_from=-9d&base_to=-8d", 404, "the kept ones are from")):
            with self.assertRaises(urllib.error.HTTPError) as raised:
                self.daemon.get(f"/api/v1/changes?{query}")
            self.assertEqual(raised.exception.code, status)
            self.assertIn(words, json.loads(raised.exception.read())["error"])


if __name__ == "__main__":
    main()
