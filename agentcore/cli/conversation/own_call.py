"""Runs a user's own tool call from the chat, which is recorded in the session."""

import asyncio
from collections.abc import Mapping
from typing import Any

from agentcore.cli.conversation.client import ChatClient
from agentcore.cli.conversation.event_feed import EventFeed
from agentcore.cli.conversation.event_output import TerminalView
from agentcore.cli.conversation.interrupts import capture_interrupts
from agentcore.cli.terminal.exit_codes import CliError


class OwnCall:
    """Runs one call and shows its result.

    Args:
        client: Client of the server's chat routes.
        feed: The session's events.
        view: Shows them.
    """

    def __init__(self, client: ChatClient, feed: EventFeed, view: TerminalView) -> None:
        self._client = client
        self._feed = feed
        self._view = view
        self._call_id: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    async def run(self, session_id: str, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool; Ctrl-C cancels the call.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        self._feed.discard_pending()
        try:
            with capture_interrupts() as pressed:
                async with asyncio.TaskGroup() as group:
                    cancelling = group.create_task(self._cancel_when(pressed))
                    await self._show_until_result(await self._client.start_tool_call(session_id, tool, arguments))
                    cancelling.cancel()
        except* CliError as exc:
            raise exc.exceptions[0] from None

    async def _show_until_result(self, tool_id: str) -> None:
        """Show the progress of the call and its result."""
        while True:
            event = await self._feed.next_event()
            match event["type"]:
                case "session.toolState" if event["toolId"] == tool_id:
                    if "callId" in event and not self._call_id.done():
                        self._call_id.set_result(str(event["callId"]))
                    if event["state"] == "waiting" and not self._client.is_own:
                        self._view.show_text(
                            "  it waits for approval at the server: in its approval view, or at its terminal"
                        )
                case "call.progress":
                    self._view.show_progress(event)
                case "session.toolResult" if event["tool_result"]["toolId"] == tool_id:
                    self._view.show_event(event)
                    return

    async def _cancel_when(self, pressed: "asyncio.Queue[None]") -> None:
        """Cancel the call on every Ctrl-C, once its id is known."""
        while True:
            await pressed.get()
            await self._client.cancel_call(await self._call_id)
