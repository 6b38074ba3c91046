# SPDX-License-Identifier: Apache-2.0
"""Who ended waits for locks before, where nobody can see who holds them: by the programs' own account."""

import json
import subprocess
import tempfile
import time
from pathlib import Path

import postgres_server
from case import main
from waited_on_case import WaitedOnCase

# Two threads hold the lock for long, a third one waits for it. Each notes, while it holds the lock, that it will be
# the one to release it; who had to wait adds its time to that of whom this names.
PYTHON = """
import json, sys, threading, time
lock = threading.Lock()
last = "nobody"
waits = {"keeper": 0.0, "other": 0.0, "short": 0.0}
def use(name, hold, rest):
    global last
    with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as comm:
        comm.write(name)
    while True:
        begin = time.monotonic()
        with lock:
            waited = time.monotonic() - begin
            if waited > 0.001:
                waits[last] += waited
            time.sleep(hold)
            last = name
        time.sleep(rest)
for name, hold, rest in (("keeper", 0.03, 0.01), ("other", 0.03, 0.13), ("short", 0, 0.005)):
    threading.Thread(target=use, args=(name, hold, rest), daemon=True).start()
time.sleep(float(sys.argv[1]))
print(json.dumps(waits), flush=True)
"""
SECONDS = 40


class Releasers(WaitedOnCase):
    settings = {**WaitedOnCase.settings, "stalls.threshold": "3s"}
    patience = 60

    def released(self, unit):
        """Who released the locks for which threads of this unit wait; None: not known yet."""
        answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit.unit}")
        locks = [cause for tree in answer["units"] for cause in tree["causes"] if cause["for"] == "lock"]
        return locks[0]["released_by"] if locks else None

    def test_threads_of_python(self):
        self.skip_if("" if Path("/usr/bin/python3").exists() else "there is no /usr/bin/python3")
        folder = tempfile.TemporaryDirectory(prefix="offcpud-releasers-")
        self.addCleanup(folder.cleanup)
        script = Path(folder.name) / "threads.py"
        script.write_text(PYTHON)
        unit = self.new_unit("python")
        program = self.run_in(unit, "/usr/bin/python3", script, SECONDS, stdout=subprocess.PIPE)
        self.addCleanup(program.stdout.close)
        time.sleep(SECONDS - 2)
        released = self.released(unit)
        text = self.daemon.offcpuctl("why", unit.unit)
        waits = json.loads(program.communicate(timeout=20)[0])
        print(f"  by their own account: {waits}", flush=True)
        print(f"  released by: {json.dumps(released)}", flush=True)
        print("\n".join(f"    | {line}" for line in text.splitlines()[:8]), flush=True)
        self.assertIsNotNone(released, "such waits have ended")
        first = released["by"][0]
        truth = waits["keeper"] / sum(waits.values())
        self.say((first["thread"], first["pid"]) == ("keeper", program.pid), "who released it most often",
                 f"keeper of {program.pid}", f"{first['thread']} of {first['pid']}")
        self.expect_close("its share", truth, first["share"], absolute=3 * first["error"] + 0.05)
        self.expect_at_least("waits seen", 50, released["seen"])
        self.expect_at_most("its error", 0.1, first["error"])
        self.say("usually released by thread keeper" in text, "offcpuctl why",
                 "usually released by thread keeper", text.splitlines()[0])

    def test_row_locks_of_postgresql(self):
        """A session that holds a row for 0.2 s again and again, and then for long: it is named before it ends."""
        self.skip_if(postgres_server.missing())
        postgres = postgres_server.PostgresServer()
        self.addCleanup(postgres.remove)
        unit = self.new_unit("postgres")
        postgres.start(self, unit)
        holder = postgres.psql(self, "do $$ begin /* the holder */ for i in 1..60 loop "
                                     "update stock set left_over = i; perform pg_sleep(0.2); commit; "
                                     "end loop; update stock set left_over = 0; perform pg_sleep(60); end $$")
        waiter = postgres.psql(self, "do $$ begin for i in 1..100000 loop update stock set left_over = -1; "
                                     "commit; perform pg_sleep(0.01); end loop; end $$")
        for session in (holder, waiter):
            self.addCleanup(session.wait, 20)
            self.addCleanup(session.kill)
        asked = "select pid from pg_stat_activity where query like 'do %/* the holder */%' and pid <> pg_backend_pid()"
        pid = int(postgres.psql(self, asked).communicate(timeout=20)[0])

        def stalled():
            stalls = self.daemon.get_json_as_root(f"/api/v1/stalls?cgroup={unit.path}")["stalls"]
            return [stall for stall in stalls if stall["state"] == "in_progress" and stall.get("released_by")]
        self.wait_until("a wait that lasts says who ended such waits before", stalled)
        released = stalled()[0]["released_by"]
        print(f"  the holder is {pid}; released by: {json.dumps(released)}", flush=True)
        self.expect_equal("who released it before", pid, released["by"][0]["pid"])
        self.expect_at_least("its share", 0.9, released["by"][0]["share"])
        self.expect_at_least("waits seen", 10, released["seen"])

        def named():
            return f"usually released by postgres (pid {pid}) of the same unit" in \
                self.daemon.offcpuctl("why", unit.unit).splitlines()[0]
        self.wait_until("the first line of offcpuctl why names it", named)
        print(f"    | {self.daemon.offcpuctl('why', unit.unit).splitlines()[0]}", flush=True)


if __name__ == "__main__":
    main()
