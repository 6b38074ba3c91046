# SPDX-License-Identifier: Apache-2.0
"""Who holds the locks for which threads wait, and which threads are in a deadlock."""

import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from case import main, slow
from daemon import WORKLOADS
from waited_on_case import WaitedOnCase

class Holders(WaitedOnCase):
    settings = {**WaitedOnCase.settings, "stalls.threshold": "1s"}

    def stalls(self, cgroup):
        answer = self.daemon.get_json_as_root(f"/api/v1/stalls?cgroup={cgroup.path}")["stalls"]
        return [stall for stall in answer if stall["state"] == "in_progress"]

    def first_line(self, unit):
        """Of `offcpuctl why`; empty while the unit is not known yet."""
        try:
            return self.daemon.offcpuctl("why", unit.unit).splitlines()[0]
        except subprocess.CalledProcessError:
            return ""

    def waiters(self, cgroup, comm="lock-waiter"):
        return [stall for stall in self.stalls(cgroup) if stall["comm"] == comm]

    def held(self, cgroup, comm="lock-waiter"):
        """Who holds the locks of these threads; None for whom nobody knows it."""
        return [stall.get("held_by") for stall in self.waiters(cgroup, comm)]

    def begin(self, unit, *arguments):
        program = self.run_in(unit, WORKLOADS / "held", *arguments, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "waiting\n")
        return program

    def all_know(self, unit, comm="lock-waiter", waiters=3):
        def know():
            held = self.held(unit, comm)
            return len(held) == waiters and all(held)
        self.wait_until(f"all {waiters} waiters know the holder", know, 40)
        return self.held(unit, comm)

    def locked(self, kind, lock, command=()):
        unit = self.new_unit("lock")
        program = self.begin(unit, "--kind", kind, "--ms", 60_000)
        for holder in self.all_know(unit):
            self.say(holder["lock"] == lock, "lock", lock, holder["lock"])
            self.say(holder["process"] == "held" and holder["pid"] == program.pid, "process",
                     f"held[{program.pid}]", f"{holder['process']}[{holder['pid']}]")
            self.say(holder["comm"] == "lock-holder", "thread", "lock-holder", holder["comm"])
            self.say(holder["deadlock"] is False, "deadlock", False, holder["deadlock"])
        return unit, program

    def test_mutexes_in_all_their_types(self):
        for kind in ("mutex", "recursive", "errorcheck", "adaptive", "std"):
            self.locked(kind, "mutex")

    @slow
    def test_robust_mutex(self):
        self.locked("robust", "robust_mutex")

    @slow
    def test_priority_inheriting_mutex(self):
        self.locked("pi", "pi_mutex")

    def test_read_write_lock(self):
        self.locked("rwlock", "rwlock")

    def test_readers_of_a_read_write_lock(self):
        """One writer waits until they are gone, others wait for that writer."""
        for waiters in (1, 2):
            unit = self.new_unit("readers")
            self.begin(unit, "--kind", "rwlock_readers", "--ms", 60_000, "--waiters", waiters)
            self.expect_nobody_told(unit, "mutex", "readers have it, of whom no name is kept",
                                    waiters=waiters)

    def file_lock(self, kind):
        unit = self.new_unit("file")
        self.begin(unit, "--kind", kind, "--ms", 60_000, "--waiters", 1)
        holder = self.all_know(unit, waiters=1)[0]
        self.say(holder["lock"] == "file_lock", "lock", "file_lock", holder["lock"])
        self.say(holder["process"] == "lock-holder", "process", "lock-holder", holder["process"])
        self.say(holder["tid"] is None and holder["comm"] is None, "it is the process's", (None, None),
                 (holder["tid"], holder["comm"]))

    def test_flock(self):
        self.file_lock("flock")

    def test_fcntl(self):
        self.file_lock("fcntl")

    def test_lock_of_an_open_file(self):
        """It belongs to no process, but the kernel notes who took it."""
        self.file_lock("ofd")

    def expect_nobody(self, kind, site, because):
        unit = self.new_unit(kind)
        self.begin(unit, "--kind", kind, "--ms", 60_000, "--waiters", 1)
        self.expect_nobody_told(unit, site, because)

    def expect_nobody_told(self, unit, site, because, waiters=1):
        self.wait_until("the first line says why nobody is named", lambda: because in self.first_line(unit), 40)
        print(f"    | {self.first_line(unit)}", flush=True)
        # `why` sums what was seen until now; who waits is a stall from the next look on.
        self.wait_until("the stall is told", lambda: len(self.waiters(unit)) == waiters, 40)
        waits = self.waiters(unit)
        self.say([(stall["for"], stall["site"], stall.get("held_by")) for stall in waits]
                 == [("lock", site, None)] * waiters, "the stall", ("lock", site, None), waits)

    def test_read_locks_of_two_processes(self):
        self.expect_nobody("shared", "file-lock", "no process alone has the locks on that file")

    def test_lease(self):
        """Who opens the file waits until the lease is given back, or 45 s."""
        self.expect_nobody("lease", "file-lease", "nobody can see who holds a lock of its kind")

    def begin_in_kernel(self, unit, kind, *arguments):
        if not self.daemon_knows_blockers():
            self.skipTest("this kernel does not say for which of its locks a thread waits")
        program = self.run_in(unit, WORKLOADS / "held", "--kind", kind, "--ms", 60_000, *arguments,
                              stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        if program.stdout.readline() != "waiting\n" and program.wait() == 77:
            self.skipTest("this host has no userfaultfd, or no terminals")
        return program

    @staticmethod
    def thread_of(program, name):
        return next(int(task.name) for task in Path(f"/proc/{program.pid}/task").iterdir()
                    if (task / "comm").read_text() == f"{name}\n")

    def kernel_lock(self, kind, lock):
        unit = self.new_unit(kind)
        program = self.begin_in_kernel(unit, kind)
        holder = self.all_know(unit, waiters=1)[0]
        wanted = (lock, "lock-holder", self.thread_of(program, "lock-holder"), program.pid)
        seen = tuple(holder[name] for name in ("lock", "comm", "tid", "pid"))
        self.say(seen == wanted, "lock and holder", wanted, seen)
        return unit

    def test_mutex_of_a_pipe(self):
        self.kernel_lock("pipe", "kernel_mutex")

    def test_mutex_of_a_terminal_with_two_readers(self):
        """The first one sleeps with it until there is input; why says that it is the reader that others wait for."""
        unit = self.kernel_lock("pty", "kernel_mutex")
        self.wait_until("why names the first reader",
                        lambda: "that thread lock-holder (tid" in self.first_line(unit), 40)
        print(f"    | {self.first_line(unit)}", flush=True)

    def test_semaphore_of_a_writer(self):
        self.kernel_lock("rwsem", "kernel_rwsem")

    def test_semaphore_of_readers(self):
        """The kernel knows one of them at best, so nobody is named."""
        folder = tempfile.TemporaryDirectory(prefix="offcpud-holders-")
        self.addCleanup(folder.cleanup)
        unit = self.new_unit("readers")
        self.begin_in_kernel(unit, "rwsem_readers", "--path", folder.name)
        self.expect_nobody_told(unit, "kernel-lock", "readers have it, of whom no name is kept")

    @staticmethod
    def daemon_knows_blockers():
        types = subprocess.run(["bpftool", "btf", "dump", "file", "/sys/kernel/btf/vmlinux", "format", "c"],
                               capture_output=True, text=True, check=False).stdout
        return "long unsigned int blocker;" in types

    @slow
    def test_in_a_pid_namespace(self):
        """There the numbers in locks are others."""
        unit = self.new_unit("inner")
        program = self.run_in(unit, "unshare", "--pid", "--fork", "--mount-proc", WORKLOADS / "held",
                              "--ms", 60_000, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "waiting\n")
        for holder in self.all_know(unit):
            self.say(holder["comm"] == "lock-holder", "thread", "lock-holder", holder["comm"])

    @slow
    def test_many_in_turn_have_none(self):
        """Tens of thousands of waits for a lock that always somebody holds: nobody holds it for long."""
        self.in_turn(6, 500)

    @slow
    def test_many_in_turn_have_none_however_long_each_waits(self):
        """60 threads have the lock for 20 ms each, so each waits for more than a second."""
        self.in_turn(60, 20_000)

    def in_turn(self, threads, hold_us):
        unit = self.new_unit("convoy")
        program = self.start("convoy", "--threads", threads, "--ms", 15_000, "--hold_us", hold_us,
                             cgroup=unit)
        program.go()
        until = time.monotonic() + 14
        looks = 0
        reasons = Counter()
        while time.monotonic() < until:
            told = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}")
            holders = [cause.get("holder") for tree in told["units"] for top in tree["causes"]
                       for cause in top["parts"]]
            self.assertEqual([holder for holder in holders if holder], [])
            convoys = [top for tree in told["units"] for top in tree["causes"]
                       if top["for"] == "lock" and top["threads"] > 1]
            looks += bool(convoys)
            reasons.update(part["because"] for top in convoys for part in top["parts"])
            time.sleep(0.5)
        self.expect_at_least("looks at threads that wait for a lock", 10, looks)
        in_turn = sum(count for reason, count in reasons.items() if "held by many in turn: " in (reason or ""))
        print(f"  why nobody is named: {dict(reasons)}", flush=True)
        self.expect_at_least("of these, looks that say why nobody is named", 0.8 * looks, in_turn)
        program.finish()

    def deadlock(self, members):
        unit = self.new_unit(f"ring{members}")
        program = self.begin(unit, "--ring", members, "--ms", 60_000)
        labels = {"cgroup": unit.path}
        self.wait_until("the metric has them all", lambda: self.daemon.scrape().value(
            "offcpud_deadlocked_threads", **labels) == members, 40)
        stalls = self.stalls(unit)
        self.expect_equal("stalls", members, len(stalls))
        for stall in stalls:
            following = f"ring-{(int(stall['comm'].removeprefix('ring-')) + 1) % members}"
            holder = stall["held_by"]
            self.say(holder["deadlock"] and holder["comm"] == following, f"{stall['comm']} waits for",
                     f"{following}, a deadlock", holder)
        said = [line for line in self.daemon.log() if "deadlock of" in line and unit.path in line]
        self.say(len(said) == 1 and f"deadlock of {members} threads" in said[0], "the log", "one line", said)
        first = self.first_line(unit)
        self.say("a deadlock" in first, "first line of offcpuctl why", "... a deadlock ...", first)
        program.kill()
        self.wait_until("it has ended", lambda: self.daemon.scrape().value(
            "offcpud_deadlocked_threads", **labels) == 0, 40)

    @slow
    def test_deadlock_of_two(self):
        self.deadlock(2)

    def test_deadlock_of_three(self):
        self.deadlock(3)

    def test_why_names_the_holder_and_what_it_does(self):
        unit, _ = self.locked("mutex", "mutex")
        def sentence():
            return self.first_line(unit)
        self.wait_until("why names the holder", lambda: "thread lock-holder (tid" in sentence(), 40)
        for words in ("wait for a lock", "(mutex) that thread lock-holder (tid", "of held, pid", "; that thread sleeps"):
            self.say(words in sentence(), "first line of offcpuctl why", words, sentence())

        def stack():
            return [line for line in self.daemon.offcpuctl("why", "-v", unit.unit).splitlines()
                    if "pthread_mutex_lock" in line]
        self.wait_until("why -v shows the stack of the waits", stack)
        self.say(" s  lock: mutex" in stack()[0], "its line", "... s  lock: mutex ...", stack()[0])

        def own():
            answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}&window=3s")
            lock = next(cause for cause in answer["units"][0]["causes"] if cause["for"] == "lock")
            return next(part for part in lock["parts"] if part["kind"] == "self")
        self.wait_until("all the time of three threads is on their own unit",
                        lambda: abs(own()["threads"] - 3) < 0.1, 40)
        held_by = own()["holder"]
        self.say(held_by["thread"] == "lock-holder" and held_by["waiting"] == 3, "holder",
                 "lock-holder, for 3 threads", held_by)

    def since_when(self, does, deed, *options):
        """The age of what the holder does, by `why` and by each stall, is that of the program's own clock."""
        unit = self.new_unit(does)
        since = float(self.begin(unit, "--ms", 60_000, *options).stdout.readline())

        def told():
            """(the least and the most that the program says, what the daemon says)"""
            begin = time.monotonic() - since
            held = [held for held in self.held(unit) if held and held["does"] == does]
            answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}&window=3s")
            held += [part["holder"] for top in answer["units"][0]["causes"] for part in top["parts"]
                     if part["holder"] and part["holder"]["does"] == does]
            return begin, time.monotonic() - since, [holder["does_seconds"] for holder in held]
        self.wait_until(f"three stalls and why say that the holder {does}", lambda: len(told()[2]) > 3, 40)
        time.sleep(2)
        begin, end, ages = told()
        for age in ages:
            self.say(age is not None and begin - 1 < age < end + 1, f"the holder {does} for",
                     f"{begin:.2f} to {end:.2f} s ± 1 s", age)
        self.say(f"; that thread {deed}, for " in self.first_line(unit), "first line of offcpuctl why",
                 f"... that thread {deed}, for ...", self.first_line(unit))

    def test_since_when_the_holder_sleeps(self):
        self.since_when("waits", "sleeps")

    def test_since_when_the_holder_runs(self):
        """Not only since another thread had its CPU for a moment."""
        self.since_when("runs", "runs or waits for a CPU", "--burn", 1)

    def test_a_lock_between_units(self):
        """A backup holds the lock on a file that a service wants."""
        backup, service = self.new_unit("backup"), self.new_unit("service")
        hold = ("import fcntl, sys, time\nfile = open(sys.argv[1], 'w')\nfcntl.flock(file, fcntl.LOCK_EX)\n"
                "print('holding', flush=True)\ntime.sleep(60)\n")
        folder = tempfile.TemporaryDirectory(prefix="offcpud-holders-")
        self.addCleanup(folder.cleanup)
        path = f"{folder.name}/lock"
        holder = self.run_in(backup, sys.executable, "-c", hold, path, stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline(), "holding\n")
        self.run_in(service, "flock", path, "true")
        def sentence():
            return self.first_line(service)
        self.wait_until("why names the backup", lambda: backup.unit in sentence(), 40)
        self.say("(lock on a file) that process" in sentence(), "first line of offcpuctl why",
                 "... for a lock (lock on a file) that process ...", sentence())


if __name__ == "__main__":
    main()
