# SPDX-License-Identifier: Apache-2.0
"""What programs of an unprivileged user bring along to fill the daemon's memory: each file for ten
seconds beside an honest program, which keeps its names. With the settings that the daemon has by
default, it never takes more than 300 MB."""

import sys
import tempfile
import time
from pathlib import Path

import host
from case import Case, main
from daemon import DEFAULTS, Daemon
from memory_fillers import MemoryFillers

MOST_KB = 300 * 1024
SECONDS = 10
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
        self.fillers = MemoryFillers(self.folder)
        self.addCleanup(self.fillers.end)
        self.honest = self.fillers.run(
            sys.executable, "-c", "import time\nwhile True: time.sleep(0.02)")

    def peak(self):
        status = Path(f"/proc/{self.daemon.pid}/status").read_text(encoding="ascii")
        return int(status.partition("VmHWM:")[2].split()[0])

    def honest_stacks(self):
        return self.daemon.get(f"/debug/pprof/offcpu?seconds=2&pid={self.honest.pid}&format=folded")

    def expect_bounded(self, way):
        refused = MemoryFillers.WAYS[way]
        before = self.peak()
        getattr(self.fillers, way)()
        time.sleep(SECONDS)
        self.wait_until("the honest program's stacks have their names",
                        lambda: "clock_nanosleep" in self.honest_stacks(), 60)
        print(f"  peak of the daemon: {before // 1024} MB, under attack {self.peak() // 1024} MB",
              flush=True)
        for child in self.fillers.processes:
            self.assertIsNone(child.poll(), "a program has ended")
        self.assertIsNone(self.daemon.poll(), "the daemon has ended")
        if refused:
            self.wait_until(f"{refused} refused", lambda: self.daemon.scrape().value(
                REFUSED, cause=refused) > 0, 60)
            said = [line for line in self.daemon.log() if "left out" in line]
            self.expect_equal("lines about it", 1, len(said))
        self.expect_at_most("peak of the daemon in KiB", MOST_KB, self.peak())

    def test_embedded_symbols_of_one_address_and_one_name(self):
        self.expect_bounded("embedded_symbols")

    def test_as_many_symbols_as_are_read(self):
        self.expect_bounded("most_symbols")

    def test_go_table_of_12_million_functions(self):
        self.expect_bounded("go_table")

    def test_go_table_with_as_many_functions_as_are_read(self):
        self.expect_bounded("most_go_functions")

    def test_go_table_of_too_many_functions_in_a_section_that_is_read(self):
        self.expect_bounded("go_table_in_a_section")

    def test_frames_of_4_million_functions(self):
        self.expect_bounded("frames")

    def test_as_many_frames_as_are_read(self):
        self.expect_bounded("most_frames")

    def test_perf_maps_of_short_lines(self):
        self.expect_bounded("perf_maps_of_short_lines")

    def test_perf_maps_of_functions_within_functions(self):
        self.expect_bounded("perf_maps_that_nest")


if __name__ == "__main__":
    main()
