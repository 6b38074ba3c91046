# SPDX-License-Identifier: Apache-2.0
"""Snapshots pushed to a receiver that reads what Pyroscope's /ingest reads: what arrives is what is kept,
whatever the receiver does, and nothing of the daemon waits for it."""

import base64
import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

from case import Case, main
from daemon import BUILD, Daemon
from pprof_profile import Profile
from push_receiver import Receiver
from tls_files import Authority, connected

SNAPSHOTS = "offcpud_push_snapshots_total"
FAILURES = "offcpud_push_failures_total"
LABELS = {"comm", "cgroup", "reason", "for"}
SECRET = "correct horse battery"


class PushCase(Case):
    settings = {}  # each test starts a daemon of its own

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="offcpud-push-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start_daemon(self, receiver=None, **settings):
        self.daemon.stop()
        if receiver:
            settings = {"push.url": f"http://127.0.0.1:{receiver.port}", **settings}
        type(self).daemon = Daemon.start(state_dir=self.folder / "state",
                                         **{"snapshots.interval": "1s", **settings})
        self.addCleanup(self.daemon.stop)
        return self.daemon

    def start_receiver(self, **options):
        receiver = Receiver(**options)
        self.addCleanup(receiver.stop)
        return receiver

    def secret(self, name="secret", text=SECRET + "\n"):
        file = self.folder / name
        file.write_text(text)
        return file

    def count(self, name, **labels):
        return self.daemon.scrape().value(name, **labels)

    def results(self):
        scrape = self.daemon.scrape()
        return {result: scrape.value(SNAPSHOTS, result=result)
                for result in ("sent", "dropped", "rejected")}

    def status(self):
        return self.daemon.get_json("/api/v1/status")

    def kept(self):
        """What lies in files, by the time at which it begins, in order."""
        profiles = [Profile(file.read_bytes()) for file in (self.folder / "state/snapshots").glob("*.pb.gz")]
        return {one.begin_ns: one for one in sorted(profiles, key=lambda one: one.begin_ns)}

    def configure(self, *lines):
        file = self.folder / "offcpud.yaml"
        push = "".join(f"  {line}\n" for line in lines)
        file.write_text("snapshots:\n  interval: 1s\n" + (f"push:\n{push}" if push else ""))
        return file

    def reload(self, *lines, refused=False):
        self.configure(*lines)
        word = "keeping the running" if refused else "configuration reloaded"
        said = sum(word in line for line in self.daemon.log())
        os.kill(self.daemon.pid, signal.SIGHUP)
        self.wait_until("it reloads" if not refused else "it refuses that",
                        lambda: sum(word in line for line in self.daemon.log()) > said)

    def expect_as_kept(self, receiver, begins):
        kept = self.kept()
        self.expect_equal("requests that are not as they should be", 0, len(receiver.bad))
        for push in receiver.pushes:
            if push.profile.begin_ns not in begins:
                continue
            file = kept[push.profile.begin_ns]
            if push.profile.nanoseconds() != file.nanoseconds():
                self.fail("a profile differs from the file")
            episodes = [sum(values[1] for _, _, values in one.samples) for one in (push.profile, file)]
            self.expect_equal("episodes", episodes[1], episodes[0], 1)
        self.expect_equal("pushed profiles that were compared", len(begins),
                          len(set(receiver.begins()) & set(begins)))

    def spend_time_blocked(self):
        """So that there are stacks whose names are known."""
        sleeper = subprocess.Popen(["sleep", "60"])
        self.addCleanup(sleeper.wait)
        self.addCleanup(sleeper.kill)


