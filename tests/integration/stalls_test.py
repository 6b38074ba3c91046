# SPDX-License-Identifier: Apache-2.0
"""The record of a stall: who, since when, in what, waiting for what and for whom, and how it ended."""

import os
import time
from datetime import datetime
from pathlib import Path

from case import main, slow
from in_progress import InProgressCase


def number(value):
    """Addresses and words may be given as text in hexadecimal."""
    return int(value, 0) if isinstance(value, str) else value


def unix_time(value):
    if isinstance(value, str):
        return datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
    return value


class Stalls(InProgressCase):
    def stall(self, kind, reason, *arguments, before=lambda: None, query=""):
        """Waits for the stall of a thread that the workload leaves stuck; returns both."""
        workload = self.start("stuck", "--kind", kind, "--ms", 7_000, *arguments)
        before()
        workload.go()
        began = time.time()
        self.assertIsNone(self.stall_of(workload.cgroup, "stuck-waiter"), "a stall before its time")
        time.sleep(max(0.0, began + 2 - time.time()))
        self.within_two_passes("the stall is on record", lambda _: self.stall_of(
            workload.cgroup, "stuck-waiter", "in_progress", query))
        stall = self.stall_of(workload.cgroup, "stuck-waiter", None, query)
        tids = {(task / "comm").read_text().strip(): int(task.name)
                for task in Path(f"/proc/{workload.process.pid}/task").iterdir()}
        for what, expected, seen in (
                ("thread", tids["stuck-waiter"], stall["tid"]),
                ("process", workload.process.pid, stall["pid"]),
                ("comm of the process", "stuck", stall["process"]), ("reason", reason, stall["reason"]),
                ("beginning is estimated", False, stall["estimated"])):
            self.say(expected == seen, what, expected, seen)
        self.expect_close("since", 0, unix_time(stall["since"]) - began, absolute=1.0)
        self.expect_close("age", time.time() - began, stall["duration_seconds"], absolute=2.0)
        self.expect_at_least("frames of its stack", 2, len(stall["stack"]))
        self.tids = tids
        return workload, stall

    def end(self, workload, woken_from):
        """Its end: within two passes, with who woke it and how long it took."""
        window = workload.finish()
        self.within_two_passes("the stall has ended", lambda _: self.stall_of(
            workload.cgroup, "stuck-waiter", "ended"), since=window.after.scrape)
        self.assertIsNone(self.stall_of(workload.cgroup, "stuck-waiter", "in_progress"))
        stall = self.stall_of(workload.cgroup, "stuck-waiter", "ended")
        _, seconds, _ = window.waits("stuck")
        self.expect_close("duration (the program's clock)", seconds, stall["duration_seconds"], 0.02)
        self.expect_close("end", time.time(), unix_time(stall["ended_at"]), tolerance=0, absolute=5)
        self.say(stall["woken_by"]["from"] == woken_from, "woken from", woken_from, stall["woken_by"])
        return window, stall

    def expect_frames(self, stall, *any_of):
        found = any(word in frame for frame in stall["stack"] for word in any_of)
        self.say(found, "a frame of the stack", " or ".join(any_of), stall["stack"])

    def expect_syscall(self, stall, *names):
        self.say(stall["syscall"]["name"] in names, "system call", names, stall["syscall"])

    def locked(self, kind, knows_owner):
        workload, stall = self.stall(kind, "lock")
        # Without debug symbols the C library's function for robust mutexes has no name, but its holder is
        # known.
        self.say((stall["for"], stall["certain"]) == ("lock", True)
                 and stall["site"] in ("mutex", "futex"),
                 "what it waits for", "lock, at mutex or futex, for certain", stall)
        self.expect_syscall(stall, "futex")
        self.expect_frames(stall, "futex")
        futex = stall["waits_for"]["futex"]
        owner = futex.get("owner")
        if knows_owner:
            self.say(owner["tid"] == self.tids["stuck-owner"], "owner", self.tids["stuck-owner"], owner)
            self.say(owner["comm"] == "stuck-owner", "comm of the owner", "stuck-owner", owner)
        window, ended = self.end(workload, "same_cgroup")
        self.expect_equal("address of the futex", window.report["futex"], number(futex["address"]))
        self.say(ended["woken_by"]["tid"] == self.tids["stuck-owner"], "waker",
                 self.tids["stuck-owner"], ended["woken_by"])

    def test_mutex(self):
        """Who holds it is looked up at the end of a window: holders_test."""
        self.locked("mutex", knows_owner=False)

    @slow
    def test_robust_mutex(self):
        self.locked("robust_mutex", knows_owner=False)

    @slow
    def test_priority_inheriting_mutex(self):
        self.locked("pi_mutex", knows_owner=True)

    def test_pipe(self):
        """Nobody can tell what it waits for, so it is not told, and neither is its end."""
        workload, stall = self.stall("pipe", "pipe", query="?for=unknown")
        self.say(stall["for"] == "unknown" and stall["site"] == "pipe", "what it waits for",
                 "unknown, at pipe", (stall["for"], stall["site"]))
        self.assertIsNone(self.stall_of(workload.cgroup, "stuck-waiter"), "it is not told")
        self.expect_syscall(stall, "read")
        self.expect_frames(stall, "pipe_read")
        file = stall["waits_for"]["file"]
        self.expect_equal("descriptor", number(stall["syscall"]["arguments"][0]), file["fd"])
        self.say("pipe" in file["path"], "what the descriptor is", "a pipe", file)
        workload.finish()
        time.sleep(2)
        for query in ("", "?for=unknown"):
            self.assertIsNone(self.stall_of(workload.cgroup, "stuck-waiter", None, query), query)

    def test_vfork(self):
        workload, stall = self.stall("vfork", "kernel")
        self.say(stall["for"] == "answer", "what it waits for", "answer", stall["for"])
        self.expect_syscall(stall, "vfork", "clone", "clone3")
        self.expect_frames(stall, "vfork", "kernel_clone")
        self.end(workload, "same_cgroup")

    def test_frozen_file_system(self):
        disk = self.new_disk()
        file = disk.path / "file"
        file.touch()
        workload, stall = self.stall("write", "disk", "--path", file, before=disk.freeze)
        self.say(stall["for"] == "storage", "what it waits for", "storage", stall["for"])
        self.expect_syscall(stall, "write")
        self.expect_frames(stall, "rwsem", "sb_start_write", "freeze")
        waits_for = stall["waits_for"]["file"]
        self.say(waits_for["path"] == str(file), "file", str(file), waits_for)
        device = os.stat(file).st_dev
        self.say(f"{os.major(device)}:{os.minor(device)}" in waits_for["device"], "device",
                 f"{os.major(device)}:{os.minor(device)}", waits_for)
        disk.thaw()
        self.end(workload, "other_cgroup")

    def test_idle_waits_are_no_stalls(self):
        """A sleeper of four seconds is not on record, whatever the threshold."""
        workload = self.start("sleeper", "--count", 1, "--us", 4_000_000)
        workload.go()
        time.sleep(3.5)
        stalls = [s for s in self.daemon.get_json("/api/v1/stalls")["stalls"]
                  if s["cgroup"] == workload.cgroup.path and s["reason"] == "sleep"]
        self.say(not stalls, "stalls of a sleeper", "none", stalls or "none")
        workload.finish()


if __name__ == "__main__":
    main()
