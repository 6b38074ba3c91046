# SPDX-License-Identifier: Apache-2.0
"""Two programs that talk, for waited_on_test.py: `waiting_programs.py serve KIND ADDRESS` and
`waiting_programs.py ask KIND HOW ADDRESS SECONDS`; or `take KIND ADDRESS` and `fill KIND HOW ADDRESS SECONDS`.

The server thinks for some milliseconds about each question. The client asks, waits for the answer HOW it is told
(recv, epoll, poll, select), and connects anew for each question (`new`) or keeps its connection (`kept`). KIND is
tcp, udp or unix; ADDRESS is HOST:PORT or the path of a socket.

Who takes reads slowly what is sent. Who fills sends as much as the other side takes, and waits for room HOW it is
told: in the call itself (send), by epoll, poll, select, with nothing else to wait for (`alone`) or beside other files
(`beside`)."""

import os
import select
import socket
import sys
import threading
import time

THINKS = 0.02
BLOCK = 1 << 16


def place(kind, address):
    if kind == "unix":
        return socket.AF_UNIX, socket.SOCK_STREAM, address
    host, _, port = address.rpartition(":")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return family, socket.SOCK_DGRAM if kind == "udp" else socket.SOCK_STREAM, (host, int(port))


def listening(kind, address):
    family, type_, where = place(kind, address)
    own = socket.socket(family, type_)
    if kind == "tcp":
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    own.bind(where)
    return own


def answer(connection):
    while connection.recv(100):
        time.sleep(THINKS)
        connection.sendall(b"answer")
    connection.close()


def serve(kind, address):
    own = listening(kind, address)
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


def wait(how, files):
    """`files`: [(file, POLLIN or POLLOUT)], in the order in which the kernel looks at them; epoll's events have the same
    numbers. Files on which nothing happens may be among them."""
    if how == "epoll":
        with select.epoll() as ready:
            for file, event in files:
                ready.register(file, event)
            ready.poll()
    elif how == "poll":
        ready = select.poll()
        for file, event in files:
            ready.register(file, event)
        ready.poll()
    elif how == "select":
        reads, writes = ([file for file, event in files if event == wanted]
                         for wanted in (select.POLLIN, select.POLLOUT))
        select.select(reads, writes, [])


def for_input(*files):
    return [(file, select.POLLIN) for file in files]


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
        wait(way, for_input(connection, *idle))
        connection.recv(100)
        if kept != "kept":
            connection.close()
            connection = None


def take(kind, address):
    own = listening(kind, address)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BLOCK)
    own.listen()
    print("listening", flush=True)
    connection, _ = own.accept()
    while connection.recv(BLOCK):
        time.sleep(THINKS)


def fill(kind, how, address, seconds):
    family, type_, where = place(kind, address)
    way, _, beside = how.partition(",")
    reads, writes = os.pipe()
    pair = socket.socketpair()
    idle = [reads, pair[0]] if beside == "beside" else []
    own = socket.socket(family, type_)
    own.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BLOCK)
    own.connect(where)
    own.setblocking(way == "send")
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        try:
            own.send(bytes(BLOCK))
        except BlockingIOError:
            wait(way, [*for_input(*idle), (own, select.POLLOUT)])


if __name__ == "__main__":
    {"serve": serve, "ask": ask, "take": take, "fill": fill}[sys.argv[1]](*sys.argv[2:])
