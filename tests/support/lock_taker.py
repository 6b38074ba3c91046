# SPDX-License-Identifier: Apache-2.0
"""lock_taker.py FILE SECONDS: takes a lock on the file again and again, and has it for so long each time."""
import fcntl, sys, time
book = open(sys.argv[1], "a")
while True:
    fcntl.flock(book, fcntl.LOCK_EX)
    time.sleep(float(sys.argv[2]))
    fcntl.flock(book, fcntl.LOCK_UN)
    time.sleep(0.005)
