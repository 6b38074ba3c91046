# SPDX-License-Identifier: Apache-2.0
"""Redis, memcached, etcd, brokers of messages, SQLite."""

import sys

from scenario import DEBIAN_PYTHON, PROGRAMS, scenario


def redis_server(stage, *more, **options):
    port = stage.port()
    stage.start("server", "redis-server", "--port", port, "--save", "", "--bind", "127.0.0.1",
                "--enable-debug-command", "local", *more, **options)
    return stage.wait_for_port(port)


@scenario("Redis", "redis-server")
def redis_idle(stage):
    stage.idle_connections(redis_server(stage, truth="work"))


@scenario("Redis", "redis-server")
def redis_threads_for_sockets(stage):
    redis_server(stage, "--io-threads", 3, "--io-threads-do-reads", "yes", truth="work")


@scenario("Redis", "redis-server", "redis-cli")
def redis_clients_that_wait_for_work(stage):
    port = redis_server(stage, truth="work")
    stage.start("work-pop", "redis-cli", "-p", port, "blpop", "jobs", "0")
    stage.start("work-timeout", "redis-cli", "-p", port, "-r", "-1", "brpop", "jobs", "2")
    stage.start("work-subscribe", "redis-cli", "-p", port, "subscribe", "news")


@scenario("Redis", "redis-server", "redis-cli")
def redis_sleeps(stage):
    """Its server sleeps when it is told to, and its client waits."""
    port = redis_server(stage, truth="work")
    stage.start("answer", "redis-cli", "-p", port, "-r", "-1", "debug", "sleep", "0.3")


@scenario("memcached", "memcached", rules=False)
def memcached_idle(stage):
    port = stage.port()
    stage.start("work", "memcached", "-l", "127.0.0.1", "-p", port, "-u", "root", "-U", "0")
    stage.idle_connections(stage.wait_for_port(port))


@scenario("etcd", "etcd")
def etcd_idle(stage):
    client, peer = stage.port(), stage.port()
    stage.start("server", "etcd", "--data-dir", stage.folder / "etcd", "--listen-client-urls",
                f"http://127.0.0.1:{client}", "--advertise-client-urls", f"http://127.0.0.1:{client}",
                "--listen-peer-urls", f"http://127.0.0.1:{peer}", "--initial-advertise-peer-urls",
                f"http://127.0.0.1:{peer}", "--initial-cluster", f"default=http://127.0.0.1:{peer}",
                truth={"*:disk": "storage", "*:kernel": "storage", "*": "work"})
    stage.wait_for_port(client)


@scenario("NATS", "nats-server")
def nats_idle(stage):
    port = stage.port()
    stage.start("server", "nats-server", "-a", "127.0.0.1", "-p", port,
                truth="work")
    stage.idle_connections(stage.wait_for_port(port))


@scenario("Prometheus", "prometheus")
def prometheus_idle(stage):
    port = stage.port()
    config = stage.file("prometheus.yml", "global: {scrape_interval: 60s}\n")
    stage.start("server", "prometheus", f"--web.listen-address=127.0.0.1:{port}", f"--config.file={config}",
                f"--storage.tsdb.path={stage.folder}/tsdb", truth="work")
    stage.wait_for_port(port)


@scenario("Mosquitto", "mosquitto", "mosquitto_sub", rules=False)
def mosquitto_idle(stage):
    port = stage.port()
    stage.start("work-server", "mosquitto", "-p", port)
    stage.wait_for_port(port)
    stage.start("work-client", "mosquitto_sub", "-p", port, "-t", "news")


@scenario("beanstalkd", "beanstalkd", rules=False)
def beanstalkd_idle(stage):
    port = stage.port()
    stage.start("work", "beanstalkd", "-l", "127.0.0.1", "-p", port)
    stage.idle_connections(stage.wait_for_port(port))


@scenario("SQLite", DEBIAN_PYTHON)
def sqlite_busy(stage):
    stage.start("sqlite", DEBIAN_PYTHON, PROGRAMS / "sqlite_busy.py", stage.folder / "base",
                truth={"holder": "timer", "lock-*": "lock"})


@scenario("Python: redis", "redis-server", sys.executable, rules=True)
def python_redis_blpop(stage):
    port = redis_server(stage, truth="work")
    stage.start("work", DEBIAN_PYTHON, "-c", f"import redis; redis.Redis(port={port}).blpop('jobs')")


@scenario("Python: redis", "redis-server", DEBIAN_PYTHON)
def python_worker_of_a_queue(stage):
    """As a worker of RQ or Sidekiq: whenever nothing came within its timeout, it asks again."""
    port = redis_server(stage, truth="work")
    stage.start("work", DEBIAN_PYTHON, "-c", f"import redis\nserver = redis.Redis(port={port})\n"
                "while True: server.brpop('jobs', timeout=5)")
