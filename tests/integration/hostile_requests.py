# SPDX-License-Identifier: Apache-2.0
"""Requests that no client makes which means well."""

import os

_HOST = b" HTTP/1.1\r\nHost: 127.0.0.1\r\n"
TWO_LENGTHS = (b"GET /metrics" + _HOST + b"Content-Length: 0\r\nContent-Length: 46\r\n\r\n"
               b"GET /smuggled" + _HOST + b"\r\n")
ALL = (
    b"GET /metrics" + _HOST + b"X: " + b"x" * 1_000_000 + b"\r\n\r\n",
    b"GET /metrics" + _HOST + b"X: y\r\n" * 50_000 + b"\r\n",
    b"GET /" + b"a" * 200_000 + _HOST + b"\r\n",
    b"POST /metrics" + _HOST + b"Content-Length: 999999999\r\n\r\n" + b"x" * 100_000,
    b"GET /metrics" + _HOST + b"Transfer-Encoding: chunked\r\n\r\nffffffff\r\n",
    b"GET /metrics" + _HOST + b"Content-Length: -1\r\n\r\n",
    TWO_LENGTHS,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + os.urandom(500),
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"GET /metrics" + _HOST + b"Authorization: Basic " + b"QUFB" * 10_000 + b"\r\n\r\n",
    b"GET /metrics?" + b"a=%00&" * 5_000 + _HOST + b"\r\n",
)
