# SPDX-License-Identifier: Apache-2.0
"""slow_server.py PORT SECONDS: answers requests of HTTP after so many seconds."""

import asyncio
import sys


async def serve(reader, writer):
    try:
        while True:
            request = await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(float(sys.argv[2]))
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            await writer.drain()
            if b"close" in request.lower():
                break
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError):
        pass
    writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
