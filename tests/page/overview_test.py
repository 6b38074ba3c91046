# SPDX-License-Identifier: Apache-2.0
"""The page `/` in headless Chromium, over canned answers.

Usage: overview_test.py ASSETS [--screenshot FILE | unittest options]
"""
import sys
import time
import unittest

import browser
import overview_fixture as fixture
import server

READY = "document.querySelector('#units tbody tr') || document.querySelector('#state.bad')"
ROWS = """[...document.querySelectorAll('#{} tbody tr')].map(row => [...row.cells].filter(
  cell => !cell.hidden && getComputedStyle(cell).display !== 'none').map(cell => cell.innerText))"""
POSTGRES = "/system.slice/postgresql.service"


class OverviewCase(unittest.TestCase):
    def setUp(self):
        SERVER.mode, SERVER.refused = "plain", set()
        SERVER.uptime, SERVER.revision = 3600.0, "0123456789ab"
        SERVER.requests.clear()

    def open(self, mode="plain", query=""):
        SERVER.mode = mode
        self.page = CHROMIUM.open(f"http://{SERVER.address}/{query}")
        self.addCleanup(self.page.close)
        self.page.wait(READY)

    def rows(self, table):
        return self.page.value(ROWS.format(table))

    def row(self, table, name):
        return next(row for row in self.rows(table) if row[0].split("\n")[0] == name)

    def text(self, name):
        return self.page.value(f"document.getElementById('{name}').innerText")

    def set(self, name, value):
        field = "checked" if isinstance(value, bool) else "value"
        literal = str(value).lower() if isinstance(value, bool) else repr(value)
        self.page.value(f"""(() => {{ const e = document.getElementById({name!r});
          e.{field} = {literal}; e.dispatchEvent(new Event('change', {{bubbles: true}})); }})()""")

    def asked(self, path):
        return [query for asked, query in SERVER.requests if asked == path]


