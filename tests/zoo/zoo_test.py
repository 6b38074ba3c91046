# SPDX-License-Identifier: Apache-2.0
"""Programs in the languages that Debian packages, waiting at known places: their stacks as the
daemon keeps them, address by address against eu-stack's."""

import glob
import os
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from zoo_case import (PROGRAMS, WORKLOADS, Places, Seen, ZooCase, main, whole_python,  # noqa: E402
                      percent_at_root, places_of, whole)


def tool(*patterns):
    """The newest of Debian's programs of these names: not what a user has put before it."""
    for pattern in patterns:
        found = sorted(path for path in glob.glob(pattern) if os.access(path, os.X_OK))
        if found:
            return found[-1]
    return None


# Where the stack of a Go thread begins, as its runtime says: eu-stack goes on into what is no code,
# or was another stack's.
GO_ROOTS = {"runtime.goexit", "runtime.mcall", "runtime.mstart", "runtime.morestack",
            "runtime.rt0_go"}


class Zoo(ZooCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(cls.print_all)

    @classmethod
    def print_all(cls):
        share = percent_at_root(cls.all_ends)
        print(f"\nthe whole zoo: {sum(cls.all_ends.values())} stacks, {share:.2f} % at a true root")
        for end, count in sorted(cls.all_ends.items()):
            print(f"  {count:6} {end or 'root'}")
        if cls.all_ends and share < 99:
            raise AssertionError(f"only {share:.2f} % of all stacks end at a true root")

    def need(self, package, *patterns):
        found = tool(*patterns)
        if not found:
            self.skipTest(f"needs {package}: sudo tests/run zoo installs it")
        return found

    def build(self, command, **environment):
        made = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                              check=False, env={**os.environ, "HOME": str(self.folder), **environment})
        self.assertEqual(0, made.returncode, made.stderr)

    # --- C and C++: images and objects that come while the program runs

    def test_c(self):
        """The truth is what the program's own runtime sees above the call that waits: a thread in
        posix_spawn cannot be stopped, and so not be looked at."""
        program = WORKLOADS / "stack_zoo"
        by_exec = ["/bin/sh", "-c", 'exec "$0" "$@"', program]
        for language, command in (("posix_spawn", [program, "spawn"]), ("vfork", [program, "vfork"]),
                                  ("dlopen", [program, "dlopen"]),
                                  ("static-pie", [WORKLOADS / "stack_zoo_static", "recursion"]),
                                  ("exec", [*by_exec, "condition"])):
            with self.subTest(language):
                process, cgroup, said = self.run_program(*command)
                begin = time.time()
                time.sleep(2.5)
                above = [int(address, 16) for address in said.split()[1:]]
                above = Places(process.pid).places([0, *above])[1:]
                samples = [sample for sample in self.samples_since(begin, cgroup)
                           if sample.labels["pid"] == process.pid
                           # The others are those of the first thread, which waits for its input.
                           and sample.labels["reason"] != "pipe"]
                seen = Seen([], samples)
                self.count(language, seen)
                self.expect_roots(language)
                wrong = [sample for sample in samples if places_of(sample)[-len(above):] != above]
                self.expect_equal(f"{language}: stacks not below the {len(above)} frames that the "
                                  "program sees", 0, len(wrong))

    # --- Rust

    def rust(self, language, *flags):
        compiler = self.need("rustc", "/usr/bin/rustc")
        program = self.folder / language.replace(" ", "_")
        self.build([compiler, "-O", *flags, "-o", program, PROGRAMS / "waits.rs"])
        seen = self.watch(language, program)
        self.expect_roots(language)
        self.expect_equal_to_oracle(language, seen, 40)
        self.expect_functions(language, seen, "waits::dive", "waits::wait_sleep",
                              "waits::wait_mutex", "waits::wait_receive", "std::thread::park")

    def test_rust(self):
        self.rust("Rust", "--crate-name=waits")

    def test_rust_with_frame_pointers(self):
        self.rust("Rust with frame pointers", "--crate-name=waits", "-Cforce-frame-pointers=yes")

    # --- Go

    def go(self, language, *flags):
        compiler = self.need("golang-go", "/usr/lib/go-*/bin/go")
        program = self.folder / language.replace(" ", "_") / "waits"
        self.build([compiler, "build", *flags, "-o", program, PROGRAMS / "waits.go"],
                   GOFLAGS="-mod=mod", GOCACHE=str(self.folder / "cache"), GO111MODULE="off")
        return program

    @staticmethod
    def to_go_root(stack, places):
        for i, name in enumerate(stack.functions):
            if name.removesuffix(".abi0") in GO_ROOTS:
                return places[:i + 1]
        return whole(stack, places)

    def watch_go(self, language, program):
        seen = self.watch(language, program)
        self.expect_roots(language)
        self.expect_functions(language, seen, "main.sleepInSyscall", "main.readInSyscall", "main.dive",
                              "syscall.Syscall", "runtime.futex", "runtime.goexit", "runtime.mcall")
        seen.add_those_up_to("runtime.systemstack")  # where eu-stack ends, between two stacks
        return seen

    def test_go(self):
        for language, flags in (("Go", []), ("Go, position-independent", ["-buildmode=pie"]),
                                ("Go without C", ["-tags=netgo,osusergo"])):
            with self.subTest(language):
                program = self.go(language, *flags)
                seen = self.watch_go(language, program)
                self.expect_equal_to_oracle(language, seen, 20, self.to_go_root)

    def test_go_without_symbols(self):
        """The oracle has nothing to go by: its stacks of the same program before it was stripped
        count, whose addresses are the same."""
        program = self.go("Go before strip")
        with_symbols = self.watch("Go before strip", program)
        stripped = self.folder / program.name  # its name is part of each place
        subprocess.run(["strip", "-o", stripped, program], check=True)
        seen = self.watch_go("Go without symbols", stripped)
        with_symbols.mine = seen.mine
        # Those of goroutines in system calls: which threads there are else is up to the scheduler.
        with_symbols.oracle = [one for one in with_symbols.oracle
                               if any(name.startswith("main.") for name in one[2].functions)]
        self.expect_equal_to_oracle("Go without symbols", with_symbols, 12, self.to_go_root)

    # --- interpreters and compilers at run time

    def test_python(self):
        python = self.need("python3", "/usr/bin/python3")
        seen = self.watch("CPython", python, PROGRAMS / "waits.py")
        self.expect_roots("CPython")
        self.expect_equal_to_oracle("CPython", seen, 35, whole_python)
        self.expect_functions("CPython", seen, "wait_read (programs/waits.py)", "wait_queue (programs/waits.py)")

    def test_node(self):
        node = self.need("nodejs", "/usr/bin/node")
        fifo = self.folder / "fifo"
        os.mkfifo(fifo)
        by_map = ["--perf-basic-prof", "--interpreted-frames-native-stack"]
        for language, flags in (("Node", []), ("Node with a perf map", by_map)):
            with self.subTest(language):
                seen = self.watch(language, node, *flags, PROGRAMS / "waits.js", fifo)
                self.expect_roots(language)
                self.expect_equal_to_oracle(language, seen, 50)
                if flags:
                    self.expect_functions(language, seen, "waitInAtomics", "waitInRead")

    def test_jvm(self):
        java = self.need("default-jdk-headless", "/usr/bin/java")
        compiler = self.need("default-jdk-headless", "/usr/bin/javac")
        self.build([compiler, "-d", self.folder, PROGRAMS / "Waits.java"])
        for language, flags in (("JVM", []),
                                ("JVM with frame pointers", ["-XX:+PreserveFramePointer"])):
            with self.subTest(language):
                seen = self.watch(language, java, *flags, "-cp", self.folder, "Waits", settle=3.5)
                self.expect_roots(language)
                self.expect_equal_to_oracle(language, seen, 100)

    def test_jvm_with_a_perf_map(self):
        """As jcmd writes it while the program runs; the daemon looks for one every 10 s."""
        java = self.need("default-jdk-headless", "/usr/bin/java")
        compiler = self.need("default-jdk-headless", "/usr/bin/javac")
        jcmd = self.need("default-jdk-headless", "/usr/bin/jcmd")
        self.build([compiler, "-d", self.folder, PROGRAMS / "Waits.java"])

        def write_map(process):
            subprocess.run([jcmd, str(process.pid), "Compiler.perfmap"], check=True,
                           stdout=subprocess.DEVNULL)
            self.addCleanup(Path(f"/tmp/perf-{process.pid}.map").unlink, True)
            time.sleep(12)

        # By the first compiler alone: the second one gives up code in which a branch is taken late.
        language = "JVM with a perf map"
        seen = self.watch(language, java, "-XX:TieredStopAtLevel=1", "-cp", self.folder, "Waits",
                          before=write_map)
        self.expect_roots(language)
        self.expect_equal_to_oracle(language, seen, 100)
        self.expect_functions(language, seen, "Interpreter", "Waits.napAfter")


if __name__ == "__main__":
    main()
