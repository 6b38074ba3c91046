# SPDX-License-Identifier: Apache-2.0
"""What the kernel itself says about threads, switches and cgroups: the other side of every test."""

import os
import time
from dataclasses import dataclass
from pathlib import Path


def unavailable():
    """Why nothing can be measured here; empty when it can."""
    if os.geteuid() != 0:
        return "needs root: BPF programs are loaded"
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "this kernel has no type information (CONFIG_DEBUG_INFO_BTF)"
    if cgroup2_root() is None:
        return "no cgroup2 file system is mounted"
    return ""


def cgroup2_root():
    for line in Path("/proc/self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        if after.startswith("cgroup2 "):
            return Path(before.split()[4])
    return None


def init_is_guarded():
    """Whether this host hides process 1 even from root. Such hosts (some container sandboxes) also
    do not run BPF programs while a thread of process 1 is the current task, so a switch away from
    it, and a wakeup by it, is not seen: losses that no program can avoid. Only there a few
    `missed_switch` and `missed_wakeup` are allowed."""
    try:
        os.readlink("/proc/1/ns/pid")
    except PermissionError:
        return os.geteuid() == 0
    return False


def switches_of_init():
    """Context switches of the threads of process 1."""
    return sum(account.switches for account in accounts_of_process(1).values())


def switches_of_host():
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("ctxt "):
            return int(line.split()[1])
    raise RuntimeError("no ctxt in /proc/stat")


def forks():
    """Processes and threads that were started since boot."""
    for line in Path("/proc/stat").read_text().splitlines():
        if line.startswith("processes "):
            return int(line.split()[1])
    raise RuntimeError("no processes in /proc/stat")


def idle_seconds():
    """Time that all CPUs together were idle (user ticks of 10 ms)."""
    cpu = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return (int(cpu[4]) + int(cpu[5])) / os.sysconf("SC_CLK_TCK")


def stolen_seconds():
    """Time of all CPUs in interrupts and taken by a hypervisor: schedstat leaves it out of a thread's
    running time, the daemon's clock does not (user ticks of 10 ms)."""
    cpu = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    return sum(int(cpu[i]) for i in (6, 7, 8)) / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Account:
    """One thread's own bookkeeping: /proc/PID/task/TID/{status,schedstat}."""

    state: str
    voluntary: int
    involuntary: int
    run_ns: int
    run_delay_ns: int
    pcount: int

    @property
    def switches(self):
        return self.voluntary + self.involuntary


def account(task):
    """The Account of a /proc/PID/task/TID folder; None when it is gone."""
    try:
        status = dict(
            line.split(":\t", 1) for line in (task / "status").read_text().splitlines() if ":\t" in line
        )
        run, delay, pcount = (task / "schedstat").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return Account(
        status["State"][0],
        int(status["voluntary_ctxt_switches"]),
        int(status["nonvoluntary_ctxt_switches"]),
        int(run),
        int(delay),
        int(pcount),
    )


def accounts_of_process(pid):
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
    except FileNotFoundError:
        return {}
    found = {int(task.name): account(task) for task in tasks}
    return {tid: of for tid, of in found.items() if of}


def cgroups_present():
    """Those that have threads; others, as a killed test leaves them, take no place."""
    return sum(1 for file in cgroup2_root().rglob("cgroup.threads") if is_listing(file))


def is_listing(file):
    try:
        return bool(file.read_text())
    except OSError:  # it is gone
        return False


class Cgroup:
    """A cgroup of the v2 hierarchy, made on construction."""

    def __init__(self, path):
        self.path = path  # as in /proc/PID/cgroup
        self.directory = cgroup2_root() / path.lstrip("/")
        self.directory.mkdir()

    def enter(self):
        """For a child, between fork and exec."""
        (self.directory / "cgroup.procs").write_text("0")

    def accounts(self):
        """{thread id: Account} of every thread in it."""
        found = {}
        for pid in (self.directory / "cgroup.procs").read_text().split():
            found.update(accounts_of_process(int(pid)))
        return found

    def remove(self):
        for _ in range(200):
            try:
                for below in [d for d in self.directory.iterdir() if d.is_dir()]:
                    below.rmdir()
                self.directory.rmdir()
                return
            except FileNotFoundError:
                return
            except OSError:
                time.sleep(0.01)  # the last steps of an exit
        raise RuntimeError(f"cannot remove {self.directory}")


class CpuQuota:
    """CPU bandwidth control by whichever hierarchy has the cpu controller."""

    def __init__(self, name, quota_us, period_us=100_000):
        v1 = Path("/sys/fs/cgroup/cpu")
        root = cgroup2_root()
        if (v1 / "cpu.cfs_quota_us").exists() or (v1 / "cpu.shares").exists():
            self.directory = v1 / name
            self.directory.mkdir()
            (self.directory / "cpu.cfs_period_us").write_text(str(period_us))
            (self.directory / "cpu.cfs_quota_us").write_text(str(quota_us))
        elif "cpu" in (root / "cgroup.controllers").read_text().split():
            self.directory = None
            self.v2 = (quota_us, period_us)
        else:
            raise NotImplementedError("no hierarchy offers the cpu controller")

    def apply(self, cgroup):
        """To a child on its way in (v1), or to the whole cgroup (v2)."""
        if self.directory:
            (self.directory / "cgroup.procs").write_text("0")
        else:
            (cgroup.directory / "cpu.max").write_text("%d %d" % self.v2)

    def take(self, cgroup, pid):
        """A process that runs already."""
        if not self.directory:
            self.apply(cgroup)
        ((self.directory or cgroup.directory) / "cgroup.procs").write_text(str(pid))

    def give_back(self, pid):
        """To the root of the hierarchy, so that the quota can be removed."""
        root = self.directory.parent if self.directory else cgroup2_root()
        try:
            (root / "cgroup.procs").write_text(str(pid))
        except ProcessLookupError:
            pass

    def throttled_seconds(self, cgroup):
        stat = (self.directory or cgroup.directory) / "cpu.stat"
        values = dict(line.split() for line in stat.read_text().splitlines())
        if "throttled_time" in values:
            return int(values["throttled_time"]) / 1e9
        return int(values["throttled_usec"]) / 1e6

    def remove(self):
        if self.directory:
            for _ in range(200):
                try:
                    self.directory.rmdir()
                    return
                except OSError:
                    time.sleep(0.01)
