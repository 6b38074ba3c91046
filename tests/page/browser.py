# SPDX-License-Identifier: Apache-2.0
"""Headless Chromium, driven over its debugging pipe (the DevTools protocol)."""
import base64
import collections
import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

TIMEOUT = 60  # seconds; a loaded machine takes its time


class Missing(Exception):
    """Chromium cannot run here; the message says why."""


class Browser:
    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if program is None:
            raise Missing("there is no chromium; sudo tests/run page installs it")
        self.profile = tempfile.TemporaryDirectory(prefix="offcpud-page-")
        to_browser, self.output = os.pipe()
        self.input, from_browser = os.pipe()
        flags = ["--headless=new", "--disable-gpu", "--no-first-run", "--disable-dev-shm-usage",
                 "--disable-background-networking", "--force-prefers-reduced-motion",
                 "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}"]
        if os.geteuid() == 0:
            flags.append("--no-sandbox")  # Chromium refuses root otherwise
        # The protocol wants descriptors 3 and 4.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{to_browser} 4>&{from_browser}', "_", program, *flags,
             "about:blank"],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events = b"", 0, collections.deque()
        try:
            self.call("Browser.getVersion")
        except (BrokenPipeError, EOFError, TimeoutError) as error:
            self.close()
            raise Missing(f"chromium does not start here: {error or type(error).__name__}") from None

    def close(self):
        self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.output)
        os.close(self.input)
        shutil.rmtree(self.profile.name, ignore_errors=True)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.output, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def receive(self):
        deadline = time.monotonic() + TIMEOUT
        while b"\0" not in self.buffer:
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self.input], [], [], left)[0]:
                raise TimeoutError("no answer from chromium")
            data = os.read(self.input, 1 << 20)
            if not data:
                raise EOFError("it has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def open(self, url):
        return Page(self, url)


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        self.target = browser.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = browser.call("Target.attachToTarget", targetId=self.target,
                                    flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.call("Emulation.setDeviceMetricsOverride", width=1200, height=900,
                  deviceScaleFactor=1, mobile=False)
        self.call("Page.navigate", url=url)
        self.wait("document.readyState === 'complete' && location.href !== 'about:blank'")

    def call(self, method, **parameters):
        return self.browser.call(method, self.session, **parameters)

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True,
                           awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def wait(self, expression):
        deadline = time.monotonic() + TIMEOUT
        while not self.value(f"Boolean({expression})"):
            if time.monotonic() > deadline:
                raise TimeoutError(f"never true: {expression}\n{self.value('document.body.innerText')}")
            time.sleep(0.05)

    def click(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def hover(self, x, y):
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def press(self, key, modifiers=0):
        """`modifiers`: 8 is Shift."""
        code = {"Enter": 13, "Escape": 27, "Tab": 9}.get(key)
        more = {"text": key} if len(key) == 1 else {"windowsVirtualKeyCode": code} if code else {}
        more["modifiers"] = modifiers
        if key == "Enter":
            more["text"] = "\r"  # what makes it press a button
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **more)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def media(self, scheme):
        self.call("Emulation.setEmulatedMedia", media="",
                  features=[{"name": "prefers-color-scheme", "value": scheme},
                            {"name": "prefers-reduced-motion", "value": "reduce"}])

    def picture(self):
        """What is seen, as PNG."""
        return base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])

    def screenshot(self, path):
        with open(path, "wb") as file:
            file.write(self.picture())

    def events(self, method):
        self.value("0")  # takes in what has come so far
        return [event["params"] for event in self.browser.events
                if event.get("sessionId") == self.session and event["method"] == method]

    def problems(self):
        """Errors and violations of the policy that the page has run into."""
        texts = [entry["entry"]["text"] for entry in self.events("Log.entryAdded")
                 if entry["entry"]["level"] == "error"]
        texts += [event["exceptionDetails"]["text"] + str(event["exceptionDetails"].get("exception"))
                  for event in self.events("Runtime.exceptionThrown")]
        return texts


class LightAndDark:
    """For a unittest.TestCase whose open() shows a page as self.page. COLORS: of the ground."""
    COLORS = ["rgb(255, 255, 255)", "rgb(15, 18, 22)"]

    def test_light_and_dark(self):
        self.open()
        colors = []
        for scheme in ("light", "dark"):
            self.page.media(scheme)
            colors.append(self.page.value("getComputedStyle(document.body).backgroundColor"))
        self.assertEqual(colors, self.COLORS)


@contextlib.contextmanager
def opened():
    """A Browser. Where it cannot run, the program says why and exits with 77."""
    try:
        browser = Browser()
    except Missing as missing:
        print(f"SKIP: {missing}")
        sys.exit(77)
    try:
        yield browser
    finally:
        browser.close()


def run_tests(options):
    """Those of the program, with options of unittest; exits with 0 if all pass."""
    program = unittest.main(argv=[sys.argv[0], *options], exit=False)
    sys.exit(0 if program.result.wasSuccessful() else 1)
