"""Dialogs of a page (alert, confirm, prompt, beforeunload): they never block a call."""

import asyncio
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from agentcore.api import Background

if TYPE_CHECKING:
    from playwright.async_api import Dialog

log = structlog.get_logger(__name__)

only_looks: ContextVar[bool] = ContextVar("only_looks", default=False)
"""True if the current call only reads the page, so that an open dialog stays open."""

_ANSWER_SECONDS = 5.0
_STORM = 4
_TEXT_CHARS = 1000


@dataclass(frozen=True, slots=True)
class DialogAnswer:
    """The answer to a dialog: accept or dismiss, and the text of a prompt."""

    accept: bool
    text: str | None = None


@dataclass(frozen=True, slots=True)
class DialogRecord:
    """A dialog that opened, and its outcome: `open`, `accepted` or `dismissed`."""

    kind: str
    message: str
    outcome: str

    def to_json(self) -> dict[str, str]:
        """Return the dialog as JSON."""
        return {"type": self.kind, "message": self.message, "outcome": self.outcome}

    def __str__(self) -> str:
        return f"{self.kind} {self.message!r} ({self.outcome})"


class DialogOpened(Exception):  # noqa: N818 - it ends an action, and is no failure
    """Raised when a dialog opens during an action, which continues behind it."""

    def __init__(self, dialog: DialogRecord) -> None:
        super().__init__(str(dialog))
        self.dialog = dialog


class Dialogs:
    """The dialogs of one page.

    A dialog is answered as set beforehand (`set_next_answer`). Otherwise it stays open for a while to be answered, and
    is then dismissed. If a page opens one after another, all but the first few are dismissed at once.

    Attributes:
        opened: Set while a dialog is open.
        hold_s: How many seconds one stays open; 0: it is dismissed at once.
        listener: Called when one opens or ends.
    """

    def __init__(self, hold_s: float) -> None:
        self.hold_s = hold_s
        self.opened = asyncio.Event()
        self.listener: Any = None
        self._open: tuple[Dialog, DialogRecord] | None = None
        self._prepared: DialogAnswer | None = None
        self._answered: list[DialogRecord] = []
        self._in_a_row = 0
        self._timer: asyncio.TimerHandle | None = None
        self._answers = Background("dialog_answer")

    @property
    def open(self) -> DialogRecord | None:
        """The open dialog, or None."""
        return self._open[1] if self._open else None

    def reset_dialog_count(self) -> None:
        """Reset the count of dialogs in a row."""
        self._in_a_row = 0

    def set_next_answer(self, answer: DialogAnswer) -> None:
        """Set the answer to the next dialog."""
        self._prepared = answer

    def handle_dialog(self, dialog: "Dialog") -> None:
        """Answer a dialog that has opened, or leave it open for an answer."""
        self._in_a_row += 1
        prepared = self._prepared
        self._prepared = None
        if dialog.type == "beforeunload":
            # The navigation is intended, so never stay on the page.
            self._answer_dialog(dialog, DialogAnswer(True))
        elif prepared is not None:
            self._answer_dialog(dialog, prepared)
        elif self.hold_s <= 0 or self._in_a_row >= _STORM:
            self._answer_dialog(dialog, DialogAnswer(False))
        else:
            self._open = (dialog, DialogRecord(dialog.type, dialog.message[:_TEXT_CHARS], "open"))
            self._timer = asyncio.get_running_loop().call_later(self.hold_s, self.answer_open, DialogAnswer(False))
            self.opened.set()
            self._notify_listener()

    def answer_open(self, answer: DialogAnswer) -> DialogRecord | None:
        """Answer the open dialog and return it; None: there is none."""
        if self._open is None:
            return None
        dialog, _ = self._open
        self._clear_open()
        record = self._answer_dialog(dialog, answer)
        self._notify_listener()
        return record

    def pop_report(self) -> list[DialogRecord]:
        """Return the dialogs that were answered since the last report."""
        records = self._answered
        self._answered = []
        return records

    def close(self) -> None:
        """Discard all dialogs, because the page is gone."""
        self._clear_open()
        self._answers.cancel()

    def _clear_open(self) -> None:
        self._open = None
        self.opened.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _answer_dialog(self, dialog: "Dialog", answer: DialogAnswer) -> DialogRecord:
        outcome = "accepted" if answer.accept else "dismissed"
        record = DialogRecord(dialog.type, dialog.message[:_TEXT_CHARS], outcome)
        self._answered = [*self._answered[-9:], record]
        self._answers.start(_send_answer(dialog, answer))
        return record

    def _notify_listener(self) -> None:
        if self.listener is not None:
            self.listener()


async def _send_answer(dialog: "Dialog", answer: DialogAnswer) -> None:
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            if answer.accept:
                await (dialog.accept(answer.text) if answer.text is not None else dialog.accept())
            else:
                await dialog.dismiss()
    except Exception as exc:  # noqa: BLE001 - the page went away with its dialog, which is then answered enough
        log.debug("dialog_answer_failed", reason=str(exc))
