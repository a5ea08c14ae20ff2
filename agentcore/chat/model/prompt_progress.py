"""How far a server has read a request before it answers, as llama.cpp reports it in the stream."""

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any, Literal, NamedTuple, Self

REQUEST_FIELD = "return_progress"
"""The field of a request that asks for it; other servers do not know it."""

_FIELD = "prompt_progress"
_LEAST_TOKENS = 512
"""A reading that has fewer tokens before it is over too soon to be shown."""


class PromptProgress(NamedTuple):
    """How much of a request the server has read.

    Args:
        read_tokens: How much so far, what it had kept of earlier requests included.
        prompt_tokens: How much there is.
        reason: Tells it from a wait of another kind.
    """

    read_tokens: int
    prompt_tokens: int
    reason: Literal["reading"] = "reading"


class PromptReading:
    """Shows the progress while a server reads one request; a context manager around reading the chunks of its answer.

    Args:
        show: Shows the progress; None: the reading is over.
    """

    def __init__(self, show: Callable[[PromptProgress | None], None]) -> None:
        self._show = show
        self._is_shown = False
        self._token: Token[PromptReading | None] | None = None

    def __enter__(self) -> Self:
        self._token = _CURRENT.set(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        assert self._token is not None  # noqa: S101 - set on entering
        _CURRENT.reset(self._token)
        self.end()

    def report(self, progress: PromptProgress) -> None:
        """Show the progress, unless the reading is over soon."""
        if self._is_shown or progress.prompt_tokens - progress.read_tokens >= _LEAST_TOKENS:
            self._is_shown = True
            self._show(progress)

    def end(self) -> None:
        """Remove what is shown: the answer has begun, or has failed."""
        if self._is_shown:
            self._is_shown = False
            self._show(None)


_CURRENT: ContextVar[PromptReading | None] = ContextVar("prompt_reading", default=None)


def read_progress(fields: Any) -> bool:
    """Report the progress in the fields of a chunk that the protocol does not have; False if there is none."""
    said = fields.get(_FIELD) if isinstance(fields, dict) else None
    if not isinstance(said, dict):
        return False
    read, total = said.get("processed"), said.get("total")
    reading = _CURRENT.get()
    if reading is not None and type(read) is int and type(total) is int and 0 <= read <= total:
        reading.report(PromptProgress(read, total))
    return True
