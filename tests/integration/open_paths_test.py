# SPDX-License-Identifier: Apache-2.0
"""Calls that name a file by its path and hang: which path, on which file system, and who serves that."""

import os
import signal
import subprocess
import sys
import tempfile
import time

from case import main
from daemon import WORKLOADS
from hanging_programs import NOBODY
from waited_on_case import WaitedOnCase

# Says what it is about to do, then calls a function of os.
CALLS = """
import os, sys
if sys.argv[3:]:
    os.chdir(sys.argv[3])
print("calls", flush=True)
eval(sys.argv[1])(os.fsencode(sys.argv[2]).decode("unicode_escape").encode("latin-1"))
"""

HOSTILE = r"wait\nowner 1\nsyscall 0 0\x1b[2J\xff"

# Opens a path that lies in a page which nobody fills in: it waits for a page, not for a file.
UNFILLED = """
import ctypes, mmap, struct
libc = ctypes.CDLL(None, use_errno=True)
faults = libc.syscall(323, 0)
if faults < 0:
    raise SystemExit(77)
page = mmap.mmap(-1, 4096)
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
def ask(request, data):
    if libc.ioctl(faults, ctypes.c_ulong(request), ctypes.create_string_buffer(data, len(data))):
        raise SystemExit(77)
ask(0xc018aa3f, struct.pack("QQQ", 0xaa, 0, 0))  # UFFDIO_API
ask(0xc020aa00, struct.pack("QQQQ", address, 4096, 1, 0))  # UFFDIO_REGISTER
print("calls", flush=True)
libc.syscall(2, ctypes.c_void_p(address), 0)
"""


