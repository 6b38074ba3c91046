# SPDX-License-Identifier: Apache-2.0
"""silent_datagrams.py ADDRESS PORT: takes datagrams, and says nothing."""

import socket
import sys

with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
    one.bind((sys.argv[1], int(sys.argv[2])))
    while True:
        one.recv(9000)
