# SPDX-License-Identifier: Apache-2.0
"""loops.py serve|ask|sleep PORT: event loops, one for each kind of wait."""

import asyncio
import sys


async def serve(_):
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0)
    await server.serve_forever()


async def ask(port):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    while True:
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(len(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))


async def sleep(_):
    while True:
        await asyncio.sleep(0.2)


asyncio.run({"serve": serve, "ask": ask, "sleep": sleep}[sys.argv[1]](int(sys.argv[2])))
