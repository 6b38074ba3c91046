# SPDX-License-Identifier: Apache-2.0
"""What goroutines wait for, against the account that the runtime itself gives of them, for each Go of this host: on the
path, and in /usr/lib/go-*."""

import json
import re
import shutil
import subprocess
import tempfile
import urllib.error
from collections import Counter
from pathlib import Path

from case import main
from waited_on_case import HERE, WaitedOnCase

SOURCE = HERE / "waiting_goroutines.go"
BUILDS = {"with symbols": [], "stripped": ["-ldflags=-s -w"],
          "stripped, anywhere in memory": ["-buildmode=pie", "-ldflags=-s -w"],
          "linked by C": ["-ldflags=-linkmode=external"],
          "linked by C, stripped, anywhere in memory": ["-buildmode=pie", "-ldflags=-linkmode=external -s -w"]}


def compilers():
    """{version: go} of this host."""
    found = {}
    for go in (shutil.which("go"), *sorted(Path("/usr/lib").glob("go-*/bin/go"))):
        if go:
            told = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout
            found.setdefault(told.split()[2], str(go))
    return found


def own(functions):
    return tuple(name for name in functions if name.startswith("main."))


def account_of(text):
    """Counts (reason, functions of the program, innermost first) in what runtime.Stack says."""
    waits = Counter()
    for part in text.strip().split("\n\n"):
        head, *lines = part.split("\n")
        reason = re.fullmatch(r"goroutine \d+ \[([^\],]*).*\]:", head).group(1)
        calls = [line[:line.rindex("(")] for line in lines
                 if not line.startswith(("\t", "created by")) and "(" in line]
        if reason != "running":
            waits[reason, own(calls)] += 1
    return waits


