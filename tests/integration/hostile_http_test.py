# SPDX-License-Identifier: Apache-2.0
"""Clients that mean no good, all at once, while others scrape. Everything stays on loopback: the
attackers are 127.0.0.2 and following, the scrapers 127.0.0.1, where the attackers are as well."""

import http.client
import os
import random
import signal
import socket
import threading
import time
from collections import deque

import hostile_requests
from case import Case, main

SECONDS = 12


class HostileCase(Case):
    settings = {"min_pass_interval": "1s"}  # the default: each pass makes a View that readers hold

    def connect(self, source="127.0.0.2", buffer=None):
        sock = socket.socket()
        sock.settimeout(5)
        if buffer:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, buffer)
        sock.bind((source, 0))
        sock.connect(("127.0.0.1", self.daemon.port))
        return sock

    def status_of(self, request, source="127.0.0.2"):
        """The status of the answer to these bytes; 0: the connection was closed without one."""
        with self.connect(source) as sock:
            try:
                sock.sendall(request)
                head = sock.recv(64)
            except OSError:
                return 0
            return int(head.split()[1]) if head.startswith(b"HTTP/1.") else 0

    def attack(self, one, source_count=1):
        """Calls `one(source)` again and again until the end."""
        def run():
            number = 0
            while not self.stop.is_set():
                number += 1
                try:
                    one(f"127.0.0.{2 + number % source_count}")
                except OSError:
                    time.sleep(0.01)

        self.threads.append(threading.Thread(target=run))

    def scrape_meanwhile(self):
        """Durations of scrapes, each with a connection of its own, until the end."""
        durations = []
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            begin = time.monotonic()
            connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=10)
            connection.request("GET", "/metrics")
            answer = connection.getresponse()
            body = answer.read()
            connection.close()
            durations.append(time.monotonic() - begin)
            if answer.status != 200 or b"offcpud_build_info" not in body:
                self.fail(f"scrape {len(durations)}: {answer.status}")
            time.sleep(0.2)
        return durations

    def run_beside_scrapes(self, *attacks):
        """Returns the memory of the daemon's own at the end, in bytes."""
        self.stop, self.threads = threading.Event(), []
        for one, sources in attacks:
            self.attack(one, sources)
        for thread in self.threads:
            thread.start()
        try:
            durations = sorted(self.scrape_meanwhile())
        finally:
            highest = self.rss()
            self.stop.set()
            for thread in self.threads:
                thread.join()
        self.expect_at_least("scrapes", 10, len(durations))
        self.expect_at_most("longest scrape (s)", 5.0, durations[-1])
        return highest

    def rss(self):
        with open(f"/proc/{self.daemon.pid}/statm", encoding="ascii") as statm:
            return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def send_nonsense(self):
        def one(source):
            self.status_of(random.choice(hostile_requests.ALL), source)

        def noise(source):
            self.status_of(os.urandom(4096), source)

        return self.run_beside_scrapes((one, 3), (one, 3), (noise, 3))


class Flood(HostileCase):
    def test_a_request_that_is_there_is_answered(self):
        """The scraper has a long request under way when it comes again, while the daemon is slow and
        others come, of whom each has one connection only."""
        idle = [self.connect(f"127.1.0.{1 + n}") for n in range(130)]
        self.addCleanup(lambda: [sock.close() for sock in idle])
        profile = self.connect("127.0.0.1")
        self.addCleanup(profile.close)
        host = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        profile.sendall(b"GET /debug/pprof/offcpu?seconds=5" + host)
        time.sleep(0.5)
        answered = 0
        for attempt in range(10):
            os.kill(self.daemon.pid, signal.SIGSTOP)
            try:
                with self.connect("127.0.0.1") as scraper:
                    scraper.sendall(b"GET /-/healthy" + host)
                    idle += [self.connect(f"127.2.{attempt}.{1 + n}") for n in range(20)]
                    os.kill(self.daemon.pid, signal.SIGCONT)
                    answered += scraper.recv(64).startswith(b"HTTP/1.1 200")
            except ConnectionError:
                pass
            finally:
                os.kill(self.daemon.pid, signal.SIGCONT)
        self.expect_equal("answers", 10, answered)


class Requests(HostileCase):
    def test_requests_that_make_no_sense(self):
        self.send_nonsense()

    def test_methods_and_paths(self):
        host = b" HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"
        for method in (b"POST", b"PUT", b"DELETE", b"OPTIONS", b"TRACE", b"CONNECT", b"PATCH", b"get"):
            self.expect_equal(method.decode(), 405, self.status_of(method + b" /metrics" + host))
        for path in (b"/../../etc/passwd", b"/%2e%2e/%2e%2e/etc/passwd", b"//metrics", b"/metrics/",
                     b"/metrics/../api/v1/top", b"/./metrics", b"/METRICS",
                     b"/..%2fmetrics", b"/\\metrics", b"/metrics;x=1", b"/%c0%ae%c0%ae/metrics"):
            self.expect_equal(path.decode(), 404, self.status_of(b"GET " + path + host))


class Memory(HostileCase):
    # Without stacks: what is kept of programs that others start meanwhile is no memory of clients.
    settings = {**HostileCase.settings, "snapshots.enabled": "false"}

    def setUp(self):
        super().setUp()
        self.daemon.text()
        self.before = self.rss()

    def expect_little(self, highest):
        self.expect_at_most("memory that came on top (MiB)", 32, (highest - self.before) / 2**20)

    def expect_little_memory(self, *attacks):
        self.expect_little(self.run_beside_scrapes(*attacks))

    def test_a_thousand_connections(self):
        held = []
        self.addCleanup(lambda: [sock.close() for sock in held])

        def hold(source):
            if len(held) >= 1000:
                time.sleep(0.1)
                held.pop(random.randrange(len(held))).close()
            sock = self.connect(source)
            if len(held) % 3 == 0:
                sock.sendall(b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ")
            held.append(sock)

        def hold_beside_the_scraper(_source):
            hold("127.0.0.1")

        self.expect_little_memory((hold, 40), (hold_beside_the_scraper, 1))
        self.expect_at_least("connections that were held", 1000, len(held))

    def test_connections_from_as_many_addresses(self):
        """Which say nothing, and no address of which has more than another: the one that is closed for
        them is never one whose request is there."""
        held, number = deque(), 0
        self.addCleanup(lambda: [sock.close() for sock in held])

        def come(_source):
            nonlocal number
            number += 1
            held.append(self.connect(f"127.{1 + number // 62_500 % 250}.{number // 250 % 250}."
                                     f"{1 + number % 250}"))
            if len(held) > 700:
                held.popleft().close()

        self.expect_little_memory((come, 1))
        self.expect_at_least("connections", 1000, number)

    def ask_without_reading(self, fields=b""):
        held = []
        self.addCleanup(lambda: [sock.close() for sock in held])

        def ask(source):
            sock = self.connect(source, buffer=4096)
            sock.sendall((b"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\n" + fields + b"\r\n") * 20)
            held.append(sock)
            time.sleep(0.02)
            if len(held) > 400:
                held.pop(0).close()

        self.expect_little_memory((ask, 1), (ask, 40))

    def test_readers_that_do_not_read(self):
        self.ask_without_reading()

    def test_readers_that_do_not_read_what_is_compressed_for_them(self):
        self.ask_without_reading(b"Accept-Encoding: gzip\r\n")

    def test_requests_that_make_no_sense(self):
        self.expect_little(self.send_nonsense())


if __name__ == "__main__":
    main()
