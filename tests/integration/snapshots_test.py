# SPDX-License-Identifier: Apache-2.0
"""What is in a snapshot, against programs that know where they waited and for how long."""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

import host
from case import Case, main, slow
from daemon import BUILD, WORKLOADS

INTERVAL = "offcpud_sampling_interval_seconds"
LOCATED_EARLY = "offcpud_stacks_located_early_total"


class Stacks:
    """The answer of /api/v1/snapshots/merge, as rows of names."""

    def __init__(self, answer):
        self.answer = answer
        strings, frames = answer["strings"], answer["frames"]
        names = [[strings[frames[i][0]] for i in stack] for stack in answer["stacks"]]
        columns = answer["columns"]
        self.rows = []
        for values in answer["rows"]:
            row = dict(zip(columns, values))
            for key in ("comm", "thread", "cgroup", "reason", "for", "site", "waker"):
                row[key] = strings[row[key]]
            row["stack"], row["waker_stack"] = names[row["stack"]], names[row["waker_stack"]]
            self.rows.append(row)

    def seconds(self, frame=None, **values):
        """Of the rows with this function on their stack, and these values."""
        return sum(row["ns"] for row in self.select(frame, **values)) / 1e9

    def error(self, frame=None, **values):
        """Standard error of seconds()."""
        return math.sqrt(sum(row["variance"] for row in self.select(frame, **values))) / 1e9

    def select(self, frame=None, **values):
        return [row for row in self.rows
                if (frame is None or frame in row["stack"])
                and all(row[key] == value for key, value in values.items())]


PLACES = ("wait_one", "wait_ten", "wait_hundred", "wait_long")


def blocked_in_places(window):
    """{place: (waits, seconds)} of known_places: its own clock without the waits for a CPU. What is left
    beside the sleeps, some microseconds of running, is as long behind a short one as behind a long one;
    the histogram has all sleeps without it, but knows no places."""
    waits = {place: window.waits_without_delay(place) for place in PLACES}
    count, seconds = (sum(column) for column in zip(*waits.values()))
    behind_each = (seconds - window.blocked("sleep").seconds) / count
    return {place: (count, seconds - count * behind_each)
            for place, (count, seconds) in waits.items()}


class SnapshotCase(Case):
    # So small that everything is sampled, unless a class says otherwise.
    settings = {"snapshots.interval": "1s", "snapshots.stacks_per_second": "100000"}

    def wait_for_interval(self, most):
        """The sampling interval starts at 10 ms and halves once a second at most."""
        for _ in range(200):
            interval = self.daemon.scrape().value(INTERVAL)
            if 0 < interval <= most:
                return
            time.sleep(0.1)
        self.fail(f"the sampling interval stays at {interval} s")

    def expect_long_waits(self, window, truth, stacks):
        """All of them, as they are longer than any sampling interval."""
        count, seconds = truth["wait_long"]
        episodes = sum(row["episodes"] for row in stacks.select("wait_long"))
        # What the host's guard hides falls on all switches alike, long waits get their share.
        missed = window.slack() * count / window.blocked("sleep").count
        self.expect_close("long waits", count, episodes,
                          absolute=0.01 + 3 * missed + min(3, window.slack()))
        # Of those that are there: each one that was missed and counted takes 60 ms with it.
        self.expect_close("their seconds", seconds / count * episodes, stacks.seconds("wait_long"), 0.02)

    def until_all_are_located(self, run):
        """What `run` returns. It is repeated where a busy host had the daemon wait for a CPU for so long
        that a snapshot ended before all that processes map was known, which is counted."""
        for _ in range(4):
            early = self.daemon.scrape().value(LOCATED_EARLY)
            found = run()
            if self.daemon.scrape().value(LOCATED_EARLY) == early:
                break
        return found

    def stacks_since(self, begin, **parameters):
        """Everything sampled since `begin` (a wall clock), once it is kept."""
        now = time.time()
        for _ in range(100):
            kept = self.daemon.get_json("/api/v1/snapshots")["snapshots"]
            if kept and unix_time(kept[-1]["end"]) >= now:
                break
            time.sleep(0.1)
        else:
            self.fail("no snapshot comes")
        query = "".join(f"&{key}={value}" for key, value in parameters.items())
        path = f"/api/v1/snapshots/merge?format=json&from={begin:.3f}{query}"
        return Stacks(self.daemon.get_json(path))


