#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scraper.py PORT AUTHORIZATION: scrapes every five seconds until standard input ends. Then says as one JSON
object how many scrapes there were, the seconds of the slowest, and what was cut off or refused.

A process of its own, as a scraper is: among the threads of the siege it would wait for their JSON between connecting
and asking, and under a flood a connection without a request is closed after a fraction of a second."""

import http.client
import json
import select
import sys
import time

INTERVAL = 5
PATIENCE = 20


def scrape(port, authorization):
    """What was wrong, if anything; and seconds."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    begin = time.monotonic()
    asked = None
    try:
        connection.connect()
        connected = time.monotonic()
        connection.request("GET", "/metrics", headers={"Authorization": authorization})
        asked = time.monotonic() - connected
        answer = connection.getresponse()
        status, body = answer.status, answer.read()
    except (OSError, http.client.HTTPException) as error:
        late = "before it asked" if asked is None else f"it asked {asked * 1e3:.0f} ms after it connected"
        return f"{error!r} after {time.monotonic() - begin:.2f} s; {late}", 0.0
    finally:
        connection.close()
    seconds = time.monotonic() - begin
    if status != 200 or b"offcpud_build_info" not in body:
        return f"status {status}, {len(body)} bytes", seconds
    return None, seconds


def main():
    port, authorization = int(sys.argv[1]), sys.argv[2]
    scrapes, slowest, cut = 0, 0.0, []
    while not select.select([sys.stdin], [], [], INTERVAL)[0]:
        wrong, seconds = scrape(port, authorization)
        scrapes, slowest = scrapes + 1, max(slowest, seconds)
        if wrong:
            cut.append(wrong)
    print(json.dumps({"scrapes": scrapes, "slowest": slowest, "cut": cut}))


if __name__ == "__main__":
    main()
