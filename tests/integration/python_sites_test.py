# SPDX-License-Identifier: Apache-2.0
"""What threads of Python programs wait for, by functions of Python on their stacks, for each Python of this host."""

import subprocess
import time

from case import main
from python_names_test import StacksWithLines, pythons
from waited_on_case import HERE, WaitedOnCase

# By the name of the thread; a name that begins with `any` may wait for anything.
SITES = {"answer-join": "python-join", "answer-future": "python-future", "answer-first": "python-future",
         "answer-pool": "python-pool-result", "work-executor": "python-idle-worker",
         "work-queue": "python-queue", "answer-full": "python-full-queue", "timer-timer": "python-timer",
         "answer-barrier": "python-barrier", "any-event": "python-event",
         "lock-logging": "python-logging-lock", "answer-http": "python-http-answer",
         "work-server": "python-server", "work-asyncio": "python-asyncio-loop", "any-child": "python-child",
         "work-main": "python-main-joins"}


class PythonSites(WaitedOnCase):
    def test_sites_of_each_version(self):
        for version, python in sorted(pythons().items()):
            unit = self.new_unit("sites")
            program = self.run_in(unit, python, HERE / "waiting_at_python_sites.py", stdout=subprocess.PIPE)
            self.addCleanup(program.stdout.close)
            self.assertEqual(program.stdout.readline(), "waiting\n")
            time.sleep(2)
            path = f"/debug/pprof/offcpu?seconds=2&cgroup={unit.path}&format=json"
            rows = StacksWithLines(self.daemon.get_json_as_root(path)).rows
            self.compare(version, rows)
            (unit.directory / "cgroup.kill").write_text("1")

    def compare(self, version, rows):
        said, wrong = {}, {}
        for row in rows:
            said.setdefault(row["thread"], set()).add((row["site"], row["for"]))
        for thread, site in SITES.items():
            wanted = thread.split("-")[0]
            found = said.get(thread, set())
            purposes = {wait for _, wait in found}
            if {each for each, _ in found} != {site} or wanted not in ("any", *purposes) or len(purposes) > 1:
                wrong[thread] = found or "no row"
        self.say(not wrong, f"{version}: of {len(SITES)} threads, those with a wrong site or purpose", "none",
                 wrong)
        idle = [row for row in rows
                if row["site"] == "python-idle-worker" and row["thread"] != "work-executor"]
        self.say(idle, f"{version}: an idle process of a pool", "python-idle-worker", len(idle))


if __name__ == "__main__":
    main()