def unix_time(text):
    return datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Totals(SnapshotCase):
    def test_every_wait_is_there_when_all_are_sampled(self):
        """Sums by function are those of the program, and all of them that of the histogram."""
        self.wait_for_interval(0.0001)
        begin = time.time()
        window = self.run_workload("known_places", "--ms", 3000)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        for place in PLACES:
            count, seconds, _ = window.waits(place)
            rows = stacks.select(place)
            episodes = sum(row["episodes"] for row in rows)
            self.expect_close(f"waits in {place}", count, episodes, absolute=window.slack() + 0.01)
            self.expect_at_most(f"seconds in {place}", seconds, stacks.seconds(place))
            # What was counted as missed has no seconds, either.
            least = (count - window.slack()) * (0.06 if place == "wait_long" else 0.001)
            self.expect_at_least(f"seconds in {place}", 0.999 * least, stacks.seconds(place))
        sleep = window.blocked("sleep")
        self.expect_close("all of them (the histogram)", sleep.seconds, stacks.seconds(), 0.001,
                          absolute=0.06 * window.slack())
        roots = Counter(row["stack"][0] for row in stacks.rows)
        self.expect_equal("stacks that are not complete", 0,
                          sum(1 for root in roots if "incomplete" in root))

    @slow
    def test_ten_thousand_stacks(self):
        """Each is kept apart, none is taken for another."""
        self.wait_for_interval(0.0001)
        begin = time.time()
        window = self.run_workload("many_stacks", attempts=1)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        count, seconds, _ = window.waits("sleep")
        ways = Counter(tuple(name for name in row["stack"] if name in ("step_one", "step_zero"))
                       for row in stacks.rows)
        missing = window.slack() + sum(window.lost().values())
        self.expect_equal("different stacks", count, len(ways), missing)
        self.expect_close("seconds", window.blocked("sleep").seconds, stacks.seconds(), 0.001,
                          absolute=0.003 * missing)
        self.expect_at_most("seconds (the program's clock)", seconds, stacks.seconds())

    def test_a_block_is_credited_once_to_each_window_it_spans(self):
        begin = time.time()
        sleeper = self.start("sleeper", "--count", 1, "--us", 4_500_000)
        sleeper.go()
        time.sleep(3)
        # Before it has ended: what has passed, and every second of it in its own snapshot.
        stacks = self.stacks_since(begin, cgroup=sleeper.cgroup.path, reason="sleep")
        self.expect_at_least("seconds so far", 2.0, stacks.seconds(in_progress=1))
        window = sleeper.finish()
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        self.expect_close("seconds", window.blocked("sleep").seconds, stacks.seconds(), 0.001)
        self.expect_close("episodes", 1, sum(row["episodes"] for row in stacks.rows), 0.001)
        for snapshot in self.daemon.get_json("/api/v1/snapshots")["snapshots"]:
            part = Stacks(self.daemon.get_json(
                f"/api/v1/snapshots/merge?sequence={snapshot['sequence']}&cgroup={window.cgroup}"
                "&reason=sleep"))
            length = unix_time(snapshot["end"]) - unix_time(snapshot["begin"])
            # What was younger than 0.4 s at the end of the one before is in the next.
            self.say(part.seconds() <= length + 0.41, f"snapshot {snapshot['sequence']}",
                     f"<= {length + 0.41:.3f}", f"{part.seconds():.3f}")
        roots = {row["stack"][0] for row in stacks.rows}
        self.say(not any("incomplete" in root for root in roots), "roots", "complete", roots)


    def test_a_crowd_that_sleeps_loses_nothing(self):
        """More records than the kernel's buffer of an iterator holds."""
        begin = time.time()
        window = self.run_workload("sleeper", "--count", 1, "--us", 3_500_000, "--threads", 60,
                                   attempts=1)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        sleep = window.blocked("sleep")
        self.expect_equal("sleeps", 60, sleep.count, window.slack())
        self.expect_close("seconds", sleep.seconds, stacks.seconds(), 0.001,
                          absolute=3.5 * window.slack())


