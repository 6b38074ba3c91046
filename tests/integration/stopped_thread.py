# SPDX-License-Identifier: Apache-2.0
"""One thread of another process made to hang, while its siblings go on: as a tracer stops it."""

import ctypes
import os
import time
from pathlib import Path

PTRACE_CONT, PTRACE_DETACH, PTRACE_SEIZE, PTRACE_INTERRUPT = 7, 17, 0x4206, 0x4207
WALL = 0x40000000  # waitpid: threads, too

_libc = ctypes.CDLL(None, use_errno=True)
_libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p]
_libc.ptrace.restype = ctypes.c_long


def _ptrace(request, tid):
    if _libc.ptrace(request, tid, None, None) != 0:
        code = ctypes.get_errno()
        raise OSError(code, f"ptrace {request} of {tid}: {os.strerror(code)}")


def _thread_called(pid, name):
    for task in Path(f"/proc/{pid}/task").iterdir():
        if (task / "comm").read_text().strip() == name:
            return int(task.name)
    raise OSError(f"process {pid} has no thread {name}")


def _waits_for_work(pid, tid):
    """In epoll_wait (x86: 232, elsewhere epoll_pwait: 281 and 22, also epoll_pwait2: 441) or a futex."""
    words = Path(f"/proc/{pid}/task/{tid}/syscall").read_text().split()
    return words[0] in ("232", "281", "22", "441", "202", "98")


class StoppedThread:
    """Stopped in the middle of a piece of work, as far as its system calls tell: what waits for work does
    not hang. To be used, and let go, by one thread of the tester."""

    def __init__(self, pid, name, patience=60):
        self.tid = _thread_called(pid, name)
        _ptrace(PTRACE_SEIZE, self.tid)
        self._held = True
        end = time.monotonic() + patience
        while True:
            _ptrace(PTRACE_INTERRUPT, self.tid)
            os.waitpid(self.tid, WALL)
            if not _waits_for_work(pid, self.tid):
                return
            _ptrace(PTRACE_CONT, self.tid)
            if time.monotonic() > end:
                self.let_go()
                raise OSError(f"{name} was never found at work")
            time.sleep(0.003)

    def let_go(self):
        if not self._held:
            return
        self._held = False
        try:
            _ptrace(PTRACE_DETACH, self.tid)
        except OSError:  # it runs: it has to be stopped for that
            _ptrace(PTRACE_INTERRUPT, self.tid)
            os.waitpid(self.tid, WALL)
            _ptrace(PTRACE_DETACH, self.tid)
