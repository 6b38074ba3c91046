# SPDX-License-Identifier: Apache-2.0
"""The page `/` of a real daemon, over waits whose causes are known.

Usage: overview_daemon_test.py INTEGRATION_FOLDER [--record FILE | unittest options]; needs root, BPF and Chromium.
--record FILE: writes what the daemon says of an incident, in six minutes.
"""
import os
import pathlib
import sys
import tempfile
import time
import unittest
import urllib.parse

import browser
import incident
import recording
import server

PAUSE = 0.2  # seconds
TAKER = pathlib.Path(__file__).resolve().parent.parent / "support" / "lock_taker.py"
CALM = 270  # seconds before the incident that is recorded
TROUBLE = 80


class Units:
    """Units of the host, and what runs in them, until end()."""

    def __init__(self):
        self.slice = host.Cgroup(f"/offcpud-page-{os.getpid()}.slice")
        self.cgroups, self.processes = [], []

    def unit(self, name):
        cgroup = host.Cgroup(f"{self.slice.path}/{name}.service")
        self.cgroups.append(cgroup)
        return cgroup

    def start(self, cgroup, command):
        self.processes.append(unit_processes.start(cgroup, command))

    def end(self):
        for process in self.processes:
            unit_processes.end(process)
        for cgroup in [*self.cgroups, self.slice]:
            cgroup.remove()


ROW = "[...document.querySelectorAll('#units tbody tr')].find(row => row.dataset.unit === {0!r})"


def cells(page, unit):
    return page.value(f"[...{ROW.format(unit)}.cells].map(cell => cell.innerText)")


def problems(page):
    """In the first minute no snapshot is kept yet, to which the present could be compared."""
    return [text for text in page.problems() if "status of 404" not in text]


