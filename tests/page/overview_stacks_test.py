# SPDX-License-Identifier: Apache-2.0
"""The page `/` in headless Chromium: the heaviest stacks of the chosen unit, over canned answers.

Usage: overview_stacks_test.py ASSETS [unittest options]
"""
import sys
import time

import browser
import server
from overview_case import OverviewCase

PART = "#unit section:nth-of-type(5)"
DATABASE = "?unit=postgresql.service"
ASKED = "/api/v1/snapshots/merge"
TOLD = f"""document.querySelector({PART + ' summary, ' + PART + ' p'!r}) &&
  !document.querySelector({PART!r}).innerText.includes('Asking')"""


class Stacks(OverviewCase):
    def tearDown(self):
        self.assertEqual(self.page.problems(), [])

    def open_told(self, query=DATABASE, mode="plain"):
        self.open(mode, query, ready=TOLD)

    def lines(self):
        return [text.split("\n") for text in self.texts(f"{PART} summary")]

    def open_ones(self):
        return self.page.value(f"[...document.querySelectorAll({PART + ' details'!r})].map(each => each.open)")

    def test_five_lines_say_what_for_where_how_much_and_in_which_functions(self):
        self.open_told()
        self.assertEqual(self.text(f"{PART} h3"), "Its heaviest stacks")
        self.assertIn("of 16 min 40 s in all, 12:08:00 to 12:10:00", self.text(f"{PART} .line"))
        lines = self.lines()
        self.assertEqual(len(lines), 5)
        self.assertEqual(lines[0], ["lock: postgresql-heavyweight-lock", "80 %", "13 min 20 s",
                                    "WaitEventSetWait < ProcSleep < exec_simple_query < PostgresMain < main"])
        self.assertEqual(lines[1][:3], ["storage: fsync", "15 %", "2 min 30 s"])
        self.assertEqual(lines[2], ["unknown", "1.0 %", "10 s", "step_0 < main"])
        self.assertEqual(self.texts(f"{PART} p a"), ["2 other stacks"])
        self.assertEqual(self.page.value(f"document.querySelector({PART + ' p a'!r}).getAttribute('href')"),
                         "flame?from=2026-11-20T12:08:00.000Z&to=2026-11-20T12:10:00.000Z"
                         "&cgroup=%2Fsystem.slice%2Fpostgresql.service")
        self.assertEqual([(query["cgroup"], query["idle"], query["from"]) for query in self.asked(ASKED)],
                         [("postgresql.service", "false", "-90s")])

    def test_the_whole_stack_is_one_key_away_and_the_address_has_it(self):
        self.open_told("")  # the worst unit is shown before anybody chooses
        self.page.value(f"document.querySelector({PART + ' summary'!r}).focus()")
        self.press("Enter")
        self.page.wait(f"document.querySelector({PART + ' details[open] .stack'!r})")
        self.assertEqual(self.texts(f"{PART} details[open] .stack li"),
                         ["tcp_recvmsg [kernel]", "__x64_sys_recvfrom [kernel]", "do_syscall_64 [kernel]",
                          "entry_SYSCALL_64 [kernel]", "recv server", "PQexec server", "handle server", "main server"])
        self.assertEqual(self.text(f"{PART} details p"), "About 9 waits ended. Waits that lasted at the end have 8 min of "
                                                     "it. The innermost function first:")
        self.page.wait("location.search.includes('stacks=')")
        self.assertEqual(self.parameter("unit"), "orders-api.service")
        self.open_told(self.page.value("location.search"))
        self.assertEqual(self.open_ones(), [True])
        self.page.value(f"document.querySelector({PART + ' summary'!r}).focus()")
        self.press("Enter")
        self.page.wait("!location.search.includes('stacks=')")
        self.assertEqual(self.open_ones(), [False])

    def test_stacks_that_differ_in_the_kernel_are_one_line_with_the_heaviest(self):
        self.open_told()
        self.click(f"{PART} summary")
        self.page.wait(f"document.querySelector({PART + ' details[open] .stack'!r})")
        self.assertIn("Of 2 stacks that differ in the kernel, this one has 75 %.", self.text(f"{PART} details p"))
        self.assertEqual(self.text(f"{PART} .stack li"), "ep_poll [kernel]")

    def test_several_are_open_and_stay_so_while_numbers_come(self):
        self.open_told()
        for i in (0, 1):
            self.page.value(f"document.querySelectorAll({PART + ' summary'!r})[{i}].click()")
        self.page.wait("location.search.includes('.')")
        self.again()
        time.sleep(1)
        self.assertEqual(self.open_ones(), [True, True, False, False, False])
        self.assertGreater(len(self.asked("/api/v1/units")), 2)
        self.assertEqual(len(self.asked(ASKED)), 1, "snapshots come once a minute")

    def test_another_unit_has_other_stacks(self):
        self.open_told()
        self.click(f"{PART} summary")
        self.page.wait("location.search.includes('stacks=')")
        self.click("tr[data-unit='orders-api.service'] td")
        self.page.wait(f"document.querySelector({PART!r}).innerText.includes('libpq-query')")
        self.assertIsNone(self.parameter("stacks"))
        self.page.value("history.back()")
        self.page.wait(f"document.querySelector({PART + ' details'!r})?.open")
        self.assertEqual(self.chosen(), "postgresql.service")

    def test_the_pointer_on_a_stack_keeps_it_but_not_beside_another_unit(self):
        self.open_told()
        self.page.value(f"document.querySelector({PART + ' summary'!r}).scrollIntoView({{block: 'center'}})")
        box = self.box(f"{PART} summary")
        self.page.hover(box["x"] + 40, box["y"] + 10)
        self.press("ArrowDown")
        self.page.wait("document.getElementById('unit-title').innerText === 'orders-api.service'")
        self.page.wait(f"document.querySelector({PART!r}).innerText.includes('libpq-query')")
        self.assertIn("of 8 min in all", self.text(f"{PART} .line"))

    def test_what_belongs_to_no_unit_is_not_the_whole_host(self):
        self.open_told("?unit=no+unit+(/)")
        self.assertEqual(self.lines(), [["storage", "100 %", "2 s", "wait_on_page < kthread < do_syscall_64 < "
                                                                    "entry_SYSCALL_64"]])

    def test_a_range_has_its_own(self):
        self.open_told(DATABASE + "&from=2026-11-20T12:02:00Z&to=2026-11-20T12:04:00Z")
        self.assertIn("12:02:00 to 12:04:00", self.text(f"{PART} .line"))
        self.assertEqual([(query["from"], query["to"]) for query in self.asked(ASKED)],
                         [("2026-11-20T12:02:00.000Z", "2026-11-20T12:04:00.000Z")])
        self.press("n")
        self.page.wait(f"document.querySelector({PART + ' .line'!r}).innerText.includes('12:10:00')")

    def test_a_range_older_than_memory_has_them_too(self):
        self.open_told("?span=6h&from=2026-11-20T11:00:00Z&to=2026-11-20T11:20:00Z&unit=postgresql.service")
        self.assertIn("11:00:00 to 11:20:00", self.text(f"{PART} .line"))
        self.assertEqual(self.lines()[0][0], "lock: postgresql-heavyweight-lock")

    def test_without_any_it_says_of_which_time(self):
        self.open_told("?unit=nginx.service")
        self.assertIn("No wait of it that is not idle is in the snapshots, 12:08:00 to 12:10:00; short waits that "
                      "sampling missed add up to 3 ms at most, over all threads.", self.text(PART))
        self.open_told("?unit=/kubepods.slice/pod1/c1")
        self.assertIn("Waits for a CPU have no stacks.", self.text(PART))

    def test_lost_samples_are_said(self):
        SERVER.lost = 2.5
        self.open_told()
        self.assertIn("Samples of 2.5 s were lost; some may be of this unit.", self.text(PART))

    def test_until_there_is_an_answer_the_others_are_shown(self):
        SERVER.hold.clear()
        self.addCleanup(SERVER.hold.set)
        self.open(query=DATABASE, ready=f"document.querySelector({PART!r})?.innerText.includes('Asking')")
        self.page.wait("document.querySelector('#unit section:nth-of-type(3)').innerText.includes('fsync')")

    def test_who_may_not_see_details_is_told_so_and_nobody_asks(self):
        SERVER.details = False
        self.open_told()
        self.assertIn("This client may not see stacks.", self.text(PART))
        self.assertEqual(self.asked(ASKED), [])

    def test_where_stacks_are_not_sampled_it_says_why(self):
        self.open_told(mode="nostacks")
        self.assertIn("There are none: stacks are not sampled.", self.text(PART))
        self.assertEqual(self.asked(ASKED), [])


class Refused(OverviewCase):
    """The console has what failed; that is no defect here."""

    def test_a_refusal_is_said_in_the_daemons_words(self):
        SERVER.refused = {ASKED}
        self.open(query=DATABASE, ready=TOLD)
        self.assertIn("this needs a password: see web.config_file", self.text(PART))

    def test_with_long_intervals_the_last_ten_minutes_are_asked(self):
        self.open("unkept", DATABASE, ready=TOLD)
        self.assertIn("lock: postgresql-heavyweight-lock", self.text(PART))
        self.assertEqual([query["from"] for query in self.asked(ASKED)], ["-90s", "-10min"])


if __name__ == "__main__":
    with browser.opened() as OverviewCase.chromium:
        SERVER = OverviewCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
