# SPDX-License-Identifier: Apache-2.0
"""TLS, and clients of HTTP."""

import subprocess

from scenario import scenario


def certificate(stage):
    stage.do("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out",
             "cert.pem", "-subj", "/CN=localhost", "-days", "2")
    both = (stage.folder / "key.pem").read_text() + (stage.folder / "cert.pem").read_text()
    return stage.file("both.pem", both)


@scenario("stunnel", "stunnel4", "openssl", rules=False)
def stunnel_idle(stage):
    port, back = stage.port(), stage.port()
    pem = certificate(stage)
    config = stage.file("stunnel.conf", f"foreground = yes\npid =\n[one]\naccept = 127.0.0.1:{port}\n"
                        f"connect = 127.0.0.1:{back}\ncert = {pem}\n")
    stage.start("work", "stunnel4", config)
    stage.wait_for_port(port)


@scenario("stunnel", "stunnel4", "openssl", "curl", rules=False)
def stunnel_slow_upstream(stage):
    """The thread of the connection waits for whoever answers, as the others wait for connections."""
    port = stage.port()
    config = stage.file("stunnel.conf", f"foreground = yes\npid =\n[one]\naccept = 127.0.0.1:{port}\n"
                        f"connect = 127.0.0.1:{stage.silent_server()}\ncert = {certificate(stage)}\n")
    server = stage.start("server", "stunnel4", config, truth={"*": "work"})
    server.role.numbers = {"answer": 1}
    stage.wait_for_port(port)
    stage.start("answer-curl", "curl", "-sk", f"https://127.0.0.1:{port}/")


@scenario("OpenSSL's commands", "openssl", rules=False)
def openssl_server_and_client(stage):
    certificate(stage)
    port = stage.port()
    stage.start("work-server", "openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", "cert.pem", "-key",
                "key.pem", "-quiet", stdin=subprocess.PIPE)
    stage.wait_for_port(port)
    stage.start("work-client", "openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-quiet", stdin=subprocess.PIPE)


@scenario("OpenSSL's commands", "openssl", rules=False)
def openssl_handshake_that_hangs(stage):
    stage.start("answer", "openssl", "s_client", "-connect", f"127.0.0.1:{stage.silent_server()}",
                stdin=subprocess.PIPE)


@scenario("curl", "curl")
def curl_slow_server(stage):
    stage.start("answer", "curl", "-s", f"http://127.0.0.1:{stage.silent_server()}/")
    stage.start("answer-tls", "curl", "-sk", f"https://127.0.0.1:{stage.silent_server()}/")


@scenario("wget", "wget", rules=False)
def wget_slow_server(stage):
    stage.start("answer", "wget", "-q", "-O", "/dev/null", f"http://127.0.0.1:{stage.silent_server()}/")

