# SPDX-License-Identifier: Apache-2.0
"""Whether BPF objects that a process had are still in the kernel."""

import ctypes
import os
import time

SYSCALL = {"x86_64": 321, "aarch64": 280}[os.uname().machine]
GET_FD_BY_ID = {"prog": 13, "map": 14, "link": 30}  # enum bpf_cmd

_libc = ctypes.CDLL(None, use_errno=True)


def _exists(kind, number):
    attributes = (ctypes.c_uint32 * 4)(number, 0, 0, 0)
    fd = _libc.syscall(SYSCALL, GET_FD_BY_ID[kind], ctypes.byref(attributes), ctypes.sizeof(attributes))
    if fd < 0:
        return False
    os.close(fd)
    return True


def left(objects, seconds=5.0):
    """Of these {(kind, id)} those that are there after so long; the kernel frees some a moment later."""
    until = time.monotonic() + seconds
    while True:
        there = {one for one in objects if _exists(*one)}
        if not there or time.monotonic() > until:
            return there
        time.sleep(0.05)
