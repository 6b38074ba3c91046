# SPDX-License-Identifier: Apache-2.0
"""TLS and passwords: who gets in, and certificates that change meanwhile."""

import base64
import http.client
import json
import signal
import ssl
import subprocess
import threading
import time
from pathlib import Path

import prometheus_text
from case import main, slow
from daemon import BUILD
from secured import ALICE, TLS, WRONG, Secured
from tls_files import bcrypt


EXPIRY = "offcpud_web_certificate_expiry_timestamp_seconds"
DAY = 86_400


class Passwords(Secured):
    web = TLS + "basic_auth_users: {alice: @HASH@}\n"

    def test_everything_needs_the_password(self):
        for path in ("/metrics", "/-/ready", "/api/v1/top", "/flame", "/nothing"):
            self.expect_equal(f"{path} without", 401, self.ask(path)[0])
            self.expect_equal(f"{path} with a wrong one", 401, self.ask(path, WRONG)[0])
        status, text = self.ask(headers=ALICE)
        self.expect_equal("/metrics with the right one", 200, status)
        self.expect_at_least("metrics", 1, text.count("offcpud_build_info"))

    def test_offcpuctl(self):
        netrc = self.folder / "netrc"
        netrc.write_text("machine 127.0.0.1 login alice password secret\n")

        def status_of(*flags):
            return subprocess.run(
                [BUILD / "bin" / "offcpuctl", "status", "--server",
                 f"https://127.0.0.1:{self.daemon.port}", *flags],
                capture_output=True, text=True, timeout=30, check=False)

        trusted = ("--ca-file", self.authority.file)
        self.expect_equal("with file", 0, status_of(*trusted, "--netrc-file", netrc).returncode)
        refused = status_of(*trusted)
        self.expect_equal("without password", 77, refused.returncode)
        self.say("--netrc-file" in refused.stderr, "its words", "what to do", refused.stderr)
        stranger = status_of("--netrc-file", netrc)
        self.expect_equal("of an authority that is not known", 77, stranger.returncode)
        self.say("--ca-file" in stranger.stderr, "its words", "what to do", stranger.stderr)

    def test_guessing_does_not_delay_a_scrape(self):
        self.ask(headers=ALICE)
        stop = threading.Event()
        seen = []

        def guess():
            while not stop.is_set():
                seen.append(self.ask(headers=WRONG)[0])

        guessers = [threading.Thread(target=guess) for _ in range(12)]
        for thread in guessers:
            thread.start()
        try:
            for _ in range(10):
                self.expect_equal("scrape", 200, self.ask(headers=ALICE)[0])
        finally:
            stop.set()
            for thread in guessers:
                thread.join()
        self.say(set(seen) <= {401, 503}, "answers to guesses", "401 or 503", set(seen))


@slow
class LockOut(Secured):
    """New logins while wrong passwords arrive without end, from 16 connections."""

    NAMES = [f"user{number}" for number in range(7)]
    COST = 11  # some 0.15 s for each comparison
    options = {"web.local_socket": ""}

    @classmethod
    def setUpClass(cls):
        value = bcrypt("secret", cls.COST)
        cls.web = "basic_auth_users:\n" + "".join(f"  {name}: {value}\n" for name in cls.NAMES)
        super().setUpClass()

    def get(self, user, password, source, connection=None):
        """The status, on a connection of its own unless there is one."""
        name = base64.b64encode(f"{user}:{password}".encode()).decode()
        asked = connection or self.connect(source)
        asked.request("GET", "/-/healthy", headers={"Authorization": "Basic " + name})
        answer = asked.getresponse()
        answer.read()
        if not connection:
            asked.close()
        return answer.status

    def connect(self, source):
        return http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=20,
                                          source_address=(source, 0))

    def flood(self, source, user, stop, counts, pause):
        connection = None
        while not stop.wait(pause):
            connection = connection or self.connect(source)
            try:
                counts.append(self.get(user, f"guess{len(counts)}", source, connection))
            except (OSError, http.client.HTTPException):
                connection.close()
                connection = None
        if connection:
            connection.close()

    def comparing(self):
        """CPU seconds that comparisons took, as the kernel says."""
        for task in Path(f"/proc/{self.daemon.pid}/task").iterdir():
            if (task / "comm").read_text().strip() == "offcpud-passwd":
                return int((task / "schedstat").read_text().split()[0]) / 1e9
        self.fail("no thread is called offcpud-passwd")

    def logins_beside(self, sources, user, source, users, flooding=4, pause=0.0):
        """The slowest of new logins of these users from `source`, after a flood of so many seconds."""
        began = time.monotonic()
        self.expect_equal("a wrong one", 401, self.get("nobody", "x", "127.0.0.9"))
        one = time.monotonic() - began
        stop, counts, slowest = threading.Event(), [], 0.0
        threads = [threading.Thread(target=self.flood,
                                    args=(sources[i % len(sources)], user, stop, counts, pause))
                   for i in range(16)]
        for thread in threads:
            thread.start()
        try:
            time.sleep(flooding)
            for name in users:
                began = time.monotonic()
                self.expect_equal(f"new login of {name} from {source}", 200,
                                  self.get(name, "secret", source))
                slowest = max(slowest, time.monotonic() - began)
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        self.say(set(counts) <= {401, 503}, f"answers to {len(counts)} guesses", "401 or 503", set(counts))
        self.expect_at_least("guesses that were turned away", 100, counts.count(503))
        print(f"  a wrong one took {one:.3f} s, the slowest login took {slowest:.3f} s", flush=True)
        return slowest

    def test_from_another_address(self):
        self.logins_beside(["127.0.0.2"], "user0", "127.0.0.1", self.NAMES[:2])

    def test_from_another_address_than_sixteen(self):
        self.logins_beside([f"127.0.0.{20 + i}" for i in range(16)], "user0", "127.0.0.3",
                           self.NAMES[2:4])

    def test_from_the_same_address_with_another_name(self):
        self.logins_beside(["127.0.0.4"], "user0", "127.0.0.4", self.NAMES[4:6])


    def test_a_flood_that_lasts_takes_a_share_of_a_cpu(self):
        """Four seconds of a CPU at once, then a quarter; and one comparison more. The flood is only as
        large as it needs to be for the queue to be full: it takes no CPU that comparisons would take."""
        before, begin = self.comparing(), time.monotonic()
        slowest = self.logins_beside([f"127.0.1.{20 + i}" for i in range(16)], "user0", "127.0.0.5",
                                     self.NAMES[6:], flooding=16, pause=0.05)
        seconds = time.monotonic() - begin
        self.expect_at_most(f"CPU seconds of comparisons in {seconds:.1f} s", 4.4 + seconds / 4,
                            self.comparing() - before)
        self.expect_at_most("the login (s)", 2, slowest)


