# SPDX-License-Identifier: Apache-2.0
"""Certificates of clients, who sees what, a socket from the service manager, and a real Prometheus."""

import http.client
import shutil
import ssl
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

import host
import metric_families
import prometheus_server
from case import Case, main
from daemon import BUILD, TREE, Daemon, die_with_the_tester
from exposition_test import PROTOBUF
from secured import ALICE, TLS, Secured
from tls_files import Authority

DEFAULT_FILE = Path("/etc/offcpud/offcpud.yaml")
ALERTS = TREE / "config" / "prometheus" / "alerts.rules.yaml"


class ClientCase(Secured):
    def client(self, name, sans="DNS:prometheus.example.org", authority=None, usage="clientAuth"):
        """What a client needs that shows a new certificate."""
        return self.authority.trusting((authority or self.authority).sign(name, sans, usage))

    def expect_no_handshake(self, what, context):
        try:
            self.ask(context=context)
        except ssl.SSLCertVerificationError:
            raise  # the client's own: it does not trust the server
        except (ssl.SSLError, ConnectionError, http.client.RemoteDisconnected):
            print(f"  ok   {what}: no handshake", flush=True)
            return
        self.fail(f"{what}: was answered")


class Clients(ClientCase):
    web = ("tls_server_config: {cert_file: server.crt, key_file: server.key, client_auth_type: "
           "RequireAndVerifyClientCert, client_ca_file: authority.crt, min_version: TLS13, "
           "client_allowed_sans: [prometheus.example.org, 192.0.2.9]}\n")

    def test_only_certificates_with_an_allowed_name(self):
        for name, sans in (("dns", "DNS:other,DNS:prometheus.example.org"), ("ip", "IP:192.0.2.9")):
            self.expect_equal(f"named by {name}", 200, self.ask(context=self.client(name, sans))[0])
        self.expect_no_handshake("none", self.context)
        self.expect_no_handshake("another name", self.client("other", "DNS:grafana.example.org"))
        self.expect_no_handshake("for servers", self.client("for-servers", usage="serverAuth"))
        stranger = Authority(self.folder, "stranger")
        self.expect_no_handshake("of a stranger", self.client("strange", authority=stranger))
        old = self.client("old")
        old.maximum_version = ssl.TLSVersion.TLSv1_2
        self.expect_no_handshake("TLS 1.2", old)


class OptionalCertificates(ClientCase):
    """Numbers are for everybody, and stacks for those who have a certificate."""

    web = ("tls_server_config: {cert_file: server.crt, key_file: server.key, client_auth_type: "
           "VerifyClientCertIfGiven, client_ca_file: authority.crt}\n")
    options = {"web.details": "auth", "snapshots.interval": "1s"}

    def expect_answers(self, who, context, to_details):
        for path in ("/metrics", "/-/ready", "/api/v1/status", "/api/v1/units"):
            self.expect_equal(f"{path} {who}", 200, self.ask(path, context=context)[0])
        for path in ("/api/v1/top", "/api/v1/stalls", "/api/v1/snapshots", "/flame",
                     "/debug/pprof/offcpu?seconds=1"):
            self.expect_equal(f"{path} {who}", to_details,
                              self.ask(path, context=context, binary=True)[0])

    def exemplars(self, context):
        _, body = self.ask(headers={"Accept": PROTOBUF}, context=context, binary=True)
        family = metric_families.read(body)["offcpud_blocked_seconds"]
        return sum(len(histogram.exemplars) for histogram in family.series.values())

    def test_without_one_there_are_numbers_only(self):
        self.expect_answers("without a certificate", self.context, 403)

    def test_with_one_there_is_everything(self):
        self.expect_answers("with a certificate", self.client("trusted"), 200)

    def test_exemplars_are_for_those_who_have_one(self):
        trusted = self.client("curious")
        self.wait_until("exemplars with a certificate", lambda: self.exemplars(trusted) > 0)
        self.expect_equal("exemplars without", 0, self.exemplars(self.context))

    def test_a_wrong_one_gets_nothing_not_even_numbers(self):
        self.expect_no_handshake("for servers", self.client("for-servers", usage="serverAuth"))
        stranger = Authority(self.folder, "stranger")
        strange = self.client("strange", authority=stranger)
        self.expect_no_handshake("of a stranger", strange)
        strange.maximum_version = ssl.TLSVersion.TLSv1_2
        self.expect_no_handshake("of a stranger, TLS 1.2", strange)


