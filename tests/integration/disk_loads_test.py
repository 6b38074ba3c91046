# SPDX-License-Identifier: Apache-2.0
"""Who loads a disk: bytes of known writers, and a writer in one unit that slows the fsync of another."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import main
from waited_on_case import WaitedOnCase

MIB = 1 << 20
WRITERS = 16
COMMITS_OF_LEDGER = 400
# Bytes that the file system writes of its own in a program's time: blocks of directories, inodes and extents; and one
# of 4 KiB for each fourth flush, as others fill its journal.
METADATA, METADATA_OF_FLUSH = 64 << 10, (4 << 10) / 4
UNTIL_READ = 1.2  # seconds: a scrape shows the last pass, which may be an interval old
FOLDER = "/var/tmp"  # on a disk, where /tmp may be memory

# Writes so many MiB beside the page cache, then so many through it, which it flushes.
WRITER = """
import mmap, os, sys
path, direct, buffered = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
block = mmap.mmap(-1, 1 << 20)
file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_DIRECT, 0o600)
os.posix_fallocate(file, 0, max(direct, 1) << 20)
os.fsync(file)
for i in range(direct):
    os.pwrite(file, block, i << 20)
file = os.open(path, os.O_WRONLY)
for i in range(buffered):
    os.pwrite(file, block, i << 20)
os.fdatasync(file)
os.unlink(path)
"""

# Reads it beside the page cache.
READER = """
import mmap, os, sys
block = mmap.mmap(-1, 1 << 20)
file = os.open(sys.argv[1], os.O_RDONLY | os.O_DIRECT)
while os.readv(file, [block]):
    pass
"""

# Rewrites a few blocks for ever, from some threads, each in a file of its own, beside the page cache and down to the
# disk itself.
BACKUP = """
import mmap, os, sys, threading
path, threads, block = sys.argv[1], int(sys.argv[2]), 4 << 10
def write(name):
    file = os.open(name, os.O_CREAT | os.O_WRONLY | os.O_DIRECT | os.O_DSYNC, 0o600)
    os.unlink(name)
    data = mmap.mmap(-1, block)
    while True:
        for i in range(64):
            os.pwrite(file, data, i * block)
for at in range(threads):
    threading.Thread(target=write, args=(f"{path}{at}",)).start()
"""

# Writes so many blocks of 8 KiB, and then each of them again with a flush of its own, as a database commits to a log
# that has its space.
LEDGER = """
import os, sys
count = int(sys.argv[2])
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY, 0o600)
os.pwrite(file, b"y" * 8192 * count, 0)
os.fsync(file)
for i in range(count):
    os.pwrite(file, b"x" * 8192, 8192 * i)
    os.fdatasync(file)
"""

# A few KiB and a flush, again and again, as a journal of a database.
COMMITS = """
import os, sys
file = os.open(sys.argv[1], os.O_CREAT | os.O_WRONLY, 0o600)
while True:
    os.pwrite(file, b"x" * 8192, 0)
    os.fsync(file)
