# SPDX-License-Identifier: Apache-2.0
"""The strip of time of the page `/flame`: range and baseline are chosen in it. Snapshots are of the minutes
from 12:00 to 12:06, the strip has the ten minutes from 12:00.

Usage: flame_strip_test.py ASSETS [unittest options]
"""
import sys

import browser
import fixture
import server
from flame_case import FlameCase, READY, busy

LEFT = 40  # pixels of the scale
SHIFT = 8
BRUSH = """(name => { const box = document.querySelector('#strip svg').getBoundingClientRect();
  const band = document.querySelector(`#strip .${name} .band`)?.getBoundingClientRect();
  return band && [band.left - box.left, band.right - box.left, box.width]; })"""


class StripCase(FlameCase):
    def open(self, mode="plain", query="", **more):
        super().open(mode, query=query, **more)
        self.page.wait("document.querySelector('#strip .brush')")

    def box(self):
        return self.page.value("""(() => { const {x, y, width, height} =
          document.querySelector('#strip svg').getBoundingClientRect(); return {x, y, width, height}; })()""")

    def mouse(self, kind, minute, **more):
        box = self.box()
        self.page.call("Input.dispatchMouseEvent", type=kind, x=box["x"] + LEFT + (box["width"] - LEFT) * minute / 10,
                       y=box["y"] + 50, button="left", clickCount=1, **more)

    def drag(self, first, last, **more):
        """In minutes after 12:00."""
        self.mouse("mousePressed", first, **more)
        self.mouse("mouseMoved", (first + last) / 2, buttons=1, **more)
        self.mouse("mouseMoved", last, buttons=1, **more)
        self.mouse("mouseReleased", last, **more)
        self.page.wait(READY)

    def brush(self, name):
        """From which minute to which it is, as drawn; None: it is not."""
        edges = self.page.value(f"{BRUSH}({name!r})")
        if edges is None:
            return None
        first, last, width = edges
        return tuple(round(10 * (x - LEFT) / (width - LEFT), 1) for x in (first, last))

    def sliders(self, name):
        return [int(self.page.value(f"document.querySelector('#{name} [data-end={end}]').value"))
                for end in ("first", "last")]

    def note(self):
        return self.page.value("(note => note.hidden ? '' : note.innerText)(document.getElementById('time-note'))")

    def legend(self):
        return self.page.value("[...document.querySelectorAll('#waits > span')].map(each => each.innerText.trim())")

    def minutes(self):
        """Of which the sums are."""
        for first in range(6):
            for last in range(first, 6):
                if self.totals()["allNs"] == fixture.total(fixture.answer(range(first, last + 1))):
                    return list(range(first, last + 1))
        return None