@slow
class Sampling(SnapshotCase):
    settings = {"snapshots.interval": "1s", "snapshots.stacks_per_second": "2400"}

    def test_sums_are_unbiased(self):
        """D21: estimates of short and long blocks mixed, within 3 standard errors of the truth; no
        long block is missing."""
        begin = time.time()
        workload = self.start("known_places", "--ms", 9000, "--threads", 16)
        workload.go()
        longest = 0.0
        while time.time() < begin + 9.5:
            longest = max(longest, self.daemon.scrape().value(INTERVAL))
            time.sleep(0.2)
        window = workload.finish()
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        self.expect_at_least("the longest sampling interval", 0.003, longest)
        truth = blocked_in_places(window)
        of_sleep = window.blocked("sleep").seconds
        # The interval of these sleeps is not known from outside, but its effect is.
        self.expect_at_most("standard error of all seconds", 0.02 * of_sleep, stacks.error())
        self.expect_close("all seconds (the histogram)", of_sleep, stacks.seconds(), 0.05)
        for place in PLACES[:3]:
            _, seconds = truth[place]
            self.expect_close(f"seconds in {place} (3 standard errors)", seconds,
                              stacks.seconds(place),
                              absolute=3 * stacks.error(place) + 0.03 * seconds)
        self.expect_long_waits(window, truth, stacks)


