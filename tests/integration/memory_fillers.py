# SPDX-License-Identifier: Apache-2.0
"""Programs of another user that bring along files which ask for far more memory than they have bytes."""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import hostile_objects
from children import Children
from hostile_program import NOBODY

PROGRAM = Path(__file__).with_name("hostile_program.py")
SHORT_LINES = 1_500_000


class MemoryFillers(Children):
    """Each of WAYS starts one more, or six for perf maps. Needs a folder that everybody may enter."""

    # What the daemon says that it refused (offcpud_objects_refused_total{cause}), if it has to.
    WAYS = {"embedded_symbols": "embedded_symbols", "most_symbols": None, "go_table": "go_table",
            "most_go_functions": None, "go_table_in_a_section": "unwind_table",
            "frames": "unwind_table", "most_frames": None, "perf_maps_of_short_lines": "perf_map",
            "perf_maps_that_nest": None}

    def __init__(self, folder, user=NOBODY):
        super().__init__()
        self._folder = Path(folder)
        self._user = user
        self._maps = []

    def end(self):
        super().end()
        for path in self._maps:
            path.unlink(missing_ok=True)
        self._maps.clear()

    def embedded_symbols(self):
        """9.6 KB of xz that stand for 64 MiB: 2.7 million functions with names of 4 KB."""
        sleep = Path(shutil.which("sleep")).read_bytes()
        path = self._place("stripped")
        path.write_bytes(hostile_objects.with_embedded_symbols(sleep, 2_700_000))
        path.chmod(0o755)
        self._start("run", path)

    def most_symbols(self):
        self._map(hostile_objects.symbols(800_000, hostile_objects.PAGE))

    def go_table(self):
        self._map(hostile_objects.with_go_table(12_000_000))

    def most_go_functions(self):
        self._map(hostile_objects.with_go_table(900_000))

    def go_table_in_a_section(self):
        """Too many functions in a section that is read."""
        self._map(hostile_objects.with_go_table(6_000_000))

    def frames(self):
        self._map(hostile_objects.with_frames(3_900_000))

    def most_frames(self):
        self._map(hostile_objects.with_frames(1_040_000))

    def perf_maps_of_short_lines(self):
        """Six of 16 MiB: each is 1.5 million functions."""
        lines = (f"{i:x} 1 a\n" for i in range(0x10000, 0x10000 + SHORT_LINES))
        self._write_perf_maps("".join(lines))

    def perf_maps_that_nest(self):
        """Six of 16 MiB: with names of 1,000 bytes, most of which would be there twice."""
        self._write_perf_maps(hostile_objects.perf_map(16_000, 1_000))

    def _place(self, name):
        folder = Path(tempfile.mkdtemp(prefix="filler-", dir=self._folder))
        folder.chmod(0o755)
        return folder / name

    def _start(self, action, path):
        return self.run(sys.executable, PROGRAM, action, path, self._user, cwd="/",
                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)

    def _map(self, parts):
        self._start("map", hostile_objects.write(self._place("object"), parts))

    def _write_perf_maps(self, text):
        path = self._place("perf.map")
        path.write_text(text, encoding="ascii")
        for _ in range(6):
            process = self._start("perf_map", path)
            self._maps.append(Path(f"/tmp/perf-{process.pid}.map"))
