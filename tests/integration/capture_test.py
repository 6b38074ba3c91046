# SPDX-License-Identifier: Apache-2.0
"""What goes into snapshots by the options of the configuration, and what does not; and what threads that
slept before the daemon leave behind."""

import os
import signal
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from case import Case, main
from daemon import Daemon
from snapshots_test import SnapshotCase, Stacks

NARROWED = """
snapshots:
  interval: 1s
  stacks_per_second: 100000
  reasons: [sleep]
  cgroups:
    - {cgroup: /offcpud-test-.*-excluded, keep: false}
  min_duration: 5ms
  max_duration: 2s
  kernel_threads: false
  states: [interruptible]
"""
OPEN = "snapshots: {interval: 1s, stacks_per_second: 100000}\n"

LOST = "[samples that found no room]"


class Capture(SnapshotCase):
    settings = {}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.daemon.stop()
        folder = tempfile.TemporaryDirectory(prefix="offcpud-capture-")
        cls.addClassCleanup(folder.cleanup)
        cls.file = Path(folder.name) / "offcpud.yaml"
        cls.file.write_text(NARROWED)
        cls.daemon = Daemon.start(config=cls.file)
        cls.addClassCleanup(cls.daemon.stop)

    def seconds(self, stacks, cgroup, **values):
        return stacks.seconds(cgroup=cgroup.path, **values)

    def reload(self, text):
        self.file.write_text(text)
        os.kill(self.daemon.pid, signal.SIGHUP)
        for _ in range(100):
            config = self.daemon.get_json("/api/v1/status")["config"]
            if ("snapshots_captured" in config) == (text is NARROWED):
                return
            time.sleep(0.05)
        self.fail("the configuration is not reloaded")

    def test_the_configuration_narrows_snapshots_and_nothing_else(self):
        self.reload(NARROWED)
        self.wait_for_interval(0.0001)
        self.stacks_since(time.time())  # the snapshot under way ends by the rules that it began with
        begin = time.time()
        names = ("short", "fitting", "spanning", "long", "excluded")
        cgroups = {name: self.new_cgroup(f"/offcpud-test-{os.getpid()}-{name}") for name in names}
        sleeps = {"short": (2_000, 800), "fitting": (20_000, 100), "spanning": (1_700_000, 2),
                  "long": (3_400_000, 1), "excluded": (20_000, 100)}
        workloads = {name: self.start("sleeper", "--us", us, "--count", count, cgroup=cgroups[name])
                     for name, (us, count) in sleeps.items()}
        pipes = self.start("ping_pong")
        answer = []

        def profile():
            answer.append(Stacks(self.daemon.get_json("/debug/pprof/offcpu?seconds=3&format=json")))

        asker = threading.Thread(target=profile)
        asker.start()
        time.sleep(0.3)
        for workload in [*workloads.values(), pipes]:
            workload.go()
        windows = {name: workload.finish() for name, workload in workloads.items()}
        pipes.finish()
        asker.join()
        stacks = self.stacks_since(begin)

        print("  snapshots:", flush=True)
        for name in ("fitting", "spanning"):
            sleep = windows[name].blocked("sleep")
            missed = min(windows[name].slack(), sleeps[name][1] // 20)
            self.expect_close(f"seconds in {name} (the histogram)", sleep.seconds,
                              self.seconds(stacks, cgroups[name]), 0.001,
                              absolute=missed * sleeps[name][0] / 1e6)
            episodes = sum(row["episodes"] for row in stacks.select(cgroup=cgroups[name].path))
            self.expect_close(f"episodes in {name}", sleep.count, episodes, 0.001,
                              absolute=missed)
        # One may be late by more than it is long where the host takes the CPU away.
        self.expect_at_most("seconds in short", 0.02 * windows["short"].blocked("sleep").seconds,
                            self.seconds(stacks, cgroups["short"]))
        for name in ("long", "excluded"):
            self.expect_equal(f"seconds in {name}", 0, self.seconds(stacks, cgroups[name]))
        lost = stacks.seconds(LOST)  # of reasons that nobody knows
        self.expect_at_most("seconds of samples that found no room", 0.02 * stacks.seconds(), lost)
        reasons = {row["reason"] for row in stacks.rows if LOST not in row["stack"]}
        self.say(reasons == {"sleep"}, "reasons", "sleep", reasons)
        self.expect_equal("blocks that last", 0, sum(row["in_progress"] for row in stacks.rows))
        said = stacks.answer["captured"]
        self.say(len(said) == 1 and "snapshots.reasons=[sleep]" in said[0], "captured", "", said)
        status = self.daemon.get_json("/api/v1/status")["config"]["snapshots_captured"]
        self.say(status == said[0], "the status", "the same", status)

        print("  the profile meanwhile:", flush=True)
        for name in ("short", "fitting", "excluded"):
            self.expect_at_least(f"seconds in {name}", 0.3, self.seconds(answer[0], cgroups[name]))
        self.expect_at_least("seconds of the sleep that lasts", 1.5,
                             self.seconds(answer[0], cgroups["long"], in_progress=1))
        self.expect_at_least("seconds at pipes", 0.1, answer[0].seconds(reason="pipe"))
        self.say(not answer[0].answer["captured"], "captured", "everything", "")

    def test_a_reload_changes_it_from_the_next_snapshot_on(self):
        self.wait_for_interval(0.0001)
        self.reload(NARROWED)
        self.reload(OPEN)
        self.stacks_since(time.time())  # the snapshot under way ends by the rules that it began with
        begin = time.time()
        window = self.run_workload("sleeper", "--us", 2_000, "--count", 200)
        stacks = self.stacks_since(begin, cgroup=window.cgroup)
        self.expect_close("seconds of short sleeps", window.blocked("sleep").seconds,
                          stacks.seconds(reason="sleep"), 0.001,
                          absolute=0.003 * window.slack())
        self.say(not stacks.answer["captured"], "captured", "everything", stacks.answer["captured"])
        kept = self.daemon.get_json("/api/v1/snapshots")["snapshots"]
        self.expect_equal("partial snapshots", 0, sum(item["partial"] for item in kept))


class Seeded(Case):
    settings = {}

    def test_what_is_left_of_a_block_that_began_before_the_daemon(self):
        self.daemon.stop()
        cgroup = self.new_cgroup()
        sleeper = subprocess.Popen(["sleep", "4"], preexec_fn=cgroup.enter)
        self.addCleanup(sleeper.wait)
        woken = []
        threading.Thread(target=lambda: (sleeper.wait(), woken.append(time.monotonic()))).start()
        time.sleep(0.2)  # it sleeps
        # No walk credits it: the snapshot lasts longer than it sleeps.
        type(self).daemon = Daemon.start(**{"snapshots.interval": "1h"})
        self.addCleanup(self.daemon.stop)
        before = time.monotonic()
        profile = Stacks(self.daemon.get_json("/debug/pprof/offcpu?seconds=5&format=json&reason=sleep"))
        after = time.monotonic()
        self.say(woken and woken[0] < after - 0.5, "it woke up within the profile", True, woken)
        rows = profile.select(cgroup=cgroup.path)
        self.expect_close("seconds", woken[0] - before, sum(row["ns"] for row in rows) / 1e9, 0.02,
                          absolute=0.1)
        self.expect_close("episodes", 1, sum(row["episodes"] for row in rows), 0.001)


if __name__ == "__main__":
    main()
