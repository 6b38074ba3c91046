# SPDX-License-Identifier: Apache-2.0
"""Programs of Python that wait at known places, for python_names_test.py.

`places`: a thread waits in each of some functions for SECONDS, has the name of the place, and is written to the
output, as JSON, with its frames by its own account: [function, file, line], innermost first.
`rounds`: one thread waits at one place again and again, for PAUSE each time.
`made`: one thread makes a function of another name each time, waits in it for PAUSE, and drops it.
`lock`: a thread holds a lock, and another one waits for it.
Runs with any Python 3.8 or newer."""

import functools
import json
import sys
import threading
import time

SECONDS = 3600
told = {}
changes = threading.Condition()


def name_thread(name):
    with open("/proc/self/task/%d/comm" % threading.get_native_id(), "w") as comm:
        comm.write(name)


def tell(place, further=0):
    """That the calling function waits at `place` from now on, so many lines further than it is now."""
    name_thread(place)
    frame, frames = sys._getframe(1), []
    while frame:
        code = frame.f_code
        function = getattr(code, "co_qualname", code.co_name)
        frames.append([function, code.co_filename, frame.f_lineno + further])
        further = 0
        frame = frame.f_back
    with changes:
        told[place] = frames
        changes.notify_all()


class Thing:
    def recurse(self, depth, place):
        if depth:
            return self.recurse(depth - 1, place)
        tell(place); time.sleep(SECONDS)

    def __lt__(self, other):
        self.recurse(4, "sort")


def in_a_method():
    Thing().recurse(60, "method")


def in_a_sort():
    sorted([Thing(), Thing()])


def in_a_generator():
    def inner(depth):
        if depth:
            yield from inner(depth - 1)
        else:
            tell("generator"); time.sleep(SECONDS)
        yield 1
    list(map(lambda each: each, inner(3)))


def in_a_comprehension():
    return [(tell("comprehension"), time.sleep(SECONDS)) for _ in range(1)]


def in_naïve_été():
    for _ in (1,
              2):

        # a comment in between
        tell(
            "letters", 2)
        time.sleep(
            SECONDS)


def in_code_from_a_text():
    text = "\n\ndef made():\n    tell('text'); time.sleep(SECONDS)\n\nmade()"
    exec(compile(text, "<made>", "exec"), globals())


def in_a_callback():
    functools.reduce(lambda one, other: (tell("callback"), time.sleep(SECONDS)), [1, 2])


async def await_something():
    tell("coroutine"); time.sleep(SECONDS)


async def await_more():
    await await_something()


def in_a_coroutine():
    import asyncio
    asyncio.run(await_more())


def in_a_far_line():
    place = "far"
    exec(compile("\n" * 700 + "def far():\n" + "\n" * 300 + "  tell(place); time.sleep(SECONDS)\nfar()",
                 "/srv/shop/far.py", "exec"), {**globals(), "place": place})


def in_a_finally():
    try:
        raise ValueError
    except ValueError:
        with threading.Lock():
            tell("finally"); time.sleep(SECONDS)


PLACES = (in_a_method, in_a_sort, in_a_generator, in_a_comprehension, in_naïve_été, in_code_from_a_text,
          in_a_callback, in_a_coroutine, in_a_far_line, in_a_finally)


def places():
    for place in PLACES:
        threading.Thread(target=place, daemon=True).start()
    with changes:
        changes.wait_for(lambda: len(told) == len(PLACES), 60)
    tell("main", 2)
    print(json.dumps(told), flush=True)
    time.sleep(SECONDS)


def wait_a_round(pause):
    time.sleep(pause)


def rounds(pause):
    name_thread("rounds")
    print("waiting", flush=True)
    while True:
        wait_a_round(pause)


def made(pause):
    name_thread("made")
    print("waiting", flush=True)
    number = 0
    while True:
        own = {"time": time, "pause": pause}
        exec("def made_%d():\n  time.sleep(pause)" % number, own)
        own["made_%d" % number]()
        number = (number + 1) % 90
        del own


def lock():
    held = threading.Lock()

    def wait_for_the_lock():
        name_thread("lock-waiter")
        with held:
            pass

    with held:
        threading.Thread(target=wait_for_the_lock, daemon=True).start()
        print("waiting", flush=True)
        time.sleep(SECONDS)


if __name__ == "__main__":
    what, *arguments = sys.argv[1:]
    globals()[what](*map(float, arguments))
