# SPDX-License-Identifier: Apache-2.0
"""Processes of milliseconds have their stacks on whatever file system their program is: as in
containers, which are on overlayfs, and whose layers may be on btrfs."""

import os
import shutil
import time

from case import main
from daemon import WORKLOADS
from layers import Mounts, run
from snapshots_test import SnapshotCase

LIFE = 0.003  # seconds, of each process


class FileSystems(SnapshotCase):
    def setUp(self):
        super().setUp()
        self.mounts = Mounts()
        self.addCleanup(self.mounts.remove)

    def expect_names(self, *programs):
        """All of them at the same time: each by its own table."""
        for program in programs:  # so that the daemon knows the files
            self.run_workload(program, "--count", 20, attempts=1)
        count = 1600 // len(programs)

        def run():
            self.wait_for_interval(0.0001)
            begin, found = time.time(), []
            running = [self.start(program, "--count", count) for program in programs]
            for workload in running:
                workload.go()
            for workload in running:
                window = workload.finish()
                self.expect_nothing_lost(window)
                found.append(self.stacks_since(begin, cgroup=window.cgroup, reason="sleep", comm="exe"))
            return found

        for stacks in self.until_all_are_located(run):
            self.expect_at_least("seconds", count * LIFE * 0.99, stacks.seconds())
            self.expect_at_least("seconds with the function's name", 0.99 * stacks.seconds(),
                                 stacks.seconds("short_life"))
            incomplete = sum(r["ns"] for r in stacks.rows if "incomplete" in r["stack"][0]) / 1e9
            self.expect_at_most("seconds with stacks that are not complete", 0.01 * stacks.seconds(),
                                incomplete)

    def overlay(self, *folders):
        try:
            self.mounts.overlay(*folders)
        except OSError as reason:
            self.skipTest(str(reason))
        return folders[-1] / "short_lives"

    def test_overlay_with_its_layers_on_one(self):
        lower, *others = self.mounts.make("lower", "upper", "work", "merged")
        shutil.copy(WORKLOADS / "short_lives", lower)
        self.expect_names(self.overlay(lower, *others))

    def test_overlay_with_its_layers_on_two(self):
        below, *others = self.mounts.make("below", "upper", "work", "merged")
        self.mounts.mount("-t", "tmpfs", "tmpfs", below)
        shutil.copy(WORKLOADS / "short_lives", below)
        program = self.overlay(below, *others)
        self.say(program.stat().st_dev != others[-1].stat().st_dev, "devices of the file and its folder",
                 "two", program.stat().st_dev)
        self.expect_names(program)

    def test_overlay_with_a_file_copied_up(self):
        below, *others = self.mounts.make("below", "upper", "work", "merged")
        self.mounts.mount("-t", "tmpfs", "tmpfs", below)
        shutil.copy(WORKLOADS / "short_lives", below)
        program = self.overlay(below, *others)
        self.run_workload(program, "--count", 20, attempts=1)  # the lower one is known
        program.chmod(0o700)
        self.say((others[0] / "short_lives").exists(), "in the upper layer", "the file", "none")
        self.expect_names(program)

    def test_overlay_of_a_rootless_container(self):
        """Its files are read from copies, which no process maps."""
        lower, upper, work, merged = self.mounts.make("lower", "upper", "work", "merged")
        shutil.copy(WORKLOADS / "short_lives", lower)
        program = self.mounts.folder / "in-a-container"
        program.write_text(f"""#!/bin/sh
exec unshare -Urm sh -c 'mount -t overlay overlay {merged} \\
  -o lowerdir={lower},upperdir={upper},workdir={work},userxattr && exec {merged}/short_lives "$@"' sh "$@"
""")
        program.chmod(0o755)
        self.expect_names(program)

    def test_btrfs_with_inodes_of_the_same_number(self):
        """Two programs in two subvolumes that differ in nothing by which older kernels name them."""
        (disk,) = self.mounts.make("disk")
        try:
            self.mounts.btrfs(disk)
        except OSError as reason:
            self.skipTest(str(reason))
        programs = []
        for name, workload in (("one", "short_lives"), ("two", "short_lives_static")):
            run("btrfs", "subvolume", "create", disk / name)
            programs.append(shutil.copy(WORKLOADS / workload, disk / name / "program"))
        size = max(program.stat().st_size for program in programs)
        for program in programs:
            os.truncate(program, size)
        seen = [(program.stat().st_ino, program.stat().st_size) for program in programs]
        self.expect_equal("inode and size of both", 1, len(set(seen)))
        self.expect_names(*programs)


if __name__ == "__main__":
    main()
