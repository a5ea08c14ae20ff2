"""Tool calls that a model writes into its text, for models without native tool calling.

Small models mix forms, so all of them are read: `<tool_call>{…}</tool_call>`, `{"name": …, "arguments": {…}}` bare or
in a code fence, and `{"tool_call": {…}}`. The whole answer is parsed when it has ended, so that the way in which the
stream was cut never changes what it means.
"""

import json
import re
from collections.abc import Collection, Iterator
from typing import Any, NamedTuple

from agentcore.chat.chat_limits import CALLS_IN_A_TURN
from agentcore.chat.model.loose_json import decode_loosely

_NAMES = ("tool_name", "name", "tool", "function")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_WRAPPERS = ("tool_call", "tool_calls", "function_call")
_BESIDES = frozenset(("id", "type"))
_LANGUAGES = ("", "json", "jsonc", "json5", "tool", "tool_call", "tool_calls", "tool_code", "function_call")
"""Languages of code fences in which calls are written; in other fences they are code."""
_TAGS = (
    *("<tool_call>", "<tool_calls>", "<function_call>", "<|tool_call|>", "<|tool_call>"),
    *("[TOOL_CALLS]", "[TOOL_CALL]"),
)

_KEYS = (*_WRAPPERS, *_NAMES, *_ARGUMENTS, *_BESIDES)
_TAG = "|".join(map(re.escape, _TAGS))
_KEY = "|".join(_KEYS)
_OBJECT = (
    r"(?:\[\s{0,64})?\{\s{0,64}"
    rf"(?:[\"'](?:tool_call|tool_calls)[\"']|[\"']?(?:{_KEY})[\"']?\s{{0,64}}:)"
)
_MARK = re.compile(rf"(?P<ticks>`{{1,64}})|(?P<tag>{_TAG})|(?P<object>{_OBJECT})")
_FENCE_HEAD = re.compile(r"([A-Za-z0-9_+-]{0,32})\s{0,64}")
_BETWEEN = re.compile(r"[\s,;]{0,64}")
_CLOSING = re.compile(
    r"(?:[\s}]{0,64}(?:`{3,64}\s{0,64})?(?:</[a-z_]{1,20}>|<\|/tool_call\|?>|<tool_call\|>|\[/TOOL_CALLS?\]))?"
)
_FENCE_END = re.compile(r"(?:\s{0,64}`{3,64})?")
_IN_TAG = re.compile(r"\s{0,64}(?:`{3,64}[a-z_]{0,20}\s{0,64})?")
_PLACEHOLDER = re.compile(r"[:{,]\s{0,9}(?:\.\.\.|…|<)")
_WRAPPED = re.compile(r"\[?\s{0,64}\{\s{0,64}[\"']tool_calls?[\"']")
_TAGGED_OBJECT = re.compile(r"(?:\[\s{0,64})?\{")
_CALLED = re.compile(r"[\"']?(?:tool_name|name|tool|function)[\"']?\s{0,9}:\s{0,9}[\"']([\w.-]{1,64})")
_FENCE_TICKS = 3
_ATTEMPTS = 64
"""Objects that may be unreadable in one answer: each costs a scan of the rest."""


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
        spans: Where the calls are in the text.
    """

    text: str
    calls: list[WrittenCall]
    fault: str | None
    spans: tuple[tuple[int, int], ...] = ()


def parse_written(content: str, names: Collection[str] = ()) -> Written:
    """Find the calls in a text, whatever surrounds them. Never raises, whatever the text.

    Calls in inline code, and in code fences together with anything else, are text: the model writes about them.

    Args:
        content: The text.
        names: The tools that the model may call. A bare object with another name is a call only if it is alone on its
            lines.
    """
    scanner = _Scanner(content, names)
    try:
        scanner.scan()
    except ValueError as exc:
        return Written(content, [], f"{exc}.")
    if len(scanner.calls) > CALLS_IN_A_TURN:
        problem = f"there are {len(scanner.calls)} calls, and {CALLS_IN_A_TURN} are the bound."
        return Written(content, [], problem)
    if not scanner.calls:
        return Written(content, [], None)
    text = "".join(_outside(content, scanner.spans, 0)).strip()
    return Written(text, scanner.calls, None, tuple(scanner.spans))


def _outside(content: str, spans: Collection[tuple[int, int]], start: int) -> Iterator[str]:
    """Yield the text outside some spans, from a position on."""
    for begin, end in spans:
        yield content[start : max(start, begin)]
        start = max(start, end)
    yield content[start:]


class _NoCallError(Exception):
    """What looked like a call is text; `end`: up to where it was read."""

    def __init__(self, end: int = 0) -> None:
        super().__init__()
        self.end = end


class _Scanner:
    """Finds the calls of one text.

    Attributes:
        calls: The calls found, in their order.
        spans: The text that belongs to them.
    """

    def __init__(self, content: str, names: Collection[str]) -> None:
        self._content = content
        self._names = names
        self._attempts = _ATTEMPTS
        self.calls: list[WrittenCall] = []
        self.spans: list[tuple[int, int]] = []

    def scan(self) -> None:
        """Find all calls.

        Raises:
            ValueError: One cannot be read.
        """
        position = 0
        while mark := _MARK.search(self._content, position):
            try:
                position = self._add(mark.start(), *self._read_form(mark))
            except _NoCallError as exc:
                position = exc.end or self._end_of_text(mark)

    def _read_form(self, mark: re.Match[str]) -> tuple[list[WrittenCall], int]:
        """Read the calls in one of the forms; return them and their end."""
        if mark["tag"]:
            return self._read_tagged(mark.end())
        if mark["object"]:
            return self._read_bare(mark.start())
        if len(mark["ticks"]) >= _FENCE_TICKS:
            return self._read_fence(mark.end())
        raise _NoCallError  # inline code

    def _add(self, start: int, calls: list[WrittenCall], end: int) -> int:
        self.calls += calls
        self.spans.append((start, end))
        return end

    def _end_of_text(self, mark: re.Match[str]) -> int:
        """Return where to look on after something that is no call: code is skipped as a whole."""
        if not mark["ticks"]:
            return mark.start() + 1 if mark["object"] else mark.end()
        ticks = mark["ticks"]
        until = len(self._content)
        if len(ticks) < _FENCE_TICKS:
            line = self._content.find("\n", mark.end())
            until = until if line < 0 else line
        closing = re.compile(f"(?<!`){ticks}(?!`)").search(self._content, mark.end(), until)
        if closing is not None:
            return closing.end()
        return mark.end() if len(ticks) < _FENCE_TICKS else until

    # -- the forms ---------------------------------------------------------------------------------------------

    def _read_tagged(self, start: int) -> tuple[list[WrittenCall], int]:
        """Read the calls after an opening tag, and the closing tag if there is one."""
        position = _match_end(_IN_TAG, self._content, start)
        calls: list[WrittenCall] = []
        end = position
        while _TAGGED_OBJECT.match(self._content, position):
            try:
                value, read_to = self._decode(position)
                calls += _parse_calls(value, is_marked=True)
            except ValueError:
                if self._is_placeholder(position):
                    break
                raise
            end = read_to
            position = _match_end(_BETWEEN, self._content, end)
        if not calls:
            raise _NoCallError
        closed = _match_end(_CLOSING, self._content, end)
        return calls, closed if closed > end else _match_end(_FENCE_END, self._content, end)

    def _read_bare(self, start: int) -> tuple[list[WrittenCall], int]:
        calls, end, is_wrapped = self._read_object(start)
        if is_wrapped or all(call.tool_name in self._names for call in calls) or self._is_alone(start, end):
            return calls, end
        raise _NoCallError(end)

    def _read_fence(self, start: int) -> tuple[list[WrittenCall], int]:
        """Read a code fence that holds calls and nothing else."""
        head = _FENCE_HEAD.match(self._content, start)
        if head is None or head[1] not in _LANGUAGES:
            raise _NoCallError
        position = end = head.end()
        calls: list[WrittenCall] = []
        while mark := _MARK.match(self._content, position):
            if mark["ticks"]:
                if len(mark["ticks"]) < _FENCE_TICKS or not calls:
                    raise _NoCallError
                return calls, mark.end()
            if mark["tag"] and not head[1]:
                raise _NoCallError  # a form that needs no fence, in one without a language: an example
            if mark["tag"]:
                found, end = self._read_tagged(mark.end())
            else:
                found, end, _ = self._read_object(mark.start())
            calls += found
            position = _match_end(_BETWEEN, self._content, end)
        if not calls or "```" in self._content[position:]:
            raise _NoCallError
        return calls, end  # the fence is not closed

    def _read_object(self, start: int) -> tuple[list[WrittenCall], int, bool]:
        """Read an object, or a list of them, as calls; return also whether its key says that it is one."""
        is_wrapped = _WRAPPED.match(self._content, start) is not None
        end = 0
        try:
            value, end = self._decode(start)
            return _parse_calls(value, is_marked=is_wrapped), end, is_wrapped
        except ValueError:
            if (is_wrapped or (not end and self._names_tool(start))) and not self._is_placeholder(start):
                raise
            raise _NoCallError(end) from None

    # -- what is a call ----------------------------------------------------------------------------------------

    def _decode(self, start: int) -> tuple[Any, int]:
        if not self._attempts:
            raise _NoCallError
        try:
            return decode_loosely(self._content, start)
        except ValueError:
            self._attempts -= 1
            raise

    def _names_tool(self, start: int) -> bool:
        """True if an unreadable object names a tool that the model may call, next to arguments."""
        called = _CALLED.search(self._content, start)
        return (
            called is not None
            and called[1] in self._names
            and any(key in self._content[start:] for key in _ARGUMENTS[:2])
        )

    def _is_placeholder(self, start: int) -> bool:
        """True if an unreadable object shows the form of a call, such as `{"name": ...}`."""
        end = self._content.find("}", start)
        return _PLACEHOLDER.search(self._content, start, end if end > 0 else start + 200) is not None

    def _is_alone(self, start: int, end: int) -> bool:
        line_start = self._content.rfind("\n", 0, start) + 1
        line_end = self._content.find("\n", end)
        after = self._content[end : line_end if line_end >= 0 else len(self._content)]
        return not self._content[line_start:start].strip() and not after.strip()


def _match_end(pattern: re.Pattern[str], content: str, position: int) -> int:
    match = pattern.match(content, position)
    return position if match is None else match.end()


def _parse_calls(value: Any, *, is_marked: bool) -> list[WrittenCall]:
    """Read a decoded value as calls.

    Args:
        value: The value.
        is_marked: True if a tag or key says that it is a call, so that it need not have arguments.
    Raises:
        ValueError: It is none.
    """
    if isinstance(value, list):
        if not value:
            raise ValueError("there is no tool call in the list")
        return [call for each in value for call in _parse_calls(each, is_marked=is_marked)]
    if not isinstance(value, dict):
        raise ValueError("a tool call must be a JSON object")
    for wrapper in _WRAPPERS:
        if wrapper in value:
            if not isinstance(value[wrapper], dict | list):
                raise ValueError(f"{wrapper} needs a tool_name that is text")
            return _parse_calls(value[wrapper], is_marked=True)
    if isinstance(value.get("function"), dict):
        value = value["function"]
    return [_parse_call(value, is_marked=is_marked)]


def _parse_call(value: dict[str, Any], *, is_marked: bool) -> WrittenCall:
    name_key = next((key for key in _NAMES if isinstance(value.get(key), str) and value[key]), None)
    if name_key is None:
        raise ValueError("tool_call needs a tool_name that is text")
    rest = {key: part for key, part in value.items() if key != name_key and key not in _BESIDES}
    key = next((key for key in _ARGUMENTS if key in rest), None)
    if not is_marked and (key is None or len(rest) > 1):
        raise ValueError("a tool call has a name and arguments, and nothing else")
    # some small models write the arguments beside the name
    is_flat = key is None or (len(rest) > 1 and key not in _ARGUMENTS[:2])
    arguments = rest if is_flat or key is None else rest[key]
    if isinstance(arguments, str):
        arguments = _decode_text(arguments)
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        raise ValueError("arguments must be a JSON object, or the JSON text of one")
    return WrittenCall(value[name_key], json.dumps(arguments, ensure_ascii=False))


def _decode_text(text: str) -> Any:
    if not text.strip():
        return {}
    value, end = decode_loosely(text, len(text) - len(text.lstrip()))
    if text[end:].strip():
        raise ValueError("there is more after the JSON object in arguments")
    return value


class WrittenCallFilter:
    """Passes on streamed text, except for what is, or may become, a call.

    Attributes:
        text: All text so far.
    """

    def __init__(self) -> None:
        self.text = ""
        self._passed = 0
        self._is_holding = False

    def add_text(self, piece: str) -> str:
        """Add a chunk; return the text that can be shown now."""
        self.text += piece
        if self._is_holding:
            return ""
        # searched for only until it is found: arguments may be long, and arrive in very many chunks
        end, self._is_holding = _find_possible_call(self.text, self._passed)
        passed = self.text[self._passed : end]
        self._passed = end
        return passed

    def flush(self, written: Written) -> str:
        """Return the text that is left to show when the answer has ended.

        Args:
            written: All of the text, parsed.
        """
        left = "".join(_outside(self.text, written.spans, self._passed))
        self._passed = len(self.text)
        if not written.calls:
            return left
        return left.rstrip()


_TICKS = re.compile(r"`{1,64}")
_FEW_TICKS = re.compile(r"`{1,2}\Z")
_START = re.compile(r"[`<\[{]")
_WHOLE_BARE = re.compile(_OBJECT)
_WHOLE_TAG = re.compile(rf"(?:{_TAG})\s{{0,64}}(?:`{{3,64}}[a-z_]{{0,20}}\s{{0,64}})?[\[{{]")
_TAG_SO_FAR = re.compile(rf"(?:{_TAG})\s{{0,64}}(?:`{{1,64}}[a-z_]{{0,20}}\s{{0,64}})?\Z")
_OBJECT_SO_FAR = re.compile(r"(?:\[\s{0,64})?(?:\{\s{0,64}(?:[\"']?(?P<key>[a-z_]{0,14})(?P<end>[\"']?\s{0,64}))?)?\Z")
_FENCE = re.compile(r"`{3,64}(?P<language>[A-Za-z0-9_+-]{0,32})(?P<space>\s{0,64})")


def _find_possible_call(text: str, start: int) -> tuple[int, bool]:
    """Return up to where a text has nothing that is or may become a call, and whether what follows looks like one."""
    while candidate := _START.search(text, start):
        position = candidate.start()
        state = _classify(text, position)
        if state is not None:
            return position, state
        start = position + 1
        if text[position] == "`":
            start = _match_end(_TICKS, text, position)  # the whole run was looked at
    return len(text), False


def _classify(text: str, position: int) -> bool | None:
    """Return True if a call seems to begin here, False if one may with more text, None if not."""
    if text[position] != "`":
        return _classify_unfenced(text, position)
    fence = _FENCE.match(text, position)
    if fence is None:
        return False if _FEW_TICKS.match(text, position) else None
    if fence.end() == len(text):
        known = fence["language"] in _LANGUAGES
        return False if known or any(each.startswith(fence["language"]) for each in _LANGUAGES) else None
    return _classify_unfenced(text, fence.end()) if fence["language"] in _LANGUAGES else None


def _classify_unfenced(text: str, position: int) -> bool | None:
    if _WHOLE_BARE.match(text, position) or _WHOLE_TAG.match(text, position):
        return True
    if text[position] in "<[" and (
        _TAG_SO_FAR.match(text, position) or any(tag.startswith(text[position : position + 16]) for tag in _TAGS)
    ):
        return False
    so_far = _OBJECT_SO_FAR.match(text, position)
    if so_far is None or text[position] not in "[{":
        return None
    key = so_far["key"] or ""
    may_grow = key in _KEYS if so_far["end"] else any(each.startswith(key) for each in _KEYS)
    return False if may_grow else None
