# SPDX-License-Identifier: Apache-2.0
"""What waits are for, of programs that know it: `for` and `site` of stacks, and rules that are reloaded."""

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import postgres_server
from case import Case, main
from daemon import Daemon, die_with_the_tester
from snapshots_test import SnapshotCase, Stacks, unix_time

# Two threads want a lock that the third holds for 20 ms, 40 times; each prints how long it waited.
CONVOY = """
import sys, threading, time
lock, waited = threading.Lock(), [0.0, 0.0, 0.0]
def run(me):
    for _ in range(40):
        asked = time.monotonic()
        with lock:
            waited[me] += time.monotonic() - asked
            time.sleep(0.02)
threads = [threading.Thread(target=run, args=(i,)) for i in range(3)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sum(waited))
"""

OWN_RULE = "sites:\n  - {name: test-nap, for: answer, exe: sleeper, reason: sleep}\n"


class Purposes(SnapshotCase):
    def classes(self, stacks):
        """{(for, site): seconds}, largest first."""
        sums = Counter()
        for row in stacks.rows:
            sums[row["for"], row["site"]] += row["ns"] / 1e9
        return dict(sums.most_common())

    def expect_class(self, stacks, wanted, seconds, share=0.99):
        """So much of `seconds` is of this class, and all of it is there."""
        found = self.classes(stacks)
        print(f"  seen {found}", flush=True)
        self.expect_at_least(f"seconds {wanted}", round(share * seconds, 6),
                             round(found.get(wanted, 0.0), 6))

    def waits_are(self, wanted, reason, own, name, *arguments, **options):
        """The time of this reason, as the kernel counted it, is for this at this site; it is no longer than
        what the program's own clock saw, and `own` names that."""
        self.wait_for_interval(0.0001)

        def run():
            begin = time.time()
            window = self.run_workload(name, *arguments, attempts=2, **options)
            return window, self.stacks_since(begin, cgroup=window.cgroups[-1], reason=reason)

        window, stacks = self.until_all_are_located(run)
        counted = window.blocked(reason, window.cgroups[-1])
        longest = counted.seconds / max(1, counted.count)
        self.expect_close(f"{reason} seconds (the histogram)", counted.seconds, stacks.seconds(), 0.001,
                          absolute=2 * longest * window.slack())
        self.expect_class(stacks, wanted, stacks.seconds())
        _, own_seconds, _ = window.waits(own)
        self.expect_at_most("seconds (the program's clock)", round(own_seconds * 1.001 + 0.001, 6),
                            round(stacks.seconds(**{"for": wanted[0], "site": wanted[1]}), 6))
        return window, stacks

    def test_a_mutex_is_a_lock(self):
        self.waits_are(("lock", "mutex"), "lock", "lock", "lock_holder", "--count", 50)

    def test_a_file_lock_is_a_lock(self):
        for kind in ("flock", "fcntl"):
            with self.subTest(kind):
                self.waits_are(("lock", "file-lock"), "lock", "lock", "lock_holder", "--kind", kind,
                               "--count", 30)

    def test_a_nap_is_a_timer(self):
        for kind in ("nanosleep", "clock_nanosleep"):
            with self.subTest(kind):
                self.waits_are(("timer", "sleep"), "sleep", "wait", "timed_wait", "--kind", kind)

    def test_who_accepts_waits_for_work(self):
        self.waits_are(("work", "accept"), "network", "wait", "timed_wait", "--kind", "accept")

    def test_who_pauses_waits_for_work(self):
        self.waits_are(("work", "signal"), "sleep", "wait", "timed_wait", "--kind", "pause")

    def test_a_child_is_an_answer(self):
        self.waits_are(("answer", "child"), "child", "child", "child_wait", "--count", 10, "--us", 20_000)

    def test_what_names_do_not_say_is_unknown(self):
        for kind, reason, site in (("recv", "network", "socket"), ("epoll", "poll", "descriptors"),
                                   ("condition", "condvar", "condition"), ("pipe_read", "pipe", "pipe")):
            with self.subTest(kind):
                self.wait_for_interval(0.0001)
                begin = time.time()
                window = self.run_workload("timed_wait", "--kind", kind)
                stacks = self.stacks_since(begin, cgroup=window.cgroup, reason=reason)
                for row in stacks.select(site=site, **{"for": "timer"}):
                    row["for"] = "unknown"  # its timer ended it in two snapshots: evidence says so
                self.expect_class(stacks, ("unknown", site), window.blocked(reason).seconds)

    def test_a_disk_is_storage(self):
        """Its waits are short: a daemon that has just begun samples one in many, which says little."""
        for _ in range(8):
            workload = self.start("direct_read", "--count", 100)
            self.stacks_since(time.time())  # the snapshot ends in which it wrote the file
            begin = time.time()
            workload.go()
            window = workload.finish()
            disk = window.blocked("disk")
            stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="disk")
            if disk.count >= 50 and stacks.error() <= 0.1 * disk.seconds:
                break
        self.skip_if(disk.count < 50 and "this disk is too fast")
        self.expect_at_most("standard error", 0.1 * disk.seconds, stacks.error())
        # Without the flush at its end, of which the window knows nothing.
        self.expect_close("disk seconds (the histogram)", disk.seconds, stacks.seconds("vfs_read"), 0.02,
                          absolute=3 * stacks.error() + 2 * disk.seconds / disk.count * window.slack())
        self.expect_class(stacks, ("storage", "storage"), stacks.seconds())
        _, own_seconds, _ = window.waits("disk")
        self.expect_at_most("seconds (the program's clock)", own_seconds + 3 * stacks.error(),
                            stacks.seconds("vfs_read", **{"for": "storage"}))

    def test_who_is_stopped_is_stopped(self):
        child = self.new_cgroup()
        begin = time.time()
        window = self.run_workload("stopped", "--count", 3, "--ms", 300, "--cgroup", child.directory,
                                   others=[child], attempts=1)
        stacks = self.stacks_since(begin, cgroup=child.path, reason="stopped")
        _, own_seconds, _ = window.waits("stopped")
        counted = window.blocked("stopped", child.path).seconds
        self.expect_close("stopped seconds (the histogram)", counted, stacks.seconds(), 0.001,
                          absolute=0.3 * window.slack())
        self.expect_class(stacks, ("stopped", "stopped"), stacks.seconds())
        self.expect_at_least("seconds (the program's clock)", own_seconds * 0.99 - 0.3 * window.slack(),
                             stacks.seconds())

    def test_python_threads_behind_a_lock(self):
        known = ((3, 11), (3, 13))
        self.skip_if(sys.version_info[:2] not in known and "rules about `with lock` know Python 3.11 and 3.13")
        cgroup = self.new_cgroup()
        begin = time.time()

        def enter():
            die_with_the_tester()
            cgroup.enter()

        done = subprocess.run([sys.executable, "-c", CONVOY], preexec_fn=enter, capture_output=True,
                              text=True, check=True, timeout=60)
        waited = float(done.stdout)
        stacks = self.stacks_since(begin, cgroup=cgroup.path)
        self.expect_class(stacks, ("lock", "python-with-lock"), waited, 0.95)
        self.expect_at_most("seconds (the threads' clock)", waited,
                            stacks.seconds(**{"for": "lock", "site": "python-with-lock"}))
        self.expect_at_least("seconds of naps with the lock", 0.95 * 120 * 0.02,
                             stacks.seconds(**{"for": "timer"}))

    def test_sums_over_for_are_those_over_reason(self):
        """Of the whole host, to the nanosecond, also by queries for each value."""
        self.stacks_since(time.time())
        kept = self.daemon.get_json("/api/v1/snapshots")["snapshots"][-1]["sequence"]
        path = f"/api/v1/snapshots/merge?sequence={kept}"

        def ns(query=""):
            answer = Stacks(self.daemon.get_json(path + query))
            return sum(row["ns"] for row in answer.rows), answer

        total, everything = ns()
        self.expect_at_least("nanoseconds of a snapshot", 1, total)
        for column, names in (("for", {row["for"] for row in everything.rows}),
                              ("reason", {row["reason"] for row in everything.rows}),
                              ("site", {row["site"] for row in everything.rows} - {""})):
            parts = {name: ns(f"&{column}={name}")[0] for name in names}
            print(f"  {column}: { {name: part / 1e9 for name, part in parts.items()} }", flush=True)
            if column == "site":
                parts[""] = sum(row["ns"] for row in everything.select(site=""))
            self.expect_equal(f"sum over {column}", total, sum(parts.values()))


