# SPDX-License-Identifier: Apache-2.0
"""plain_host.py COMMAND...: runs it in a mount namespace of its own, as on a host without debug packages.

A daemon may look for such packages in the root of any process that has the same library mapped, so it
is not enough to hide their folder: programs that are started here have a C library with another
build-id."""

import ctypes
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

CLONE_NEWNS = 0x00020000  # include/uapi/linux/sched.h
MARK = b"\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"  # of a note with a build-id of 20 bytes


def libraries():
    """Of C and C++, as this program has them mapped, and those of the same folder."""
    mapped = re.findall(r" (/\S*/libc\.so\.6)$", Path("/proc/self/maps").read_text(), re.MULTILINE)
    folder = Path(mapped[0]).parent
    return [path.resolve() for name in ("libc.so.6", "libstdc++.so.6") for path in [folder / name] if path.exists()]


def hide(library, folder):
    content = bytearray(library.read_bytes())
    at = content.find(MARK)
    if at < 0:
        return
    content[at + len(MARK)] ^= 0xff
    copy = folder / library.name
    copy.write_bytes(content)
    copy.chmod(0o755)
    subprocess.run(["mount", "--bind", copy, library], check=True)


def main():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNS) != 0:
        sys.exit("plain_host.py: no mount namespace of its own: " + os.strerror(ctypes.get_errno()))
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    # Static or not, what runs already keeps its libraries.
    folder = Path(tempfile.mkdtemp(prefix="offcpud-plain-host-"))
    folder.chmod(0o755)
    subprocess.run(["mount", "-t", "tmpfs", "none", folder], check=True)
    folder.chmod(0o755)
    for library in libraries():
        hide(library, folder)
    subprocess.run(["umount", "--lazy", folder], check=True)  # the copies stay where they are mounted
    folder.rmdir()
    os.execvp(sys.argv[1], sys.argv[1:])


main()
