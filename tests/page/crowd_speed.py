# SPDX-License-Identifier: Apache-2.0
"""How fast the page `/` of a real daemon is beside 10,000 processes in 60 units: a measurement. Fails beyond the
bounds of speed.py. Needs root, BPF, Chromium, a built tree, some 4 GB of memory, and a host that is quiet otherwise.

Usage: crowd_speed.py ASSETS [UNITS]
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS / "integration"), str(TESTS / "support")]

import browser  # noqa: E402
import daemon  # noqa: E402
import host  # noqa: E402
import recording  # noqa: E402
import server  # noqa: E402
import speed  # noqa: E402

PROCESSES = 10_000
KNOWN = 75  # seconds until the daemon has seen them for a minute
# One in ten waits for a lock that the first one holds; the others wait for work.
CROWD = """
import fcntl, json, os, signal, sys
folders, each, book = json.loads(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
nothing, never = os.pipe()
holder = open(book, "w")
fcntl.flock(holder, fcntl.LOCK_EX)
for folder in folders:
    for i in range(each):
        if os.fork() == 0:
            with open(folder + "/cgroup.procs", "w") as procs:
                procs.write("0")
            if i % 10 == 0:
                fcntl.flock(open(book), fcntl.LOCK_EX)
            os.read(nothing, 1)
print("ready", flush=True)
signal.pause()
"""


class Crowd:
    """So many processes in so many units, until end()."""

    def __init__(self, units, folder):
        self.slice = host.Cgroup(f"/offcpud-crowd-{os.getpid()}.slice")
        self.cgroups = [host.Cgroup(f"{self.slice.path}/crowd-{i:03}.service") for i in range(units)]
        names = json.dumps([str(one.directory) for one in self.cgroups])
        self.process = subprocess.Popen([sys.executable, "-c", CROWD, names, str(PROCESSES // units), folder + "/book"],
                                        stdout=subprocess.PIPE, text=True, preexec_fn=daemon.die_with_the_tester)
        self.process.stdout.readline()

    def end(self):
        (self.slice.directory / "cgroup.kill").write_text("1")
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        for one in [*self.cgroups, self.slice]:
            one.remove()


def measure(chromium, assets, units):
    with tempfile.TemporaryDirectory(prefix="offcpud-crowd-") as folder:
        shown = daemon.Daemon.start(**daemon.DEFAULTS, max_cgroups="2048")
        crowd = None
        try:
            crowd = Crowd(units, folder)
            time.sleep(KNOWN)
            pages = server.Server(assets)  # of this tree, whatever the daemon has built in
            pages.recording = recording.Recorder(shown.port)
            name = f"{PROCESSES} processes in {units} units"
            return all([speed.measure(chromium, pages.address, name, query) for query in ("", "?all=true")])
        finally:
            if crowd:
                crowd.end()
            shown.stop()


def main():
    reason = host.unavailable()
    if reason:
        print(f"SKIP: {reason}")
        sys.exit(77)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the crowd ends with this
    units = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    with browser.opened() as chromium:
        is_fast = measure(chromium, sys.argv[1], units)
    sys.exit(0 if is_fast else 1)


if __name__ == "__main__":
    main()
