# SPDX-License-Identifier: Apache-2.0
"""Who holds the GIL of Python programs, for each Python of this host."""

import subprocess
import sys
import time

from case import main, slow
from python_names_test import pythons
from waited_on_case import WaitedOnCase

BEGIN = """
import os, re, threading, time
def name(text):
    with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as comm:
        comm.write(text)
def search():
    name("gil-holder")
    time.sleep(0.5)
    re.match("(a+)+$", "a" * 45 + "b")  # for hours
def want():
    name("gil-waiter")
    time.sleep(1)
    while True:
        pass
def start(*functions):
    for each in functions:
        threading.Thread(target=each, daemon=True).start()
"""
END = """
print("waiting", flush=True)
threading.Event().wait()
"""
SEARCH = BEGIN + "start(search, want, want, want)" + END
# As servers do that fork workers: of these, the first thread has another number than it had before.
FORKED = BEGIN + """
if os.fork():
    print("waiting", flush=True)
    os.wait()
start(want, want, want)
search()
"""
TURNS = BEGIN + "start(want, want, want, want)" + END
KEEPS = BEGIN + """
import ctypes
LIBC = ctypes.PyDLL(None)  # its functions keep the GIL
"""
SLEEP = KEEPS + """
def sleep():
    name("gil-holder")
    time.sleep(0.5)
    LIBC.sleep(20)
    want()
start(sleep, want, want, want)
""" + END
DEADLOCK = KEEPS + """
mutex = ctypes.create_string_buffer(64)
def first():
    name("mutex-holder")
    LIBC.pthread_mutex_lock(mutex)
    time.sleep(1)  # without the GIL, which it wants again after that
def second():
    name("gil-holder")
    time.sleep(0.5)
    LIBC.pthread_mutex_lock(mutex)
start(first, second)
""" + END


class PythonGil(WaitedOnCase):
    settings = {**WaitedOnCase.settings, "stalls.threshold": "1s"}

    def program(self, text, python=sys.executable):
        """Its unit."""
        unit = self.new_unit("gil")
        program = self.run_in(unit, python, "-c", text, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "waiting\n")
        return unit

    def part_of_lock(self, unit):
        """Of `why`: on whom threads of the unit wait for a lock."""
        told = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}")
        parts = [part for tree in told.get("units", ()) if tree["unit"] == unit.unit
                 for top in tree["causes"] if top["for"] == "lock" for part in top["parts"]]
        return max(parts, key=lambda part: part["threads"], default={})

    def holder(self, unit):
        return self.part_of_lock(unit).get("holder")

    def stalls(self, unit):
        told = self.daemon.get_json_as_root(f"/api/v1/stalls?cgroup={unit.path}")["stalls"]
        return [stall for stall in told if stall["state"] == "in_progress" and stall.get("held_by")]

    @slow
    def test_who_holds_it_in_each_version(self):
        for version, python in sorted(pythons().items()):
            units = {what: self.program(text, python) for what, text in (("thread", SEARCH), ("forked", FORKED))}
            for what, unit in units.items():
                self.wait_until(f"{version}, {what}: the holder is known", lambda unit=unit: self.holder(unit), 90)
                part = self.part_of_lock(unit)
                self.say((part["holder"]["thread"], part["holder"]["lock"]) == ("gil-holder", "the GIL of Python"),
                         f"{version}, {what}: held by", "gil-holder, the GIL of Python", part["holder"])
                self.say(part["kind"] == "self", f"{version}, {what}: on whom", "the unit itself", part)
                (unit.directory / "cgroup.kill").write_text("1")

    def test_why_says_so(self):
        unit = self.program(SEARCH)

        def sentence():
            return self.daemon.offcpuctl("why", unit.unit).splitlines()[0]
        self.wait_until("the holder is known", lambda: self.holder(unit), 90)
        self.wait_until("three threads wait for it", lambda: self.holder(unit)["waiting"] == 3, 30)
        for words in ("threads wait for a lock (GIL of Python) that thread gil-holder (tid", "; that thread runs"):
            self.say(words in sentence(), "first line of offcpuctl why", words, sentence())

    def is_in_turn(self, unit):
        part = self.part_of_lock(unit)
        return not part.get("holder") and "held by many in turn" in (part.get("because") or "")

    @slow
    def test_who_keeps_it_asleep_and_then_takes_turns(self):
        unit = self.program(SLEEP)
        self.wait_until("the holder is known", lambda: self.holder(unit), 30)
        holder = self.holder(unit)
        self.say((holder["thread"], holder["does"]) == ("gil-holder", "waits"), "holder", "gil-holder, which waits",
                 holder)
        self.wait_until("it goes from hand to hand", lambda: self.is_in_turn(unit), 60)

    @slow
    def test_nobody_holds_it_who_gives_it_away_each_time(self):
        unit = self.program(TURNS)
        self.wait_until("threads wait for the GIL", lambda: self.part_of_lock(unit).get("threads", 0) > 1, 60)
        self.wait_until("it goes from hand to hand", lambda: self.is_in_turn(unit), 60)
        in_turn = unseen = 0
        for _ in range(40):
            part = self.part_of_lock(unit)
            self.assertIsNone(part.get("holder"))
            in_turn += "held by many in turn" in (part.get("because") or "")
            # A window lasts a second here, and on a busy host looks come later than each second.
            unseen += "saw nobody wait for it" in (part.get("because") or "")
            time.sleep(0.5)
        self.expect_at_least("answers that say why nobody is named", 36, in_turn + unseen)
        self.expect_at_least("of these, that it goes from hand to hand", 10, in_turn)

    @slow
    def test_a_long_switch_interval_makes_stalls_with_a_holder(self):
        unit = self.program("import sys\nsys.setswitchinterval(100)\n" + SEARCH)
        self.wait_until("stalls of three waiters have a holder", lambda: len(self.stalls(unit)) == 3, 90)
        for stall in self.stalls(unit):
            held = stall["held_by"]
            told = (stall["for"], stall["site"], stall["comm"], held["lock"], held["comm"])
            self.say(told == ("lock", "python-gil", "gil-waiter", "python_gil", "gil-holder"), "stall",
                     "of a waiter, held by gil-holder", stall)

    @slow
    def test_a_deadlock_of_the_gil_and_a_mutex(self):
        unit = self.program(DEADLOCK)
        self.wait_until("the metric has both threads", lambda: self.daemon.scrape().value(
            "offcpud_deadlocked_threads", cgroup=unit.path) == 2, 90)
        stalls = self.stalls(unit)
        self.expect_equal("stalls with a holder", 1, len(stalls))
        held = stalls[0]["held_by"]
        told = (stalls[0]["comm"], held["lock"], held["comm"], held["deadlock"])
        self.say(told == ("gil-holder", "mutex", "mutex-holder", True), "stall",
                 "gil-holder waits for a mutex of mutex-holder, a deadlock", told)
        self.wait_until("why tells the deadlock",
                        lambda: (self.holder(unit) or {}).get("does") == "deadlocked", 30)


if __name__ == "__main__":
    main()