@slow
class Focus(SnapshotCase):
    """With so few stacks a second that the whole host is sampled coarsely."""

    settings = {"snapshots.interval": "1s", "snapshots.stacks_per_second": "10"}

    def run_in_a_profile(self):
        """A run of known_places from its beginning to its end, beside no work of others that could
        make it longer: its number, Window and profile, and the host's sampling interval meanwhile."""
        for _ in range(4):
            workload = self.start("known_places", "--ms", 4000, "--threads", 8)
            self.put_first(workload)
            profile, intervals = [], []
            path = f"/debug/pprof/offcpu?seconds=9&format=json&pid={workload.process.pid}"
            asked = threading.Thread(target=lambda: profile.append(self.daemon.get_json(path)))
            asked.start()
            time.sleep(3)  # until the interval of the process is found
            began = time.time()
            workload.go()
            while time.time() < began + 4:
                intervals.append(self.daemon.scrape().value(INTERVAL))
                time.sleep(0.2)
            window = workload.finish()
            ended = time.time()
            asked.join()
            fine = Stacks(profile[0])
            if unix_time(fine.answer["begin"]) < began and ended < unix_time(fine.answer["end"]):
                return workload.process.pid, window, fine, sum(intervals) / len(intervals)
        self.fail("no run lies within its profile")

    def test_a_profile_of_one_process_is_finer_than_those_of_the_host(self):
        begin = time.time()
        pid, window, fine, of_host = self.run_in_a_profile()
        kept = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        self.expect_equal("rows of other processes", 0,
                          sum(1 for row in fine.rows if row["pid"] != pid))
        of_places = blocked_in_places(window)
        self.expect_at_least("sampling interval of the host", 0.02, of_host)
        truth = host_variance = 0.0
        for place in PLACES[:3]:
            count, seconds = of_places[place]
            # What it gives to the snapshots is not biased either.
            for name, stacks in (("profile", fine), ("snapshots", kept)):
                self.expect_close(f"seconds in {place} of the {name} (4 standard errors)", seconds,
                                  stacks.seconds(place),
                                  absolute=4 * stacks.error(place) + 0.03 * seconds)
            truth += seconds
            host_variance += seconds * max(of_host - seconds / count, 0)
        self.expect_long_waits(window, of_places, fine)
        error = math.hypot(*(fine.error(place) for place in PLACES[:3]))
        self.expect_at_most("standard error of the short waits", 0.01 * truth, error)
        self.expect_at_most("that with the host's interval, of it", 0.25,
                            error / math.sqrt(host_variance))
        self.expect_close("what the profile says of all of it", sum(r["ns"] for r in fine.rows) / 1e9,
                          fine.answer["off_cpu_seconds"], 1e-6)
        self.expect_close("and its standard error", fine.error(),
                          fine.answer["standard_error_seconds"], 1e-6)


    def client(self, *arguments):
        """What offcpuctl prints, and says besides."""
        done = subprocess.run([BUILD / "bin" / "offcpuctl", "snapshot", "--server",
                               f"127.0.0.1:{self.daemon.port}", *arguments],
                              capture_output=True, text=True, check=False)
        self.expect_equal(f"exit code of offcpuctl snapshot {' '.join(arguments)}", 0, done.returncode)
        return done.stdout, done.stderr

    def test_the_client_says_what_an_answer_holds(self):
        sleeper = subprocess.Popen(["sleep", "30"])
        self.addCleanup(lambda: (sleeper.kill(), sleeper.wait()))
        text, said = self.client("-p", str(sleeper.pid), "-f", "2")
        self.say("nanosleep" in text, "stacks", "one with nanosleep", text)
        seconds, covered = re.match(r"([\d.]+) s blocked in ([\d.]+) s \(", said).groups()
        self.expect_close("seconds of the profile", 2, float(covered), absolute=0.5)
        # It is younger than 0.4 s at the end of nothing: credited whole.
        # Both with three digits.
        self.expect_close("seconds asleep", float(covered), float(seconds), absolute=0.02)
        text, said = self.client("-p", str(sleeper.pid), "--reason", "disk", "-f", "1")
        self.say(text == "", "stacks of its waits for a disk", "none", text)
        bound = re.match(r"no matching wait was sampled in [\d.]+ s \(.*\); "
                         r"short waits that sampling missed add up to ([\d.]+) (ms|us) at most, over all threads$",
                         said.strip())
        self.say(bound is not None, "said", "that none was sampled, and the bound", said)
        # Of one process the interval is 10 ms at first, and 0.1 ms at least.
        milliseconds = float(bound[1]) / (1 if bound[2] == "ms" else 1000)
        self.say(0.3 <= milliseconds <= 30, "the bound", "3 intervals", said)

    def test_a_process_that_does_not_exist(self):
        for parameter in ("pid=4194304", "tid=4194304", "pid=0"):
            with self.assertRaises(urllib.error.HTTPError) as refused:
                self.daemon.get(f"/debug/pprof/offcpu?seconds=60&{parameter}")
            self.expect_equal(f"status of {parameter}", 404, refused.exception.code)
            self.say("there is no " in refused.exception.read().decode(), "the reason", "that it is not there",
                     parameter)

    def test_short_sleeps_in_a_short_profile(self):
        """What lasts at its end is there however young it is: else a third could be missing."""
        command = "import time\nwhile True: time.sleep(0.39)"
        sleeper = subprocess.Popen([sys.executable, "-c", command])
        self.addCleanup(lambda: (sleeper.kill(), sleeper.wait()))
        time.sleep(0.5)
        path = f"/debug/pprof/offcpu?seconds=1&format=json&pid={sleeper.pid}"
        missing = []
        for attempt in range(8):
            answer = self.daemon.get_json(path)
            missing.append(answer["covered_seconds"] - answer["off_cpu_seconds"])
            time.sleep(0.1 * (attempt % 4))
        # A guarded host hides the end of a block now and then; the young ones were in most profiles.
        least = 5 if host.init_is_guarded() else 8
        self.expect_at_least(f"profiles without a gap of 20 ms ({missing})", least,
                             sum(1 for seconds in missing if abs(seconds) < 0.02))


