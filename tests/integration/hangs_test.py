# SPDX-License-Identifier: Apache-2.0
"""Programs of another user have the daemon wait for a file system that never answers: nobody else
is kept waiting. The file system is FUSE, mounted in the initial user namespace for an unprivileged
user, as the setuid fusermount3 does; the program that serves it stops answering."""

import os
import re
import shlex
import signal
import subprocess
import tempfile
import time
from datetime import datetime
from pathlib import Path

from case import Case, main
from daemon import WORKLOADS, Daemon, die_with_the_tester
from snapshots_test import Stacks

NOBODY = ("setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups")
PROFILE = "/debug/pprof/offcpu?seconds=2&format=json"
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
    """Serves the file as `path`/file; its end lets go of whoever waits for it."""

    def __init__(self, file, folder):
        self.path = Path(tempfile.mkdtemp(prefix="fuse-", dir=folder))
        self._process = subprocess.Popen(
            [WORKLOADS / "fuse_server", self.path, file, "file"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, preexec_fn=die_with_the_tester)
        if self._process.stdout.readline() != "mounted\n":
            self.end()
            raise OSError("FUSE cannot be mounted here")

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


class HangCase(Case):
    settings = {"snapshots.interval": "15s"}
    patience = 15

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="hangs-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        # A daemon that has just started reads the symbols of all programs first; and a busy host
        # makes everything late: what counts is what the attack adds.
        for _ in range(5):
            self.usual = self.seconds_of_a_profile()[0]
            if self.usual < 2.5:
                break

    def seconds_of_a_profile(self):
        begin = time.monotonic()
        try:
            answer = self.daemon.get_json(PROFILE)
        except OSError as error:
            self.fail(f"no profile within {time.monotonic() - begin:.1f} s: {error}")
        return time.monotonic() - begin, answer

    def server(self, file):
        try:
            server = FuseServer(file, self.folder)
        except OSError as error:
            self.skipTest(str(error))
        self.addCleanup(server.end)
        return server

    def run_command(self, *command):
        process = subprocess.Popen([*map(str, command)], stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True, start_new_session=True,
                                   preexec_fn=die_with_the_tester)

        def end():
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            process.stdin.close()
            process.stdout.close()

        self.addCleanup(end)
        return process

    def over(self, server, point, *command):
        """Runs a command as another user whose mount namespace has, on `point`, overlayfs above what
        the server serves."""
        setup = ('mount -t tmpfs none "$1" && mkdir "$1/upper" "$1/work" && '
                 'mount -t overlay none -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work,userxattr" '
                 '"$3" && shift 3 && exec "$@"')
        scratch = self.folder / f"scratch-{len(os.listdir(self.folder))}"
        scratch.mkdir()
        return self.run_command(*NOBODY, "unshare", "-Urm", "sh", "-c", setup, "sh", scratch,
                                server.path, point, *command)

    # --- what is done to the daemon; each returns once it has been

    def stack_in_a_file(self):
        content = self.folder / "content"
        content.write_bytes(b"\x01" * (1 << 20))
        server = self.server(content)
        process = self.run_command(*NOBODY, WORKLOADS / "file_stack", server.path / "file")
        said = process.stdout.readline()
        self.say(said == "mapped\n", "file_stack says", "mapped", said)
        server.mute_reads()
        process.stdin.write("\n")
        process.stdin.flush()

    def program_on_overlay(self):
        program = fresh_copy("runtime_code", self.folder / "hidden-program")
        server = self.server(program)
        server.mute_daemon()
        point = self.folder / "merged"
        point.mkdir()
        process = self.over(server, point, point / "file")
        self.say(process.stdout.readline(), "the program on overlayfs", "it runs", "")

    def debug_files(self):
        if not Path("/usr/lib/debug").is_dir():
            self.skipTest("there is no /usr/lib/debug to mount on")
        server = self.server("/dev/null")
        server.mute_daemon()
        program = fresh_copy("runtime_code", self.folder / "stripped-program", strip=True)
        process = self.over(server, "/usr/lib/debug", program)
        self.say(process.stdout.readline(), "the program with such debug files", "it runs", "")

    def perf_map(self):
        server = self.server("/dev/null")
        server.mute_daemon()
        program = fresh_copy("runtime_code", self.folder / "jit-program")
        hidden = self.folder / "bin"
        hidden.mkdir()
        # /tmp is covered for the program, which therefore comes in by a descriptor.
        script = f"exec 9< {shlex.quote(str(program))}; {self.covering_tmp(server)}"
        process = self.run_command(*NOBODY, "unshare", "-Urm", "sh", "-c", script)
        self.say(process.stdout.readline(), "the program with such a perf map", "it runs", "")

    @staticmethod
    def covering_tmp(server):
        return (f"mount -t tmpfs none /mnt && mkdir /mnt/upper /mnt/work && "
                f"mount -t overlay none -o lowerdir={server.path},upperdir=/mnt/upper,"
                f"workdir=/mnt/work,userxattr /tmp && exec /proc/self/fd/9")

    # --- what everybody else still gets

    def expect_others_answered(self):
        """Programs that start now have their stacks, young and old, in a profile that is on time."""
        program = fresh_copy("sleeper", self.folder / "bystander")
        pids = set()
        for us, count in ((20_000, 1_000_000), (600_000_000, 1)):
            process = self.run_command(program, "--us", us, "--count", count)
            pids.add(process.pid)
            said = process.stdout.readline()
            self.say(said == "gate\n", "the bystander says", "gate", said)
            process.stdin.write("g")
            process.stdin.flush()
        time.sleep(1)
        slowest, complete = 0.0, {}
        for _ in range(3):
            took, answer = self.seconds_of_a_profile()
            slowest = max(slowest, took)
            complete = {}
            for row in Stacks(answer).select("workload::sleep_ns"):
                if row["pid"] not in pids:
                    continue
                complete[row["pid"]] = "main" in row["stack"]
        self.expect_at_most(f"seconds until a profile of 2 s answers (before: {self.usual:.2f})",
                            2 + max(self.usual, 2), slowest)
        self.expect_equal("bystanders with whole stacks", 2, sum(complete.values()))

    def expect_stop(self):
        begin = time.monotonic()
        os.kill(self.daemon.pid, signal.SIGTERM)
        while self.daemon.poll() is None and time.monotonic() - begin < 10:
            time.sleep(0.01)
        self.expect_at_most("seconds until it has stopped", 2, time.monotonic() - begin)
        self.expect_equal("exit code", 0, self.daemon.poll())

    def hung(self):
        scrape = self.daemon.scrape()
        return scrape.value("offcpud_reader_hangs_total")


class One(HangCase):
    """Each by itself, against a daemon that has not met the user before."""

    def setUp(self):
        type(self).daemon.stop()
        type(self).daemon = Daemon.start(**self.settings)
        self.addCleanup(self.daemon.stop)
        super().setUp()

    def expect_survived(self):
        time.sleep(1)
        self.expect_others_answered()
        self.wait_until("it says so", lambda: self.hung() > 0)
        self.wait_until("in its log", lambda: any("does not answer" in line
                                                  for line in self.daemon.log()))
        self.expect_stop()

    def test_a_stack_pointer_into_a_file(self):
        self.stack_in_a_file()
        self.expect_survived()

    def test_a_program_on_overlayfs(self):
        self.program_on_overlay()
        self.expect_survived()

    def test_debug_files(self):
        self.debug_files()
        self.expect_survived()

    def test_a_perf_map(self):
        self.perf_map()
        self.expect_survived()


class All(HangCase):
    def test_all_at_once_and_again(self):
        """Snapshots stay as long as they are; the time that is waited is bounded."""
        begin = time.time()
        for _ in range(3):
            self.stack_in_a_file()
        self.debug_files()
        self.perf_map()
        self.program_on_overlay()
        self.expect_others_answered()
        self.wait_until("two snapshots began since", lambda: len(self.since(begin)) >= 2, 50)
        for snapshot in self.since(begin):
            self.expect_close("seconds of a snapshot", 15, snapshot, absolute=1)
        self.expect_stop()

    def since(self, begin):
        lengths = []
        for one in self.daemon.get_json("/api/v1/snapshots")["snapshots"]:
            first, last = (datetime.fromisoformat(one[key].replace("Z", "+00:00")).timestamp()
                           for key in ("begin", "end"))
            if first >= begin - 15:
                lengths.append(last - first)
        return lengths


if __name__ == "__main__":
    main()
