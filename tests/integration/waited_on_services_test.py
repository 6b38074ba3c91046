# SPDX-License-Identifier: Apache-2.0
"""On whom real services wait: nginx, an application, Redis and PostgreSQL; across network namespaces; and where packets
change CPUs."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import nginx_config
import postgres_server
from case import main
from waited_on_case import NOBODY, PROGRAMS, WaitedOnCase

SECONDS = 10
HOW = ("recv", "epoll", "poll", "select")

# Answers each request after it has asked Redis and PostgreSQL: `app.py HOW PORT REDIS POSTGRES CLOCK`, ports or a path.
# Writes into CLOCK how many seconds it has waited for Redis and for PostgreSQL so far, without waits for a CPU, and how
# long requests took from their connection to their answer.
APP = """
import os, select, socket, struct, sys, threading, time
how, port, redis, postgres = sys.argv[1:5]
clock, clock_file = [0.0, 0.0, 0.0], os.open(sys.argv[5], os.O_CREAT | os.O_WRONLY)
never = socket.socketpair()
def queued():
    with open("/proc/thread-self/schedstat") as schedstat:
        return int(schedstat.read().split()[1]) / 1e9
def connect(where):
    if where.isdigit():
        return socket.create_connection(("127.0.0.1", int(where)))
    own = socket.socket(socket.AF_UNIX)
    own.connect(where)
    return own
def receive(own):
    if how == "poll":
        ready = select.poll()
        for each in never[0], own: ready.register(each, select.POLLIN)
        ready.poll()
    elif how == "select":
        select.select([never[0], own], [], [])
    elif how == "epoll":
        with select.epoll() as ready:
            for each in never[0], own: ready.register(each, select.EPOLLIN)
            ready.poll()
    return own.recv(65536)
def until(own, end, on):
    got, delay, begin = b"", queued(), time.monotonic()
    while not got.endswith(end):
        got += receive(own)
    clock[on] += time.monotonic() - begin - (queued() - delay)
def ask_redis():
    own = connect(redis)
    script = b"local i = 0 while i < 2000000 do i = i + 1 end return 1"
    own.sendall(b"EVAL \\"%s\\" 0\\r\\n" % script)
    until(own, b"\\r\\n", 0)
    own.close()
def ask_postgres():
    own = connect(postgres)
    hello = struct.pack("!i", 196608) + b"user\\0postgres\\0database\\0postgres\\0\\0"
    own.sendall(struct.pack("!i", len(hello) + 4) + hello)
    until(own, b"Z\\0\\0\\0\\x05I", 1)
    query = b"select pg_sleep(0.03)\\0"
    own.sendall(b"Q" + struct.pack("!i", len(query) + 4) + query)
    until(own, b"Z\\0\\0\\0\\x05I", 1)
    own.close()
def serve(own, begin):
    if own.recv(65536):
        ask_redis()
        ask_postgres()
        own.sendall(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\nConnection: close\\r\\n\\r\\nok")
        clock[2] += time.monotonic() - begin
        os.pwrite(clock_file, ("%.6f %.6f %.6f" % tuple(clock)).ljust(60).encode(), 0)
    own.close()
listener = socket.create_server(("127.0.0.1", int(port)), backlog=50)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0], time.monotonic()), daemon=True).start()
"""

CLIENT = """
import socket, sys, time
until = time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    own = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    own.sendall(b"GET /%s HTTP/1.1\\r\\nHost: x\\r\\nConnection: close\\r\\n\\r\\n" % sys.argv[3].encode())
    while own.recv(4096): pass
    own.close()
"""

# Accepts what nobody sends, at these ports of all its addresses.
LISTENER = """
import socket, sys
sockets = [socket.create_server(("0.0.0.0", int(port)), reuse_port=True) for port in sys.argv[1:]]
for own in sockets: own.setblocking(False)
while True:
    for own in sockets:
        try: own.accept()
        except BlockingIOError: pass
