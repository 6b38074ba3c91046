# SPDX-License-Identifier: Apache-2.0
"""A small disk of a test's own: an ext4 file system in a file, which can be full, frozen or gone."""

import os
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
        self._image = self._folder / "image"
        try:
            self.path.mkdir()
            with self._image.open("wb") as file:
                file.truncate(mebibytes << 20)
            self._run("mkfs.ext4", "-q", "-m", "0", self._image)
            self._mount()
        except OSError:
            shutil.rmtree(self._folder)
            raise

    def _mount(self):
        self._run("mount", "-o", "loop", self._image, self.path)

    def forget(self):
        """From now on nothing of it is in memory."""
        self._run("umount", self.path)
        self._mount()

    @property
    def number(self):
        device = self.path.stat().st_dev
        return f"{os.major(device)}:{os.minor(device)}"

    @property
    def name(self):
        """Of its device, as in /dev."""
        return Path(os.readlink(f"/sys/dev/block/{self.number}")).name

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


class ReadLimit:
    """At most so many bytes a second are read from the disk by programs in a cgroup, until lift(). OSError: this host
    limits nobody."""

    def __init__(self, disk, cgroup, bytes_per_second):
        self._disk, self._folder = disk.number, None
        self._file = cgroup.directory / "io.max"
        if not self._file.exists():  # the controller is that of cgroup v1, which has folders of its own
            self._folder = Path(f"/sys/fs/cgroup/blkio/offcpud-test-{os.getpid()}")
            self._folder.mkdir()
            self._file = self._folder / "blkio.throttle.read_bps_device"
        try:
            self._write(bytes_per_second)
        except OSError:
            self.remove()
            raise

    def _write(self, limit):
        self._file.write_text(f"{self._disk} {limit}" if self._folder else f"{self._disk} rbps={limit or 'max'}")

    def of(self, *command):
        """The command of a program that is limited, once it runs in the cgroup."""
        if not self._folder:
            return command
        return "sh", "-c", 'echo $$ > "$0"; exec "$@"', self._folder / "cgroup.procs", *command

    def lift(self):
        """What waits goes on."""
        if self._file.exists():
            self._write(0)

    def remove(self):
        """Once its programs have ended."""
        self.lift()
        if self._folder:
            self._folder.rmdir()
