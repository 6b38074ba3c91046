# SPDX-License-Identifier: Apache-2.0
"""The programs of the idle host, each in a unit of its own, with what its health check asks and has to hear."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

import postgres_server
import unit_processes
from host import Cgroup
from own_cron import CRON

PROGRAMS = Path(__file__).with_name("programs")
NGINX = """
daemon off; worker_processes 2; pid {folder}/nginx.pid; error_log /dev/null;
events {{}}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{front}; location / {{ proxy_pass http://127.0.0.1:{back}; }} }}
}}
"""
# The second job sleeps, and cron waits for it as for any job.
CRONTAB = """
PATH=/usr/bin:/bin
* * * * * root find /etc -type f | sort | md5sum > {folder}/sum; date +\\%s >> {folder}/ran
* * * * * root sleep 15; date +\\%s >> {folder}/slept
* * * * * nobody echo of-nobody
"""


class Services:
    """Starts them; `checks` is what health.py asks each of them. Whoever makes it ends all that is in the
    slice's cgroup, and removes the folder."""

    def __init__(self, slice_path, folder):
        self.slice_path, self.folder = slice_path, folder
        self.checks, self.units, self.processes = [], {}, {}

    # --- what PostgresServer wants of a test: its cleanups are the slice's

    def addCleanup(self, *_):  # noqa: N802
        pass

    @staticmethod
    def wait_until(what, condition, seconds=60):
        until = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > until:
                raise SystemExit(f"not within {seconds} s: {what}")
            time.sleep(0.2)

    # --- the parts of every start

    def unit(self, name):
        if name not in self.units:
            self.units[name] = Cgroup(f"{self.slice_path}/{name}.service")
        return self.units[name]

    def own_folder(self, name, owner=None):
        folder = self.folder / name
        folder.mkdir()
        if owner:
            shutil.chown(folder, owner)
        return folder

    def start(self, name, *command, **options):
        log = open(self.folder / f"{name}.log", "ab")
        self.processes[name] = unit_processes.start(
            self.unit(name), command, **{"cwd": "/", "stdout": log, "stderr": log, **options})
        log.close()
        return self.processes[name]

    def check(self, name, says, url=None, command=None, every=5):
        self.checks.append({"name": name, "says": says, "url": url, "every": every,
                            "command": [str(word) for word in command or ()]})

    # --- the programs

    def start_all(self):
        ports = unit_processes.free_ports(14)
        self.redis = ports[0]
        self.postgresql()
        self.mariadb(ports[1])
        self.start("redis", "redis-server", "--port", self.redis, "--dir", self.own_folder("redis"))
        self.check("redis", r"^\d+$", command=["redis-cli", "-p", self.redis, "incr", "checks"])
        self.applications(*ports[2:7])
        self.nginx(ports[7], back=ports[2])
        self.monitoring(*ports[8:12])
        self.containerd(ports[12])
        self.cron()
        self.start("ci", PROGRAMS / "ci.sh", self.own_folder("ci"))

    def postgresql(self):
        server = postgres_server.PostgresServer()
        server.start(self, self.unit("postgresql"))
        self.check("postgresql", "^1$", command=server.client("update stock set left_over = 6 returning item"))
        # A session that somebody left open, which costs a backend.
        self.start("psql", *server.client("")[:-2], stdin=subprocess.PIPE)

    def mariadb(self, port):
        folder = self.own_folder("mariadb", owner="mysql")
        subprocess.run(["mariadb-install-db", "--no-defaults", "--user=mysql", f"--datadir={folder}/data",
                        "--auth-root-authentication-method=normal", "--skip-test-db"],
                       check=True, capture_output=True, timeout=300)
        self.start("mariadb", "mariadbd", "--no-defaults", "--user=mysql", f"--datadir={folder}/data",
                   f"--socket={folder}/socket", f"--port={port}", "--bind-address=127.0.0.1",
                   f"--pid-file={folder}/pid")
        self.check("mariadb", "^2$", command=["mariadb", "--no-defaults", "-uroot", f"-S{folder}/socket", "-N",
                                              "-e", "select 1 + 1"])

    def applications(self, python, node, java, ruby, erlang):
        self.start("python", "/usr/bin/python3", PROGRAMS / "app.py", python, self.redis)
        self.start("node", "node", PROGRAMS / "app.js", node, self.redis)
        self.start("java", "java", PROGRAMS / "App.java", java)
        self.start("ruby", "ruby", PROGRAMS / "app.rb", ruby)
        compiled = self.own_folder("erlang")
        subprocess.run(["erlc", "-o", compiled, PROGRAMS / "app.erl"], check=True, timeout=120)
        self.start("erlang", "erl", "-noshell", "-pa", compiled, "-run", "app", "start", erlang,
                   env={"HOME": str(compiled), "PATH": "/usr/bin:/bin"})
        for name, port in (("python", python), ("node", node), ("java", java), ("ruby", ruby),
                           ("erlang", erlang)):
            self.check(name, "^ok$", url=f"http://127.0.0.1:{port}/")

    def nginx(self, front, back):
        folder = self.own_folder("nginx")
        (folder / "nginx.conf").write_text(NGINX.format(folder=folder, front=front, back=back))
        self.start("nginx", "nginx", "-p", folder, "-c", folder / "nginx.conf")
        self.check("nginx", "^ok$", url=f"http://127.0.0.1:{front}/")

    def monitoring(self, node_exporter, alertmanager, etcd, etcd_peer):
        """Three Go programs; the fourth is Prometheus, which gets to know the daemon first."""
        self.targets = {"node": node_exporter, "alertmanager": alertmanager, "etcd": etcd}
        self.start("node-exporter", "prometheus-node-exporter", f"--web.listen-address=127.0.0.1:{node_exporter}")
        self.check("node-exporter", "node_cpu_seconds", url=f"http://127.0.0.1:{node_exporter}/metrics", every=15)
        folder = self.own_folder("alertmanager")
        (folder / "config.yml").write_text("route: {receiver: nobody}\nreceivers: [{name: nobody}]\n")
        self.start("alertmanager", "prometheus-alertmanager", f"--web.listen-address=127.0.0.1:{alertmanager}",
                   f"--config.file={folder}/config.yml", f"--storage.path={folder}/data",
                   "--cluster.listen-address=")
        self.check("alertmanager", "OK", url=f"http://127.0.0.1:{alertmanager}/-/healthy")
        urls, peers = f"http://127.0.0.1:{etcd}", f"http://127.0.0.1:{etcd_peer}"
        self.start("etcd", "etcd", "--data-dir", self.own_folder("etcd"), "--listen-client-urls", urls,
                   "--advertise-client-urls", urls, "--listen-peer-urls", peers,
                   "--initial-advertise-peer-urls", peers, "--initial-cluster", f"default={peers}")
        self.check("etcd", '"health":"true"', url=f"{urls}/health")

    def containerd(self, port):
        """With one container, whose root has nothing but a server and a page."""
        folder = self.own_folder("containerd")
        binaries = folder / "rootfs" / "bin"
        binaries.mkdir(parents=True)
        shutil.copy2("/bin/busybox", binaries)
        (folder / "rootfs" / "index.html").write_text("ok")
        socket = folder / "socket"
        self.start("containerd", "containerd", "--root", folder / "root", "--state", folder / "state",
                   "--address", socket)
        ctr = ["ctr", "--address", socket]
        self.wait_until("containerd answers", lambda: subprocess.run(
            [*ctr, "version"], capture_output=True, check=False).returncode == 0)
        started = unit_processes.start(
            self.unit("containerd"), [*ctr, "run", "--detach", "--net-host", "--cgroup", "", "--runc-root",
                                      folder / "runc", "--rootfs", folder / "rootfs", "web",
                                      "/bin/busybox", "httpd", "-f", "-p", f"127.0.0.1:{port}", "-h", "/"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if started.wait(60):
            raise SystemExit(f"ctr could not start a container: {started.stdout.read().decode()}")
        self.check("container", "^ok$", url=f"http://127.0.0.1:{port}/")
        self.check("containerd", r"web +\d+ +RUNNING", command=[*ctr, "tasks", "list"], every=30)

    def cron(self):
        folder = self.own_folder("cron")
        (folder / "crontab").write_text(CRONTAB.format(folder=folder))
        self.start("cron", "unshare", "--mount", "bash", "-ec", CRON.format(folder=folder))

    def start_health(self, checks_file, answers_file):
        self.start("health", sys.executable, PROGRAMS.with_name("health.py"), checks_file, answers_file)
