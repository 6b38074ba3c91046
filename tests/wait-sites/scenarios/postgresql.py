# SPDX-License-Identifier: Apache-2.0
"""PostgreSQL, whose pg_stat_activity says of each of its processes what it waits for."""

import os
import subprocess
import time

from postgres_server import PostgresServer, missing
from scenario import DEBIAN_PYTHON, PROGRAMS, Missing, scenario

# What wait_event_type means. A checkpointer that writes sleeps in between.
CLASSES = {"ClientWrite": "answer", "Lock": "lock", "LWLock": "lock", "BufferPin": "lock", "Client": "work",
           "Activity": "work", "Extension": "work", "IO": "storage", "IPC": "answer", "Timeout": "timer"}
ACTIVITY = ("select pid, case wait_event when 'ClientWrite' then wait_event else wait_event_type end "
            "from pg_stat_activity where pid <> pg_backend_pid()")


class Server:
    """A server that is a role of the stage, and is asked about its processes as long as it is recorded."""

    def __init__(self, stage, *options, role="server", primary=None):
        if missing():
            raise Missing(missing())
        self.stage = stage
        self.postgres = PostgresServer()
        stage.at_end(self.postgres.remove)
        self.folder, self.port = self.postgres.folder, stage.port()
        if primary:
            backup = (f"rm -r {self.folder}/data && exec {self.postgres.programs}/pg_basebackup -R -c fast "
                      f"-D {self.folder}/data -h 127.0.0.1 -p {primary.port}")
            stage.do("runuser", "-u", "postgres", "--", "sh", "-c", backup)
        settings = [word for option in ("fsync=on", "autovacuum_naptime=5s", *options) for word in ("-c", option)]
        # Whoever starts a server waits for its end.
        self.process = stage.start(role, *self.postgres.command(
            "postgres", "-D", self.folder / "data", "-k", self.folder, "-p", self.port, "-c",
            "listen_addresses=127.0.0.1", *settings), cwd="/", truth={"runuser": "work"})
        self.role = self.process.role
        stage.wait_for_port(self.port)
        self.ask("select 1")
        stage.watched.append(self.see_processes)

    def psql(self, text):
        return ["psql", "-h", self.folder, "-p", self.port, "-U", "postgres", "-qAt", "-d", "postgres", 
                *(["-c", text] if text else [])]

    def ask(self, text):
        for _ in range(50):
            try:
                return subprocess.run([str(word) for word in self.psql(text)], check=True, timeout=20,
                                      capture_output=True, text=True).stdout
            except subprocess.CalledProcessError as error:
                said = error.stderr
                time.sleep(0.2)
        raise Missing(said)

    def see_processes(self):
        lines = (line.split("|") for line in self.ask(ACTIVITY).splitlines())
        # It starts the others for whoever connects.
        self.role.see({int((self.folder / "data/postmaster.pid").read_text().split()[0]): "work"})
        self.role.see({int(pid): CLASSES[what] for pid, what in lines if what in CLASSES})

    def client(self, role, text, **options):
        return self.stage.start(role, *self.psql(text), **options)

    def stock(self):
        self.ask("create table stock (item int, left_over int); insert into stock values (1, 5)")


@scenario("PostgreSQL", "psql")
def postgresql_idle(stage):
    server = Server(stage)
    for i in range(3):
        server.client(f"work-{i}", "", stdin=subprocess.PIPE)


@scenario("PostgreSQL", "psql")
def postgresql_locks(stage):
    server = Server(stage)
    server.stock()
    holder = server.client("work-holder", "", stdin=subprocess.PIPE)
    holder.stdin.write(b"begin; update stock set left_over = 4; select pg_advisory_lock(7);\n")
    holder.stdin.flush()
    time.sleep(0.5)
    for i in range(4):
        server.client(f"answer-{i}", "update stock set left_over = 3")
    server.client("answer-advisory", "select pg_advisory_lock(7)")
    server.client("answer-table", "alter table stock add column price int")
    server.client("answer-sleeper", "select pg_sleep(600)")


@scenario("PostgreSQL", "psql")
def postgresql_replication(stage):
    primary = Server(stage, "wal_level=replica", "max_wal_senders=5")
    Server(stage, role="standby", primary=primary)


@scenario("PostgreSQL", "psql")
def postgresql_commit_without_standby(stage):
    server = Server(stage)
    server.stock()
    server.ask("alter system set synchronous_standby_names = '*'")
    server.ask("select pg_reload_conf()")
    time.sleep(0.5)
    for i in range(2):
        server.client(f"answer-{i}", f"insert into stock values ({i}, 1)")


@scenario("PostgreSQL", "psql")
def postgresql_tls_client(stage):
    stage.do("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out",
             "cert.pem", "-subj", "/CN=localhost", "-days", "2")
    stage.do("chown", "postgres", "key.pem", "cert.pem")
    server = Server(stage, "ssl=on", f"ssl_cert_file={stage.folder}/cert.pem",
                    f"ssl_key_file={stage.folder}/key.pem")
    address = f"host=127.0.0.1 port={server.port} user=postgres sslmode=require"
    stage.start("answer-tls", "psql", address, "-c", "select pg_sleep(600)")
    stage.start("work-tls", "psql", address, stdin=subprocess.PIPE)


@scenario("PostgreSQL", "psql")
def postgresql_parallel_query(stage):
    """Who asked waits for the worker, which sleeps."""
    server = Server(stage, "force_parallel_mode=on")
    server.client("answer", "select pg_sleep(600)")


@scenario("PostgreSQL", "psql")
def postgresql_client_that_does_not_read(stage):
    """The server waits for it to take its rows, and it waits for whoever takes its lines: nobody."""
    server = Server(stage)
    reader, writer = os.pipe()
    stage.at_end(os.close, reader)
    server.client("-client", "copy (select generate_series(1, 1000000000)) to stdout", stdout=writer)
    os.close(writer)


@scenario("Python: psycopg2", DEBIAN_PYTHON)
def python_psycopg2(stage):
    server = Server(stage)
    stage.start("answer", DEBIAN_PYTHON, PROGRAMS / "ask_postgresql.py", server.port)
