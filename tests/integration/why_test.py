# SPDX-License-Identifier: Apache-2.0
"""Who is to blame: a client that waits for a server that sleeps, and a unit that others keep off the CPU, against the
programs' own clocks and the scheduler's."""

import sys
import time
from pathlib import Path

from case import main
from daemon import WORKLOADS
from waited_on_case import WaitedOnCase

THREADS = 6
WINDOW = 12
STEP = 10  # the longest of the daemon's history of CPUs

# Thinks for 40 ms about each question.
SERVER = """
import socket, threading, time
def answer(connection):
    while connection.recv(100):
        time.sleep(0.04)
        connection.sendall(b"answer")
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
while True:
    threading.Thread(target=answer, args=(listening.accept()[0],), daemon=True).start()
"""

# Asks in some threads, with a rest between two questions, and writes when each wait began and ended.
CLIENT = """
import socket, sys, threading, time
log = open(sys.argv[3], "w", buffering=1)
def ask():
    connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    while True:
        begin = time.time()
        connection.sendall(b"question")
        connection.recv(100)
        log.write(f"{begin} {time.time()}\\n")
        time.sleep(0.01)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=ask).start()
"""

# A loop on the last CPU.
HOG = """
import os
os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
while True: pass
"""


class Why(WaitedOnCase):
    patience = 90

    def why(self, unit):
        return self.daemon.get_json_as_root(f"/api/v1/why?unit={unit}&window={WINDOW}s")

    def expect_no_more_attributed_than_waited(self, node):
        if node["parts"]:
            self.expect_at_most(f"seconds of the parts of {node['kind']} {node['for']}", node["seconds"] * (1 + 1e-9),
                                sum(part["seconds"] for part in node["parts"]))
        for part in node["parts"]:
            self.expect_no_more_attributed_than_waited(part)

    def expect_same(self, what, expected, seen):
        self.say(expected == seen, what, expected, seen)

    def expect_sums(self, answer):
        for unit in answer["units"]:
            for cause in unit["causes"]:
                self.expect_no_more_attributed_than_waited(cause)

    @staticmethod
    def cause(answer, what):
        return next((cause for unit in answer["units"] for cause in unit["causes"] if cause["for"] == what), None)

    @staticmethod
    def part(cause, kind, name):
        found = [part for part in cause["parts"] if part["kind"] == kind and part["name"] == name]
        return found[0] if found else {"threads": 0, "seconds": 0, "error": 0}

    def expect_first_lines(self, *steps):
        """One of the first five lines has all of this, in this order."""
        first = self.daemon.offcpuctl("why").splitlines()[:5]
        print("\n".join(f"    | {line}" for line in first), flush=True)

        def has_steps(line):
            at = 0
            for step in steps:
                at = line.find(step, at)
                if at < 0:
                    return False
                at += len(step)
            return True
        self.say(any(map(has_steps, first)), "in the first five lines of offcpuctl why", " ... ".join(steps),
                 f"{len(first)} lines")

    def test_children_in_another_unit_take_nothing_from_answers(self):
        """A session asks a server, while three shells of it wait for commands that run in another unit."""
        server, session, build = (self.new_unit(name) for name in ("server", "session", "build"))
        serving = self.run_in(server, sys.executable, "-c", SERVER, stdout=-1)
        self.addCleanup(serving.stdout.close)
        self.run_in(session, sys.executable, "-c", CLIENT, serving.stdout.readline().strip(), 1, "/dev/null")
        for _ in range(3):
            self.run_in(session, "sh", "-c",
                        f"while :; do (echo 0 > {build.directory}/cgroup.procs; exec sleep 0.1); done")
        self.wait_until("the session is said to wait for the server", lambda: any(
            verdict["culprit"] == server.unit for verdict in self.why(session.unit).get("verdicts", ())))
        time.sleep(WINDOW + 6)
        answer = self.why(session.unit)
        children = answer["units"][0]["children"]
        self.expect_at_least("threads that wait for children, of 3 that sometimes run", 1.5, round(children, 2))
        cause = self.cause(answer, "answer")
        print(f"  { {part['name']: round(part['threads'], 3) for part in cause['parts']} }", flush=True)
        self.expect_at_most("threads that wait for answers of others", 1, cause["threads"])
        on_server = self.part(cause, "unit", server.unit)
        self.expect_at_least("the part of that on the server", 0.9, on_server["threads"] / cause["threads"])
        self.expect_same("seconds on the children's unit", 0,
                         round(self.part(cause, "unit", build.unit)["seconds"], 1))

    def test_a_client_waits_for_a_server_that_sleeps(self):
        server, client = self.new_unit("server"), self.new_unit("client")
        log = Path(f"/tmp/offcpud-why-{client.unit}.log")
        self.addCleanup(log.unlink, missing_ok=True)
        serving = self.run_in(server, sys.executable, "-c", SERVER, stdout=-1)
        self.addCleanup(serving.stdout.close)
        port = serving.stdout.readline().strip()
        self.run_in(client, sys.executable, "-c", CLIENT, port, THREADS, log)
        begin = time.time()
        self.wait_until("the server is said to be to blame", lambda: any(
            verdict["culprit"] == server.unit for verdict in self.why(client.unit).get("verdicts", ())))
        print(f"  after {time.time() - begin:.1f} s", flush=True)
        time.sleep(WINDOW + 6)
        answer = self.why(client.unit)
        self.expect_first_lines(f"{client.unit} (python", " threads wait for an answer",
                                f" of {server.unit} (python", f" of that time {server.unit} sleeps")
        end = time.time()
        waits = [tuple(map(float, line.split())) for line in log.read_text().splitlines()[:-1]]
        since = end - WINDOW - 5
        truth = sum(min(until, end) - max(start, since) for start, until in waits if until > since) / (end - since)

        cause = self.cause(answer, "answer")
        within = 3 * cause["error"] + 0.03 * truth
        self.expect_close("threads that wait for an answer", truth, cause["threads"], absolute=within)
        on_server = self.part(cause, "unit", server.unit)
        self.expect_close("of the server", truth, on_server["threads"], absolute=within)
        self.expect_close("seconds of the server", truth * answer["window_seconds"], on_server["seconds"],
                          absolute=within * answer["window_seconds"])
        self.expect_same("the server's process", serving.pid, on_server["pid"])
        self.expect_sums(answer)
        verdict = answer["verdicts"][0]
        self.expect_same("who is to blame", server.unit, verdict["culprit"])
        self.expect_same("what that does", "sleeps", verdict["hops"][-1]["does"])
        self.expect_same("whether that is attributed", True, verdict["hops"][-1]["attributed"])
        self.expect_at_least("in which part of the waits it sleeps", 0.9, verdict["hops"][-1]["share"])
        edge = [edge for edge in answer["graph"]["edges"]
                if (edge["from"], edge["to"], edge["for"]) == (client.unit, server.unit, "answer")]
        self.expect_same("edges from the client to the server", 1, len(edge))
        self.expect_of_a_process(client, server)

    def expect_of_a_process(self, client, server):
        pid = (client.directory / "cgroup.procs").read_text().split()[0]
        answer = self.daemon.get_json_as_root(f"/api/v1/why?pid={pid}")
        verdict = answer["verdicts"][0]
        self.expect_same("who is to blame for the waits of one process", server.unit,
                         next(hop["name"] for hop in verdict["hops"][1:]))
        self.expect_at_least("its threads that wait", 0.5 * THREADS, verdict["threads"])
        self.expect_sums(answer)

    def verdicts(self, unit):
        """Of the whole host, in their order; and those about the unit."""
        told = self.daemon.get_json_as_root("/api/v1/why?limit=100")["verdicts"]
        return told, [verdict for verdict in told if verdict["unit"] == unit.unit]

    def test_what_has_ended_is_told_as_past(self):
        """Behind what lasts, as soon as its process is gone, and for as long as it is in the window."""
        ended, lasting = self.new_unit("ended"), self.new_unit("lasting")
        program = self.run_in(ended, WORKLOADS / "held", "--waiters", 6, "--ms", 120_000, stdout=-1)
        self.addCleanup(program.stdout.close)
        self.assertEqual(program.stdout.readline(), "waiting\n")
        self.wait_until("six threads wait for a lock", lambda: any(
            verdict["threads"] > 5 and not verdict["over"] for verdict in self.verdicts(ended)[1]))
        other = self.run_in(lasting, WORKLOADS / "held", "--waiters", 1, "--ms", 120_000, stdout=-1)
        self.addCleanup(other.stdout.close)
        self.wait_until("another one waits, too", lambda: self.verdicts(lasting)[1])
        program.kill()
        program.wait()
        self.wait_until("the first one is told as past", lambda: self.verdicts(ended)[1][0]["over"], 5)
        told, (verdict, *_) = self.verdicts(ended)
        self.say(", until at most " in verdict["sentence"] and " threads waited for a lock" in verdict["sentence"],
                 "in words", "..., until at most ... ago: ... threads waited for a lock", verdict["sentence"])
        self.expect_same("what is over is last", sorted(each["over"] for each in told),
                         [each["over"] for each in told])
        self.expect_same("whether the other one is over", [False],
                         [each["over"] for each in self.verdicts(lasting)[1]])
        words = self.verdicts(lasting)[1][0]["sentence"]
        self.say(f"{lasting.unit} (held, pid" in words and " threads wait for a lock" in words, "in words",
                 f"{lasting.unit} (held, pid ...): ... threads wait for a lock", words)
        self.wait_until("it is told no more", lambda: not self.verdicts(ended)[1], 45)

    def test_programs_of_one_unit_are_told_by_name(self):
        """As those of a session, which all are in its scope."""
        session = self.new_unit("session")
        serving = self.run_in(session, sys.executable, "-c", SERVER, stdout=-1)
        self.addCleanup(serving.stdout.close)
        port = serving.stdout.readline().strip()
        client = self.run_in(session, sys.executable, "-c", CLIENT, port, THREADS, "/dev/null")
        words = (f"{session.unit} (python3, pid {client.pid}): ", " threads wait for an answer",
                 f" of the same unit (python3, pid {serving.pid})")

        def sentences():
            return [verdict["sentence"] for verdict in self.verdicts(session)[1]]
        self.wait_until("both are named", lambda: any(all(word in said for word in words) for said in sentences()))

    @staticmethod
    def scheduled(processes):
        """Seconds on a CPU and in a run queue, as the scheduler counts them."""
        sums = [tuple(map(int, Path(f"/proc/{process.pid}/schedstat").read_text().split()[:2]))
                for process in processes]
        return [sum(each) * 1e-9 for each in zip(*sums)]

    def test_others_have_the_cpu(self):
        batch, search = self.new_unit("batch"), self.new_unit("search")
        hogs = [self.run_in(batch, sys.executable, "-c", HOG) for _ in range(6)]
        victims = [self.run_in(search, sys.executable, "-c", HOG) for _ in range(4)]
        time.sleep(STEP + 3)  # python starts, and the window is of whole steps
        begin = time.monotonic()
        before = self.scheduled(hogs), self.scheduled(victims)
        time.sleep(WINDOW + 2)
        answer = self.why(search.unit)
        after = self.scheduled(hogs), self.scheduled(victims)
        length = time.monotonic() - begin
        hog_ran, victim_ran, victim_waited = ((after[who][what] - before[who][what]) / length
                                              for who, what in ((0, 0), (1, 0), (1, 1)))
        cause = self.cause(answer, "cpu")
        self.expect_close("threads that wait for a CPU", victim_waited, cause["threads"], 0.05)
        # While one of them runs, all others wait: every victim when a hog does.
        others = self.part(cause, "unit", batch.unit)
        self.expect_close("which others had", len(victims) * hog_ran, others["threads"], 0.05, 0.05)
        self.expect_close("in seconds", others["threads"] * answer["window_seconds"], others["seconds"], 1e-6)
        own = self.part(cause, "self", search.unit)
        self.expect_close("which they had themselves", (len(victims) - 1) * victim_ran, own["threads"], 0.05, 0.05)
        self.expect_sums(answer)
        self.expect_same("who is to blame", batch.unit, answer["verdicts"][0]["culprit"])
        self.expect_first_lines(f"{search.unit}: ", f" threads wait for a CPU: {batch.unit} has it, ")


if __name__ == "__main__":
    main()