"""


def disk_of(path):
    """The whole disk that a file is on, by name."""
    number = os.stat(path).st_dev
    found = Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    return found.parent.name if (found / "partition").exists() else found.name


def diskstats(disk):
    """(bytes read, bytes written, seconds that requests took), as the kernel counts for the whole disk."""
    for line in Path("/proc/diskstats").read_text().splitlines():
        words = line.split()
        if words[2] == disk:
            numbers = list(map(int, words[3:]))
            discards = numbers[14] if len(numbers) > 14 else 0
            return numbers[2] * 512, numbers[6] * 512, (numbers[3] + numbers[7] + discards) / 1e3
    raise RuntimeError(f"no {disk} in /proc/diskstats")


def has_io_controller():
    """Whether cgroup v2 has it, so that the kernel may say whose write-back is."""
    lists = [Path("/sys/fs/cgroup", mount, "cgroup.controllers") for mount in ("", "unified")]
    return any("io" in path.read_text().split() for path in lists if path.exists())


class DiskCase(WaitedOnCase):
    patience = 60

    def setUp(self):
        super().setUp()
        if Path(f"/sys/block/{disk_of(FOLDER)}").resolve().parts[2:3] == ("virtual",):
            self.skipTest(f"{FOLDER} is on no disk")
        self.disk = disk_of(FOLDER)

    def file(self, name):
        path = Path(tempfile.mkdtemp(prefix="offcpud-disk-", dir=FOLDER)) / name
        self.addCleanup(path.parent.rmdir)
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def why(self, unit):
        """The answer; as long as the unit is not known, one without anything."""
        answer = self.daemon.get_json_as_root(f"/api/v1/why?unit={unit}&window=10s")
        return answer if "units" in answer else {"units": [], "verdicts": []}


class DiskLoads(DiskCase):
    @staticmethod
    def sums(scrape, metric, **labels):
        family = scrape.families.get(metric)
        wanted = set(labels.items())
        return sum(value for (_, having), value in (family.samples.items() if family else ())
                   if wanted <= set(dict(having).items()))

    def of(self, cgroup, metric, scrape=None, **labels):
        return self.sums(scrape or self.daemon.scrape(), metric, cgroup=cgroup.path, device=self.disk, **labels)

    def test_bytes_of_known_programs(self):
        """All that a program writes, beside the page cache or with fdatasync, is its own."""
        path = self.file("written")
        writer, reader = self.new_unit("writer"), self.new_unit("reader")
        self.run_in(writer, sys.executable, "-c", WRITER, path, 64, 32).wait()
        time.sleep(UNTIL_READ)
        self.expect_bytes("bytes written", 96 * MIB, writer, "write")
        self.expect_at_least("requests that wrote", 64,
                             self.of(writer, "offcpud_disk_requests_total", operation="write"))
        self.expect_at_least("seconds of its requests", 1e-3, self.of(writer, "offcpud_disk_request_seconds_total"))
        path.write_bytes(b"y" * (32 * MIB))
        os.sync()
        self.run_in(reader, sys.executable, "-c", READER, path).wait()
        time.sleep(UNTIL_READ)
        self.expect_bytes("bytes read", 32 * MIB, reader, "read")
        self.expect_at_most("bytes that the reader wrote", MIB,
                            self.of(reader, "offcpud_disk_bytes_total", operation="write"))

    def expect_bytes(self, what, expected, cgroup, operation, flushes=0):
        """Within a hundredth and the metadata."""
        seen = self.of(cgroup, "offcpud_disk_bytes_total", operation=operation)
        self.expect_close(what, expected, seen, 0, 0.01 * expected + METADATA + METADATA_OF_FLUSH * flushes)

    def test_bytes_of_commits(self):
        """Small writes of one unit beside large ones of another."""
        ledger, writer = self.new_unit("ledger"), self.new_unit("writer")
        large = self.run_in(writer, sys.executable, "-c", WRITER, self.file("large"), 64, 32)
        self.run_in(ledger, sys.executable, "-c", LEDGER, self.file("ledger"), COMMITS_OF_LEDGER).wait()
        large.wait()
        time.sleep(UNTIL_READ)
        self.expect_bytes("bytes committed", 2 * COMMITS_OF_LEDGER * 8192, ledger, "write",
                          COMMITS_OF_LEDGER)
        self.expect_bytes("bytes written beside them", 96 * MIB, writer, "write")

    def test_write_back_is_nobodys(self):
        """Where the page cache is written by the kernel, no unit is said to have written, unless the kernel says whose
        it was."""
        path = self.file("lazy")
        lazy = self.new_unit("lazy")
        before = self.sums(self.daemon.scrape(), "offcpud_disk_bytes_total", cgroup="(kernel)", device=self.disk,
                           operation="write")
        self.run_in(lazy, "dd", "if=/dev/zero", f"of={path}", "bs=1M", "count=48", stderr=subprocess.DEVNULL).wait()
        os.sync()
        time.sleep(UNTIL_READ)
        scrape = self.daemon.scrape()
        own = self.of(lazy, "offcpud_disk_bytes_total", scrape, operation="write")
        kernel = self.sums(scrape, "offcpud_disk_bytes_total", cgroup="(kernel)", device=self.disk,
                           operation="write") - before
        self.expect_at_least("MiB written by the kernel, or charged to the writer", 45, (own + kernel) / MIB)
        if not has_io_controller():
            self.expect_at_most("MiB that the writer is said to have written", 3, own / MIB)

    def test_all_together_are_the_disk(self):
        """Summed over all, bytes and time are those of /proc/diskstats."""
        path = self.file("written")
        writer = self.new_unit("writer")

        def counted():
            scrape = self.daemon.scrape()
            return [*(self.sums(scrape, "offcpud_disk_bytes_total", device=self.disk, operation=operation)
                      for operation in ("read", "write")),
                    self.sums(scrape, "offcpud_disk_request_seconds_total", device=self.disk)]
        os.sync()
        time.sleep(UNTIL_READ)
        ours, theirs = counted(), diskstats(self.disk)
        self.run_in(writer, sys.executable, "-c", WRITER, path, 96, 32).wait()
        time.sleep(UNTIL_READ)
        seen, truth = ([now - then for now, then in zip(after, before)]
                       for after, before in ((counted(), ours), (diskstats(self.disk), theirs)))
        self.expect_close("bytes written to the disk", truth[1], seen[1], 0.03)
        self.expect_close("seconds of requests to the disk", truth[2], seen[2], 0.1, 0.05)
        self.expect_equal("requests without room", 0, int(self.daemon.scrape().lost()["disk_loads_full"]))

    def test_a_writer_slows_the_fsync_of_another(self):
        backup, commits = self.new_unit("backup"), self.new_unit("orders-db")
        # On a busy host it would wait for a CPU most of the time.
        self.run_in(commits, "nice", "-n", "-15", sys.executable, "-c", COMMITS, self.file("journal"))
        self.wait_until("the database is said to wait for storage", lambda: any(
            cause["for"] == "storage" for unit in self.why(commits.unit)["units"] for cause in unit["causes"]))
        self.run_in(backup, sys.executable, "-c", BACKUP, self.file("copy"), WRITERS)
        begin = time.monotonic()
        told = []  # on a busy host the next answer may be about waits for a CPU
        named = rf" on device \S+, which {re.escape(backup.unit)} loads \(\d+ % of the time of the device's requests, "
        named += r"[\d.]+ [kMG]B/s written\)$"

        # In the first seconds the window still has what others have written before.
        def names_the_writer():
            told[:] = [self.why(commits.unit)]
            return any(verdict["culprit"] == backup.unit and re.search(named, verdict["sentence"])
                       for verdict in told[0]["verdicts"])
        self.wait_until("the writer is said to be to blame", names_the_writer, 25)
        self.expect_at_most("seconds until then", 22, time.monotonic() - begin)
        answer = told[0]
        sentence = answer["verdicts"][0]["sentence"]
        self.say(re.search(named, sentence), "the sentence", "names the writer", sentence)
        device = next(part for cause in answer["units"][0]["causes"] for part in cause["parts"]
                      if part["kind"] == "device")
        print(json.dumps(device["load"], indent=1), flush=True)
        self.expect_close("sum of shares", 1, sum(each["share"] for each in device["load"]["by"]), 1e-6)
        first = device["load"]["by"][0]
        self.say((first["unit"], first["own"]) == (backup.unit, False), "who loads it most", backup.unit, first["unit"])
        self.expect_at_most(f"requests of {WRITERS} writers at a time, each does one", WRITERS, first["at_a_time"])
        self.say(device["parts"] == [], "waits attributed to who loads", "none", device["parts"])
        text = self.daemon.offcpuctl("why", commits.unit)
        self.say(f"loaded by {backup.unit} (" in text, "offcpuctl why UNIT", "has a line about the load", text[:300])


class WithoutTracing(DiskCase):
    """disk_loads: off. Nothing is counted, and the answer says that it does not know."""
    settings = {**WaitedOnCase.settings, "disk_loads": "off"}

    def test_nobody_is_named_and_the_answer_says_so(self):
        commits = self.new_unit("orders-db")
        self.run_in(commits, "nice", "-n", "-15", sys.executable, "-c", COMMITS, self.file("journal"))

        def sentence():
            verdicts = self.why(commits.unit)["verdicts"]
            return verdicts[0]["sentence"] if verdicts else ""
        why = "; who loads it is unknown, because nobody counts that"
        self.wait_until("it is said that nobody counts", lambda: " on device " in sentence() and why in sentence())
        self.say("offcpud_disk_bytes_total" not in self.daemon.scrape().families, "series of disks", "none", "some")


if __name__ == "__main__":
    main()
