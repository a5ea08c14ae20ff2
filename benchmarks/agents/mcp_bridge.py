"""An MCP client that speaks lines of JSON: run by the interpreter that has the package `mcp`.

Its arguments are commands of servers, separated by `--`. It writes `{"tools": […]}`, then answers each line `{"tool",
"arguments"}` with `{"text", "isError", "images"}`.
"""

import asyncio
import json
import sys
from contextlib import AsyncExitStack
from itertools import groupby

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    """Connect, and serve until the input ends."""
    commands = [list(part) for is_mark, part in groupby(sys.argv[1:], "--".__eq__) if not is_mark]
    async with AsyncExitStack() as stack:
        sessions, tools = {}, []
        for command in commands:
            server = StdioServerParameters(command=command[0], args=command[1:])
            streams = await stack.enter_async_context(stdio_client(server))
            session = await stack.enter_async_context(ClientSession(*streams))
            await session.initialize()
            for tool in (await session.list_tools()).tools:
                sessions[tool.name] = session
                tools.append({"name": tool.name, "description": tool.description, "parameters": tool.input_schema})
        print(json.dumps({"tools": tools}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            wanted = json.loads(line)
            result = await sessions[wanted["tool"]].call_tool(wanted["tool"], wanted["arguments"])
            texts = [block.text for block in result.content if block.type == "text"]
            images = sum(block.type == "image" for block in result.content)
            print(json.dumps({"text": "\n".join(texts), "isError": result.is_error, "images": images}), flush=True)


asyncio.run(main())
