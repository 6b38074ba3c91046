# SPDX-License-Identifier: Apache-2.0
"""A stand-in for Pyroscope's /ingest: takes what its source takes, and nothing that is only nearly so."""

import json
import re
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from pprof_profile import Profile

# As pkg/og/util/form and mime/multipart of Go want them: a file each, found by the field's name.
DISPOSITION = re.compile(rb'form-data; name="([a-z_]+)"; filename="([^"]+)"')


def parse_form(content_type, body):
    """{field: bytes} of a multipart form in which every part is a file."""
    match = re.fullmatch(r"multipart/form-data; boundary=([-A-Za-z0-9]{1,70})", content_type)
    assert match, f"Content-Type {content_type}"
    delimiter = b"--" + match[1].encode()
    parts = (b"\r\n" + body).split(b"\r\n" + delimiter)
    assert parts[0] == b"" and parts[-1] == b"--\r\n", "the form does not begin and end as it should"
    form = {}
    for part in parts[1:-1]:
        head, empty_line, content = part.partition(b"\r\n\r\n")
        assert head.startswith(b"\r\n") and empty_line, "a part without head"
        headers = dict(line.split(b": ", 1) for line in head[2:].split(b"\r\n"))
        disposition = DISPOSITION.fullmatch(headers[b"Content-Disposition"])
        assert disposition, headers
        assert disposition[1].decode() not in form, "a field twice"
        form[disposition[1].decode()] = content
    return form


def parse_series(name):
    """As api/model/labelset: without quotes and escapes."""
    application, _, rest = name.partition("{")
    assert re.fullmatch(r"[-./A-Za-z0-9_]+", application), name
    assert rest.endswith("}"), name
    labels = {}
    for pair in filter(None, rest[:-1].split(",")):
        label, equals, value = pair.partition("=")
        assert equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", label), name
        labels[label] = value.strip()
    return application, labels


class Push:
    def __init__(self, request, body):
        self.at = time.monotonic()
        self.headers = request.headers
        self.size = len(body)
        address = urlsplit(request.path)
        self.path = address.path
        self.query = {key: value for key, (value,) in parse_qs(address.query, strict_parsing=True).items()}
        # With format=pprof Pyroscope would take the form itself for the profile.
        assert "format" not in self.query, self.query
        self.application, self.labels = parse_series(self.query["name"])
        form = parse_form(request.headers["Content-Type"], body)
        assert set(form) == {"profile", "sample_type_config"}, form.keys()
        self.types = json.loads(form["sample_type_config"])
        self.profile = Profile(form["profile"])


class Receiver:
    """`answers` are given to the next requests in turn, then 200: a status, or status, headers, body.
    Requests that are not as they should be are in `bad`; they get 400."""

    def __init__(self, port=0, certificate=None):
        self.pushes, self.refused, self.bad, self.answers = [], [], [], []
        self.hold = threading.Event()  # set: requests are answered
        self.hold.set()
        self.arrived = threading.Event()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                receiver.arrived.set()
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.hold.wait()
                status, headers, text = receiver.answer(self, body)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": len(text)}.items():
                    self.send_header(name, str(value))
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads = True
            block_on_close = False

            def handle_error(self, *_):
                pass  # a client that went away

        self._server = Server(("127.0.0.1", port), Handler)
        if certificate:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def answer(self, request, body):
        try:
            push = Push(request, body)
        except Exception as error:  # noqa: whatever it is, the test shows it
            self.bad.append(repr(error))
            return 400, {}, repr(error).encode()
        if not self.answers:
            self.pushes.append(push)
            return 200, {}, b""
        self.refused.append(push)
        answer = self.answers.pop(0)
        return answer if isinstance(answer, tuple) else (answer, {}, b"")

    def stop(self):
        self.hold.set()
        self._server.shutdown()
        self._server.server_close()

    def begins(self):
        return [push.profile.begin_ns for push in self.pushes]
