#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""web_flood.py KIND PORT A_SECOND UID: clients of another user that mean no good, from as many addresses of
loopback as there are connections. Runs until it is killed."""

import base64
import random
import socket
import sys
import time
from collections import deque
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "integration"))
import hostile_requests  # noqa: E402
from hostile_program import become  # noqa: E402

HOST = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
MOST_HELD = 700  # connections at a time


def wrong_password():
    guess = base64.b64encode(b"user%d:%d" % (random.randrange(100), random.randrange(1 << 30)))
    return b"GET /metrics" + HOST + b"Authorization: Basic " + guess + b"\r\n\r\n"


REQUESTS = {
    "wrong_passwords": wrong_password,
    "connections": lambda: random.choice((b"", b"GET /metrics" + HOST + b"X: ")),
    "two_lengths": lambda: hostile_requests.TWO_LENGTHS,
    "nonsense": lambda: random.choice(hostile_requests.ALL),
    "readers_that_do_not_read": lambda: (b"GET /-/healthy" + HOST + b"\r\n") * 200,
}


def ask(port, number, request):
    """Sends what one send takes, and reads nothing."""
    client = socket.socket()
    client.setblocking(False)
    try:
        client.bind((f"127.{1 + number % 3}.{number // 250 % 250}.{1 + number % 250}", 0))
        client.connect_ex(("127.0.0.1", port))
        if request:
            client.send(request)
    except OSError:
        pass  # closed already, or the queue of the listener is full
    return client


def main():
    kind, port, rate, user = sys.argv[1], *map(int, sys.argv[2:])
    become(user)
    held, begin, sent = deque(), time.monotonic(), 0
    while True:
        for _ in range(int((time.monotonic() - begin) * rate) - sent):
            sent += 1
            held.append(ask(port, sent, REQUESTS[kind]()))
            # A second or two is what an answer may take; connections are held as long as they go.
            while len(held) > (MOST_HELD if kind == "connections" else 2 * rate):
                held.popleft().close()
        time.sleep(0.02)


if __name__ == "__main__":
    main()
