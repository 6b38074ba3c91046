# SPDX-License-Identifier: Apache-2.0
"""Snapshots where everything goes wrong: windows that turn all the time, kill -9 in the middle of a write,
disks that are full or not to be written, a clock that jumps."""

import gzip
import os
import random
import shutil
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import metric_families
from case import main
from daemon import Daemon, WORKLOADS
from exposition_test import PROTOBUF
from snapshots_test import SERVICE, SnapshotCase, Stacks, unix_time

KILLS = int(os.environ.get("OFFCPUD_KILLS", "100"))
FAILURES = "offcpud_snapshot_failures_total"
WRITTEN = "offcpud_snapshots_written_total"
FAST = {"snapshots.interval": "1s", "snapshots.stacks_per_second": "100000"}


class FaultCase(SnapshotCase):
    settings = {}  # each test starts a daemon of its own
    patience = 15

    def start_daemon(self, **settings):
        self.daemon.stop()
        type(self).daemon = Daemon.start(**{**FAST, **settings})
        self.addCleanup(self.daemon.stop)
        return self.daemon

    def value(self, name, **labels):
        return self.daemon.scrape().value(name, **labels)

    def kept(self):
        return self.daemon.get_json("/api/v1/snapshots")["snapshots"]

    def new_disk(self, mebibytes=32):
        disk = super().new_disk(mebibytes)
        self.addCleanup(lambda: self.daemon.stop())  # before the disk goes
        return disk

    def recovers(self):
        written = self.value(WRITTEN)
        self.wait_until("snapshots are written again", lambda: self.value(WRITTEN) > written + 1)
        answer = self.daemon.get_json("/api/v1/snapshots?comm=none-of-that-name")
        self.expect_equal("unreadable snapshots", 0, answer["unreadable"])


class Rotation(FaultCase):
    THREADS = 8

    def test_windows_that_turn_all_the_time(self):
        """Eight windows a second begin and end under load, and nothing falls between them."""
        self.start_daemon()
        self.wait_for_interval(0.0001)
        begin = time.time()
        workload = self.start("known_places", "--ms", 9000, "--threads", self.THREADS)
        workload.go()
        profiles, refused, askers = [], [], []

        def ask():
            try:
                profiles.append(Stacks(self.daemon.get_json(
                    "/debug/pprof/offcpu?seconds=1&format=json&reason=sleep"
                    f"&cgroup={workload.cgroup.path}")))
            except HTTPError as error:
                refused.append(error.code)

        for _ in range(44):
            askers.append(threading.Thread(target=ask))
            askers[-1].start()
            time.sleep(0.17)
        for asker in askers:
            asker.join()
        window = workload.finish()
        self.expect_nothing_lost(window)
        sleep = window.blocked("sleep")
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        self.expect_close("seconds in all snapshots (the histogram)", sleep.seconds,
                          stacks.seconds(), 0.001, absolute=0.005 * window.slack())
        self.expect_close("episodes", sleep.count, sum(row["episodes"] for row in stacks.rows),
                          0.001, absolute=window.slack())
        # Seven at a time are taken; on a busy host they overlap more.
        self.expect_at_least("profiles", 33, len(profiles))
        self.say(set(refused) <= {503}, "the others", "503", refused)
        each = [profile.seconds() for profile in profiles]
        covered = sum(profile.answer["covered_seconds"] for profile in profiles)
        self.expect_close("seconds of sleep in a second, by the profiles", sleep.seconds / 9.0,
                          sum(each) / covered, 0.1)
        self.say(min(each) > 0, "the least of a profile", "> 0", f"{min(each):.3f} .. {max(each):.3f}")
        self.expect_equal("snapshots given up", 0, self.value(FAILURES))


