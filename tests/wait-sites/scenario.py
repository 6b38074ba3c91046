# SPDX-License-Identifier: Apache-2.0
"""What a scenario is made with: programs on loopback, each in a cgroup of its own."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / name) for name in ("integration", "support")]

import host  # noqa: E402
import unit_processes  # noqa: E402
from daemon import die_with_the_tester  # noqa: E402
from truth import Role  # noqa: E402

PROGRAMS = HERE / "programs"
SLICE = f"/offcpud-wait-sites-{os.getpid()}.slice"
DEBIAN_PYTHON = "/usr/bin/python3"
SCENARIOS = []


@dataclass(frozen=True)
class Scenario:
    name: str
    program: str  # under which it is counted
    needs: tuple  # programs that must be there
    group: str  # under which it is counted as well
    start: object


RULES = "with rules"  # rules name the program, its runtime or a library of its
NO_RULES = "without rules"
# No rule was ever written or mended after a look at what was said of the program: a forecast.
APART = "kept apart"


def scenario(program, *needs, rules=True, apart=False):
    """Declares a function of a Stage as a scenario, by its name."""
    def declare(function):
        name = function.__name__.replace("_", "-")
        group = APART if apart else RULES if rules else NO_RULES
        SCENARIOS.append(Scenario(name, program, needs, group, function))
        return function
    return declare


class Missing(Exception):
    """A scenario cannot run here."""


class Stage:
    """The programs of one scenario, until `end`."""

    def __init__(self, name):
        self.name = name
        self.folder = Path(tempfile.mkdtemp(prefix=f"offcpud-{name}-"))
        self.folder.chmod(0o755)
        self.roles = []
        self.watched = []  # functions that look at a role's processes
        self._endings = [lambda: shutil.rmtree(self.folder, True)]

    def at_end(self, function, *arguments):
        self._endings.append(lambda: function(*arguments))

    def end(self):
        for ending in reversed(self._endings):
            try:
                ending()
            except OSError as error:
                print(f"    {self.name}: {error}", flush=True)

    @staticmethod
    def has(program):
        """Its path, or None."""
        return shutil.which(program, path=f"{os.environ['PATH']}:/usr/sbin:/usr/local/sbin:/sbin")

    @classmethod
    def need(cls, program):
        found = cls.has(program)
        if found is None:
            raise Missing(f"{program} is missing")
        return found

    def look(self):
        for function in self.watched:
            function()

    # --- programs

    def role(self, name, truth=None):
        cgroup = host.Cgroup(f"{SLICE}/{self.name}-{name}.service")
        self.at_end(cgroup.remove)
        self.at_end((cgroup.directory / "cgroup.kill").write_text, "1")
        role = Role(name, cgroup, truth)
        self.roles.append(role)
        return role

    def start(self, name, *command, truth=None, **options):
        """A program in a role of its own, and the role as its `role`. What is no role's is not compared:
        see `aside`."""
        role = self.role(name, truth)
        process = self.run(role.cgroup, *command, **options)
        process.role = role
        return process

    def aside(self, *command, **options):
        """A program that only serves the others."""
        return self.run(None, *command, **options)

    def run(self, cgroup, *command, user=None, **options):
        def enter():
            die_with_the_tester()
            if cgroup:
                cgroup.enter()

        words = [str(word) for word in command]
        words[0] = self.need(words[0])
        if user:
            words = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *words]
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL,
                   "stderr": open(self.folder / "errors", "ab"), "cwd": self.folder, **options}
        process = subprocess.Popen(words, start_new_session=True, preexec_fn=enter, **options)
        self.at_end(unit_processes.end, process)
        return process

    def do(self, *command, **options):
        """Runs a command to its end."""
        try:
            done = subprocess.run([str(word) for word in command], check=True, capture_output=True,
                                  cwd=self.folder, timeout=120, **options)
        except (OSError, subprocess.SubprocessError) as error:
            raise Missing(f"{error} {getattr(error, 'stderr', b'') or b''}"[-500:]) from error
        return done.stdout.decode()

    def file(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    @staticmethod
    def nap(seconds=0.1):
        time.sleep(seconds)

    # --- peers

    @staticmethod
    def port():
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            return one.getsockname()[1]

    def wait_for_port(self, port, seconds=30):
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                return port
            except OSError:
                time.sleep(0.1)
        raise Missing(f"nobody listens at port {port}: {(self.folder / 'errors').read_text()[-300:]}")

    @staticmethod
    def wait_for_file(path, seconds=20):
        until = time.monotonic() + seconds
        while not path.exists():
            if time.monotonic() > until:
                raise Missing(f"no {path}")
            time.sleep(0.1)

    def slow_server(self, seconds=0.4):
        """The port of one that answers each request of HTTP after so long."""
        port = self.port()
        self.aside(sys.executable, PROGRAMS / "slow_server.py", port, seconds)
        return self.wait_for_port(port)

    def silent_server(self):
        """The port of one that accepts, and never says a word."""
        return self.slow_server(1_000_000)

    def idle_connections(self, port, count=3):
        for _ in range(count):
            connection = socket.create_connection(("127.0.0.1", port), timeout=5)
            self.at_end(connection.close)

    def requests(self, port, count=2, path="/"):
        """So many clients that ask again as soon as they were answered."""
        self.aside(sys.executable, PROGRAMS / "asking_clients.py", port, count, path)

    def children_of(self, process):
        found = []
        for task in Path(f"/proc/{process.pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
        return found
