# SPDX-License-Identifier: Apache-2.0
"""What axe-core finds on the page `/` in headless Chromium, over canned answers: nothing.

Usage: OFFCPUD_AXE=axe.min.js overview_axe_test.py ASSETS [unittest options]; `npm pack axe-core` has that file.
"""
import os
import pathlib
import sys

import browser
import server
from overview_case import OverviewCase


class Axe(OverviewCase):
    def found(self):
        self.page.value(pathlib.Path(AXE).read_text() + "; 0")
        return self.page.value("""axe.run(document, {resultTypes: ['violations']}).then(({violations}) =>
          violations.map(({id, nodes}) => `${id}: ${nodes.map(node => node.html).join(' ')}`))""")

    def test_it_finds_nothing(self):
        for query in ("", "?view=graph", "?span=6h", "?unit=nginx.service&sort=usual",
                      "?span=6h&from=2026-11-20T11:00:00Z&to=2026-11-20T11:20:00Z"):
            for scheme in ("light", "dark"):
                with self.subTest(query=query, scheme=scheme):
                    self.open(query=query)
                    self.page.media(scheme)
                    self.page.value("document.querySelector('.heat-table').open = true")
                    self.page.value("new Promise(done => setTimeout(done, 500))")
                    self.assertEqual(self.found(), [])

    def test_it_finds_what_is_wrong(self):
        self.open()
        self.page.value("document.body.append(document.createElement('button')); 0")
        self.assertTrue(any(each.startswith("button-name") for each in self.found()))


if __name__ == "__main__":
    AXE = os.environ.get("OFFCPUD_AXE", "")
    if not os.path.exists(AXE):
        print("SKIP: OFFCPUD_AXE names no axe.min.js, which npm has as axe-core")
        sys.exit(77)
    with browser.opened() as OverviewCase.chromium:
        OverviewCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
