# SPDX-License-Identifier: Apache-2.0
"""What waits are for where names do not say it, but files do: of programs whose truth is known."""

import fcntl
import os
import shlex
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

from case import main
from daemon import die_with_the_tester
from snapshots_test import SnapshotCase

HERE = Path(__file__).resolve().parent
WAIT = "offcpud_wait_seconds"
IDLE = ("work", "timer")
ACTIONABLE = ("lock", "answer", "storage", "memory", "stopped")
SOCKET_REASONS = ("network", "poll")
# A command that waits for a connection that never comes.
ACCEPTS = f"{sys.executable} -c 'import socket; s = socket.socket(); s.listen(); s.accept()'"


class Evidence(SnapshotCase):
    settings = {"pass_interval": "1s", "min_pass_interval": "100ms", "snapshots.interval": "1s",
                "snapshots.stacks_per_second": "20000"}

    def run_in(self, cgroup, *command, **options):
        def enter():
            die_with_the_tester()
            cgroup.enter()

        program = subprocess.Popen([str(word) for word in command], preexec_fn=enter, text=True, **options)
        self.addCleanup(program.wait, 20)
        self.addCleanup((cgroup.directory / "cgroup.kill").write_text, "1")  # its children, too
        return program

    def classes(self, stacks, reasons):
        """{for: seconds} of the waits that left the CPU by these reasons."""
        sums = Counter()
        for row in stacks.rows:
            if row["reason"] in reasons:
                sums[row["for"]] += row["ns"] / 1e9
        return sums

    def windows(self, cgroup):
        """{for: seconds} that the windows of offcpud_wait_seconds have of the cgroup."""
        family = self.daemon.scrape().families.get(WAIT)
        sums = Counter()
        for having, one in family.histograms.items() if family else ():
            labels = dict(having)
            if labels["cgroup"] == cgroup.path:
                sums[labels["for"]] += one.sum
        return sums

    def expect_for(self, what, seen, wanted, share=0.97):
        """That so much of the time is for one of `wanted`."""
        print(f"  {what}: { {name: round(seconds, 3) for name, seconds in seen.items()} }", flush=True)
        right = sum(seen[name] for name in wanted)
        self.expect_at_least(f"share of {what} that is {wanted}", share,
                             round(right / max(1e-9, sum(seen.values())), 4))


