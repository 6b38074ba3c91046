# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that scrapes one daemon every two seconds."""

import json
import shutil
import socket
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

from daemon import die_with_the_tester


def missing():
    """Why there is none; empty when there is."""
    for program in ("prometheus", "promtool"):
        if not shutil.which(program):
            return f"{program} is not installed (Debian package prometheus)"
    return ""


def configuration(daemon, rules=(), parameters=None, job=""):
    """Scrapes one daemon every two seconds, with these parameters in the query. `job` is more of how:
    "scheme: https, ..."."""
    files = ", ".join(f"'{rule}'" for rule in rules)
    return ("global: {scrape_interval: 2s, scrape_timeout: 2s, evaluation_interval: 2s}\n"
            f"rule_files: [{files}]\n"
            f"scrape_configs: [{{job_name: offcpud, params: {json.dumps(parameters or {})}, "
            f"{job + ', ' if job else ''}static_configs: "
            f"[{{targets: ['127.0.0.1:{daemon.port}']}}]}}]\n")


class PrometheusServer:
    """Runs from construction to `stop`; with other flags, or with the text of a configuration of
    its own. `on_start` is called in the child, between fork and exec."""

    def __init__(self, daemon=None, rules=(), flags=(), config=None, on_start=None):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._folder = tempfile.TemporaryDirectory(prefix="offcpud-prometheus-")
        folder = Path(self._folder.name)
        (folder / "prometheus.yml").write_text(config or configuration(daemon, rules))
        storage = "agent" if "--enable-feature=agent" in flags else "tsdb"
        self.log = folder / "log"

        def enter():
            die_with_the_tester()
            if on_start:
                on_start()

        with open(self.log, "wb") as log:
            self._process = subprocess.Popen(
                ["prometheus", f"--config.file={folder}/prometheus.yml",
                 f"--web.listen-address=127.0.0.1:{self.port}",
                 f"--storage.{storage}.path={folder}/data", "--log.level=warn", *flags],
                stdout=log, stderr=log, stdin=subprocess.DEVNULL, preexec_fn=enter)

    def stop(self):
        self._process.terminate()
        self._process.wait(10)
        self._folder.cleanup()

    def ask(self, what, **parameters):
        url = f"http://127.0.0.1:{self.port}/api/v1/{what}?" + urllib.parse.urlencode(parameters)
        with urllib.request.urlopen(url, timeout=10) as reply:
            return json.load(reply)["data"]

    def wait_for(self, question, seconds=90):
        """The first answer of `question` that is not None; raises AssertionError without one."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                answer = question()
                if answer is not None:
                    return answer
            except OSError:  # it is still starting
                pass
            time.sleep(0.3)
        print(self.log.read_text(errors="replace"))
        print([(t["health"], t["lastError"], t["lastScrapeDuration"])
               for t in self.ask("targets")["activeTargets"]])
        raise AssertionError(f"no answer after {seconds} s")

    def number(self, query):
        """The number that answers a query, once there are enough scrapes for one."""
        def first():
            found = self.ask("query", query=query)["result"]
            return float(found[0]["value"][1]) if found and found[0]["value"][1] != "NaN" else None

        return self.wait_for(first)