class Names(SnapshotCase):
    def test_processes_that_live_for_milliseconds(self):
        self.expect_names("short_lives")

    @slow
    def test_of_a_copy_of_what_is_known(self):
        """As one container has the same files as another one: contents are known by build-id, but
        the kernel tells files apart."""
        self.run_workload("short_lives", "--count", 20, attempts=1)
        with tempfile.TemporaryDirectory(prefix="offcpud-copy-") as folder:
            self.expect_names(shutil.copy(WORKLOADS / "short_lives", folder))

    def expect_names(self, program):
        def run():
            self.wait_for_interval(0.0001)
            begin = time.time()
            window = self.run_workload(program, attempts=1)
            stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep", comm="exe")
            return stacks if stacks.rows else self.stacks_since(begin, cgroup=window.cgroup,
                                                                reason="sleep")

        stacks = self.until_all_are_located(run)
        named = stacks.seconds("short_life")
        self.expect_at_least("seconds", 1600 * 0.003 * 0.99, stacks.seconds())
        self.expect_at_least("seconds with the function's name", 0.99 * stacks.seconds(), named)


CAPABILITIES = "bpf perfmon checkpoint_restore sys_ptrace dac_read_search".split()  # of the unit
SERVICE = {
    "owner": "nobody",
    "launcher": ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups",
                 *(f"--{kind}=-all,+" + ",+".join(CAPABILITIES)
                   for kind in ("inh-caps", "bounding-set", "ambient-caps"))],
}


@slow
class AsTheService(SnapshotCase):
    settings = {**SnapshotCase.settings, **SERVICE}

    def test_programs_of_others_have_stacks_and_names(self):
        """With the unit's capabilities and no more: a program in a folder of root's, which has been
        deleted, and whose wait lasts."""
        self.wait_for_interval(0.0001)
        begin = time.time()
        with tempfile.TemporaryDirectory() as folder:  # mode 0700
            program = Path(folder) / "hidden"
            shutil.copy(WORKLOADS / "known_places", program)
            cgroup = self.new_cgroup()
            hidden = subprocess.Popen([program, "--ms", "2500"], stdin=subprocess.PIPE,
                                      stdout=subprocess.DEVNULL, preexec_fn=cgroup.enter)
            self.addCleanup(hidden.communicate)  # in reverse order
            self.addCleanup(hidden.kill)
            time.sleep(0.3)
            program.unlink()
            hidden.stdin.write(b"g")
            hidden.stdin.flush()
            time.sleep(3)
        stacks = self.stacks_since(begin, cgroup=cgroup.path)
        sleeps = [row for row in stacks.rows if row["reason"] == "sleep"]
        named = sum(row["ns"] for row in sleeps if {"main", "_start"} & set(row["stack"])
                    or "start_thread" in row["stack"])
        places = sum(stacks.seconds(f"wait_{place}") for place in ("one", "ten", "hundred", "long"))
        self.expect_at_least("seconds asleep", 5, sum(row["ns"] for row in sleeps) / 1e9)
        self.expect_close("of which from a root", sum(row["ns"] for row in sleeps), named, 0.01)
        self.expect_close("in the functions that wait", sum(row["ns"] for row in sleeps) / 1e9, places,
                          0.01)
        gates = [row for row in stacks.rows if row["in_progress"] and row["reason"] == "pipe"]
        self.say(any("read" in row["stack"] for row in gates), "a wait that lasts", "read",
                 gates[:1] and gates[0]["stack"])


