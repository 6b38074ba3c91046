# SPDX-License-Identifier: Apache-2.0
"""Processes that end when whoever started them says so, with all that they have started themselves."""

import os
import signal
import subprocess

from daemon import die_with_the_tester


class Children:
    """Each is the first of a process group of its own, which ends with it."""

    def __init__(self):
        self.processes = []

    def run(self, *command, **options):
        options = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, **options}
        process = subprocess.Popen([*map(str, command)], start_new_session=True,
                                   preexec_fn=die_with_the_tester, **options)
        self.processes.append(process)
        return process

    def kill(self):
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def end(self):
        """Kills those that still run, and waits for them."""
        self.kill()
        for process in self.processes:
            process.wait()
            for stream in (process.stdin, process.stdout):
                if stream:
                    stream.close()
        self.processes.clear()
