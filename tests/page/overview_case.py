# SPDX-License-Identifier: Apache-2.0
"""What tests of the page `/` do with it: look at its parts, click, press keys."""
import unittest

READY = "!document.getElementById('units').hidden || document.querySelector('#graph svg, #graph p')"
TOLD = f"({READY}) && document.querySelector('#unit .chain, #unit p')?.textContent !== 'Asking the daemon…'"
CELLS = """[...document.querySelectorAll('#units tbody tr')].map(row => [...row.cells].filter(
  cell => getComputedStyle(cell).display !== 'none').map(cell => cell.innerText))"""


class OverviewCase(unittest.TestCase):
    server = chromium = None  # of all tests of the program

    def setUp(self):
        self.server.mode, self.server.refused, self.server.details = "plain", set(), True
        self.server.uptime, self.server.revision, self.server.before = 3600.0, "0123456789ab", 3600.0
        self.server.hours, self.server.window, self.server.lost = True, None, 0.0
        self.server.requests.clear()

    def open(self, mode="plain", query="", ready=TOLD):
        self.server.mode = mode
        self.page = self.chromium.open(f"http://{self.server.address}/{query}")
        self.addCleanup(self.page.close)
        self.size(1400)
        self.page.wait(ready)

    def size(self, width, height=900):
        self.page.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                       mobile=False)
        self.page.wait(f"innerWidth === {width}")

    def again(self):
        """The next answers, without waiting for them as long as a person would."""
        self.page.value("document.dispatchEvent(new Event('visibilitychange'))")

    def rows(self):
        return self.page.value(CELLS)

    def names(self):
        return [row[0].split("\n")[0] for row in self.rows()]

    def row(self, name):
        return next(row for row in self.rows() if row[0].split("\n")[0] == name)

    def text(self, selector):
        return self.page.value(f"document.querySelector({selector!r}).innerText")

    def texts(self, selector):
        return self.page.value(f"[...document.querySelectorAll({selector!r})].map(each => each.innerText)")

    def count(self, selector):
        return self.page.value(f"document.querySelectorAll({selector!r}).length")

    def click(self, selector):
        self.page.value(f"document.querySelector({selector!r}).click()")

    def press(self, *keys, **more):
        for key in keys:
            self.page.press(key, **more)

    def parameter(self, name):
        return self.page.value(f"new URLSearchParams(location.search).get({name!r})")

    def chosen(self):
        return self.page.value("document.getElementById('unit-title').innerText")

    def asked(self, path):
        return [query for asked, query in self.server.requests if asked == path]

    def box(self, selector):
        return self.page.value(f"""(() => {{ const {{x, y, width, height}} =
          document.querySelector({selector!r}).getBoundingClientRect(); return {{x, y, width, height}}; }})()""")
