# SPDX-License-Identifier: Apache-2.0
"""Two programs that talk, for wait_evidence_test.py: `asking_programs.py serve|ask KIND ADDRESS SECONDS`.

The server thinks for 50 ms about each question. The client asks six times, rests for 0.3 s with its
connection open, and so on; the last answer takes some seconds. KIND says how both wait: by `block`ing
calls, by `poll` (as a timeout of a socket makes Python do), or by an `epoll` loop; `quick` is an
`epoll` loop too, and the server answers at once: within one tick of the kernel's clock. ADDRESS is a
port of 127.0.0.1, or the path of a Unix socket."""

import select
import socket
import sys
import time

THINKS = 0.05
RESTS = 0.3
ASKS = 6


class Waiter:
    """How a program waits until its socket is readable."""

    def __init__(self, kind, sock):
        self.kind, self.sock = kind, sock
        if kind == "poll":
            sock.settimeout(60)
        if self.is_loop():
            self.loop = select.epoll()
            self.loop.register(sock, select.EPOLLIN)

    def is_loop(self):
        return self.kind in ("epoll", "quick")

    def receive(self):
        if self.is_loop():
            self.loop.poll()
        return self.sock.recv(100)

    def rest(self, seconds):
        """With nothing asked. A loop goes on looking at its connection."""
        if self.is_loop():
            self.loop.poll(seconds)
        else:
            time.sleep(seconds)


def family(address):
    return (socket.AF_INET, ("127.0.0.1", int(address))) if address.isdigit() else (socket.AF_UNIX, address)


def serve(kind, address, seconds):
    kind_of, where = family(address)
    listener = socket.socket(kind_of)
    if kind_of == socket.AF_INET:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(where)
    listener.listen(5)
    print("listening", flush=True)
    connection, _ = listener.accept()
    waiter = Waiter(kind, connection)
    while question := waiter.receive():
        if question == b"the last":
            time.sleep(seconds)
        if kind != "quick":
            time.sleep(THINKS)
        connection.sendall(b"answer")


def ask(kind, address, seconds):
    kind_of, where = family(address)
    connection = socket.socket(kind_of)
    connection.connect(where)
    waiter = Waiter(kind, connection)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for _ in range(ASKS):
            connection.sendall(b"question")
            waiter.receive()
        waiter.rest(RESTS)
    connection.sendall(b"the last")
    waiter.receive()


if __name__ == "__main__":
    {"serve": serve, "ask": ask}[sys.argv[1]](sys.argv[2], sys.argv[3], float(sys.argv[4]))
