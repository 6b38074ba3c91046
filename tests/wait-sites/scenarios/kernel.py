# SPDX-License-Identifier: Apache-2.0
"""Waits that the kernel alone decides: disks, memory, signals that stop, locks of files, FUSE."""

import os
import signal
import sys
import time
from pathlib import Path

from scenario import DEBIAN_PYTHON, PROGRAMS, Missing, scenario


@scenario("stopped programs", DEBIAN_PYTHON, rules=False)
def stopped(stage):
    for name in ("python", "sleep"):
        command = [DEBIAN_PYTHON, "-c", "import time; time.sleep(1e6)"] if name == "python" else ["sleep", "1000"]
        process = stage.start(f"stopped-{name}", *command)
        time.sleep(0.5)
        os.kill(process.pid, signal.SIGSTOP)


@scenario("memory limits", DEBIAN_PYTHON, rules=False)
def memory_limit(stage):
    """At the limit of a cgroup whose tasks are not killed for it."""
    root = Path("/sys/fs/cgroup/memory")
    if not (root / "memory.oom_control").exists():
        raise Missing("no memory controller of cgroup v1")
    limited = root / f"offcpud-wait-sites-{os.getpid()}"
    limited.mkdir()
    stage.at_end(limited.rmdir)
    (limited / "memory.oom_control").write_text("1")
    (limited / "memory.limit_in_bytes").write_text(str(32 << 20))
    fill = (f"open('{limited}/cgroup.procs', 'w').write('0')\nmemory = bytearray(64 << 20)\n"
            "for page in range(0, len(memory), 4096): memory[page] = 1\n")
    process = stage.start("memory", DEBIAN_PYTHON, "-c", fill)
    stage.at_end(lambda: (limited / "memory.limit_in_bytes").write_text(str(512 << 20)))
    stage.at_end(process.kill)


@scenario("programs that write", "dd", rules=False)
def disk(stage):
    stage.start("storage-flush", "bash", "-c", "exec 2>/dev/null; while :; do dd if=/dev/zero of=file bs=64k count=64 "
                "conv=fsync; done", truth={"dd:disk": "storage", "dd:kernel": "storage", "*": "-"})
    stage.start("storage-python", DEBIAN_PYTHON, PROGRAMS / "flush.py", stage.folder / "other",
                truth={"*:disk": "storage", "*:kernel": "storage", "*": "-"})


@scenario("locks of files", DEBIAN_PYTHON, rules=False)
def locks_of_files(stage):
    held = stage.file("held", "")
    for call in ("flock", "lockf"):
        take = f"import fcntl, time; f = open('{held}', 'r+'); fcntl.{call}(f, fcntl.LOCK_EX); time.sleep(1e6)"
        stage.start(f"timer-{call}", DEBIAN_PYTHON, "-c", take)
        time.sleep(0.7)
        stage.start(f"lock-{call}", DEBIAN_PYTHON, "-c", take)


@scenario("FUSE", DEBIAN_PYTHON, "fusermount3", rules=False)
def slow_file_system(stage):
    folder = stage.folder / "mounted"
    folder.mkdir()
    stage.start("-server", DEBIAN_PYTHON, PROGRAMS / "slow_file_system.py", folder,
                truth={"*:sleep": "timer", "*:poll": "timer", "*": "-"})
    stage.at_end(lambda: os.system(f"umount -l {folder} 2>/dev/null"))
    for _ in range(100):
        if os.path.ismount(folder):
            break
        time.sleep(0.1)
    else:
        raise Missing("FUSE: " + (stage.folder / "errors").read_text()[-200:])
    stage.start("storage", "bash", "-c", f"while :; do read -r x <{folder}/file; done")
    stage.start("storage-cat", "cat", folder / "file")


@scenario("vfork", sys.executable, rules=False)
def parent_of_a_vfork(stage):
    """A parent that vfork keeps until its child has started, which a FIFO keeps."""
    source = stage.file("vfork.c", '#include <fcntl.h>\n#include <unistd.h>\nint main(void) {\n  if (vfork() == 0) {\n'
                        '    open("fifo", O_RDONLY);\n    _exit(0);\n  }\n  pause();\n}\n')
    stage.do("cc", "-O2", "-o", "vfork", source)
    os.mkfifo(stage.folder / "fifo")
    process = stage.start("vfork", stage.folder / "vfork")
    time.sleep(0.3)
    process.role.see({process.pid: "answer"})


@scenario("functions of the kernel", DEBIAN_PYTHON, "unshare")
def functions_of_the_kernel(stage):
    """A program for each function in which whoever calls it waits, whatever the program."""
    program = PROGRAMS / "kernel_waits.py"
    for kind in ("connect", "connect-unix", "send", "send-unix"):
        stage.start(f"answer-{kind}", DEBIAN_PYTHON, program, kind)
    stage.start("answer-write-pipe", DEBIAN_PYTHON, program, "write-pipe", stage.folder / "full")
    for kind in ("terminal", "inotify", "futex", "signals"):
        stage.start(f"work-{kind}", DEBIAN_PYTHON, program, kind)
    for kind in ("semaphore", "message"):  # of System V, which nobody would remove
        stage.start(f"work-{kind}", "unshare", "--ipc", DEBIAN_PYTHON, program, kind)
    leased = stage.file("leased", "")
    stage.start("timer-hold-lease", DEBIAN_PYTHON, program, "hold-lease", leased)
    time.sleep(0.5)
    stage.start("lock-open-leased", DEBIAN_PYTHON, program, "open-leased", leased,
                truth={"*:sleep": "timer", "*": "lock"})
