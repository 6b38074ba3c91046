# SPDX-License-Identifier: Apache-2.0
"""flush.py FILE: writes and flushes again and again."""

import os
import sys

with open(sys.argv[1], "wb") as file:
    while True:
        file.seek(0)
        file.write(os.urandom(4 << 20))
        file.flush()
        os.fsync(file.fileno())
