# SPDX-License-Identifier: Apache-2.0
"""Two programs that talk, for waited_on_test.py: `waiting_programs.py serve KIND ADDRESS` and
`waiting_programs.py ask KIND HOW ADDRESS SECONDS`.

The server thinks for some milliseconds about each question. The client asks, waits for the answer HOW it is told
(recv, epoll, poll, select), and connects anew for each question (`new`) or keeps its connection (`kept`). KIND is
tcp, udp or unix; ADDRESS is HOST:PORT or the path of a socket."""

import os
import select
import socket
import sys
import threading
import time

THINKS = 0.02


def place(kind, address):
    if kind == "unix":
        return socket.AF_UNIX, socket.SOCK_STREAM, address
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM, (host, int(port))


def answer(connection):
    while connection.recv(100):
        time.sleep(THINKS)
        connection.sendall(b"answer")
    connection.close()


def serve(kind, address):
    family, type_, where = place(kind, address)
    own = socket.socket(family, type_)
    if kind == "tcp":
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(where)
    if kind == "udp":
        print("listening", flush=True)
        while True:
            _, asker = own.recvfrom(100)
            time.sleep(THINKS)
            own.sendto(b"answer", asker)
    own.listen(50)
    print("listening", flush=True)
    while True:
        threading.Thread(target=answer, args=(own.accept()[0],), daemon=True).start()


def wait(how, connection, idle):
    """`idle`: other files that the loop looks at, on which nothing happens."""
    files = [connection, *idle]
    if how == "epoll":
        with select.epoll() as ready:
            for file in files:
                ready.register(file, select.EPOLLIN)
            ready.poll()
    elif how == "poll":
        ready = select.poll()
        for file in files:
            ready.register(file, select.POLLIN)
        ready.poll()
    elif how == "select":
        select.select(files, [], [])


def ask(kind, how, address, seconds):
    family, type_, where = place(kind, address)
    way, _, kept = how.partition(",")
    reads, writes = os.pipe()
    pair = socket.socketpair()
    idle = [reads, pair[0]]  # nobody writes to the other ends, which stay open
    until = time.monotonic() + float(seconds)
    connection = None
    while time.monotonic() < until:
        if connection is None:
            connection = socket.socket(family, type_)
            connection.connect(where)
        connection.sendall(b"question")
        wait(way, connection, idle)
        connection.recv(100)
        if kept != "kept":
            connection.close()
            connection = None


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](*sys.argv[2:])