class Wakers(SnapshotCase):
    # Evidence is drawn from samples, so not everything is sampled.
    settings = {"snapshots.interval": "2s", "snapshots.stacks_per_second": "2000"}

    def test_twins_are_told_apart_by_their_wakers(self):
        """A mutex made of a condition and a queue, in the same functions, and a wait that always times
        out: all snapshots are right from the second whole one on."""
        workload = self.start("twins", "--ms", 12_000)
        workload.go()
        begin = time.time()
        window = workload.finish()
        last = begin + 11.5
        self.stacks_since(begin)
        whole = [kept for kept in self.daemon.get_json("/api/v1/snapshots")["snapshots"]
                 if unix_time(kept["begin"]) >= begin and unix_time(kept["end"]) <= last]
        self.expect_at_least("snapshots that lie in its time", 3, len(whole))
        wanted = {"holder": "lock", "consumer": "work", "timed": "timer"}
        shares, stacks = {name: [] for name in wanted}, {name: set() for name in wanted}
        for kept in whole:
            path = f"/api/v1/snapshots/merge?sequence={kept['sequence']}&site=condition"
            answer = Stacks(self.daemon.get_json(f"{path}&cgroup={window.cgroup}"))
            for name, wait_for in wanted.items():
                rows = answer.select(thread=name)
                right = sum(row["ns"] for row in rows if row["for"] == wait_for)
                shares[name].append(right / max(1, sum(row["ns"] for row in rows)))
                stacks[name].update(tuple(row["stack"]) for row in rows)
        print(f"  shares that are right, by snapshot: {shares}", flush=True)
        both = stacks["holder"] & stacks["consumer"]
        self.expect_at_least("stacks that the twins share", 1, len(both))
        for name, wait_for in wanted.items():
            self.expect_at_least(f"share of {name} that is {wait_for}, from the second on", 0.95,
                                 round(min(shares[name][1:]), 3))