@slow
class InAPidNamespace(SnapshotCase):
    settings = {**SnapshotCase.settings,
                "launcher": ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]}

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        children = Path(f"/proc/{cls.daemon.pid}/task/{cls.daemon.pid}/children").read_text()
        cls.inside = int(children.split()[0])
        cls.addClassCleanup(os.kill, cls.inside, signal.SIGTERM)

    def sleeper(self, *launcher):
        """The cgroup of a program that sleeps 20 ms, again and again."""
        cgroup = self.new_cgroup()
        program = subprocess.Popen([*launcher, WORKLOADS / "stack_zoo", "nanosleep"],
                                   stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                   preexec_fn=cgroup.enter)
        self.addCleanup(program.communicate)
        return cgroup.path

    def test_stacks_are_those_of_its_own_processes(self):
        """The kernel's programs see other numbers than the daemon; a namespace beside it has the
        same ones, for other processes."""
        # With the root: that of the mount namespace is another one where all this runs in a chroot.
        process = f"/proc/{self.inside}"
        mine = self.sleeper("nsenter", f"--pid={process}/ns/pid", f"--mount={process}/ns/mnt",
                            f"--root={process}/root")
        beside = self.sleeper("unshare", "--pid", "--fork", "--kill-child")
        time.sleep(1.2)  # until their objects are known
        begin = time.time()
        time.sleep(1.2)
        rows = self.stacks_since(begin, comm="stack_zoo").rows
        own = [row for row in rows if row["cgroup"] == mine]
        self.expect_at_least("sleeps", 30, sum(row["episodes"] for row in own))
        self.expect_equal("of which end at a root", len(own),
                          sum(row["stack"][0] in ("clone3", "_start") for row in own))
        self.say(all(row["pid"] > 1 for row in own), "their numbers", "those of the namespace",
                 {row["pid"] for row in own})
        others = {row["pid"] for row in rows if row["cgroup"] == beside}
        self.say(others == {0}, "the number of a process beside it", {0}, others)


@slow
class Wakers(SnapshotCase):
    def test_who_ends_the_wait_of_a_pipe_reader(self):
        self.wait_for_interval(0.0001)
        begin = time.time()
        window = self.run_workload("ping_pong", "--count", 2000, attempts=1)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="pipe")
        # The gates are pipes too, which the tester and the members of the crew write to.
        rows = [row for row in stacks.rows if not row["in_progress"]
                and any("_M_invoke" in name for name in row["stack"])]
        by_peer = [row for row in rows if row["waker"] == "ping_pong"]
        share = sum(row["ns"] for row in by_peer) / max(1, sum(row["ns"] for row in rows))
        self.expect_at_least("share of the time that the other player ended", 0.9, share)
        writes = [row for row in by_peer
                  if any(name in row["waker_stack"] for name in ("ksys_write", "vfs_write"))]
        self.expect_at_least("of which with a write on the waker's stack", 0.99,
                             sum(row["ns"] for row in writes) / sum(row["ns"] for row in by_peer))
        users = [row for row in writes if "write" in row["waker_stack"]]
        self.expect_at_least("of which with its user stack", 0.99,
                             sum(row["ns"] for row in users) / sum(row["ns"] for row in writes))

    def test_a_timer_is_an_interrupt(self):
        self.wait_for_interval(0.0001)
        begin = time.time()
        window = self.run_workload("sleeper", "--count", 50, "--us", 10_000)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        self.expect_close("seconds that interrupts ended", stacks.seconds(),
                          stacks.seconds(waker="[irq]"), 0.02)
        path = f"/api/v1/snapshots/merge?format=offwake&from={begin:.3f}&cgroup={window.cgroup}&reason=sleep"
        lines = self.daemon.get(path).splitlines()
        chains = [line for line in lines if "hrtimer_wakeup" in line.split(";--;")[1]]
        self.say(bool(chains) and all(line.rsplit(" ", 1)[0].endswith("[irq]") for line in chains),
                 "chains", "of the timer, ending with [irq]", chains[:2] or lines[:2])


if __name__ == "__main__":
    main()
