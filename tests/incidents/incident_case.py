# SPDX-License-Identifier: Apache-2.0
"""Incidents of real programs, and what a person sees who types the first command.

The daemon has its default settings. The programs run in units of their own, so the rows carry the
names that somebody on call knows. With OFFCPUD_INCIDENT_PICTURES=FOLDER the first screen of the page
and the first command's words are written there while each incident lasts (tests/incidents/pictures)."""

import os
import re
import shutil
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / name) for name in ("integration", "support")]

import host  # noqa: E402
from case import Case, main  # noqa: E402,F401
from daemon import DEFAULTS, WORKLOADS  # noqa: E402,F401
import unit_processes  # noqa: E402

SLICE = f"/offcpud-incidents-{os.getpid()}.slice"
ROWS = 5  # that a person reads before they look elsewhere
WITHIN = 15  # seconds after the incident began
HEADING = re.compile(r"^\s*(UNIT|PID)\b")
PICTURES = os.environ.get("OFFCPUD_INCIDENT_PICTURES")


class IncidentCase(Case):
    settings = dict(DEFAULTS)
    units = set()  # of all incidents so far
    began = None  # when this one did

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.folder = Path(tempfile.mkdtemp(prefix="offcpud-incidents-"))
        cls.folder.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.folder, True)
        slice_ = host.Cgroup(SLICE)
        cls.addClassCleanup(slice_.remove)
        cls.first_look = None
        if PICTURES:
            from first_look import FirstLook  # needs Chromium
            cls.first_look = FirstLook(PICTURES)
            cls.addClassCleanup(cls.first_look.close)
        # A daemon that has just started does not know yet what waits are for.
        until = time.monotonic() + 60
        while "not known" in cls.top() and time.monotonic() < until:
            time.sleep(0.5)

    def tearDown(self):
        """Programs end after this. What is skipped has no picture."""
        if self.first_look and self.has_looked:
            self.first_look.take(self.id().rsplit(".test_", 1)[1], self.daemon)
        super().tearDown()

    @classmethod
    def need(cls, package, program):
        """The program's path; the package says what to install where it is missing."""
        found = shutil.which(program)
        cls.skip_if(not found and f"{program} is not installed (Debian: {package})")
        return found

    def setUp(self):
        super().setUp()
        self.wait_until("no earlier incident is among the first rows", lambda: not any(
            unit in row for row in self.first_rows()[0] for unit in self.units), 60)
        self.has_looked = False

    def unit(self, name):
        self.units.add(f"{name}.service")
        cgroup = host.Cgroup(f"{SLICE}/{name}.service")
        self.addCleanup(cgroup.remove)
        self.addCleanup((cgroup.directory / "cgroup.kill").write_text, "1")
        return cgroup

    def run_in(self, unit, *command, on_start=None, **options):
        """Starts a program in a unit; it ends with the test, and so do its children. The last one that begins is the
        incident."""
        process = unit_processes.start(unit, command, on_start, **{"cwd": self.folder, **options})
        self.addCleanup(unit_processes.end, process)
        self.began = time.monotonic()
        return process

    def script(self, name, text):
        file = self.folder / name
        file.write_text(text)
        return file

    # --- what a person sees

    @classmethod
    def top(cls):
        return cls.daemon.offcpuctl("top", "--once")

    def first_rows(self):
        """The first rows of `offcpuctl top`, and all of its answer."""
        self.has_looked = True
        said = self.top()
        lines = said.splitlines()
        heading = next((i for i, line in enumerate(lines) if HEADING.match(line)), None)
        self.assertIsNotNone(heading, said)
        return lines[heading + 1:heading + 1 + ROWS], said

    def expect_first(self, *wanted, begin=None, within=WITHIN):
        """Each of `wanted`, words such as a unit, what it waits for and a site, is in one of the first
        rows, within so many seconds after the incident began. One space is between columns."""
        begin = begin or self.began
        while True:
            rows, said = self.first_rows()
            rows = [" ".join(row.split()) for row in rows]
            missing = [words for words in wanted
                       if not any(all(word in row for word in words) for row in rows)]
            took = time.monotonic() - begin
            if not missing or took > within:
                break
            time.sleep(0.5)
        print("\n".join(f"    | {line}" for line in said.splitlines()[:12]), flush=True)
        self.say(not missing and took <= within, f"in the first {ROWS} rows within {within} s", list(wanted),
                 f"after {took:.1f} s" + (f", without {missing}" if missing else ""))

    def expect_why(self, *steps, culprit=None, unknown=None, begin=None, within=WITHIN):
        """One of the first five lines of `offcpuctl why` has `steps`, in this order, and behind them `culprit`; or,
        with `unknown`, that who is to blame is unknown, because of that (one of several). At least one of both is
        asked for: steps alone would be there whoever is to blame."""
        self.assertTrue(culprit or unknown, "a culprit, or why nobody can know it")
        begin = begin or self.began
        reasons = (unknown,) if isinstance(unknown, str) else unknown or ()
        culprits = (culprit,) if isinstance(culprit, str) else culprit or ()

        def behind(line, words):
            """What comes behind these words, in this order; None: they are not all there."""
            for word in words:
                _, found, line = line.partition(word)
                if not found:
                    return None
            return line

        def is_told(line):
            return bool(culprits) and behind(line, (*steps, *culprits)) is not None

        def is_honest(line):
            rest = behind(line, steps) or ""
            return any(behind(rest, (known, reason)) is not None for reason in reasons
                       for known in ("unknown, because ", "not known yet, because "))

        self.has_looked = True
        while True:
            said = self.daemon.offcpuctl("why")
            first = said.splitlines()[:5]
            told = any(is_told(line) or is_honest(line) for line in first)
            took = time.monotonic() - begin
            if told or took > within:
                break
            time.sleep(0.5)
        print("\n".join(f"    | {line}" for line in first), flush=True)
        wanted = [" ... ".join((*steps, *culprits))] if culprits else []
        wanted += [" ... ".join(steps) + f" ... unknown, because {reason}" for reason in reasons]
        self.say(told and took <= within, f"in the first 5 lines of why within {within} s", " or ".join(wanted),
                 f"after {took:.1f} s")
