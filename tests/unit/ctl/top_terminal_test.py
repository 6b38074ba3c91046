# SPDX-License-Identifier: Apache-2.0
"""offcpuctl top and snapshot on a pseudo terminal, against a daemon that says what the test wants.

Usage: top_terminal_test.py OFFCPUCTL
"""

import fcntl
import http.server
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import unittest
import urllib.parse

OFFCPUCTL = sys.argv.pop()
PATIENCE = 20
LEAVE = b"\x1b[?1049l"  # xterm leaves the alternate screen
TITLE = "\x1b]0;owned\x07"  # would set the title of the window


def process(pid, comm, **more):
    row = {"pid": pid, "comm": comm, "cgroup": f"/{comm}.service", "threads": 1}
    row |= {"actionable_seconds": 1.0, "running_seconds": 0.5, "oldest_blocked": None}
    row |= {"blocked_seconds": {"disk": 0.5}, "runqueue_seconds": {"preempted": 0.5}}
    row |= {"p50_seconds": 0.001, "p99_seconds": 0.5, "max_seconds": 0.5}
    return row | more


def thread(tid, comm):
    row = process(tid, comm, tid=tid, cpu=3, pinned=True, state="running", state_seconds=1.0)
    return row | {"kept_off_seconds": {}, "last_taker": None, "longest_wait": None}


class Daemon:
    """Answers /api/v1/top; keeps the queries."""

    def __init__(self, port=0):
        self.queries = []
        daemon = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                url = urllib.parse.urlsplit(self.path)
                query = dict(urllib.parse.parse_qsl(url.query))
                daemon.queries.append(query)
                of_stacks = url.path == "/api/v1/snapshots/merge"
                status, body = daemon.stacks() if of_stacks else daemon.answer(query)
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, *_):
                pass  # clients leave in the middle of an answer: that is what is tested

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def answer(self, query):
        if query.get("sort") == "nonsense":
            return 400, json.dumps({"error": "parameter sort: use what is allowed"}).encode()
        threads = query.get("threads") == "true"
        rows = [thread(7, "lcore")] if threads else [process(4711, "postgres"), process(5, TITLE)]
        body = {"interval_seconds": 2.0, "taken": "2026-11-20T12:19:40.250Z"}
        body["totals"] = process(0, "") | {"processes": 2, "threads": 2}
        body["matching"] = len(rows)
        body["threads" if threads else "processes"] = rows
        return 200, json.dumps(body).encode()

    @staticmethod
    def stacks():
        body = {"columns": ["pid", "comm", "for", "site", "stack", "ns"], "rows": [[4711, 0, 1, 2, 0, 2_500_000_000]]}
        body |= {"stacks": [[0, 1, 2]], "frames": [[3, 6, 0], [4, 6, 0], [5, 6, 1]]}
        body["strings"] = ["postgres", "lock", "mutex", "main", "pthread_mutex_lock", "futex_wait", ""]
        return 200, json.dumps(body).encode()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()


