# SPDX-License-Identifier: Apache-2.0
"""What is done to the daemon during a siege, each by users of its own, one after the other or together."""

import itertools
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from children import Children
from daemon import WORKLOADS
from hanging_programs import HangingPrograms
from memory_fillers import MemoryFillers

WEB_FLOOD = Path(__file__).with_name("web_flood.py")
USERS = 64_100  # and those that follow: of nobody
# Of each attack at once, what is bounded is bounded so that a host of two CPUs can do its own work.
CONNECTIONS_A_SECOND, LOGINS_A_SECOND, REQUESTS_A_SECOND = 300, 200, 50
FORKS_A_SECOND, EXECS_A_SECOND, CGROUPS_A_SECOND = 100, 25, 10


class Attack:
    """Begins again `seconds` after it began, or when all of its programs have ended: `begin` starts
    it and returns what has `end()` and `processes`. OSError: this host has not what it takes."""

    def __init__(self, name, seconds, begin):
        self.name, self.seconds, self.begin = name, seconds, begin


class Programs(Children):
    """With a folder of their own, that everybody may enter."""

    def __init__(self, folder):
        super().__init__()
        self.folder = Path(tempfile.mkdtemp(prefix="attack-", dir=folder))
        self.folder.chmod(0o755)

    def end(self):
        super().end()
        shutil.rmtree(self.folder, ignore_errors=True)

    def run_workload(self, name, *arguments, user=None):
        process = self.run(*as_user(user), WORKLOADS / name, *arguments)
        if process.stdout.readline() != "gate\n":
            raise RuntimeError(f"{name} does not come to its gate")
        process.stdin.write("g")
        process.stdin.flush()

    def run_quietly(self, *command):
        self.run(*command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)


class InFolder:
    """What makes its files in a folder which goes with it."""

    def __init__(self, kind, folder, *arguments):
        self._folder = Path(tempfile.mkdtemp(prefix="attack-", dir=folder))
        self._folder.chmod(0o755)
        self._programs = kind(self._folder, *arguments)

    def begin(self, *ways):
        try:
            for way in ways:
                getattr(self._programs, way)()
        except BaseException:
            self.end()
            raise
        return self

    @property
    def processes(self):
        return self._programs.processes

    def end(self):
        self._programs.end()
        shutil.rmtree(self._folder, ignore_errors=True)


def hangs(folder, *ways):
    return lambda: InFolder(HangingPrograms, folder).begin(*ways)


def fill(folder, user):
    """A way to fill the memory, and the next one each time."""
    ways = list(MemoryFillers.WAYS)

    def begin():
        ways.append(ways.pop(0))
        return InFolder(MemoryFillers, folder, user).begin(ways[-1])

    return begin


def as_user(user):
    """What a command line begins with, so that it belongs to the user; None: to whoever runs it."""
    return ("setpriv", "--reuid", user, "--regid", user, "--clear-groups") if user else ()


def workload(folder, name, *arguments, user=None):
    def begin():
        programs = Programs(folder)
        programs.run_workload(name, *arguments, user=user)
        return programs

    return begin


def churn(folder, cgroup):
    """Other cgroups each time: a killed program leaves its last one behind."""
    names = (f"of-{number}-" for number in itertools.count())

    def begin():
        return workload(folder, "cgroup_churn", "--parent", cgroup, "--count", 100_000, "--name",
                        next(names), "--pause_us", 1_000_000 // CGROUPS_A_SECOND)()

    return begin


def command(folder, *words):
    def begin():
        programs = Programs(folder)
        programs.run_quietly(*words)
        return programs

    return begin


def flood(folder, port, kind, rate, user):
    return command(folder, sys.executable, WEB_FLOOD, kind, port, rate, user)


def all_attacks(folder, port, cgroup):
    """`folder` may be entered by everybody; `cgroup` is a directory for cgroups that come and go."""
    execs = f"while :; do /bin/true; sleep {1 / EXECS_A_SECOND}; done"
    return [
        Attack("hang: stacks in a file", 45, hangs(folder, *3 * ("stack_in_a_file",))),
        Attack("hang: program on overlayfs", 35, hangs(folder, "program_on_overlay")),
        Attack("hang: debug files", 40, hangs(folder, "debug_files")),
        Attack("hang: perf map", 50, hangs(folder, "perf_map")),
        Attack("memory: nine files in turn", 20, fill(folder, USERS + 2)),
        Attack("mappings: 2.4 million", 60, workload(
            folder, "crowded_memory", "--processes", 41, "--mappings", 60_000, "--ms", 200,
            "--seconds", 55, "--uid", USERS + 3)),
        Attack("mappings: that come and go", 60, workload(
            folder, "crowded_memory", "--processes", 2, "--mappings", 20, "--remap", 400, "--ms", 50,
            "--seconds", 55, "--uid", USERS + 4)),
        Attack("web: wrong passwords", 60, flood(folder, port, "wrong_passwords", LOGINS_A_SECOND,
                                                 USERS + 5)),
        Attack("web: connections", 60, flood(folder, port, "connections", CONNECTIONS_A_SECOND,
                                             USERS + 6)),
        Attack("web: two lengths", 60, flood(folder, port, "two_lengths", REQUESTS_A_SECOND,
                                             USERS + 7)),
        Attack("web: nonsense", 60, flood(folder, port, "nonsense", 10, USERS + 8)),
        Attack("web: readers that do not read", 60, flood(
            folder, port, "readers_that_do_not_read", 10, USERS + 9)),
        Attack("processes: forks", 60, workload(folder, "paced_forks", "--rate", FORKS_A_SECOND,
                                                "--ms", 55_000, user=USERS)),
        Attack("processes: execs", 60, command(
            folder, *as_user(USERS + 1), "sh", "-c", execs)),
        Attack("cgroups: that come and go", 60, churn(folder, cgroup)),
    ]
