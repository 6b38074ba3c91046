# SPDX-License-Identifier: Apache-2.0
"""The page `/` in headless Chromium: how long waits were, and whether that is usual, over canned answers.

Usage: overview_heat_test.py ASSETS [unittest options]
"""
import re
import sys
import time

import browser
import server
from overview_case import TOLD, OverviewCase

DRAWN = f"{TOLD} && document.querySelector('#unit .heat-map path.heat')"
SENTENCE = "#heat-text"


class HeatMap(OverviewCase):
    def tearDown(self):
        self.assertEqual(self.page.problems(), [])

    def open_drawn(self, query="?unit=orders-api.service"):
        self.open(query=query, ready=DRAWN)

    def boxes(self, kind):
        """The places (x, y) of what a path draws."""
        path = self.page.value(f"document.querySelector('#unit .heat-map path.{kind}')?.getAttribute('d') ?? ''")
        return [(float(x), float(y)) for x, y in re.findall(r"M([\d.]+) ([\d.]+)", path)]

    def focus(self):
        self.page.value("document.querySelector('#unit .heat-map').focus()")

    def test_a_cell_is_as_dark_as_many_threads_waited(self):
        self.open_drawn()
        self.assertEqual(len(self.boxes("heat-3")), 2 * 57)  # 0.29 and 0.19 threads, in all steps that are known
        self.assertEqual(len(self.boxes("heat-0")), 57)  # for a CPU
        short, long = sorted({y for _, y in self.boxes("heat-3")}, reverse=True)
        self.assertGreater(short, long, "long waits are above short ones")
        cpu = {y for _, y in self.boxes("heat-0")}
        self.assertGreater(cpu.pop(), short)

    def test_a_wait_that_took_minutes_is_in_its_step_for_the_length_of_the_step(self):
        self.open_drawn("?unit=nginx.service")
        self.assertEqual((len(self.boxes("heat-4")), len(self.boxes("heat-5"))), (1, 0))
        self.assertIn("0.02\t1\tlock 0.02", self.cell_of_table("4 min 16 s to 8 min 32 s"))

    def cell_of_table(self, length):
        self.click("#unit .heat-table summary")
        self.page.wait("document.querySelector('#unit .heat-table tbody tr')")
        return next(row for row in self.texts("#unit .heat-table tbody tr") if row.startswith(length))

    def test_a_hang_climbs_and_is_red_because_it_is_stuck(self):
        self.open_drawn()
        hang = self.boxes("stuck")
        self.assertEqual(len(hang), 8)
        self.assertEqual(hang, sorted(hang, key=lambda place: (place[0], -place[1])), "later is higher")
        self.assertLess(hang[-1][1], hang[0][1])
        self.assertEqual(len(self.boxes("lasting:not(.stuck)")), 1, "storage, of which nobody is stuck")

    def test_keys_move_from_cell_to_cell_and_the_sentence_follows(self):
        self.open_drawn()
        self.assertEqual(self.text(SENTENCE),
                         "Of those that ended, most of the time was in waits of 1.95 ms to 3.91 ms. "
                         "Now 8 waits last for an answer, the oldest for 1 min 19 s: stuck.")
        live = f"document.querySelector('{SENTENCE}').ariaLive"
        self.assertEqual(self.page.value(live), "off", "or screen readers speak with each answer")
        self.focus()
        self.assertEqual(self.page.value(live), "polite")
        self.press("ArrowLeft")
        self.assertEqual(self.text(SENTENCE), "12:09:50 to 12:10:00, 1 min 4 s to 2 min 8 s: 8 waits last for an "
                                              "answer, the oldest for 1 min 19 s: stuck.")
        self.press("ArrowDown")
        self.assertEqual(self.text(SENTENCE), "12:09:50 to 12:10:00, 32 s to 1 min 4 s: nothing.")
        self.press(*["ArrowDown"] * 11, "ArrowLeft")
        self.assertEqual(self.text(SENTENCE), "12:09:40 to 12:09:50, 15.6 ms to 31.3 ms: 0.19 threads, about 80 "
                                              "waits ended: answer 0.19.")
        self.press("Home")
        self.assertEqual(self.text(SENTENCE), "12:00:00 to 12:00:10, 15.6 ms to 31.3 ms: not known.")
        self.assertEqual(self.chosen(), "orders-api.service", "the keys are the picture's")
        self.assertEqual(self.page.value("document.querySelector('#unit .cursor').getAttribute('visibility')"),
                         "visible")

    def test_the_pointer_reads_a_cell_and_nothing_moves(self):
        self.open_drawn()
        self.page.value("document.querySelector('#unit .heat-map').scrollIntoView({block: 'center'})")
        box = self.box("#unit .heat-map")
        threads = self.box("#unit section:last-of-type")
        x, y = self.boxes("heat-3")[-1]
        self.page.hover(box["x"] + x + 2, box["y"] + y + 2)
        self.page.wait("document.getElementById('heat-text').innerText.startsWith('12:09:50')")
        self.assertIn("answer", self.text(SENTENCE))
        self.assertEqual(self.box("#unit section:last-of-type"), threads)
        self.page.hover(box["x"] - 300, box["y"])
        self.page.wait("document.getElementById('heat-text').innerText.startsWith('Of those')")

    def test_the_same_is_there_as_a_table(self):
        self.open_drawn()
        self.click("#unit .heat-table summary")
        self.page.wait("document.querySelectorAll('#unit .heat-table tbody tr').length === 4")
        rows = self.texts("#unit .heat-table tbody tr")
        self.assertEqual(rows[0], "Now 8 waits last for an answer, the oldest for 1 min 19 s: stuck.")
        self.assertEqual(rows[1].split("\t"), ["15.6 ms to 31.3 ms", "0.19", "4,560", "answer 0.19"])
        self.assertEqual(rows[3].split("\t")[0], "7.63 µs to 15.3 µs")

    def test_the_focus_and_the_cell_stay_while_numbers_change(self):
        self.open_drawn()
        self.focus()
        self.press("ArrowLeft", "ArrowLeft")
        before = self.text(SENTENCE)
        asked = len(self.asked("/api/v1/units"))
        self.again()
        while len(self.asked("/api/v1/units")) == asked:
            time.sleep(0.05)
        time.sleep(0.3)
        self.assertEqual(self.text(SENTENCE), before)
        self.assertTrue(self.page.value("document.activeElement.classList.contains('heat-map')"))

    def test_a_poll_asks_once_for_units_and_lengths(self):
        self.open_drawn()
        SERVER.requests.clear()
        self.again()
        time.sleep(1)
        self.assertEqual([query.get("lengths") for query in self.asked("/api/v1/units")], ["orders-api.service"])

    def test_a_path_is_asked_for_by_its_path(self):
        self.open_drawn("?unit=/kubepods.slice/pod1/c1")
        self.assertEqual(self.asked("/api/v1/units")[-1]["lengths"], "/kubepods.slice/pod1/c1")
        self.open_drawn("?unit=no+unit+(/)")
        self.assertEqual(self.asked("/api/v1/units")[-1]["lengths"], "/")

    def test_until_the_daemon_answers_it_says_so(self):
        SERVER.hold.clear()
        self.addCleanup(SERVER.hold.set)
        self.open(query="?unit=orders-api.service", ready="document.querySelector('#unit section:nth-of-type(4)')")
        self.page.wait("document.querySelector('#unit section:nth-of-type(4)').innerText.includes('Asking')")
        self.assertEqual(self.box("#unit .heat-map")["height"], 0)
        SERVER.hold.set()
        self.page.wait(DRAWN)

    def test_where_nothing_waited_it_says_so(self):
        self.open("calm", "?unit=nginx.service")
        self.page.wait("document.querySelector('#unit section:nth-of-type(4)').innerText.includes("
                       "'No wait of it for anything but work ended or lasted')")

    def test_without_stacks_waits_for_a_cpu_are_left(self):
        self.open("nostacks", "?unit=orders-api.service", ready=DRAWN)
        self.assertIn("waits for a CPU alone: no stacks", self.text("#unit section:nth-of-type(4)"))
        self.assertEqual(self.boxes("heat-3"), [])

    def test_another_unit_has_a_picture_of_its_own(self):
        self.open_drawn()
        self.click("tr[data-unit='nginx.service'] td")
        self.page.wait("document.querySelector('#unit .heat-map').getAttribute('aria-label').includes('nginx.service')")
        self.assertIn("nginx.service", [query.get("lengths") for query in self.asked("/api/v1/units")])

    def test_the_shades_are_one_row_from_pale_to_strong_in_light_and_dark(self):
        self.open_drawn()
        for scheme, sign in (("light", -1), ("dark", 1)):
            self.page.media(scheme)
            shades = self.page.value("""[...document.querySelectorAll('.heat-key:not(.lasting)')].map(key =>
              getComputedStyle(key).backgroundColor.match(/\\d+/g).map(Number))""")
            self.assertEqual(len(shades), 6)
            lights = [luminance(shade) for shade in shades]
            for before, after in zip(lights, lights[1:]):
                contrast = (max(before, after) + 0.05) / (min(before, after) + 0.05)
                self.assertGreater(sign * (after - before), 0, scheme)
                self.assertGreater(contrast, 1.2, f"{scheme}: two shades are told apart without their hue")

    def test_it_fits_a_narrow_screen(self):
        self.open_drawn()
        for width in (700, 360):
            self.size(width)
            self.page.wait("document.querySelector('#unit .heat-map').getBoundingClientRect().width < innerWidth")
            self.assertLessEqual(self.page.value("document.documentElement.scrollWidth"), width)