class Terminal:
    """offcpuctl top as the foreground process of a terminal of 24 lines."""

    def __init__(self, port, *arguments, columns=100):
        self.master, slave = pty.openpty()
        self.resize(columns, 24)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.output = b""

        def become_foreground():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        self.child = subprocess.Popen(
            [OFFCPUCTL, "top", "--server", f"127.0.0.1:{port}", "--interval", "200ms", *arguments],
            stdin=slave, stdout=slave, stderr=slave, preexec_fn=become_foreground,
            env=os.environ | {"TERM": "xterm", "LC_ALL": "C.UTF-8"},
        )  # fmt: skip

    def resize(self, columns, lines):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    def press(self, keys):
        os.write(self.master, keys.encode())

    def read(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            try:
                self.output += os.read(self.master, 65536)
            except OSError:  # nobody has the other end any more
                time.sleep(seconds)

    def wait_for(self, text, what="the terminal"):
        """Everything until `text` was written, which is then forgotten."""
        text = text.encode() if isinstance(text, str) else text
        deadline = time.monotonic() + PATIENCE
        while text not in self.output:
            if time.monotonic() > deadline:
                raise AssertionError(f"{what} never had {text!r}; last: {self.output[-3000:]!r}")
            self.read(0.05)
        seen, self.output = self.output, b""
        return seen

    def end(self):
        """The exit status, when it has ended by itself."""
        deadline = time.monotonic() + PATIENCE
        while self.child.poll() is None and time.monotonic() < deadline:
            self.read(0.02)
        for _ in range(5):
            self.read(0.02)
        return self.child.returncode

    def close(self):
        if self.child.poll() is None:
            self.child.kill()
            self.child.wait()
        os.close(self.slave)
        os.close(self.master)


class TopOnATerminal(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(lambda: self.daemon.stop())

    def start(self, *arguments, **options):
        terminal = Terminal(self.daemon.port, *arguments, **options)
        self.addCleanup(terminal.close)
        return terminal

    def expect_restored(self, terminal):
        self.assertIn(LEAVE, terminal.output)
        self.assertEqual(termios.tcgetattr(terminal.slave), terminal.before)

    def wait_for_query(self, **wanted):
        deadline = time.monotonic() + PATIENCE
        while not any(wanted.items() <= query.items() for query in self.daemon.queries):
            self.assertLess(time.monotonic(), deadline, f"{wanted} in {self.daemon.queries}")
            time.sleep(0.02)

    def test_redraws_until_q_and_restores_the_terminal(self):
        terminal = self.start()
        seen = terminal.wait_for("postgres")
        self.assertIn(b"4711", seen)
        before = len(self.daemon.queries)
        terminal.wait_for("", "nothing")
        deadline = time.monotonic() + PATIENCE
        while len(self.daemon.queries) < before + 3 and time.monotonic() < deadline:
            terminal.read(0.05)
        self.assertGreaterEqual(len(self.daemon.queries), before + 3)
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.expect_restored(terminal)

    def test_signals_restore_the_terminal(self):
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(signal=number):
                terminal = self.start()
                terminal.wait_for("postgres")
                terminal.child.send_signal(number)
                self.assertEqual(terminal.end(), 0)
                self.expect_restored(terminal)

    def test_ctrl_c_restores_the_terminal(self):
        terminal = self.start()
        terminal.wait_for("postgres")
        terminal.press("\x03")
        self.assertEqual(terminal.end(), 0)
        self.expect_restored(terminal)

    def test_keys_change_what_is_asked_for(self):
        terminal = self.start()
        terminal.wait_for("postgres")
        terminal.press("s")
        self.wait_for_query(sort="runqueue")
        terminal.press("r")
        self.wait_for_query(sort="runqueue", reverse="true")
        terminal.press("/sys tem\r")
        self.wait_for_query(filter="sys tem")
        terminal.press("t")
        terminal.wait_for("lcore")
        self.wait_for_query(threads="true")
        terminal.press("p")
        self.wait_for_query(threads="true", pinned="true")
        terminal.press("h")
        terminal.wait_for("who waits, and why")
        terminal.press("\x1b[B")  # an arrow leaves the help as one key
        terminal.wait_for("pinned threads with \"sys tem\" by waiting")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_enter_shows_the_stacks_of_the_first_row(self):
        terminal = self.start()
        terminal.wait_for("postgres")
        terminal.press("\r")
        seen = terminal.wait_for("pthread_mutex_lock < main")
        self.assertIn(b"2.5 s", seen)
        self.wait_for_query(**{"from": "-10min", "pid": "4711"})
        asked = len(self.daemon.queries)
        time.sleep(0.6)
        self.assertEqual(len(self.daemon.queries), asked, "nothing changes while one reads")
        terminal.press("x")
        terminal.wait_for("UNIT OR CGROUP")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)

    def test_names_cannot_speak_to_the_terminal(self):
        terminal = self.start()
        seen = terminal.wait_for(r"\x1b]0;owned")
        self.assertNotIn(b"\x1b]0;", seen)

    def test_follows_the_size_of_the_terminal(self):
        terminal = self.start(columns=100)
        terminal.wait_for("UNIT OR CGROUP")
        self.assertIn({"limit": "38"}, self.daemon.queries)
        terminal.resize(30, 10)
        self.wait_for_query(limit="10")
        terminal.resize(120, 50)
        self.wait_for_query(limit="90")
        terminal.wait_for("UNIT OR CGROUP")

    def test_a_lost_daemon_is_shown_and_asked_again(self):
        terminal = self.start()
        terminal.wait_for("postgres")
        self.daemon.stop()
        terminal.wait_for("offcpud answers at 127.0.0.1")  # only what changes is written
        self.daemon = Daemon(self.daemon.port)
        terminal.wait_for("processes by waiting")
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.expect_restored(terminal)

    def test_quits_at_once_while_the_daemon_is_silent(self):
        release = threading.Event()
        self.addCleanup(release.set)
        answer = self.daemon.answer
        self.daemon.answer = lambda query: (release.wait(30), answer(query))[1]
        terminal = self.start()
        terminal.wait_for("waiting for an answer")
        start = time.monotonic()
        terminal.press("q")
        self.assertEqual(terminal.end(), 0)
        self.assertLess(time.monotonic() - start, 3)
        self.expect_restored(terminal)

    def test_a_terminal_that_goes_away_ends_it(self):
        terminal = self.start()
        terminal.wait_for("postgres")
        os.close(terminal.slave)
        os.close(terminal.master)
        try:
            terminal.child.wait(PATIENCE)
        finally:
            terminal.master, terminal.slave = pty.openpty()
        self.assertIsNotNone(terminal.child.returncode)

    def test_an_unknown_terminal_says_what_to_do(self):
        terminal = self.start()
        terminal.close()
        terminal.master, terminal.slave = pty.openpty()
        run = subprocess.run(
            [OFFCPUCTL, "top", "--server", f"127.0.0.1:{self.daemon.port}"],
            stdin=terminal.slave, stdout=terminal.slave, stderr=subprocess.PIPE, text=True,
            env=os.environ | {"TERM": "no-such-terminal"}, timeout=PATIENCE, check=False,
        )  # fmt: skip
        self.assertEqual(run.returncode, 69)
        self.assertIn("use --once", run.stderr)


class SnapshotOnATerminal(unittest.TestCase):
    """A daemon samples for as long as it was asked to before it answers."""

    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)
        self.release = threading.Event()
        self.addCleanup(self.release.set)
        self.daemon.answer = lambda query: (self.release.wait(PATIENCE), (200, b"main;read 7\n"))[1]

    def start(self, stderr):
        return subprocess.Popen(
            [OFFCPUCTL, "snapshot", "-f", "25", "--server", f"127.0.0.1:{self.daemon.port}"],
            stdout=subprocess.PIPE, stderr=stderr, text=True,
        )  # fmt: skip

    def test_says_at_once_what_it_waits_for_and_how_long(self):
        master, slave = pty.openpty()
        for end in (master, slave):
            self.addCleanup(os.close, end)
        with self.start(slave) as child:
            self.assertTrue(select.select([master], [], [], PATIENCE)[0], "nothing was said before the answer")
            self.assertEqual(os.read(master, 1000), b"sampling stacks of waits for 25 s; Ctrl-C gives up\r\n")
            self.release.set()
            self.assertEqual(child.communicate(timeout=PATIENCE)[0], "main;read 7\n")
        self.assertEqual(self.daemon.queries[0]["seconds"], "25")

    def test_elsewhere_only_the_answer_is_printed(self):
        self.release.set()
        with self.start(subprocess.PIPE) as child:
            self.assertEqual(child.communicate(timeout=PATIENCE), ("main;read 7\n", ""))


