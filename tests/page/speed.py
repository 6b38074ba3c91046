# SPDX-License-Identifier: Apache-2.0
"""How fast the page `/` is with many units: a measurement, over canned answers. Fails beyond the bounds.

Usage: speed.py ASSETS; configuring makes them: build-test/plain/daemon/page/assets.
"""
import os
import pathlib
import sys
import time

import browser
import server
from overview_case import READY

UPDATES = 5
MOVES = 120  # of the pointer while it drags a range, 60 a second
SIZES = ((60, ""), (1000, ""), (1000, "?all=true"))
FIRST_PAINT = 1000  # milliseconds at most
UPDATE = 50  # milliseconds at most
FRAMES = 50  # a second at least: of 60, and other work of the host takes some
TICKS = os.sysconf("SC_CLK_TCK")
COUNT_FRAMES = """(() => { window.frames_ = []; const count = (at) => { window.frames_.push(at);
  if (window.frames_.length < 100000) requestAnimationFrame(count); }; requestAnimationFrame(count); })()"""


def busy_seconds(page):
    """Of the page's main thread so far: scripts, styles and layout."""
    metrics = {each["name"]: each["value"] for each in page.call("Performance.getMetrics")["metrics"]}
    return sum(metrics[name] for name in ("ScriptDuration", "RecalcStyleDuration", "LayoutDuration"))


def cpu_seconds(pid):
    """Of a process and of all that it started, so far."""
    seconds, parents = {}, {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            number, _, rest = stat.read_text().partition(" (")
        except OSError:
            continue  # it has ended
        fields = rest.rpartition(") ")[2].split()
        parents[int(number)], seconds[int(number)] = int(fields[1]), (int(fields[11]) + int(fields[12])) / TICKS

    def is_of(one):
        return one == pid or (one in parents and is_of(parents[one]))

    return sum(taken for one, taken in seconds.items() if is_of(one))


def update_seconds(page):
    """Of one answer of the daemon, with what is drawn of it."""
    before = busy_seconds(page)
    for _ in range(UPDATES):
        page.value("document.dispatchEvent(new Event('visibilitychange'))")
        time.sleep(1)
    return (busy_seconds(page) - before) / UPDATES


def brushing(page):
    """While a range is dragged: frames a second, the longest time between two, and the CPU time of one."""
    box = page.value("""(() => { const {x, y, width, height} =
      document.querySelector('#strip svg').getBoundingClientRect(); return [x, y, width, height]; })()""")
    left, top, width, height = box
    middle = top + height / 2
    page.value(COUNT_FRAMES)

    def mouse(kind, part):
        x = left + 60 + (width - 120) * part
        page.call("Input.dispatchMouseEvent", type=kind, x=x, y=middle, button="left", buttons=1, clickCount=1)

    mouse("mousePressed", 0)
    before = cpu_seconds(page.browser.process.pid)
    first = page.value("performance.now()")
    for i in range(MOVES):
        mouse("mouseMoved", i / MOVES)
        time.sleep(1 / 60)
    last = page.value("performance.now()")
    taken = cpu_seconds(page.browser.process.pid) - before
    mouse("mouseReleased", 1)
    frames = [at for at in page.value("window.frames_") if first <= at <= last]
    gaps = [b - a for a, b in zip(frames, frames[1:])]
    return 1000 * len(frames) / (last - first), max(gaps), taken / len(frames)


def measure(chromium, address, name, query):
    """Of the page of a daemon, or of one that stands in for it: whether all is within the bounds."""
    page = chromium.open(f"http://{address}/{query}")
    try:
        page.call("Performance.enable")
        page.call("Emulation.setDeviceMetricsOverride", width=1400, height=900, deviceScaleFactor=1,
                  mobile=False)
        page.wait(READY)
        paint = page.value("performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN")
        rows = page.value("document.querySelectorAll('#units tbody tr').length")
        update = 1000 * update_seconds(page)
        frames, longest, cpu = brushing(page)
        print(f"{name}{query and ' with ' + query}, {rows} rows: first paint after {paint:.0f} ms, "
              f"an update takes {update:.0f} ms, {frames:.0f} frames a second while a range is dragged, "
              f"the longest after {longest:.0f} ms, each takes {1000 * cpu:.1f} ms of all CPUs", flush=True)
        return paint < FIRST_PAINT and update < UPDATE and frames >= FRAMES
    finally:
        page.close()


def main():
    served = server.Server(sys.argv[1])
    served.mode = "many"
    are_fast = []
    with browser.opened() as chromium:
        for units, query in SIZES:
            served.many = units
            are_fast.append(measure(chromium, served.address, f"{units} units", query))
    sys.exit(0 if all(are_fast) else 1)


if __name__ == "__main__":
    main()
