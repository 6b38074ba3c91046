# SPDX-License-Identifier: Apache-2.0
"""Programs that are kept apart: no rule and no threshold is changed after a look at what is said of them, so their
figures are a forecast for programs of other people. Whoever changes a rule because of one moves it elsewhere."""

import subprocess
import sys

from scenario import DEBIAN_PYTHON, scenario
from scenarios.postgresql import Server

PGBOUNCER = """
[databases]
shop = host=127.0.0.1 port={back} user=nobody
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
auth_type = any
unix_socket_dir =
pidfile = {folder}/{role}.pid
user = nobody
"""
WSGI = """
import urllib.request
def application(environment, start):
    urllib.request.urlopen('http://127.0.0.1:{back}/').read()
    start('200 OK', [])
    return []
"""


def apart(program, *needs):
    return scenario(program, *needs, rules=False, apart=True)


@apart("BIND", "named")
def bind_idle(stage):
    config = stage.file("named.conf", f'options {{ directory "{stage.folder}"; listen-on port {stage.port()} '
                        "{ 127.0.0.1; }; listen-on-v6 { none; }; recursion no; pid-file none; lock-file none; "
                        "session-keyfile none; };\ncontrols { };\n")
    stage.start("idle", "named", "-f", "-c", config)


@apart("dig", "dig")
def dig_asks_a_silent_server(stage):
    port = stage.port()
    stage.aside(sys.executable, "-c", f"import socket, time; s = socket.socket(type=socket.SOCK_DGRAM)\n"
                f"s.bind(('127.0.0.1', {port})); time.sleep(1e6)")
    dig = stage.start("dig", "bash", "-c", f"while :; do dig +time=100 -p {port} @127.0.0.1 example.org; sleep 1; done",
                      truth={"bash": "-", "sleep": "-", "*": "idle"})
    dig.role.numbers = {"answer": 1}  # its other threads wait for that one, or for something to do


@apart("gunicorn", "gunicorn")
def gunicorn_idle(stage):
    stage.file("idle.py", "def application(environment, start): return []\n")
    stage.start("idle", "gunicorn", "-b", f"127.0.0.1:{stage.port()}", "-w", "2", "idle:application")


@apart("gunicorn", "gunicorn")
def gunicorn_slow_upstream(stage):
    """Its two workers wait for what they ask, always; who started them naps."""
    port = stage.port()
    stage.file("slow.py", WSGI.format(back=stage.slow_server(2)))
    server = stage.start("server", "gunicorn", "-b", f"127.0.0.1:{port}", "-w", "2", "slow:application", truth="idle")
    stage.wait_for_port(port)
    stage.watched.append(lambda: server.role.see({pid: "answer" for pid in stage.children_of(server)}))
    stage.requests(port, 6)


@apart("vsftpd", "vsftpd")
def vsftpd_idle(stage):
    config = stage.file("vsftpd.conf", f"listen=YES\nlisten_port={stage.port()}\nlisten_address=127.0.0.1\n"
                        f"background=NO\nsecure_chroot_dir={stage.folder}\n")
    stage.start("work", "vsftpd", config)


@apart("aria2", "aria2c")
def aria2_slow_server(stage):
    stage.start("answer", "aria2c", "-q", "--timeout=600", f"http://127.0.0.1:{stage.silent_server()}/file")


@apart("iPerf", "iperf3")
def iperf_idle(stage):
    stage.start("work", "iperf3", "-s", "-B", "127.0.0.1", "-p", stage.port())


@apart("iPerf", "iperf3")
def iperf_asks_a_silent_server(stage):
    stage.start("answer", "iperf3", "-c", "127.0.0.1", "-p", stage.silent_server())


@apart("node exporter", "prometheus-node-exporter")
def node_exporter_idle(stage):
    stage.start("work", "prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{stage.port()}")


@apart("Caddy", "caddy")
def caddy_idle(stage):
    config = stage.file("Caddyfile", f"{{\n admin off\n}}\nhttp://127.0.0.1:{stage.port()} {{\n respond ok\n}}\n")
    stage.start("work", "caddy", "run", "--adapter", "caddyfile", "--config", config, env={"HOME": str(stage.folder)})


