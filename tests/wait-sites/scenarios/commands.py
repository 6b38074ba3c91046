# SPDX-License-Identifier: Apache-2.0
"""Shells, pipelines, and commands that wait for each other."""

import os
import subprocess

from scenario import scenario


@scenario("shells", "bash", "dash")
def shells_before_a_sleep(stage):
    """Whoever waits for one that only sleeps waits for that time; who wants its output, for that or for
    something to come: not for an answer."""
    for shell in ("bash", "dash"):
        stage.start(f"timer-{shell}", shell, "-c", "sleep 600; true")
        stage.start(f"timer-loop-{shell}", shell, "-c", "while :; do sleep 0.5; done")
    for name, command in (("output", "sleep 600"), ("output-of-shell", "sleep 600; echo 1")):
        stage.start(name, "bash", "-c", f"x=$({command}); true", truth={"*:pipe": "idle", "*": "timer"})


@scenario("shells", "bash", "dash", "curl")
def shells_before_an_answer(stage):
    port = stage.silent_server()
    for shell in ("bash", "dash"):
        stage.start(f"answer-{shell}", shell, "-c", f"curl -s http://127.0.0.1:{port}/; true")
    stage.start("answer-output", "bash", "-c", f"x=$(curl -s http://127.0.0.1:{port}/); true")
    stage.start("answer-wait", "bash", "-c", f"curl -s http://127.0.0.1:{port}/ & wait")
    stage.start("answer-pipe", "bash", "-c", f"curl -s http://127.0.0.1:{port}/ | sort | cat; true")


@scenario("shells", "bash", "dash")
def shells_that_read(stage):
    """Nobody writes to the pipe that its reader's parent has."""
    for shell in ("bash", "dash"):
        stage.start(f"work-{shell}", shell, "-c", "while read -r line; do :; done", stdin=subprocess.PIPE)
    stage.start("work-cat", "cat", stdin=subprocess.PIPE)
    stage.start("work-fifo", "bash", "-c", "mkfifo fifo && exec 3<>fifo && read -r line <&3")


@scenario("pipelines", "bash", "sort", "xargs")
def pipelines_behind_a_sleep(stage):
    idle = {"bash": "idle", "sleep": "timer", "*": "work"}
    stage.start("pipe", "bash", "-c", "sleep 600 | sort | cat", truth=idle)
    stage.start("xargs", "bash", "-c", "echo 600 | xargs sleep", truth={"*": "timer"})
    stage.start("timeout", "timeout", "1000", "sleep", "600", truth={"sleep": "timer", "timeout": "idle"})


@scenario("flock", "flock")
def flock_of_commands(stage):
    held = stage.file("held", "")
    stage.start("timer-holder", "flock", held, "sleep", "600")
    stage.start("lock", "sh", "-c", f"sleep 0.5; exec flock {held} true")


@scenario("make", "make", rules=False)
def make_waits_for_commands(stage):
    stage.file("Makefile", "all: one two\none two:\n\tsleep 600\n")
    stage.start("timer", "make", "-j2")


@scenario("make", "make", "curl", rules=False)
def make_waits_for_a_server(stage):
    stage.file("Makefile", f"all: one two\none two:\n\tcurl -s http://127.0.0.1:{stage.silent_server()}/\n")
    stage.start("answer", "make", "-j2")


@scenario("git", "git", rules=False)
def git_asks_a_server(stage):
    env = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "HOME": str(stage.folder)}
    for role, protocol in (("answer", "git"), ("answer-http", "http")):
        address = f"{protocol}://127.0.0.1:{stage.silent_server()}/x.git"
        stage.start(role, "git", "clone", "-q", address, f"copy-{protocol}", env=env)
