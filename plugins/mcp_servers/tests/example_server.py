"""A server of the Python SDK for tests, over stdio: `python example_server.py`."""

import asyncio
from pathlib import Path

from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import Completion, CompletionArgument, CompletionContext, ToolAnnotations

server = MCPServer("example", instructions="Count on it.")
_PIXEL = bytes.fromhex(
    "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c626001000000ffff03000006"
    "000557bfabd40000000049454e44ae426082"
)


@server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool(structured_output=False)
def picture() -> Image:
    """Give a picture."""
    return Image(data=_PIXEL, format="png")


@server.tool(structured_output=False)
def fail(why: str) -> str:
    """Fail."""
    raise ToolError(why)


@server.tool(structured_output=False)
async def slow(ctx: Context, path: str) -> str:
    """Begin, tell of it, and wait to be cancelled."""
    Path(path).write_text("begun", encoding="utf-8")
    await ctx.report_progress(1, 4, "begun")
    try:
        await asyncio.Event().wait()
    finally:
        Path(path).write_text("cancelled", encoding="utf-8")
    return "never"


@server.resource("notes://today", mime_type="text/plain")
def today() -> str:
    """What is on today."""
    return "Water the plants."


@server.resource("notes://{day}")
def day(day: str) -> str:
    """What is on another day."""
    return f"Nothing on {day}."


@server.prompt()
def plan(topic: str) -> str:
    """Plan something."""
    return f"Make a plan for {topic}."


@server.prompt()
def visit(country: str, city: str) -> str:
    """Visit a city."""
    return f"Plan a visit to {city} in {country}."


@server.completion()
async def complete(ref: object, argument: CompletionArgument, context: CompletionContext | None) -> Completion:
    """What arguments of prompts can be."""
    given = (context.arguments if context else None) or {}
    cities = {"Italy": ["Rome", "Reggio nell'Emilia", "Rimini"], "many": [f"R{number}" for number in range(150)]}
    match argument.value:
        case "fail":
            raise ValueError("no more")
        case "hang":
            await asyncio.Event().wait()
        case "odd":
            return Completion(values=["two\nlines", "", "x" * 1001, "odd enough"])
    known = ["Italy", "Iceland"] if argument.name == "country" else cities.get(given.get("country", ""), [])
    return Completion(values=[each for each in known if each.startswith(argument.value)][:100])


if __name__ == "__main__":
    server.run("stdio")
