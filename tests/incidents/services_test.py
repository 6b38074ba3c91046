# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for each other's answers: clients of a database, and a chain of services."""

import socket
import time
from pathlib import Path

from incident_case import IncidentCase, main
import nginx_config
import postgres_server
from unit_processes import free_ports

# To a port of loopback, or to the socket at a path.
CONNECT = """
import socket, sys
def connect(where):
    if where.isdigit():
        return socket.create_connection(("127.0.0.1", int(where)))
    own = socket.socket(socket.AF_UNIX)
    own.connect(where)
    return own
"""

# Answers each request with what a worker returns, by way of two lists in Redis.
STORE = CONNECT + """
import http.server
class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        redis = connect(sys.argv[2])
        redis.sendall(b"LPUSH jobs 1\\r\\n")
        redis.recv(100)
        redis.sendall(b"BLPOP results 30\\r\\n")
        redis.recv(100)
        redis.close()
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *_): pass
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Store).serve_forever()
"""

# Takes a job, asks the database, which takes 0.8 s, and pushes a result.
WORKER = CONNECT + """
import subprocess
redis = connect(sys.argv[1])
while True:
    redis.sendall(b"BLPOP jobs 0\\r\\n")
    redis.recv(100)
    subprocess.run(sys.argv[2:], stdout=subprocess.DEVNULL)
    redis.sendall(b"LPUSH results 1\\r\\n")
    redis.recv(100)
"""

CLIENT = """
import sys, urllib.request
while True:
    urllib.request.urlopen(sys.argv[1]).read()
"""


class Services(IncidentCase):
    def test_1_clients_behind_a_row_lock(self):
        server = self.database()
        report, api = self.unit("cron-report"), self.unit("orders-api")
        begin = time.monotonic()
        self.run_in(report, *server.client("begin; update stock set left_over = 4; select pg_sleep(60)"))
        time.sleep(0.5)
        for _ in range(8):
            self.run_in(api, *server.client("update stock set left_over = 3"))
        self.expect_first(("orders-db", "lock", "postgresql-heavyweight-lock"), begin=begin)
        self.expect_why("orders-db", "for a lock (postgresql-heavyweight-lock)", culprit="cron-report",
                        unknown="who holds a lock of its kind", begin=begin)

    def test_7_a_chain_of_services(self):
        """Redis over TCP, PostgreSQL over a unix socket."""
        (queue,) = free_ports(1)
        self.chain_of_services(queue, ("--port", queue), {})

    def test_7_a_chain_over_the_other_sockets(self):
        """Redis over a unix socket, PostgreSQL over TCP."""
        queue, (port,) = self.folder / "redis", free_ports(1)
        self.chain_of_services(queue, ("--port", 0, "--unixsocket", queue), {"port": port})

    def chain_of_services(self, queue, redis_options, database_options):
        nginx = self.need("nginx-light", "/usr/sbin/nginx")
        redis = self.need("redis-server", "redis-server")
        python = self.need("python3", "/usr/bin/python3")
        database = self.database(**database_options)
        front, back = free_ports(2)
        config = self.script("nginx.conf", nginx_config.proxy(self.folder, front, {"/": back}, workers=1))
        self.run_in(self.unit("queue"), redis, *redis_options, "--save", "")
        self.run_in(self.unit("edge"), nginx, "-p", self.folder, "-c", config)
        self.run_in(self.unit("store-app"), python, self.script("store.py", STORE), back, queue)
        self.wait_until("the services listen", lambda: all(map(self.listens, (front, back))) and (
            queue.exists() if isinstance(queue, Path) else self.listens(queue)))
        begin = time.monotonic()
        self.run_in(self.unit("job-worker"), python, self.script("worker.py", WORKER), queue,
                    *database.client("select pg_sleep(0.8)", over_tcp="port" in database_options))
        self.run_in(self.unit("shopper"), python, self.script("client.py", CLIENT),
                    f"http://127.0.0.1:{front}/")
        # Redis itself only waits for work: it has no row, and is in the chain.
        self.expect_first(("edge", "answer", "nginx-loop"), ("store-app", "answer", "socket"),
                          ("job-worker", "answer", "postgresql-answer"), begin=begin)
        self.expect_why("edge.service waits for an answer", " of store-app.service",
                        "store-app.service waits for an answer", " of queue.service",
                        "queue.service waits for work from job-worker.service", "job-worker.service wait",
                        "for an answer (postgresql-answer) of ", culprit="orders-db.service", begin=begin)

    def database(self, port=None):
        self.skip_if(postgres_server.missing())
        server = postgres_server.PostgresServer()
        self.addCleanup(server.remove)
        server.start(self, self.unit("orders-db"), port)
        return server

    @staticmethod
    def listens(port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True


if __name__ == "__main__":
    main()
