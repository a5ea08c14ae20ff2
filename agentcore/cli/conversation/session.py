"""The session that a terminal talks to: which one it is, and with which model, agent and mode."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agentcore.approval_rules import ApprovalMode
from agentcore.cli.conversation.client import ChatClient, SessionOptions
from agentcore.cli.conversation.event_feed import EventFeed
from agentcore.cli.conversation.turn import ChatTurn, Send, TurnEnd
from agentcore.cli.conversation.typed_ahead import Meanwhile
from agentcore.cli.conversation.user_call import OwnCall
from agentcore.cli.conversation.view import ChatView, TerminalView
from agentcore.cli.terminal.exits import CliError

SERVER = "server"
OF_AGENT = "agent"
"""What a person types in place of a host's name."""


class ChatSession:
    """Writes to a session and shows what comes of it. `open` comes first, `close` last.

    Args:
        client: The way to the server.
        view: Shows what happens.
        has_person: Whether somebody at this terminal can approve calls.
    Attributes:
        meanwhile: Takes what is typed while a turn goes on; None: nothing is.
    """

    def __init__(self, client: ChatClient, view: ChatView, *, has_person: bool) -> None:
        self._client = client
        self._view = view
        self._has_person = has_person
        self._feed: EventFeed | None = None
        self._session: Mapping[str, Any] = {}
        self._turn: ChatTurn | None = None
        self.meanwhile: Meanwhile | None = None

    @property
    def mode(self) -> ApprovalMode:
        """What becomes of the session's calls that no rule says anything about."""
        mode: ApprovalMode = self._session["mode"]
        return mode

    @property
    def host(self) -> str:
        """The host on another machine that its calls go to; empty: the server."""
        return str(self._session["host"])

    def describe(self) -> str:
        """Session, model, agent, mode and host, for a person."""
        session = self._session
        parts = (
            ("session", session["title"] or session["sessionId"]),
            ("model", session["model"] or "the agent's"),
            ("agent", session["agentId"]),
            ("mode", session["mode"]),
            *([("host", self.host)] if self.host else []),
        )
        return " · ".join(f"{name} {value}" for name, value in parts)

    async def open(self, options: SessionOptions) -> None:
        """Go on with the session that is named, or begin one.

        Raises:
            CliError: There is no such session, agent or model, or the mode needs a person's word.
        """
        if options.session_id:
            await self.switch_to(options.session_id)
        else:
            await self.switch_to(await self._client.create_session(options.agent))
        wanted = {"model": options.model, "agentId": options.agent, "mode": options.mode}
        await self.update_session({name: value for name, value in wanted.items() if value})
        if options.host:
            await self.choose_host(options.host)

    async def choose_host(self, host: str) -> None:
        """Have its calls go to a host; `server`: to the server, `agent`: as the agent says.

        Raises:
            CliError: There is no such host.
        """
        await self.update_session({"host": {SERVER: "", OF_AGENT: None}.get(host, host)})

    async def start_similar_session(self) -> None:
        """Begin a new session with the agent, the model and the host of this one.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        model = self._session["model"]
        host = self._session.get("ownHost")
        await self.switch_to(await self._client.create_session(self._session["agentId"]))
        await self.update_session({**({"model": model} if model else {}), **({} if host is None else {"host": host})})

    async def switch_to(self, session_id: str) -> None:
        """Go on with a session.

        Raises:
            CliError: There is no such session.
        """
        session = await self._client.get_session(session_id)
        await self.close()
        self._feed = await self._client.follow_session(session_id)
        self._session = session

    async def update_session(self, values: Mapping[str, str | None]) -> None:
        """Change `model`, `agentId`, `mode` or `host`, from the next message on.

        Raises:
            CliError: There is no such model, agent, mode or host, or a person has to confirm the mode.
        """
        if values:
            self._session = await self._client.update_session(self._session["sessionId"], values)

    async def send_message(self, text: str, attachments: Sequence[str] = ()) -> TurnEnd:
        """Send a message, with artifacts by their ids, and show the turn.

        Raises:
            CliError: The server cannot be reached.
        """
        session_id = self._session["sessionId"]
        return await self._run_turn(lambda: self._client.send_message(session_id, text, attachments))

    async def add_message(self, text: str, attachments: Sequence[str] = ()) -> str:
        """Send a message while a turn goes on, whose answer is shown after that; gives `queued` or `started`.

        Raises:
            CliError: The server cannot be reached, or refuses; nothing goes on.
        """
        if self._turn is None:
            raise CliError("nothing goes on")
        return await self._turn.add_message(self._session["sessionId"], text, attachments)

    async def retry_turn(self) -> TurnEnd:
        """Have the last message answered again, and show the turn.

        Raises:
            CliError: The server cannot be reached.
        """
        session_id = self._session["sessionId"]
        return await self._run_turn(lambda: self._client.retry_turn(session_id))

    async def _run_turn(self, send: Send) -> TurnEnd:
        self._turn = ChatTurn(
            self._client, self._require_feed(), self._view, has_person=self._has_person, meanwhile=self.meanwhile
        )
        try:
            return await self._turn.run(self._session["sessionId"], send)
        finally:
            self._turn = None

    async def get_queue(self) -> Mapping[str, Any]:
        """The messages that wait, and whether they are held.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        return await self._client.get_queue(self._session["sessionId"])

    async def resume_queue(self) -> TurnEnd:
        """Let the messages go on that are held, and show their turns.

        Raises:
            CliError: The server cannot be reached.
        """
        session_id = self._session["sessionId"]
        return await self._run_turn(lambda: self._client.resume_queue(session_id))

    async def drop_queued(self, message_id: str) -> None:
        """Take a message out that waits.

        Raises:
            CliError: It has gone out; the server cannot be reached.
        """
        await self._client.drop_queued(self._session["sessionId"], message_id)

    async def edit_queued(self, message_id: str, text: str) -> None:
        """Give a message that waits another text.

        Raises:
            CliError: It has gone out; the server cannot be reached.
        """
        await self._client.edit_queued(self._session["sessionId"], message_id, text)

    async def get_usage(self) -> tuple[Mapping[str, int], Mapping[str, Any] | None]:
        """What the session has used, and how full the context of its model is; None: it has not answered yet.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        session = await self._client.get_session(self._session["sessionId"])
        return session["usage"], session.get("context")

    async def get_system_prompt(self) -> Mapping[str, Any]:
        """What the model is told before the conversation.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        return await self._client.get_system_prompt(self._session["sessionId"])

    async def call_tool(self, view: TerminalView, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool as the person's own call, and show how it ends.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        await OwnCall(self._client, self._require_feed(), view).run(self._session["sessionId"], tool, arguments)

    @asynccontextmanager
    async def pause_for_question(self, call_id: str) -> AsyncIterator[None]:
        """Have the keyboard for a question about a call, once all is shown that came before it."""
        if self._feed is not None:
            await self._feed.wait_until_requested(call_id)
        if self._turn is None:
            yield
            return
        async with self._turn.pause_reading():
            yield

    async def close(self) -> None:
        """Follow the session no longer; it stays. May be called twice."""
        if self._feed is not None:
            feed = self._feed
            self._feed = None
            await feed.close()

    def _require_feed(self) -> EventFeed:
        if self._feed is None:
            raise CliError("no session is open", hint="/new begins one")
        return self._feed