class Details(Secured):
    web = "basic_auth_users: {alice: @HASH@}\n"
    options = {"web.details": "auth", "snapshots.interval": "1s", "push.url": "http://127.0.0.1:1"}

    def plain(self, path, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=20)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            answer.read()
            return answer.status
        finally:
            connection.close()

    def test_metrics_are_open_and_stacks_are_not(self):
        for path in ("/metrics", "/-/ready", "/api/v1/status"):
            self.expect_equal(path, 200, self.plain(path))
        for path in ("/api/v1/top", "/api/v1/stalls", "/api/v1/snapshots", "/flame",
                     "/debug/pprof/offcpu?seconds=1"):
            self.expect_equal(f"{path} without", 401, self.plain(path))
            self.expect_equal(f"{path} with", 200, self.plain(path, ALICE))

    def test_the_status_quotes_no_error_and_names_no_server(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.daemon.port, timeout=20)
        self.addCleanup(connection.close)

        def status():
            connection.request("GET", "/api/v1/status")
            return connection.getresponse().read().decode()

        self.wait_until("an attempt to push fails", lambda: "the journal says why" in status())
        self.say("127.0.0.1:1/" not in status() and "Connection refused" not in status(), "the status",
                 "has neither address nor error", status())
        self.say(any("Connection refused" in line for line in self.daemon.log()), "the log", "has it", "")

    def test_a_name_of_somebody_else_gets_nothing(self):
        self.expect_equal("/metrics", 421, self.plain("/metrics", {"Host": "evil.example"}))
        self.expect_equal("/metrics", 403, self.plain("/metrics", {"Sec-Fetch-Site": "cross-site",
                                                                   "Sec-Fetch-Mode": "cors"}))


class Activation(Case):
    """The socket comes from the service manager, here from systemd-socket-activate(1)."""

    @classmethod
    def setUpClass(cls):
        reason = host.unavailable()
        if not shutil.which("systemd-socket-activate"):
            reason = "systemd-socket-activate is not installed (Debian package systemd)"
        if reason:
            raise unittest.SkipTest(reason)

    def setUp(self):
        print(f"\n{self.id().split('.', 1)[1]}", flush=True)

    def test_the_first_request_starts_the_daemon_and_is_answered(self):
        with tempfile.TemporaryDirectory(prefix="offcpud-activation-") as folder:
            path = Path(folder) / "socket"
            log = Path(folder) / "log"
            with open(log, "wb") as output:
                process = subprocess.Popen(
                    ["systemd-socket-activate", "-l", path, Daemon.program(), "--listen",
                     "127.0.0.1:0", "--state-dir", folder],
                    stdout=output, stderr=output, stdin=subprocess.DEVNULL,
                    preexec_fn=die_with_the_tester)
            try:
                for _ in range(100):
                    if path.exists():
                        break
                    time.sleep(0.05)
                asked = subprocess.run(
                    [BUILD / "bin" / "offcpuctl", "status", "--server", f"unix:{path}"],
                    capture_output=True, text=True, timeout=30, check=False)
                self.expect_equal("status", 0, asked.returncode)
                said = log.read_text(errors="replace")
                self.say("socket of the service manager" in said, "the log", "says so", said[-300:])
            finally:
                process.terminate()
                process.wait(10)
            self.say(path.exists(), "the socket of another", "stays", path.exists())


class AbsentFile(Case):
    """The default main file may have named the passwords."""

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable(), DEFAULT_FILE.exists() and f"this host has {DEFAULT_FILE}")

    def setUp(self):
        print(f"\n{self.id().split('.', 1)[1]}", flush=True)

    def expect_refusal(self, what, *command):
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
        self.expect_equal(f"{what}: status", 78, done.returncode)
        words = f"{DEFAULT_FILE}: does not exist; other hosts reach "
        self.say(words in done.stderr, f"{what}: its words", words, done.stderr[-300:])

    def test_no_start_where_other_hosts_reach_the_daemon(self):
        with tempfile.TemporaryDirectory(prefix="offcpud-absent-") as folder:
            options = ["--state-dir", folder, "--set", f"web.local_socket={folder}/local.sock"]
            everywhere = ["--listen", "0.0.0.0:0"]
            self.expect_refusal("a start", Daemon.program(), *everywhere, *options)
            self.expect_refusal("--check-config", Daemon.program(), "--check-config", *everywhere)
            self.expect_refusal("offcpuctl", BUILD / "bin" / "offcpuctl", "check-config", "--set",
                                "listen=0.0.0.0:0")


class Prometheus(Secured):
    web = TLS + "basic_auth_users: {alice: @HASH@}\n"

    @classmethod
    def setUpClass(cls):
        if reason := prometheus_server.missing():
            raise unittest.SkipTest(reason)
        super().setUpClass()

    @staticmethod
    def expression_of(server, alert):
        rules = (rule for group in server.ask("rules")["groups"] for rule in group["rules"])
        return next(rule["query"] for rule in rules if rule["name"] == alert)

    def test_scrapes_over_a_renewal(self):
        job = ("scheme: https, basic_auth: {username: alice, password: secret}, "
               f"tls_config: {{ca_file: '{self.authority.file}', server_name: localhost}}")
        server = prometheus_server.PrometheusServer(
            config=prometheus_server.configuration(self.daemon, [ALERTS], job=job))
        self.addCleanup(server.stop)
        server.number("up == 1")
        # The one alert that needs a daemon with a certificate; this one is good for two days.
        left = server.number(self.expression_of(server, "OffcpudCertificateExpires"))
        self.expect_close("seconds that the certificate is valid", 2 * 86400, left, absolute=600)
        serial = self.serial()
        self.replace_certificate("renewed")
        self.wait_until("renewed certificate", lambda: self.serial() != serial)
        server.number('count_over_time(up{job="offcpud"}[1m]) >= 4')
        self.expect_equal("least of up", 1, server.number('min_over_time(up{job="offcpud"}[1m])'))
        self.expect_at_least("series", 1, server.number('count(offcpud_build_info)'))


if __name__ == "__main__":
    main()
