# SPDX-License-Identifier: Apache-2.0
"""Tiers of services whose truth is known: tier2 computes for one front, and asks tier3 for another; tier3 sleeps and
then computes. A process for each connection. `single` serves all in one thread, one request after the other. Usage:
tier3|tier2|crowded|single|hog|front ARGUMENTS

tier3 SLEEP_MS BURN_MS                  prints its port
tier2 BURN_MS PORT_OF_TIER3             prints its port; to "c" it computes, to "a" it asks tier3
crowded CPU BURN_MS                     prints the name of its unix socket; it computes on this CPU
single SHORT_MS LONG_MS                 prints its port; to "s" it computes for SHORT_MS, to "l" it sleeps for
                                        half of LONG_MS and computes for the other half
hog CPU                                 computes on this CPU all the time
front ADDRESS c|a|s|l SECONDS REST_MS [LAST]
                                        asks at this port or unix socket, and prints how long it waited for an answer on
                                        average, and which parts of that time tier2 waited for tier3, and tier3 slept,
                                        by their own clocks; of all this time, or only of the LAST seconds

An answer says how long, in seconds, who gives it waited for others, and how long those slept. All these times are
without waits for a CPU of those who wait (schedstat). An answer of `crowded` says for how long it ran instead, and one
of `single` for how long it has served others since the front asked, and how long it slept for them; a question says
when it was asked.
"""
import collections
import contextlib
import os
import selectors
import socket
import sys
import time


def burn(ms):
    until = time.thread_time() + ms / 1000
    while time.thread_time() < until:
        pass


def run_delay_in(schedstat):
    """For how many seconds the thread that opened this file has waited for a CPU."""
    return int(os.pread(schedstat.fileno(), 100, 0).split()[1]) / 1e9


def open_schedstat():
    return open("/proc/thread-self/schedstat", "rb", buffering=0)


def blocked_in(wait, opened=None):
    """Seconds, and what it returns. `opened`: the thread's schedstat."""
    with contextlib.nullcontext(opened) if opened else open_schedstat() as schedstat:
        delay, begin = run_delay_in(schedstat), time.monotonic()
        result = wait()
        return time.monotonic() - begin - (run_delay_in(schedstat) - delay), result


def serve(answer):
    listening = socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    serve_at(listening, answer)


def serve_at(listening, answer):
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
        if question.startswith(b"c"):
            burn(float(burn_ms))
            return 0, 0
        if not upstream:
            upstream.append(connect(port))
        upstream[0].sendall(b"q")
        waited, answer = blocked_in(lambda: upstream[0].recv(100))
        return waited, float(answer.split()[1])
    serve(answer)


def crowded(cpu, burn_ms):
    os.sched_setaffinity(0, {int(cpu)})

    def answer(_):
        began = time.thread_time()
        burn(float(burn_ms))
        return time.thread_time() - began, 0
    # Over TCP, ksoftirqd may wake the client when it gets the crowded CPU.
    listening = socket.socket(socket.AF_UNIX)
    listening.bind(f"\0crowded-{os.getpid()}")
    listening.listen()
    print(f"crowded-{os.getpid()}", flush=True)
    serve_at(listening, answer)


def overlap(times, since):
    return sum(max(0, end - max(begin, since)) for begin, end in times)


def single(short_ms, long_ms):
    served, slept = collections.deque(maxlen=100), collections.deque(maxlen=100)  # when that began and ended
    selector, listening = selectors.DefaultSelector(), socket.create_server(("127.0.0.1", 0))
    print(listening.getsockname()[1], flush=True)
    selector.register(listening, selectors.EVENT_READ)
    schedstat, free = open_schedstat(), time.monotonic()  # since when it is there for the next request
    while True:
        begin = time.monotonic()
        idle, ready = blocked_in(selector.select, schedstat)
        if idle > 1e-4:
            free = begin + idle
        for key, _ in ready:
            if key.fileobj is listening:
                selector.register(listening.accept()[0], selectors.EVENT_READ)
            elif question := key.fileobj.recv(100):
                what, asked = question.split()
                others = [overlap(times, float(asked)) for times in (served, slept)]
                if what == b"l":
                    begin = time.monotonic()
                    asleep, _ = blocked_in(lambda: time.sleep(float(long_ms) / 2000), schedstat)
                    slept.append((begin, begin + asleep))
                burn(float(long_ms) / 2 if what == b"l" else float(short_ms))
                served.append((free, free := time.monotonic()))
                key.fileobj.sendall("{:.6f} {:.6f}".format(*others).encode())
            else:
                selector.unregister(key.fileobj)


def hog(cpu):
    os.sched_setaffinity(0, {int(cpu)})
    while True:
        pass


def connect(address):
    if address.isdigit():
        return socket.create_connection(("127.0.0.1", int(address)))
    connection = socket.socket(socket.AF_UNIX)
    connection.connect(f"\0{address}")
    return connection


def front(address, question, seconds, rest_ms, last=None):
    # Else it would wait for a CPU while others work for it already, or have answered, on a busy host.
    with contextlib.suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    connection, schedstat = connect(address), open_schedstat()
    waits, until = [], time.monotonic() + float(seconds)
    told_from = until - float(last or seconds)
    while time.monotonic() < until:
        begin = time.monotonic()
        connection.sendall(f"{question} {begin:.6f}".encode())
        waited, answer = blocked_in(lambda: connection.recv(100), schedstat)
        if begin >= told_from:
            waits.append((waited, *map(float, answer.split())))
        time.sleep(float(rest_ms) / 1000)
    waited, others_waited, others_slept = (sum(each) for each in zip(*waits))
    print(waited / len(waits), others_waited / waited, others_slept / waited, flush=True)


if __name__ == "__main__":
    {"tier3": tier3, "tier2": tier2, "crowded": crowded, "single": single, "hog": hog,
     "front": front}[sys.argv[1]](*sys.argv[2:])