class Killed(FaultCase):
    def test_in_the_middle_of_a_write(self):
        """SIGKILL when a file is being written: what is there is whole, what is not goes away."""
        chance = random.Random(7)
        interrupted = 0
        with tempfile.TemporaryDirectory(prefix="offcpud-kill-") as folder:
            snapshots = Path(folder) / "snapshots"
            for _ in range(KILLS):
                daemon = self.start_daemon(state_dir=folder)
                self.say(not list(snapshots.glob("*.tmp")), "temporary files", "none", "")
                until = time.monotonic() + 3
                before = set(os.listdir(snapshots))
                while time.monotonic() < until and set(os.listdir(snapshots)) <= before:
                    time.sleep(0.0005)
                time.sleep(chance.choice((0, 0, 0.001, 0.003, 0.01, 0.3)))
                daemon.kill()
                interrupted += bool(list(snapshots.glob("*.tmp")))
                for file in set(snapshots.glob("*.pb.gz")) - {snapshots / name for name in before}:
                    gzip.decompress(file.read_bytes())  # checks length and sum
            self.start_daemon(state_dir=folder)
            answer = self.daemon.get_json("/api/v1/snapshots?comm=none-of-that-name")
            self.expect_equal("unreadable snapshots", 0, answer["unreadable"])
            self.expect_equal("files that are no snapshots", 0, answer["foreign_files"])
            self.expect_equal("temporary files", 0, len(list(snapshots.glob("*.tmp"))))
            sequences = [item["sequence"] for item in self.kept()]
            self.expect_equal("numbers that are given twice", 0, len(sequences) - len(set(sequences)))
            print(f"  {interrupted} of {KILLS} kills hit a write", flush=True)
            self.expect_at_least("kills that hit a write", KILLS // 20, interrupted)
            self.daemon.stop()


class Disks(FaultCase):
    def test_a_disk_that_is_full(self):
        disk = self.new_disk(8)
        self.start_daemon(state_dir=disk.path / "state")
        self.wait_until("two snapshots are kept", lambda: len(self.kept()) >= 2)
        filler = disk.path / "filler"

        def full():
            with filler.open("ab", buffering=0) as file:
                try:
                    while file.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            return self.value(FAILURES, cause="disk_full") > 0

        self.wait_until("the oldest go, and then new ones are given up", full, 30)
        passes = self.daemon.get_json("/api/v1/status")["passes"]
        self.wait_until("it goes on measuring",
                        lambda: self.daemon.get_json("/api/v1/status")["passes"] > passes)
        self.say(any("snapshots:" in line and "No space left" in line for line in self.daemon.log()),
                 "the log", "says so", "")
        names = os.listdir(disk.path / "state" / "snapshots")
        self.say(not any(".tmp" in name for name in names), "temporary files", "none", names)
        filler.unlink()
        self.recovers()

    def exemplar_stacks(self, cgroup):
        """The stacks that the exemplars of a cgroup's sleeps lead to."""
        url = f"http://127.0.0.1:{self.daemon.port}/metrics"
        with urllib.request.urlopen(
                urllib.request.Request(url, headers={"Accept": PROTOBUF}), timeout=30) as answer:
            family = metric_families.read(answer.read())["offcpud_blocked_seconds"]
        wanted = {("cgroup", cgroup.path), ("reason", "sleep")}
        return {labels["stack"] for key, histogram in family.series.items() if wanted <= key
                for labels, _, _ in histogram.exemplars}

    def test_a_disk_that_is_read_only(self):
        disk = self.new_disk(8)
        self.start_daemon(state_dir=disk.path / "state")
        self.wait_until("a snapshot is kept", self.kept)
        for _ in range(50):  # not while a file is open
            try:
                disk._run("mount", "-o", "remount,ro", disk.path)
                break
            except OSError:
                time.sleep(0.05)
        sleeper = self.start("sleeper", "--count", 1_000_000, "--us", 10_000)
        self.addCleanup(sleeper.process.kill)
        sleeper.go()
        self.wait_until("it is counted", lambda: self.value(FAILURES, cause="read_only") > 1)
        seen = self.value(FAILURES, cause="read_only")
        self.wait_until("two snapshots with the sleeper are given up",
                        lambda: self.value(FAILURES, cause="read_only") > seen + 2)
        _, slept = self.daemon.scrape().histogram("offcpud_blocked_seconds",
                                                  cgroup=sleeper.cgroup.path, reason="sleep")
        self.expect_at_least("seconds of its sleeps that are counted", 2, slept)
        early = self.exemplar_stacks(sleeper.cgroup)
        self.say(not early, "exemplars whose stacks are in no file", "none", early or "none")
        self.expect_at_least("kept ones that can be read", 1,
                             self.daemon.get_json("/api/v1/snapshots/merge?from=0")["snapshots"])
        disk._run("mount", "-o", "remount,rw", disk.path)
        self.recovers()
        self.wait_until("exemplars come back", lambda: self.exemplar_stacks(sleeper.cgroup))
        for stack in self.exemplar_stacks(sleeper.cgroup):
            answer = self.daemon.get_json(f"/api/v1/snapshots?stack={stack}&from=-10min")
            self.expect_at_least(f"snapshots with stack {stack}", 1, len(answer["snapshots"]))

    def test_a_directory_that_may_not_be_written(self):
        with tempfile.TemporaryDirectory(prefix="offcpud-closed-") as folder:
            shutil.chown(folder, "nobody")
            self.start_daemon(state_dir=folder, **SERVICE)
            self.wait_until("a snapshot is kept", self.kept)
            snapshots = Path(folder) / "snapshots"
            snapshots.chmod(0o500)
            self.wait_until("it is counted", lambda: self.value(FAILURES, cause="permission") > 1)
            snapshots.chmod(0o700)
            self.recovers()
            shutil.rmtree(snapshots)
            self.recovers()  # in a new one
            self.daemon.stop()


class ClockStep(FaultCase):
    def test_the_wall_clock_jumps(self):
        """An hour back and two forward: none is lost or removed for it, and their order is kept."""
        with tempfile.TemporaryDirectory(prefix="offcpud-clock-") as folder:
            offset = Path(folder) / "offset"

            def step(seconds):
                offset.with_suffix(".new").write_text(str(seconds))
                os.rename(offset.with_suffix(".new"), offset)

            step(0)
            self.start_daemon(environment={"LD_PRELOAD": str(WORKLOADS / "libstepped_clock.so"),
                                           "STEPPED_CLOCK": str(offset)},
                              **{"snapshots.keep_for": "30min"})
            self.wait_until("two snapshots are kept", lambda: len(self.kept()) >= 2)
            for seconds in (-3600, 7200, 0):
                before = [item["sequence"] for item in self.kept()]
                step(seconds)
                self.wait_until(f"three more after a step to {seconds} s",
                                lambda: len(self.kept()) >= len(before) + 3)
                kept = self.kept()
                now = [item["sequence"] for item in kept]
                self.say(now[:len(before)] == before, "the earlier ones", before, now)
                lag = time.time() + seconds - unix_time(kept[-1]["end"])
                self.expect_close("seconds since the last one ended, by that clock", 0, lag,
                                  absolute=3)
                last = self.daemon.get_json(
                    f"/api/v1/snapshots/merge?sequence={kept[-1]['sequence']}")
                self.expect_close("seconds that it covers", 1, last["covered_seconds"], absolute=0.4)
                self.say(not last["partial"], "partial", "no", last["partial"])
            self.expect_equal("failures", 0, self.value(FAILURES))
            self.daemon.stop()


if __name__ == "__main__":
    main()