class Sockets(Evidence):
    def talk(self, kind, address, seconds=5):
        server_group, client_group = self.new_cgroup(), self.new_cgroup()
        program = [sys.executable, HERE / "asking_programs.py"]
        server = self.run_in(server_group, *program, "serve", kind, address, seconds, stdout=subprocess.PIPE)
        self.addCleanup(server.stdout.close)
        self.assertEqual(server.stdout.readline(), "listening\n")
        client = self.run_in(client_group, *program, "ask", kind, address, seconds)
        return server, client, server_group, client_group

    def expect_answers_and_work(self, conversations, seconds=5):
        """The client's waits in its socket are for answers, those of an idle loop excepted; the server's
        are for work. So say snapshots and, once the waits have ended, windows."""
        begin = time.time()
        talks = {name: self.talk(kind, address, seconds) for name, (kind, address) in conversations.items()}
        time.sleep(seconds + 2.5)
        for name, (_, _, _, client_group) in talks.items():
            hung = self.stacks_since(begin, cgroup=client_group.path)
            hung.rows = hung.select(in_progress=True)
            self.expect_for(f"{name}: seconds of the client's last wait, which lasts",
                            self.classes(hung, SOCKET_REASONS), ("answer",))
        for server, client, _, _ in talks.values():
            client.wait(20)
            server.wait(20)
        time.sleep(4)  # the windows end
        for name, (_, _, server_group, client_group) in talks.items():
            self.expect_client(name, self.stacks_since(begin, cgroup=client_group.path), client_group, seconds)
            self.expect_server(name, self.stacks_since(begin, cgroup=server_group.path), server_group)

    def expect_client(self, name, stacks, cgroup, seconds):
        seen, windows = self.classes(stacks, SOCKET_REASONS), self.windows(cgroup)
        is_loop = name.endswith(("epoll", "quick"))
        rests = seconds * (1 if name.endswith("quick") else 0.5)
        if is_loop:
            idle = sum(seen.pop(each, 0) for each in IDLE)
            self.expect_close(f"{name}: seconds of the client's idle loop", rests, idle, 0.25)
        self.expect_for(f"{name}: seconds of the client's waits in snapshots", seen, ("answer",))
        # Windows have its sleep as well, if it rests so; none of its waits for an answer may be idle.
        idle = sum(windows.pop(each, 0) for each in (IDLE if is_loop else ("timer",)))
        self.expect_close(f"{name}: seconds that the client rests in windows", rests, idle, 0.25)
        self.expect_for(f"{name}: seconds in windows, but its rests", windows, ("answer",), 0.9)

    def expect_server(self, name, stacks, cgroup):
        self.expect_for(f"{name}: seconds of the server's waits in snapshots",
                        self.classes(stacks, SOCKET_REASONS), ("work",))
        windows = self.windows(cgroup)
        actionable = sum(windows[name] for name in ACTIONABLE)
        self.expect_at_most(f"{name}: seconds of the server's that windows call actionable, of {windows}",
                            0.02 * sum(windows.values()) + 0.02, round(actionable, 4))

    def test_tcp(self):
        self.expect_answers_and_work({"tcp block": ("block", "29711"), "tcp poll": ("poll", "29712"),
                                      "tcp epoll": ("epoll", "29713"), "tcp quick": ("quick", "29714")})

    def test_unix(self):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-evidence-")
        self.addCleanup(folder.cleanup)
        self.expect_answers_and_work({"unix block": ("block", f"{folder.name}/socket")})

    def test_nobody_knows_who_asks_on_a_pair(self):
        """Once its parent has sent with SO_PASSCRED set, an idle child looks as if it had connected to a server."""
        parent, child = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with parent, child:
            parent.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
            loop = (f"import socket; own = socket.socket(fileno={child.fileno()}); own.settimeout(60)\n"
                    "while own.recv(100): own.send(b'done')")
            cgroup = self.new_cgroup()
            self.run_in(cgroup, sys.executable, "-c", loop, pass_fds=[child.fileno()])
            begin = time.time()
            for _ in range(3):
                parent.send(b"do")
                self.assertEqual(parent.recv(100), b"done")
                time.sleep(1)
            self.assertNotEqual(parent.getsockname(), "")  # what made it look so
            time.sleep(2)
            seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), SOCKET_REASONS)
        self.expect_at_least("seconds of the child", 2, sum(seen.values()))
        self.expect_at_most(f"actionable seconds, of {dict(seen)}", 0, sum(seen[name] for name in ACTIONABLE))

    def test_who_only_acknowledges_is_not_said_to_wait(self):
        """A loop whose connection was spoken on last from here, at once after the peer, as an idle one of HTTP/2."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        loop = f"""
import select, socket
own = socket.create_server(("127.0.0.1", 0))
peer = socket.create_connection({listener.getsockname()!r})
peer.recv(100)
peer.send(b"acknowledged")
ready = select.epoll()
for each in own, peer:
    ready.register(each, select.EPOLLIN)
while True:
    ready.poll(1)
