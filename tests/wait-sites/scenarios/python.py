# SPDX-License-Identifier: Apache-2.0
"""CPython: one thread for each kind of wait, named after it."""

from scenario import DEBIAN_PYTHON, PROGRAMS, scenario


# Who holds some of its locks waits for a server.
ASK_INSIDE = {"lock-*:network": "answer", "lock-*:poll": "answer"}


@scenario("Python", DEBIAN_PYTHON)
def python_threads(stage):
    stage.start("threads", DEBIAN_PYTHON, PROGRAMS / "threads.py", stage.slow_server(0.2), truth=ASK_INSIDE)


@scenario("Python", DEBIAN_PYTHON)
def python_asyncio(stage):
    stage.start("work", DEBIAN_PYTHON, PROGRAMS / "loops.py", "serve", 0)
    stage.start("answer", DEBIAN_PYTHON, PROGRAMS / "loops.py", "ask", stage.slow_server())
    stage.start("timer", DEBIAN_PYTHON, PROGRAMS / "loops.py", "sleep", 0)


@scenario("Python", DEBIAN_PYTHON)
def python_pools_of_processes(stage):
    """Idle workers, and the one thread that waits for their results."""
    stage.start("pool", DEBIAN_PYTHON, PROGRAMS / "process_pool.py")


@scenario("Python: requests", DEBIAN_PYTHON)
def python_requests(stage):
    stage.start("answer", DEBIAN_PYTHON, "-c", "import requests\nwhile True: "
                f"requests.get('http://127.0.0.1:{stage.slow_server()}/')")
