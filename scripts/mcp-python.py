"""Uses the program as an MCP server with the official client for Python.

python mcp-python.py URL -- COMMAND ARGUMENTS...   starts a server and reads URL
python mcp-python.py URL ADDRESS                   asks the server at ADDRESS to
Prints the tools' names and the result as JSON.
"""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client


async def read(streams, url: str) -> None:
    async with ClientSession(streams[0], streams[1]) as session:
        await session.initialize()
        tools = (await session.list_tools()).tools
        answer = await session.call_tool("fetch_url", {"url": url})
        print(json.dumps({"tools": [tool.name for tool in tools], "result": answer.structuredContent}))


async def main(url: str, *server: str) -> None:
    if server[0] == "--":
        opened = stdio_client(StdioServerParameters(command=server[1], args=list(server[2:])))
    else:
        opened = streamablehttp_client(server[0])
    async with opened as streams:
        await read(streams, url)


asyncio.run(main(*sys.argv[1:]))