"""
        cgroup = self.new_cgroup()
        self.run_in(cgroup, sys.executable, "-c", loop)
        connection = listener.accept()[0]
        self.addCleanup(connection.close)
        time.sleep(1)
        connection.send(b"settings")
        time.sleep(2)
        begin = time.time()
        time.sleep(4)
        seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), SOCKET_REASONS)
        self.expect_at_least("seconds of the loop", 2, sum(seen.values()))
        self.expect_for("seconds of the loop", seen, ("unknown",))

    def test_a_server_that_does_not_greet(self):
        """Nothing was ever sent or received on the client's connection, as before a hung server of SMTP."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        cgroup = self.new_cgroup()
        client = f"import socket; socket.create_connection({listener.getsockname()!r}).recv(1)"
        begin = time.time()
        self.run_in(cgroup, sys.executable, "-c", client)
        time.sleep(6)
        hung = self.stacks_since(begin, cgroup=cgroup.path)
        hung.rows = hung.select(in_progress=True)
        seen = self.classes(hung, SOCKET_REASONS)
        self.expect_at_least("seconds that the client waits for a greeting", 2, sum(seen.values()))
        self.expect_for("seconds that the client waits for a greeting", seen, ("answer",))

    def test_who_connects_for_each_question_asks_no_queue(self):
        """The server takes 2.0 s each time, as one that says that no job came within the timeout."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def answer(connection):
            with connection:
                while connection.recv(100):
                    time.sleep(2)
                    connection.sendall(b"answer")

        def accept():
            try:
                while True:
                    threading.Thread(target=answer, args=(listener.accept()[0],), daemon=True).start()
            except OSError:
                pass  # the test is over

        threading.Thread(target=accept, daemon=True).start()
        kept, anew = self.new_cgroup(), self.new_cgroup()
        connect = f"import socket\nconnect = lambda: socket.create_connection({listener.getsockname()!r})\n"
        ask = "peer.sendall(b'question'), peer.recv(100)\n"
        self.run_in(kept, sys.executable, "-c", f"{connect}peer = connect()\nwhile True: {ask}")
        self.run_in(anew, sys.executable, "-c", f"{connect}while True:\n with connect() as peer: {ask}")
        time.sleep(20)
        begin = time.time()
        time.sleep(6)
        for cgroup, wanted in ((kept, "work"), (anew, "answer")):
            seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), SOCKET_REASONS)
            self.expect_at_least("seconds of the client", 2, sum(seen.values()))
            self.expect_for("seconds of the client", seen, (wanted,))

    def test_what_answers_a_keepalive_is_no_sign_of_a_question(self):
        """One client has its answer and reads on, as who subscribed to something; another has asked once
        more. Both connections are kept alive, and their last words were within a tick of the kernel."""
        rounds = 20
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        threading.Thread(target=answer_rounds, args=(listener, 2, rounds), daemon=True).start()
        client = ("import socket, sys\nserver = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
                  "server.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)\n"
                  "for option in (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL):\n"
                  "    server.setsockopt(socket.IPPROTO_TCP, option, 1)\n"
                  "for _ in range(int(sys.argv[3])):\n    server.sendall(b'x')\n    server.recv(1)\n"
                  "server.sendall(sys.argv[4].encode())\nserver.recv(1)\n")
        groups = {}
        for wanted, last in (("work", ""), ("answer", "x")):
            groups[wanted] = self.new_cgroup()
            self.run_in(groups[wanted], sys.executable, "-c", client, *listener.getsockname(), rounds, last)
        time.sleep(7)
        begin = time.time() - 3
        for wanted, cgroup in groups.items():
            lasting = self.stacks_since(begin, cgroup=cgroup.path)
            lasting.rows = lasting.select(in_progress=True)
            seen = self.classes(lasting, SOCKET_REASONS)
            self.expect_at_least("seconds that the client waits", 2, sum(seen.values()))
            self.expect_for("seconds that the client waits", seen, (wanted,))


def answer_rounds(listener, clients, rounds):
    """Answers each client so many questions, and then no more."""
    kept = []
    for _ in range(clients):
        connection = listener.accept()[0]
        kept.append(connection)
        for _ in range(rounds):
            connection.sendall(connection.recv(1))
    time.sleep(60)


class Pasts(Evidence):
    """The past of a place says whether an answer was to come soon."""
    settings = {**Evidence.settings, "stalls.threshold": "3s"}
    LEARNS = 20  # seconds: a stack that is not certain is looked at again after 15 s

    def ask(self, answer):
        """The cgroup of a client that asks, and asks again when it was answered. Its server is
        `answer(connection)`."""
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        threading.Thread(target=lambda: answer(listener.accept()[0]), daemon=True).start()
        client = ("import socket, sys\nserver = socket.create_connection((sys.argv[1], int(sys.argv[2])))\n"
                  "while True:\n    server.sendall(b'x')\n    server.recv(1)\n")
        cgroup = self.new_cgroup()
        self.run_in(cgroup, sys.executable, "-c", client, *listener.getsockname())
        return cgroup

    def told(self, cgroup):
        answer = self.daemon.get_json_as_root(f"/api/v1/stalls?state=in_progress&cgroup={cgroup.path}")
        return [(stall["for"], stall["certain"]) for stall in answer["stalls"] if stall["told"]]

    def test_who_asks_again_after_each_timeout_waits_for_work(self):
        """As a worker of a queue does: each time the server says after a second that there is no job."""
        cgroup = self.ask(lambda connection: answer_each(connection, 1.0))
        time.sleep(self.LEARNS)
        begin = time.time()
        time.sleep(6)
        seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), SOCKET_REASONS)
        self.expect_at_least("seconds that the worker waits", 3, sum(seen.values()))
        self.expect_for("seconds that the worker waits", seen, ("work",))

    def test_a_server_that_falls_silent_is_told(self):
        """If it used to answer soon; who waits for the first answer may wait for a job."""
        used_to_answer = self.ask(lambda connection: answer_each(connection, 0.02, self.LEARNS))
        never_answered = self.ask(lambda connection: answer_each(connection, 1000))
        self.wait_until("the stall is told", lambda: self.told(used_to_answer), self.LEARNS + 20)
        told = self.told(used_to_answer)
        self.say(told == [("answer", True)], "what is told", "an answer, for certain", told)
        told = self.told(never_answered)
        self.say(not told, "what is told of who was never answered", "nothing", told)
        begin = time.time()
        time.sleep(4)
        for cgroup in (used_to_answer, never_answered):
            seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), SOCKET_REASONS)
            self.expect_for("seconds for which it is silent", seen, ("answer",))


def answer_each(connection, after, seconds=1000):
    """Answers each question after some seconds; after so many seconds in all, none any more."""
    until = time.monotonic() + seconds
    while time.monotonic() < until and connection.recv(1):
        time.sleep(after)
        connection.sendall(b"y")
    time.sleep(1000)


class Chains(Evidence):
    def hold_a_lock(self):
        """The path of a file that stays locked."""
        folder = tempfile.TemporaryDirectory(prefix="offcpud-evidence-")
        self.addCleanup(folder.cleanup)
        path = f"{folder.name}/lock"
        file = open(path, "w", encoding="utf-8")
        self.addCleanup(file.close)
        fcntl.flock(file, fcntl.LOCK_EX)
        return path

    def expect_chains(self, reasons, commands):
        """Each of these commands, {(for, name): command}, waits by these reasons for what its name says:
        so say snapshots once windows have followed the chain."""
        groups = {key: self.new_cgroup() for key in commands}
        programs = [self.run_in(groups[key], *command) for key, command in commands.items()]
        time.sleep(9)
        begin = time.time()
        time.sleep(4)
        for key, cgroup in groups.items():
            seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), reasons)
            self.expect_at_least(f"seconds that {key[1]} waits", 2, sum(seen.values()))
            self.expect_for(f"seconds that {key[1]} waits", seen, key[:1])
        return programs

    def test_a_shell_waits_for_what_its_child_waits_for(self):
        def shells(command):
            """A shell that waits for a shell that waits for it; lists, so that neither becomes its child."""
            return "sh", "-c", f"sh -c {shlex.quote(command + '; true')}; true"

        self.expect_chains(("child",), {
            ("timer", "the shell of a nap"): shells("sleep 60"),
            ("work", "the shell of a server"): shells(ACCEPTS),
            ("answer", "the shell of a waiter for a lock"): shells(f"flock {self.hold_a_lock()} true")})

    def test_a_reader_of_a_pipe_waits_for_its_writer(self):
        def pipeline(command):
            return "sh", "-c", f"{command} | cat"

        def output(command):
            return "bash", "-c", f"x=$({command}); true"

        own = "import os; ends = os.pipe(); os.read(ends[0], 1)"
        self.expect_chains(("pipe",), {
            ("work", "who reads of a nap"): pipeline("sleep 60"),
            ("work", "who reads of a server"): pipeline(ACCEPTS),
            ("work", "who reads its own pipe"): (sys.executable, "-c", own),
            ("timer", "who wants the output of a nap"): output("sleep 60"),
            ("timer", "who wants the output of a shell that naps"): output("sleep 60; true"),
            ("work", "who wants the output of a server"): output(ACCEPTS),
            ("answer", "who wants the output of a waiter for a lock"): output(
                f"flock {self.hold_a_lock()} true"),
            ("answer", "who reads of a waiter for a lock"): pipeline(f"flock {self.hold_a_lock()} true"),
            ("answer", "who reads of a shell that runs commands"): pipeline("(while true; do sleep 3; done)")})


class Memory(Evidence):
    def test_who_waits_for_a_memory_limit(self):
        """A program at the limit of a cgroup whose tasks are not killed for it, until the limit is raised."""
        root = Path("/sys/fs/cgroup/memory")
        self.skip_if(not (root / "memory.oom_control").exists() and "no memory controller of cgroup v1")
        limited = root / f"offcpud-evidence-{os.getpid()}"
        limited.mkdir()
        self.addCleanup(limited.rmdir)
        (limited / "memory.oom_control").write_text("1")
        (limited / "memory.limit_in_bytes").write_text(str(32 << 20))
        cgroup = self.new_cgroup()
        fill = (f"open('{limited}/cgroup.procs', 'w').write('0')\n"
                "memory = bytearray(64 << 20)\n"
                "for page in range(0, len(memory), 4096): memory[page] = 1\n")
        begin = time.time()
        program = self.run_in(cgroup, sys.executable, "-c", fill)
        time.sleep(5)
        (limited / "memory.limit_in_bytes").write_text(str(256 << 20))
        self.expect_equal("end of the program", 0, program.wait(20))
        seen = self.classes(self.stacks_since(begin, cgroup=cgroup.path), ("kernel", "other"))
        self.expect_at_least("seconds at the limit", 3, seen["memory"])
        self.expect_for("seconds at the limit", seen, ("memory",))


if __name__ == "__main__":
    main()
