# SPDX-License-Identifier: Apache-2.0
"""What somebody sees first: the first screen of the page and the first command's words, as files."""

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "page"))

import browser  # noqa: E402
from overview_case import TOLD  # noqa: E402

WIDTH, HEIGHT = 1400, 900
SETTLE = 6  # seconds: the page asks every five


class FirstLook:
    """Writes them into a folder."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.browser = browser.Browser()

    def close(self):
        self.browser.close()

    def take(self, name, daemon):
        (self.folder / f"{name}.txt").write_text(f"$ offcpuctl\n{daemon.offcpuctl()}")
        page = self.browser.open(f"http://127.0.0.1:{daemon.port}/")
        try:
            page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1,
                      mobile=False)
            page.call("Emulation.setScrollbarsHidden", hidden=True)
            page.wait(TOLD)
            time.sleep(SETTLE)
            page.screenshot(self.folder / f"{name}.png")
        finally:
            page.close()
