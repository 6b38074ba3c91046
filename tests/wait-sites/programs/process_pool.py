# SPDX-License-Identifier: Apache-2.0
"""A pool of processes, of which two work for whoever waits for their result, and an idle one."""

import multiprocessing
import time

from thread_name import name_this, start


def work(_):
    name_this("timer-worker")
    time.sleep(0.5)


def ask(pool):
    while True:
        pool.map(work, range(2))


if __name__ == "__main__":
    idle = multiprocessing.Pool(2, initializer=name_this, initargs=("work-idle",))
    busy = multiprocessing.Pool(2)
    start("answer", ask, busy)
