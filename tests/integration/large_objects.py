# SPDX-License-Identifier: Apache-2.0
"""Objects that take long to compile unwind tables of: sparse copies of a large library, each with an
.eh_frame of its own, so that none is a copy of another for the daemon."""

import mmap
import os
import struct
import sys
from pathlib import Path

FOLDERS = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib")
LEAST = 20 << 20
ARGS_SIZE = 0x2e  # DW_CFA_GNU_args_size: says nothing that a walk needs


def large_library():
    """The smallest of the large ones; None: there is none."""
    found = [path for folder in FOLDERS if os.path.isdir(folder) for path in Path(folder).glob("*.so*")
             if path.is_file() and not path.is_symlink() and path.stat().st_size > LEAST]
    return min((path for path in found if path.read_bytes()[:4] == b"\x7fELF"), default=None,
               key=lambda path: path.stat().st_size)


def _sections(elf):
    offset, = struct.unpack_from("<Q", elf, 40)
    size, count, names = struct.unpack_from("<HHH", elf, 58)
    table = [struct.unpack_from("<IIQQQQIIQQ", elf, offset + i * size) for i in range(count)]
    text = table[names][4]
    for section in table:
        end = elf.index(b"\0", text + section[0])
        yield elf[text + section[0]:end].decode(), section[4], section[5], section[1]
    yield "headers", offset, size * count, 1


def _spare_bytes(elf, offset, size):
    """Where in .eh_frame two bytes of padding end an entry."""
    at = offset
    while at < offset + size:
        length, = struct.unpack_from("<I", elf, at)
        if length in (0, 0xffffffff):
            return None
        end = at + 4 + length
        if struct.unpack_from("<I", elf, at + 4)[0] != 0 and elf[end - 2:end] == b"\0\0":
            yield end - 2
        at = end
    return None


def make(library, folder, count):
    """Paths of `count` of them."""
    elf = library.read_bytes()
    kept = [(0, 4096)]
    frame = None
    for name, offset, size, kind in _sections(elf):
        if name in (".eh_frame", ".eh_frame_hdr", ".shstrtab", ".note.gnu.build-id", "headers") and kind != 8:
            kept.append((offset, size))
        if name == ".eh_frame":
            frame = (offset, size)
    spare = _spare_bytes(elf, *frame)
    paths = []
    for number in range(count):
        path = Path(folder) / f"large-{number}.so"
        place = next(spare)
        with path.open("wb") as file:
            file.truncate(len(elf))
            for offset, size in kept:
                file.seek(offset)
                file.write(elf[offset:offset + size])
            file.seek(place)
            file.write(bytes([ARGS_SIZE, 1]))
        paths.append(path)
    return paths


def main():
    """Maps the files that are named, each executable, and then waits for its end."""
    maps = []
    for name in sys.argv[1:]:
        with open(name, "rb") as file:
            maps.append(mmap.mmap(file.fileno(), 1 << 20, mmap.MAP_PRIVATE, mmap.PROT_READ | mmap.PROT_EXEC))
    print("mapped", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
