# SPDX-License-Identifier: Apache-2.0
"""Programs in units of their own, as a service manager would start them."""

import os
import signal
import socket
import subprocess

from daemon import die_with_the_tester


def start(unit, command, on_start=None, **options):
    """A process in the cgroup `unit` that does not outlive the tester. `on_start` is called in the child,
    between fork and exec."""
    def enter():
        die_with_the_tester()
        unit.enter()
        if on_start:
            on_start()

    options = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "stdin": subprocess.DEVNULL, **options}
    return subprocess.Popen([str(word) for word in command], start_new_session=True, preexec_fn=enter, **options)


def end(process):
    """Kills it and its process group."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    for stream in (process.stdin, process.stdout):
        if stream:
            stream.close()


def free_ports(count):
    """Ports of 127.0.0.1 at which nobody listens at this moment."""
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports
