# SPDX-License-Identifier: Apache-2.0
"""Stands in for the daemon: the pages with their headers, and canned answers."""
import datetime
import http.server
import json
import pathlib
import threading
import urllib.parse

import fixture
import hours_fixture
import overview_fixture
import stacks_fixture

TYPES = {"/flame": ("flame.html", "text/html; charset=utf-8"),
         "/": ("overview.html", "text/html; charset=utf-8"),
         "/overview.css": ("overview.css", "text/css; charset=utf-8"),
         "/overview.js": ("overview.js", "text/javascript; charset=utf-8"),
         "/flame.css": ("flame.css", "text/css; charset=utf-8"),
         "/flame.js": ("flame.js", "text/javascript; charset=utf-8")}


def minutes_of(query, prefix=""):
    """Those that overlap the range, as the daemon selects them."""
    if prefix + "sequence" in query:
        return [int(query[prefix + "sequence"]) - 1]
    def minute(name, default):
        if prefix + name not in query:
            return default
        text = query[prefix + name].replace("Z", "+00:00")
        return (datetime.datetime.fromisoformat(text) - fixture.BEGIN).total_seconds() / 60
    begin, end = minute("from", 0), minute("to", 6)
    return [i for i in range(6) if i < end and i + 1 > begin]


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        self.server.requests.append((url.path, query))
        if self.server.mode == "gone":
            self.close_connection = True
            return
        if url.path in TYPES:
            name, kind = TYPES[url.path]
            self.send(200, kind, (self.server.assets / name).read_bytes())
        else:
            self.send_json(*self.api(url.path, query))

    def api(self, path, query):
        if self.server.recording:
            return self.server.recording.answer(path, query)
        mode = self.server.mode
        if "lengths" in query or path == "/api/v1/snapshots" or self.is_of_unit(path, query):
            self.server.hold.wait(30)
        if path in self.server.refused:
            return 401, {"error": "this needs a password: see web.config_file"}
        if path in overview_fixture.ANSWERS:
            return 200, overview_fixture.ANSWERS[path](self.server, query)
        if path == "/api/v1/snapshots" and self.server.hours:
            return 200, hours_fixture.listed(query)
        if self.is_of_unit(path, query):
            return stacks_fixture.answer(self.server, query)
        if mode == "off":
            return 503, {"error": "stacks are not sampled; set snapshots.enabled to true"}
        if path == "/api/v1/snapshots":
            return 200, fixture.listed(0 if mode == "empty" else 6)
        stacks = {"hostile": fixture.HOSTILE_STACKS, "tails": fixture.TAIL_STACKS}.get(mode, fixture.STACKS)
        if path == "/api/v1/snapshots/merge":
            return 200, fixture.answer(minutes_of(query), stacks=stacks)
        if path == "/api/v1/snapshots/difference":
            return 200, fixture.answer(minutes_of(query), minutes_of(query, "base_"), stacks)
        return 404, {"error": "there is nothing at " + path}

    @staticmethod
    def is_of_unit(path, query):
        """Of the page `/`; /flame asks for the stacks of all."""
        return path == "/api/v1/snapshots/merge" and "cgroup" in query

    def send_json(self, status, value):
        self.send(status, "application/json", json.dumps(value).encode())

    def send(self, status, kind, body):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        if kind.startswith("text/html"):
            is_flame = self.path.startswith("/flame")
            name = "policy.txt" if is_flame else "overview_policy.txt"
            policy = (self.server.assets / name).read_text().strip()
            self.send_header("Content-Security-Policy", policy)
        self.end_headers()
        self.wfile.write(body)

    def handle(self):
        try:
            super().handle()
        except (BrokenPipeError, ConnectionResetError):
            pass  # the page gave the request up

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, assets):
        super().__init__(("127.0.0.1", 0), Handler)
        self.assets = pathlib.Path(assets)
        self.mode = "plain"  # hostile, tails, late, empty, off; calm, many, starting, nostacks, troubled, gone
        self.recording = None  # what answers instead of the canned answers
        self.many = 60  # units in the mode many
        self.window = None  # of what units wait for: waits_window of their answer
        self.details = True  # whether the client may see them
        self.before = 3600.0  # seconds of snapshots before the last minute
        self.hours = False  # of snapshots, for the page `/`
        self.refused = set()  # paths
        self.uptime, self.revision = 3600.0, "0123456789ab"
        self.requests = []
        self.lost = 0.0  # seconds of samples in snapshots
        self.hold = threading.Event()  # cleared: answers with lengths, of snapshots, or of a unit's stacks wait
        self.hold.set()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def address(self):
        return f"127.0.0.1:{self.server_address[1]}"
