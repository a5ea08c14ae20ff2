"""Tool calls that a model writes into its text, for models without native tool calling."""

import json
import re
from typing import Any, NamedTuple

from agentcore.chat.bounds import CALLS_IN_A_TURN
from agentcore.strict_json import decode_at, decode_json

_OPENING = re.compile(r'\{\s{0,64}"tool_call"')
_FENCE_BEFORE = re.compile(r"```[A-Za-z0-9_-]{0,32}\s{0,64}\Z")
_FENCE_AFTER = re.compile(r"\s*```")
# what may still become the beginning of a call, at the end of an unfinished text
_BEGINNING = re.compile(
    r"(?:`{1,2}|```[A-Za-z0-9_-]{0,32}\s{0,64}(?:\{\s{0,64}(?P<fenced>\"[a-z_]*\"?)?)?|\{\s{0,64}(?P<bare>\"[a-z_]*\"?)?)\Z"
)
_KEY = '"tool_call"'


class WrittenCall(NamedTuple):
    """One call as the model wrote it: the name, and the arguments as JSON text."""

    tool_name: str
    arguments: str


class Written(NamedTuple):
    """A model's text, split into calls and other text.

    Args:
        text: The text without the calls.
        calls: The calls in their order.
        fault: Why a call could not be parsed; None: all could.
    """

    text: str
    calls: list[WrittenCall]
    fault: str | None


def parse_written(content: str) -> Written:
    """Find the calls in a text: with or without a code fence or other text around, arguments as object or as text.

    Never raises, whatever the text.
    """
    rest: list[str] = []
    calls: list[WrittenCall] = []
    position = 0
    while opening := _OPENING.search(content, position):
        before = content[position : opening.start()]
        try:
            value, end = decode_at(content, opening.start())
            calls.append(_parse_call(value))
        except ValueError as exc:
            return Written(content, [], f"{exc}.")
        fence = _FENCE_BEFORE.search(before)
        if fence is not None and (after := _FENCE_AFTER.match(content, end)):
            before = before[: fence.start()]
            end = after.end()
        rest.append(before)
        position = end
    if len(calls) > CALLS_IN_A_TURN:
        return Written(content, [], f"there are {len(calls)} calls, and {CALLS_IN_A_TURN} are the bound.")
    rest.append(content[position:])
    return Written("".join(rest).strip() if calls else content, calls, None)


def _parse_call(value: dict[str, Any]) -> WrittenCall:
    call = value["tool_call"]
    if not isinstance(call, dict) or not isinstance(call.get("tool_name"), str):
        raise ValueError("tool_call needs a tool_name that is text")
    arguments = call.get("arguments", {})
    if isinstance(arguments, str):
        arguments = decode_json(arguments or "{}")
    if not isinstance(arguments, dict):
        raise ValueError("arguments must be a JSON object, or the JSON text of one")
    return WrittenCall(call["tool_name"], json.dumps(arguments, ensure_ascii=False))


class WrittenCallFilter:
    """Passes on streamed text, except for what is, or may become, a call."""

    def __init__(self) -> None:
        self._text = ""
        self._passed = 0
        self._is_holding = False

    def add_text(self, piece: str) -> str:
        """Add a chunk; return the text that can be shown now."""
        self._text += piece
        if self._is_holding:
            return ""
        # searched for only until it is found: arguments may be long, and arrive in very many chunks
        self._is_holding = _OPENING.search(self._text, self._passed) is not None
        return self._release_until(_safe_end(self._text, self._passed))

    def flush(self, written: Written) -> str:
        """Return the text that is left to show when the answer has ended."""
        if not written.calls:
            return self._release_until(len(self._text))
        shown = self._text[: self._passed].strip()
        return written.text[len(shown) :] if written.text.startswith(shown) else ""

    def _release_until(self, end: int) -> str:
        passed = self._text[self._passed : end]
        self._passed = max(end, self._passed)
        return passed


def _safe_end(content: str, start: int) -> int:
    """Return the position up to which a text contains nothing that is, or may become, a call."""
    opening = _OPENING.search(content, start)
    head = content if opening is None else content[: opening.start()]
    if opening is not None:
        fence = _FENCE_BEFORE.search(head, start)
        return opening.start() if fence is None else fence.start()
    for match in _BEGINNING.finditer(head, start):
        key = match["fenced"] or match["bare"] or ""
        if _KEY.startswith(key):
            return match.start()
    return len(head)
