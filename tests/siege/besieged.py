# SPDX-License-Identifier: Apache-2.0
"""The daemon of a siege: with the settings that it has by default, passwords, and the unit's memory limit."""

import base64
import http.client
import json
import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import host
from daemon import DEFAULTS, TREE, Daemon, die_with_the_tester
from tls_files import bcrypt

UNIT = TREE / "systemd" / "offcpud.service.in"
COST = 10  # of a password, as Prometheus' documentation has it
MIB = 1 << 20
SCRAPER = Path(__file__).with_name("scraper.py")


def header_of(user):
    return {"Authorization": "Basic " + base64.b64encode(f"{user}:right-{user}".encode()).decode()}


def write_web_config(path, users):
    lines = [f"  {user}: {bcrypt(f'right-{user}', COST)}" for user in users]
    path.write_text("basic_auth_users:\n" + "\n".join(lines) + "\n")


class MemoryLimit:
    """As much as MemoryMax= of the unit, for what a cgroup holds, by whichever hierarchy can."""

    def __init__(self, cgroup):
        self.bytes = int(re.search(r"^MemoryMax=(\d+)M$", UNIT.read_text(), re.MULTILINE)[1]) * MIB
        v1 = Path("/sys/fs/cgroup/memory")
        if (v1 / "memory.limit_in_bytes").exists():
            self.directory = v1 / cgroup.path.replace("/", "-").lstrip("-")
            self.directory.mkdir()
            self._names = ("memory.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control")
        else:
            self.directory = cgroup.directory
            self._names = ("memory.max", "memory.peak", "memory.events")
        (self.directory / self._names[0]).write_text(str(self.bytes))

    def enter(self):
        """For a child, between fork and exec."""
        (self.directory / "cgroup.procs").write_text("0")

    def peak(self):
        """Bytes, with those of the kernel maps and of files; None before Linux 5.19."""
        file = self.directory / self._names[1]
        return int(file.read_text()) if file.exists() else None

    def killed(self):
        """Processes that the kernel has ended for memory."""
        return int(re.search(r"^oom_kill (\d+)", (self.directory / self._names[2]).read_text(),
                             re.MULTILINE)[1])


class Besieged(Daemon):
    headers = header_of("scraper")
    cut = ()  # what went wrong with requests of this class itself, which are made again then

    @classmethod
    def begin(cls, folder, cgroup, users):
        config = folder / "web.yml"
        write_web_config(config, ["scraper", *users])
        limit = MemoryLimit(cgroup)

        def enter():
            cgroup.enter()
            limit.enter()

        daemon = cls.start(on_start=enter, **DEFAULTS, **{"web.config_file": config})
        daemon.limit, daemon.cut = limit, []
        return daemon

    def get(self, path):
        for _ in range(5):
            try:
                return super().get(path)
            except (OSError, http.client.HTTPException) as error:
                self.cut.append(f"{path}: {error!r}")
        raise SystemExit(f"no answer: {self.cut[-5:]}")

    def ask(self, path, user="scraper", timeout=20):
        """Status, body and seconds of a request with a connection of its own. OSError or
        HTTPException: it was cut off."""
        begin = time.monotonic()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request("GET", path, headers=header_of(user))
            answer = connection.getresponse()
            return answer.status, answer.read(), time.monotonic() - begin
        finally:
            connection.close()

    def processes(self):
        """Its own id and those of its readers."""
        found, parents = {self.pid}, {}
        for entry in os.listdir("/proc"):  # a glob would stop at a process that ends meanwhile
            if not entry.isdigit():
                continue
            try:
                pid, _, rest = Path("/proc", entry, "stat").read_text().partition(" (")
            except OSError:
                continue
            parents[int(pid)] = int(rest.rpartition(") ")[2].split()[1])
        while more := {pid for pid, parent in parents.items() if parent in found} - found:
            found |= more
        return found

    def waited_for_cpu(self):
        """{thread: seconds} that each which makes a profile, or reads for it, waited for a CPU so far."""
        found = {}
        for pid in self.processes():
            for task in list_or_nothing(Path(f"/proc/{pid}/task")):
                try:
                    name = (task / "comm").read_text().strip()
                except OSError:
                    continue
                if name in ("offcpud-stacks", "offcpud-symbols", "offcpud-reader"):
                    if account := host.account(task):
                        found[int(task.name)] = account.run_delay_ns / 1e9
        return found

    def kernel_objects(self):
        """{(kind, id)} of the BPF programs, maps and links that it holds."""
        found = set()
        for info in Path(f"/proc/{self.pid}/fdinfo").iterdir():
            try:
                text = info.read_text()
            except OSError:
                continue  # closed meanwhile
            for kind, number in re.findall(r"^(prog|map|link)_id:\s*(\d+)", text, re.MULTILINE):
                found.add((kind, int(number)))
        return found


def list_or_nothing(directory):
    try:
        return list(directory.iterdir())
    except OSError:
        return []


def field_of(file, name):
    """Bytes of a line in kB of a file below /proc; 0 when it is gone."""
    try:
        text = file.read_text()
    except OSError:
        return 0
    found = re.search(rf"^{name}:\s*(\d+) kB", text, re.MULTILINE)
    return int(found[1]) * 1024 if found else 0


class Watch:
    """Looks at the daemon's memory every two seconds, and has it scraped every five, until `end`."""

    def __init__(self, daemon):
        self._daemon = daemon
        self._over = threading.Event()
        self.resident = []  # (time, bytes of the daemon and its readers; what they share counts once)
        self.unwatched = 0  # seconds from the last look at memory to the end
        self.scrapes, self.cut, self.slowest = 0, [], 0.0
        self._thread = threading.Thread(target=self._weigh)
        self._thread.start()
        self._scraper = subprocess.Popen(
            [sys.executable, SCRAPER, str(daemon.port), header_of("scraper")["Authorization"]],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=die_with_the_tester)

    def _weigh(self):
        while not self._over.wait(2):
            total = sum(field_of(Path(f"/proc/{pid}/smaps_rollup"), "Pss")
                        for pid in self._daemon.processes())
            self.resident.append((time.monotonic(), total))

    def most(self):
        return max((total for _, total in self.resident), default=0)

    def minutes(self):
        return (self.resident[-1][0] - self.resident[0][0]) / 60 if self.resident else 0

    def thirds(self):
        """Means of the three thirds of the time."""
        values = [total for _, total in self.resident]
        size = max(1, len(values) // 3)
        parts = values[:size], values[size:-size], values[-size:]
        return [sum(part) / max(1, len(part)) for part in parts]

    def end(self):
        self._over.set()
        self._thread.join()
        self.unwatched = time.monotonic() - (self.resident[-1][0] if self.resident else 0)
        told = json.loads(self._scraper.communicate(timeout=60)[0])
        self.scrapes, self.slowest, self.cut = told["scrapes"], told["slowest"], told["cut"]
