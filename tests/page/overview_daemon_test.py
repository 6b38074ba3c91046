# SPDX-License-Identifier: Apache-2.0
"""The page `/` of a real daemon: a reader that a known sleeper keeps waiting is what it shows.

Usage: overview_daemon_test.py INTEGRATION_FOLDER; needs root, BPF and Chromium.
"""
import os
import signal
import subprocess
import sys
import time
import unittest
import urllib.parse

import browser

PAUSE = 0.2  # seconds
# One thread waits for a pipe, another sleeps before each byte, both a known time.
WORKLOAD = f"""
import os, time
read, write = os.pipe()
if os.fork() == 0:
    while True:
        time.sleep({PAUSE})
        os.write(write, b"x")
while True:
    os.read(read, 1)
"""


def seconds(text):
    number, unit = text.split()
    return float(number) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


class RealDaemon(unittest.TestCase):
    def setUp(self):
        name = f"/offcpud-page-{time.time_ns()}<b>"  # and the byte 0xff
        self.cgroup = host.Cgroup(name + "\udcff")
        self.name = name[1:] + "\ufffd"
        self.path = f"/{self.name}//{self.cgroup.directory.stat().st_ino}"
        self.addCleanup(self.cgroup.remove)
        self.workload = subprocess.Popen([sys.executable, "-c", WORKLOAD],
                                         preexec_fn=self.cgroup.enter, start_new_session=True)
        self.addCleanup(self.end_workload)
        self.daemon = daemon.Daemon.start()
        self.addCleanup(self.daemon.stop)

    def end_workload(self):
        os.killpg(self.workload.pid, signal.SIGKILL)  # it has a group of its own
        self.workload.wait()

    def cells(self, page, table, key):
        return page.value(f"""[...document.querySelectorAll('#{table} tbody tr')].filter(
          row => row.dataset.key === {key!r}).flatMap(row => [...row.cells].map(c => c.innerText))""")

    def test_the_page_shows_what_the_sleeper_does(self):
        query = urllib.parse.urlencode({"cgroup": self.path})
        page = CHROMIUM.open(f"http://127.0.0.1:{self.daemon.port}/?{query}")
        self.addCleanup(page.close)
        page.value("""(() => { const e = document.getElementById('every'); e.value = '2';
          e.dispatchEvent(new Event('change')); document.getElementById('idle').click(); })()""")
        page.wait("document.querySelector('tr[data-key=\"blocked pipe\"] svg') && "
                  "document.querySelector('tr[data-key=\"blocked sleep\"] svg') && "
                  "parseInt(document.getElementById('kept').innerText) >= 6")
        unit = self.cells(page, "units", self.path)
        pipe, sleep = (self.cells(page, "reasons", f"blocked {reason}") for reason in ("pipe", "sleep"))
        # Ratios within one run: one thread waits for the pipe, one sleeps, nearly all of the time.
        self.assertGreater(float(unit[1]), 0.8)
        self.assertLess(float(unit[1]), 1.3)
        for row in (pipe, sleep):
            self.assertGreater(float(row[1].split()[0]), 0.7)
            self.assertLessEqual(float(row[1].split()[0]), 1.02)
        self.assertIn("idle", sleep[1])
        self.assertIn("pipe", unit[4])
        # At least the pause; the upper bound of the slot of 0.2 s is 0.21 s.
        self.assertGreaterEqual(seconds(pipe[3]), PAUSE)
        self.assertLess(seconds(pipe[3]), 3 * PAUSE)
        self.assertAlmostEqual(seconds(pipe[3]), seconds(sleep[3]), delta=PAUSE / 2)
        # Six seconds or more hold one more than their pauses at their edges.
        self.assertLessEqual(float(pipe[2]), 1 / PAUSE + 1 / 6)
        self.assertEqual(unit[0], self.name + "\n" + self.path)
        self.assertIn("Live, ", page.value("document.getElementById('state').innerText"))
        self.assertEqual(page.problems(), [])


if __name__ == "__main__":
    sys.path.insert(0, sys.argv.pop(1))
    import daemon
    import host
    reason = host.unavailable()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    try:
        CHROMIUM = browser.Browser()
    except browser.Missing as missing:
        print(f"SKIP: {missing}")
        sys.exit(77)
    try:
        program = unittest.main(exit=False)
        sys.exit(0 if program.result.wasSuccessful() else 1)
    finally:
        CHROMIUM.close()
