# SPDX-License-Identifier: Apache-2.0
"""Threads whose names the kernel knows, too."""

import ctypes
import threading

PR_SET_NAME = 15


def name_this(name):
    ctypes.CDLL(None).prctl(PR_SET_NAME, name.encode(), 0, 0, 0)


def start(name, function, *arguments):
    def run():
        name_this(name)
        function(*arguments)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


name_this("-main")
