"""Runs one turn of a session from the terminal: sends it, shows its events, and stops it on Ctrl-C."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext, suppress
from dataclasses import field
from typing import Any

from agentcore.cli.backend.server_client import ServerError
from agentcore.cli.conversation.answers import Question, collect_answer, format_question
from agentcore.cli.conversation.client import ChatClient
from agentcore.cli.conversation.event_feed import EventFeed
from agentcore.cli.conversation.event_output import ChatView
from agentcore.cli.conversation.interrupts import capture_interrupts
from agentcore.cli.conversation.typed_ahead import Meanwhile
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.cli.terminal.terminal import discard_typed_input, read_line
from agentcore.late_dataclasses import dataclass

Send = Callable[[], Awaitable[object]]
"""Sends the request that starts a turn."""

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
    """The outcome of a turn.

    Args:
        error: The last error that the turn reported.
        waiting: Ids of calls that still wait for approval.
        is_interrupted: True if the user stopped the turn.
    """

    error: Mapping[str, Any] | None = None
    waiting: list[str] = field(default_factory=list)
    is_interrupted: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """The exit code of a command that ran only this turn."""
        if self.is_interrupted:
            return ExitCode.INTERRUPTED
        if self.error is not None:
            return exit_code_of(self.error)
        return ExitCode.CALL_FAILED if self.waiting else ExitCode.OK


def exit_code_of(error: Mapping[str, Any]) -> ExitCode:
    """Return the exit code of a command that failed with a chat error."""
    return ExitCode.USAGE if error["type"] in _USAGE_ERRORS else ExitCode.CALL_FAILED


class ChatTurn:
    """Runs one turn.

    Args:
        client: Client of the server's chat routes.
        feed: The session's events.
        view: Shows them.
        has_person: True if a user at this terminal can approve calls.
        meanwhile: Reads lines during the turn and then shows the events in place of `view`. None: nothing is read.
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
        # Calls on a running server can be approved elsewhere, those of a core in this process only at this terminal.
        self._can_be_approved = has_person or not client.is_own
        self._has_person = has_person
        self._end = TurnEnd()
        self._group: asyncio.TaskGroup | None = None
        self._asking: asyncio.Task[None] | None = None
        self._begun = 0
        self._is_follow_up = False
        self._queue: Mapping[str, Any] = {"messages": [], "isPaused": False}

    async def run(self, session_id: str, send: Send) -> TurnEnd:
        """Send a request and show its events until the turn and all queued messages are finished.

        Ctrl-C stops the turn. Pressed again, it stops waiting for the end of the turn.

        Raises:
            CliError: The server cannot be reached or rejects the request.
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
        """Send a message while this turn is running.

        Returns:
            `queued`, or `started` if the turn had just ended. In both cases this object shows the answer.
        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        state = await self._client.send_message(session_id, text, attachments)
        self._begun += state == "started"
        return state

    def pause_reading(self) -> AbstractAsyncContextManager[None]:
        """Stop reading lines while a question is asked."""
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
                async with self.pause_reading():  # let a message that is being sent arrive first
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
        """True once for each message that was sent during the turn and started its own turn."""
        if not self._begun:
            return False
        self._begun -= 1
        return True

    def _has_next(self) -> bool:
        """True if queued messages are sent next; if the queue is paused, tell the user how to resume it."""
        count = len(self._queue["messages"])
        if count and self._queue["isPaused"]:
            waits = "1 message waits" if count == 1 else f"{count} messages wait"
            self._view.show_text(f"  {waits}; /queue shows what, /queue go lets it go on")
        return bool(count) and not self._queue["isPaused"] and not self._end.waiting

    def _set_question(self, question: Question | None, session_id: str) -> None:
        """Ask the user a tool's question in place of the previous one. None: no question is open."""
        if self._asking is not None:
            self._asking.cancel()
            self._asking = None
        if question is None:
            return
        if self._has_person and self._group is not None:
            self._asking = self._group.create_task(self._ask_question(question, session_id))
            return
        self._view.show_text(format_question(question))
        if self._client.is_own and self._group is not None:
            # without a page and a terminal nobody ever answers, and a question has no time limit
            self._view.show_text("  nobody can answer here, so the question is declined")
            self._asking = self._group.create_task(self._decline_question(question, session_id))
        else:
            self._view.show_text("  it waits for an answer in the page or the approval view; Ctrl-C stops the turn")

    async def _decline_question(self, question: Question, session_id: str) -> None:
        with suppress(ServerError):  # it has ended meanwhile
            await self._client.answer_question(session_id, question["questionId"], {"isDeclined": True})

    async def _ask_question(self, question: Question, session_id: str) -> None:
        keyboard = sys.stdin.fileno()

        async def read_answer(words: str) -> str | None:
            if words:
                self._view.show_text(f"  {words}")
            line = await read_line(keyboard)
            return None if line is None else line.strip()

        async with self.pause_reading():
            discard_typed_input(keyboard)  # input typed before the question appeared is not an answer
            self._view.show_text(format_question(question))
            while (given := await collect_answer(question, read_answer)) is not None:
                try:
                    await self._client.answer_question(session_id, question["questionId"], given)
                except ServerError as exc:
                    if exc.error["type"] == "invalid_answer":
                        self._view.show_text(f"  {exc.error['message']}")
                        continue
                return  # on another error, the question was answered elsewhere or has expired

    def _should_wait(self) -> bool:
        """True if the command waits for the approval of a finished turn's calls; prints what the user can do."""
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
            showing.cancel()  # stopping a turn that waits for approval sends no event
        await pressed.get()
        showing.cancel()