class OpenPaths(WaitedOnCase):
    settings = {**WaitedOnCase.settings, "stalls.threshold": "1s"}
    patience = 40

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="offcpud-paths-", ignore_cleanup_errors=True)
        self.addCleanup(folder.cleanup)
        self.folder = os.path.realpath(folder.name)

    def call(self, unit, call, path, directory=None):
        arguments = (call, path, *([directory] if directory else []))
        return self.python(unit, CALLS, *arguments)

    def python(self, unit, script, *arguments):
        program = self.run_in(unit, sys.executable, "-c", script, *arguments, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        if program.stdout.readline() != "calls\n":
            self.skipTest(f"the program ended with {program.wait()}")
        return program

    def waits(self, unit):
        """Of the unit's threads, stalls or not, with what the kernel said of them."""
        found = []
        for query in (f"cgroup={unit.path}", f"cgroup={unit.path}&for=unknown"):
            found += self.daemon.get_json_as_root(f"/api/v1/stalls?{query}")["stalls"]
        return [wait for wait in found if wait["state"] == "in_progress" and wait["examined"]]

    def file(self, unit):
        """On which its only thread waits."""
        self.wait_until(f"the wait of {unit.unit} is looked at", lambda: self.waits(unit))
        wait = self.waits(unit)[0]
        print(f"    | {wait['syscall']['name']} {wait['waits_for']}", flush=True)
        return wait["waits_for"].get("file", {})

    def expect_file(self, unit, path, **also):
        file = self.file(unit)
        self.say(file.get("path") == path, "path", path, file.get("path"))
        for key, value in also.items():
            self.say(file.get(key) == value, key, value, file.get(key))

    def line_of(self, unit, *arguments):
        said = self.daemon.offcpuctl("stalls", *arguments)
        return next((line for line in said.splitlines() if unit.unit in line), "")

    def make_fifo(self, name="queue"):
        path = os.path.join(os.fsencode(self.folder), name if isinstance(name, bytes) else name.encode())
        os.mkfifo(path)
        return path

    def test_fifo_without_writer(self):
        unit = self.new_unit("reads")
        path = os.fsdecode(self.make_fifo())
        self.call(unit, "open", path)
        self.expect_file(unit, path, lacks="writer")
        line = self.line_of(unit, "--for", "unknown")
        self.say("a writer of the FIFO on " in line and path not in line,
                 "offcpuctl stalls, for who may not see paths", "a writer of the FIFO on ...", line)

    def test_fifo_without_reader(self):
        unit = self.new_unit("writes")
        path = os.fsdecode(self.make_fifo())
        self.call(unit, "lambda path: os.open(path, os.O_WRONLY)", path)
        self.expect_file(unit, path, lacks="reader")

    def test_relative_paths(self):
        path = os.fsdecode(self.make_fifo())
        here, there = self.new_unit("here"), self.new_unit("there")
        self.call(here, "open", "queue", self.folder)
        opener = f"lambda path: os.open(path, os.O_RDONLY, dir_fd=os.open({self.folder!r}, os.O_RDONLY))"
        self.call(there, opener, "queue")
        self.expect_file(here, path)
        self.expect_file(there, path)

    def test_hostile_names(self):
        """A path may have any bytes but NUL, and 4 KiB of them."""
        unit, long = self.new_unit("hostile"), self.new_unit("long")
        self.make_fifo(HOSTILE.encode().decode("unicode_escape").encode("latin-1"))
        self.call(unit, "open", f"{self.folder}/{HOSTILE}")
        self.expect_file(unit, f"{self.folder}/wait\nowner 1\nsyscall 0 0\x1b[2J\ufffd")
        said = self.daemon.offcpuctl("stalls", "--for", "unknown", "-v")
        self.say("\x1b" not in said, "what a terminal gets", "no escapes", repr(said) if "\x1b" in said else "none")
        fifo = os.fsdecode(self.make_fifo("far"))
        path = f"{self.folder}{'/.' * 1900}/far"
        self.call(long, "open", path)
        self.expect_file(long, f"{path[:255]}...", lacks="writer")
        self.say(len(fifo) < 255, "the path itself", "is short", len(fifo))

    def test_memory_that_hangs(self):
        """Nobody reads the program's memory, so nobody waits for it but the program."""
        unit = self.new_unit("unfilled")
        program = self.python(unit, UNFILLED)
        file = self.file(unit)
        self.say("path" not in file, "path", "none", file)
        self.say(program.poll() is None, "the program", "waits", program.poll())
        readers = self.daemon.scrape().value("offcpud_readers_stuck")
        self.say(readers == 0, "readers that hang", 0, readers)

    def serve(self, name="server"):  # pylint: disable=arguments-differ
        """A unit that serves FUSE at the path, the path, and the process."""
        unit, path = self.new_unit(name), tempfile.mkdtemp(dir=self.folder)
        server = self.run_in(unit, WORKLOADS / "fuse_server", path, "/bin/true", "file", stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE)
        self.addCleanup(subprocess.run, ["umount", "-l", path], check=False, stderr=subprocess.DEVNULL)
        for pipe in (server.stdin, server.stdout):
            self.addCleanup(pipe.close)
        if server.stdout.readline() != "mounted\n":
            self.skipTest("FUSE cannot be mounted here")
        os.chmod(self.folder, 0o755)
        subprocess.run([*NOBODY, "stat", f"{path}/file"], check=True, stdout=subprocess.DEVNULL)  # it answers
        return unit, path, server

    def hang(self, unit, call, path, directory=None):
        """The served user alone may look into it, so that uid is the program's."""
        command = [*NOBODY, sys.executable, "-c", CALLS, call, path, *([directory] if directory else [])]
        program = self.run_in(unit, *command, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "calls\n")
        return program

    def waits_on(self, unit):
        return [wait.get("waits_on", {}) for wait in self.waits(unit)]

    def expect_server(self, unit, server, process):
        wanted = {"on": server.unit, "pid": process.pid, "comm": "fuse_server"}
        self.wait_until("the stall waits on the server", lambda: wanted in self.waits_on(unit), 60)
        print(f"    | {self.waits_on(unit)}", flush=True)

    def test_fuse_server_that_is_stopped(self):
        """By open, through a look-up, and by statfs, which is for the file system itself."""
        self.serve("other")  # it is not to blame
        server, path, process = self.serve()
        process.send_signal(signal.SIGSTOP)
        opens, asks = self.new_unit("opens"), self.new_unit("asks")
        self.hang(opens, "lambda path: os.open(path, os.O_RDONLY)", f"{path}/none/of/them")
        self.hang(asks, "os.statvfs", path)
        self.addCleanup(process.send_signal, signal.SIGCONT)  # before all of them are waited for
        for unit, named in ((opens, f"{path}/none/of/them"), (asks, None)):
            self.expect_file(unit, named)  # statfs keeps no path once it is looked up
            file = self.file(unit)
            self.say(file.get("device", "").endswith(" fuse"), "file system", "fuse", file["device"])
            self.expect_server(unit, server, process)
        def said():
            return self.daemon.offcpuctl("why", opens.unit).splitlines()

        # The first window that has the wait may have ended before its server was looked for.
        self.wait_until("offcpuctl why names the server", lambda: server.unit in said()[0], 30)
        print("\n".join(f"    | {line}" for line in said()[:4]), flush=True)
        line = self.line_of(opens)
        self.say(server.unit in line, "offcpuctl stalls", server.unit, line)

    def test_relative_path_of_a_server_that_is_stopped(self):
        """A second look-up in the same directory would wait for a lock that the first one holds (fuse_lock_inode)."""
        server, path, process = self.serve()
        process.send_signal(signal.SIGSTOP)
        unit = self.new_unit("relative")
        self.hang(unit, "os.stat", f"{os.path.basename(path)}/absent", self.folder)
        self.addCleanup(process.send_signal, signal.SIGCONT)
        self.expect_file(unit, f"{path}/absent")
        self.expect_server(unit, server, process)

    def test_directory_that_is_made(self):
        """The last part of its path is looked up after the path is; from then on the path is on the stack only."""
        server, path, process = self.serve()
        process.send_signal(signal.SIGSTOP)
        unit = self.new_unit("makes")
        self.hang(unit, "os.mkdir", f"{path}/new")
        self.addCleanup(process.send_signal, signal.SIGCONT)
        self.expect_file(unit, f"{path}/new")
        self.expect_server(unit, server, process)

    def test_two_servers_of_one_file_system(self):
        """Nobody sees which of them reads the requests: none is told."""
        _, path, process = self.serve()
        second = self.new_unit("second")
        holder = self.run_in(second, sys.executable, "-c", f"""
import ctypes, os, time
libc = ctypes.CDLL(None)
target = libc.syscall(434, {process.pid}, 0)
for fd in os.listdir("/proc/{process.pid}/fd"):
    if os.readlink("/proc/{process.pid}/fd/" + fd) == "/dev/fuse":
        assert libc.syscall(438, target, int(fd), 0) >= 0
print("has it", flush=True)
time.sleep(1000)
""", stdout=subprocess.PIPE)
        self.addCleanup(holder.stdout.close)
        self.assertEqual(holder.stdout.readline(), "has it\n")
        process.send_signal(signal.SIGSTOP)
        unit = self.new_unit("opens")
        self.hang(unit, "lambda path: os.open(path, os.O_RDONLY)", f"{path}/absent")
        self.addCleanup(process.send_signal, signal.SIGCONT)

        def is_told():
            return any(wait.get("on", "").startswith("device:fuse") for wait in self.waits_on(unit))
        self.wait_until("the stall waits on the file system", is_told, 90)
        time.sleep(15)  # until a walk over all files that began after this wait is over
        self.say(is_told(), "whom it waits on", "device:fuse", self.waits_on(unit))
        first = self.daemon.offcpuctl("why", unit.unit)
        print("\n".join(f"    | {line}" for line in first.splitlines()[:4]), flush=True)
        self.say("no process alone is known to serve it" in first, "offcpuctl why", "unknown, because", first)


if __name__ == "__main__":
    main()
