# SPDX-License-Identifier: Apache-2.0
"""MariaDB. Its threads look alike from outside, so the server's own tables say how many do what."""

import os
import subprocess
import time

from scenario import Missing, scenario

SERVER = ("mariadbd", "mariadb", "mariadb-install-db")


class Server:
    """A server in the stage, all of whose threads are idle but those that `numbers` tells. With an `identity` it is
    one of several, which reach each other."""

    def __init__(self, stage, identity=None, **numbers):
        self.stage, self.data = stage, stage.folder / f"data{identity or ''}"
        self.data.mkdir()
        stage.do("mariadb-install-db", "--no-defaults", f"--datadir={self.data}",
                 "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root")
        self.socket, self.port = stage.folder / f"socket{identity or ''}", stage.port()
        network = ("--skip-networking",)
        if identity:
            network = ("--bind-address=127.0.0.1", f"--port={self.port}", f"--server-id={identity}", "--log-bin=log")
        self.process = stage.start(f"server{identity or ''}", "mariadbd", "--no-defaults", f"--datadir={self.data}",
                                   "--user=root", f"--socket={self.socket}", *network,
                                   f"--pid-file={stage.folder}/pid{identity or ''}", truth="idle")
        self.process.role.numbers = numbers
        for _ in range(300):
            if subprocess.run(self.client("select 1"), capture_output=True).returncode == 0:
                return
            time.sleep(0.1)
        raise Missing("MariaDB does not answer: " + (stage.folder / "errors").read_text()[-300:])

    def client(self, text=None):
        return ["mariadb", "--no-defaults", f"--socket={self.socket}", "--user=root", "--unbuffered",
                *(["-e", text] if text else [])]

    def ask(self, text):
        return self.stage.do(*self.client(text))

    def start(self, role, text=None, first=None):
        """A client that executes this, or keeps its connection after `first`."""
        process = self.stage.start(role, *self.client(text), text=True,
                                   stdin=subprocess.DEVNULL if text else subprocess.PIPE)
        if first:
            process.stdin.write(first + "\n")
            process.stdin.flush()

    def expect(self, what, wanted, query):
        """The truth by its own tables."""
        seen = ""
        for _ in range(100):
            seen = self.ask(query).split()[-1]
            if seen == str(wanted):
                return
            time.sleep(0.1)
        raise Missing(f"{wanted} threads should wait for {what}, {seen} do")


@scenario("MariaDB", *SERVER)
def mariadb_idle(stage):
    server = Server(stage)
    for i in range(3):
        server.start(f"work-{i}", first="select 1;")


@scenario("MariaDB", *SERVER)
def mariadb_row_lock(stage):
    server = Server(stage, lock=3)
    server.ask("create database shop; create table shop.stock (item int primary key, n int) engine=innodb;"
               "insert into shop.stock values (1, 5); set global innodb_lock_wait_timeout = 600")
    server.start("work-holder", first="begin; update shop.stock set n = 4;")
    time.sleep(1)
    for i in range(3):
        server.start(f"answer-{i}", "update shop.stock set n = 3")
    server.expect("a row", 3, "select count(*) from information_schema.innodb_trx where trx_state = 'LOCK WAIT'")


@scenario("MariaDB", *SERVER)
def mariadb_other_locks(stage):
    server = Server(stage, lock=3)
    server.ask("create database shop; create table shop.stock (item int primary key, n int) engine=innodb;"
               "create table shop.old (item int) engine=myisam; insert into shop.stock values (1, 5)")
    server.start("work-holder", first="select get_lock('a', 5); begin; select * from shop.stock;")
    server.start("work-holder-of-table", first="lock tables shop.old write;")
    time.sleep(1)
    server.start("answer-metadata", "alter table shop.stock add column price int")
    server.start("answer-named", "select get_lock('a', 600)")
    server.start("answer-table", "insert into shop.old values (1)")
    server.expect("locks", 3, "select count(*) from information_schema.processlist where state like '%lock%'"
                  " and info not like '%processlist%'")


@scenario("MariaDB", *SERVER)
def mariadb_sleep(stage):
    server = Server(stage, timer=2)
    for i in range(2):
        server.start(f"answer-{i}", "select sleep(600)")


@scenario("MariaDB", *SERVER)
def mariadb_replication(stage):
    """Whoever sends its log waits for more to send, and the other for more to come."""
    primary, replica = Server(stage, 1), Server(stage, 2)
    primary.ask("create user copy@'127.0.0.1' identified by 'copy'; grant replication slave on *.* to "
                "copy@'127.0.0.1'; create database shop")
    replica.ask(f"change master to master_host='127.0.0.1', master_port={primary.port}, master_user='copy', "
                "master_password='copy'; start slave")
    for _ in range(100):
        if "shop" in replica.ask("show databases"):
            return
        time.sleep(0.1)
    raise Missing("the replica copies nothing: " + replica.ask("show slave status\\G")[-300:])


@scenario("MariaDB", *SERVER)
def mariadb_client_that_does_not_read(stage):
    """The server waits for it to take its rows, and it waits for whoever takes its lines: nobody."""
    server = Server(stage, answer=1)
    server.ask("set global net_write_timeout = 100000")
    reader, writer = os.pipe()
    stage.at_end(os.close, reader)
    stage.start("-client", *server.client("select * from mysql.seq_1_to_1000000000"), "--quick", stdout=writer)
    os.close(writer)
    server.expect("its client", 1, "select count(*) from information_schema.processlist where state like '%rit%net%' "
                  "or state like '%ending data%'")
