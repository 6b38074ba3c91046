# SPDX-License-Identifier: Apache-2.0
"""The pages over what a daemon said of a real incident (tests/page/record), in headless Chromium: who sees them for the
first time names unit, kind and culprit.

Usage: recorded_test.py ASSETS [unittest options]
"""
import struct
import sys
import unittest

import browser
import recording
import server

CHAIN = (("web", "answer", "orders-api"), ("orders-api", "answer", "ledger"), ("ledger", "lock", "nightly-report"))


class Recorded(unittest.TestCase):
    def open(self, query=""):
        page = recording.opened(CHROMIUM, SERVER.address, query)
        self.addCleanup(page.close)
        self.addCleanup(lambda: self.assertEqual(page.problems(), []))
        return page

    def test_the_first_screen_names_units_kinds_and_who_is_to_blame(self):
        page = self.open()
        verdict = page.value("document.getElementById('verdict').innerText")
        for word in ("web", "6.0 threads wait for an answer", "ledger", "lock on a file", "nightly-report", "since"):
            self.assertIn(word, verdict)
        for unit, kind, culprit in CHAIN:
            row = f"document.querySelector('tr.trouble[data-unit=\"{unit}.service\"]')"
            self.assertEqual(page.value(f"{row}.querySelector('.c-on').innerText.trim()"), culprit, unit)
            self.assertTrue(page.value(f"{row}.querySelector('.c-on .kind').classList.contains('{kind}')"), unit)
            self.assertRegex(page.value(f"{row}.querySelector('.c-stuck').innerText"), r"^6, 1 min \d+ s$")
            self.assertLess(page.value(f"{row}.getBoundingClientRect().bottom"), recording.HEIGHT)
        names = page.value("[...document.querySelectorAll('#unit .chain .name')].map(each => each.innerText)")
        self.assertEqual([name.split()[0] for name in names[:4]],
                         ["web.service", "orders-api", "ledger", "nightly-report"])

    def test_a_hang_climbs_and_lasts(self):
        page = self.open()
        self.assertIn("Now 6 waits last for an answer",
                      page.value("document.querySelector('#unit').innerText"))

    def test_who_waits_for_whom(self):
        page = self.open("?view=graph")
        self.assertTrue(page.value("document.querySelector('#graph [data-name=\"nightly-report.service\"].cause')"
                                   " !== null"))
        self.assertEqual(page.value("document.querySelectorAll('#graph .cause').length"), 1)

    def test_the_units_are_one_click_away(self):
        page = self.open()
        page.value("document.querySelector('tr[data-unit=\"ledger.service\"] td').click()")
        page.wait("document.querySelector('#unit .chain')?.innerText.includes('nightly-report') && "
                  "document.getElementById('unit-title').innerText === 'ledger.service'")

    def test_the_panel_says_in_which_functions(self):
        page = self.open("?unit=ledger.service")
        stack = page.value("document.querySelector('#unit .stacks summary').innerText.split('\\n')")
        self.assertEqual(stack[:3], ["lock: file-lock", "100 %", "6 min 1 s"])
        self.assertTrue(stack[3].startswith("flock < fcntl_flock < answer.<locals>.reply (<string>) < "), stack[3])

    def test_its_stacks_lead_to_the_lock(self):
        page = self.open()
        stacks = page.value("document.querySelector('#range-flame').href.split('/').at(-1)")
        page = self.open(stacks)
        names = page.value("[...document.querySelectorAll('#chart g.frame')].map(each => each.getAttribute('name'))")
        self.assertIn("flock", names)
        self.assertIn("recv", names)

    def test_the_pictures_of_the_documents_are_the_same_each_time(self):
        first, second = (recording.pictures(CHROMIUM, SERVER) for _ in range(2))
        for name, picture in first.items():
            self.assertEqual(struct.unpack(">2I", picture[16:24]), (recording.WIDTH, recording.HEIGHT))
            self.assertGreater(len(picture), 50_000, "it is not empty")
            self.assertEqual(picture, second[name], name)


if __name__ == "__main__":
    with browser.opened() as CHROMIUM:
        SERVER = server.Server(sys.argv[1])
        SERVER.recording = recording.Recording.of(recording.FILE)
        browser.run_tests(sys.argv[2:])
