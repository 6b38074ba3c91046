# SPDX-License-Identifier: Apache-2.0
"""A program of an unprivileged user that maps many large objects: reading them and making their
tables takes its own share of time, and the names of others do not wait behind them."""

import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import hostile_objects
import host
from case import Case, main
from daemon import die_with_the_tester

OBJECTS = 48
FUNCTIONS = 500_000  # within the limits; 12 MB, and half a second to read
# A program whose names nobody knows yet, as it has a build of its own.
SOURCE = "#include <unistd.h>\nvoid {name}(void) {{ for (;;) usleep(5000); }}\nint main(void) {{ {name}(); }}\n"


class HostileTime(Case):
    settings = {"pass_interval": "1s"}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        cls.skip_if(None if shutil.which("cc") else "there is no C compiler")
        super().setUpClass()

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="offcpud-hostile-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.folder.chmod(0o755)

    def start_child(self, *command):
        child = subprocess.Popen(command, preexec_fn=die_with_the_tester, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, cwd="/")
        self.addCleanup(child.wait)
        self.addCleanup(child.kill)
        return child

    def honest(self, name):
        program = self.folder / name
        source = self.folder / f"{name}.c"
        source.write_text(SOURCE.format(name=name), encoding="ascii")
        subprocess.run(["cc", "-g0", "-O1", "-o", program, source], check=True)
        return self.start_child(str(program))

    def seconds_to_name(self, name, child):
        begin = time.monotonic()
        self.wait_until(f"{name} in a profile", lambda: name in self.daemon.get(
            f"/debug/pprof/offcpu?seconds=1&pid={child.pid}&format=folded"), 120)
        return time.monotonic() - begin

    def test_names_of_others_do_not_wait(self):
        usual = self.seconds_to_name("before_it", self.honest("before_it"))
        objects = self.folder / "objects"
        objects.mkdir()
        parts = hostile_objects.symbols(FUNCTIONS, hostile_objects.PAGE)
        for i in range(OBJECTS):
            hostile_objects.write(objects / f"{i:03}", parts)
        objects.chmod(0o755)
        hog = self.start_child(sys.executable, str(Path(__file__).with_name("hostile_program.py")),
                               "map_all", str(objects))
        time.sleep(1)
        meanwhile = self.seconds_to_name("meanwhile", self.honest("meanwhile"))
        print(f"  a profile of 1 s with names: {usual:.1f} s, and {meanwhile:.1f} s under attack",
              flush=True)
        self.assertIsNone(hog.poll(), "the program that maps them has ended")
        self.expect_at_most("seconds until the other program has its names", usual + 6, meanwhile)


if __name__ == "__main__":
    main()
