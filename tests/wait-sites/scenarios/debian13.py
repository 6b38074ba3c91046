# SPDX-License-Identifier: Apache-2.0
"""Interpreters of Debian 13, in a root of it that tests/wait-sites/debian_root makes."""

import subprocess

from scenario import HERE, PROGRAMS, Missing, scenario
from scenarios.python import ASK_INSIDE

# What it takes to see the same network and processes, but other programs.
ENTER = ('mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" && mount --bind "$2" "$1/mnt" && '
         'root=$1 && shift 2 && exec chroot "$root" "$@"')


def start(stage, role, *command, truth):
    made = subprocess.run([HERE / "debian_root", "trixie"], capture_output=True, text=True, check=False)
    if made.returncode != 0:
        raise Missing(f"no root of Debian 13: {made.stderr[-300:]}")
    stage.start(role, "unshare", "--mount", "sh", "-c", ENTER, "sh", made.stdout.strip(), PROGRAMS, *command,
                truth=truth)


@scenario("Python of Debian 13", "unshare", "mmdebstrap")
def python_threads_of_debian_13(stage):
    start(stage, "threads", "python3", "/mnt/threads.py", stage.slow_server(0.2), truth=ASK_INSIDE)


@scenario("Ruby of Debian 13", "unshare", "mmdebstrap")
def ruby_threads_of_debian_13(stage):
    start(stage, "threads", "ruby", "/mnt/threads.rb", stage.slow_server(0.2), truth=ASK_INSIDE)
