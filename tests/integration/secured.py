# SPDX-License-Identifier: Apache-2.0
"""A daemon with TLS and passwords, and a client that has what it takes."""

import base64
import http.client
import tempfile
from pathlib import Path

import host
from case import Case
from tls_files import Authority, bcrypt, connected

ALICE = {"Authorization": "Basic " + base64.b64encode(b"alice:secret").decode()}
WRONG = {"Authorization": "Basic " + base64.b64encode(b"alice:guess").decode()}


class Secured(Case):
    """A daemon of its own with the web configuration of `web`, in a folder for its files."""

    web = ""
    options = {}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        folder = tempfile.TemporaryDirectory(prefix="offcpud-tls-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.authority = Authority(cls.folder)
        cls.replace_certificate("first")
        config = cls.folder / "web.yml"
        config.write_text(cls.web.replace("@HASH@", bcrypt("secret")))
        cls.settings = {"web.config_file": config, **cls.options}
        super().setUpClass()
        cls.context = cls.authority.trusting()

    @classmethod
    def replace_certificate(cls, name, **options):
        """As a renewal does it: certificate and key are renamed into place, one after the other."""
        for made, place in zip(cls.authority.sign(name, **options), ("server.crt", "server.key")):
            made.rename(cls.folder / place)

    def https(self, context=None):
        """A connection that is opened by the first request on it."""
        return http.client.HTTPSConnection("127.0.0.1", self.daemon.port, timeout=20,
                                           context=context or self.context)

    def answer(self, path="/metrics", headers=None, context=None):
        """The answer to one request on a connection of its own, and its body."""
        connection = self.https(context)
        try:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def ask(self, path="/metrics", headers=None, context=None, binary=False):
        """Its status and body."""
        answer, body = self.answer(path, headers, context)
        return answer.status, body if binary else body.decode()

    def connected(self):
        return connected(self.daemon.port, self.context)

    def serial(self):
        """The serial number of the certificate that a new connection gets."""
        with self.connected() as connection:
            return connection.getpeercert()["serialNumber"]


TLS = "tls_server_config: {cert_file: server.crt, key_file: server.key}\n"
