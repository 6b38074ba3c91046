# SPDX-License-Identifier: Apache-2.0
"""What web.config_file says of handshakes, headers and rates, as clients meet it."""

import ssl
import subprocess

from access_test import ClientCase
from case import main
from daemon import BUILD
from secured import TLS
from tls_files import Authority

SUITE = "ECDHE-ECDSA-AES256-GCM-SHA384"


class Narrow(ClientCase):
    """TLS 1.2 with one suite and one curve, for whoever has any certificate at all."""

    web = ("tls_server_config: {cert_file: server.crt, key_file: server.key, max_version: TLS12, "
           "client_auth_type: RequireAnyClientCert, curve_preferences: [CurveP384], "
           "cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]}\n")

    def stranger(self):
        """A certificate that nobody here trusts, which is any."""
        return self.client("strange", authority=Authority(self.folder, "stranger"))

    def test_a_client_that_can_do_what_is_asked(self):
        self.expect_equal("answer", 200, self.ask(context=self.stranger())[0])

    def test_one_without_a_certificate(self):
        self.expect_no_handshake("no certificate", self.context)

    def test_one_that_wants_a_later_version(self):
        context = self.stranger()
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        self.expect_no_handshake("TLS 1.3", context)

    def test_one_that_has_other_suites(self):
        context = self.stranger()
        context.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305")
        self.expect_no_handshake("other suites", context)
        context.set_ciphers(f"ECDHE-ECDSA-AES128-GCM-SHA256:{SUITE}")
        self.expect_equal("with the one that is allowed", 200, self.ask(context=context)[0])

    def test_one_that_has_another_curve(self):
        context = self.stranger()
        context.set_ecdh_curve("prime256v1")
        self.expect_no_handshake("P-256 alone", context)


class Order(ClientCase):
    """Whose order of suites counts, and a certificate that is asked for and not needed."""

    web = ("tls_server_config: {cert_file: server.crt, key_file: server.key, max_version: TLS12, "
           "client_auth_type: RequestClientCert, prefer_server_cipher_suites: true, cipher_suites: ["
           "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384, TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256]}\n")

    def test_the_servers_first_suite_is_used(self):
        self.context.set_ciphers(f"ECDHE-ECDSA-AES128-GCM-SHA256:{SUITE}")
        with self.connected() as connection:
            used = connection.cipher()[0]
        self.say(used == SUITE, "suite", SUITE, used)

    def test_with_and_without_a_certificate(self):
        self.expect_equal("without", 200, self.ask()[0])
        self.expect_equal("with", 200, self.ask(context=self.client("some"))[0])


class Answers(ClientCase):
    web = ("tls_server_config: {cert_file: server.crt, key_file: server.key}\n"
           "http_server_config: {headers: {Strict-Transport-Security: max-age=600, "
           "X-Frame-Options: sameorigin}}\n"
           "rate_limit: {interval: 1h, burst: 6}\n")

    def test_headers_and_rate(self):
        first, _ = self.answer("/-/healthy")
        for header, value in (("Strict-Transport-Security", "max-age=600"),
                              ("X-Frame-Options", "sameorigin")):
            seen = first.getheader(header)
            self.say(seen == value, header, value, seen)
        statuses = [first.status] + [self.ask("/-/healthy")[0] for _ in range(7)]
        expected = [200] * 6 + [429] * 2
        self.say(statuses == expected, "statuses of eight", expected, statuses)

    def test_both_programs_check_it(self):
        file = self.folder / "checked.yml"
        for text, status, words in (("junk: 1\n", 78, "junk: unknown key"),
                                    (TLS + "http_server_config: {http2: true}\n", 0, "no effect")):
            file.write_text(text)
            for program in (("offcpud", "--check-config"), ("offcpuctl", "check-config")):
                command = [BUILD / "bin" / program[0], program[1], "--set", f"web.config_file={file}"]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                self.expect_equal(f"{program[0]} of {text.strip()!r}", status, done.returncode)
                self.say(words in done.stderr, "its words", words, done.stderr)


if __name__ == "__main__":
    main()
