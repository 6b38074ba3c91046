# SPDX-License-Identifier: Apache-2.0
"""The flame graph in headless Chromium: served under its policy, and as files of offcpuctl.

Usage: page_test.py ASSETS OFFCPUCTL PAGE_SERVER [--screenshot FILE | unittest options]
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import urllib.request

import browser
import fixture
import server
from flame_case import FlameCase, READY, busy, hue


class ServedPage(FlameCase, browser.LightAndDark):
    def test_draws_what_is_not_idle_and_its_totals_are_those_of_the_data(self):
        self.open()
        data = fixture.answer(range(6))
        self.assertEqual(self.totals()["allNs"], fixture.total(data))
        self.assertEqual(self.totals()["shownNs"], fixture.total(data, keep=busy))
        milliseconds = int(fixture.total(data, keep=busy) / 1e6 + 0.5)  # Intl rounds halves up, Python to even
        self.assertIn(f"{milliseconds / 1e3:.3f} s in ", self.text("totals"))
        self.assertIn("pread", self.names())
        self.assertNotIn("epoll_wait", self.names())
        self.assertIn("synchronize_rcu +2", self.names())  # a program that waits for the kernel
        self.assertNotIn("rcu_gp_kthread", self.names())  # a thread of it that has no work

    def test_what_is_idle_goes_by_what_waits_are_for(self):
        self.open()
        self.assertIn("ProcSleep", self.names())  # a row lock, by poll
        self.assertNotIn("runtime.stopm", self.names())  # an idle thread, by lock
        self.assertNotIn("waitpid", self.names())  # a shell, whose command has a row
        disabled = "[...document.querySelectorAll('#%s input')].filter(e => e.disabled).map(e => e.value)"
        self.assertEqual(set(self.page.value(disabled % "reasons")), {"condvar", "child"})
        self.assertEqual(set(self.page.value(disabled % "purposes")), {"work", "answer"})
        self.set("#idle", True)
        self.assertLessEqual({"ProcSleep", "runtime.stopm", "waitpid"}, self.names())
        self.assertEqual(self.page.value(disabled % "reasons"), [])
        self.assertEqual(self.page.value(disabled % "purposes"), [])

    def test_widths_are_shares(self):
        self.open()
        data = fixture.answer(range(6))
        width = self.page.value("document.getElementById('chart').clientWidth")
        self.assertAlmostEqual(self.frame("all")["width"], width, delta=0.1)
        for comm in ("nginx", "postgres", "java", "kworker/0:1"):
            ns = fixture.total(data, keep=lambda row: busy(row) and row["comm"] == comm)
            share = ns / fixture.total(data, keep=busy)
            self.assertAlmostEqual(self.frame(comm)["width"], share * width, delta=0.1)

    def test_one_switch_shows_idle_waits(self):
        self.open()
        self.set("#idle", True)
        self.assertIn("epoll_wait", self.names())
        self.assertEqual(self.totals()["shownNs"], self.totals()["allNs"])

    def test_filters_by_reason_and_by_cgroup(self):
        self.open()
        data = fixture.answer(range(6))
        self.set("#reasons input[value=disk]", False)
        self.assertNotIn("pread", self.names())
        self.assertEqual(self.totals()["shownNs"], fixture.total(
            data, keep=lambda row: busy(row) and row["reason"] != "disk"))
        self.set("#reasons input[value=disk]", True)
        self.set("#cgroup", "/system.slice")
        self.assertEqual(self.totals()["shownNs"], fixture.total(
            data, keep=lambda row: busy(row) and row["cgroup"].startswith("/system.slice/")))
        self.set("#cgroup", "/kubepods.slice/pod1")
        self.assertEqual(self.names() & {"nginx", "postgres", "java"}, {"java"})

    def test_filters_and_groups_by_what_waits_are_for(self):
        self.open()
        data = fixture.answer(range(6))
        self.set("#purposes input[value=storage]", False)
        self.assertNotIn("pread", self.names())
        self.assertIn("LWLockAcquire", self.names())
        self.assertEqual(self.totals()["shownNs"], fixture.total(
            data, keep=lambda row: busy(row) and row["for"] != "storage"))
        self.set("#purposes input[value=storage]", True)
        self.set("#group", "for")
        self.assertLessEqual({"lock", "storage", "unknown"}, self.names())
        self.set("#group", "site")
        self.assertIn("postgresql-lwlock", self.names())

    def test_zooms_by_click_and_back(self):
        self.open()
        whole = self.frame("all")["width"]
        self.click(self.frame("LWLockAcquire"))
        self.assertAlmostEqual(self.frame("LWLockAcquire")["width"], whole, delta=0.1)
        self.assertNotIn("nginx", [f["name"] for f in self.frames() if f["width"] > 1])
        self.page.value("document.getElementById('unzoom').click()")
        self.assertLess(self.frame("LWLockAcquire")["width"], whole)
        self.assertTrue(self.page.value("document.getElementById('unzoom').disabled"))

    def test_searches_and_says_the_share(self):
        self.open()
        data = fixture.answer(range(6))
        self.page.press("/")
        self.assertEqual(self.page.value("document.activeElement.id"), "search")
        self.page.type("FUTEX")
        share = 100 * fixture.total(data, keep=lambda row: busy(row) and row["reason"] == "lock"
                                    ) / fixture.total(data, keep=busy)
        self.assertEqual(self.text("found"), f"{share:.1f} % matches")
        self.assertEqual(hue(self.frame("futex_wait")["fill"]), 300)
        self.assertNotEqual(hue(self.frame("pread")["fill"]), 300)
        self.set("#search", "/^(pread|fdatasync)$/")
        share = 100 * fixture.total(data, keep=lambda row: row["reason"] == "disk"
                                     and not row["kernel_thread"]) / fixture.total(data, keep=busy)
        self.assertEqual(self.text("found"), f"{share:.1f} % matches")
        self.set("#search", "/(/")
        self.assertIn("Invalid regular expression", self.text("found"))
        self.set("#search", "")
        self.assertNotIn(300, [hue(f["fill"]) for f in self.frames() if f["fill"][0] == "h"])

    def test_icicle_and_flame(self):
        self.open()
        self.assertLess(self.frame("all")["top"], self.frame("nginx")["top"])
        self.assertLess(self.frame("nginx")["top"], 300, "processes are on the first screen")
        self.set("#orientation", "flame")
        self.assertGreater(self.frame("all")["top"], self.frame("nginx")["top"])

    def places(self):
        return self.page.value("""[...document.querySelectorAll('#places li')].map(
          item => [...item.children].map(each => each.textContent))""")

    def test_the_largest_places_stand_beside_the_picture(self):
        self.open()
        names = [(comm, name) for name, comm, _ in self.places()]
        self.assertEqual(names[:3], [("postgres", "fdatasync"), ("nginx", "pread"), ("postgres", "futex_wait")])
        self.assertNotIn(("nginx", "epoll_wait"), names)
        self.page.value("document.querySelector('#places button').click()")
        self.assertEqual(hue(self.frame("fdatasync")["fill"]), 300)
        self.assertIn("% matches", self.text("found"))
        self.page.value("document.querySelector('#places button').click()")
        self.assertEqual(self.text("found"), "")

    def test_the_controls_open_one_at_a_time(self):
        self.open()
        box = self.page.value("document.getElementById('controls').offsetHeight")
        self.assertLess(box, 44, "one line")
        self.page.value("document.querySelector('#range summary').click()")
        self.page.value("[...document.querySelectorAll('summary')].at(-1).click()")
        self.page.wait("document.querySelectorAll('details[open]').length === 1")
        self.page.value("document.querySelector('details[open] select').focus()")
        self.page.press("Escape")
        self.page.wait("document.querySelectorAll('details[open]').length === 0")
        self.assertEqual(self.page.value("document.activeElement.innerText"), "View")

    def test_waits_in_progress_are_hatched(self):
        self.open()
        data = fixture.answer(range(6))
        progress = fixture.total(data, keep=lambda row: row["in_progress"] == 1)
        self.assertEqual(self.totals()["progressNs"], progress)
        self.assertEqual(self.frame("[in progress]")["fill"], "url(#in-progress)")
        self.assertEqual(self.page.value("document.querySelectorAll('#in-progress').length"), 1)

    def test_waker_chains_are_upside_down_above_the_stack(self):
        self.open()
        self.set("#orientation", "flame")
        self.set("#wakers", True)
        self.set("#kernel", True)
        self.assertEqual(self.totals()["shownNs"],
                         fixture.total(fixture.answer(range(6)), keep=busy))
        chain = ["futex_wait_queue", "--", "futex_wake", "do_syscall_64", "entry_SYSCALL_64",
                 "LWLockRelease", "exec_query", "main", "postgres"]
        left = self.frame("futex_wait_queue")["left"]
        column = sorted((f for f in self.frames() if abs(f["left"] - left) < 0.5),
                        key=lambda f: -f["top"])
        names = [f["name"] for f in column]
        self.assertEqual(names[names.index("futex_wait_queue"):], chain)
        self.assertEqual(hue(self.frame("futex_wake")["fill"]), 150)

    def test_time_range(self):
        self.open()
        self.set("#range [data-end=first]", "4")
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer([4, 5])))
        self.set("#range [data-end=last]", "4")
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer([4])))
        self.assertIn(("/api/v1/snapshots/merge", {"sequence": "5"}), SERVER.requests)
        self.page.value("document.querySelector('[data-minutes=Infinity]').click()")
        self.page.wait(READY)
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer(range(6))))

    def test_the_address_chooses_range_and_cgroup(self):
        """As dashboards link here: ISO text, or seconds since 1970."""
        begin = fixture.BEGIN.timestamp()
        for query in ("from=2026-11-20T12:02:30Z&to=2026-11-20T12:03:30.000Z",
                      f"from={begin + 150}&to={begin + 210}"):
            self.open(url=f"http://{SERVER.address}/flame?{query}&cgroup=/system.slice")
            self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer([2, 3])))
            self.assertEqual(self.totals()["shownNs"], fixture.total(
                fixture.answer([2, 3]),
                keep=lambda row: busy(row) and row["cgroup"].startswith("/system.slice/")))
            self.page.close()
        # Of a point in a dashboard: the minute around it. Two of its snapshots are in that.
        self.open(url=f"http://{SERVER.address}/flame?at={(begin + 180) * 1000:.0f}")
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer([2, 3])))
        self.page.close()
        self.open(url=f"http://{SERVER.address}/flame?from={begin + 301}")
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer([5])))
        self.page.value("document.querySelector('[data-minutes=Infinity]').click()")
        self.page.wait(READY)
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer(range(6))))

    def test_an_address_that_cannot_be_obeyed_says_why(self):
        self.open(url=f"http://{SERVER.address}/flame?from=yesterday")
        self.assertIn("from=yesterday: use a time such as", self.text("message"))
        self.page.close()
        self.open(url=f"http://{SERVER.address}/flame?to=2020-01-01T00:00:00Z")
        self.assertIn("No snapshot is kept of the time", self.text("message"))
        self.page.value("document.getElementById('refresh').click()")
        self.page.wait("document.querySelector('#chart svg')")
        self.page.close()
        self.open(url=f"http://{SERVER.address}/flame?cgroup=/gone.slice")
        self.assertIn("No wait that the filters admit was sampled", self.text("message"))
        self.assertEqual(self.page.value("document.getElementById('cgroup').value"), "/gone.slice")

    def test_difference_in_red_and_blue(self):
        self.open()
        self.set("#range [data-end=first]", "3")
        self.set("#compare", True)
        data = fixture.answer([3, 4, 5], [0, 1, 2])
        self.assertEqual(self.totals()["shownNs"], fixture.total(data, keep=busy))
        self.assertEqual(self.totals()["beforeNs"], fixture.total(data, "before_ns", busy))
        # Stacks 0, 3, 6 stay, 1 and 4 grow, 2 and 5 shrink; idle ones are hidden.
        self.assertEqual(hue(self.frame("pread")["fill"]), 0)
        self.assertIn("0%", self.frame("pread")["fill"])
        self.assertEqual(hue(self.frame("LWLockAcquire")["fill"]), 214)
        self.set("#idle", True)
        self.assertEqual(hue(self.frame("epoll_wait")["fill"]), 4)
        narrow = self.frame("LWLockAcquire")["width"]
        self.set("#width", "beforeNs")
        self.assertGreater(self.frame("LWLockAcquire")["width"], narrow)
        self.assertEqual(SERVER.requests[-1][1]["normalize"], "true", "rates are compared")
        self.assertEqual([place for place in self.places() if place[0] == "pread"], [], "it did not change")
        self.set("#normalize", False)
        self.assertNotIn("normalize", SERVER.requests[-1][1])

    def test_tooltip_tells_time_share_and_episodes(self):
        self.open()
        frame = self.frame("pread")
        self.page.hover(frame["left"] + frame["width"] / 2, frame["top"] + 9)
        self.page.wait("!document.getElementById('tooltip').hidden")
        data = fixture.answer(range(6))
        ns = fixture.total(data, keep=lambda row: row["comm"] == "nginx" and busy(row))
        self.assertIn(f"{float(f'{ns / 1e9:.3g}'):g} s", self.text("tooltip"))
        self.assertIn("%", self.text("tooltip"))
        self.assertIn("420 episodes", self.text("tooltip"))
        self.assertIn("server", self.text("tooltip"))

    def test_keyboard_walks_and_zooms(self):
        self.open()
        self.page.value("document.getElementById('chart').focus()")
        self.page.press("ArrowDown")
        self.assertTrue(self.text("details").startswith("all,"))
        biggest = max((f for f in self.frames() if f["name"] in ("nginx", "postgres", "java")),
                      key=lambda f: f["width"])
        self.page.press("ArrowDown")
        self.assertTrue(self.text("details").startswith(biggest["name"] + ","),
                        self.text("details"))
        self.page.press("Enter")
        self.assertAlmostEqual(self.frame(biggest["name"])["width"], self.frame("all")["width"], places=6)
        self.page.press("Escape")
        self.assertLess(self.frame(biggest["name"])["width"], self.frame("all")["width"])
        self.page.press("ArrowUp")
        self.assertTrue(self.text("details").startswith("all,"))

    def test_hostile_names_are_text(self):
        self.open("hostile")
        self.assertEqual(self.totals()["shownNs"],
                         fixture.total(fixture.answer(range(6), stacks=fixture.HOSTILE_STACKS)))
        shown = self.names()
        for name in ("</script><script>document.title='broken'</script>", "a;b c 3",
                     "line\\x0afeed", "broken \ufffd", "turned \\u202eround", "&lt;b&gt;"):
            self.assertIn(name, shown)
        self.set("#group", "cgroup")
        self.set("#wakers", True)
        frame = self.frame("a;b c 3")
        self.page.hover(frame["left"] + 2, frame["top"] + 9)
        self.assertEqual(self.page.value("document.title"), "offcpud: off-CPU flame graph")
        self.assertEqual(self.page.value("document.querySelectorAll('img, script').length"), 1)

    def test_the_empty_state_says_what_to_do(self):
        self.open("empty")
        self.assertIn("the first comes after snapshots.interval", self.text("message"))
        self.set("#compare", True)
        self.set("#compare", False)
        self.assertIn("the first comes after snapshots.interval", self.text("message"))
        SERVER.mode = "plain"
        self.page.value("document.getElementById('refresh').click()")
        self.page.wait("document.querySelector('#chart svg')")
        self.assertEqual(self.text("message"), "")

    def test_only_idle_waits_are_one_click_away(self):
        self.open()
        for reason in ("disk", "lock", "network", "kernel", "poll"):
            self.set(f"#reasons input[value={reason}]", False)
        self.assertIn("idle waits", self.text("message"))
        self.page.value("document.getElementById('showIdle').click()")
        self.assertIn("GangWorker::loop()", self.names())

    def test_nothing_is_asked_of_anybody_else(self):
        self.open()
        urls = [event["request"]["url"] for event in
                self.page.events("Network.requestWillBeSent")]
        self.assertGreaterEqual(len(urls), 5)
        for url in urls:
            self.assertTrue(url.startswith(f"http://{SERVER.address}/"), url)


class Refusals(FlameCase):
    def tearDown(self):
        self.page.close()  # the console has the status that was answered

    def test_the_sentence_of_the_daemon_is_shown(self):
        self.open("off")
        self.assertIn("set snapshots.enabled to true", self.text("message"))


class Files(FlameCase):
    def flame(self, name, *arguments, mode="plain"):
        SERVER.mode = mode
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        path = pathlib.Path(directory.name) / name
        done = subprocess.run([OFFCPUCTL, "flame", "--server", SERVER.address, "-o", str(path),
                               *arguments], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(f"{path}: ", done.stdout)
        return path

    def test_a_page_in_one_file(self):
        path = self.flame("a.html")
        self.open(url=path.as_uri())
        self.assertEqual(self.totals()["allNs"], fixture.total(fixture.answer(range(6))))
        self.assertLessEqual({"pread", "vfs_read +3"}, self.names())
        self.set("#kernel", True)
        self.assertLessEqual({"pread", "vfs_read", "folio_wait"}, self.names())
        self.assertTrue(self.page.value("document.getElementById('live').hidden"))
        self.assertIn("6 snapshots", self.text("origin"))
        urls = {event["request"]["url"] for event in
                self.page.events("Network.requestWillBeSent")}
        self.assertEqual(urls, {path.as_uri()})

    def test_a_difference_in_one_file(self):
        path = self.flame("a.html", "--sequence", "4", "--base-sequence", "1")
        self.open(url=path.as_uri())
        self.assertEqual(hue(self.frame("LWLockAcquire")["fill"]), 214)
        self.assertIn("compared with", self.text("origin"))

    def test_hostile_names_in_files(self):
        self.open(url=self.flame("a.html", mode="hostile").as_uri())
        self.assertEqual(self.totals()["shownNs"],
                         fixture.total(fixture.answer(range(6), stacks=fixture.HOSTILE_STACKS)))
        self.assertEqual(self.page.value("document.title"), "offcpud: off-CPU flame graph")

    def test_other_files_are_refused(self):
        done = subprocess.run([OFFCPUCTL, "flame", "--server", SERVER.address, "-o", "a.svg"],
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 64)
        self.assertIn("the name has to end in .html", done.stderr)


class RoutesOfTheDaemon(FlameCase):
    """The C++ side with its headers and its own JSON, in place of the canned one. It has stacks only."""
    expected = ["Failed to load resource: the server responded with a status of 503 (Service Unavailable)"]

    def setUp(self):
        super().setUp()
        self.program = subprocess.Popen([PAGE_SERVER], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.program.communicate)
        self.base = "http://" + self.program.stdout.readline().strip()

    def tearDown(self):
        super().tearDown()
        self.program.stdin.close()
        self.program.wait(20)
        self.program.stdin = None

    def get(self, path):
        with urllib.request.urlopen(self.base + path, timeout=60) as answer:
            return json.load(answer)

    def test_the_page_says_what_the_daemon_does(self):
        self.open(url=self.base + "/flame")
        data = self.get("/api/v1/snapshots/merge?from=0")
        self.assertEqual(data["snapshots"], 5)
        self.assertEqual(self.totals()["allNs"], fixture.total(data))
        self.assertEqual(self.totals()["shownNs"], fixture.total(data, keep=busy))
        self.page.wait("document.querySelector('#strip .brush')")
        self.assertIn("How many threads waited is not shown: ", self.text("time-note"))
        self.set("#idle", True)
        self.set("#wakers", True)
        self.assertEqual(self.totals()["shownNs"], fixture.total(data))
        self.set("#kernel", True)
        self.assertEqual(self.totals()["shownNs"], fixture.total(data))
        self.assertEqual(self.page.value("document.title"), "offcpud: off-CPU flame graph")

    def test_a_difference(self):
        self.open(url=self.base + "/flame")
        self.set("#range [data-end=first]", "2")
        self.set("#range [data-end=last]", "3")
        self.set("#compare", True)
        first, second = (self.get(f"/api/v1/snapshots/merge?sequence={i}") for i in (3, 4))
        self.assertEqual(self.totals()["allNs"], fixture.total(first) + fixture.total(second))
        before = [self.get(f"/api/v1/snapshots/merge?sequence={i}") for i in (1, 2)]
        self.set("#idle", True)
        self.assertEqual(self.totals()["beforeNs"], sum(map(fixture.total, before)))
        hues = {hue(f["fill"]) for f in self.frames() if f["fill"].startswith("hsl(")}
        self.assertLessEqual({4, 214}, hues)


def screenshot(path):
    page = CHROMIUM.open(f"http://{SERVER.address}/flame")
    page.wait(READY)
    page.value("document.querySelector('#search').value = 'futex'")
    page.value("document.querySelector('#search').dispatchEvent(new Event('input'))")
    height = page.value("Math.ceil(document.body.getBoundingClientRect().bottom)")
    page.call("Emulation.setDeviceMetricsOverride", width=1200, height=height,
              deviceScaleFactor=1, mobile=False)
    page.screenshot(path)
    page.close()


if __name__ == "__main__":
    ASSETS, OFFCPUCTL, PAGE_SERVER = sys.argv[1:4]
    with browser.opened() as CHROMIUM:
        SERVER = server.Server(ASSETS)
        FlameCase.server, FlameCase.chromium = SERVER, CHROMIUM
        if sys.argv[4:5] == ["--screenshot"]:
            screenshot(sys.argv[5])
        else:
            browser.run_tests(sys.argv[4:])
