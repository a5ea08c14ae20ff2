"""The session that a terminal talks to: which one it is, and with which model, agent and mode."""

from dataclasses import replace
from typing import Any

from agentcore.cli.chat_client import ChatClient, SessionWish
from agentcore.cli.chat_turn import ChatTurn, TurnEnd
from agentcore.cli.chat_view import ChatView, TerminalView
from agentcore.cli.event_feed import EventFeed
from agentcore.cli.exits import CliError
from agentcore.cli.own_call import call_tool


class ChatSession:
    """Writes to a session and shows what comes of it. `begin` or `go_on_with` comes first, `close` last.

    Args:
        client: The way to the server.
        view: Shows what happens.
        wish: How the session is to be.
        has_person: Whether somebody at this terminal can approve calls.
    """

    def __init__(self, client: ChatClient, view: ChatView, wish: SessionWish, *, has_person: bool) -> None:
        self._client, self._view, self._wish = client, view, wish
        self._has_person = has_person
        self._feed: EventFeed | None = None

    def describe(self) -> str:
        """Session, model, agent and mode, for a person."""
        wish = self._wish
        parts = (
            ("session", wish.session_id),
            ("model", wish.model or "as configured"),
            ("agent", wish.agent or "default"),
            ("mode", wish.mode or "as configured"),
        )
        return " · ".join(f"{name} {value}" for name, value in parts)

    async def open(self) -> None:
        """Go on with the session that is wished for, or begin one.

        Raises:
            CliError: There is no such session, agent or model.
        """
        if self._wish.session_id:
            await self.go_on_with(self._wish.session_id)
        else:
            await self.begin()

    async def begin(self) -> None:
        """Begin a new session with the same model, agent and mode.

        Raises:
            CliError: There is no such agent or model.
        """
        await self._follow(await self._client.create(self._wish))

    async def go_on_with(self, session_id: str) -> None:
        """Go on with a session; its model, agent and mode hold, unless others are wished for.

        Raises:
            CliError: There is no such session.
        """
        await self._follow(session_id)

    async def change(self, **values: str) -> None:
        """Change model, agent or mode for the messages to come.

        Raises:
            CliError: There is no such model, agent or mode.
        """
        self._wish = replace(self._wish, **values)

    async def say(self, text: str) -> TurnEnd:
        """Send a message and show the turn.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        turn = ChatTurn(self._client, self._opened(), self._view, has_person=self._has_person)
        session_id = self._wish.session_id
        return await turn.run(session_id, lambda: self._client.send(self._wish, text))

    async def call_tool(self, view: TerminalView, tool: str, arguments: dict[str, Any]) -> None:
        """Call a tool as the person's own call, and show how it ends.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        await call_tool(self._client, self._wish.session_id, view, tool, arguments)

    async def close(self) -> None:
        """Follow the session no longer; it stays. May be called twice."""
        if self._feed is not None:
            feed, self._feed = self._feed, None
            await feed.close()

    async def _follow(self, session_id: str) -> None:
        await self.close()
        self._feed = await self._client.follow(session_id)
        self._wish = replace(self._wish, session_id=session_id)

    def _opened(self) -> EventFeed:
        if self._feed is None:
            raise CliError("no session is open", hint="/new begins one")
        return self._feed
