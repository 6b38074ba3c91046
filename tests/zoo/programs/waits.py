# SPDX-License-Identifier: Apache-2.0
"""Threads that wait at known places until the standard input ends."""

import os
import queue
import select
import sys
import threading
import time


def wait_sleep():
    while True:
        time.sleep(0.6)


def wait_lock():
    held = threading.Lock()
    held.acquire()
    while True:
        held.acquire(timeout=0.6)


def wait_read():
    reading, _ = os.pipe()
    os.read(reading, 1)


def wait_queue():
    queue.Queue().get()


def wait_select():
    reading, _ = os.pipe()
    while True:
        select.select([reading], [], [], 0.6)



def wait_deep(depth=20):
    if depth:
        wait_deep(depth - 1)
    else:
        wait_sort()


def wait_sort():
    """From Python into C and back."""
    sorted([2, 1], key=lambda _: wait_sleep())


for wait in (wait_sleep, wait_lock, wait_read, wait_queue, wait_select, wait_deep):
    threading.Thread(target=wait, daemon=True).start()
print("ready", flush=True)
sys.stdin.read(1)
os._exit(0)
