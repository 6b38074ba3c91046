# SPDX-License-Identifier: Apache-2.0
"""A real Alertmanager, and a receiver of what it sends."""

import http.server
import json
import shutil
import socket
import subprocess
import tempfile
import threading
import urllib.request
from pathlib import Path

from daemon import die_with_the_tester

PROGRAM = "prometheus-alertmanager"


def missing():
    """Why there is none; empty when there is."""
    return "" if shutil.which(PROGRAM) else f"{PROGRAM} is not installed (Debian package {PROGRAM})"


class Receiver:
    """Takes the notifications of a webhook, as
    https://prometheus.io/docs/alerting/latest/configuration/#webhook_config has them."""

    def __init__(self):
        self._lock = threading.Lock()
        self._alerts = []
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                receiver.take(body["alerts"])
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def take(self, alerts):
        with self._lock:
            self._alerts += alerts

    def alerts(self, name, unit, status):
        """Those that have arrived so far."""
        wanted = (name, unit, status)
        with self._lock:
            return [alert for alert in self._alerts if wanted == (
                alert["labels"]["alertname"], alert["labels"].get("unit"), alert["status"])]

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


class Alertmanager:
    """Sends each alert of offcpud to the receiver within a second."""

    def __init__(self, receiver):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._folder = tempfile.TemporaryDirectory(prefix="offcpud-alertmanager-")
        folder = Path(self._folder.name)
        route = "{receiver: test, group_by: ['...'], group_wait: 1s, group_interval: 1s, repeat_interval: 1h}"
        hook = f"{{url: 'http://127.0.0.1:{receiver.port}/', send_resolved: true}}"
        (folder / "alertmanager.yml").write_text(
            f"route: {route}\nreceivers: [{{name: test, webhook_configs: [{hook}]}}]\n")
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, f"--config.file={folder}/alertmanager.yml", f"--storage.path={folder}/data",
                 f"--web.listen-address=127.0.0.1:{self.port}", "--cluster.listen-address=",
                 "--log.level=warn"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_the_tester)

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except OSError:
            return False

    def stop(self):
        self._process.terminate()
        self._process.wait(10)
        self._folder.cleanup()
