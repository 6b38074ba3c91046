# SPDX-License-Identifier: Apache-2.0
"""Programs that wait for files: a FIFO that nobody writes, a busy disk, a file system that hangs."""

import os
import shutil
import time

from incident_case import IncidentCase, main
from hanging_programs import NOBODY, FuseServer

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
        self.expect_first(("orders-db", "storage"), ("backup", "storage"))
        self.expect_why("orders-db", "wait for storage", "on device ", culprit=("backup", " loads ("))

    def test_8c_a_fuse_server_that_hangs(self):
        file = shutil.copy("/bin/true", self.folder / "report")
        try:
            server = FuseServer(file, self.folder)
        except OSError as error:
            self.skipTest(str(error))
        server.mute_reads()
        time.sleep(0.5)  # until the signal is there
        self.run_in(self.unit("reports"), *NOBODY, "/bin/cat", server.path / "file")
        self.addCleanup(server.end)  # before the reader is waited for, who cannot be killed until then
        self.expect_first(("reports", "storage", "network-file-system"))
        self.expect_why("reports", "wait for storage", unknown="counts no requests to it")


if __name__ == "__main__":
    main()