class Overview(OverviewCase, browser.LightAndDark):
    def tearDown(self):
        self.assertEqual(self.page.problems(), [])

    def test_what_is_waited_for_now_comes_first_and_idle_is_one_quiet_line(self):
        self.open()
        lines = self.page.value("[...document.querySelectorAll('#now li')].map(li => li.innerText)")
        self.assertEqual([line.split(":")[0] for line in lines], ["waiting for a lock", "stalls", "idle"])
        self.assertEqual(self.page.value("document.querySelectorAll('#now li.quiet').length"), 1)
        self.assertEqual(self.page.value("document.querySelector('main h2').innerText"), "Now")

    def test_waits_for_one_thing(self):
        self.open()
        self.assertEqual([row[0] for row in self.rows("purposes")],
                         ["a lock", "an answer", "storage", "what nobody can tell", "work"])
        self.assertEqual(self.row("purposes", "a lock")[1:], ["4", "postgresql-heavyweight-lock", "8, ~25 s"])
        self.set("for", "answer")
        self.page.wait("document.querySelectorAll('#units tbody tr').length === 1")
        self.assertEqual(self.rows("units")[0][1:5], ["0.75", "0", "0.5", "answer, socket-read"])
        self.assertEqual(self.page.value("location.search"), "?for=answer")
        for path in ("/api/v1/units", "/api/v1/stalls", "/api/v1/top"):
            self.assertIn("answer", [query.get("for") for query in self.asked(path)], path)
        self.assertIn("for=answer", self.page.value("document.querySelector('#units tbody a').search"))
        self.assertIn("for=answer", self.page.value("document.getElementById('flame').search"))

    def test_units_come_with_their_waits_and_where_most_of_them_is(self):
        self.open()
        names = [row[0].split("\n")[0] for row in self.rows("units")]
        self.assertEqual(names, ["postgresql.service", "nginx.service", "c1"])
        self.assertEqual(self.row("units", "postgresql.service")[1:5],
                         ["6", "0.5", "0.5", "lock, postgresql-heavyweight-lock"])
        self.assertIn(POSTGRES, self.row("units", "postgresql.service")[0])

    def test_idle_waits_are_apart(self):
        self.open()
        shown = {row[0] for row in self.rows("reasons")}
        self.assertEqual(shown, {"disk", "lock", "network", "a CPU, after a wakeup",
                                 "a CPU, after a preemption", "a CPU, throttled by cpu.max"})
        self.set("idle", True)
        self.assertLess({"poll", "condvar"}, {row[0] for row in self.rows("reasons")})
        self.assertEqual(self.row("units", "c1")[6], "12")

    def test_percentiles_are_upper_bounds_and_waits_that_did_not_end_have_none(self):
        self.open()
        self.assertEqual(self.row("reasons", "disk")[1:6],
                         ["1.5", "10", "31.3 ms", "62.5 ms", "125 ms"])
        self.set("idle", True)
        self.assertEqual(self.row("reasons", "condvar")[3:6], ["–", "–", "–"])

    def test_the_history_is_drawn_with_its_gaps(self):
        self.open()
        def shapes(reason):
            return self.page.value(f"""(() => {{
              const row = document.querySelector('tr[data-key="blocked {reason}"]');
              return [...row.querySelectorAll('svg polygon')].map(p => p.points.numberOfItems); }})()""")
        self.assertEqual(shapes("disk"), [40])
        self.assertEqual(shapes("lock"), [12, 20])  # nothing ended in two of ten minutes
        label = self.page.value("document.querySelector('#reasons svg').getAttribute('aria-label')")
        self.assertIn("p99 between ", label)
        self.assertEqual(self.text("kept"), "10 min")

    def test_a_unit_is_chosen_by_keyboard_and_stays_in_the_address(self):
        self.open()
        self.page.value("document.querySelector('#units tbody button').focus()")
        self.page.press("Enter")
        self.page.wait(f"document.getElementById('chosen').innerText === '{POSTGRES}'")
        self.page.wait("document.querySelectorAll('#reasons tbody tr').length === 4")
        self.assertIn(("false", POSTGRES), [(query.get("below"), query.get("cgroup"))
                                            for query in self.asked("/api/v1/units")])
        self.assertEqual(self.page.value("document.activeElement.innerText"), "postgresql.service")
        self.assertEqual(self.page.value("document.activeElement.getAttribute('aria-pressed')"), "true")
        self.assertEqual(self.page.value("new URLSearchParams(location.search).get('cgroup')"), POSTGRES)
        self.page.call("Page.reload")
        self.page.wait(f"{READY} && document.getElementById('chosen').innerText === '{POSTGRES}'")
        self.page.value("document.getElementById('all').click()")
        self.page.wait("document.querySelectorAll('#reasons tbody tr').length === 6")
        self.assertEqual(self.page.value("location.search"), "")

    def test_everything_that_can_be_used_has_a_name_and_is_reached_by_tab(self):
        self.open()
        reached = []
        for _ in range(40):
            self.page.press("Tab")
            reached.append(self.page.value("document.activeElement.id || document.activeElement.innerText"))
        for name in ("window", "every", "for", "idle", "flame", "postgresql.service", "nginx.service",
                     "flame graph", "/api/v1/units"):
            self.assertIn(name, reached)
        tree = self.page.call("Accessibility.getFullAXTree")["nodes"]
        roles = {"button", "link", "combobox", "checkbox", "image", "region", "table", "navigation"}
        nameless = [node["role"]["value"] for node in tree if not node.get("ignored")
                    and node["role"]["value"] in roles - {"table"}
                    and not node.get("name", {}).get("value")]
        self.assertEqual(nameless, [])

    def test_it_is_live_and_keeps_the_focus(self):
        self.open()
        self.set("every", "2")
        self.page.value("document.querySelectorAll('#units tbody button')[1].focus()")
        before = fixture.UNITS
        self.addCleanup(setattr, fixture, "UNITS", before)
        # The second becomes the first.
        fixture.UNITS = [fixture.unit(before[1]["cgroup"], {"network": (9, 60, 2.0)}, {},
                                      purposes=[("answer", "socket-read", 9, 0, None)],
                                      unit="nginx.service"), before[0]]
        self.page.wait("document.querySelector('#units tbody tr').innerText.startsWith('nginx')")
        self.assertEqual(self.row("units", "nginx.service")[1], "9")
        self.assertEqual(len(self.rows("units")), 2)
        self.assertEqual(self.page.value("document.activeElement.innerText"), "nginx.service")

    def test_nobody_is_asked_while_it_cannot_be_seen(self):
        self.open()
        self.set("every", "2")
        self.page.value("""Object.defineProperty(document, 'hidden', {value: true, configurable: true});
          document.dispatchEvent(new Event('visibilitychange'))""")
        time.sleep(0.5)
        SERVER.requests.clear()
        time.sleep(3)
        self.assertEqual(SERVER.requests, [])
        self.page.value("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        self.page.wait("true")
        deadline = time.monotonic() + 20
        while not self.asked("/api/v1/units") and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(self.asked("/api/v1/units"))

    def test_stalls_and_processes(self):
        self.open()
        self.assertEqual(self.rows("stalls"),
                         [["~1 min 16 s", "postgres (walwriter) [112]",
                           "storage, fsync, held by checkpointer [111], /var/lib/pg/wal",
                           "postgresql.service", "fdatasync"]])
        self.assertIn("and 2 more", self.text("stalls-rest"))
        self.assertIn("5 more are beyond the limit", self.text("stalls-rest"))
        self.assertIn("12 wait for work, 3 for what nobody can tell", self.text("stalls-rest"))
        self.assertIn("unusually long, and nobody can tell what for: 1", self.text("stalls-rest"))
        self.assertEqual(self.row("processes", "postgres [100]")[1:],
                         ["1.5 ± 0.1", "0.1", "0.25", "lock, postgresql-heavyweight-lock", "8, ~25 s",
                          "postgresql.service"])
        SERVER.mode = "calm"
        self.set("every", "2")
        self.page.wait("document.getElementById('stalls-none').offsetHeight > 0")

    def test_the_daemons_troubles_are_seen(self):
        self.open()
        self.assertEqual(self.page.value("document.querySelectorAll('#health .bad').length"), 0)
        self.assertIn("none since the start", self.text("health"))
        self.assertIn("6, 5.86 KiB, the last ended 4 min ago", self.text("health"))
        SERVER.mode = "troubled"
        self.set("every", "2")
        self.page.wait("document.querySelectorAll('#health .bad').length === 5")
        for words in ("subjects_full 1,234", "2 have failed", "5 more are summed in (other)",
                      "processes 4,000 of 4,096", "stacks: needs <b>more</b>"):
            self.assertIn(words, self.text("health"))

    def test_hostile_names_are_text(self):
        self.open("hostile")
        self.page.wait("document.querySelectorAll('#processes tbody tr').length > 3")
        for table in ("units", "stalls", "processes"):
            shown = "\n".join("\t".join(row) for row in self.rows(table))
            for name in ("</script><script>document.title='broken'</script>", "line\\x0afeed",
                         "broken \ufffd", "turned \\u202eround", "&lt;b&gt;", "${1+1}"):
                self.assertIn(name, shown, table)
        self.page.value("document.querySelector('#units tbody button').click()")
        self.page.wait("document.getElementById('chosen').innerText.startsWith('/')")
        self.assertEqual(self.page.value("document.title"), "offcpud")
        self.assertEqual(self.page.value("document.querySelectorAll('img, script').length"), 1)

    def test_a_narrow_screen_needs_no_sideways_scrolling(self):
        for mode in ("plain", "hostile"):
            self.open(mode)
            self.page.call("Emulation.setDeviceMetricsOverride", width=360, height=700,
                           deviceScaleFactor=1, mobile=True)
            self.page.wait("getComputedStyle(document.querySelector('th.wide')).display === 'none'")
            self.assertLessEqual(self.page.value("document.documentElement.scrollWidth"), 360)
            self.assertEqual(len(self.rows("units")[0]), 3)

    def test_links_to_the_stacks_of_the_same_time(self):
        self.open(query="?window=300")
        self.assertEqual(self.asked("/api/v1/units")[0]["window"], "300s")
        link = self.page.value("document.querySelector('#units tbody a').search")
        self.assertEqual(link, "?from=2026-11-20T12%3A05%3A00.000Z&to=2026-11-20T12%3A10%3A00.000Z"
                               "&cgroup=%2Fsystem.slice%2Fpostgresql.service")

    def test_nothing_is_asked_of_anybody_else(self):
        self.open()
        urls = [event["request"]["url"] for event in self.page.events("Network.requestWillBeSent")]
        self.assertGreaterEqual(len(urls), 8)
        for url in urls:
            self.assertTrue(url.startswith(f"http://{SERVER.address}/"), url)


class Troubles(OverviewCase):
    """The console has what failed; that is no defect here."""

    def test_a_daemon_that_is_gone_and_comes_back(self):
        self.open()
        self.set("every", "2")
        SERVER.mode = "gone"
        self.page.wait("document.querySelector('#state.bad')")
        self.assertRegex(self.text("state"), r"has not answered since \d\d:\d\d:\d\d; the numbers are")
        self.assertTrue(self.page.value("document.querySelector('main').classList.contains('stale')"))
        self.assertEqual(len(self.rows("units")), 3)
        SERVER.mode, SERVER.uptime = "plain", 2.0
        self.page.wait("document.querySelector('#state:not(.bad)')")
        self.assertIn("the daemon was restarted", self.text("state"))
        self.assertFalse(self.page.value("document.querySelector('main').classList.contains('stale')"))

    def test_a_daemon_of_another_version_asks_for_a_reload(self):
        self.open()
        SERVER.revision = "ba9876543210"
        self.set("every", "2")
        self.page.wait("document.querySelector('#state.bad')")
        self.assertIn("reload this page", self.text("state"))

    def test_parts_that_are_refused_say_why_and_the_others_work(self):
        SERVER.refused = {"/api/v1/top", "/api/v1/stalls", "/api/v1/snapshots"}
        self.open()
        for part in ("processes-error", "stalls-error", "health"):
            self.assertIn("this needs a password", self.text(part))
        self.assertEqual(len(self.rows("units")), 3)
        self.set("every", "2")
        self.page.wait("document.querySelector('#state:not(.bad)')")
        time.sleep(2.5)
        self.assertGreater(len(self.asked("/api/v1/units")), 2)
        self.assertEqual(len(self.asked("/api/v1/top")), 1)  # or the browser asks for a password again
        self.assertFalse(self.page.value("document.getElementById('stalls-none').offsetHeight > 0"))


def screenshot(path):
    page = CHROMIUM.open(f"http://{SERVER.address}/")
    page.wait(READY)
    # Twice: how high the page is depends on its width, and on whether it has a scroll bar.
    for _ in range(2):
        height = page.value("Math.ceil(document.body.getBoundingClientRect().bottom)")
        page.call("Emulation.setDeviceMetricsOverride", width=1000, height=height + 20,
                  deviceScaleFactor=1, mobile=False)
    page.screenshot(path)
    page.close()


if __name__ == "__main__":
    try:
        CHROMIUM = browser.Browser()
    except browser.Missing as missing:
        print(f"SKIP: {missing}")
        sys.exit(77)
    SERVER = server.Server(sys.argv[1])
    try:
        if sys.argv[2:3] == ["--screenshot"]:
            screenshot(sys.argv[3])
            sys.exit(0)
        program = unittest.main(argv=[sys.argv[0], *sys.argv[2:]], exit=False)
        sys.exit(0 if program.result.wasSuccessful() else 1)
    finally:
        CHROMIUM.close()
