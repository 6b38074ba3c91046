# SPDX-License-Identifier: Apache-2.0
"""Every switch and waking of the host, as perf records them: who had the CPU while a thread waited."""

import re
import shutil
import subprocess
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path

EVENTS = "sched:sched_switch,sched:sched_waking,sched:sched_wakeup_new"
LINE = re.compile(r"\[(\d+)\]\s+(\d+)\.(\d+):\s+sched:(\S+):\s+(.*)")
# Both forms that perf prints: the kernel's own, and that of libtraceevent's plugin.
SWITCH = re.compile(r"(?:prev_comm=)?(.*?)(?: prev_pid=|:)(\d+) .*?(?:prev_state=|\] )(\S+) ==> "
                    r"(?:next_comm=)?(.*?)(?: next_pid=|:)(\d+)")
WOKEN = re.compile(r"(?: pid=|:)(\d+)[ :]")


def unavailable():
    return None if shutil.which("perf") else "perf is not installed"


class Incomplete(Exception):
    """perf could not record every event, as on a host that is too busy."""


class SwitchRecord:
    """Records from construction to end()."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="offcpud-switches-")
        self._file = Path(self._folder.name, "perf.data")
        self._errors = Path(self._folder.name, "errors")
        self._perf = subprocess.Popen(
            ["perf", "record", "-a", "-m", "4096", "-e", EVENTS, "-k", "CLOCK_MONOTONIC",
             "-o", self._file, "sleep", "600"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 30
        while not (self._file.exists() and self._file.stat().st_size > 4096):
            if self._perf.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"perf record: {self._perf.communicate()[1]}")
            time.sleep(0.1)

    def end(self):
        """Stops recording; raises if something was lost."""
        self._perf.terminate()
        errors = self._perf.communicate()[1]
        if "lost" in errors.lower():
            raise Incomplete(errors)

    def takers(self, tid, name_of):
        """{name: seconds} of those who had the CPU while thread `tid` waited for one, from its waking
        or preemption to its switch-in; of a wait that ended on another CPU than it began on, of the
        CPU on which it ended. `name_of(pid, comm)` names a thread."""
        runs, last, takers = defaultdict(list), {}, Counter()
        since = None
        for cpu, now, event, text in self._events():
            if event != "sched_switch":
                if since is None and int(WOKEN.search(text)[1]) == tid:
                    since = now
                continue
            comm, prev, state, _, following = SWITCH.match(text).groups()
            if cpu in last:
                runs[cpu].append((last[cpu], now, name_of(int(prev), comm)))
            last[cpu] = now
            if int(prev) == tid:
                since = now if state.startswith("R") else None
            if int(following) == tid and since is not None:
                for begin, end, name in reversed(runs[cpu]):
                    if end <= since:
                        break
                    takers[name] += (min(end, now) - max(begin, since)) / 1e9
                since = None
        return takers

    def _events(self):
        errors = open(self._errors, "w", encoding="utf-8")
        script = subprocess.Popen(
            ["perf", "script", "-i", self._file, "-F", "cpu,time,event,trace", "--ns"],
            stdout=subprocess.PIPE, stderr=errors, text=True)
        for line in script.stdout:
            found = LINE.search(line)
            if found:
                yield (int(found[1]), int(found[2]) * 10**9 + int(found[3]), found[4], found[5])
        script.wait()
        errors.close()
        if "lost" in self._errors.read_text(encoding="utf-8").lower():
            raise Incomplete("perf lost events")

    def remove(self):
        if self._perf.poll() is None:
            self._perf.kill()
            self._perf.wait()
        self._folder.cleanup()
