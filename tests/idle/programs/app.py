# SPDX-License-Identifier: Apache-2.0
"""An idle service: an HTTP server, a pool, a queue with workers, an asyncio loop, a connection to Redis
that it keeps, and one on which a worker waits for the next job. arguments: PORT REDIS_PORT"""

import asyncio
import http.server
import queue
import socket
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

jobs = queue.Queue()
pool = ThreadPoolExecutor(4)


class Answer(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        jobs.put("job")
        text = pool.submit(lambda: b"ok").result()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


def take_jobs(timeout):
    while True:
        try:
            jobs.get(timeout=timeout)
        except queue.Empty:
            pass


def ask_redis(port):
    connection = socket.create_connection(("127.0.0.1", port))
    while True:
        connection.sendall(b"INCR python\r\n")
        connection.recv(100)
        time.sleep(6)


def take_jobs_of_redis(port):
    """As workers of Sidekiq and RQ do: each time that nothing came within the timeout, it asks again."""
    connection = socket.create_connection(("127.0.0.1", port))
    while True:
        connection.sendall(b"BRPOP jobs 5\r\n")
        connection.recv(100)


async def tick():
    while True:
        await asyncio.sleep(2)


for target, arguments in ((take_jobs, (None,)), (take_jobs, (5,)), (ask_redis, (int(sys.argv[2]),)),
                          (take_jobs_of_redis, (int(sys.argv[2]),)), (lambda: asyncio.run(tick()), ())):
    threading.Thread(target=target, args=arguments, daemon=True).start()
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Answer).serve_forever()
