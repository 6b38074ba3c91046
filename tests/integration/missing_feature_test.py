# SPDX-License-Identifier: Apache-2.0
"""A kernel that does not allow everything: what it lacks is said once, and its series are absent. And
one that refuses some programs: the others go on."""

import ctypes
import os
import subprocess
import unittest
from pathlib import Path

import host
from case import Case, main
from daemon import BUILD, Daemon

CLONE_NEWNS, MS_REC, MS_PRIVATE = 0x20000, 0x4000, 0x40000
SCRAPES = 200


def under_lockdown():
    """For a child, between fork and exec: in a mount namespace whose /sys/kernel/security says
    lockdown=confidentiality, so that the daemon does not use what that would refuse."""
    libc = ctypes.CDLL(None, use_errno=True)
    security = Path("/sys/kernel/security")

    def call(function, *arguments):
        if function(*arguments) != 0:
            raise OSError(ctypes.get_errno(), function.__name__)

    call(libc.unshare, CLONE_NEWNS)
    call(libc.mount, None, b"/", None, MS_REC | MS_PRIVATE, None)
    call(libc.mount, b"none", os.fsencode(security), b"tmpfs", 0, b"size=64k")
    (security / "lockdown").write_text("none integrity [confidentiality]\n")


def refusing(*programs):
    """The environment of a daemon whose kernel refuses these programs."""
    return {"LD_PRELOAD": str(BUILD / "tests" / "integration" / "librefused_programs.so"),
            "OFFCPUD_TEST_REFUSED": " ".join(programs)}


class MissingFeature(Case):
    settings = {"stalls.threshold": "1d"}

    @classmethod
    def setUpClass(cls):
        reason = host.unavailable()
        if not reason and not Path("/sys/kernel/security").is_dir():
            reason = "this kernel has no /sys/kernel/security"
        if reason:
            raise unittest.SkipTest(reason)
        cls.daemon = Daemon.start(on_start=under_lockdown, **cls.settings)
        cls.addClassCleanup(cls.daemon.stop)

    def test_missing_feature_is_said_once(self):
        """D16: one line for each at the start, none for a scrape."""
        scrape = self.daemon.scrape()
        samples = scrape.families["offcpud_feature_enabled"].samples
        missing = [dict(labels)["feature"] for (_, labels), value in samples.items() if value == 0]
        self.say({"file_kind", "cgroup_events"} <= set(missing), "features that are missing",
                 "file_kind and cgroup_events among them", missing)
        said = self.daemon.log()
        for feature in missing:
            lines = [line for line in said if f"{feature} is not available" in line]
            self.expect_equal(f"lines about {feature}", 1, len(lines))
        for _ in range(SCRAPES):
            self.daemon.text()
        more = [line for line in self.daemon.log()[len(said):]
                if "has lost" not in line]  # beside a guarded init that is said, and once
        self.say("wakers" not in missing or "offcpud_wakeups_total" not in scrape.families,
                 "wakeups where wakers are not known", "not on the page",
                 scrape.families.get("offcpud_wakeups_total"))
        self.say(not more, f"lines of the log from {SCRAPES} scrapes", "none", more[:3] or "none")

    def test_what_it_would_have_told_is_absent(self):
        """A read whose file cannot be looked at is other, and no series of the kind exists."""
        window = self.run_workload("ping_pong", "--count", 500)
        self.expect_equal("waits for a pipe", 0, window.blocked("pipe").count)
        self.expect_equal("waits of reason other (voluntary switches)", window.books().voluntary,
                          window.blocked("other").count, window.slack())
        pipes = [labels for labels in
                 window.after.scrape.families["offcpud_blocked_seconds"].histograms
                 if ("reason", "pipe") in labels]
        self.expect_equal("series with reason pipe", 0, len(pipes))


class RefusedPrograms(Case):
    """One program of each of these features is refused by the kernel, as it is by one that lacks a
    helper function."""
    settings = {"stalls.threshold": "1d"}
    refused = {"wait_details": "describe_calls", "stacks": "on_irq_work", "task_by_number": "on_irq_work",
               "kernel_names": "name_addresses", "cgroup_events": "on_cgroup_mkdir", "disk_loads": "on_block_getrq"}

    @classmethod
    def setUpClass(cls):
        cls.skip_if(host.unavailable())
        cls.daemon = Daemon.start(environment=refusing(*cls.refused.values()), **cls.settings)
        cls.addClassCleanup(cls.daemon.stop)

    def features(self):
        samples = self.daemon.scrape().families["offcpud_feature_enabled"].samples
        return {dict(labels)["feature"]: value for (_, labels), value in samples.items()}

    def test_their_features_are_off_and_no_others(self):
        missing = {feature for feature, enabled in self.features().items() if not enabled}
        allowed = subprocess.run([Daemon.program(), "--features"], check=True, text=True,
                                 capture_output=True).stdout
        lacks = {line.split()[0] for line in allowed.splitlines() if line.split()[1:2] == ["NO"]}
        expected = set(self.refused) | lacks
        self.say(missing == expected, "features that are off", sorted(expected), sorted(missing))

    def test_each_is_said_once_with_the_words_of_the_kernel(self):
        for feature in self.refused:
            said = [line for line in self.daemon.log() if f"{feature} is not available" in line]
            self.expect_equal(f"lines about {feature}", 1, len(said))
            self.say("refuses its programs (" in said[0] and "9999" in said[0],
                     f"why {feature} is not available", "what the verifier says", said[0])

    def test_the_sampler_says_what_was_refused_and_what_that_costs(self):
        said = [line for line in self.daemon.log() if "snapshots and profiles stay empty" in line]
        self.expect_equal("lines about what there are no stacks for", 1, len(said))
        self.say("stacks: this kernel refuses its programs (" in said[0] and "9999" in said[0],
                 "why there are no stacks", "what the verifier says", said[0])

    def test_waits_and_wakers_are_counted_as_ever(self):
        window = self.run_workload("ping_pong", "--count", 500)
        self.expect_equal("waits for a pipe (voluntary switches)", window.books().voluntary,
                          window.blocked("pipe").count, window.slack())
        self.say("offcpud_wakeups_total" in window.after.scrape.families, "wakeups", "on the page",
                 sorted(window.after.scrape.families)[:3])

    def test_a_program_that_all_rests_on_ends_the_start(self):
        with self.assertRaises(RuntimeError) as ended:
            Daemon.start(environment=refusing("on_sched_switch")).stop()
        self.say("9999" in str(ended.exception), "the end of the start", "what the verifier says",
                 str(ended.exception)[-300:])


if __name__ == "__main__":
    main()
