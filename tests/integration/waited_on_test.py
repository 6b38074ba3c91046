# SPDX-License-Identifier: Apache-2.0
"""On whom and what programs wait whose peers are known."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from case import SKIPPED, main
from daemon import WORKLOADS
from disk import ReadLimit
from waited_on_case import NOBODY, PROGRAMS, WaitedOnCase

SECONDS = 4
# A parent with a handler for the ends of its children, which end in another cgroup while it waits: `asks`
# on a unix socket, or `reads` a pipe.
PARENT = f"""
import os, signal, socket, sys, time
how, path, children = sys.argv[1:]
signal.signal(signal.SIGCHLD, lambda *_: None)
begin = time.monotonic() + 2
for i in range(80):
    if not os.fork():
        open(children, "w").write("0")
        time.sleep(max(0, begin + i * {SECONDS} / 80 - time.monotonic()))
        os._exit(0)
if how == "asks":
    own = socket.socket(socket.AF_UNIX)
    own.connect(path)
    while time.monotonic() < begin + {SECONDS}:
        own.sendall(b"question")
        own.recv(100)
else:
    file = os.open(path, os.O_RDONLY)
    while time.monotonic() < begin + {SECONDS}:
        os.read(file, 1)
"""
# A server that says something and reads nothing, and a client that polls: for room in the socket of that server, which it
# has filled and whose input it leaves unread, and for the input of another one, which answers.
SILENT = """
import socket, time
listener = socket.create_server(("127.0.0.1", 29737))
print("listening", flush=True)
connection, _ = listener.accept()
connection.sendall(b"unread")
time.sleep(60)
"""
POLLS = f"""
import select, socket, time
full, asked = (socket.create_connection(("127.0.0.1", port)) for port in (29737, 29738))
full.setblocking(False)
until = time.monotonic() + 2
while time.monotonic() < until:  # until the other side takes no more, either
    try:
        full.send(bytes(65536))
    except BlockingIOError:
        time.sleep(0.05)
poll = select.poll()
poll.register(full, select.POLLOUT)
poll.register(asked, select.POLLIN)
until = time.monotonic() + {SECONDS}
while time.monotonic() < until:
    asked.sendall(b"question")
    ready = poll.poll()
    assert [each for each, _ in ready] == [asked.fileno()], ready
    asked.recv(100)
"""
# A server that answers one question, after half a second, and a client that has asked it another one. It polls for that
# answer and for room in the socket of somebody who reads slowly, which is what ends its waits.
ANSWERS_ONCE = """
import socket, time
listener = socket.create_server(("127.0.0.1", 29739))
print("listening", flush=True)
connection, _ = listener.accept()
connection.recv(100)
time.sleep(0.5)
connection.sendall(b"answer")
time.sleep(60)
"""
RELAYS = f"""
import select, socket, time
asked, slow = (socket.create_connection(("127.0.0.1", port)) for port in (29739, 29740))
begin = time.monotonic()
asked.sendall(b"question")
asked.recv(100)
print(time.monotonic() - begin, flush=True)
time.sleep(0.1)  # at once after an answer, it could be an acknowledgement
asked.sendall(b"another question")
slow.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 16)
slow.setblocking(False)
poll = select.poll()
poll.register(asked, select.POLLIN)
poll.register(slow, select.POLLOUT)
until = time.monotonic() + {SECONDS}
while time.monotonic() < until:
    try:
        slow.send(bytes(1 << 16))
    except BlockingIOError:
        ready = poll.poll()
        assert [each for each, _ in ready] == [slow.fileno()], ready
"""
# Reads pages of a file that are not in memory: touches them, or has the kernel copy them to another file.
FAULTS = """
import mmap, os, random, sys, time
how, path, other, seconds = sys.argv[1:]
file, out = os.open(path, os.O_RDONLY), os.open(other, os.O_RDWR)
size = os.fstat(file).st_size
until = time.monotonic() + float(seconds)
while time.monotonic() < until:
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    pages = mmap.mmap(file, 0, prot=mmap.PROT_READ)
    pages.madvise(mmap.MADV_RANDOM)
    for at in random.sample(range(0, size, 4096), 512):
        if how == "touches":
            pages[at]
        else:
            with memoryview(pages)[at:at + 4096] as page:
                os.pwrite(out, page, 0)
    pages.close()
