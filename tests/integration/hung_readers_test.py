# SPDX-License-Identifier: Apache-2.0
"""Readers that hang stay for as long as the kernel likes. One user must not have all of them, however
he goes about it, and they count for the next run of the daemon, too."""

import os
import signal
import threading
import time
from pathlib import Path

from case import main
from daemon import Daemon
from hanging_programs import fresh_copy
from hangs_test import HangCase
from snapshots_test import Stacks

OTHER = ("setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups")
MOST, MOST_OF_USER = 12, 3  # HungReaders


def children(pid):
    text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return [int(child) for child in text.split()]


def stat(pid):
    """Name and state."""
    name, _, rest = Path(f"/proc/{pid}/stat").read_text().partition("(")[2].rpartition(")")
    return name, rest.split()[0]


def waiting_readers(daemon):
    found = set()
    for spawner in children(daemon.pid):
        for reader in children(spawner):
            try:
                if stat(reader) == ("offcpud-reader", "D"):
                    found.add(reader)
            except OSError:
                pass  # it has ended
    return found


class Hoard(HangCase):
    settings = {"snapshots.interval": "15s"}

    def test_one_user_does_not_have_all_readers(self):
        """Each of his programs ends as soon as somebody waits for it, so that nobody can say afterwards
        whose it was; and there is always another one."""
        known = set()
        rounds = 0
        end = time.monotonic() + 80
        while time.monotonic() < end and len(known) < MOST:
            rounds += 1
            self.attack("stack_in_a_file")
            victim = self.programs.processes[-1]
            until = time.monotonic() + 4
            profile = threading.Thread(target=self.seconds_of_a_profile)
            profile.start()
            while time.monotonic() < until:
                new = waiting_readers(self.daemon) - known
                if new:
                    known |= new
                    break
                time.sleep(0.002)
            victim.kill()
            victim.wait()
            profile.join()
        # Before anybody knew that there is something to know, one may have been nobody's.
        self.expect_at_most(f"readers that hang, of {rounds} programs", MOST_OF_USER + 1,
                            len(waiting_readers(self.daemon)))
        self.expect_others_answered()


    def test_many_programs_of_one_user_at_once(self):
        """New programs of a third user have their names, each of them with a file that nobody knows."""
        self.attack(*["stack_in_a_file", "program_on_overlay"] * 5)
        pids = set()
        for number in range(6):
            program = fresh_copy("sleeper", self.folder / f"bystander-{number}")
            process = self.programs.run(*OTHER, program, "--us", 20_000, "--count", 1_000_000)
            pids.add(process.pid)
            said = process.stdout.readline()
            self.say(said == "gate\n", "the bystander says", "gate", said)
            process.stdin.write("g")
            process.stdin.flush()
        time.sleep(1)
        for _ in range(3):
            _, answer = self.seconds_of_a_profile()
        rows = [row for row in Stacks(answer).select("workload::sleep_ns") if row["pid"] in pids]
        whole = {row["pid"] for row in rows if "main" in row["stack"]}
        self.expect_equal("bystanders with whole stacks", len(pids), len(whole))
        self.expect_at_least("times that somebody did not answer", 2, self.hung())
        self.expect_at_most("readers that hang", MOST_OF_USER + 1, len(waiting_readers(self.daemon)))


class Left(HangCase):
    settings = {}
    patience = 30

    def setUp(self):
        type(self).daemon.stop()
        self.cgroup = self.new_cgroup()
        self.start_daemon()
        super().setUp()

    def new_cgroup(self, name=None):
        self._cgroups = getattr(self, "_cgroups", 0)
        return super().new_cgroup(name)

    def start_daemon(self):
        type(self).daemon = Daemon.start(on_start=self.cgroup.enter)
        self.addCleanup(self.daemon.stop)

    def stuck(self):
        return int(self.daemon.scrape().value("offcpud_readers_stuck"))

    def members(self):
        names = []
        for pid in (self.cgroup.directory / "cgroup.procs").read_text().split():
            try:
                names.append(stat(pid)[0])
            except OSError:
                pass  # it has ended
        return sorted(names)

    def expect_stop(self):
        begin = time.monotonic()
        os.kill(self.daemon.pid, signal.SIGTERM)
        self.wait_until("it has stopped", lambda: self.daemon.poll() is not None)
        self.expect_at_most("seconds until then", 2, time.monotonic() - begin)

    def test_readers_of_an_earlier_run_count(self):
        self.attack("stack_in_a_file")
        self.wait_until("a reader hangs", lambda: self.seconds_of_a_profile() and self.stuck() > 0)
        hung = self.stuck()
        self.expect_stop()
        # What a service manager or container runtime finds that removes the cgroup.
        self.wait_until("nobody else is left", lambda: self.members() == ["offcpud-reader"] * hung)
        with self.assertRaises(OSError):
            self.cgroup.directory.rmdir()

        self.start_daemon()
        self.wait_until("the next run counts them", lambda: self.stuck() == hung)
        said = [line for line in self.daemon.log() if "of an earlier run" in line]
        self.expect_equal("lines of its log that say so", 1, len(said))
        status = self.daemon.get_json("/api/v1/status")
        self.expect_equal("in its status", hung, status["readers"]["stuck"])

        self.programs.end()
        self.wait_until("they are gone once the server is", lambda: self.stuck() == 0)
        self.say("offcpud-spawner" in self.members(), "members", "the daemon's", self.members())


if __name__ == "__main__":
    main()
