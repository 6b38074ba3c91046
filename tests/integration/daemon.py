# SPDX-License-Identifier: Apache-2.0
"""The daemon under test: one for the whole suite, or one of a test's own with other settings."""

import ctypes
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

import prometheus_text

TREE = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("OFFCPUD_BUILD", TREE / "build-test" / "plain"))  # as tests/run
WORKLOADS = BUILD / "tests" / "workloads" / "bin"
SUITE = BUILD / "tests" / "integration" / "suite_daemon.json"  # written by `suite_daemon start`
# A scrape sees what happened up to then; series of cgroups that are gone leave room for new ones.
SETTINGS = {"min_pass_interval": "10ms", "max_series": "100000"}
DEFAULTS = {"min_pass_interval": "1s", "max_series": "4000"}  # of the daemon, not of the tests
BLOCKED = "offcpud_blocked_seconds"
REASONS = "disk lock condvar network pipe poll sleep child kernel stopped other".split()
RUNQUEUE = "offcpud_runqueue_wait_seconds"
LOST = "offcpud_lost_events_total"


def die_with_the_tester():
    """For a child, between fork and exec: no daemon or workload outlives a test that was killed."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class LocalConnection(http.client.HTTPConnection):
    """HTTP over a unix socket, whose path is the host."""

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.host)


class Scrape:
    """One answer of /metrics, strictly parsed."""

    def __init__(self, families, size):
        self.families = families
        self.size = size

    def histogram(self, family, **labels):
        """The sum of the histograms that carry these labels, as {upper bound: episodes in the
        bucket}, and their sum in seconds."""
        buckets, total = {}, 0.0
        wanted = set(labels.items())
        for having, one in self.families[family].histograms.items() if family in self.families else ():
            if not wanted <= having:
                continue
            below = 0
            for bound, cumulative in one.buckets.items():
                buckets[bound] = buckets.get(bound, 0) + cumulative - below
                below = cumulative
            total += one.sum
        return buckets, total

    def value(self, name, **labels):
        """The sum of the samples of this name that carry these labels."""
        wanted = set(labels.items())
        if name not in self.families:
            return 0.0
        return sum(v for (_, having), v in self.families[name].samples.items() if wanted <= having)

    def labels_of(self, cgroup):
        """Every label set of the series of a cgroup, without reason and cause."""
        found = set()
        for family in (BLOCKED, RUNQUEUE):
            for having in self.families[family].histograms if family in self.families else ():
                if ("cgroup", cgroup) in having:
                    found.add(frozenset(p for p in having if p[0] not in ("reason", "cause")))
        return found

    def cgroups(self):
        found = set()
        for family in (BLOCKED, RUNQUEUE):
            for having in self.families[family].histograms if family in self.families else ():
                found.add(dict(having)["cgroup"])
        return found

    def lost(self):
        if LOST not in self.families:
            raise AssertionError(f"no {LOST}")
        return {dict(having)["cause"]: v for (_, having), v in self.families[LOST].samples.items()}


class Daemon:
    """A client of a running daemon; `start` runs one and `stop` ends it. `clock_offset`: seconds that
    its wall clock is ahead of everybody else's."""

    clock_offset = 0
    headers = {}  # of each request

    def __init__(self, port, process=None, local_socket=None):
        self.port = port
        self.local_socket = local_socket
        self._process = process
        self._reader = prometheus_text.Reader()

    @staticmethod
    def program():
        return os.environ.get("OFFCPUD", str(BUILD / "bin" / "offcpud"))

    @classmethod
    def start(cls, log_path=None, on_start=None, environment=None, launcher=(), owner=None,
              state_dir=None, config=None, **settings):
        """`on_start` is called in the child, between fork and exec; `launcher` is what the command
        line begins with; `owner` is the user that it makes the daemon run as; `state_dir` outlives
        it; `config` is its configuration file."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        state = tempfile.TemporaryDirectory(prefix="offcpud-state-")
        if owner:
            shutil.chown(state.name, owner)
        command = [*launcher, cls.program(), "--listen", f"127.0.0.1:{port}", "--state-dir",
                   str(state_dir or state.name)]
        command += ["--config", str(config)] if config else []
        settings = {"web.local_socket": f"{state.name}/local.sock", **SETTINGS, **settings}
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        log_path = log_path or Path(state.name) / "log"
        with open(log_path, "wb") as log:
            def enter():
                die_with_the_tester()
                if on_start:
                    on_start()

            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       env={**os.environ, **(environment or {})}, preexec_fn=enter)
        daemon = cls(port, process, settings["web.local_socket"])
        daemon._state = state
        daemon.log_path = Path(log_path)
        for _ in range(600):
            said = Path(log_path).read_text(errors="replace")
            if "ready" in said:
                return daemon
            if process.poll() is not None:
                raise RuntimeError(f"offcpud ended with {process.returncode}: {said}")
            time.sleep(0.05)
        daemon.stop()
        raise RuntimeError(f"offcpud was not ready after 30 s: {said}")

    @classmethod
    def of_suite(cls):
        """The suite's daemon, or None when this module runs by itself."""
        if not SUITE.exists() or "OFFCPUD_OWN_DAEMON" in os.environ:
            return None
        suite = json.loads(SUITE.read_text())
        return cls(suite["port"], local_socket=suite["local_socket"])

    def stop(self):
        if self._process:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._state.cleanup()

    @property
    def pid(self):
        return self._process.pid

    def get(self, path):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", headers=self.headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.read().decode("utf-8", "strict")

    def text(self):
        return self.get("/metrics")

    def get_json(self, path):
        return json.loads(self.get(path))

    def get_as_root(self, path):
        """With addresses, words of memory and paths of files: by the local socket."""
        connection = LocalConnection(self.local_socket, timeout=30)
        try:
            connection.request("GET", path, headers={"Host": "localhost"})
            return connection.getresponse().read()
        finally:
            connection.close()

    def get_json_as_root(self, path):
        return json.loads(self.get_as_root(path))

    def offcpuctl(self, *arguments):
        """What it says, asked over TCP."""
        program = Path(self.program()).with_name("offcpuctl")
        return subprocess.run([program, *arguments, "--server", f"127.0.0.1:{self.port}"],
                              stdout=subprocess.PIPE, text=True, timeout=30, check=True).stdout

    def log(self):
        """What the daemon has said so far, by lines."""
        return self.log_path.read_text(errors="replace").splitlines()

    def poll(self):
        """Its exit code, or None while it runs."""
        return self._process.poll()

    def kill(self):
        """Ends it as the kernel would, without a chance to clean up."""
        self._process.kill()
        self._process.wait()
        self._state.cleanup()

    def ask_for_a_pass(self):
        """A scrape without its text."""
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", method="HEAD")
        with urllib.request.urlopen(request, timeout=30):
            pass

    def scrape(self):
        text = self.text()
        return Scrape(self._reader.read(text), len(text))
