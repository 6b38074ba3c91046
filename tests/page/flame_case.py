# SPDX-License-Identifier: Apache-2.0
"""What tests of the page `/flame` do with it: look at its frames, use its controls."""
import unittest

import fixture

FRAMES = """[...document.querySelectorAll('#chart g.frame')].map(g => ({
  name: g.getAttribute('name'), width: +g.getAttribute('width'),
  fill: g.querySelector('rect').getAttribute('fill'), label: g.querySelector('div').textContent,
  left: g.getBoundingClientRect().x, top: g.getBoundingClientRect().y}))"""
READY = """document.querySelector('#chart')?.hasAttribute('aria-busy') === false &&
  (document.querySelector('#chart svg') || document.querySelector('#message').textContent) !== ''"""


def busy(row):
    """Whether a row is shown where idle waits are hidden."""
    is_idle_worker = row["reason"] == "kernel" and row["kernel_thread"]
    return {"work": False, "timer": False, "answer": row["reason"] != "child",
            "unknown": row["reason"] not in fixture.IDLE and not is_idle_worker}.get(row["for"], True)


def hue(fill):
    return int(fill.removeprefix("hsl(").split()[0])


class FlameCase(unittest.TestCase):
    server = chromium = None  # of all tests of the program
    expected = []  # what the console has and is no defect

    def setUp(self):
        self.server.mode = "plain"
        self.server.refused = set()
        self.server.requests.clear()
        self.page = None

    def tearDown(self):
        if self.page:
            problems = self.page.problems()
            self.page.close()
            self.assertEqual(problems, self.expected)

    def open(self, mode="plain", url=None, query=""):
        self.server.mode = mode
        self.page = self.chromium.open(url or f"http://{self.server.address}/flame{query}")
        self.page.wait(READY)

    def frames(self):
        return self.page.value(FRAMES)

    def frame(self, name, which=0):
        return [frame for frame in self.frames() if frame["name"] == name][which]

    def names(self):
        return {frame["name"] for frame in self.frames()}

    def totals(self):
        data = self.page.value("({...document.getElementById('totals').dataset})")
        return {name: int(value) for name, value in data.items()}

    def text(self, name):
        return self.page.value(f"document.getElementById('{name}').textContent")

    def set(self, name, value):
        """A control, as a person would: the page is told of it."""
        field = "checked" if isinstance(value, bool) else "value"
        literal = str(value).lower() if isinstance(value, bool) else repr(value)
        self.page.value(f"""(() => {{ const e = document.querySelector({name!r});
          e.{field} = {literal};
          e.dispatchEvent(new Event('input', {{bubbles: true}}));
          e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")
        self.page.wait(READY)

    def click(self, frame):
        self.page.value("window.scrollTo(0, 0)")
        self.page.value("document.querySelector('#chart').scrollIntoView()")
        now = self.frame(frame["name"])
        self.page.click(now["left"] + min(now["width"], 1000) / 2, now["top"] + 9)

    def press(self, *keys, **more):
        for key in keys:
            self.page.press(key, **more)

    def asked(self, path):
        return [query for asked, query in self.server.requests if asked == path]

    def parameter(self, name):
        return self.page.value(f"new URLSearchParams(location.search).get({name!r})")
