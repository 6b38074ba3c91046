# SPDX-License-Identifier: Apache-2.0
"""usage: image_test.py STAGE. The file system of the image, from what was installed below STAGE, does
its work with the privileges of the Kubernetes manifests."""

import os
import re
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

import manifests
from oci_bundle import Container

STAGE = ""
SLEEPER = "import time\nwhile True: time.sleep(0.02)"
CAP_BPF = 1 << 39
NOBODY = 65534
PYTHON = "/usr/bin/python3"  # one that others may run


def cgroup2():
    text = subprocess.run(
        ["findmnt", "-n", "-t", "cgroup2", "-o", "TARGET"], capture_output=True, text=True
    ).stdout
    return Path(text.split()[0])


def eventually(seconds, condition):
    deadline = time.monotonic() + seconds
    while not (seen := condition()) and time.monotonic() < deadline:
        time.sleep(0.3)
    return seen


class Image(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="offcpud-image.", dir="/var/tmp")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.root = Path(cls.folder.name) / "root"
        make_root = manifests.TREE / "packaging/container/make-root"
        subprocess.run([make_root, STAGE, cls.root], check=True)
        bundle = Path(cls.folder.name) / "bundle"
        bundle.mkdir()
        cls.container = Container(bundle, cls.root)
        cls.addClassCleanup(cls.container.close)
        if not eventually(60, lambda: cls.container.http("/-/ready")[0] == 200):
            raise AssertionError("it does not get ready: " + cls.container.said())

    def start_sleeper(self):
        cgroup = cgroup2() / f"offcpud-image-test.{os.getpid()}"
        cgroup.mkdir()
        self.addCleanup(lambda: eventually(5, lambda: remove(cgroup)))
        process = subprocess.Popen([PYTHON, "-c", SLEEPER], user=NOBODY, cwd="/")
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        (cgroup / "cgroup.procs").write_text(str(process.pid))
        return process.pid, "/" + cgroup.name

    def status(self, pid):
        return dict(
            line.split(":\t", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        )

    def test_1_probes_of_the_manifest_succeed(self):
        for probe in ("livenessProbe", "readinessProbe", "startupProbe"):
            path = manifests.container()[probe]["httpGet"]["path"]
            self.assertEqual(self.container.http(path)[0], 200, path)

    def test_2_it_measures_the_host(self):
        pid, path = self.start_sleeper()
        line = rf'^offcpud_blocked_seconds_count{{cgroup="{re.escape(path)}".*reason="sleep"}} (\d+)'

        def slept():
            found = re.search(line, self.container.http("/metrics")[1], re.M)
            return found and int(found.group(1)) > 10

        self.assertTrue(eventually(30, slept), self.container.said())
        self.assertEqual(self.container.http("/api/v1/top")[0], 403, "it is on the pod's address")
        self.container.configure("web", '{details: open, local_socket: ""}')
        opened = eventually(10, lambda: self.container.http("/api/v1/top")[0] == 200)
        self.assertTrue(opened, self.container.said())
        # Names of a program of another user, read with the capabilities that the manifest gives.
        folded = self.container.run(
            "/usr/bin/offcpuctl", "snapshot", "3", "--folded", "--pid", str(pid)
        )
        self.assertEqual(folded.returncode, 0, folded.stderr)
        self.assertIn(";Py_RunMain;", folded.stdout)

    def test_3_it_has_no_more_than_it_was_given(self):
        status = self.status(self.container.pid)
        self.assertEqual(status["NoNewPrivs"], "1")
        self.assertEqual(status["Seccomp"], "2")
        self.assertEqual(bin(int(status["CapBnd"], 16)).count("1"), len(manifests.capabilities()))
        self.assertEqual(int(status["CapPrm"], 16) & ~CAP_BPF, 0)
        mounts = Path(f"/proc/{self.container.pid}/mountinfo").read_text().splitlines()
        (root,) = [fields for fields in map(str.split, mounts) if fields[4] == "/"][-1:]
        self.assertIn("ro", root[5].split(","))

    def test_4_nothing_else_runs_in_it(self):
        programs = [path for path in self.root.rglob("*") if path.parent.name in ("bin", "sbin")]
        self.assertEqual(sorted(p.name for p in programs), ["offcpuctl", "offcpud"])
        special = [p for p in self.root.rglob("*") if p.is_file() and p.stat().st_mode & 0o6000]
        self.assertEqual(special, [])
        packages = {path.name for path in (self.root / "var/lib/dpkg/status.d").iterdir()}
        self.assertLessEqual({"libc6", "libmicrohttpd12"}, packages)

    def test_5_it_stops_in_time(self):
        took, status = self.container.stop()
        self.assertLess(took, manifests.pod()["terminationGracePeriodSeconds"])
        self.assertEqual(status, 0, self.container.said())


def remove(cgroup):
    try:
        cgroup.rmdir()
    except OSError:
        return False  # the process is not gone yet
    return True


if __name__ == "__main__":
    STAGE = sys.argv.pop()
    unittest.main(verbosity=2)