class Goroutines(WaitedOnCase):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(not compilers() and "go is not installed (Debian: golang-go)")
        super().setUpClass()
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)

    def build(self, go, options=()):
        program = self.folder / f"waits-{len(list(self.folder.glob('waits-*')))}"
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "GO111MODULE": "off",
                       "GOCACHE": str(self.folder / "cache"), "GOTOOLCHAIN": "local"}
        subprocess.run([go, "build", *options, "-o", program, SOURCE], env=environment, check=True)
        return program

    def begin(self, program, *arguments):
        """The process, once all of its goroutines wait, and what it says."""
        process = self.run_in(self.new_unit("go"), program, *arguments, stdout=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        said = ""
        for line in process.stdout:
            if line == "end\n":
                break
            said += line
        return process, said

    def expect_same(self, what, expected, seen):
        self.say(expected == seen, what, expected, seen)

    def ask(self, process):
        return self.daemon.get_json_as_root(f"/api/v1/goroutines?pid={process.pid}&limit=1000")

    def any_program(self):
        return self.build(next(iter(compilers().values())))

    def test_reason_and_functions_of_each_goroutine_of_each_version_and_build(self):
        for version, go in compilers().items():
            for build, options in BUILDS.items():
                what = f"{version} {build}"
                process, said = self.begin(self.build(go, options), "places")
                told, answer = account_of(said), self.ask(process)
                self.expect_same(f"{what}: version", version, answer.get("go", answer))
                seen = Counter()
                for group in answer["groups"]:
                    if not group["runtime"]:
                        seen[group["reason"], own(group["functions"])] += group["goroutines"]
                self.assertGreaterEqual(sum(told.values()), 22, said)
                if told != seen:
                    print(f"  only told: {told - seen}\n  only seen: {seen - told}", flush=True)
                right = sum((told & seen).values())
                self.expect_equal(f"{what}: goroutines that are right", sum(told.values()), right)
                self.expect_equal(f"{what}: goroutines that are seen", sum(told.values()), sum(seen.values()))
                ends = {group["end"] for group in answer["groups"]}
                self.expect_same(f"{what}: ends of stacks", {"root"}, ends)
                ages = [group["at_least_seconds"] for group in answer["groups"] if not group["runtime"]]
                self.say(None not in ages and min(ages) >= 1, f"{what}: all waited for", "1 s or more", ages)
                process.kill()

    def test_who_waits_again_and_again_has_no_age(self):
        process, _ = self.begin(self.any_program(), "rounds")
        ages, seen = [], 0
        for _ in range(6):
            answer = self.ask(process)
            groups = [group for group in answer["groups"]
                      if {"main.handOver", "main.sleepAgain"} & set(group["functions"])]
            ages += [group["at_least_seconds"] for group in groups if group["at_least_seconds"] is not None]
            seen += sum(group["goroutines"] for group in groups)
        self.expect_at_least("goroutines that were seen to wait", 20, seen)
        # Of each goroutine, one look in 65,536 takes several waits for one.
        self.expect_at_most("groups with an age", 1, len(ages))
        states = sum(answer[state] for state in ("waiting", "running", "runnable", "in_system_call", "other"))
        self.expect_at_least("goroutines in some state", 25, states)

    def test_of_many_some_are_looked_at_spread_evenly(self):
        process, _ = self.begin(self.any_program(), "many", "60000")
        answer = self.ask(process)
        print(f"  looked at {answer['looked_at']} of {answer['all']}", flush=True)
        self.expect_at_least("all", 60000, answer["all"])
        self.expect_at_least("looked at", 256, answer["looked_at"])
        self.expect_at_most("looked at", 20512, answer["looked_at"])
        seen = Counter()
        for group in answer["groups"]:
            for name in ("main.waitToReceive", "main.waitForAny"):
                seen[name] += group["goroutines"] if name in group["functions"] else 0
        self.expect_close("share of those that receive", 2 / 3, seen["main.waitToReceive"] / sum(seen.values()), 0.05)
        self.say("looked at" in self.daemon.offcpuctl("goroutines", str(process.pid)), "offcpuctl says so", True, "")

    def test_offcpuctl_shows_reasons_and_functions(self):
        process, _ = self.begin(self.any_program(), "places")
        text = self.daemon.offcpuctl("goroutines", str(process.pid))
        print(text, flush=True)
        for wanted in ("4 goroutines: select, one for at least", "    main.waitForAny\n", "    main.(*till).pay\n",
                       "    main.waitDeep (61 times)\n", "left out: of the runtime itself: "):
            self.say(wanted in text, "the text has", wanted, "")
        some = json.loads(self.daemon.offcpuctl("goroutines", "--json", "--limit", "2", str(process.pid)))
        self.expect_equal("groups in JSON", 2, len(some["groups"]))
        self.expect_at_least("others", 8, some["groups_left_out"])

    def refusal(self, query):
        with self.assertRaises(urllib.error.HTTPError) as raised:
            self.daemon.get(f"/api/v1/goroutines{query}")
        with raised.exception as answer:
            return answer.code, json.loads(answer.read())["error"]

    def test_who_is_no_go_program_is_refused(self):
        program = self.run_in(self.new_unit("other"), "sleep", "300")
        self.expect_same("sleep", (404, f"process {program.pid} runs no Go program"),
                         self.refusal(f"?pid={program.pid}"))
        self.expect_same("nobody", (404, "process 4194304 does not exist, or has no program"),
                         self.refusal("?pid=4194304"))
        self.expect_equal("no process", 400, self.refusal("")[0])

    def test_a_program_that_ends_meanwhile_is_refused(self):
        process, _ = self.begin(self.any_program(), "places")
        ended = subprocess.Popen(["sh", "-c", f"sleep 0.5; kill -9 {process.pid}"])
        self.addCleanup(ended.wait)
        code, text = self.refusal(f"?pid={process.pid}")
        self.say(code == 404 and "has ended" in text, "answer", "404, it has ended", (code, text))


if __name__ == "__main__":
    main()
