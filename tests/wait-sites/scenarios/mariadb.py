# SPDX-License-Identifier: Apache-2.0
"""MariaDB. Its threads look alike from outside, so the server's own tables say how many do what."""

import subprocess
import time

from scenario import Missing, scenario

SERVER = ("mariadbd", "mariadb", "mariadb-install-db")


class Server:
    """A server in the stage, all of whose threads are idle but those that `numbers` tells."""

    def __init__(self, stage, **numbers):
        self.stage, self.data = stage, stage.folder / "data"
        self.data.mkdir()
        stage.do("mariadb-install-db", "--no-defaults", f"--datadir={self.data}", "--auth-root-authentication-method=normal",
                 "--skip-test-db", "--user=root")
        self.socket = stage.folder / "socket"
        self.process = stage.start("server", "mariadbd", "--no-defaults", f"--datadir={self.data}", "--user=root",
                                   f"--socket={self.socket}", "--skip-networking",
                                   f"--pid-file={stage.folder}/pid", truth="idle")
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
