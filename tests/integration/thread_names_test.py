# SPDX-License-Identifier: Apache-2.0
"""Every thread of the daemon has a name of its own: whoever sees one take a CPU knows what it does."""

from pathlib import Path

from case import Case, main

NAMES = {"offcpud", "offcpud-connect", "offcpud-end", "offcpud-golang", "offcpud-gowatch", "offcpud-passwd", "offcpud-push",
         "offcpud-request", "offcpud-stacks", "offcpud-symbols", "offcpud-watch", "offcpud-writer",
         "MHD-worker", "MHD-single"}  # these two by libmicrohttpd


class Names(Case):
    settings = {"push.url": "http://127.0.0.1:1"}

    def test_every_thread_has_one(self):
        names = [(task / "comm").read_text().strip()
                 for task in Path(f"/proc/{self.daemon.pid}/task").iterdir()]
        self.say(set(names) == NAMES, "names", sorted(NAMES), sorted(names))
        self.expect_equal("threads called as the program is", 1, names.count("offcpud"))


if __name__ == "__main__":
    main()
