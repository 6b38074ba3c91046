# SPDX-License-Identifier: Apache-2.0
"""The page `/` in headless Chromium, over canned answers.

Usage: overview_test.py ASSETS [unittest options]
"""
import sys
import time

import browser
import overview_fixture as fixture
import server
from overview_case import TOLD, OverviewCase

ISO = "2026-11-20T{}Z"


class Overview(OverviewCase, browser.LightAndDark):
    def tearDown(self):
        self.assertEqual(self.page.problems(), [])

    def test_the_first_screen_names_host_trouble_since_and_culprit(self):
        self.open()
        self.assertEqual(self.text("#host"), "db-01.example.net")
        self.assertEqual(self.text("#state"), "live, 12:10:00 UTC")
        first, second = self.texts("#verdict li")[:2]
        self.assertIn("orders-api: 8.0 threads wait for an answer of postgresql, 0.90 in the hour before.", first)
        self.assertIn("since 12:08:41, 1 min", first)
        self.assertEqual(second, "that is its own thread.")
        self.assertTrue(self.page.value("document.querySelector('#verdict li').classList.contains('trouble')"))
        self.assertEqual(self.page.value("document.title"), "● db-01.example.net · offcpud")
        for part in ("#verdict", "#strip", "#units", "#unit .chain"):
            box = self.box(part)
            self.assertLess(box["y"] + min(box["height"], 200), 900, part)

    def test_a_unit_of_a_sentence_is_a_link_to_it(self):
        self.open()
        self.click("#verdict a[title='postgresql.service']")
        self.page.wait("document.getElementById('unit-title').innerText === 'postgresql.service'")
        self.assertEqual(self.parameter("unit"), "postgresql.service")

    def test_rows_say_how_many_for_what_for_whom_and_how_long(self):
        self.open()
        self.assertEqual(self.row("orders-api"),
                         ["orders-api", "8.1", "", "", "1 min 19 s", "> 100×", "8, 1 min 19 s", "postgresql", "0.10"])
        self.assertEqual(self.row("postgresql")[7], "its own threads")
        self.assertEqual(self.row("nginx")[4:8], ["31.3 ms", "8.0×", "", "orders-api 49 %"])
        self.assertEqual(self.row("/kubepods.slice/pod1/c1")[7], "backup 80 %")
        widths = self.page.value("""[...document.querySelectorAll('tr[data-unit="postgresql.service"] .bar i')]
          .map(each => [each.className, each.getBoundingClientRect().width])""")
        self.assertEqual([name for name, _ in widths], ["lock", "storage"])
        self.assertAlmostEqual(widths[0][1] / widths[1][1], 80, delta=45)  # at least a pixel

    def test_trouble_comes_first_and_who_waits_hardly_is_one_line(self):
        self.open()
        self.assertEqual(self.names()[:3], ["postgresql", "orders-api", "nginx"])
        self.assertEqual(len(self.rows()), 6)
        self.assertIn("14 units more hardly wait.", self.text("#list-rest"))
        self.click("#list-rest button")
        self.assertEqual(len(self.rows()), 20)
        self.assertEqual(self.parameter("all"), "1")

    def test_idle_waits_are_named_in_one_quiet_line(self):
        self.open()
        idle = self.text("#list-idle")
        self.assertIn("Left out as idle: 56 threads wait for work, 30 for a timer; of 2.0 nobody can tell.", idle)
        self.assertIn("1 wait unusually long, and nobody can tell what for", idle)
        self.assertEqual(self.row("no unit (/)")[1], "0.01")

    def test_a_calm_host(self):
        self.open("calm")
        self.assertEqual(self.text("#verdict .first"),
                         "Nothing is stuck, and nothing waits much longer than in the hour before.")
        self.assertEqual(self.count("#verdict .trouble, tr.trouble"), 0)
        self.assertEqual(self.page.value("document.title"), "db-01.example.net · offcpud")
        self.assertEqual(self.row("nginx")[7], "10.0.3.15:5432")

    def test_a_stall_is_not_taken_for_what_the_sentence_is_about(self):
        self.open("other")
        self.assertEqual(self.texts("#verdict li"), ["Stuck: nginx (1, 30 s)."])
        self.assertEqual(self.row("nginx")[6], "1, 30 s")

    def test_what_is_usual_is_said_only_where_it_is_known(self):
        for before, words in ((720.0, "than in the 12 min before."), (200.0, "Nothing is stuck.")):
            SERVER.before = before
            self.open("calm")
            self.assertTrue(self.text("#verdict .first").endswith(words), before)
        SERVER.before = 200.0
        self.open()
        self.assertEqual(self.texts("tr.trouble a"), ["postgresql", "orders-api"])  # these are stuck, nginx is not

    def test_a_daemon_that_just_started(self):
        SERVER.uptime = 4.0
        self.open("starting", ready="document.querySelector('#verdict .first')?.innerText.startsWith('First')")
        self.assertEqual(self.text("#verdict"), "First numbers come in seconds.\n\nThe daemon started 4 s ago.")

    def test_without_stacks_it_says_what_is_missing(self):
        self.open("nostacks")
        self.assertIn("What threads wait for is unknown.", self.text("#verdict"))
        self.assertIn("stacks are not sampled", self.text("#verdict"))
        self.assertIn("by reason", self.text("#list-idle"))

    def test_moments_after_the_start_it_says_when_to_ask_again(self):
        self.open("young")
        self.assertIn("What threads wait for is not known yet.", self.text("#verdict"))
        self.assertIn("the daemon started 7 s ago; ask again in 10 s", self.text("#verdict"))

    def test_who_has_less_than_a_fifth_is_not_named(self):
        self.open("vague")
        self.assertEqual(self.row("nginx")[7], "unknown")
        self.assertEqual(self.row("mesh")[7], "many")

    def test_the_chosen_unit_is_beside_the_table(self):
        self.open()
        self.assertEqual(self.chosen(), "orders-api.service")  # the worst, before anybody chooses
        self.click("tr[data-unit='nginx.service'] td")
        self.assertEqual(self.chosen(), "nginx.service")
        self.page.wait(TOLD)
        table, unit = self.box("#units"), self.box("#unit")
        self.assertGreaterEqual(unit["x"], table["x"] + table["width"] - 1)
        self.assertLess(abs(unit["y"] - table["y"]), 100)
        self.assertEqual(self.page.value("scrollY"), 0)
        self.assertIn(("nginx.service", "60s"), [(query.get("cgroup"), query.get("window"))
                                                 for query in self.asked("/api/v1/why")])

    def test_the_chain_leads_to_its_end(self):
        self.open()
        names = self.texts("#unit .chain .name")
        self.assertEqual(names, ["orders-api.service", "postgresql postgres", "its own threads", "device vda"])
        vias = self.texts("#unit .chain .via")
        self.assertEqual(vias, ["answer 8.0, 99 %", "lock 8.0", "answer 0.30, 3.0 %"])
        texts = self.texts("#unit .chain .text")
        self.assertEqual(texts[1], "waits for a lock (postgresql-heavyweight-lock), 98 % of that time")
        self.assertEqual(texts[2],
                         "thread postgres (tid 28704) holds a row lock, for which 8 threads wait now; it sleeps")
        self.assertEqual(self.count("#unit .chain .cause"), 1)
        self.click("#unit .chain a")
        self.page.wait("document.getElementById('unit-title').innerText === 'postgresql.service'")

    def test_who_is_busy_with_other_requests(self):
        self.open(query="?unit=nginx.service")
        self.assertEqual(self.texts("#unit .chain .text")[1],
                         "is busy with other requests, 62 % of that time; mostly waits for an answer")

    def test_sites_stalls_minutes_and_threads_of_the_unit(self):
        self.open()
        site = self.texts("#unit section:nth-of-type(3) tbody tr:first-child td")
        self.assertEqual(site, ["libpq-query", "7.9", "1 min 19 s", "8, 1 min 19 s"])
        stuck = self.texts("#unit .stalls tr td")[:3]
        self.assertEqual([stuck[0], stuck[2]], ["1 min 19 s", "8 threads"])
        self.assertEqual(self.count("#unit .minutes .area"), 2)
        threads = self.texts("#unit section:last-of-type tr")
        self.assertEqual([row.split("\t")[0] for row in threads], ["301 handler-5", "302 handler-6", "304 waiter"])

    def test_ages_are_those_of_now_as_the_stalls_have_them(self):
        self.open(query="?unit=postgresql.service")
        self.assertIn("8, 1 min 20 s", self.text("#unit section:nth-of-type(3)"))
        SERVER.window = {"seconds": 10.0, "age_seconds": 4.0}
        self.again()
        self.page.wait("document.querySelector('#unit section:nth-of-type(3)').innerText.includes('8, 1 min 24 s')")

    def test_keys_walk_through_units_and_views(self):
        self.open()
        self.press("ArrowDown")
        self.page.wait("document.getElementById('unit-title').innerText === 'nginx.service'")
        self.press("k", "k")
        self.page.wait("document.getElementById('unit-title').innerText === 'postgresql.service'")
        self.press("w")
        self.page.wait("document.querySelector('#graph svg')")
        self.assertEqual(self.parameter("view"), "graph")
        self.press("u")
        self.page.wait("!document.getElementById('units').hidden")
        self.press("Escape")
        self.page.wait("document.getElementById('unit-title').innerText === 'orders-api.service'")
        self.assertIsNone(self.parameter("unit"))
        self.press("?")
        self.assertTrue(self.page.value("document.getElementById('help').open"))
        self.press("Escape")
        self.press("Enter")
        self.page.wait("location.pathname === '/flame'")
        self.assertEqual(self.parameter("from"), "2026-11-20T12:09:00.000Z")

    def test_find(self):
        self.open()
        self.press("/")
        self.assertEqual(self.page.value("document.activeElement.id"), "find")
        self.page.type("idle-1")
        self.page.wait("document.querySelectorAll('#units tbody tr').length === 4")
        self.assertEqual(self.parameter("find"), "idle-1")
        self.press("Escape")
        self.page.wait("document.querySelectorAll('#units tbody tr').length === 6")
        self.assertIsNone(self.parameter("find"))

    def test_sorting(self):
        self.open()
        self.click("th[data-sort='name'] button")
        self.assertEqual(self.names()[:2], ["/kubepods.slice/pod1/c1", "backup"])
        self.assertEqual(self.page.value("document.querySelector('th[data-sort=name]').ariaSort"), "ascending")
        self.click("th[data-sort='cpus'] button")
        self.assertEqual(self.names()[0], "/kubepods.slice/pod1/c1")
        self.click("th[data-sort='cpus'] button")
        self.assertEqual(self.names()[0], "postgresql")
        self.assertIsNone(self.parameter("sort"))

    def test_the_address_holds_the_state_and_back_works(self):
        self.open(query="?unit=nginx.service&sort=name&find=n")
        self.assertEqual(self.chosen(), "nginx.service")
        self.assertEqual(self.page.value("document.getElementById('find').value"), "n")
        self.assertEqual(self.page.value("document.querySelector('th[data-sort=name]').ariaSort"), "ascending")
        self.click("#to-graph")
        self.page.wait("document.querySelector('#graph svg')")
        self.page.value("history.back()")
        self.page.wait("!document.getElementById('units').hidden")
        self.assertEqual(self.chosen(), "nginx.service")
        self.assertIsNone(self.parameter("view"))

    def test_the_strip_shows_ten_minutes_by_what_is_waited_for(self):
        self.open()
        self.assertEqual(self.page.value("""[...document.querySelectorAll('#strip .area')].map(
          each => each.classList[1])"""), ["cpu", "lock", "answer", "storage"])
        self.assertEqual(self.texts("#legend > span"), ["answer 12", "lock 8.0", "CPU 0.23", "storage 0.21"])
        self.assertEqual(self.text("#range-text"), "now, the last 1 min")
        self.assertEqual(self.page.value("document.querySelector('#strip text.mark').textContent"),
                         "12:08:40 stuck: lock")
        box = self.box("#strip svg")
        self.page.hover(box["x"] + box["width"] - 20, box["y"] + 60)
        self.page.wait("!document.getElementById('tip').hidden")
        self.assertIn("12:09:50 to 12:10:00", self.text("#tip"))
        self.assertIn("8.0", self.text("#tip"))

    def test_a_range_is_dragged_and_the_numbers_follow(self):
        self.open()
        box = self.box("#strip svg")
        left, width, y = box["x"] + 40, box["width"] - 40, box["y"] + 60
        def mouse(kind, step, **more):
            self.page.call("Input.dispatchMouseEvent", type=kind, x=left + width * step / 60, y=y, button="left",
                           clickCount=1, **more)
        mouse("mousePressed", 12.2)
        mouse("mouseMoved", 20, buttons=1)
        mouse("mouseMoved", 23.7, buttons=1)
        mouse("mouseReleased", 23.7)
        self.page.wait("document.getElementById('state').innerText.startsWith('not live')")
        self.assertEqual(self.text("#range-text"), "12:02:00 to 12:04:00, 2 min")
        self.assertEqual((self.parameter("from"), self.parameter("to")),
                         (ISO.format("12:02:00"), ISO.format("12:04:00")))
        self.assertIn(("120s", "2026-11-20T12:04:00.000Z"), [(query.get("window"), query.get("to"))
                                                             for query in self.asked("/api/v1/units")])
        self.assertEqual(self.row("nginx")[-1], "0.50")  # of then
        self.assertEqual(self.row("postgresql")[6], "")
        self.assertIn("Threads are known of now alone", self.text("#unit"))
        self.assertIn("from=2026-11-20T12:02:00.000Z&to=2026-11-20T12:04:00.000Z",
                      self.page.value("document.getElementById('range-flame').href"))
        self.press("n")
        self.page.wait("document.getElementById('state').innerText.startsWith('live')")
        self.assertIsNone(self.parameter("from"))

    def test_keys_move_the_range_and_a_click_takes_what_is_around(self):
        self.open()
        self.press("ArrowLeft")
        self.page.wait("document.getElementById('range-text').innerText === '12:08:50 to 12:09:50, 1 min'")
        self.press("ArrowRight", modifiers=8)
        self.page.wait("document.getElementById('range-text').innerText === '12:08:50 to 12:10:00, 1 min 10 s'")
        box = self.box("#strip svg")
        self.page.click(box["x"] + 40 + (box["width"] - 40) * 30.5 / 60, box["y"] + 60)
        self.page.wait("document.getElementById('range-text').innerText === '12:04:40 to 12:05:30, 50 s'")
        self.click("#live")
        self.page.wait("document.getElementById('range-text').innerText === 'now, the last 1 min'")

    def test_who_waits_for_whom_goes_from_left_to_right(self):
        self.open(query="?view=graph")
        places = self.page.value("""Object.fromEntries([...document.querySelectorAll('#graph .node')].map(
          node => [node.dataset.name, node.getBoundingClientRect().x]))""")
        self.assertEqual(set(places), {"nginx.service", "orders-api.service", "postgresql.service", "redis.service",
                                       "vda", "backup.service"})
        chain = ["nginx.service", "orders-api.service", "postgresql.service", "vda"]
        self.assertEqual([name for name, _ in sorted(places.items(), key=lambda each: each[1]) if name in chain],
                         chain)
        self.assertEqual(self.count("#graph .link"), 5)
        self.assertEqual(self.page.value("document.querySelector('#graph .cause').dataset.name"), "postgresql.service")
        self.assertIn("0.40 threads that wait for nobody knows whom", self.text("#list-rest"))
        self.page.value("document.querySelector('[data-name=\"nginx.service\"]').focus()")
        self.page.wait("document.querySelector('#graph svg.lit')")
        self.assertEqual(self.count("#graph .node.near"), 5)  # all but backup
        self.press("Enter")
        self.page.wait("document.getElementById('unit-title').innerText === 'nginx.service'")

    def test_many_units_and_their_graph(self):
        self.open("many")
        self.assertEqual(len(self.rows()), 60)
        tasks = self.page.value("""(async () => {
          const tasks = [];
          new PerformanceObserver(list => tasks.push(...list.getEntries().map(each => each.duration))).observe(
            {type: 'longtask'});
          for (let i = 0; i < 3; i += 1) {
            document.dispatchEvent(new Event('visibilitychange'));
            await new Promise(done => setTimeout(done, 700));
          }
          return tasks; })()""")  # of 50 ms or longer
        self.assertEqual([task for task in tasks if task >= 100], [], "an update takes much less on a quiet machine")
        self.click("#to-graph")
        self.page.wait("document.querySelector('#graph svg')")
        self.assertEqual(self.count("#graph .link"), 45)
        self.assertIn("15 more lines are smaller", self.text("#list-rest"))
        self.click("#list-rest button")
        self.page.wait("document.querySelectorAll('#graph .link').length === 60")
        boxes = self.page.value("""[...document.querySelectorAll('#graph .node')].map(node => {
          const {x, y, width, height} = node.querySelector('.box').getBoundingClientRect();
          return [x, y, x + width, y + height]; })""")
        for i, (left, top, right, bottom) in enumerate(boxes):
            for other in boxes[:i]:
                apart = left >= other[2] or other[0] >= right or top >= other[3] or other[1] >= bottom
                self.assertTrue(apart, "boxes do not cover each other")

    def test_everything_that_can_be_used_has_a_name_and_is_reached_by_tab(self):
        for query in ("", "?view=graph"):
            self.open(query=query)
            reached = set()
            for _ in range(70):
                self.page.press("Tab")
                reached.add(self.page.value("""(() => { const e = document.activeElement;
                  return e.id || e.dataset?.name || e.getAttribute('aria-label') || e.innerText; })()"""))
            wanted = {"pause", "to-units", "to-graph", "to-flame", "range-flame", "keys"}
            wanted |= {"find", "nginx", "Waiting"} if query == "" else {"nginx.service", "vda"}
            self.assertEqual(wanted - reached, set())
            self.assertTrue(any(each.startswith("Threads that wait over") for each in reached), "the strip")
            tree = self.page.call("Accessibility.getFullAXTree")["nodes"]
            roles = {"button", "link", "searchbox", "image", "region", "navigation", "table"}
            nameless = [node["role"]["value"] for node in tree if not node.get("ignored")
                        and node["role"]["value"] in roles - {"table"} and not node.get("name", {}).get("value")]
            self.assertEqual(nameless, [])

    def test_it_is_live_and_rows_stay_where_they_are_used(self):
        self.open()
        self.page.value("document.querySelector('tr[data-unit=\"nginx.service\"] a').focus()")
        before = fixture.UNITS
        self.addCleanup(setattr, fixture, "UNITS", before)
        idle = fixture.IDLE[0]
        changed = {**idle, "waits": fixture.waits({"storage": (40.0, 5, 0.5, 0, None)}), "running": 0.75}
        fixture.UNITS = [changed, *[one for one in before if one is not idle]]
        self.again()
        self.page.wait("document.querySelector('tr[data-unit=\"idle-00.service\"] .c-waiting')?.innerText === '40'")
        self.assertEqual(self.names()[:4], ["postgresql", "orders-api", "nginx", "/kubepods.slice/pod1/c1"])
        self.assertEqual(self.page.value("document.activeElement.innerText"), "nginx")
        self.page.value("document.activeElement.blur()")
        self.again()
        self.page.wait("document.querySelectorAll('#units tbody tr')[3].dataset.unit === 'idle-00.service'")

    def test_nobody_is_asked_while_it_is_paused_or_cannot_be_seen(self):
        self.open()
        def is_quiet():
            time.sleep(0.5)
            SERVER.requests.clear()
            time.sleep(6)
            return SERVER.requests == []
        self.press("p")
        self.assertTrue(is_quiet())
        self.assertEqual(self.text("#pause"), "Continue")
        self.assertIn("paused", self.text("#state"))
        self.press("p")
        self.page.wait("document.getElementById('state').innerText.startsWith('live')")
        self.page.value("""Object.defineProperty(document, 'hidden', {value: true, configurable: true});
          document.dispatchEvent(new Event('visibilitychange'))""")
        self.assertTrue(is_quiet())
        self.page.value("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
        deadline = time.monotonic() + 20
        while not self.asked("/api/v1/units") and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertTrue(self.asked("/api/v1/units"))

    def test_the_daemons_troubles_are_seen(self):
        self.open()
        self.assertEqual(self.count("#health .bad"), 0)
        self.assertIn("takes 96.0 MB and 0.4 % of the CPUs; nothing lost.", self.text("#health"))
        SERVER.mode = "troubled"
        self.again()
        self.page.wait("document.querySelector('#health .bad')")
        for words in ("subjects_full 1,234", "2 passes have failed", "5 more series are summed in (other)",
                      "processes 4,000 of 4,096", "stacks: needs <b>more</b>"):
            self.assertIn(words, self.text("#health"))
        self.assertIn("thread stacks has been reading process 812 for 47 s", self.text("#banner"))

    def test_hostile_names_are_text(self):
        self.open("hostile")
        shown = "\n".join("\t".join(row) for row in self.rows()) + self.text("#unit") + self.text("#verdict")
        for name in ("</script><script>document.title='broken'</script>", "line\\x0afeed", "broken \ufffd",
                     "turned \\u202eround", "&lt;b&gt;", "${1+1}"):
            self.assertIn(name, shown)
        self.click("#units tbody a")
        self.page.wait(TOLD)
        self.click("#to-graph")
        self.page.wait("document.querySelector('#graph svg')")
        self.assertNotIn("broken'", self.page.value("document.title"))
        self.assertEqual(self.count("img, script"), 1)

    def test_a_narrow_screen_needs_no_sideways_scrolling(self):
        for mode in ("plain", "hostile"):
            for width in (700, 360):
                self.open(mode)
                self.size(width)
                self.page.wait("getComputedStyle(document.querySelector('td.c-on')).display === 'none'")
                self.assertLessEqual(self.page.value("document.documentElement.scrollWidth"), width)
        self.open()
        self.size(700)
        self.page.wait("document.querySelector('.under').offsetHeight > 0")
        self.assertIn("nginx\nanswer: orders-api", self.rows()[2][0])
        self.assertEqual(self.box("#unit")["height"], 0)
        self.click("tr[data-unit='nginx.service'] a")
        self.page.wait("document.querySelector('#unit').offsetHeight > 0")
        self.assertEqual(self.box("#list")["height"], 0)
        self.click(".back")
        self.page.wait("document.querySelector('#list').offsetHeight > 0")

    def test_links_to_the_stacks_of_the_same_time(self):
        self.open(query="?unit=nginx.service")
        link = self.page.value("document.querySelector('#unit section a[href^=flame]').getAttribute('href')")
        self.assertEqual(link, "flame?from=2026-11-20T12:09:00.000Z&to=2026-11-20T12:10:00.000Z"
                               "&cgroup=%2Fsystem.slice%2Fnginx.service")

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
        SERVER.mode = "gone"
        self.again()
        self.page.wait("!document.getElementById('banner').hidden")
        self.assertRegex(self.text("#banner"), r"has not answered since \d\d:\d\d:\d\d UTC; the numbers are from "
                                               r"then\. Trying again every 5 s")
        self.assertTrue(self.page.value("document.querySelector('main').classList.contains('stale')"))
        self.assertEqual(len(self.rows()), 6)
        SERVER.mode, SERVER.uptime = "plain", 2.0
        self.again()
        self.page.wait("document.getElementById('banner').hidden")
        self.assertIn("the daemon was restarted", self.text("#state"))
        self.assertFalse(self.page.value("document.querySelector('main').classList.contains('stale')"))

    def test_a_daemon_of_another_version_asks_for_a_reload(self):
        self.open()
        SERVER.revision = "ba9876543210"
        self.again()
        self.page.wait("!document.getElementById('banner').hidden")
        self.assertIn("reload this page", self.text("#banner"))

    def test_parts_that_are_refused_say_why_and_the_others_work(self):
        SERVER.refused = {"/api/v1/top", "/api/v1/stalls", "/api/v1/changes"}
        SERVER.details = False
        self.open("calm")
        self.assertIn("What is stuck is not told here.", self.text("#verdict"))
        self.assertIn("this needs a password", self.text("#list-idle"))
        self.assertIn("this needs a password", self.text("#unit section:last-of-type"))
        self.assertEqual(self.row("nginx")[7], "answer")
        self.assertIn("This client may not see where threads wait.", self.text("#unit section:nth-of-type(3)"))
        for _ in range(2):
            self.again()
            time.sleep(0.5)
        self.assertGreater(len(self.asked("/api/v1/units")), 2)
        self.assertEqual(len(self.asked("/api/v1/top")), 1)  # or the browser asks for a password again


if __name__ == "__main__":
    with browser.opened() as OverviewCase.chromium:
        SERVER = OverviewCase.server = server.Server(sys.argv[1])
        browser.run_tests(sys.argv[2:])
