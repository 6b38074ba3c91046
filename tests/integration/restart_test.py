# SPDX-License-Identifier: Apache-2.0
"""A daemon that is killed or restarted, and a host whose clock jumps."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from case import Case, main
from daemon import BLOCKED, Daemon, WORKLOADS


def programs_of(pid):
    """Ids of the BPF programs that a process holds, itself or by their links."""
    found = set()
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        found |= {int(n) for n in re.findall(r"^prog_id:\s*(\d+)", info.read_text(), re.MULTILINE)}
    return found


def programs():
    held = json.loads(subprocess.run(["bpftool", "-j", "prog", "show"], capture_output=True, text=True,
                                     check=True).stdout)
    return {p["id"] for p in held}


class Restart(Case):
    settings = {}

    def test_killed_daemon_leaves_nothing_attached(self):
        """SIGKILL: the programs go with it; the next one counts from zero, and again exactly."""
        if not shutil.which("bpftool"):
            self.skipTest("bpftool is not installed")
        victim = Daemon.start()
        own = programs_of(victim.pid)
        self.expect_at_least("programs of the daemon", 4, len(own & programs()))
        victim.kill()
        until = time.monotonic() + 10
        while own & programs() and time.monotonic() < until:
            time.sleep(0.1)
        self.say(not own & programs(), f"of its {len(own)} programs still loaded", "none",
                 sorted(own & programs()) or "none")
        cgroup = self.new_cgroup()
        subprocess.run(["sleep", "0.05"], preexec_fn=cgroup.enter, check=True)
        successor = Daemon.start()
        self.addCleanup(successor.stop)
        self.expect_equal("series of a cgroup that only its predecessor knew", 0,
                          len(successor.scrape().labels_of(cgroup.path)))
        subprocess.run(["sleep", "0.3"], preexec_fn=cgroup.enter, check=True)
        time.sleep(0.05)
        buckets, seconds = successor.scrape().histogram(BLOCKED, cgroup=cgroup.path, reason="sleep")
        self.expect_equal("sleeps that the successor saw", 1, int(sum(buckets.values())))
        self.expect_close("seconds", 0.3, seconds, 0.05, absolute=0.03)


class ClockStep(Case):
    """The wall clock of one daemon alone is moved, by a library that it is started with."""

    settings = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon.stop()
        cls.folder = tempfile.TemporaryDirectory(prefix="offcpud-clock-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.offset = Path(cls.folder.name) / "offset"
        cls.step(0)
        cls.daemon = Daemon.start(environment={
            "LD_PRELOAD": str(WORKLOADS / "libstepped_clock.so"), "STEPPED_CLOCK": str(cls.offset)},
            pass_interval="1s")
        cls.addClassCleanup(cls.daemon.stop)

    @classmethod
    def step(cls, seconds):
        fresh = cls.offset.with_suffix(".new")
        fresh.write_text(str(seconds))
        os.rename(fresh, cls.offset)

    def pass_lag(self):
        """How far the last pass is behind the true clock, in seconds."""
        return time.time() - self.daemon.scrape().value("offcpud_last_pass_timestamp_seconds")

    def test_wall_clock_that_jumps(self):
        """An hour back and two forward: timestamps follow, durations and counts do not notice."""
        self.expect_close("seconds since the last pass", 0, self.pass_lag(), absolute=2)
        for offset in (-3600, 7200, 0):
            with self.subTest(offset):
                workload = self.start("sleeper", "--count", 20, "--us", 20_000)
                workload.go()
                time.sleep(0.1)
                self.step(offset)
                self.daemon.clock_offset = offset
                window = workload.finish()
                self.expect_nothing_lost(window)
                self.expect_equal("sleeps", 20, window.blocked("sleep").count, window.slack())
                self.expect_at_most("seconds (the program's clock)", window.waits("sleep")[1],
                                    window.blocked("sleep").seconds)
                self.expect_equal("negative durations", 0, window.lost().get("negative_duration", 0))
                self.expect_close("seconds that the page's clock is off", -offset, self.pass_lag(),
                                  absolute=2)
                self.say("ready" in self.daemon.get("/-/ready").lower(), "/-/ready", "ready",
                         self.daemon.get("/-/ready").strip())


if __name__ == "__main__":
    main()
