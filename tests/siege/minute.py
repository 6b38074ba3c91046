# SPDX-License-Identifier: Apache-2.0
"""What is looked at each minute of a siege."""

import http.client
import json
import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path

from besieged import MIB, field_of
from children import Children
from hanging_programs import fresh_copy
from prometheus_text import FormatError
from snapshots_test import Stacks

MOST_RESIDENT = 300 * MIB
PROFILE = "/debug/pprof/offcpu?seconds=2&format=json"
# A stack that was taken while a program that nobody had seen was read may be incomplete.
COMPLETE = 0.99
SLEEP_US = 200_000


def seconds_awake(pid):
    """How long it has run and waited for a CPU (Documentation/scheduler/sched-stats.rst)."""
    running, waiting, _ = Path(f"/proc/{pid}/schedstat").read_text().split()
    return (int(running) + int(waiting)) / 1e9


class Minute:
    HEAD = ("minute  scrape s  login s  profile s (waited)  bystander  resident  peak MiB  lost  "
            "samples  incomplete  hangs  stuck")

    def __init__(self, daemon, folder, user):
        self._daemon, self._folder, self._user = daemon, folder, user

    def look(self, promises):
        self._promises = promises
        self.login = self._log_in()
        self._take_profile()
        self._weigh()
        begin = time.monotonic()
        self._daemon.text()
        self.scrape_seconds = time.monotonic() - begin
        try:
            self.counted = self._count(self._daemon.scrape())
        except FormatError as error:
            self.counted = None
            promises.holds("a scrape that the strict parser takes", False, repr(error))
        else:
            promises.holds("a scrape that the strict parser takes", True)

    @staticmethod
    def _count(scrape):
        """What the row tells: a parsed scrape is too large to keep one for each minute."""
        stuck = [dict(labels)["thread"] for (_, labels), value in
                 scrape.families["offcpud_thread_stuck"].samples.items() if value]
        return (f"{sum(scrape.lost().values()):4.0f}  "
                f"{scrape.value('offcpud_stack_samples_total'):7.0f}  "
                f"{scrape.value('offcpud_stack_samples_incomplete_total'):10.0f}  "
                f"{scrape.value('offcpud_reader_hangs_total'):5.0f}  {','.join(stuck) or '-'}")

    def _log_in(self):
        """As a user whom the daemon does not know yet."""
        try:
            status, _, seconds = self._daemon.ask("/api/v1/status", self._user)
        except (OSError, http.client.HTTPException) as error:
            status, seconds = repr(error), 20.0
        self._promises.holds("the right password of somebody new is taken", status == 200, status)
        self._promises.at_most("until it is", 2, seconds, " s")
        return seconds

    def _take_profile(self):
        """Beside a program that starts now, and that the daemon has never seen."""
        bystander = Children()
        place = Path(tempfile.mkdtemp(prefix="bystander-", dir=self._folder))
        try:
            program = bystander.run(fresh_copy("sleeper", place / "bystander"), "--us",
                                    SLEEP_US, "--count", 1_000)
            program.stdout.readline()
            program.stdin.write("g")
            program.stdin.flush()
            time.sleep(1)
            self._judge_profile(program.pid)
        finally:
            bystander.end()
            shutil.rmtree(place)

    def _judge_profile(self, pid):
        before, self.profile, self.whole, answer = self._daemon.waited_for_cpu(), 20.0, 0.0, None
        self.seconds_seen = self.error = 0.0  # of the bystander: asleep, running and waiting for a CPU
        awake = seconds_awake(pid)
        try:
            status, body, self.profile = self._daemon.ask(PROFILE)
            answer = json.loads(body) if status == 200 else None
        except (OSError, http.client.HTTPException, ValueError) as error:
            status = repr(error)
        after = self._daemon.waited_for_cpu()
        awake = seconds_awake(pid) - awake
        self.waited = sum(seconds - before.get(tid, 0.0) for tid, seconds in after.items())
        self._promises.holds("a profile of 2 s is answered", answer is not None, status)
        # What its threads and readers waited for a CPU that others had is not its own.
        self._promises.at_most("until it is, without waits for a CPU", 4, self.profile - self.waited,
                               " s", f"{self.profile:.2f} s with them")
        if answer is None:
            return
        stacks = Stacks(answer)
        rows = stacks.select(pid=pid, reason="sleep")
        total = sum(row["ns"] for row in rows)
        self.seconds_seen, self.error = total / 1e9 + awake, stacks.error(pid=pid, reason="sleep")
        whole = sum(row["ns"] for row in rows if {"main", "workload::sleep_ns"} <= set(row["stack"]))
        self.whole = whole / total if total else 0.0
        roots = Counter(row["stack"][0] for row in rows)
        self._promises.at_least("of it with whole stacks", COMPLETE, self.whole,
                                note="" if self.whole >= COMPLETE else f"roots {dict(roots)}")

    def _weigh(self):
        status = [Path(f"/proc/{pid}/status") for pid in self._daemon.processes()]
        self.resident = sum(field_of(Path(f"/proc/{pid}/smaps_rollup"), "Pss")
                            for pid in self._daemon.processes())
        self.peak = field_of(Path(f"/proc/{self._daemon.pid}/status"), "VmHWM")
        self.readers_peak = max((field_of(file, "VmHWM") for file in status
                                 if file.parent.name != str(self._daemon.pid)), default=0)
        self._promises.at_most("peak of the daemon's resident memory", MOST_RESIDENT / MIB,
                               self.peak / MIB, " MiB")
        self._promises.at_most("resident, with its readers", MOST_RESIDENT / MIB, self.resident / MIB,
                               " MiB")

    def row(self, number):
        if self.counted is None:
            return f"{number:6d}  no scrape"
        return (f"{number:6d}  {self.scrape_seconds:8.2f}  {self.login:7.2f}  {self.profile:9.2f} "
                f"({self.waited:6.2f})  {self.whole:9.3f}  {self.resident / MIB:8.1f}  "
                f"{self.peak / MIB:8.1f}  {self.counted}")
