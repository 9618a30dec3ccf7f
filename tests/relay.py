"""A server process of milliseconds: hands every byte on to an engine that listens already. `relay.py FROM TO`."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress


async def main(port, engine):
    """Listens on one port of this machine until it is stopped."""

    async def joined(reader, writer):
        there = await asyncio.open_connection("127.0.0.1", engine)
        await asyncio.gather(copied(reader, there[1]), copied(there[0], writer))

    server = await asyncio.start_server(joined, "127.0.0.1", port)
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    await server.serve_forever()


async def copied(reader, writer):
    """All that comes is passed on, and then its end."""
    with suppress(ConnectionError):
        while data := await reader.read(1 << 16):
            writer.write(data)
            await writer.drain()
    writer.close()


if __name__ == "__main__":
    asyncio.run(main(*map(int, sys.argv[1:])))
