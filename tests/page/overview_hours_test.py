# SPDX-License-Identifier: Apache-2.0
"""The page `/` in headless Chromium: hours from snapshots in its strip of time, over canned answers.

Usage: overview_hours_test.py ASSETS [unittest options]
"""
import sys
import time

import browser
import hours_fixture as fixture
import server
from overview_case import OverviewCase

NOTE = "document.getElementById('strip-note').innerText"
LOCKED = "?span=6h&from=2026-11-20T11:00:00Z&to=2026-11-20T11:20:00Z"
LISTED = "/api/v1/snapshots"


class Hours(OverviewCase):
    def tearDown(self):
        self.assertEqual(self.page.problems(), [])

    def open_span(self, span, more=""):
        self.open(query=f"?span={span}{more}")
        self.page.wait(f"{NOTE} !== '' && !{NOTE}.includes('reading')")

    def gaps(self):
        return self.page.value("""[...document.querySelectorAll('#strip rect.gap')].map(
          gap => gap.getBoundingClientRect().width)""")

    def point_at(self, part):
        """At this part of the strip's width."""
        box = self.box("#strip svg")
        self.page.hover(box["x"] + 40 + (box["width"] - 40) * part, box["y"] + 60)
        self.page.wait("!document.getElementById('tip').hidden")
        return self.text("#tip")

    def test_an_hour_is_chosen_and_the_address_holds_it(self):
        self.open()
        self.assertEqual(self.asked(LISTED), [])
        self.assertEqual(self.texts("#spans button"), ["10 min", "1 h", "6 h", "24 h"])
        self.click("#spans [data-span='1h']")
        self.page.wait(f"{NOTE}.includes('damaged')")
        self.assertEqual(self.parameter("span"), "1h")
        self.assertEqual(self.page.value("""[...document.querySelectorAll('#spans button')].map(
          each => each.ariaPressed)"""), ["false", "true", "false", "false"])
        self.assertIn("over the last hour", self.page.value(
            "document.querySelector('#strip svg').getAttribute('aria-label')"))
        self.page.value("history.back()")
        self.page.wait("document.getElementById('strip-note').hidden")
        self.assertIsNone(self.parameter("span"))

    def test_steps_are_of_snapshots_and_the_last_minute_of_memory(self):
        self.open_span("1h")
        kinds = self.page.value("[...document.querySelectorAll('#strip .area')].map(each => each.classList[1])")
        self.assertEqual(kinds, ["lock", "answer", "storage"], "snapshots have no waits for a CPU")
        self.assertIn("in steps of 1 min, without waits for a CPU", self.page.value(NOTE))
        self.assertIn("11:40:00 to 11:41:00", self.point_at(0.51))
        self.assertIn("answer\n1.0", self.text("#tip"))
        self.assertIn("lock\n8.0", self.point_at(0.995))

    def test_what_is_empty_says_why(self):
        self.open_span("6h")
        note = self.page.value(NOTE)
        self.assertIn("Empty: 06:10:00 to 09:00:00: no snapshot is kept of this time; "
                      "10:30:00 to 10:45:00: no snapshot: the daemon did not run.", note)
        widths = self.gaps()
        self.assertEqual(len(widths), 2)
        self.assertAlmostEqual(widths[0] / widths[1], 170 / 15, delta=0.3)
        self.assertIn("no snapshot is kept of this time", self.point_at(0.2))
        self.open_span("1h")
        self.assertIn("Empty: 11:50:00 to 11:51:00: the snapshot's file is damaged.", self.page.value(NOTE))
        self.assertIn("damaged", self.point_at(0.675))

    def test_it_is_read_an_hour_at_a_time_and_once(self):
        self.open_span("6h")
        lengths = [fixture.minute_of(query["to"]) - fixture.minute_of(query["from"]) for query in self.asked(LISTED)]
        self.assertEqual(lengths, [60] * 6)
        self.assertEqual({query.get("by") for query in self.asked(LISTED)}, {"for"})
        SERVER.requests.clear()
        for _ in range(3):
            self.again()
            time.sleep(0.4)
        self.assertGreater(len(self.asked("/api/v1/units")), 2)
        self.assertEqual(self.asked(LISTED), [], "what is known is not asked again")

    def test_a_day_is_kept_where_it_is_kept(self):
        self.open_span("24h")
        self.assertIn("2026-11-19 12:15:00 to 09:00:00: no snapshot is kept of this time", self.page.value(NOTE))
        self.assertEqual(len(self.asked(LISTED)), 24)

    def test_while_it_is_read_it_says_so(self):
        SERVER.hold.clear()
        self.addCleanup(SERVER.hold.set)
        self.open(query="?span=1h", ready=f"{NOTE}.includes('reading snapshots')")
        self.assertEqual(len(self.gaps()), 1)
        SERVER.hold.set()
        self.page.wait(f"{NOTE}.includes('damaged') && !{NOTE}.includes('reading')")

    def test_a_key_goes_from_span_to_span(self):
        self.open()
        for span in ("1h", "6h", "24h", None):
            self.press("t")
            self.assertEqual(self.parameter("span"), span)

    def test_keys_move_a_range_by_whole_steps(self):
        self.open_span("6h")
        self.press("ArrowLeft")
        self.page.wait("document.getElementById('range-text').innerText === '12:00:00 to 12:05:00, 5 min'")
        self.press("ArrowLeft", modifiers=8)
        self.press("ArrowLeft")
        self.page.wait("document.getElementById('range-text').innerText === '11:55:00 to 12:00:00, 5 min'")

    def test_an_old_range_is_dragged(self):
        self.open_span("6h")
        box = self.box("#strip svg")
        def mouse(kind, step, **more):
            self.page.call("Input.dispatchMouseEvent", type=kind, x=box["x"] + 40 + (box["width"] - 40) * step / 72,
                           y=box["y"] + 60, button="left", clickCount=1, **more)
        mouse("mousePressed", 58.2)
        mouse("mouseMoved", 60.5, buttons=1)
        mouse("mouseMoved", 61.7, buttons=1)
        self.assertEqual(self.texts("#legend > span"), ["lock 1.5", "answer 1.0"])
        mouse("mouseReleased", 61.7)
        self.page.wait("document.querySelector('#verdict .first')?.innerText.startsWith('2.6 threads')")
        self.assertEqual((self.parameter("from"), self.parameter("to")),
                         ("2026-11-20T11:00:00Z", "2026-11-20T11:20:00Z"))
        self.assertIn("from=2026-11-20T11:00:00.000Z&to=2026-11-20T11:20:00.000Z",
                      self.page.value("document.getElementById('range-flame').href"))

    def test_an_old_range_is_of_whole_snapshots_and_says_so(self):
        self.open(query=LOCKED, ready="document.querySelector('#verdict .first')?.innerText.includes('threads')")
        self.assertEqual(self.text("#verdict .first"), "2.6 threads waited for something at any time.")
        self.assertEqual(self.text("#verdict .second"),
                         "The numbers are of whole snapshots, 11:00:00 to 11:20:00: 20 snapshots. "
                         "The smallest 7 waits are left out.")
        self.assertEqual(self.text("#range-text"), "11:00:00 to 11:20:00, 20 min")
        self.assertEqual(self.row("postgresql"), ["postgresql", "1.6", "", "", "", "", "", "lock", ""])
        self.assertEqual(self.names(), ["postgresql", "orders-api"])
        self.assertIn("30 threads wait for work", self.text("#list-idle"))
        self.page.wait("document.querySelector('#unit').innerText.includes('Who was to blame is known of the last')")
        self.assertIn("postgresql-heavyweight-lock", self.text("#unit section:nth-of-type(3)"))
        self.assertIn("not how long each wait was: of a time before the last 10 minutes there is no such picture.",
                      self.text("#unit"))
        self.assertFalse(self.page.value("document.querySelector('#unit .heat-map').checkVisibility()"))
        self.assertEqual(len(self.asked("/api/v1/changes")), 1)
        asked = self.asked("/api/v1/changes")[0]
        self.assertEqual((asked["base_from"], asked["base_to"]), (fixture.text_of(660), fixture.text_of(661)),
                         "one snapshot is enough for what nobody looks at")

    def test_back_at_now_there_are_lengths_again(self):
        self.open(query=LOCKED + "&unit=postgresql.service",
                  ready="document.querySelector('#unit').innerText.includes('no such picture')")
        self.press("n")
        self.page.wait("document.querySelector('#unit .heat-map').checkVisibility()")

    def test_who_waited_for_whom_in_an_old_range_is_not_known(self):
        self.open(query=LOCKED + "&view=graph", ready="document.querySelector('#list').innerText.includes('blame')")
        self.assertIn("Who was to blame is known of the last ten minutes alone", self.text("#list"))
        self.assertEqual(self.count("#graph .node"), 0)

    def test_what_an_old_range_lacks_is_said(self):
        self.open(query="?from=2026-11-20T10:20:00Z&to=2026-11-20T10:50:00Z",
                  ready="document.querySelector('#verdict .first')?.innerText.includes('threads')")
        told = self.text("#verdict .second")
        self.assertIn("Of 15 min of it there is none.", told)
        self.assertIn("Waits for a CPU are known of the last hour alone.", told)
        self.assertIn("beyond this strip", self.text("#range-text"))

    def test_sites_of_an_old_range_are_details(self):
        SERVER.details = False
        self.open(query=LOCKED, ready="document.querySelector('#verdict .first')?.innerText.includes('threads')")
        self.assertIn("This client may not see where threads wait.", self.text("#unit section:nth-of-type(3)"))

    def test_where_no_snapshot_is_nothing_is_known(self):
        self.open(query="?span=24h&from=2026-11-20T05:00:00Z&to=2026-11-20T06:00:00Z",
                  ready="document.querySelector('#verdict .first')?.innerText.startsWith('Nothing')")
        self.assertEqual(self.text("#verdict"), "Nothing is known of this time.\n\nno snapshot is kept of this time")
        self.press("n")
        self.page.wait("document.getElementById('state').innerText.startsWith('live')")
        self.assertEqual(self.names()[0], "postgresql")

    def test_a_range_that_memory_has_is_of_memory(self):
        self.open_span("6h", "&from=2026-11-20T12:05:00Z&to=2026-11-20T12:10:00Z")
        self.assertIn(("300s", "2026-11-20T12:10:00.000Z"),
                      [(query.get("window"), query.get("to")) for query in self.asked("/api/v1/units")])
        self.assertEqual(self.asked("/api/v1/changes"), [])

    def test_it_fits_a_narrow_screen(self):
        self.open_span("6h")
        for width in (700, 360):
            self.size(width)
            self.assertLessEqual(self.page.value("document.documentElement.scrollWidth"), width)


class Refused(OverviewCase):
    """The console has what was refused; that is no defect here."""

    def test_who_may_not_see_snapshots_is_told_and_the_rest_works(self):
        SERVER.refused = {LISTED}
        self.open(query="?span=6h")
        self.page.wait(f"{NOTE}.startsWith('The hours are not told: this needs a password')")
        self.assertEqual(self.count("#strip .area"), 0)
        self.assertEqual(self.names()[0], "postgresql")
        for _ in range(3):
            self.again()
            time.sleep(0.4)
        self.assertEqual(len(self.asked(LISTED)), 1)
        self.click("#spans [data-span='']")
        self.page.wait("document.querySelectorAll('#strip .area').length > 0")

    def test_without_snapshots_it_says_how_to_have_them(self):
        SERVER.hours = False
        self.open("off", "?span=1h")
        self.page.wait(f"{NOTE}.includes('stacks are not sampled; set snapshots.enabled to true')")


if __name__ == "__main__":
    with browser.opened() as OverviewCase.chromium:
        SERVER = OverviewCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
