"""A person's own call of a tool from a conversation."""

import asyncio
from collections.abc import Mapping
from typing import Any

from agentcore.cli.chat_client import ChatClient
from agentcore.cli.chat_view import TerminalView
from agentcore.cli.event_feed import EventFeed
from agentcore.cli.exits import CliError
from agentcore.cli.interrupts import interrupts


async def call_tool(
    client: ChatClient, session_id: str, view: TerminalView, tool: str, arguments: Mapping[str, Any]
) -> None:
    """Call a tool and show how it ends; Ctrl-C cancels the call.

    Raises:
        CliError: The server cannot be reached, or refuses.
    """
    feed = await client.call_tool(session_id, tool, arguments)
    call = _OwnCall(client, feed, view, tool)
    try:
        with interrupts() as pressed:
            async with asyncio.TaskGroup() as group:
                cancelling = group.create_task(call.cancel_when(pressed))
                await call.show()
                cancelling.cancel()
    except* CliError as exc:
        raise exc.exceptions[0] from None
    finally:
        await feed.close()


class _OwnCall:
    def __init__(self, client: ChatClient, feed: EventFeed, view: TerminalView, tool: str) -> None:
        self._client, self._feed, self._view, self._tool = client, feed, view, tool
        self._call_id: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def show(self) -> None:
        """Show what is told on the way, and the result."""
        while (event := await self._feed.next())["type"] != "result":
            if not self._call_id.done():
                self._call_id.set_result(str(event["callId"]))
            if event["type"] == "progress":
                self._view.progress(event)
            elif event["type"] == "approval" and not self._client.is_own:
                self._view.tell("  it waits for approval at the server: at its terminal, or in its approval view")
        self._view.show({"type": "session.toolResult", "tool_result": {"tool_name": self._tool, **event}})

    async def cancel_when(self, pressed: "asyncio.Queue[None]") -> None:
        """Cancel the call whenever Ctrl-C was pressed; what has no name yet is cancelled when it has one."""
        while True:
            await pressed.get()
            await self._client.cancel(await self._call_id)