class PostgreSQL(SnapshotCase):
    @classmethod
    def setUpClass(cls):
        cls.skip_if(postgres_server.missing())
        super().setUpClass()
        cls.postgres = postgres_server.PostgresServer()
        cls.addClassCleanup(cls.postgres.remove)

    def psql(self, text):
        return self.postgres.psql(self, text)

    def test_clients_behind_a_row_lock(self):
        """They wait in `poll`, as idle ones do."""
        cgroup = self.new_cgroup()
        self.postgres.start(self, cgroup)
        begin = time.time()
        holder = self.psql("begin; update stock set left_over = 4; select pg_sleep(3); commit")
        time.sleep(0.5)
        waiters = [self.psql("update stock set left_over = 3") for _ in range(4)]
        began = time.time()
        while holder.poll() is None:
            time.sleep(0.05)
        held = time.time() - began
        for waiter in waiters:
            waiter.wait(20)
        stacks = self.stacks_since(begin, cgroup=cgroup.path)
        locked = stacks.select(site="postgresql-heavyweight-lock")
        seconds = sum(row["ns"] for row in locked) / 1e9
        reasons = {(row["reason"], row["for"]) for row in locked}
        self.say(reasons == {("poll", "lock")}, "reason and for", {("poll", "lock")}, reasons)
        self.expect_at_least("seconds of 4 clients", 4 * (held - 1.0), seconds)
        self.expect_at_most("seconds of 4 clients", 4 * (held + 0.5), seconds)
        idle = sum(row["ns"] for row in stacks.select(**{"for": "work"})) / 1e9
        self.expect_at_least("seconds of those that wait for work", 3 * held, idle)
        shown = self.stacks_since(begin, cgroup=cgroup.path, idle="false")
        self.expect_close("seconds of 4 clients, without idle waits", seconds,
                          shown.seconds(site="postgresql-heavyweight-lock"), absolute=1e-6)
        self.expect_equal("seconds for work, without idle waits", 0, shown.seconds(**{"for": "work"}))