@apart("gawk", "gawk")
def gawk_programs(stage):
    stage.start("answer", "gawk", f'BEGIN {{ s = "/inet/tcp/0/127.0.0.1/{stage.silent_server()}"; '
                'print "GET" |& s; s |& getline }')
    stage.start("work", "gawk", "{ print }", stdin=subprocess.PIPE)


@apart("SWI-Prolog", "swipl")
def prolog_programs(stage):
    stage.start("answer", "swipl", "-g", f"tcp_connect('127.0.0.1':{stage.silent_server()}, S, []), "
                "write(S, 'GET / HTTP/1.0\\r\\n\\r\\n'), flush_output(S), get_char(S, _)",
                truth={"gc": "idle", "*": "answer"})
    stage.start("work", "swipl", "-g", "thread_get_message(_)")
    stage.start("timer", "swipl", "-g", "sleep(100000)", truth={"gc": "idle", "*": "timer"})


@apart("ZeroMQ", DEBIAN_PYTHON)
def zeromq_programs(stage):
    """The threads of the library are idle unless a message comes."""
    stage.do(DEBIAN_PYTHON, "-c", "import zmq")
    idle = {"ZMQbg*": "work"}
    port = stage.port()
    start = "import zmq; context = zmq.Context(); "
    stage.start("pull", DEBIAN_PYTHON, "-c", start + "one = context.socket(zmq.PULL); one.bind('tcp://127.0.0.1:"
                f"{stage.port()}'); one.recv()", truth={**idle, "*": "work"})
    stage.start("silent", DEBIAN_PYTHON, "-c", start + "one = context.socket(zmq.REP); one.bind('tcp://127.0.0.1:"
                f"{port}'); one.recv(); import time; time.sleep(1e6)", truth={**idle, "*": "timer"})
    stage.start("request", DEBIAN_PYTHON, "-c", start + f"one = context.socket(zmq.REQ); one.connect('tcp://127.0.0.1:"
                f"{port}'); one.send(b'1'); one.recv()", truth={**idle, "*": "answer"})


@apart("Twisted", DEBIAN_PYTHON)
def twisted_programs(stage):
    stage.do(DEBIAN_PYTHON, "-c", "import twisted")
    stage.start("work", DEBIAN_PYTHON, "-c", "from twisted.internet import protocol, reactor\n"
                "reactor.listenTCP(0, protocol.Factory(), interface='127.0.0.1'); reactor.run()")
    stage.start("answer", DEBIAN_PYTHON, "-c", "from twisted.internet import reactor\n"
                "from twisted.web.client import Agent\nAgent(reactor).request(b'GET', b'http://127.0.0.1:"
                f"{stage.silent_server()}/'); reactor.run()")


@apart("PgBouncer", "pgbouncer", "psql")
def pgbouncer_idle_and_hung(stage):
    for role, back in (("work", stage.port()), ("answer", stage.silent_server())):
        port = stage.port()
        config = stage.file(f"{role}.ini", PGBOUNCER.format(back=back, port=port, folder=stage.folder, role=role))
        stage.folder.chmod(0o777)
        stage.start(role, "pgbouncer", config)
        stage.wait_for_port(port)
        if role == "answer":
            stage.start("answer-psql", "psql", "-h", "127.0.0.1", "-p", port, "-U", "nobody", "shop", "-c", "select 1")


@apart("w3m", "w3m")
def w3m_slow_server(stage):
    stage.start("answer", "w3m", "-dump", f"http://127.0.0.1:{stage.silent_server()}/")


@apart("whois", "whois")
def whois_silent_server(stage):
    stage.start("answer", "bash", "-c", f"while :; do whois -h 127.0.0.1 -p {stage.silent_server()} example; done",
                truth={"bash": "-", "*": "answer"})  # it gives up after a minute


@apart("asyncpg", DEBIAN_PYTHON)
def asyncpg_client(stage):
    stage.do(DEBIAN_PYTHON, "-c", "import asyncpg")
    server = Server(stage)
    stage.start("answer", DEBIAN_PYTHON, "-c", "import asyncio, asyncpg\nasync def ask():\n  server = await asyncpg."
                f"connect(host='127.0.0.1', port={server.port}, user='postgres', database='postgres')\n"
                "  await server.execute('select pg_sleep(600)', timeout=700)\nasyncio.run(ask())")
