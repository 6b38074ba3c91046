# SPDX-License-Identifier: Apache-2.0
"""A real VictoriaMetrics, as the central store of a fleet, and what it holds."""

import json
import re
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from daemon import die_with_the_tester
from unit_processes import free_ports

PROGRAM = "victoria-metrics"
SAMPLE = re.compile(r'^(\w+)(?:\{([^}]*)\})? (\S+)$', re.MULTILINE)


def missing():
    """Why there is none; empty when there is."""
    return "" if shutil.which(PROGRAM) else f"{PROGRAM} is not installed (Debian package {PROGRAM})"


def samples_of(port):
    """[(name, labels as text, value)] of a server's own metrics."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        found = SAMPLE.findall(answer.read().decode())
    return [(name, labels, float(value)) for name, labels, value in found]


class Store:
    """Answers queries about what came more than two seconds ago."""

    def __init__(self):
        self.port, = free_ports(1)
        self._folder = tempfile.TemporaryDirectory(prefix="offcpud-store-")
        folder = Path(self._folder.name)
        with open(folder / "log", "wb") as log:
            self._process = subprocess.Popen(
                [PROGRAM, f"-httpListenAddr=127.0.0.1:{self.port}", f"-storageDataPath={folder}/data",
                 "-search.latencyOffset=2s", "-search.disableCache", "-retentionPeriod=1d"],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=die_with_the_tester)

    def stop(self):
        self._process.terminate()
        self._process.wait(30)
        self._folder.cleanup()

    def get(self, path, **parameters):
        url = f"http://127.0.0.1:{self.port}{path}?" + urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return answer.read()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {error.read().decode()[:300]}") from None

    def is_ready(self):
        try:
            return self.get("/health") == b"OK"
        except OSError:
            return False

    def result(self, query):
        """The series that have a number."""
        found = json.loads(self.get("/api/v1/query", query=query))["data"]["result"]
        return [series for series in found if series["value"][1] != "NaN"]

    def numbers(self, query, *labels):
        """{values of the labels: number}"""
        return {tuple(series["metric"].get(label, "") for label in labels): float(series["value"][1])
                for series in self.result(query)}

    def size(self):
        """(samples, bytes of samples, bytes of the index) on its disk, once all of it is there."""
        self.get("/internal/force_flush")
        time.sleep(2)
        own = samples_of(self.port)

        def total(name, *kinds):
            return sum(value for each, labels, value in own
                       if each == name and any(f'type="{kind}' in labels for kind in kinds))

        return (total("vm_rows", "storage/"), total("vm_data_size_bytes", "storage/"),
                total("vm_data_size_bytes", "indexdb"))
