# SPDX-License-Identifier: Apache-2.0
"""The keyboard alone reaches everything that can be used on the pages, in headless Chromium, over canned answers.

Usage: keyboard_test.py ASSETS [unittest options]
"""
import sys

import browser
import server
from flame_case import READY, FlameCase
from overview_case import OverviewCase

SHIFT = 8
MOST = 400  # times that Tab is pressed
# What takes input, as it can be seen now. Of radio buttons in a group Tab reaches one, arrow keys the others.
USABLE = """[...document.querySelectorAll('a[href], button, input, select, summary, [tabindex]')].filter(each =>
  each.checkVisibility({visibilityProperty: true}) && !each.disabled && each.tabIndex >= 0 &&
  !(each.type === 'radio' && !each.checked) && !(document.getElementById('help')?.contains(each)))"""
# What a pointer can press and no key: no part of it takes the focus, nor is it within what has keys of its own. Arrow
# keys reach the other radio buttons of a group.
POINTER_ONLY = f"""(() => {{ const usable = {USABLE}; const isPressed = each => getComputedStyle(each).cursor === 'pointer';
  const whole = each => isPressed(each.parentElement) ? whole(each.parentElement) : each;
  const areas = [...document.querySelectorAll('body *')].filter(each => each.checkVisibility() && isPressed(each) &&
    !each.disabled && each.closest('label')?.control?.type !== 'radio');
  return [...new Set(areas.map(whole))].filter(area => !usable.some(each => each.contains(area) || area.contains(each)))
    .map(area => area.outerHTML.slice(0, 120)); }})()"""
MARKED = """(() => { const e = document.activeElement;
  const ring = style => style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0;
  return ring(getComputedStyle(e)) || ring(getComputedStyle(e.querySelector('.box') ?? e)); })()"""


class Keyboard:
    """For a case whose open() shows a page as self.page."""

    def walk(self):
        """Presses Tab until the focus has been everywhere, and says where it was in numbers of USABLE."""
        self.page.value(f"window.usable_ = {USABLE}; document.activeElement.blur(); 0")
        reached, unmarked = [], []
        for _ in range(MOST):
            self.page.press("Tab")
            at = self.page.value("usable_.indexOf(document.activeElement)")
            if at in reached:
                break
            if at >= 0:
                reached.append(at)
                if not self.page.value(MARKED):
                    unmarked.append(self.page.value("document.activeElement.outerHTML.slice(0, 120)"))
        return reached, unmarked

    def expect_all_reached(self):
        reached, unmarked = self.walk()
        missed = self.page.value("usable_.map((each, i) => [i, each.outerHTML.slice(0, 120)])")
        self.assertEqual([text for i, text in missed if i not in reached], [])
        self.assertEqual(reached, sorted(reached), "the order is that of the page")
        self.assertEqual(unmarked, [], "where the focus is can be seen")
        self.assertEqual(self.page.value(POINTER_ONLY), [])
        return len(reached)

    def focus_by_tab(self, selector):
        """As somebody would who has no pointer."""
        for _ in range(MOST):
            if self.page.value(f"document.activeElement.matches({selector!r})"):
                return
            self.page.press("Tab")
        self.fail(f"Tab does not reach {selector}")


class Overview(Keyboard, OverviewCase):
    def test_tab_reaches_everything(self):
        for query in ("", "?view=graph", "?span=6h", "?all=1", "?unit=nginx.service",
                      "?from=2026-11-20T12:05:00Z&to=2026-11-20T12:07:00Z"):
            with self.subTest(query=query):
                self.open(query=query)
                self.assertGreater(self.expect_all_reached(), 20)

    def test_from_the_verdict_to_its_stacks_without_a_pointer(self):
        self.server.hours = False
        self.open()
        self.focus_by_tab("#verdict a[title='postgresql.service']")
        self.press("Enter")
        self.page.wait("document.getElementById('unit-title').innerText === 'postgresql.service'")
        self.focus_by_tab("#strip svg")
        self.press("ArrowLeft", "ArrowLeft")
        self.page.wait("document.getElementById('range-text').innerText === '12:08:40 to 12:09:40, 1 min'")
        self.focus_by_tab("#unit a[href*='flame']")
        self.press("Enter")
        self.page.wait("location.pathname === '/flame'")
        self.assertRegex(self.parameter("to"), "^2026-11-20T12:09:40")
        self.assertEqual(self.parameter("cgroup"), "/system.slice/postgresql.service")

    def test_what_is_folded_opens_and_the_page_stays(self):
        self.open()
        for summary in (".heat-table summary", ".stacks summary"):
            self.focus_by_tab(summary)
            self.press("Enter")
            self.page.wait(f"document.querySelector({summary!r}).parentElement.open")
        self.assertEqual(self.page.value("location.pathname"), "/")

    def test_a_box_of_the_graph_is_chosen(self):
        self.open(query="?view=graph")
        self.focus_by_tab("#graph [data-name='postgresql.service']")
        self.press("Enter")
        self.page.wait("document.getElementById('unit-title').innerText === 'postgresql.service'")


class Flame(Keyboard, FlameCase):
    def test_tab_reaches_everything(self):
        compared = "?from=2026-11-20T12:03:00Z&to=2026-11-20T12:05:00Z&base_from=2026-11-20T12:00:00Z" \
                   "&base_to=2026-11-20T12:02:00Z"
        for query in ("", compared):
            for menu in range(len(("range", "filter", "view"))):
                with self.subTest(query=query, menu=menu):
                    self.open(query=query)
                    self.page.wait("document.querySelector('#strip .brush')")
                    self.page.value(f"[...document.querySelectorAll('details:not([hidden])')].at({menu - 3}).open = true")
                    self.assertGreater(self.expect_all_reached(), 10)
                    self.page.close()
                    self.page = None

    def test_filter_range_and_frames_without_a_pointer(self):
        self.open()
        self.page.wait("document.querySelector('#strip .brush')")
        self.focus_by_tab("#controls summary")
        self.press("Enter")
        self.focus_by_tab("#idle")
        self.press(" ")
        self.page.wait(READY)
        self.assertIn("etcd", self.names(), "idle waits are shown")
        self.press("Escape")
        self.focus_by_tab("#search")
        self.page.type("fdatasync")
        self.page.wait("document.getElementById('found').textContent")
        self.focus_by_tab("#chart")
        self.press("ArrowDown", "ArrowDown", "Enter")
        self.page.wait("!document.getElementById('unzoom').disabled")
        self.press("Tab", modifiers=SHIFT)
        self.focus_by_tab("#strip svg")
        self.press("ArrowLeft", modifiers=SHIFT)
        self.page.wait("new URLSearchParams(location.search).get('to')?.startsWith('2026-11-20T12:05:00')")
        self.page.wait(READY)


if __name__ == "__main__":
    with browser.opened() as CHROMIUM:
        OverviewCase.chromium = FlameCase.chromium = CHROMIUM
        OverviewCase.server, FlameCase.server = (server.Server(sys.argv[1]) for _ in range(2))
        browser.run_tests(sys.argv[2:])
