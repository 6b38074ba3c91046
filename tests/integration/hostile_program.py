#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hostile_program.py ACTION PATH [UID]: what a program of another user, by default nobody, does with files of
hostile_objects.py: `map` and `perf_map` them; `map_all` in a folder; `run` one made from sleep(1). Sleeps until
it is killed."""

import ctypes
import mmap
import os
import shutil
import sys
import time

NOBODY = 65534
PROT_READ_EXEC = mmap.PROT_READ | mmap.PROT_EXEC
# mov eax, 35 (nanosleep); syscall; ret
SLEEP = bytes([0xB8, 35, 0, 0, 0, 0x0F, 0x05, 0xC3])


def sleep_in_code_of_its_own():
    """So that the frame of every wait is in executable memory of no file."""
    code = mmap.mmap(-1, mmap.PAGESIZE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                     prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(SLEEP)
    address = ctypes.addressof(ctypes.c_char.from_buffer(code))
    function = ctypes.CFUNCTYPE(ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p)(address)
    with open(f"/tmp/perf-{os.getpid()}.map", "ab") as file:
        file.write(b"%x %x hostile_sleep\n" % (address, len(SLEEP)))
    duration = (ctypes.c_long * 2)(0, 20_000_000)
    while True:
        function(ctypes.addressof(duration), None)


def become(user):
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)


def main():
    action, path, *user = sys.argv[1:]
    become(int(user[0]) if user else NOBODY)
    if action == "run":
        os.execv(path, [path, "100000"])
    if action == "perf_map":
        shutil.copyfile(path, f"/tmp/perf-{os.getpid()}.map")
        sleep_in_code_of_its_own()
    paths = sorted(os.path.join(path, name) for name in os.listdir(path)) if (
        action == "map_all") else [path]
    mapped = []
    for one in paths:
        with open(one, "rb") as file:
            mapped.append(mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE,
                                    prot=PROT_READ_EXEC))
    while mapped:
        time.sleep(0.02)


if __name__ == "__main__":
    main()
