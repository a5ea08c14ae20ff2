"""The chat session that is open in a terminal, with its model, agent, mode and host."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.cli.conversation.chat_turn import ChatTurn, Send, TurnEnd
from agentcore.cli.conversation.client import ChatClient, SessionOptions
from agentcore.cli.conversation.event_feed import EventFeed
from agentcore.cli.conversation.event_output import ChatView, TerminalView
from agentcore.cli.conversation.own_call import OwnCall
from agentcore.cli.conversation.typed_ahead import Meanwhile
from agentcore.cli.terminal.exit_codes import CliError

SERVER = "server"
OF_AGENT = "agent"
"""Values that the user can type instead of a host's name."""


class ChatSession:
    """Sends messages to a session and shows its turns. Call `open` first and `close` last.

    Args:
        client: Client of the server's chat routes.
        view: Shows the session's events.
        has_person: True if a user at this terminal can approve calls.
    Attributes:
        meanwhile: Reads lines while a turn is running. None: nothing is read.
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
        """Approval mode of the session's calls that no rule matches."""
        mode: ApprovalMode = self._session["mode"]
        return mode

    @property
    def host(self) -> str:
        """Name of the host on another machine that runs the session's calls; empty: the server."""
        return str(self._session["host"])

    def describe(self) -> str:
        """Describe session, model, agent, mode and host in one line for the user."""
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
        """Continue the session named in the options, or create one.

        Raises:
            CliError: There is no such session, agent or model, or a user has to confirm the mode.
        """
        if options.session_id:
            await self.switch_to(options.session_id)
        else:
            await self.switch_to(await self._client.create_session(options.agent))
        requested = {"model": options.model, "agentId": options.agent, "mode": options.mode}
        await self.update_session({name: value for name, value in requested.items() if value})
        if options.host:
            await self.choose_host(options.host)

    async def choose_host(self, host: str) -> None:
        """Send the session's calls to a host; `server` selects the server, `agent` the agent's setting.

        Raises:
            CliError: There is no such host.
        """
        await self.update_session({"host": {SERVER: "", OF_AGENT: None}.get(host, host)})

    async def start_similar_session(self) -> None:
        """Create a session with the agent, model and host of this one, and switch to it.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        model = self._session["model"]
        host = self._session.get("ownHost")
        await self.switch_to(await self._client.create_session(self._session["agentId"]))
        await self.update_session({**({"model": model} if model else {}), **({} if host is None else {"host": host})})

    async def switch_to(self, session_id: str) -> None:
        """Continue an existing session.

        Raises:
            CliError: There is no such session.
        """
        session = await self._client.get_session(session_id)
        await self.close()
        self._feed = await self._client.follow_session(session_id)
        self._session = session

    async def update_session(self, values: Mapping[str, str | None]) -> None:
        """Change `model`, `agentId`, `mode` or `host` for the next message and later ones.

        Raises:
            CliError: There is no such model, agent, mode or host, or a user has to confirm the mode.
        """
        if values:
            self._session = await self._client.update_session(self._session["sessionId"], values)

    async def send_message(self, text: str, attachments: Sequence[str] = ()) -> TurnEnd:
        """Send a message with artifacts by their ids, and show the turn.

        Raises:
            CliError: The server cannot be reached.
        """
        session_id = self._session["sessionId"]
        return await self._run_turn(lambda: self._client.send_message(session_id, text, attachments))

    async def add_message(self, text: str, attachments: Sequence[str] = ()) -> str:
        """Send a message while a turn is running; return `queued` or `started`.

        The running turn also shows the answer to this message.

        Raises:
            CliError: The server cannot be reached or rejects the request, or no turn is running.
        """
        if self._turn is None:
            raise CliError("nothing goes on")
        return await self._turn.add_message(self._session["sessionId"], text, attachments)

    async def retry_turn(self) -> TurnEnd:
        """Request a new answer to the last message, and show the turn.

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
        """Return the queued messages, and whether the queue is paused.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        return await self._client.get_queue(self._session["sessionId"])

    async def resume_queue(self) -> TurnEnd:
        """Resume the paused queue, and show its turns.

        Raises:
            CliError: The server cannot be reached.
        """
        session_id = self._session["sessionId"]
        return await self._run_turn(lambda: self._client.resume_queue(session_id))

    async def drop_queued(self, message_id: str) -> None:
        """Remove a queued message.

        Raises:
            CliError: The message has already been sent, or the server cannot be reached.
        """
        await self._client.drop_queued(self._session["sessionId"], message_id)

    async def edit_queued(self, message_id: str, text: str) -> None:
        """Replace the text of a queued message.

        Raises:
            CliError: The message has already been sent, or the server cannot be reached.
        """
        await self._client.edit_queued(self._session["sessionId"], message_id, text)

    async def get_usage(self) -> tuple[Mapping[str, int], Mapping[str, Any] | None]:
        """Return the session's token usage, and how full its model's context is (None before the first answer).

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        session = await self._client.get_session(self._session["sessionId"])
        return session["usage"], session.get("context")

    async def get_system_prompt(self) -> Mapping[str, Any]:
        """Return the parts of the system prompt and the size of the tool definitions.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        return await self._client.get_system_prompt(self._session["sessionId"])

    async def call_tool(self, view: TerminalView, tool: str, arguments: Mapping[str, Any]) -> None:
        """Call a tool on behalf of the user, and show the result.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        await OwnCall(self._client, self._require_feed(), view).run(self._session["sessionId"], tool, arguments)

    @asynccontextmanager
    async def pause_for_question(self, call_id: str) -> AsyncIterator[None]:
        """Stop reading lines for a question about a call, once all earlier events are shown."""
        if self._feed is not None:
            await self._feed.wait_until_requested(call_id)
        if self._turn is None:
            yield
            return
        async with self._turn.pause_reading():
            yield

    async def close(self) -> None:
        """Stop following the session, without deleting it. May be called twice."""
        if self._feed is not None:
            feed = self._feed
            self._feed = None
            await feed.close()

    def _require_feed(self) -> EventFeed:
        if self._feed is None:
            raise CliError("no session is open", hint="/new begins one")
        return self._feed
