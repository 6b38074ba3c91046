# SPDX-License-Identifier: Apache-2.0
"""threads.py PORT: a thread for each kind of wait; the port is of a server that takes its time."""

import queue
import select
import socket
import subprocess
import sys
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from thread_name import name_this, start

PORT = int(sys.argv[1])
HOLD, REST = 0.06, 0.006
REQUEST = b"GET / HTTP/1.1\r\n\r\n"
ANSWER = len(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")


def hold(lock):
    while True:
        with lock:
            time.sleep(HOLD)
        time.sleep(REST)


def use_with(lock):
    while True:
        with lock:
            pass
        time.sleep(0.001)


def use_acquire(lock):
    while True:
        lock.acquire()
        lock.release()
        time.sleep(0.001)


def ask_with(lock):
    """As those who share a connection, or a cache that one at a time fills."""
    while True:
        with lock:
            urllib.request.urlopen(f"http://127.0.0.1:{PORT}/").read()
        time.sleep(0.001)


def ask_semaphore(semaphore):
    server = socket.create_connection(("127.0.0.1", PORT))
    while True:
        semaphore.acquire()
        server.sendall(REQUEST)
        server.recv(ANSWER, socket.MSG_WAITALL)
        semaphore.release()
        time.sleep(0.001)


def produce(jobs):
    while True:
        time.sleep(HOLD)
        jobs.put(1)


def consume(jobs):
    while True:
        jobs.get()


def sleep():
    while True:
        time.sleep(0.1)


def ask_future(pool):
    while True:
        pool.submit(time.sleep, HOLD).result()


def ask_thread():
    while True:
        start("timer-joined", time.sleep, 0.3).join()


def ask_event(asked, answered):
    while True:
        asked.put(1)
        answered.wait()
        answered.clear()


def answer_event(asked, answered):
    while True:
        asked.get()
        time.sleep(HOLD)
        answered.set()


def ask_http():
    while True:
        urllib.request.urlopen(f"http://127.0.0.1:{PORT}/").read()


def ask_socket(timeout):
    server = socket.create_connection(("127.0.0.1", PORT))
    server.settimeout(timeout)
    while True:
        server.sendall(REQUEST)
        server.recv(ANSWER, socket.MSG_WAITALL)


def ask_select():
    server = socket.create_connection(("127.0.0.1", PORT))
    while True:
        server.sendall(REQUEST)
        select.select([server], [], [])
        server.recv(ANSWER)


def serve_accept():
    socket.create_server(("127.0.0.1", 0)).accept()


def serve_select():
    select.select([socket.create_server(("127.0.0.1", 0))], [], [])


def serve_connection():
    listener = socket.create_server(("127.0.0.1", 0))
    client = socket.create_connection(listener.getsockname())
    listener.accept()[0].recv(1)
    client.close()


def run_child():
    while True:
        subprocess.run(["sleep", "2"])


def communicate():
    subprocess.run(["sh", "-c", "sleep 1000; echo"], capture_output=True)


def main():
    lock, bare, semaphore = threading.Lock(), threading.Lock(), threading.BoundedSemaphore(1)
    condition_of_lock = threading.RLock()
    for name, one in (("with", lock), ("bare", bare), ("semaphore", semaphore), ("rlock", condition_of_lock)):
        start(f"timer-{name}", hold, one)
        for i in range(2):
            start(f"lock-{name}-{i}", use_acquire if name in ("bare", "rlock") else use_with, one)
    shared, permits = threading.Lock(), threading.Semaphore(1)
    for i in range(3):
        start(f"lock-shared-{i}", ask_with, shared)
        start(f"lock-permit-{i}", ask_semaphore, permits)
    for name, jobs in (("queue", queue.Queue()), ("simple", queue.SimpleQueue())):
        start(f"timer-{name}", produce, jobs)
        start(f"work-{name}", consume, jobs)
    start("work-never", consume, queue.Queue())
    pool = ThreadPoolExecutor(1, initializer=name_this, initargs=("timer-pool",))
    start("answer-future", ask_future, pool)
    idle = ThreadPoolExecutor(2, initializer=name_this, initargs=("work-pool",))
    for _ in range(2):
        idle.submit(time.sleep, 0.1)
    start("answer-thread", ask_thread)
    asked, answered = queue.Queue(), threading.Event()
    start("answer-event", ask_event, asked, answered)
    start("timer-event", answer_event, asked, answered)
    start("timer-sleep", sleep)
    start("answer-http", ask_http)
    start("answer-socket", ask_socket, None)
    start("answer-timeout", ask_socket, 30)
    start("answer-select", ask_select)
    start("work-accept", serve_accept)
    start("work-select", serve_select)
    start("work-connect", serve_connection)
    start("timer-child", run_child)
    start("idle-output", communicate)


main()
