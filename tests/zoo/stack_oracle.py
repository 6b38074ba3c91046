# SPDX-License-Identifier: Apache-2.0
"""Stacks of threads as other programs see them, in the terms of a profile: (object, address)."""

import re
import struct
import subprocess
from dataclasses import dataclass
from pathlib import Path

LOADED, EXECUTABLE = 1, 1  # PT_LOAD, PF_X


@dataclass(frozen=True)
class Stack:
    """Of one thread, innermost first. `complete` if the oracle says that it came to the root."""

    tid: int
    addresses: tuple
    functions: tuple  # "" where it knows none
    complete: bool
    error: str = ""


def eu_stacks(pid):
    """{thread id: Stack} by eu-stack of elfutils, which stops the process meanwhile."""
    run = subprocess.run(["eu-stack", "-p", str(pid)], capture_output=True, text=True, check=False,
                         timeout=60)
    errors = {int(tid): text for tid, text in
              re.findall(r"dwfl_thread_getframes tid (\d+)[^:]*: (.*)", run.stderr)}
    stacks, tid, frames = {}, None, []

    def done():
        if tid is not None:
            addresses, functions = zip(*frames) if frames else ((), ())
            stacks[tid] = Stack(tid, addresses, functions, tid not in errors, errors.get(tid, ""))

    for line in run.stdout.splitlines():
        if line.startswith("TID "):
            done()
            tid, frames = int(line[4:].rstrip(":")), []
        elif match := re.match(r"#\d+ +0x([0-9a-f]+)(?: - 1)? *(\S*)", line):
            frames.append((int(match[1], 16), match[2]))
    done()
    return stacks


class Places:
    """What lies where in a process, as /proc and the headers of its files say."""

    def __init__(self, pid):
        self._mappings = []
        self._segments = {}
        for line in Path(f"/proc/{pid}/maps").read_text().splitlines():
            extent, mode, offset, *_, name = (line + " ").split(" ", 5)
            begin, end = (int(x, 16) for x in extent.split("-"))
            self._mappings.append((begin, end, int(offset, 16), name.strip()))
        self._pid = pid

    def place(self, address):
        """(object, address in it), as in a profile of the daemon's, which keeps no address of memory
        that is no file's: it would tell where a process lies."""
        for begin, end, offset, name in self._mappings:
            if not begin <= address < end:
                continue
            if name.startswith("/"):
                return Path(name).name, self._linked(name, address - begin + offset)
            if name == "[vdso]":
                return name, address - begin
            return "[jit]" if not name or name.startswith("[anon") else "", 0
        return "", 0

    def places(self, addresses):
        """Those of a stack: what is behind a call belongs to the call."""
        return tuple(self.place(address - (1 if i else 0)) for i, address in enumerate(addresses))

    def _linked(self, path, file_offset):
        if path not in self._segments:
            self._segments[path] = loaded_segments(path)
        for offset, address, size in self._segments[path]:
            if offset <= file_offset < offset + size:
                return file_offset - offset + address
        return file_offset


def loaded_segments(path):
    """[(offset in the file, address, size)] of the executable segments of an ELF file of 64 bits."""
    with open(path, "rb") as file:
        head = file.read(64)
        if head[:5] != b"\x7fELF\x02":
            return []
        first, size, count = struct.unpack_from("<Q", head, 32)[0], *struct.unpack_from("<HH", head, 54)
        file.seek(first)
        table = file.read(size * count)
    segments = []
    for i in range(count):
        kind, flags, offset, address, _, in_file = struct.unpack_from("<IIQQQQ", table, i * size)
        if kind == LOADED and flags & EXECUTABLE:
            segments.append((offset, address, in_file))
    return segments