class Renewal(Secured):
    web = TLS

    def test_no_scrape_is_lost_when_the_certificate_changes(self):
        stop, failures, scrapes = threading.Event(), [], []

        def scrape():
            while not stop.is_set():
                try:
                    scrapes.append(self.ask("/-/ready")[0])
                except OSError as error:
                    failures.append(error)

        kept = self.https()
        kept.request("GET", "/-/healthy")
        kept.getresponse().read()
        scraper = threading.Thread(target=scrape)
        scraper.start()
        try:
            serials = [self.serial()]
            for name in ("second", "third"):
                self.replace_certificate(name)
                self.wait_until(f"{name} certificate", lambda: self.serial() not in serials)
                serials.append(self.serial())
        finally:
            stop.set()
            scraper.join()
        self.say(not failures, "failed scrapes", "none", failures[:3])
        self.say(set(scrapes) == {200}, f"{len(scrapes)} scrapes", "200", set(scrapes))
        sock = kept.sock
        kept.request("GET", "/-/healthy")
        self.expect_equal("on the connection of before", 200, kept.getresponse().status)
        self.say(kept.sock is sock, "that connection", "still open", kept.sock)
        kept.close()

    def expiry(self):
        """By the metric, and by the certificate that a new connection gets; None: they differ."""
        families = prometheus_text.Reader().read(self.ask()[1])
        said = families[EXPIRY].samples[(EXPIRY, frozenset())]
        with self.connected() as connection:
            shown = ssl.cert_time_to_seconds(connection.getpeercert()["notAfter"])
        return said if said == shown else None

    def test_the_metric_of_the_expiry_follows_the_certificate(self):
        before = self.expiry()
        self.expect_close("seconds until it expires", 2 * DAY, before - time.time(), absolute=120)
        self.replace_certificate("longer", days=30)
        self.wait_until("another time", lambda: self.expiry() not in (None, before))
        self.expect_close("seconds until then", 30 * DAY, self.expiry() - time.time(), absolute=60)

    def wait_for_state(self, successful):
        """That metric and status say whether all files are in use."""
        name = "offcpud_config_last_reload_successful"

        def said():
            families = prometheus_text.Reader().read(self.ask()[1])
            status = json.loads(self.ask("/api/v1/status")[1])
            return (families[name].samples[(name, frozenset())] == successful
                    and status["config"]["last_reload_successful"] is bool(successful)
                    and ("previous configuration" in status["summary"]) is not bool(successful))

        self.wait_until(f"{name} {successful}, and the status says so", said)

    def test_a_bad_certificate_leaves_the_old_one(self):
        serial = self.serial()
        place = self.folder / "server.crt"
        good = place.read_bytes()
        place.write_text("not a certificate\n")
        self.addCleanup(place.write_bytes, good)
        self.wait_until("words in the log",
                        lambda: any("keeping the TLS and users in use" in line
                                    for line in self.daemon.log()))
        self.say(self.serial() == serial, "certificate", "the old one", self.serial())
        self.wait_for_state(0)
        place.write_bytes(good)
        self.wait_for_state(1)
        place.write_text("not a certificate\n")
        self.daemon._process.send_signal(signal.SIGHUP)
        self.wait_until("words after SIGHUP",
                        lambda: any("keeping the running configuration" in line
                                    for line in self.daemon.log()))
        self.expect_equal("scrape", 200, self.ask()[0])
        self.wait_for_state(0)
        place.write_bytes(good)  # the reload that was refused for it is made up for
        self.wait_for_state(1)


if __name__ == "__main__":
    main()
