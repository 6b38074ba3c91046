# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL of its own, from Debian's package, with a table of one row."""

import shutil
import subprocess
import tempfile
from pathlib import Path

from daemon import die_with_the_tester


def missing():
    """Why there is none; empty when there is."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin/initdb")):
        return "PostgreSQL is not installed"
    return "there is no runuser" if shutil.which("runuser") is None else ""


class PostgresServer:
    """Its data from construction to `remove`; it answers on a socket in its folder."""

    def __init__(self):
        self.programs = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))[-1].parent
        self.port = None
        self.folder = Path(tempfile.mkdtemp(prefix="offcpud-postgres-"))
        shutil.chown(self.folder, "postgres")
        subprocess.run(self.command("initdb", "-D", self.folder / "data", "-A", "trust", "--no-sync"),
                       check=True, capture_output=True, timeout=120, cwd="/")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def command(self, program, *arguments):
        return [str(word) for word in ("runuser", "-u", "postgres", "--", self.programs / program,
                                       *arguments)]

    def start(self, case, cgroup, port=None):
        """In the cgroup, until the end of the test `case`; with its table. `port`: of loopback, and of its socket."""
        def enter():
            die_with_the_tester()
            cgroup.enter()

        self.port = port
        server = subprocess.Popen(
            self.command("postgres", "-D", self.folder / "data", "-k", self.folder, "-c",
                         f"listen_addresses={'127.0.0.1' if port else ''}", *(("-p", port) if port else ())),
            preexec_fn=enter, cwd="/", stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        case.addCleanup(server.wait, 20)
        case.addCleanup(server.terminate)
        case.wait_until("the server answers",
                        lambda: self.psql(case, "select 1").communicate()[0] == "1\n")
        self.psql(case, "drop table if exists stock; create table stock (item int, left_over int); "
                        "insert into stock values (1, 5)").wait(20)

    def client(self, text, over_tcp=False):
        """The command that has it execute this."""
        port = ("-p", self.port) if self.port else ()
        return self.command("psql", "-h", "127.0.0.1" if over_tcp else self.folder, *port, "-qAt", "-d", "postgres", "-c", text)

    def psql(self, case, text):
        """A client that runs this; a process."""
        client = subprocess.Popen(self.client(text), stdout=subprocess.PIPE, text=True, cwd="/",
                                  stderr=subprocess.DEVNULL, preexec_fn=die_with_the_tester)
        case.addCleanup(client.stdout.close)
        return client
