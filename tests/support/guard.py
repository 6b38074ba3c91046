# SPDX-License-Identifier: Apache-2.0
"""Takes away what a siege has made, however the siege ends, even when it is killed."""

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import host


class Guard:
    """A process that waits for the end of the one which made it, or for `release`. Then it ends every
    process in the cgroup, and removes the folder, what is mounted below it and the cgroups.
    `others` are directories of cgroups of older hierarchies."""

    def __init__(self, cgroup, folder):
        self._cgroup, self._folder = cgroup, folder
        self._others = []
        reader, self._writer = os.pipe()
        self._names, names = os.pipe()
        self._tell = names
        self._pid = os.fork()
        if self._pid == 0:
            os.close(self._writer)
            os.close(self._tell)
            os.setsid()
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            os.read(reader, 1)  # ends with the siege
            self._others = [Path(os.fsdecode(name)) for name in self._read_names()]
            self._clean()
            os._exit(0)
        os.close(reader)
        os.close(self._names)

    def add(self, directory):
        if directory:
            os.write(self._tell, os.fsencode(directory) + b"\n")

    def _read_names(self):
        data = b""
        while more := os.read(self._names, 4096):
            data += more
        return data.split()

    def release(self):
        os.close(self._tell)
        os.close(self._writer)
        os.waitpid(self._pid, 0)

    def _clean(self):
        ended = set()
        for _ in range(200):
            pids = {int(pid) for file in self._cgroup.directory.rglob("cgroup.procs")
                    for pid in read_or_nothing(file).split()}
            if not pids:
                break
            ended |= pids
            for pid in pids:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self._unmount()  # lets go of those that wait for such a mount
            time.sleep(0.05)
        for pid in ended:
            Path(f"/tmp/perf-{pid}.map").unlink(missing_ok=True)
        self._unmount()
        shutil.rmtree(self._folder, ignore_errors=True)
        for directory in [*self._others, *sorted(self._cgroup.directory.rglob("*/"), reverse=True),
                          self._cgroup.directory]:
            if directory.is_dir():
                remove_cgroup(directory)

    def _unmount(self):
        for line in Path("/proc/self/mounts").read_text().splitlines():
            point = line.split()[1]
            if point.startswith(f"{self._folder}/"):
                subprocess.run(["umount", "-l", point], check=False, stderr=subprocess.DEVNULL)


def read_or_nothing(file):
    try:
        return file.read_text()
    except OSError:
        return ""


def remove_cgroup(directory):
    for _ in range(100):
        try:
            directory.rmdir()
            return
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.02)  # the last steps of an exit


def enable_controllers(cgroup):
    """Where the v2 hierarchy has those that bound CPU time and memory, for the cgroups below."""
    for directory in (host.cgroup2_root(), cgroup.directory):
        for name in ("cpu", "memory"):
            try:
                (directory / "cgroup.subtree_control").write_text(f"+{name}")
            except OSError:
                pass  # another hierarchy has it, or nobody
