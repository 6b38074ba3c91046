# SPDX-License-Identifier: Apache-2.0
"""asking_clients.py PORT COUNT PATH: clients of HTTP that ask again as soon as they were answered."""

import sys
import threading
import time
import urllib.request


def ask():
    while True:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{sys.argv[1]}{sys.argv[3]}", timeout=60).read()
        except OSError:
            time.sleep(0.2)


for _ in range(int(sys.argv[2])):
    threading.Thread(target=ask).start()
