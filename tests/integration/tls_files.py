# SPDX-License-Identifier: Apache-2.0
"""Certificates and password hashes of one test, made by openssl(1) and crypt(3)."""

import contextlib
import ctypes
import socket
import ssl
import subprocess
from pathlib import Path


def bcrypt(password, cost=5):
    """A hash as htpasswd -B writes it."""
    crypt = ctypes.CDLL("libcrypt.so.1").crypt
    crypt.restype = ctypes.c_char_p
    return crypt(password.encode(), b"$2b$%02d$abcdefghijklmnopqrstuu" % cost).decode()


@contextlib.contextmanager
def connected(port, context):
    """A connection to this host on which nothing has been asked yet."""
    with socket.create_connection(("127.0.0.1", port), 10) as plain:
        with context.wrap_socket(plain, server_hostname="localhost") as wrapped:
            yield wrapped


class Authority:
    """A certificate authority in a folder of its own, and what it signs."""

    def __init__(self, folder, name="authority"):
        self.folder = Path(folder)
        self.file = self.folder / f"{name}.crt"
        self._key = self.folder / f"{name}.key"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                      "-nodes", "-days", "2", "-subj", f"/CN={name}", "-keyout", self._key,
                      "-out", self.file)

    @staticmethod
    def _openssl(*arguments):
        subprocess.run(["openssl", *map(str, arguments)], check=True, capture_output=True,
                       timeout=30)

    def sign(self, name, sans="DNS:localhost,IP:127.0.0.1", usage="serverAuth", days=2):
        """Files of a new certificate and its key."""
        certificate, key = self.folder / f"{name}.crt", self.folder / f"{name}.key"
        request, extensions = self.folder / f"{name}.csr", self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={sans}\nextendedKeyUsage={usage}\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                      "-subj", f"/CN={name}", "-keyout", key, "-out", request)
        self._openssl("x509", "-req", "-in", request, "-CA", self.file, "-CAkey", self._key,
                      "-CAcreateserial", "-days", days, "-extfile", extensions, "-out", certificate)
        return certificate, key

    def trusting(self, client=None):
        """What a client needs that trusts this authority; `client` are its own two files."""
        context = ssl.create_default_context(cafile=str(self.file))
        if client:
            context.load_cert_chain(*client)
        return context
