# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for files: a FIFO that nobody writes, a busy disk, a file system that hangs."""

import os
import re
import shutil
import time

from incident_case import ROWS, WITHIN, IncidentCase, main
from hanging_programs import NOBODY, FuseServer
import unit_processes

NODE = """
const fs = require("fs");
require("http").createServer((_, answer) => answer.end("ok")).listen(0);
setTimeout(() => fs.readFileSync(process.argv[2]), 1000);
"""

# Writes and flushes for ever.
FLUSHES = """
import os, sys
data = b"x" * int(sys.argv[2])
with open(sys.argv[1], "wb") as file:
    while True:
        file.seek(0)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
"""

# A shop's cart: each request writes the order down; since the deployment it also works out the tax, with six flushes
# more.
CART = """
import os, sys, time
version, file = sys.argv[1], os.open(sys.argv[2], os.O_CREAT | os.O_WRONLY, 0o600)
def write_order():
    os.pwrite(file, b"x" * 4096, 0)
    os.fsync(file)
def recompute_tax():
    for each in range(6):
        os.pwrite(file, b"x" * 4096, 4096 * each)
        os.fsync(file)
while True:
    write_order()
    if version == "v2":
        recompute_tax()
    time.sleep(0.002)
"""
LEAST_TIMES = 1.3  # seven flushes for one, less what they leave of the time for the next request


class Files(IncidentCase):
    def test_4a_node_reads_a_fifo(self):
        node = self.need("nodejs", "node")
        fifo = self.folder / "events"
        os.mkfifo(fifo)
        unit = self.unit("webhooks")
        self.run_in(unit, node, self.script("app.js", NODE), fifo)
        self.expect_first(("webhooks", "answer", "node-fifo"))
        self.expect_why("webhooks", "wait for an answer", unknown="the other end was not seen")

    def test_6_a_backup_fills_the_disk_queue(self):
        python = self.need("python3", "/usr/bin/python3")
        flushes = self.script("flushes.py", FLUSHES)
        self.run_in(self.unit("backup"), python, flushes, "/var/tmp/offcpud-incident-backup", 16 << 20)
        self.run_in(self.unit("orders-db"), python, flushes, "/var/tmp/offcpud-incident-orders", 8192)
        for name in ("backup", "orders"):
            self.addCleanup(os.unlink, f"/var/tmp/offcpud-incident-{name}")
        self.expect_first(("orders-db", "storage storage"), ("backup", "storage storage"))
        self.expect_why("orders-db", "wait for storage", "on device ", culprit=("backup", " loads ("))

    def test_8c_a_fuse_server_that_hangs(self):
        file = shutil.copy("/bin/true", self.folder / "report")
        try:
            server = FuseServer(file, self.folder)
        except OSError as error:
            self.skipTest(str(error))
        (self.unit("report-files").directory / "cgroup.procs").write_text(str(server.pid))
        server.mute_reads()
        time.sleep(0.5)  # until the signal is there
        self.run_in(self.unit("reports"), *NOBODY, "/bin/cat", server.path / "file")
        self.addCleanup(server.end)  # before the reader is waited for, who cannot be killed until then
        self.expect_first(("reports", "storage", "network-file-system"))
        self.expect_why("reports", "wait for storage", culprit="report-files")


class Deployment(IncidentCase):
    """Snapshots are short, so that the test need not wait for long ones."""
    settings = {**IncidentCase.settings, "snapshots.interval": "15s"}

    def test_9_a_deployment_that_flushes_more(self):
        python = self.need("python3", "/usr/bin/python3")
        cart, journal = self.script("cart.py", CART), "/var/tmp/offcpud-incident-cart"
        self.addCleanup(os.unlink, journal)
        unit = self.unit("cart-api")
        old = self.run_in(unit, python, cart, "v1", journal)
        since = time.time()
        time.sleep(50)  # three snapshots are of the old version only
        unit_processes.end(old)
        deployed = time.time()
        self.run_in(unit, python, cart, "v2", journal)
        self.expect_why("cart-api", "wait for storage", culprit="on device ")

        def first_rows():
            said = self.daemon.offcpuctl("diff", "--from", f"{deployed:.0f}", "--base-from", f"{since:.0f}",
                                         "--base-to", f"{deployed:.0f}").splitlines()
            heading = next((i for i, line in enumerate(said) if line.startswith("UNIT ")), len(said))
            return [" ".join(row.split()) for row in said[heading + 1:heading + 1 + ROWS]]

        def more_flushes(row):
            found = re.match(r"cart-api.service storage storage .* \+[\d.]+ .* ([\d.]+)×$", row)
            return found and float(found[1]) >= LEAST_TIMES
        until = deployed + 2 * 15 + WITHIN  # two snapshots
        while not any(map(more_flushes, rows := first_rows())) and time.time() < until:
            time.sleep(0.5)
        print("\n".join(f"    | {row}" for row in rows), flush=True)
        self.say(any(map(more_flushes, rows)), f"in the first {ROWS} rows of offcpuctl diff",
                 f"cart-api waits {LEAST_TIMES} times as long for storage", f"after {time.time() - deployed:.0f} s")


if __name__ == "__main__":
    main()
