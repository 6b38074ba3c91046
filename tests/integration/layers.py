# SPDX-License-Identifier: Apache-2.0
"""File systems whose files have other numbers for stat() than for the kernel's own tables."""

import shutil
import subprocess
import tempfile
from pathlib import Path


class Mounts:
    """A folder of a test's own with what is mounted in it, until remove(). OSError: this host lets
    nobody mount, or lacks the file system."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="offcpud-layers-"))
        self._mounted = []

    def make(self, *names):
        for name in names:
            (self.folder / name).mkdir(parents=True)
        return [self.folder / name for name in names]

    def mount(self, *arguments):
        """The last one is the mount point."""
        run("mount", *arguments)
        self._mounted.append(arguments[-1])

    def overlay(self, lower, upper, work, merged):
        self.mount("-t", "overlay", "-o", f"lowerdir={lower},upperdir={upper},workdir={work}",
                   "overlay", merged)

    def btrfs(self, point, mebibytes=128):
        image = self.folder / "btrfs.image"
        with image.open("wb") as file:
            file.truncate(mebibytes << 20)
        run("mkfs.btrfs", "-q", image)
        self.mount("-o", "loop", image, point)

    def remove(self):
        while self._mounted:
            run("umount", "--lazy", self._mounted.pop())
        shutil.rmtree(self.folder)


def run(*command):
    try:
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False)
    except FileNotFoundError as missing:
        raise OSError(f"{command[0]}: not installed") from missing
    if done.returncode:
        raise OSError(f"{command[0]}: {done.stderr.strip()}")
