# SPDX-License-Identifier: Apache-2.0
"""A small disk of a test's own: an ext4 file system in a file, which can be full, frozen or gone."""

import shutil
import subprocess
import tempfile
from pathlib import Path


class Disk:
    """Mounted at `path` until remove(). OSError: this host has no loop devices, or lets nobody mount."""

    def __init__(self, mebibytes):
        self._folder = Path(tempfile.mkdtemp(prefix="offcpud-disk-"))
        self.path = self._folder / "mounted"
        self._thawer = None  # while it is frozen
        image = self._folder / "image"
        try:
            self.path.mkdir()
            with image.open("wb") as file:
                file.truncate(mebibytes << 20)
            self._run("mkfs.ext4", "-q", "-m", "0", image)
            self._run("mount", "-o", "loop", image, self.path)
        except OSError:
            shutil.rmtree(self._folder)
            raise

    @staticmethod
    def _run(*command):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise OSError(f"{command[0]}: {done.stderr.strip()}")

    def freeze(self):
        """Whoever writes from now on waits in the kernel, where no signal reaches him. It ends when this
        process does, however that ends: a pipe to another one, out of reach of its signals, closes."""
        thaws = 'read -r _; exec fsfreeze --unfreeze "$1"'
        self._thawer = subprocess.Popen(["sh", "-c", thaws, "sh", self.path], stdin=subprocess.PIPE,
                                        start_new_session=True)
        try:
            self._run("fsfreeze", "--freeze", self.path)
        except OSError:
            self._thawer.kill()
            self._end_thawer()
            raise

    def thaw(self):
        if self._thawer and self._end_thawer():
            raise OSError(f"{self.path} stays frozen")

    def _end_thawer(self):
        thawer, self._thawer = self._thawer, None
        thawer.stdin.close()
        return thawer.wait()

    def remove(self):
        self.thaw()
        self._run("umount", "--lazy", self.path)
        shutil.rmtree(self._folder)
