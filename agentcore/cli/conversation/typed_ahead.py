"""What a person types while a turn goes on: a line opens with the first key, and what comes waits until it is sent."""

import asyncio
import sys
import termios
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import partial
from typing import Any, Protocol

from agentcore.cli.conversation.view import TerminalView
from agentcore.cli.terminal.terminal import until_readable

_LOCAL_FLAGS = 3
_INPUT_FLAGS = 0


class DraftLine(Protocol):
    """Edits a line that was begun; see `PromptLine`, which a command of one message does not load."""

    @property
    def has_draft(self) -> bool:
        """Whether a line was begun and not finished."""
        ...

    def marking_pastes(self) -> AbstractContextManager[None]:
        """Have the terminal mark what is pasted, before the line opens."""
        ...

    async def read_draft(self) -> str:
        """The line; empty: there is none."""
        ...


class Meanwhile:
    """Reads lines while a turn goes on, and leaves the keyboard alone while a question is asked.

    It is a `ChatView`, too: what is told to it while a person types is shown when they are done.

    Args:
        line: Reads a line.
        view: Shows the session.
        take: Does what a line wants.
    """

    def __init__(self, line: DraftLine, view: TerminalView, take: Callable[[str], Awaitable[None]]) -> None:
        self._line = line
        self._view = view
        self._take = take
        self._keyboard = sys.stdin.fileno()
        self._questions = 0
        self._may_read = asyncio.Event()
        self._may_read.set()
        self._reading: asyncio.Task[str] | None = None
        self._taking = asyncio.Lock()
        self._held: list[Callable[[], None]] | None = None
        self._awaited = ""

    async def run(self) -> None:
        """Read and take lines until this is cancelled; a line that is not done then stands in the next prompt."""
        while True:
            while not self._may_read.is_set():
                await self._may_read.wait()
            async with asyncio.TaskGroup() as group:
                self._reading = group.create_task(self._read_line())
            if not self._reading.cancelled() and (text := self._reading.result()).strip():
                async with self._taking:
                    self._view.show_text(f"> {text}")
                    await self._take(text)
            if self._awaited:
                self._view.show_waiting(self._awaited)

    @asynccontextmanager
    async def pause_reading(self) -> AsyncIterator[None]:
        """Leave the keyboard to a question; what was typed before it is kept for the next line."""
        self._questions += 1
        self._may_read.clear()
        try:
            if self._reading is not None and not self._reading.done():
                self._reading.cancel()
                await asyncio.wait((self._reading,))
            async with self._taking:  # what was sent before has arrived
                pass
            yield
        finally:
            self._questions -= 1
            if not self._questions:
                self._may_read.set()

    def show_event(self, event: Mapping[str, Any]) -> None:
        """See `ChatView.show_event`."""
        self._awaited = ""
        self._show_or_queue(partial(self._view.show_event, event))

    def show_text(self, text: str) -> None:
        """See `ChatView.show_text`."""
        self._awaited = ""
        self._show_or_queue(partial(self._view.show_text, text))

    def show_waiting(self, what: str) -> None:
        """See `ChatView.show_waiting`."""
        self._awaited = what
        self._show_or_queue(partial(self._view.show_waiting, what))

    def _show_or_queue(self, action: Callable[[], None]) -> None:
        if self._held is None:
            action()
        else:
            self._held.append(action)

    async def _read_line(self) -> str:
        with _silent_keys(self._keyboard), self._line.marking_pastes():
            if not self._line.has_draft:
                await until_readable(self._keyboard)
            with self._buffering_output():
                return await self._line.read_draft()

    @contextmanager
    def _buffering_output(self) -> Iterator[None]:
        """Show nothing while a line is edited; after it, what came meanwhile."""
        self._view.break_line()
        self._held = []
        try:
            yield
        finally:
            held = self._held
            self._held = None
            for action in held:
                action()


@contextmanager
def _silent_keys(keyboard: int) -> Iterator[None]:
    """Have each key at once and unseen: the line that opens with it shows it. Ctrl-C is one as before."""
    before = termios.tcgetattr(keyboard)
    silent = [*before]
    silent[_LOCAL_FLAGS] &= ~(termios.ECHO | termios.ICANON)
    silent[_INPUT_FLAGS] &= ~termios.ICRNL  # Enter is what it is in a prompt
    termios.tcsetattr(keyboard, termios.TCSANOW, silent)
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSANOW, before)