class Strip(StripCase):
    def test_shows_ten_minutes_by_what_is_waited_for(self):
        self.open()
        self.assertEqual(self.page.value("""[...document.querySelectorAll('#strip .area')].map(
          each => each.classList[1])"""), ["lock", "answer", "storage"], "waits for a CPU have no stacks")
        self.assertEqual(self.brush("range"), (0, 6))
        self.assertIsNone(self.brush("base"))
        self.assertEqual([each.split()[0] for each in self.legend()], ["answer", "storage", "lock"])
        self.assertEqual(self.note(), "", "the first 30 s are unknown, which is little of the range")
        box = self.box()
        self.page.hover(box["x"] + LEFT + (box["width"] - LEFT) * 0.55, box["y"] + 50)
        self.page.wait("!document.getElementById('tooltip').hidden")
        self.assertIn("12:05:30 to 12:05:40", self.page.value("document.getElementById('tooltip').innerText"))

    def test_a_range_is_dragged_in_whole_snapshots(self):
        self.open()
        self.drag(1.2, 2.7)
        self.assertEqual((self.brush("range"), self.sliders("range"), self.minutes()), ((1, 3), [1, 2], [1, 2]))
        self.assertIn("12:01:00 to 12:03:00 UTC, 2 min", self.text("range-text"))
        self.assertEqual((self.parameter("from"), self.parameter("to")),
                         ("2026-11-20T12:01:00Z", "2026-11-20T12:03:00Z"))
        self.drag(5.5, 9.9)
        self.assertEqual((self.brush("range"), self.minutes()), ((5, 6), [5]), "later there are no stacks yet")
        self.drag(4.9, 3.1)
        self.assertEqual(self.minutes(), [3, 4], "from right to left")

    def test_the_range_follows_the_pointer_but_is_fetched_once(self):
        self.open()
        self.server.requests.clear()
        self.mouse("mousePressed", 1.2)
        self.mouse("mouseMoved", 3.5, buttons=1)
        self.assertEqual((self.brush("range"), self.sliders("range")), ((1, 4), [1, 3]))
        self.assertIn("12:01:00 to 12:04:00", self.text("range-text"))
        self.assertEqual(self.server.requests, [])
        self.mouse("mouseReleased", 3.5)
        self.page.wait(READY)
        self.assertEqual(len(self.server.requests), 1)

    def test_a_drag_that_is_taken_away_changes_nothing(self):
        self.open()
        self.mouse("mousePressed", 1.2)
        self.mouse("mouseMoved", 3.5, buttons=1)
        self.page.value("document.querySelector('#strip svg').dispatchEvent(new PointerEvent('pointercancel'))")
        self.assertEqual((self.brush("range"), self.sliders("range")), ((0, 6), [0, 5]))
        self.mouse("mouseReleased", 3.5)
        self.assertEqual(self.minutes(), list(range(6)))

    def test_a_click_takes_one_snapshot_and_an_edge_is_moved_alone(self):
        self.open()
        self.mouse("mousePressed", 4.5)
        self.mouse("mouseReleased", 4.5)
        self.page.wait(READY)
        self.assertEqual(self.minutes(), [4])
        self.drag(4, 2.3)
        self.assertEqual(self.minutes(), [2, 3, 4])
        self.drag(5, 4.2)
        self.assertEqual(self.minutes(), [2, 3, 4])
        self.drag(5, 3.8)
        self.assertEqual(self.minutes(), [2, 3])

    def test_shift_and_drag_chooses_the_baseline(self):
        self.open()
        self.drag(4.2, 5.8)
        self.drag(1.3, 2.2, modifiers=SHIFT)
        self.assertTrue(self.page.value("document.getElementById('compare').checked"))
        self.assertEqual((self.brush("range"), self.brush("base"), self.sliders("base")), ((4, 6), (1, 3), [1, 2]))
        data = fixture.answer([4, 5], [1, 2])
        self.assertEqual(self.totals()["beforeNs"], fixture.total(data, "before_ns", busy))
        self.assertEqual(self.totals()["shownNs"], fixture.total(data, keep=busy))
        self.assertEqual(self.asked("/api/v1/snapshots/difference")[-1]["normalize"], "true")
        self.assertIn("12:01:00 to 12:03:00, 2 min", self.text("base-text"))
        self.assertRegex(self.legend()[0], r"^answer [\d.]+ → [\d.]+$")
        self.drag(4.5, 4.6)
        self.assertEqual((self.brush("range"), self.brush("base")), ((4, 5), (1, 3)), "it stays where it was put")

    def test_a_baseline_that_nobody_chose_lies_before_the_range(self):
        self.open()
        self.drag(4.2, 5.8)
        self.set("#compare", True)
        self.assertEqual(self.brush("base"), (2, 4))
        self.drag(3.3, 3.8)
        self.assertEqual((self.brush("range"), self.brush("base")), ((3, 4), (2, 3)))
        self.set("#compare", False)
        self.assertIsNone(self.brush("base"))

    def test_keys_move_the_range_and_the_baseline(self):
        self.open()
        self.drag(3.2, 4.8)
        self.page.value("document.querySelector('#strip svg').focus()")
        self.press("ArrowRight")
        self.page.wait(READY)
        self.assertEqual(self.minutes(), [4, 5])
        self.press("ArrowRight")
        self.assertEqual(self.brush("range"), (4, 6), "no snapshot is later")
        self.press("ArrowLeft", modifiers=SHIFT)
        self.page.wait(READY)
        self.assertEqual(self.minutes(), [4])
        self.set("#compare", True)
        self.page.value("document.querySelector('[name=brush][value=base]').click()")
        self.page.value("document.querySelector('#strip svg').focus()")
        self.press("ArrowLeft")
        self.press("ArrowRight", modifiers=SHIFT)
        self.page.wait(READY)
        self.assertEqual((self.brush("range"), self.brush("base")), ((4, 5), (2, 4)))
        self.drag(0.2, 0.8)
        self.assertEqual((self.brush("range"), self.brush("base")), ((4, 5), (0, 1)), "and the pointer drags it")

    def test_the_strip_follows_sliders_and_buttons(self):
        self.open()
        self.page.value("""(slider => { slider.value = 3; slider.dispatchEvent(new Event('input')); })(
          document.querySelector('#range [data-end=first]'))""")
        self.assertEqual(self.brush("range"), (3, 6), "while it moves")
        self.assertEqual(self.minutes(), list(range(6)))
        self.set("#range [data-end=first]", "4")
        self.assertEqual(self.brush("range"), (4, 6))
        self.set("#compare", True)
        self.set("#base [data-end=first]", "0")
        self.assertEqual(self.brush("base"), (0, 4))
        self.page.value("document.querySelector('[data-minutes=Infinity]').click()")
        self.page.wait(READY)
        self.assertEqual(self.brush("range"), (0, 6))

    def test_ranges_that_overlap_say_so(self):
        self.open()
        self.drag(3.2, 5.8)
        self.drag(1.3, 4.8, modifiers=SHIFT)
        self.assertRegex(self.note(), r"overlap from .*12:03:00 to 12:05:00: .*changes look smaller")
        self.drag(1.2, 2.8, modifiers=SHIFT)
        self.assertEqual(self.note(), "")

    def test_ranges_that_were_rounded_say_so(self):
        self.open(query="?from=2026-11-20T12:02:30Z&to=2026-11-20T12:03:30Z&base_from=2026-11-20T12:00:10Z"
                        "&base_to=2026-11-20T12:01:00Z")
        self.assertEqual((self.brush("range"), self.brush("base")), ((2, 4), (0, 1)))
        self.assertRegex(self.note(), r"The range asked for is .*12:02:30 to 12:03:30; in whole snapshots that are "
                                      r"kept, it is .*12:02:00 to 12:04:00\. The baseline asked for is .*12:00:10 to "
                                      r"12:01:00;")
        self.drag(3.2, 4.8)
        self.assertNotIn("asked for", self.note())
        self.page.close()
        self.open(query="?from=2026-11-20T12:02:00Z&to=2026-11-20T12:04:00Z")
        self.assertEqual(self.note(), "", "it is what was asked for")

    def test_the_address_has_range_and_baseline(self):
        self.open()
        self.drag(4.2, 5.8)
        self.drag(1.3, 2.2, modifiers=SHIFT)
        address = self.page.value("location.href")
        self.page.close()
        self.open(url=address)
        self.assertEqual((self.brush("range"), self.brush("base")), ((4, 6), (1, 3)))
        self.drag(3.2, 3.8)
        self.page.value("history.back()")
        self.page.wait("document.querySelector('#range [data-end=first]').value === '4'")
        self.page.wait(READY)
        self.assertEqual((self.brush("range"), self.brush("base")), ((4, 6), (1, 3)))
        self.page.value("document.getElementById('compare').click()")
        self.assertIsNone(self.parameter("base_from"))

    def test_a_strip_that_does_not_reach_back_says_so(self):
        self.open("late")
        self.assertEqual(self.page.value("document.querySelectorAll('#strip rect.not-kept').length"), 1)
        self.assertRegex(self.note(), r"in memory for the last 9 min 30 s, from 12:05:30; before that .* from 12:00:00")
        self.assertEqual(self.legend(), ["answer", "lock", "storage"], "no mean of a part of the range")
        axis = self.page.value("[...document.querySelectorAll('#strip text')].map(each => each.textContent)")
        self.assertIn("12:01", axis, "it goes back as far as the range")
        self.assertIn("12:14", axis)
        self.set("#range [data-end=first]", "5")
        self.assertIn("12:05:30", self.note(), "half of the last snapshot")

    def test_the_strip_is_of_the_chosen_cgroup(self):
        self.open()
        self.assertNotIn("cgroup", self.asked("/api/v1/units")[-1])
        self.set("#cgroup", "/system.slice")
        self.page.wait("document.querySelector('#strip .area')")
        self.assertEqual(self.asked("/api/v1/units")[-1]["cgroup"], "/system.slice")

    def test_narrow_light_and_dark(self):
        self.open()
        self.page.call("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=1, mobile=False)
        self.page.wait("document.querySelector('#strip svg').getAttribute('viewBox').split(' ')[2] < 700")
        self.page.wait("document.documentElement.scrollWidth <= 700")
        self.drag(1.2, 2.7)
        self.set("#compare", True)
        self.assertEqual((self.brush("range"), self.brush("base")), ((1, 3), (0, 1)))
        self.assertLessEqual(self.page.value("document.documentElement.scrollWidth"), 700)
        colors = []
        for scheme in ("light", "dark"):
            self.page.media(scheme)
            colors.append(self.page.value("getComputedStyle(document.querySelector('#strip .area.lock')).fill"))
        self.assertEqual(colors, ["rgb(100, 52, 179)", "rgb(133, 89, 219)"], "of the palette that was searched")
        edge = "getComputedStyle(document.querySelector('#strip .{} line.edge')).strokeDasharray"
        dashes = [self.page.value(edge.format(name)) for name in ("range", "base")]
        self.assertEqual(dashes[0], "none")
        self.assertRegex(dashes[1], r"\d", "told apart without their colours")
        self.assertEqual(self.page.value("[...document.querySelectorAll('#strip text.name')].map(e => e.textContent)"),
                         ["baseline", "range"])


class Refusals(StripCase):
    """The console has the status that was answered; that is no defect here."""

    def tearDown(self):
        self.page.close()

    def test_ranges_are_chosen_where_nobody_says_what_waited(self):
        self.server.refused = {"/api/v1/units"}
        self.open()
        self.assertIn("How many threads waited is not shown: this needs a password", self.note())
        self.assertEqual(self.page.value("document.querySelectorAll('#strip .area').length"), 0)
        box = self.box()  # ten minutes to the end of the last snapshot, as far as some are kept
        self.page.click(box["x"] + box["width"] - 10, box["y"] + 50)
        self.page.wait("document.querySelector('#range [data-end=first]').value === '5'")
        self.page.wait(READY)
        self.assertEqual(self.minutes(), [5])


if __name__ == "__main__":
    with browser.opened() as FlameCase.chromium:
        FlameCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
