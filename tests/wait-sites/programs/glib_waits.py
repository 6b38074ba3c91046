# SPDX-License-Identifier: Apache-2.0
"""A thread for each function of GLib in which threads wait, named after what for."""

import ctypes
import time

from thread_name import start

GLIB = ctypes.CDLL("libglib-2.0.so.0")
for name in ("g_async_queue_new", "g_main_loop_new"):
    getattr(GLIB, name).restype = ctypes.c_void_p
HOUR = 3_600
SPAWN_SEARCH_PATH = 4


def hold(mutex):
    GLIB.g_mutex_lock(mutex)
    time.sleep(HOUR)


def write_locked(lock):
    GLIB.g_rw_lock_writer_lock(lock)
    time.sleep(HOUR)


def wait_for_condition(condition, mutex):
    GLIB.g_mutex_lock(mutex)
    GLIB.g_cond_wait(condition, mutex)


def spawn(*words):
    arguments = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    GLIB.g_spawn_sync(None, arguments, None, SPAWN_SEARCH_PATH, None, None, None, None, None, None)


def main():
    mutex, lock, condition, of_condition = (ctypes.create_string_buffer(64) for _ in range(4))
    start("timer-mutex", hold, mutex)
    start("timer-rwlock", write_locked, lock)
    time.sleep(0.3)
    start("lock-mutex", hold, mutex)
    start("lock-rwlock", write_locked, lock)
    start("work-condition", wait_for_condition, condition, of_condition)
    start("work-queue", GLIB.g_async_queue_pop, ctypes.c_void_p(GLIB.g_async_queue_new()))
    start("work-loop", GLIB.g_main_loop_run, ctypes.c_void_p(GLIB.g_main_loop_new(None, 0)))
    start("timer-child", spawn, b"sleep", b"3600")


main()
