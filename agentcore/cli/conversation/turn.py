"""One turn of a session as a terminal sees it: sent, shown, stopped, and how it ended."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

from agentcore.cli.backend.server_client import ServerError
from agentcore.cli.conversation.answers import Question, collect_answer, format_question
from agentcore.cli.conversation.client import ChatClient
from agentcore.cli.conversation.event_feed import EventFeed
from agentcore.cli.conversation.interrupts import capture_interrupts
from agentcore.cli.conversation.typed_ahead import Meanwhile
from agentcore.cli.conversation.view import ChatView
from agentcore.cli.terminal.exits import CliError, ExitCode
from agentcore.cli.terminal.terminal import discard_typed_input, read_line

Send = Callable[[], Awaitable[object]]
"""Sends what begins a turn."""

_USAGE_ERRORS = frozenset(
    (
        "agent_not_found",
        "host_not_found",
        "model_not_found",
        "model_not_configured",
        "session_not_found",
        "invalid_settings",
    )
)

_THINKING = "the model is thinking …"


@dataclass
class TurnEnd:
    """How a turn ended.

    Args:
        error: The last error that it told.
        waiting: Ids of calls that nobody has decided.
        is_interrupted: Whether the person stopped it.
    """

    error: Mapping[str, Any] | None = None
    waiting: list[str] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """What a command that was this turn exits with."""
        if self.is_interrupted:
            return ExitCode.INTERRUPTED
        if self.error is not None:
            return exit_code_of(self.error)
        return ExitCode.CALL_FAILED if self.waiting else ExitCode.OK


def exit_code_of(error: Mapping[str, Any]) -> ExitCode:
    """What a command exits with that an error of the chat ended."""
    return ExitCode.USAGE if error["type"] in _USAGE_ERRORS else ExitCode.CALL_FAILED


class ChatTurn:
    """Carries out one turn.

    Args:
        client: The way to the session.
        feed: The session's events.
        view: Shows them.
        has_person: Whether somebody at this terminal can approve calls.
        meanwhile: Takes what is typed while the turn goes on, and shows the events then; None: nothing is typed.
    """

    def __init__(
        self,
        client: ChatClient,
        feed: EventFeed,
        view: ChatView,
        *,
        has_person: bool,
        meanwhile: Meanwhile | None = None,
    ) -> None:
        self._client = client
        self._feed = feed
        self._meanwhile = meanwhile
        self._view: ChatView = meanwhile or view
        # a server has other places to approve at; a host in this process has this terminal and no other
        self._can_be_approved = has_person or not client.is_own
        self._has_person = has_person
        self._end = TurnEnd()
        self._group: asyncio.TaskGroup | None = None
        self._asking: asyncio.Task[None] | None = None
        self._begun = 0
        self._is_follow_up = False
        self._queue: Mapping[str, Any] = {"messages": [], "isPaused": False}

    async def run(self, session_id: str, send: Send) -> TurnEnd:
        """Send something and show what comes of it, until nothing more is to come.

        Ctrl-C stops the turn; pressed again, it leaves the turn to itself.

        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        self._feed.discard_pending()
        try:
            with capture_interrupts() as pressed:
                async with asyncio.TaskGroup() as group:
                    self._group = group
                    showing = group.create_task(self._show_events(session_id, send))
                    stopping = group.create_task(self._stop_when(pressed, session_id, showing))
                    reading = None if self._meanwhile is None else group.create_task(self._meanwhile.run())
                    await asyncio.wait((showing,))
                    stopping.cancel()
                    if reading is not None:
                        reading.cancel()
                    self._set_question(None, session_id)
        except* CliError as exc:
            raise exc.exceptions[0] from None
        return self._end

    async def add_message(self, session_id: str, text: str, attachments: Sequence[str]) -> str:
        """Send a message while this goes on.

        Returns:
            `queued`, or `started` where the turn had just ended; what comes of it is shown here in any case.
        Raises:
            CliError: The server cannot be reached, or refuses.
        """
        state = await self._client.send_message(session_id, text, attachments)
        self._begun += state == "started"
        return state

    def pause_reading(self) -> AbstractAsyncContextManager[None]:
        """Leave the keyboard to whoever asks something."""
        return nullcontext() if self._meanwhile is None else self._meanwhile.pause_reading()

    async def _show_events(self, session_id: str, send: Send) -> None:
        try:
            await send()
        except ServerError as exc:
            self._end.error = exc.error
            self._view.show_event({"type": "session.error", "error": exc.error})
            return
        self._view.show_waiting(_THINKING)
        while (event := await self._feed.next_event()) is not None:
            self._view.show_event(event)
            self._handle_event(event, session_id)
            if event["type"] == "session.finished" and not self._should_wait():
                async with self.pause_reading():  # what was sent before the end counts
                    if not self._has_started_next() and not self._has_next():
                        return

    def _handle_event(self, event: Mapping[str, Any], session_id: str) -> None:
        match event["type"]:
            case "session.error":
                self._end.error = event["error"]
            case "session.question":
                self._set_question(event["question"], session_id)
            case "session.toolResult":
                self._view.show_waiting(_THINKING)
            case "session.message" if event["role"] == "user" and self._is_follow_up:
                self._view.show_text(f"> {event['text']}")
                self._view.show_waiting(_THINKING)
            case "session.queue":
                self._queue = event
            case "session.finished":
                self._end.waiting = event["waiting"]
                self._is_follow_up = True

    def _has_started_next(self) -> bool:
        """Whether a message that was sent meanwhile has begun a turn of its own."""
        if not self._begun:
            return False
        self._begun -= 1
        return True

    def _has_next(self) -> bool:
        """Whether messages wait that go out next; of those that are held, say so."""
        count = len(self._queue["messages"])
        if count and self._queue["isPaused"]:
            waits = "1 message waits" if count == 1 else f"{count} messages wait"
            self._view.show_text(f"  {waits}; /queue shows what, /queue go lets it go on")
        return bool(count) and not self._queue["isPaused"] and not self._end.waiting

    def _set_question(self, question: Question | None, session_id: str) -> None:
        """Put what a tool asks to the person; None: it asks nothing any more."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        if question is None:
            return
        if self._has_person and self._group is not None:
            self._asking = self._group.create_task(self._ask_question(question, session_id))
        else:
            self._view.show_text(format_question(question))
            self._view.show_text("  nobody can answer here; Ctrl-C stops the turn")

    async def _ask_question(self, question: Question, session_id: str) -> None:
        keyboard = sys.stdin.fileno()

        async def read_answer(words: str) -> str | None:
            if words:
                self._view.show_text(f"  {words}")
            line = await read_line(keyboard)
            return None if line is None else line.strip()

        async with self.pause_reading():
            discard_typed_input(keyboard)  # what was typed before the question stood there is no answer to it
            self._view.show_text(format_question(question))
            while (given := await collect_answer(question, read_answer)) is not None:
                try:
                    await self._client.answer_question(session_id, question["questionId"], given)
                except ServerError as exc:
                    if exc.error["type"] == "invalid_answer":
                        self._view.show_text(f"  {exc.error['message']}")
                        continue
                return  # else somebody was faster, or it has expired

    def _should_wait(self) -> bool:
        """Whether a turn that has come to a rest is waited for."""
        if not self._end.waiting or self._end.is_interrupted:
            return False
        count = len(self._end.waiting)
        if not self._can_be_approved:
            calls = "a call waits" if count == 1 else f"{count} calls wait"
            self._view.show_text(
                f"{calls} for a person's approval, and nobody can be asked here: run it in a terminal, or let calls "
                "pass that need nobody (--mode ask_writes, or approvals in app.json)"
            )
        elif not self._client.is_own:
            calls = "This call waits" if count == 1 else f"These {count} calls wait"
            where = "at the server: in its approval view, or at its terminal"
            self._view.show_text(f"  {calls} for approval {where}. Ctrl-C gives up.")
        return self._can_be_approved

    async def _stop_when(self, pressed: asyncio.Queue[None], session_id: str, showing: asyncio.Task[None]) -> None:
        await pressed.get()
        self._end.is_interrupted = True
        is_resting = bool(self._end.waiting)
        await self._client.stop_turn(session_id)
        if is_resting:
            showing.cancel()  # no event tells that a turn was stopped that does not go on
        await pressed.get()
        showing.cancel()
