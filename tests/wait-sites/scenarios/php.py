# SPDX-License-Identifier: Apache-2.0
"""PHP: its pool of workers, and scripts."""

import subprocess
import sys

from scenario import PROGRAMS, Missing, scenario

PHP_FPM = """
[global]
error_log = {folder}/fpm.log
[www]
user = www-data
group = www-data
listen = 127.0.0.1:{port}
pm = static
pm.max_children = {workers}
"""


def php_fpm(stage, script, truth, workers, **numbers):
    program = next((name for name in ("php-fpm8.2", "php-fpm8.4", "php-fpm") if stage.has(name)), None)
    if program is None:
        raise Missing("php-fpm is missing")
    port = stage.port()
    config = stage.file("fpm.conf", PHP_FPM.format(folder=stage.folder, port=port, workers=workers))
    stage.file("page.php", script)
    server = stage.start("server", program, "-F", "-y", config, truth=truth)
    server.role.numbers = numbers
    return stage.wait_for_port(port)


@scenario("PHP")
def php_fpm_idle(stage):
    php_fpm(stage, "", "idle", 3)


@scenario("PHP", "nginx")
def php_fpm_slow_upstream(stage):
    """Two of its three workers wait for what they asked for, always."""
    asks = f"<?php file_get_contents('http://127.0.0.1:{stage.slow_server(2)}/');"
    port = php_fpm(stage, asks, "idle", 3, answer=2)
    stage.aside(sys.executable, PROGRAMS / "fastcgi_clients.py", port, 2, stage.folder / "page.php")


@scenario("PHP", "php")
def php_commands(stage):
    port = stage.silent_server()
    held = stage.file("held", "")
    stage.start("answer", "php", "-r", f"file_get_contents('http://127.0.0.1:{port}/');")
    stage.start("timer-holder", "php", "-r", f"$f = fopen('{held}', 'r'); flock($f, LOCK_EX); sleep(1000);")
    stage.start("lock", "php", "-r", f"sleep(1); $f = fopen('{held}', 'r'); flock($f, LOCK_EX);")
    stage.start("work", "php", "-r", "$s = stream_socket_server('tcp://127.0.0.1:0'); stream_socket_accept($s, 1e6);")
    stage.start("work-input", "php", "-r", "fgets(STDIN);", stdin=subprocess.PIPE)
    stage.start("timer", "php", "-r", "while (1) usleep(100000);")
