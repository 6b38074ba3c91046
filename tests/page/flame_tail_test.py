# SPDX-License-Identifier: Apache-2.0
"""Kernel tails of the page `/flame`: folded into one frame that says what it has.

Usage: flame_tail_test.py ASSETS [unittest options]
"""
import sys

import browser
import fixture
import server
from flame_case import FlameCase, READY, busy, hue

KERNEL = {name for stack in fixture.TAIL_STACKS for name, is_kernel, *_ in stack[5] if is_kernel}
STACK = """[...document.querySelectorAll('#selected .stack')].map(
  each => [...each.children].map(li => li.firstChild.innerText))"""


def data_of(**more):
    return fixture.answer(range(6), stacks=fixture.TAIL_STACKS, **more)


def share_of(data, *numbers):
    """Of the stacks with these numbers, in percent."""
    mine = fixture.total(data, keep=lambda row: row["pid"] - 100 in numbers)
    return 100 * mine / fixture.total(data, keep=busy)


def percent(share):
    return f"{share:.{1 if share >= 10 else 2}f} %"


class Tails(FlameCase):
    def open(self, query="", **more):
        super().open("tails", query=query, **more)

    def test_the_end_of_a_stack_is_one_frame_named_by_the_system_call(self):
        self.open()
        self.assertEqual(self.names() & KERNEL, {"ret_from_fork", "kthread", "worker_thread", "wait_on_page"})
        self.assertLessEqual({"mutex_lock", "__x64_sys_futex +5", "touch", "asm_exc_page_fault +1"}, self.names())
        self.assertAlmostEqual(self.frame("__x64_sys_futex +5")["width"], self.frame("mutex_lock")["width"], delta=0.1)

    def test_totals_and_widths_stay_when_they_are_unfolded(self):
        self.open()
        names = ("all", "worker", "run", "mutex_lock", "wait_any", "wait_on_page", "stripped")
        def seen():
            widths = {name: round(self.frame(name)["width"], 2) for name in names}
            return self.totals(), widths, self.text("totals")
        folded = seen()
        self.assertEqual(folded[0]["shownNs"], fixture.total(data_of(), keep=busy))
        self.set("#kernel", True)
        self.assertLessEqual(KERNEL, self.names())
        self.assertEqual([name for name in self.names() if "+" in name], [])
        self.assertEqual(seen(), folded)

    def test_threads_of_the_kernel_are_not_folded_but_programs_without_a_stack_are(self):
        self.open()
        self.assertLessEqual({"kworker/0:1", "ret_from_fork", "kthread", "worker_thread", "wait_on_page"}, self.names())
        self.assertAlmostEqual(self.frame("ksys_read +4")["width"], self.frame("stripped")["width"], delta=0.1)
        self.assertEqual([frame["fill"] for frame in self.frames() if frame["name"] == "wait_on_page"][0][:8],
                         self.frame("ksys_read +4")["fill"][:8], "both are of the kernel")

    def test_different_ends_of_one_call_are_one_frame_that_says_both(self):
        self.open()
        data = data_of()
        frame = self.frame("__x64_sys_epoll_wait +3–4")
        self.assertAlmostEqual(frame["width"], self.frame("wait_any")["width"], delta=0.1)
        self.assertEqual([f["name"] for f in self.frames()].count("wait_any"), 1, "two lines are one function")
        self.page.hover(frame["left"] + frame["width"] / 2, frame["top"] + 9)
        self.page.wait("!document.getElementById('tooltip').hidden")
        first, second = share_of(data, 1), share_of(data, 2)
        call = "entry_SYSCALL_64 › do_syscall_64 › __x64_sys_epoll_wait › do_epoll_wait"
        text = self.text("tooltip")
        self.assertIn(f"folded, {percent(100 * first / (first + second))}: {call}folded", text)
        self.assertIn(f"folded, {percent(100 * second / (first + second))}: {call} › schedule_hrtimeout", text)

    def test_search_finds_names_in_folded_tails(self):
        self.open()
        data = data_of()
        for term, numbers, frame in (("futex_do_wait", [0], "__x64_sys_futex +5"),
                                     ("/^do_futex$/", [0], "__x64_sys_futex +5"),
                                     ("schedule_hrtimeout", [2], "__x64_sys_epoll_wait +3–4"),
                                     ("do_syscall_64", [0, 1, 2, 4], "ksys_read +4")):
            self.set("#search", term)
            self.assertEqual(self.text("found"), f"{percent(share_of(data, *numbers))} matches", term)
            self.assertEqual(hue(self.frame(frame)["fill"]), 300, term)
            self.assertNotEqual(hue(self.frame("wait_on_page")["fill"]), 300, term)
            found = self.text("found")
            self.set("#kernel", True)
            self.assertEqual(self.text("found"), found, "folding changes no share")
            self.set("#kernel", False)
        self.set("#search", "+5")
        self.assertEqual(self.text("found"), "0.00 % matches", "the count is no name")

    def test_the_panel_has_the_whole_stack_and_exact_numbers(self):
        self.open()
        self.click(self.frame("__x64_sys_futex +5"))
        self.assertEqual(self.page.value(STACK)[0], [name for name, *_ in fixture.TAIL_STACKS[0][5]])
        ns = fixture.total(data_of(), keep=lambda row: row["pid"] == 100)
        text = self.page.value("document.getElementById('selected').innerText")
        self.assertIn("__x64_sys_futex\n", text)
        self.assertIn(f"{ns / 1e9:.3f} s, {share_of(data_of(), 0):.1f} %", text)
        for part in ("unknown", "none known", "worker", "lock", "stack of what ended it"):
            self.assertIn(part, text)
        waker = [name for name, *_ in fixture.TAIL_STACKS[0][7]]
        self.assertEqual(self.page.value(STACK)[1], waker)

    def test_the_panel_says_where_stacks_part(self):
        self.open()
        self.click(self.frame("__x64_sys_epoll_wait +3–4"))
        common = [name for name, *_ in fixture.TAIL_STACKS[1][5]]
        self.assertEqual(self.page.value(STACK)[:3], [common, [], ["schedule_hrtimeout"]])
        text = self.page.value("document.getElementById('selected').innerText")
        self.assertRegex(text, r"then, in [\d.]+ %, nothing more\s+then, in [\d.]+ %\s")
        self.click(self.frame("run"))
        self.assertEqual(self.page.value(STACK)[0], ["main", "run"])
        self.assertEqual(self.page.value("document.querySelector('#selected [aria-current]').innerText"), "run server")
        self.assertIn("4 different stacks go on from here",
                      self.page.value("document.getElementById('selected').innerText"))

    def test_the_keyboard_says_what_is_folded(self):
        self.open()
        self.page.value("document.getElementById('chart').focus()")
        self.press(*["ArrowDown"] * 6)
        self.assertRegex(self.text("details"), r"^__x64_sys_epoll_wait \+3–4, \[kernel\], kernel")
        self.assertIn("entry_SYSCALL_64 › do_syscall_64 › __x64_sys_epoll_wait › do_", self.text("details"))
        self.assertEqual(self.page.value("document.querySelector('#selected h3').innerText"), "__x64_sys_epoll_wait")

    def test_the_address_has_the_state(self):
        self.open()
        self.assertIsNone(self.parameter("kernel"))
        self.set("#kernel", True)
        self.assertEqual(self.parameter("kernel"), "true")
        self.page.value("window.isOld = true")
        self.page.call("Page.reload")
        self.page.wait(f"!window.isOld && {READY}")
        self.assertIn("futex_do_wait", self.names())
        self.page.value("history.back()")
        self.page.wait("!document.getElementById('kernel').checked")
        self.page.wait("[...document.querySelectorAll('g.frame')].some(g => g.getAttribute('name').endsWith('+5'))")
        self.page.close()
        self.open("?kernel=true&group=thread&root=flame&wakers=true&find=futex&idle=true")
        self.assertIn("futex_do_wait", self.names())
        self.assertEqual([self.page.value(f"document.getElementById('{name}').value")
                          for name in ("group", "orientation", "search")], ["thread", "flame", "futex"])
        self.assertIn("--", self.names())
        self.assertIn("% matches", self.text("found"))

    def test_what_ended_a_wait_is_folded_too(self):
        self.open()
        self.set("#wakers", True)
        self.assertNotIn("futex_wake", self.names())
        frame = self.frame("__x64_sys_futex +4")
        self.assertEqual(hue(frame["fill"]), 150)
        self.assertIn("hrtimer_wakeup", self.names(), "an interrupt is no system call")
        self.set("#search", "futex_wake")
        self.assertEqual(self.text("found"), f"{share_of(data_of(), 0):.1f} % matches")
        self.set("#kernel", True)
        self.assertIn("futex_wake", self.names())

    def test_a_zoom_stays_when_tails_are_unfolded(self):
        self.open()
        whole = self.frame("all")["width"]
        self.click(self.frame("mutex_lock"))
        self.set("#kernel", True)
        self.assertAlmostEqual(self.frame("futex_do_wait")["width"], whole, delta=0.1)
        self.assertFalse(self.page.value("document.getElementById('unzoom').disabled"))

    def test_a_difference_has_folded_tails_with_both_amounts(self):
        self.open(query="?from=2026-11-20T12:03:00Z&compare=true")
        data = fixture.answer([3, 4, 5], [0, 1, 2], fixture.TAIL_STACKS)
        self.assertEqual(self.totals()["beforeNs"], fixture.total(data, "before_ns", busy))
        self.click(self.frame("__x64_sys_epoll_wait +3–4"))
        text = self.page.value("document.getElementById('selected').innerText")
        for column in ("ns", "before_ns"):
            mine = fixture.total(data, column, lambda row: row["pid"] in (101, 102))
            self.assertIn(f"{mine / 1e9:.3f} s", text)


if __name__ == "__main__":
    with browser.opened() as FlameCase.chromium:
        FlameCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
