# SPDX-License-Identifier: Apache-2.0
"""A build-id is only what a file says about itself: whoever copies that of another user's program does not
get to say what its functions are called."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import main
from daemon import WORKLOADS, die_with_the_tester
from snapshots_test import SnapshotCase

LIFE = 0.003  # seconds, of each process
REAL, FORGED = b"\0short_life\0", b"\0evil_lives\0"


class ForgedBuildId(SnapshotCase):
    def setUp(self):
        super().setUp()
        self.folder = Path(tempfile.mkdtemp(prefix="offcpud-forged-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.folder.chmod(0o755)

    def map_forged(self, program):
        """A program of the user nobody maps it, whole."""
        script = Path(__file__).with_name("hostile_program.py")
        hostile = subprocess.Popen([sys.executable, script, "map", program],
                                   preexec_fn=die_with_the_tester)
        self.addCleanup(hostile.wait)
        self.addCleanup(hostile.kill)
        maps = Path(f"/proc/{hostile.pid}/maps")
        for _ in range(200):
            if str(program) in maps.read_text():
                break
            time.sleep(0.05)
        else:
            self.fail("nobody maps the forged program")
        time.sleep(1)  # of which the daemon has heard by now

    def test_the_first_one_to_map_it_does_not_name_it(self):
        real, forged = self.folder / "real", self.folder / "forged"
        content = bytearray((WORKLOADS / "short_lives").read_bytes())
        content += b"of nobody else: a build-id that no run before has seen"
        # Not the build-id of other tests' programs; both have it.
        notes = subprocess.run(["readelf", "-n", WORKLOADS / "short_lives"], check=True, text=True,
                               capture_output=True).stdout
        known = bytes.fromhex(notes.split("Build ID:")[1].split()[0])
        content = bytes(content).replace(known, bytes(byte ^ 0x5A for byte in known))
        self.expect_at_least("names in the program", 1, content.count(REAL))
        real.write_bytes(content)
        forged.write_bytes(content.replace(REAL, FORGED))
        for program in (real, forged):
            program.chmod(0o755)
        self.map_forged(forged)
        self.wait_for_interval(0.0001)
        begin = time.time()
        window = self.run_workload(real, "--count", 800, attempts=1)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep", comm="exe")
        self.expect_at_least("seconds", 800 * LIFE * 0.9, stacks.seconds())
        self.expect_equal("seconds with the forged name", 0, stacks.seconds("evil_lives"))
        self.expect_at_least("seconds with the function's name", 0.97 * stacks.seconds(),
                             stacks.seconds("short_life"))


if __name__ == "__main__":
    main()
