# SPDX-License-Identifier: Apache-2.0
"""slow_file_system.py FOLDER: a file system of FUSE whose one file takes 0.4 s to be read."""

import errno
import stat
import sys
import time

from fusepy import FUSE, FuseOSError, Operations


class SlowFile(Operations):
    def getattr(self, path, fh=None):
        if path == "/":
            return {"st_mode": stat.S_IFDIR | 0o755, "st_nlink": 2}
        if path == "/file":
            return {"st_mode": stat.S_IFREG | 0o644, "st_nlink": 1, "st_size": 1 << 30}
        raise FuseOSError(errno.ENOENT)

    def open(self, path, flags):
        return 0

    def read(self, path, size, offset, fh):
        time.sleep(0.4)
        return b"line\n" * (size // 5)


FUSE(SlowFile(), sys.argv[1], foreground=True, nothreads=False, direct_io=True)