class TopWithoutATerminal(unittest.TestCase):
    def setUp(self):
        self.daemon = Daemon()
        self.addCleanup(self.daemon.stop)

    def run_top(self, *arguments):
        return subprocess.run(
            [OFFCPUCTL, "top", "--server", f"127.0.0.1:{self.daemon.port}", *arguments],
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip

    def test_prints_once(self):
        run = self.run_top("--sort", "p99", "--limit", "5")
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertIn("postgres.service", run.stdout)
        self.assertIn(r"\x1b]0;owned", run.stdout)
        self.assertNotIn("\x1b", run.stdout)
        self.assertEqual(self.daemon.queries, [{"sort": "p99", "limit": "5"}])

    def test_json_is_the_answer_as_it_is(self):
        run = self.run_top("--json", "--cpu", "3")
        self.assertEqual(json.loads(run.stdout), json.loads(self.daemon.answer({"threads": "true"})[1]))
        self.assertEqual(self.daemon.queries, [{"threads": "true", "cpu": "3"}])

    def test_what_the_daemon_refuses_is_an_error_of_usage(self):
        run = self.run_top("--sort", "nonsense")
        self.assertEqual(run.returncode, 64)
        self.assertIn("use what is allowed", run.stderr)

    def test_no_daemon_is_an_error(self):
        self.daemon.stop()
        self.addCleanup(setattr, self, "daemon", None)
        run = self.run_top()
        self.assertEqual(run.returncode, 69)
        self.assertIn("no offcpud answers", run.stderr)


if __name__ == "__main__":
    unittest.main()
