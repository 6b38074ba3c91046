# SPDX-License-Identifier: Apache-2.0
"""fastcgi_clients.py PORT COUNT SCRIPT: clients that ask again as soon as they were answered."""

import socket
import struct
import sys
import threading

BEGIN, PARAMS, STDIN = 1, 4, 5


def record(kind, content):
    return struct.pack("!BBHHBB", 1, kind, 1, len(content), 0, 0) + content


def pair(name, value):
    return struct.pack("!BB", len(name), len(value)) + name.encode() + value.encode()


def request(script):
    params = pair("SCRIPT_FILENAME", script) + pair("REQUEST_METHOD", "GET")
    return (record(BEGIN, struct.pack("!HB5x", 1, 0)) + record(PARAMS, params) + record(PARAMS, b"")
            + record(STDIN, b""))


def ask():
    while True:
        with socket.create_connection(("127.0.0.1", int(sys.argv[1]))) as connection:
            connection.sendall(request(sys.argv[3]))
            while connection.recv(4096):
                pass


for _ in range(int(sys.argv[2])):
    threading.Thread(target=ask).start()