def luminance(color):
    """WCAG 2.2, relative luminance."""
    parts = [part / 255 for part in color[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear))


class Usual(OverviewCase):
    def test_p99_is_compared_with_what_is_usual(self):
        self.open()
        self.assertEqual([self.row(name)[5] for name in ("postgresql", "orders-api", "nginx")],
                         ["> 100×", "> 100×", "8.0×"])
        self.assertEqual(self.row("backup")[5], "", "of 90 waits the longest is no p99")
        self.assertEqual(self.row("/kubepods.slice/pod1/c1")[5], "", "what is usual is not known")
        title = self.page.value("document.querySelector('tr[data-unit=\"nginx.service\"] .c-usual').title")
        self.assertEqual(title, "usually 3.91 ms: of 9,958 waits since 2026-11-20 08:00")

    def test_red_is_only_what_is_trouble(self):
        self.open()
        red = "document.querySelector('tr[data-unit=\"{}.service\"] .c-usual').classList.contains('bad')"
        self.assertTrue(self.page.value(red.format("orders-api")))
        SERVER.before = 200.0  # nothing is called unusual, and nginx is not stuck
        self.open()
        self.assertFalse(self.page.value(red.format("nginx")))

    def test_it_sorts(self):
        self.open()
        self.click("th[data-sort='usual'] button")
        self.assertEqual(self.names()[:3], ["orders-api", "postgresql", "nginx"])
        self.assertEqual(self.parameter("sort"), "usual")
        self.assertIn("by × usual", self.text("#list-note"))

    def test_what_is_usual_is_not_said_of_the_past(self):
        self.open(query="?from=2026-11-20T12:02:00Z&to=2026-11-20T12:04:00Z")
        self.assertEqual(self.row("nginx")[5], "")


if __name__ == "__main__":
    with browser.opened() as OverviewCase.chromium:
        SERVER = OverviewCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