class RealDaemon(unittest.TestCase):
    def setUp(self):
        self.units = Units()
        self.addCleanup(self.units.end)
        self.daemon = daemon.Daemon.start(**{**daemon.DEFAULTS, "snapshots.interval": "10s"})
        self.addCleanup(self.daemon.stop)

    def open(self, **query):
        page = CHROMIUM.open(f"http://127.0.0.1:{self.daemon.port}/?{urllib.parse.urlencode(query)}")
        self.addCleanup(page.close)
        page.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1, mobile=False)
        return page

    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-page-")
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def test_the_page_shows_a_wait_of_known_length(self):
        name = f"/offcpud-page-{time.time_ns()}<b>"  # and the byte 0xff
        cgroup = host.Cgroup(name + "\udcff")
        self.units.cgroups.append(cgroup)
        path = f"{name}\ufffd//{cgroup.directory.stat().st_ino}"
        book = self.folder() / "book"
        for pause in (PAUSE, 0):
            self.units.start(cgroup, [sys.executable, TAKER, str(book), str(pause)])
        page = self.open(unit=path)
        # One of two threads waits for the lock nearly all of the time. That is so once both have begun: the first wait
        # may be shorter than the others, and while the programs start both wait.
        page.wait(f"""(row => {{ const number = kind => parseFloat(row?.querySelector(kind).innerText);
          return number('.c-waiting') > 0.8 && number('.c-waiting') < 1.3 && number('.c-p99') >= {1000 * PAUSE};
          }})({ROW.format(path)})""")
        row = cells(page, path)
        # At least the pause; the upper bound of the slot of 0.2 s is 0.21 s.
        number, unit = row[4].split()
        self.assertEqual(unit, "ms")
        self.assertGreaterEqual(float(number), 1000 * PAUSE)
        self.assertLess(float(number), 3000 * PAUSE)
        self.assertTrue(row[0].startswith(path))
        # Nearly all of that time is in waits of 0.2 s, and in the picture of their lengths, too.
        page.wait("document.querySelector('#unit .heat-map path.heat')")
        page.value("document.querySelector('#unit .heat-table').open = true")
        page.wait("""[...document.querySelectorAll('#unit .heat-table tbody tr')].some(row =>
          row.innerText.startsWith('125 ms to 250 ms') && parseFloat(row.cells[1].innerText) > 0.5 &&
          row.cells[3].innerText.startsWith('lock'))""")
        self.assertIn("live, ", page.value("document.getElementById('state').innerText"))
        self.assertEqual(page.value("document.getElementById('host').innerText"), os.uname().nodename)
        self.assertEqual(problems(page), [])

    def test_the_first_screen_tells_who_waits_for_whom_in_an_incident(self):
        case = incident.Incident(self.units.unit, self.units.start, self.folder(), unit_processes.free_ports(2))
        page = self.open()
        page.wait("document.querySelector('tr[data-unit=\"web.service\"]')")
        begin = case.begin()
        page.wait("document.querySelector('#verdict .trouble') && "
                  "document.getElementById('verdict').innerText.includes('nightly-report')")
        print(f"    first told {time.time() - begin:.0f} s after the incident began:",
              page.value("document.getElementById('verdict').innerText"), flush=True)
        page.wait("""['web', 'orders-api', 'ledger'].every(name =>
          document.querySelector(`tr.trouble[data-unit="${name}.service"] .c-stuck`)?.innerText)""")
        for name, kind, culprit in (("web", "answer", "orders-api"), ("orders-api", "answer", "ledger"),
                                    ("ledger", "lock", "nightly-report")):
            row = f"tr[data-unit=\"{name}.service\"]"
            self.assertIn(culprit, page.value(f"document.querySelector('{row} .c-on').innerText"), name)
            self.assertTrue(page.value(f"document.querySelector('{row} .c-on .kind').classList.contains('{kind}')"))
            self.assertTrue(page.value(f"document.querySelector('{row} .c-stuck').innerText").startswith(
                str(incident.CLIENTS)), name)
        page.value("document.querySelector('tr[data-unit=\"web.service\"] td').click()")
        page.wait("document.querySelectorAll('#unit .chain li').length >= 4")
        names = page.value("[...document.querySelectorAll('#unit .chain .name')].map(each => each.innerText)")
        self.assertTrue(any("nightly-report" in name for name in names[3:]), names)
        page.value("document.querySelector('tr[data-unit=\"ledger.service\"] td').click()")
        page.wait("document.getElementById('unit-title').innerText === 'ledger.service'")
        page.wait("document.querySelector('#unit .stacks summary')?.innerText.startsWith('lock: file-lock')")
        line = page.value("document.querySelector('#unit .stacks summary').innerText.split('\\n')")
        self.assertGreater(float(line[1].split()[0]), 50, line)
        self.assertTrue(line[3].startswith("flock < "), line)
        page.value("document.querySelector('#unit .stacks summary').click()")
        page.wait("[...document.querySelectorAll('#unit .stack li')].some(frame => frame.innerText.includes('flock') &&"
                  " frame.innerText.endsWith('[kernel]'))")
        page.value("document.getElementById('to-graph').click()")
        page.wait("document.querySelector('#graph [data-name=\"nightly-report.service\"].cause')")
        self.assertEqual(problems(page), [])


def record(path):
    units = Units()
    shown = daemon.Daemon.start(**daemon.DEFAULTS)
    folder = tempfile.TemporaryDirectory(prefix="offcpud-page-")
    try:
        case = incident.Incident(units.unit, units.start, pathlib.Path(folder.name), unit_processes.free_ports(2))
        time.sleep(CALM)
        case.begin()
        time.sleep(TROUBLE)
        pages = server.Server(daemon.BUILD / "daemon" / "page" / "assets")
        pages.recording = recording.Recorder(shown.port)
        recording.visit(CHROMIUM, pages.address)
        pages.recording.write(path, units.slice.path, incident.UNITS)
    finally:
        shown.stop()
        units.end()
        folder.cleanup()


if __name__ == "__main__":
    folders = pathlib.Path(sys.argv.pop(1)), pathlib.Path(__file__).parents[1] / "support"
    sys.path[:0] = [str(folder) for folder in folders]
    import daemon
    import host
    import unit_processes
    reason = host.unavailable()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    with browser.opened() as CHROMIUM:
        if sys.argv[1:2] == ["--record"]:
            record(sys.argv[2])
        else:
            browser.run_tests(sys.argv[1:])
