# SPDX-License-Identifier: Apache-2.0
"""What programs of an unprivileged user bring along to fill the daemon's memory: each file for ten
seconds beside an honest program, which keeps its names. With the settings that the daemon has by
default, it never takes more than 300 MB."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hostile_objects
import host
from case import Case, main
from daemon import Daemon, die_with_the_tester

MOST_KB = 300 * 1024
SECONDS = 10
DEFAULTS = {"min_pass_interval": "1s", "max_series": "4000"}  # of the daemon, not of the tests
REFUSED = "offcpud_objects_refused_total"


class HostileMemory(Case):
    settings = DEFAULTS

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())

    def setUp(self):
        super().setUp()
        self.daemon = Daemon.start(**DEFAULTS)  # one for each attack, as a peak stays in VmHWM
        self.addCleanup(self.daemon.stop)
        folder = tempfile.TemporaryDirectory(prefix="offcpud-hostile-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)
        self.children = []
        self.honest = self.start_child(
            sys.executable, "-c", "import time\nwhile True: time.sleep(0.02)")

    def start_child(self, *command):
        child = subprocess.Popen(command, preexec_fn=die_with_the_tester, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, cwd="/")
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        self.children.append(child)
        return child

    def as_nobody(self, action, path):
        script = Path(__file__).with_name("hostile_program.py")
        return self.start_child(sys.executable, str(script), action, str(path))

    def map_as_nobody(self, parts):
        return self.as_nobody("map", hostile_objects.write(self.folder / "object", parts))

    def peak(self):
        status = Path(f"/proc/{self.daemon.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0])

    def honest_stacks(self):
        return self.daemon.get(f"/debug/pprof/offcpu?seconds=2&pid={self.honest.pid}&format=folded")

    def expect_bounded(self, refused=None):
        before = self.peak()
        time.sleep(SECONDS)
        self.wait_until("the honest program's stacks have their names",
                        lambda: "clock_nanosleep" in self.honest_stacks(), 60)
        print(f"  peak of the daemon: {before // 1024} MB, under attack {self.peak() // 1024} MB",
              flush=True)
        for child in self.children:
            self.assertIsNone(child.poll(), "a program has ended")
        self.assertIsNone(self.daemon.poll(), "the daemon has ended")
        if refused:
            self.wait_until(f"{refused} refused", lambda: self.daemon.scrape().value(
                REFUSED, cause=refused) > 0, 60)
            said = [line for line in self.daemon.log() if "left out" in line]
            self.expect_equal("lines about it", 1, len(said))
        self.expect_at_most("peak of the daemon in KiB", MOST_KB, self.peak())

    def test_embedded_symbols_of_one_address_and_one_name(self):
        """9.6 KB of xz that stand for 64 MiB: 2.7 million functions with names of 4 KB."""
        sleep = Path(shutil.which("sleep")).read_bytes()
        program = hostile_objects.with_embedded_symbols(sleep, 2_700_000)
        path = self.folder / "stripped"
        path.write_bytes(program)
        path.chmod(0o755)
        self.as_nobody("run", path)
        self.expect_bounded("embedded_symbols")

    def test_as_many_symbols_as_are_read(self):
        self.map_as_nobody(hostile_objects.symbols(800_000, hostile_objects.PAGE))
        self.expect_bounded()

    def test_go_table_of_12_million_functions(self):
        self.map_as_nobody(hostile_objects.with_go_table(12_000_000))
        self.expect_bounded("go_table")

    def test_go_table_with_as_many_functions_as_are_read(self):
        self.map_as_nobody(hostile_objects.with_go_table(900_000))
        self.expect_bounded()

    def test_go_table_of_too_many_functions_in_a_section_that_is_read(self):
        self.map_as_nobody(hostile_objects.with_go_table(6_000_000))
        self.expect_bounded("unwind_table")

    def test_frames_of_4_million_functions(self):
        self.map_as_nobody(hostile_objects.with_frames(3_900_000))
        self.expect_bounded("unwind_table")

    def test_as_many_frames_as_are_read(self):
        self.map_as_nobody(hostile_objects.with_frames(1_040_000))
        self.expect_bounded()

    def attack_with_perf_maps(self, text, processes):
        path = self.folder / "perf.map"
        path.write_text(text, encoding="ascii")
        for _ in range(processes):
            child = self.as_nobody("perf_map", path)
            self.addCleanup(Path(f"/tmp/perf-{child.pid}.map").unlink, missing_ok=True)

    def test_perf_maps_of_short_lines(self):
        """Six of 16 MiB: each is 1.5 million functions."""
        text = "".join(f"{i:x} 1 a\n" for i in range(0x10000, 0x10000 + 1_500_000))
        self.attack_with_perf_maps(text, 6)
        self.expect_bounded("perf_map")

    def test_perf_maps_of_functions_within_functions(self):
        """Six of 16 MiB: with names of 1,000 bytes, most of which would be there twice."""
        self.attack_with_perf_maps(hostile_objects.perf_map(16_000, 1_000), 6)
        self.expect_bounded()


if __name__ == "__main__":
    main()
