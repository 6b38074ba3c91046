# SPDX-License-Identifier: Apache-2.0
"""Tiers of services whose truth is known: tier2 computes for one front, and asks tier3 for another; tier3 sleeps and
then computes. A process for each connection. Usage: tier3|tier2|front ARGUMENTS

tier3 SLEEP_MS BURN_MS                  prints its port
tier2 BURN_MS PORT_OF_TIER3             prints its port; to "c" it computes, to "a" it asks tier3
front PORT_OF_TIER2 c|a SECONDS REST_MS [LAST]
                                        asks, and prints how long it waited for an answer on average, and which parts of
                                        that time tier2 waited for tier3, and tier3 slept, by their own clocks; of all
                                        this time, or only of the LAST seconds

An answer says how long, in seconds, who gives it waited for others, and how long those slept, both without waits for a
CPU (schedstat).
"""
import os
import socket
import sys
import time


def burn(ms):
    until = time.thread_time() + ms / 1000
    while time.thread_time() < until:
        pass


def blocked_in(wait):
    """Seconds, and what it returns."""
    with open("/proc/thread-self/schedstat", "rb", buffering=0) as schedstat:
        def queued():
            return int(os.pread(schedstat.fileno(), 100, 0).split()[1]) / 1e9
        delay, begin = queued(), time.monotonic()
        result = wait()
        return time.monotonic() - begin - (queued() - delay), result


def serve(answer):
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            while question := connection.recv(100):
                waited, slept = answer(question)
                connection.sendall(f"{waited:.6f} {slept:.6f}".encode())
            os._exit(0)
        connection.close()


def tier3(sleep_ms, burn_ms):
    def answer(_):
        slept, _ = blocked_in(lambda: time.sleep(float(sleep_ms) / 1000))
        burn(float(burn_ms))
        return 0, slept
    serve(answer)


def tier2(burn_ms, port):
    upstream = []

    def answer(question):
        if question == b"c":
            burn(float(burn_ms))
            return 0, 0
        if not upstream:
            upstream.append(socket.create_connection(("127.0.0.1", int(port))))
        upstream[0].sendall(b"q")
        waited, answer = blocked_in(lambda: upstream[0].recv(100))
        return waited, float(answer.split()[1])
    serve(answer)


def front(port, question, seconds, rest_ms, last=None):
    connection = socket.create_connection(("127.0.0.1", int(port)))
    waits, until = [], time.monotonic() + float(seconds)
    told_from = until - float(last or seconds)
    while time.monotonic() < until:
        begin = time.monotonic()
        connection.sendall(question.encode())
        parts = connection.recv(100).split()
        if begin >= told_from:
            waits.append((time.monotonic() - begin, float(parts[0]), float(parts[1])))
        time.sleep(float(rest_ms) / 1000)
    waited, others_waited, others_slept = (sum(each) for each in zip(*waits))
    print(waited / len(waits), others_waited / waited, others_slept / waited, flush=True)


if __name__ == "__main__":
    {"tier3": tier3, "tier2": tier2, "front": front}[sys.argv[1]](*sys.argv[2:])
