# SPDX-License-Identifier: Apache-2.0
"""Programs of another user that make whoever reads them wait for a file system that never answers. It is
FUSE, mounted in the initial user namespace for an unprivileged user, as the setuid fusermount3 does;
the program that serves it stops answering."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
from pathlib import Path

from children import Children
from daemon import WORKLOADS, die_with_the_tester

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
BUILD_ID = re.compile(rb"\x04\0\0\0\x14\0\0\0\x03\0\0\0GNU\0(.{20})", re.DOTALL)


def fresh_copy(program, to, strip=False):
    """A copy of a program with a build-id that nobody has seen."""
    data = (WORKLOADS / program).read_bytes()
    if len(BUILD_ID.findall(data)) != 1:
        raise RuntimeError(f"{program} has not one build-id")
    to = Path(to)
    to.write_bytes(BUILD_ID.sub(lambda found: found.group()[:16] + os.urandom(20), data))
    to.chmod(0o755)
    if strip:
        subprocess.run(["strip", to], check=True)
    return to


class FuseServer:
    """Serves the file as `path`/file; its end lets go of whoever waits for it. OSError: not here."""

    def __init__(self, file, folder):
        self.path = Path(tempfile.mkdtemp(prefix="fuse-", dir=folder))
        self._process = subprocess.Popen(
            [WORKLOADS / "fuse_server", self.path, file, "file"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_the_tester)
        if self._process.stdout.readline() != "mounted\n":
            self.end()
            raise OSError("FUSE cannot be mounted here")

    @property
    def pid(self):
        return self._process.pid

    def mute_reads(self):
        self._process.send_signal(signal.SIGUSR1)

    def mute_daemon(self):
        self._process.send_signal(signal.SIGUSR2)

    def end(self):
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()
        subprocess.run(["umount", "-l", self.path], check=False, stderr=subprocess.DEVNULL)


class HangingPrograms(Children):
    """Each of WAYS starts one more, and returns once the daemon can run into it. OSError: this host
    has not what it takes. Needs a folder that everybody may enter."""

    WAYS = ("stack_in_a_file", "program_on_overlay", "debug_files", "perf_map")

    def __init__(self, folder):
        super().__init__()
        self._folder = Path(folder)
        self._servers = []

    def end(self):
        self.kill()  # the servers' end then lets go of those that wait for them
        for server in self._servers:
            server.end()
        self._servers.clear()
        super().end()

    def stack_in_a_file(self):
        content = self._place() / "content"
        content.write_bytes(b"\x01" * (1 << 20))
        server = self._serve(content)
        process = self.run(*NOBODY, WORKLOADS / "file_stack", server.path / "file")
        self._expect_word(process, "mapped\n")
        server.mute_reads()
        process.stdin.write("\n")
        process.stdin.flush()

    def program_on_overlay(self):
        place = self._place()
        server = self._serve(fresh_copy("runtime_code", place / "hidden-program"))
        server.mute_daemon()
        point = place / "merged"
        point.mkdir()
        self._expect_word(self._over(server, place, point, point / "file"))

    def debug_files(self):
        if not Path("/usr/lib/debug").is_dir():
            raise OSError("there is no /usr/lib/debug to mount on")
        place = self._place()
        server = self._serve("/dev/null")
        server.mute_daemon()
        program = fresh_copy("runtime_code", place / "stripped-program", strip=True)
        self._expect_word(self._over(server, place, "/usr/lib/debug", program))

    def perf_map(self):
        server = self._serve("/dev/null")
        server.mute_daemon()
        program = fresh_copy("runtime_code", self._place() / "jit-program")
        # /tmp is covered for the program, which therefore comes in by a descriptor.
        script = (f"exec 9< {shlex.quote(str(program))} && "
                  f"mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work && "
                  f"mount -t overlay none -o lowerdir={server.path},upperdir=/mnt/upper,"
                  f"workdir=/mnt/work,userxattr /tmp && exec /proc/self/fd/9")
        self._expect_word(self.run(*NOBODY, "unshare", "-Urm", "sh", "-c", script))

    def _place(self):
        place = Path(tempfile.mkdtemp(prefix="program-", dir=self._folder))
        place.chmod(0o755)
        return place

    def _serve(self, file):
        server = FuseServer(file, self._folder)
        self._servers.append(server)
        return server

    def _over(self, server, place, point, *command):
        """Runs a command as another user whose mount namespace has, on `point`, overlayfs above what
        the server serves."""
        setup = ('mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" && '
                 'mount -t overlay none -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work,userxattr" '
                 '"$3" && shift 3 && exec "$@"')
        scratch = place / "scratch"
        scratch.mkdir()
        return self.run(*NOBODY, "unshare", "-Urm", "sh", "-c", setup, "sh", scratch, server.path,
                        point, *command)

    @staticmethod
    def _expect_word(process, word=None):
        """That it says something, or exactly this."""
        said = process.stdout.readline()
        if not said or (word and said != word):
            raise RuntimeError(f"{process.args[-1]} said {said!r} instead of {word or 'anything'!r}")