"""


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [each.getsockname()[1] for each in sockets]
    for each in sockets:
        each.close()
    return ports


class Services(WaitedOnCase):
    def listens(self, port):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            return False
        return True

    def test_nginx_and_what_is_behind_it(self):
        """New connections for each request; the application waits in four ways, and for PostgreSQL over TCP in two of
        them, over a unix socket in the others."""
        nginx, redis = shutil.which("nginx"), shutil.which("redis-server")
        self.skip_if(not nginx and "nginx is not installed", not redis and "Redis is not installed",
                     postgres_server.missing())
        folder = Path(tempfile.mkdtemp(prefix="offcpud-waited-on-"))
        folder.chmod(0o755)
        self.addCleanup(shutil.rmtree, folder, True)
        front, queue, database, *ports = free_ports(3 + len(HOW))
        units = {name: self.new_unit(name) for name in ("edge", "cache", "database", "shopper", *HOW)}
        server = postgres_server.PostgresServer()
        self.addCleanup(server.remove)
        server.start(self, units["database"], port=database)
        self.run_in(units["cache"], redis, "--port", queue, "--save", "", stdout=subprocess.DEVNULL)
        (folder / "app.py").write_text(APP)
        for how, port in zip(HOW, ports):
            where = database if how in ("recv", "epoll") else server.folder / f".s.PGSQL.{database}"
            self.run_in(units[how], sys.executable, folder / "app.py", how, port, queue, where, folder / how)
        backends = {f"/{how}": port for how, port in zip(HOW, ports)}
        (folder / "nginx.conf").write_text(nginx_config.proxy(folder, front, backends, workers=2))
        self.run_in(units["edge"], nginx, "-p", folder, "-c", folder / "nginx.conf")
        self.wait_until("the services listen", lambda: all(map(self.listens, (front, queue, *ports))))
        self.until_told()
        for how in HOW:  # one after the other: nginx waits for one application at a time
            self.run_in(units["shopper"], sys.executable, "-c", CLIENT, front, SECONDS, how).wait(60)
        self.until_told()
        apps = [units[how].unit for how in HOW]
        self.expect_on_some("edge", units["edge"], apps)
        self.expect_on("shopper", units["shopper"], units["edge"].unit)
        for how in HOW:
            # Who spoke last on a unix socket is not known, so what some of these waits are for is not, either. Nor is it
            # of waits for its own threads.
            purposes = ("answer",) if how in ("recv", "epoll") else ("answer", "unknown")
            self.expect_on_some(f"the application, {how}", units[how], [units["cache"].unit, units["database"].unit],
                                purposes, () if len(purposes) == 1 else (units[how].unit,))
            self.expect_sums(units[how])
            on_redis, on_postgres, served = map(float, (folder / how).read_text().split())
            self.expect_seconds(units[how], {units["cache"]: on_redis, units["database"]: on_postgres}, purposes)
            self.expect_seconds(units["edge"], {units[how]: served})
        self.expect_sums(units["edge"])

    def expect_seconds(self, cgroup, truth, purposes=("answer",)):
        """What it waited on these units is what its own clock says."""
        sums = self.waited_on(cgroup)
        for other, seconds in truth.items():
            seen = sum(sums[purpose, other.unit] for purpose in purposes)
            self.expect_close(f"seconds of {cgroup.unit} on {other.unit}", seconds, seen, 0.05)

    def expect_on_some(self, what, cgroup, wanted, purposes=("answer",), left_out=(), share=0.99):
        """So much of the time for these, without what is on `left_out`, is on one of these units, some on each, and none
        on anybody else."""
        seen = Counter()
        for (purpose, on), seconds in self.waited_on(cgroup).items():
            if purpose in purposes and on not in left_out:
                seen[on] += seconds
        print(f"  {what}: { {on: round(seconds, 3) for on, seconds in seen.items()} }", flush=True)
        total = sum(seen.values())
        self.expect_at_least(f"{what}: seconds for answers", 1, round(total, 3))
        self.expect_equal(f"{what}: seconds on others", {},
                          {on: s for on, s in seen.items() if on not in wanted and on not in NOBODY})
        for on in wanted:
            self.expect_at_least(f"{what}: seconds on {on}", 0.05, round(seen.get(on, 0), 3))
        right = sum(seen.get(on, 0) for on in wanted)
        self.expect_at_least(f"{what}: share on these", share, round(right / total, 4))


class Namespaces(WaitedOnCase):
    def setUp(self):
        super().setUp()
        self.skip_if(not shutil.which("ip") and "there is no ip")
        self.name = f"offcpud-{os.getpid()}"
        self.outside, self.inside = f"oc{os.getpid() % 10_000}a", f"oc{os.getpid() % 10_000}b"
        try:
            self.ip("netns", "add", self.name)
        except subprocess.CalledProcessError as error:
            self.skipTest(f"no network namespace: {error.stderr}")
        self.addCleanup(self.ip, "netns", "del", self.name)
        self.ip("link", "add", self.outside, "type", "veth", "peer", "name", self.inside, "netns", self.name)
        self.addCleanup(self.ip, "link", "del", self.outside)  # at once; with the namespace it goes later
        self.ip("addr", "add", "198.18.77.1/24", "dev", self.outside)
        self.ip("link", "set", self.outside, "up")
        for words in (("addr", "add", "198.18.77.2/24", "dev", self.inside), ("link", "set", self.inside, "up"),
                      ("link", "set", "lo", "up")):
            self.ip("-n", self.name, *words)

    @staticmethod
    def ip(*words):
        return subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

    def talk(self, how, port, seconds=SECONDS):
        server, client = self.new_unit("server"), self.new_unit("client")
        address = f"198.18.77.2:{port}"
        self.serve(server, "tcp", address, namespace=self.name)
        return server, client, self.run_in(client, *PROGRAMS, "ask", "tcp", how, address, seconds)

    def test_a_peer_in_another_namespace(self):
        talks = [(how, *self.talk(how, 29751 + i))
                 for i, how in enumerate(("recv,new", "epoll,new", "poll,kept", "select,new"))]
        for *_, program in talks:
            program.wait(60)
        self.until_told()
        for how, server, client, _ in talks:
            self.expect_on(f"client, {how}", client, server.unit)

    def test_packets_that_change_their_cpu(self):
        """Receive packet steering: the softirq runs in anybody's time. Nobody else is blamed: neither who
        only computes nor who accepts connections at a port of the same number."""
        ports = {29761: "recv,new", 29762: "epoll,kept"}
        every_cpu = f"{(1 << os.cpu_count()) - 1:x}"
        for link, namespace in ((self.outside, ()), (self.inside, ("ip", "netns", "exec", self.name))):
            for queue in ("rx-0",):
                subprocess.run([*namespace, "sh", "-c",
                                f"echo {every_cpu} > /sys/class/net/{link}/queues/{queue}/rps_cpus"], check=True)
        busy = self.new_unit("bystander")
        for _ in range(os.cpu_count()):
            self.run_in(busy, sys.executable, "-c", "while True: pass")
            self.run_in(self.new_unit("listener"), sys.executable, "-c", LISTENER, *ports)
        talks = [(how, port, *self.talk(how, port)) for port, how in ports.items()]
        for *_, program in talks:
            program.wait(90)
        self.until_told()
        for how, port, server, client, _ in talks:
            seen = {on for (purpose, on), seconds in self.waited_on(client).items() if purpose == "answer"}
            allowed = {server.unit, f"remote:198.18.77.2:{port}", *NOBODY}
            self.say(seen <= allowed and seen, f"client, {how}: whom it waits on", f"some of {allowed}", seen)

    def test_an_address_at_which_nobody_is(self):
        """Nothing answers there: the wait is for the other host."""
        client = self.new_unit("client")
        ask = ("import socket\nfor _ in range(12):\n    own = socket.socket()\n    own.settimeout(0.4)\n"
               "    try: own.connect(('198.18.77.9', 5432))\n    except OSError: pass\n    own.close()\n")
        self.ip("neigh", "add", "198.18.77.9", "lladdr", "02:00:00:00:00:09", "dev", self.outside)
        self.run_in(client, sys.executable, "-c", ask).wait(30)
        self.until_told()
        self.expect_on("client", client, "remote:198.18.77.9:5432")


if __name__ == "__main__":
    main()