class Arrives(PushCase):
    def test_what_is_kept(self):
        self.spend_time_blocked()
        receiver = self.start_receiver()
        daemon = self.start_daemon(receiver, **{
            "push.url": f"http://127.0.0.1:{receiver.port}/pyroscope/",
            "push.application": "offcpud.test", "push.tenant": "team-7",
            "push.labels": "[env=a b, zone=eu]",
            "push.username": "alice", "push.password_file": self.secret()})
        self.wait_until("five profiles arrive", lambda: len(receiver.pushes) >= 5)
        kept = self.kept()
        self.expect_as_kept(receiver, sorted(set(kept) & set(receiver.begins()))[:5])
        push = receiver.pushes[-1]
        self.say(push.profile.types == [("off_cpu", "nanoseconds"), ("episodes", "count")],
                 "sample types", "off_cpu and episodes", push.profile.types)
        self.say(set(push.types) == {"off_cpu", "episodes"}, "their configuration", "both", push.types)
        self.expect_at_least("seconds off the CPU", 1, sum(push.profile.nanoseconds().values()) / 1e9)
        samples = [labels for labels, _, _ in push.profile.samples]
        keys = {key for labels in samples for key in labels}
        self.say(keys <= LABELS, "labels of samples", f"no others than {LABELS}", keys)
        kinds = {labels["for"] for labels in samples}
        self.say(kinds - {"unknown"}, "what they wait for", "more than unknown", kinds)
        self.say(push.path == "/pyroscope/ingest", "path", "/pyroscope/ingest", push.path)
        self.say((push.application, push.labels) ==
                 ("offcpud.test", {"instance": socket.gethostname(), "env": "a b", "zone": "eu"}),
                 "series", "as configured", push.query["name"])
        span = int(push.query["until"]) - int(push.query["from"])
        self.expect_close("seconds from `from` to `until`", 1, span, absolute=1)
        self.expect_equal("`from`", push.profile.begin_ns // 10**9, int(push.query["from"]))
        self.say(push.headers["X-Scope-OrgID"] == "team-7", "tenant", "team-7",
                 push.headers["X-Scope-OrgID"])
        wanted = "Basic " + base64.b64encode(f"alice:{SECRET}".encode()).decode()
        self.say(push.headers["Authorization"] == wanted, "Authorization", "of alice", "")
        self.expect_what_the_daemon_says(daemon, receiver)
        daemon.stop()
        last = list(self.kept())[-1]
        self.say(last in receiver.begins(), "what was not finished when it stopped", "arrived", "")

    def expect_what_the_daemon_says(self, daemon, receiver):
        self.wait_until("the queue is empty", lambda: self.status()["push"]["queued"] == 0)
        scrape = daemon.scrape()
        self.expect_at_least("sent", 5, scrape.value(SNAPSHOTS, result="sent"))
        self.expect_equal("failures", 0, scrape.value(FAILURES))
        age = time.time() - scrape.value("offcpud_push_last_success_timestamp_seconds")
        self.expect_at_most("seconds since the last success", 3, age)
        push = self.status()["push"]
        self.say(push["url"] == f"http://127.0.0.1:{receiver.port}/pyroscope/ingest"
                 and push["last_success"] and push["last_error"] is None, "status", "well", push)
        shown = subprocess.run([BUILD / "bin/offcpuctl", "status", "--server",
                                f"127.0.0.1:{daemon.port}"], capture_output=True, text=True, check=True)
        self.say("/pyroscope/ingest" in shown.stdout, "offcpuctl status", "names the server", "")
        said = "\n".join(daemon.log()) + str(self.status()) + shown.stdout
        self.say(SECRET not in said, "the password", "in no log and status", "")
        states = [(task / "status").read_text() for task in Path(f"/proc/{daemon.pid}/task").iterdir()
                  if (task / "comm").read_text() == "offcpud-push\n"]
        self.expect_equal("threads that push", 1, len(states))
        self.say("CapEff:\t0000000000000000" in states[0] and "CapPrm:\t0000000000000000" in states[0],
                 "their capabilities", "none", "")

    def test_with_a_token_that_changes(self):
        receiver = self.start_receiver()
        file = self.secret(text="first")
        self.start_daemon(receiver, **{"push.token_file": file})
        self.wait_until("one arrives", lambda: receiver.pushes)
        self.say(receiver.pushes[0].headers["Authorization"] == "Bearer first", "token", "first", "")
        file.write_text("second\n")
        self.wait_until("the new token is used",
                        lambda: receiver.pushes[-1].headers["Authorization"] == "Bearer second")
        file.unlink()
        self.wait_until("a missing file is counted", lambda: self.count(FAILURES, cause="secret") > 0)
        file.write_text("third")
        self.wait_until("the next token is used",
                        lambda: receiver.pushes[-1].headers["Authorization"] == "Bearer third")
        self.expect_equal("dropped", 0, self.results()["dropped"])


class Encrypted(PushCase):
    def test_with_a_certificate_of_its_own_authority(self):
        authority, other = Authority(self.folder), Authority(self.folder, "other")
        receiver = self.start_receiver(certificate=authority.sign("server"))
        url = {"push.url": f"https://127.0.0.1:{receiver.port}"}
        self.start_daemon(**url, **{"push.ca_file": other.file})
        self.wait_until("another authority does not do", lambda: self.count(FAILURES, cause="tls") > 0)
        self.expect_equal("profiles that arrived", 0, len(receiver.pushes))
        self.start_daemon(**url, **{"push.ca_file": authority.file})
        self.wait_until("two arrive", lambda: len(receiver.pushes) >= 2)

    def test_the_hosts_authorities_do_not_count_beside_those_of_the_file(self):
        trusted, other = Authority(self.folder, "trusted"), Authority(self.folder, "other")
        receiver = self.start_receiver(certificate=trusted.sign("server"))
        launcher = self.host_that_trusts(trusted, other)
        url = {"push.url": f"https://127.0.0.1:{receiver.port}"}
        self.start_daemon(launcher=launcher, **url)
        self.wait_until("the host's do without a file", lambda: receiver.pushes)
        self.daemon.stop()
        arrived = len(receiver.pushes)
        self.start_daemon(launcher=launcher, **url, **{"push.ca_file": other.file})
        self.wait_until("but not with one", lambda: self.count(FAILURES, cause="tls") > 0)
        self.expect_equal("profiles that arrived", arrived, len(receiver.pushes))

        def refusal(*flags):
            return subprocess.run([*launcher, BUILD / "bin/offcpuctl", "status", "--server",
                                   f"https://127.0.0.1:{receiver.port}", *flags],
                                  capture_output=True, text=True, check=False).stderr

        self.say("is not trusted" not in refusal(), "offcpuctl", "trusts the host's", refusal())
        said = refusal("--ca-file", other.file)
        self.say("is not trusted" in said, "offcpuctl with a file", "does not", said)

    def host_that_trusts(self, authority, other):
        """What a command line begins with there: the first by the folder, the other by the bundle."""
        folder = self.folder / "certs"
        folder.mkdir()
        (folder / "trusted.pem").write_bytes(authority.file.read_bytes())
        subprocess.run(["openssl", "rehash", folder], check=True, capture_output=True)
        (folder / "ca-certificates.crt").write_bytes(other.file.read_bytes())
        return ["unshare", "--mount", "sh", "-c",
                f"mount --bind {folder} /etc/ssl/certs && exec \"$@\"", "sh"]


class Unwilling(PushCase):
    def test_down_and_then_up(self):
        """All arrive in their order when the outage fits into the queue."""
        down = self.start_receiver()
        down.stop()
        self.start_daemon(down)
        self.wait_until("attempts fail", lambda: self.count(FAILURES, cause="connect") >= 3)
        self.wait_until("six snapshots are kept", lambda: len(self.kept()) >= 6)
        before = list(self.kept())
        self.expect_at_least("snapshots that wait", len(before) - 1, self.status()["push"]["queued"])
        self.say("not pushed" in self.status()["summary"], "summary", "says so", self.status()["summary"])
        receiver = self.start_receiver(port=down.port)
        self.wait_until("they arrive", lambda: set(before) <= set(receiver.begins()))
        self.say(receiver.begins() == sorted(set(receiver.begins())), "order", "as they were made", "")
        self.expect_as_kept(receiver, before)
        self.expect_equal("dropped", 0, self.results()["dropped"])
        self.wait_until("the queue is empty", lambda: self.status()["push"]["queued"] == 0)
        self.say(self.status()["push"]["last_error"] is None, "last error", "none", "")

    def test_down_for_longer_than_the_queue_lasts(self):
        down = self.start_receiver()
        down.stop()
        lines = f"url: http://127.0.0.1:{down.port}", "queue_bytes: 64KiB"
        self.start_daemon(config=self.configure(*lines), **{"snapshots.stacks_per_second": "100000"})
        self.wait_until("some are given up", lambda: self.results()["dropped"] >= 3, 120)
        self.expect_at_most("bytes that wait", 65536, self.count("offcpud_push_queue_bytes"))
        dropped = int(self.results()["dropped"])
        kept = list(self.kept())
        receiver = self.start_receiver(port=down.port)
        self.reload(*lines, "timeout: 11s")  # the next attempt is at once, not up to 5 min later
        self.wait_until("the rest arrives", lambda: kept[-1] in receiver.begins())
        missing = [begin for begin in self.kept() if begin not in receiver.begins()]
        results = self.results()
        self.expect_at_least("dropped in all", dropped, results["dropped"])
        missing = missing[:int(results["dropped"])]
        self.say(max(missing) < min(receiver.begins()), "those dropped", "the oldest", len(missing))
        self.expect_equal("missing (dropped)", results["dropped"], len(missing))
        self.expect_equal("sent (arrived)", len(receiver.pushes), results["sent"], 1)

    def test_too_many_requests(self):
        receiver = self.start_receiver()
        receiver.answers = [(429, {"Retry-After": "4"}, b"slow down")]
        self.start_daemon(receiver)
        self.wait_until("it is asked to wait", lambda: receiver.refused)
        self.wait_until("it comes again", lambda: receiver.pushes)
        self.expect_at_least("seconds until then", 4, receiver.pushes[0].at - receiver.refused[0].at)
        self.say(receiver.pushes[0].profile.begin_ns == receiver.refused[0].profile.begin_ns,
                 "the first that arrives", "the one that was turned away", "")
        self.expect_equal("rate limited", 1, self.count(FAILURES, cause="rate_limited"))
        self.expect_equal("given up", 0, self.results()["dropped"] + self.results()["rejected"])

    def test_errors_of_the_server(self):
        receiver = self.start_receiver()
        receiver.answers = [503, 500, 408]
        self.start_daemon(receiver)
        self.wait_until("it arrives at the fourth attempt", lambda: receiver.pushes, 30)
        self.say(receiver.pushes[0].profile.begin_ns == receiver.refused[0].profile.begin_ns,
                 "the first that arrives", "the first that was sent", "")
        waits = [b.at - a.at for a, b in zip(receiver.refused, receiver.refused[1:] + receiver.pushes[:1])]
        self.say(all(least * 0.5 <= wait <= least + 1 for wait, least in zip(waits, (1, 2, 4))),
                 "seconds between attempts", "1, 2, 4, or down to a half of it",
                 ", ".join(f"{wait:.2f}" for wait in waits))
        self.expect_equal("errors of the server", 3, self.count(FAILURES, cause="server_error"))

    def test_a_secret_that_is_not_valid_and_a_distributor_that_fails(self):
        """401 may change with the file, 422 is Pyroscope's word for any trouble behind its /ingest."""
        receiver = self.start_receiver()
        receiver.answers = [401, (422, {}, b"rate limit")]
        self.start_daemon(receiver, **{"push.token_file": self.secret()})
        self.wait_until("it arrives at the third attempt", lambda: receiver.pushes)
        self.say(receiver.pushes[0].profile.begin_ns == receiver.refused[0].profile.begin_ns,
                 "the first that arrives", "the first that was sent", "")
        self.expect_equal("of the secret", 1, self.count(FAILURES, cause="secret"))
        self.expect_equal("errors of the server", 1, self.count(FAILURES, cause="server_error"))
        self.expect_equal("given up", 0, self.results()["dropped"] + self.results()["rejected"])

    def test_answers_that_will_not_change(self):
        elsewhere = self.start_receiver()
        receiver = self.start_receiver()
        receiver.answers = [(400, {}, b"no such\x1b[31m tenant\nok: " + b"x" * 5000),
                            (302, {"Location": f"http://127.0.0.1:{elsewhere.port}/ingest"}, b"")]
        self.start_daemon(receiver)
        self.wait_until("later ones arrive", lambda: len(receiver.pushes) >= 2)
        self.expect_equal("rejected", 2, self.results()["rejected"])
        self.expect_equal("refused", 2, self.count(FAILURES, cause="refused"))
        self.expect_equal("requests where it was redirected to", 0, len(elsewhere.pushes))
        lines = [line for line in self.daemon.log() if "refused and given up" in line]
        self.expect_equal("lines about it, one a minute at most", 1, len(lines))
        self.say("400" in lines[0] and "\\x1b[31m tenant\\x0aok" in lines[0] and len(lines[0]) < 500,
                 "the line", "the answer, printable and short", lines[0])

    def test_a_disk_that_hangs(self):
        """The file comes first: nothing is pushed that is not kept."""
        disk = self.new_disk()
        self.folder = disk.path
        receiver = self.start_receiver()
        self.start_daemon(receiver)
        self.wait_until("profiles arrive", lambda: len(receiver.pushes) >= 2)
        disk.freeze()
        time.sleep(4)
        ahead = set(receiver.begins()) - set(self.kept())
        self.expect_equal("profiles that arrived without a file", 0, len(ahead))
        arrived = len(receiver.pushes)
        disk.thaw()
        self.wait_until("the rest arrives", lambda: len(receiver.pushes) >= arrived + 3)

    def test_no_answer(self):
        """Neither passes, snapshots and scrapes nor the end of the daemon wait for it."""
        receiver = self.start_receiver()
        receiver.hold.clear()
        daemon = self.start_daemon(receiver, **{"push.timeout": "5min", "pass_interval": "1s"})
        self.wait_until("a request waits for its answer", receiver.arrived.is_set)
        before = self.status()["passes"], len(self.kept())
        begin = time.monotonic()
        slowest = 0
        while time.monotonic() < begin + 6:
            asked = time.monotonic()
            daemon.scrape()
            slowest = max(slowest, time.monotonic() - asked)
            time.sleep(0.2)
        self.expect_at_least("passes in 6 s", before[0] + 5, self.status()["passes"])
        self.expect_at_least("snapshots in 6 s", before[1] + 5, len(self.kept()))
        self.expect_at_most("seconds of the slowest scrape", 1, slowest)
        self.expect_at_least("snapshots that wait", 5, self.status()["push"]["queued"])
        begin = time.monotonic()
        os.kill(daemon.pid, signal.SIGTERM)
        daemon._process.wait(10)
        self.expect_at_most("seconds until it ended", 2, time.monotonic() - begin)
        self.expect_equal("exit code", 0, daemon.poll())


class Reloaded(PushCase):
    def test_on_elsewhere_and_off(self):
        first = self.start_receiver()
        self.start_daemon(config=self.configure())
        self.wait_until("a snapshot is kept", self.kept)
        self.say(self.status()["push"] is None, "push in the status", "none", self.status()["push"])
        url = f"url: http://127.0.0.1:{first.port}"
        self.reload(url)
        self.wait_until("profiles arrive", lambda: len(first.pushes) >= 2)
        self.reload(url, f"token_file: {self.folder}/absent", refused=True)
        arrived = len(first.pushes)
        self.wait_until("they still arrive", lambda: len(first.pushes) >= arrived + 2)

        # Elsewhere: what waits for a server that does not answer goes to the next.
        silent = self.start_receiver()
        silent.hold.clear()
        self.reload(f"url: http://127.0.0.1:{silent.port}", "timeout: 5min")
        self.wait_until("three wait", lambda: self.status()["push"]["queued"] >= 3)
        sent = set(first.begins())
        second = self.start_receiver()
        self.reload(f"url: http://127.0.0.1:{second.port}")
        self.wait_until("they arrive there", lambda: len(second.pushes) >= 4, 5)
        between = [begin for begin in self.kept()
                   if max(sent) < begin < min(second.begins())]
        self.expect_equal("snapshots between the last at the first and the first at the second", 0,
                          len(between))
        self.expect_equal("dropped", 0, self.results()["dropped"])

        self.reload()
        self.say(self.status()["push"] is None, "push in the status", "none", self.status()["push"])
        arrived = len(second.pushes)
        written = len(self.kept())
        self.wait_until("two more are kept", lambda: len(self.kept()) >= written + 2)
        self.expect_at_most("profiles that arrive after it is turned off", arrived + 1, len(second.pushes))

    def test_refused_while_a_certificate_is_renewed(self):
        """The new certificate is noticed nevertheless."""
        authority, secret = Authority(self.folder), self.secret()
        authority.sign("server")
        web = self.folder / "web.yml"
        web.write_text("tls_server_config: {cert_file: server.crt, key_file: server.key}\n")
        self.start_daemon(self.start_receiver(),
                          **{"web.config_file": web, "push.token_file": secret})

        def serial():
            with connected(self.daemon.port, authority.trusting()) as connection:
                return connection.getpeercert()["serialNumber"]

        # Each second the daemon looks by itself, maybe just before it is asked to reload.
        for name in ("second", "third", "fourth"):
            before = serial()
            made = authority.sign(name)
            secret.unlink()
            said = sum("keeping the running" in line for line in self.daemon.log())
            for file, place in zip(made, ("server.crt", "server.key")):
                file.rename(self.folder / place)
            os.kill(self.daemon.pid, signal.SIGHUP)
            self.wait_until("it refuses to reload", lambda: said < sum(
                "keeping the running" in line for line in self.daemon.log()))
            self.wait_until(f"the {name} certificate is in use", lambda: serial() != before, 5)
            self.secret()


if __name__ == "__main__":
    main()