class Reload(SnapshotCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="offcpud-sites-")
        cls.file = Path(folder.name) / "offcpud.yaml"
        cls.file.write_text("snapshots: {interval: 1s, stacks_per_second: 100000}\n")
        cls.rules = Path(folder.name) / "wait-sites" / "own.yaml"
        cls.rules.parent.mkdir()
        cls.settings = {"config": cls.file}
        super().setUpClass()
        cls.addClassCleanup(folder.cleanup)

    def reload(self, text):
        """Writes the rules; returns whether they are in force, and the status."""
        if text is None:
            self.rules.unlink(missing_ok=True)
        else:
            self.rules.write_text(text)
        said = len(self.daemon.log())
        os.kill(self.daemon.pid, signal.SIGHUP)
        self.wait_until("it has reloaded or refused", lambda: any(
            "configuration reloaded" in line or "keeping the running" in line
            for line in self.daemon.log()[said:]))
        config = self.daemon.get_json("/api/v1/status")["config"]
        return config["last_reload_successful"], config

    def class_of_naps(self):
        self.stacks_since(time.time())  # the snapshot under way ends
        begin = time.time()
        window = self.run_workload("sleeper", "--us", 5_000, "--count", 20)
        stacks = self.stacks_since(begin, cgroup=window.cgroup, reason="sleep")
        self.expect_close("seconds (the histogram)", window.blocked("sleep").seconds, stacks.seconds(),
                          0.001, absolute=0.01 * window.slack())
        return {(row["for"], row["site"]) for row in stacks.rows}

    def test_new_rules_hold_from_the_next_snapshot_on(self):
        shipped = self.daemon.get_json("/api/v1/status")["config"]["wait_sites"]
        self.expect_at_least("rules of the shipped files", 200, shipped["rules"])
        self.wait_for_interval(0.0001)
        first = self.class_of_naps()
        self.say(first == {("timer", "sleep")}, "by shipped rules", {("timer", "sleep")}, first)

        accepted, config = self.reload(OWN_RULE)
        self.say(accepted, "own rules", "in force", config)
        self.expect_equal("rules", shipped["rules"] + 1, config["wait_sites"]["rules"])
        self.expect_equal("sites", shipped["sites"] + 1, config["wait_sites"]["sites"])
        own = self.class_of_naps()
        self.say(own == {("answer", "test-nap")}, "by own rules", {("answer", "test-nap")}, own)

        refused, config = self.reload(OWN_RULE + "  - {name: test-nap, for: work, exe: other}\n")
        error = config.get("last_reload_error", "")
        self.say(not refused and f"{self.rules}:3: " in error, "wrong rules", "refused with their line", error)
        self.expect_equal("rules", shipped["rules"] + 1, config["wait_sites"]["rules"])
        still = self.class_of_naps()
        self.say(still == own, "by own rules, still", own, still)
        for program in ([Daemon.program(), "--check-config"],
                        [Path(Daemon.program()).with_name("offcpuctl"), "check-config"]):
            done = subprocess.run([*program, "--config", self.file], capture_output=True, text=True)
            self.say(done.returncode == 78 and f"{self.rules}:3: " in done.stderr, program[-1],
                     "refused with its line", done)
        with self.assertRaisesRegex(RuntimeError, r"ended with 78.*own\.yaml:3: "):
            Daemon.start(config=self.file)

        accepted, config = self.reload(None)
        self.say(accepted, "without own rules", "in force", config)
        again = self.class_of_naps()
        self.say(again == first, "by shipped rules again", first, again)


if __name__ == "__main__":
    main()
