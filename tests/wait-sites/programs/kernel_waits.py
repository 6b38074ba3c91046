# SPDX-License-Identifier: Apache-2.0
"""kernel_waits.py KIND [FILE]: waits in one function of the kernel, without an end."""

import ctypes
import fcntl
import os
import pty
import signal
import socket
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_FUTEX, FUTEX_WAIT = 202, 0  # of x86_64
IPC_CREAT, IPC_PRIVATE = 0o1000, 0


def full_listener(family, address):
    """The address of one whose queue of connections is full, and who keeps it so."""
    listener = socket.socket(family)
    listener.bind(address)
    listener.listen(0)
    kept = [listener]
    for _ in range(4):
        one = socket.socket(family)
        one.setblocking(False)
        one.connect_ex(listener.getsockname())
        kept.append(one)
    time.sleep(0.2)
    return kept


def connect():
    kept = full_listener(socket.AF_INET, ("127.0.0.1", 0))
    while True:  # the kernel gives up after two minutes
        try:
            socket.socket().connect(kept[0].getsockname())
        except OSError:
            pass


def connect_unix():
    kept = full_listener(socket.AF_UNIX, "")
    socket.socket(socket.AF_UNIX).connect(kept[0].getsockname())


def send():
    listener = socket.create_server(("127.0.0.1", 0))
    socket.create_connection(listener.getsockname()).sendall(bytes(1 << 27))


def send_unix():
    one, other = socket.socketpair()
    one.sendall(bytes(1 << 27))
    other.close()


def write_pipe(fifo):
    os.mkfifo(fifo)
    os.write(os.open(fifo, os.O_RDWR), bytes(1 << 27))


def hold_lease(file):
    """Whoever has it holds up those who open the file; the kernel takes it back after a while."""
    signal.signal(signal.SIGIO, signal.SIG_IGN)
    descriptor = os.open(file, os.O_RDWR)
    while True:
        try:
            fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        except OSError:  # somebody has it open
            pass
        time.sleep(0.01)


def open_leased(file):
    while True:
        os.close(os.open(file, os.O_RDWR))
        time.sleep(0.1)


def terminal():
    os.read(pty.openpty()[1], 1)


def inotify():
    os.read(LIBC.inotify_init(), 4096)


def semaphore():
    identity = LIBC.semget(IPC_PRIVATE, 1, IPC_CREAT | 0o600)
    LIBC.semop(identity, (ctypes.c_short * 3)(0, -1, 0), 1)


def message():
    identity = LIBC.msgget(IPC_PRIVATE, IPC_CREAT | 0o600)
    LIBC.msgrcv(identity, ctypes.create_string_buffer(64), 8, 0, 0)


def futex():
    LIBC.syscall(SYS_FUTEX, ctypes.byref(ctypes.c_int(0)), FUTEX_WAIT, 0, None)


def signals():
    signal.sigwait([signal.SIGUSR1])


def look_up():
    while True:
        try:
            socket.getaddrinfo("no-such-host.example", 80)
        except OSError:
            pass


KINDS = {"connect": connect, "connect-unix": connect_unix, "send": send, "send-unix": send_unix,
         "write-pipe": write_pipe, "hold-lease": hold_lease, "open-leased": open_leased, "terminal": terminal,
         "inotify": inotify, "semaphore": semaphore, "message": message, "futex": futex, "signals": signals,
         "look-up": look_up}
KINDS[sys.argv[1]](*sys.argv[2:])
