# SPDX-License-Identifier: Apache-2.0
"""A file system of a test's own that can be frozen: who writes to it waits uninterruptibly."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

TOOLS = ("mkfs.ext4", "mount", "umount", "fsfreeze")


class FrozenFileSystem:
    """ext4 in a file, mounted through a loop device. Skips the test, with the reason, where that is
    not to be had. `remove` thaws it first, so that nobody stays stuck."""

    def __init__(self):
        missing = [tool for tool in TOOLS if not shutil.which(tool)]
        if missing:
            raise unittest.SkipTest(f"not installed: {', '.join(missing)}")
        self._folder = tempfile.TemporaryDirectory(prefix="offcpud-frozen-")
        image = Path(self._folder.name) / "image"
        self.mount = Path(self._folder.name) / "mount"
        self.mount.mkdir()
        with open(image, "wb") as file:
            file.truncate(32 << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", image], check=True)
        mounted = subprocess.run(["mount", "-o", "loop", image, self.mount], capture_output=True,
                                 text=True, check=False)
        if mounted.returncode != 0:
            self._folder.cleanup()
            raise unittest.SkipTest(f"no loop mount here: {mounted.stderr.strip()}")
        self._frozen = False

    def freeze(self):
        subprocess.run(["fsfreeze", "--freeze", self.mount], check=True)
        self._frozen = True

    def thaw(self):
        if self._frozen:
            subprocess.run(["fsfreeze", "--unfreeze", self.mount], check=True)
            self._frozen = False

    def remove(self):
        self.thaw()
        subprocess.run(["umount", self.mount], check=True)
        self._folder.cleanup()
