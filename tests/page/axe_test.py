# SPDX-License-Identifier: Apache-2.0
"""What axe-core finds on the pages in headless Chromium, over canned answers: nothing.

Usage: OFFCPUD_AXE=axe.min.js axe_test.py ASSETS [unittest options]; `npm pack axe-core` has that file.
"""
import os
import pathlib
import sys

import browser
import server
from flame_case import FlameCase
from overview_case import OverviewCase

SETTLED = "new Promise(done => setTimeout(done, 500))"


class Axe:
    """For a case whose open() shows a page as self.page."""

    def found(self):
        self.page.value(pathlib.Path(AXE).read_text() + "; 0")
        return self.page.value("""axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
          violations.map(({id, nodes}) => `${id}: ${nodes.map(node => node.html).join(' ')}`))""")

    def expect_nothing(self, opened):
        """In both schemes, with the parts open that this CSS selector names."""
        for scheme in ("light", "dark"):
            self.page.media(scheme)
            self.page.value(f"document.querySelectorAll({opened!r}).forEach(part => part.open = true)")
            self.page.value(SETTLED)
            self.assertEqual(self.found(), [], scheme)

    def test_it_finds_what_is_wrong(self):
        self.open()
        self.page.value("document.body.append(document.createElement('button')); 0")
        self.assertTrue(any(each.startswith("button-name") for each in self.found()))


class Overview(Axe, OverviewCase):
    def test_it_finds_nothing(self):
        for mode, query in (("plain", ""), ("plain", "?view=graph"), ("plain", "?span=6h"),
                            ("plain", "?unit=nginx.service&sort=usual"), ("calm", ""), ("nostacks", ""),
                            ("plain", "?span=6h&from=2026-11-20T11:00:00Z&to=2026-11-20T11:20:00Z")):
            with self.subTest(mode=mode, query=query):
                self.open(mode, query)
                self.expect_nothing(".heat-table")

    def test_it_finds_nothing_while_the_pointer_reads_the_strip(self):
        self.open()
        box = self.box("#strip svg")
        self.page.hover(box["x"] + box["width"] / 2, box["y"] + 50)
        self.page.wait("!document.getElementById('tip').hidden")
        self.expect_nothing(".heat-table")

    def test_it_finds_nothing_in_the_list_of_keys(self):
        self.open()
        self.press("?")
        self.page.wait("document.getElementById('help').open")
        self.expect_nothing(".heat-table")


class Flame(Axe, FlameCase):
    def test_it_finds_nothing(self):
        compared = "?from=2026-11-20T12:03:00Z&to=2026-11-20T12:05:00Z&base_from=2026-11-20T12:00:00Z" \
                   "&base_to=2026-11-20T12:02:00Z"
        for mode, query in (("plain", ""), ("plain", compared), ("empty", ""), ("tails", "")):
            for menu in ("#range", "#base", "#controls details:first-of-type", "#controls details:last-of-type"):
                with self.subTest(mode=mode, query=query, menu=menu):
                    self.open(mode, query=query)
                    self.expect_nothing(menu)
                    self.page.close()
                    self.page = None

    def test_it_finds_nothing_beside_a_chosen_frame(self):
        self.open()
        self.page.value("document.getElementById('chart').focus()")
        self.press("ArrowDown", "ArrowDown", "ArrowDown", "Enter")
        self.page.wait("document.getElementById('selected').textContent")
        self.expect_nothing("#range")


if __name__ == "__main__":
    AXE = os.environ.get("OFFCPUD_AXE", "")
    if not os.path.exists(AXE):
        print("SKIP: OFFCPUD_AXE names no axe.min.js, which npm has as axe-core")
        sys.exit(77)
    with browser.opened() as CHROMIUM:
        OverviewCase.chromium = FlameCase.chromium = CHROMIUM
        OverviewCase.server, FlameCase.server = (server.Server(sys.argv[1]) for _ in range(2))
        browser.run_tests(sys.argv[2:])
