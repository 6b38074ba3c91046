# SPDX-License-Identifier: Apache-2.0
"""What looks each few seconds whether the programs of the idle host are well, and writes what they said.

arguments: CHECKS (JSON) ANSWERS (a line of JSON for each check made)"""

import json
import re
import subprocess
import sys
import time
import urllib.request

PATIENCE = 20  # seconds


def heard(check):
    if check["url"]:
        with urllib.request.urlopen(check["url"], timeout=PATIENCE) as answer:
            return answer.read().decode("utf-8", "replace")
    return subprocess.run(check["command"], capture_output=True, text=True, timeout=PATIENCE, check=True,
                          stdin=subprocess.DEVNULL, cwd="/").stdout


def ask(check):
    begin = time.monotonic()
    try:
        text = heard(check)
        is_ok = re.search(check["says"], text.strip(), re.MULTILINE) is not None
    except (OSError, subprocess.SubprocessError) as error:
        text, is_ok = repr(error), False
    return {"name": check["name"], "ok": is_ok, "seconds": time.monotonic() - begin, "at": time.time(),
            "said": "" if is_ok else text[:300]}


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        checks = json.load(file)
    due = {check["name"]: time.monotonic() for check in checks}
    with open(sys.argv[2], "a", encoding="utf-8", buffering=1) as answers:
        while True:
            for check in checks:
                if due[check["name"]] <= time.monotonic():
                    due[check["name"]] = time.monotonic() + check["every"]
                    print(json.dumps(ask(check)), file=answers)
            time.sleep(max(0.1, min(due.values()) - time.monotonic()))


main()
