# SPDX-License-Identifier: Apache-2.0
"""Tiers of services whose truth is known: tier2 computes for one front, and asks tier3 for another; tier3 sleeps and
then computes. A process for each connection. Usage: tier3|tier2|front ARGUMENTS

tier3 SLEEP_MS BURN_MS                  prints its port
tier2 BURN_MS PORT_OF_TIER3             prints its port; to "c" it computes, to "a" it asks tier3
front PORT_OF_TIER2 c|a SECONDS REST_MS asks, and prints how long it waited for an answer on average
"""
import os
import socket
import sys
import time


def burn(ms):
    until = time.thread_time() + ms / 1000
    while time.thread_time() < until:
        pass


def serve(answer):
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            while question := connection.recv(100):
                answer(question)
                connection.sendall(b"answer")
            os._exit(0)
        connection.close()


def tier3(sleep_ms, burn_ms):
    def answer(_):
        time.sleep(float(sleep_ms) / 1000)
        burn(float(burn_ms))
    serve(answer)


def tier2(burn_ms, port):
    upstream = []

    def answer(question):
        if question == b"c":
            return burn(float(burn_ms))
        if not upstream:
            upstream.append(socket.create_connection(("127.0.0.1", int(port))))
        upstream[0].sendall(b"q")
        return upstream[0].recv(100)
    serve(answer)


def front(port, question, seconds, rest_ms):
    connection = socket.create_connection(("127.0.0.1", int(port)))
    waited, asked, until = 0.0, 0, time.monotonic() + float(seconds)
    while time.monotonic() < until:
        begin = time.monotonic()
        connection.sendall(question.encode())
        connection.recv(100)
        waited += time.monotonic() - begin
        asked += 1
        time.sleep(float(rest_ms) / 1000)
    print(waited / asked, flush=True)


if __name__ == "__main__":
    {"tier3": tier3, "tier2": tier2, "front": front}[sys.argv[1]](*sys.argv[2:])
