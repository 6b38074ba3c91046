# SPDX-License-Identifier: Apache-2.0
"""sqlite_busy.py FILE: one thread holds a database, others want to write to it."""

import sqlite3
import sys
import threading
import time

from thread_name import start

held = threading.Event()


def hold():
    base = sqlite3.connect(sys.argv[1], isolation_level=None)
    base.execute("create table if not exists t (n int)")
    base.execute("begin exclusive")
    held.set()
    time.sleep(1e6)


def write():
    held.wait()
    base = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=1e5)
    base.execute("insert into t values (1)")


start("holder", hold)
for i in range(2):
    start(f"lock-{i}", write)