"""
# The same by calls for the file.
READS = """
import os, random, sys, time
path, seconds = sys.argv[1:]
file = os.open(path, os.O_RDONLY)
os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
until = time.monotonic() + float(seconds)
while time.monotonic() < until:
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    for at in random.sample(range(0, os.fstat(file).st_size, 4096), 512):
        os.pread(file, 1, at)
"""


class WaitedOn(WaitedOnCase):
    def folder(self):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-waited-on-")
        self.addCleanup(folder.cleanup)
        return folder.name

    def test_the_other_end_is_the_servers_unit(self):
        """Over TCP with new connections and kept ones, UDP and unix sockets, however the client waits."""
        talks = [("tcp", "recv,new", "127.0.0.1:29731"), ("tcp", "epoll,new", "127.0.0.1:29732"),
                 ("tcp", "poll,new", "127.0.0.1:29733"), ("tcp", "select,kept", "127.0.0.1:29734"),
                 ("tcp", "epoll,kept", "::1:29735"), ("udp", "poll,kept", "127.0.0.1:29736"),
                 ("unix", "recv,new", f"{self.folder()}/a"), ("unix", "epoll,kept", f"{self.folder()}/b")]
        running = []
        for kind, how, address in talks:
            server, client = self.new_unit("server"), self.new_unit("client")
            self.serve(server, kind, address)
            program = self.run_in(client, *PROGRAMS, "ask", kind, how, address, SECONDS)
            running.append((f"{kind} {how}", server, client, program))
        for _, _, _, program in running:
            program.wait(30)
        self.until_told()
        for name, server, client, _ in running:
            purposes = ("answer",) if name.startswith("tcp") else ("answer", "unknown", "work")
            self.expect_on(f"client, {name}", client, server.unit, purposes)
            self.expect_sums(client)
        for name, server, client, _ in running[:2]:
            self.expect_on(f"server, {name}", server, client.unit, ("work",), 0.5)

    def test_who_polls_for_room_waits_for_no_input_there(self):
        silent, server, client = self.new_unit("silent"), self.new_unit("server"), self.new_unit("client")
        first = self.run_in(silent, sys.executable, "-c", SILENT, stdout=-1)
        self.addCleanup(first.stdout.close)
        first.stdout.readline()
        self.serve(server, "tcp", "127.0.0.1:29738")
        self.expect_equal("the client ends well", 0, self.run_in(client, sys.executable, "-c", POLLS).wait(30))
        self.until_told()
        self.expect_on("client", client, server.unit, ("answer", "unknown", "work"), 0.95)

    def taking(self, unit, kind, address):
        program = self.run_in(unit, *PROGRAMS, "take", kind, address, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "listening\n")

    def test_who_waits_for_room_waits_on_the_reader(self):
        """Of several files that poll and select were given nobody knows which one had room."""
        talks = [("tcp", "send", "127.0.0.1:29741"), ("tcp", "epoll,beside", "127.0.0.1:29742"),
                 ("tcp", "poll,alone", "127.0.0.1:29743"), ("tcp", "select,alone", "127.0.0.1:29744"),
                 ("unix", "poll,alone", f"{self.folder()}/a"), ("tcp", "poll,beside", "127.0.0.1:29745"),
                 ("tcp", "select,beside", "127.0.0.1:29746")]
        unknown = ("poll,beside", "select,beside")
        running = []
        for kind, how, address in talks:
            reader, writer = self.new_unit("reader"), self.new_unit("writer")
            self.taking(reader, kind, address)
            program = self.run_in(writer, *PROGRAMS, "fill", kind, how, address, SECONDS)
            on = "(unknown)" if how in unknown else reader.unit
            running.append((f"writer, {kind} {how}", writer, on, program))
        for *_, program in running:
            self.expect_equal("the writer ends well", 0, program.wait(30))
        self.until_told()
        for name, writer, on, _ in running:
            self.expect_on(name, writer, on, ("answer", "unknown", "work"), 0.95)
            self.expect_sums(writer)

    def test_who_gets_room_did_not_wait_for_an_answer_that_has_not_come(self):
        server, reader, client = self.new_unit("server"), self.new_unit("reader"), self.new_unit("client")
        once = self.run_in(server, sys.executable, "-c", ANSWERS_ONCE, stdout=subprocess.PIPE)
        self.addCleanup(once.stdout.close)
        self.assertEqual(once.stdout.readline(), "listening\n")
        self.taking(reader, "tcp", "127.0.0.1:29740")
        relay = self.run_in(client, sys.executable, "-c", RELAYS, stdout=subprocess.PIPE)
        self.addCleanup(relay.stdout.close)
        self.expect_equal("the client ends well", 0, relay.wait(30))
        self.until_told()
        purposes = ("answer", "unknown", "work")
        self.expect_on("client", client, server.unit, purposes, 0, (reader.unit,))
        sums = self.waited_on(client)
        on_server = sum(sums[purpose, server.unit] for purpose in purposes)
        self.expect_at_least("seconds that it waited in all", 0.75 * SECONDS, round(sum(sums.values()), 3))
        self.expect_close("seconds on who answered once", float(relay.stdout.read()), on_server, absolute=0.1)

    def test_a_pipe_is_its_writers(self):
        writer, reader = self.new_unit("writer"), self.new_unit("reader")
        path = f"{self.folder()}/pipe"
        write = (f"import os, sys, time\nos.mkfifo('{path}')\nprint('made', flush=True)\nout = open('{path}', 'wb', 0)\n"
                 f"until = time.monotonic() + {SECONDS}\n"
                 "while time.monotonic() < until:\n    time.sleep(0.02)\n    out.write(b'x')\n")
        first = self.run_in(writer, sys.executable, "-c", write, stdout=-1)
        self.addCleanup(first.stdout.close)
        first.stdout.readline()
        self.run_in(reader, sys.executable, "-c",
                    f"file = open('{path}', 'rb', 0)\nwhile file.read(1): pass").wait(30)
        self.until_told()
        self.expect_on("reader", reader, writer.unit, ("answer", "work", "unknown"))

    def test_a_child_that_ends_is_at_no_other_end(self):
        """The signal that it sends to its parent ends a wait for somebody else."""
        talks = []
        for how in ("asks", "reads"):
            server, parent = self.new_unit("server"), self.new_unit("parent")
            children = self.new_unit("children")
            path = f"{self.folder()}/other-end"
            if how == "asks":
                self.serve(server, "unix", path)
            else:
                os.mkfifo(path)
                self.run_in(server, sys.executable, "-c",
                            "import signal, time\nsignal.signal(signal.SIGPIPE, signal.SIG_DFL)\n"
                            f"out = open('{path}', 'wb', 0)\n"
                            "while True:\n    time.sleep(0.02)\n    out.write(b'x')\n")
            talks.append((how, server, parent,
                          self.run_in(parent, sys.executable, "-c", PARENT, how, path,
                                      children.directory / "cgroup.procs")))
        for *_, program in talks:
            program.wait(30)
        self.until_told()
        for how, server, parent, _ in talks:
            # A child is of the parent's unit until it has moved.
            self.expect_on(f"a parent that {how}", parent, server.unit, ("answer", "work", "unknown"), 0.5,
                           (parent.unit,))

    def test_who_is_killed_waited_for_no_killer(self):
        """A thread that waits for a lock, and ends with its process or by its cgroup's end."""
        lock = "import os, threading, time\nown = threading.Lock()\nown.acquire()\n"
        killed, killer, ended = self.new_unit("killed"), self.new_unit("killer"), self.new_unit("ended")
        first = self.run_in(killed, sys.executable, "-c", f"{lock}own.acquire()\n")
        second = self.run_in(ended, sys.executable, "-c",
                             f"{lock}threading.Thread(target=own.acquire).start()\n"
                             "time.sleep(2.3)\nos._exit(0)\n")
        self.run_in(killer, "sh", "-c", f"sleep 2.3; echo 1 > {killed.directory}/cgroup.kill").wait(30)
        for program in (first, second):
            program.wait(30)
        self.until_told()
        for what, cgroup in (("who is killed with its cgroup", killed), ("who ends with its process", ended)):
            sums = self.waited_on(cgroup)
            print(f"  {what}: {dict(sums)}", flush=True)
            self.expect_at_least(f"{what}: seconds", 1.5, round(sum(sums.values()), 3))
            self.expect_equal(f"{what}: seconds on anybody", {},
                              {on: seconds for (_, on), seconds in sums.items()
                               if on not in NOBODY and seconds > 0.01})  # to begin a thread takes less

    def test_a_parent_waits_on_its_child(self):
        parent, child = self.new_unit("parent"), self.new_unit("child")
        run = ("import subprocess, sys\nfor _ in range(20):\n"
               f"    subprocess.run(['sh', '-c', 'echo 0 > {child.directory}/cgroup.procs; exec sleep 0.1'])\n")
        self.run_in(parent, sys.executable, "-c", run).wait(30)
        self.until_told()
        # Before it changes its cgroup, the child is in its parent's.
        self.expect_on("parent", parent, child.unit, ("answer", "timer", "unknown"), 0.8, (parent.unit,))

    def test_who_waits_in_a_ring_is_told_why_nobody_is_named(self):
        """It has one request of io_uring under way, and waits for a moment at a time."""
        unit = self.new_unit("ring")
        program = self.run_in(unit, WORKLOADS / "timed_wait", "--kind", "io_uring", "--count", 100, "--us", 100_000,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.addCleanup(program.stdin.close)
        self.addCleanup(program.stdout.close)
        program.stdin.write("gg")  # past both gates
        program.stdin.flush()
        if not program.stdout.readline() and program.wait() == SKIPPED:
            self.skipTest("this kernel has no io_uring for programs")

        def reasons():
            answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}")
            return {part["because"] for tree in answer.get("units", ()) for cause in tree["causes"]
                    if cause["for"] == "unknown" for part in cause["parts"] if part["kind"] == "unknown"}
        self.wait_until("why says why nobody is named", lambda: any(
            "a wait in io_uring ends with any of its requests" in (reason or "") for reason in reasons()))
        program.wait(30)
        self.until_told()
        # Once it is known that a timer of its own ends these waits, they are for that, and on nobody.
        sums = self.waited_on(unit)
        print(f"  {dict(sums)}", flush=True)
        named = {key: seconds for key, seconds in sums.items() if key[1] not in NOBODY and seconds > 0.01}
        self.say(not named, "seconds on anybody", "none", named or "none")
        self.expect_at_least("seconds for something unknown", 1, sums["unknown", "(unknown)"])
        self.expect_close("seconds in all", 10, sum(sums.values()), 0.03)

    def test_a_disk_is_a_device(self):
        disk = self.new_disk()
        writer = self.new_unit("writer")
        write = (f"import os, time\nfile = open('{disk.path}/data', 'wb', 0)\n"
                 f"until = time.monotonic() + {SECONDS}\n"
                 "while time.monotonic() < until:\n    file.write(b'x' * 4096)\n    os.fsync(file.fileno())\n")
        self.run_in(writer, sys.executable, "-c", write).wait(30)
        self.until_told()
        sums = self.waited_on(writer)
        print(f"  {sums}", flush=True)
        on = {name for purpose, name in sums if purpose == "storage" and sums[purpose, name] > 0.01}
        device = os.stat(disk.path).st_dev
        name = Path(f"/sys/dev/block/{os.major(device)}:{os.minor(device)}").resolve().name
        self.say(on == {f"device:{name}"}, "on whom it waits for storage", f"device:{name}", on)

    def pages_on(self, disk):
        """A file of its own, which is on the disk."""
        path = disk.path / "pages"
        path.write_bytes(os.urandom(8 << 20))
        os.sync()
        return path

    def file_on(self, disk):
        path = disk.path / "file"
        path.write_bytes(bytes(4096))
        return path

    def on_disks(self, cgroup):
        """{on: seconds} of its waits for storage."""
        return {on: seconds for (purpose, on), seconds in self.waited_on(cgroup).items() if purpose == "storage"}

    def expect_on_disk(self, what, cgroup, disk):
        seen = self.on_disks(cgroup)
        print(f"  {what}: {seen}", flush=True)
        total = sum(seen.values())
        self.expect_at_least(f"{what}: seconds for storage", 0.2, round(total, 3))
        self.expect_at_least(f"{what}: share on device:{disk.name}", 0.95,
                             round(seen.get(f"device:{disk.name}", 0) / total, 4))
        wrong = {on: seconds for on, seconds in seen.items() if on not in (f"device:{disk.name}", *NOBODY)}
        # To start Python may take a read of another disk.
        self.say(sum(wrong.values()) < 0.02 * total, f"{what}: seconds on anybody else", "< 2 %", wrong)

    def read_limit(self, disk, cgroup, bytes_per_second):
        try:
            limit = ReadLimit(disk, cgroup, bytes_per_second)
        except OSError as error:
            self.skipTest(f"no limit for reads: {error}")
        self.addCleanup(limit.remove)
        return limit

    def test_a_page_fault_waits_on_the_disk_of_the_file(self):
        disk, reader = self.new_disk(), self.new_unit("reader")
        self.run_in(reader, sys.executable, "-c", FAULTS, "touches", self.pages_on(disk), self.file_on(disk),
                    SECONDS).wait(30)
        self.until_told()
        self.expect_on_disk("reader", reader, disk)

    def test_a_call_for_one_file_may_fault_on_another(self):
        """The bytes that it writes are those of a file on another disk."""
        disk, other, copier = self.new_disk(), self.new_disk(), self.new_unit("copier")
        self.run_in(copier, sys.executable, "-c", FAULTS, "copies", self.pages_on(disk), self.file_on(other),
                    SECONDS).wait(30)
        self.until_told()
        self.expect_on_disk("copier", copier, disk)

    def test_a_file_of_an_overlay_is_on_the_disk_below(self):
        """As those of containers are, for calls by descriptor, too."""
        disk, reader = self.new_disk(), self.new_unit("reader")
        self.pages_on(disk)
        folders = {name: disk.path / name for name in ("upper", "work", "merged")}
        for folder in folders.values():
            folder.mkdir()
        options = f"lowerdir={disk.path},upperdir={folders['upper']},workdir={folders['work']}"
        mounted = subprocess.run(["mount", "-t", "overlay", "overlay", "-o", options, folders["merged"]],
                                 capture_output=True, text=True, check=False)
        if mounted.returncode:
            self.skipTest(f"no overlay: {mounted.stderr}")
        self.addCleanup(subprocess.run, ["umount", "--lazy", folders["merged"]], check=True)
        self.run_in(reader, sys.executable, "-c", READS, folders["merged"] / "pages", SECONDS).wait(30)
        self.until_told()
        self.expect_on_disk("reader", reader, disk)

    def test_a_page_fault_that_lasts_waits_on_the_disk_of_the_file(self):
        disk, reader = self.new_disk(), self.new_unit("reader")
        path, out = self.pages_on(disk), self.file_on(disk)
        limit = self.read_limit(disk, reader, 100)
        self.run_in(reader, *limit.of(sys.executable, "-c", FAULTS, "touches", path, out, 1))
        def stalls():
            answer = self.daemon.get_json_as_root(f"/api/v1/stalls?cgroup={reader.path}&for=storage")["stalls"]
            return [stall for stall in answer if stall["state"] == "in_progress"]
        self.wait_until("the wait that lasts is told", stalls, 40)
        seen = [stall.get("waits_on", {}).get("on") for stall in stalls()]
        self.say(seen == [f"device:{disk.name}"], "the stall waits on", f"device:{disk.name}", seen)
        self.say(f"on device {disk.name}" in self.daemon.offcpuctl("why", reader.unit).splitlines()[0], "why says",
                 f"... on device {disk.name} ...", self.daemon.offcpuctl("why", reader.unit).splitlines()[0])

    def test_a_call_by_path_waits_on_the_disk_of_the_path(self):
        """What it reads of the disk are blocks of the file system itself."""
        disk, finder = self.new_disk(64), self.new_unit("finder")
        for i in range(500):
            (disk.path / f"{i}").mkdir()
            (disk.path / f"{i}" / "file").touch()
        disk.forget()
        limit = self.read_limit(disk, finder, 1 << 20)
        find = f"import os\nfor i in range(500): os.stat(f'{disk.path}/{{i}}/file')\n"
        self.run_in(finder, *limit.of(sys.executable, "-c", find)).wait(60)
        self.until_told()
        self.expect_on_disk("finder", finder, disk)


if __name__ == "__main__":
    main()
