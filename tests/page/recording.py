# SPDX-License-Identifier: Apache-2.0
"""What a daemon said to the pages during an incident, kept in a file, so that they show it again."""
import json
import pathlib
import urllib.error
import urllib.parse
import urllib.request

from flame_case import READY as DRAWN
from overview_case import TOLD
from recorded_parts import OfIncident

FILE = pathlib.Path(__file__).resolve().parents[1] / "data" / "incident.json"
WIDTH, HEIGHT = 1400, 900
SETTLED = "new Promise(done => setTimeout(done, 2000))"
# As a whole: edges of what is drawn again in part differ by a shade.
DRAW_AGAIN = """new Promise(done => { const {style} = document.documentElement; style.display = 'none';
  requestAnimationFrame(() => requestAnimationFrame(() => { style.display = '';
    requestAnimationFrame(() => requestAnimationFrame(done)); })); })"""
SHOWN = ("", "?unit=ledger.service", "?view=graph")


def question(path, query):
    return f"{path}?{urllib.parse.urlencode(sorted(query.items()))}"


class Recorder:
    """Asks a daemon what the pages ask, and keeps its last answer to each question."""

    def __init__(self, port):
        self.port = port
        self.answers = {}

    def answer(self, path, query):
        url = f"http://127.0.0.1:{self.port}{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(url, timeout=30) as said:
                status, text = said.status, said.read()
        except urllib.error.HTTPError as error:
            status, text = error.code, error.read()
        answer = json.loads(text)
        self.answers[question(path, query)] = [status, path, answer]
        return status, answer

    @property
    def last(self):
        """The last answer to each question, as a Recording takes them."""
        return {asked: [status, answer] for asked, (status, _, answer) in self.answers.items()}

    def write(self, file, slice_, units):
        """Of these units below a slice of cgroups: one answer a line, in the order of the questions."""
        parts = OfIncident(slice_, units)

        def is_part(one):  # of which another answer knows the sums
            return "limit=1&" in one[0]

        kept = {asked: [status, parts.of(path, answer) if status == 200 else answer]
                for asked, (status, path, answer) in sorted(self.answers.items(), key=is_part)}
        lines = (f"{json.dumps(asked)}: {json.dumps(kept[asked], separators=(',', ':'))}" for asked in sorted(kept))
        pathlib.Path(file).write_text("{\n" + ",\n".join(lines) + "\n}\n")


class Recording:
    """Answers as the daemon did."""

    def __init__(self, answers):
        self.answers = answers

    @classmethod
    def of(cls, file):
        return cls(json.loads(pathlib.Path(file).read_text()))

    def answer(self, path, query):
        asked = question(path, query)
        if asked not in self.answers:
            return 404, {"error": f"nobody asked this when it was recorded: {asked}"}
        status, answer = self.answers[asked]
        return status, answer


def visit(chromium, address):
    """Asks all that is shown of a recording: three views, and the stacks of the last minute."""
    for query in SHOWN:
        page = chromium.open(f"http://{address}/{query}")
        page.wait(TOLD)
        page.value(SETTLED)
        stacks = page.value("document.getElementById('range-flame').href")
        page.close()
    page = chromium.open(stacks)
    page.wait(DRAWN)
    page.value(SETTLED)
    page.close()


def opened(chromium, address, query=""):
    """A page of a recording, as large as the first screen of a person."""
    page = chromium.open(f"http://{address}/{query}")
    page.call("Emulation.setDeviceMetricsOverride", width=WIDTH, height=HEIGHT, deviceScaleFactor=1, mobile=False)
    page.media("light")
    # Emulation.setScrollbarsHidden is now and then forgotten where the host is busy.
    page.value("document.documentElement.style.scrollbarWidth = 'none'; 0")
    page.wait(DRAWN if query.startswith("flame") else
              f"{TOLD} && document.querySelector('#unit .heat-map') && document.querySelector('#unit .stacks')")
    page.value(SETTLED)
    page.value(DRAW_AGAIN)
    return page


def pictures(chromium, pages, file=FILE):
    """Of the pages over a recording: PNG by name."""
    pages.recording = Recording.of(file)
    page = opened(chromium, pages.address)
    first, stacks = page.picture(), page.value("document.querySelector('#range-flame').href.split('/').at(-1)")
    page.close()
    page = opened(chromium, pages.address, f"{stacks}&group=cgroup")
    second = page.picture()
    page.close()
    return {"page": first, "flame": second}
