# SPDX-License-Identifier: Apache-2.0
"""An incident of units of this host, for the page: web asks orders-api, which asks ledger, whose threads wait for a
lock on a file once nightly-report holds it. backup writes to the disk and batch computes, as before."""
import sys
import time

CLIENTS = 6
UNITS = ("web", "orders-api", "ledger", "nightly-report", "backup", "batch")
ASKING = """
def ask(connection, text=b"x"):
    connection.sendall(text)
    if not connection.recv(1):
        raise SystemExit
"""
SERVING = """
import os, socket, threading, time
def serve(port, answer):
    listener = socket.create_server(("127.0.0.1", port), backlog=64)
    def client(connection):
        reply = answer()
        while connection.recv(1):
            reply()
            connection.sendall(b"y")
    while True:
        threading.Thread(target=client, args=(listener.accept()[0],)).start()
def connected(port):
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            time.sleep(0.05)
"""
LEDGER = SERVING + """
import fcntl, sys
def answer():
    book = open(sys.argv[2], "a")
    def reply():
        fcntl.flock(book, fcntl.LOCK_EX)
        time.sleep(0.002)
        fcntl.flock(book, fcntl.LOCK_UN)
    return reply
serve(int(sys.argv[1]), answer)
"""
ORDERS = SERVING + ASKING + """
import sys
def answer():
    ledger = connected(int(sys.argv[2]))
    return lambda: ask(ledger)
serve(int(sys.argv[1]), answer)
"""
WEB = SERVING + ASKING + """
import sys
def visit():
    orders = connected(int(sys.argv[1]))
    while True:
        ask(orders)
        time.sleep(0.02)
for _ in range(int(sys.argv[2])):
    threading.Thread(target=visit).start()
"""
REPORT = """
import fcntl, sys, time
book = open(sys.argv[1], "a")
fcntl.flock(book, fcntl.LOCK_EX)
time.sleep(3600)
"""
BACKUP = """
import os, sys, time
with open(sys.argv[1], "wb") as copy:
    while True:
        copy.seek(0)
        copy.write(bytes(1 << 20))
        copy.flush()
        os.fsync(copy.fileno())
        time.sleep(0.2)
"""
BATCH = """
import time
while True:
    end = time.monotonic() + 0.05
    while time.monotonic() < end:
        pass
    time.sleep(0.1)
"""


class Incident:
    """`unit(name)` makes the cgroup of a unit; `start(unit, command)` starts a program there. `ports`: two."""

    def __init__(self, unit, start, folder, ports):
        self.unit, self.start = unit, start
        self.book = str(folder / "book")
        ledger, orders = ports
        self.run("ledger", LEDGER, ledger, self.book)
        self.run("orders-api", ORDERS, orders, ledger)
        self.run("web", WEB, orders, CLIENTS)
        self.run("backup", BACKUP, folder / "copy")
        self.run("batch", BATCH)

    def run(self, name, program, *arguments):
        self.start(self.unit(name), [sys.executable, "-c", program, *map(str, arguments)])

    def begin(self):
        """From now on ledger's threads wait."""
        self.run("nightly-report", REPORT, self.book)
        return time.time()

