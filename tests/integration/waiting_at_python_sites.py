# SPDX-License-Identifier: Apache-2.0
"""A thread for each of some sites of Python's own library, for python_sites_test.py and
tests/data/wait-sites. Each waits for SECONDS, and has a name that says what for: `answer-join` waits for an
answer. Runs with any Python 3.8 or newer."""

import asyncio
import http.client
import logging
import multiprocessing
import queue
import socket
import socketserver
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor, as_completed

SECONDS = 3600


def name_thread(name):
    with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as comm:
        comm.write(name)


def join_a_thread():
    sleeper = threading.Thread(target=sleep, daemon=True)
    sleeper.start()
    sleeper.join()


def sleep():
    name_thread("timer-sleep")
    time.sleep(SECONDS)


def sleep_in_a_pool():
    """Its thread would have the name of the one that makes it."""
    pool = ThreadPoolExecutor(1, initializer=name_thread, initargs=("timer-task",))
    return pool.submit(time.sleep, SECONDS)


def wait_for_a_future():
    sleep_in_a_pool().result()


def wait_for_the_first_future():
    next(as_completed([sleep_in_a_pool()]))


def wait_for_a_result_of_a_pool(pool):
    pool.apply_async(time.sleep, (SECONDS,)).get()


def work_on_a_queue():
    queue.Queue().get()


def fill_a_queue():
    jobs = queue.Queue(1)
    for _ in range(2):
        jobs.put(1)


def run_a_timer():
    threading.Timer(SECONDS, print).run()


def wait_at_a_barrier():
    threading.Barrier(2).wait()


def wait_for_an_event():
    threading.Event().wait()


def log_a_line(handler):
    handler.handle(logging.makeLogRecord({"msg": "text"}))


def ask_a_server():
    listener = socket.create_server(("127.0.0.1", 0))  # nobody answers
    connection = http.client.HTTPConnection(*listener.getsockname())
    connection.request("GET", "/")
    connection.getresponse()


def serve():
    socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler).serve_forever(SECONDS)


def run_a_loop():
    async def wait():
        await asyncio.get_running_loop().create_future()
    asyncio.run(wait())


def wait_for_a_child():
    subprocess.Popen(["sleep", str(SECONDS)]).wait()


def main():
    pool = multiprocessing.get_context("fork").Pool(2)  # before there are threads
    handler = logging.StreamHandler()
    handler.acquire()
    workers = ThreadPoolExecutor(2, initializer=name_thread, initargs=("work-executor",))
    for _ in range(2):
        workers.submit(time.sleep, 0.1)
    for name, function, *arguments in (
            ("answer-join", join_a_thread), ("answer-future", wait_for_a_future),
            ("answer-first", wait_for_the_first_future), ("answer-pool", wait_for_a_result_of_a_pool, pool),
            ("work-queue", work_on_a_queue), ("answer-full", fill_a_queue), ("timer-timer", run_a_timer),
            ("answer-barrier", wait_at_a_barrier), ("any-event", wait_for_an_event),
            ("lock-logging", log_a_line, handler), ("answer-http", ask_a_server), ("work-server", serve),
            ("work-asyncio", run_a_loop), ("any-child", wait_for_a_child)):
        def run(name=name, function=function, arguments=arguments):
            name_thread(name)
            function(*arguments)
        threading.Thread(target=run, daemon=True).start()
    time.sleep(1)
    print("waiting", flush=True)
    name_thread("work-main")
    threads = [thread for thread in threading.enumerate() if thread is not threading.current_thread()]
    threads[-1].join()


if __name__ == "__main__":
    main()
