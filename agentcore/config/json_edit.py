"""Change or remove one value of a JSON text, keeping all other bytes, the order of keys and the indentation."""

import json
import re
from typing import Any

from agentcore.config.json_source import JsonPath, JsonSource, Span, format_path
from agentcore.late_dataclasses import dataclass

_FIRST_INDENT = re.compile(r"[\r\n]([ \t]+)\S")
_LINE_INDENT = re.compile(r"[ \t]*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_DEFAULT_INDENT = "  "


def with_value(source: JsonSource, path: JsonPath, value: Any) -> str:
    """Return the text with one value replaced, or added as the last member of its object.

    Missing objects on the way are added too. If the value is already there, the text is unchanged.

    Returns:
        The new text; outside the value (and, for a new one, its comma and key) it equals the old one byte for byte.
    Raises:
        ValueError: The path leads through a value that is not an object, or to a missing list element, or JSON cannot
            express the value.
    """
    if path in source.spans:
        if _as_json(source.get_value(path)) == _as_json(value):
            return source.text
        span = source.spans[path]
        return _splice(source.text, span, _Style.from_source(source).render_over(source, span, value))
    parent = path[:-1]
    key = path[-1]
    if isinstance(key, int):
        raise ValueError(f"there is no list element {format_path(path)}")
    if parent not in source.spans:
        return with_value(source, parent, {key: value})
    if not isinstance(source.get_value(parent), dict):
        raise ValueError(f"{format_path(parent) or 'the document'} is not an object that could get {format_path(path)}")
    return _with_member(source, parent, key, value)


def without_value(source: JsonSource, path: JsonPath) -> str:
    """Return the text without one member of an object, its key and one comma.

    If the member does not exist, the text is unchanged. An object that loses its last member becomes `{}`.

    Raises:
        ValueError: The path refers to the document or to a list element.
    """
    if not path or isinstance(path[-1], int):
        raise ValueError(f"{format_path(path) or 'the document'} is no member of an object, and cannot be removed")
    if path not in source.spans:
        return source.text
    parent = path[:-1]
    members = [*source.get_value(parent)]
    position = members.index(path[-1])
    if len(members) == 1:
        return _splice(source.text, source.spans[parent], "{}")
    if position + 1 < len(members):
        following = source.key_spans[*parent, members[position + 1]]
        return _splice(source.text, Span(source.key_spans[path].start, following.start), "")
    before = source.spans[*parent, members[position - 1]]
    return _splice(source.text, Span(before.end, source.spans[path].end), "")


def _with_member(source: JsonSource, parent: JsonPath, key: str, value: Any) -> str:
    members = [*source.get_value(parent)]
    style = _Style.from_source(source)
    if not members:
        span = source.spans[parent]
        return _splice(source.text, span, style.render(source, span.start, {key: value}, is_expanded=True))
    last = (*parent, members[-1])
    key_span = source.key_spans[last]
    end = source.spans[last].end
    before_key = _trailing_space(source.text[: key_span.start])
    colon = source.text[key_span.end : source.spans[last].start]
    is_own_line = not _is_inline(before_key)
    if is_own_line:
        gap = style.line_end + _LINE_END.split(before_key)[-1]
    else:
        gap = before_key if len(members) > 1 else style.space
    member = json.dumps(key, ensure_ascii=False) + (colon if _is_inline(colon) else ": ")
    member += style.render(source, key_span.start, value, is_expanded=is_own_line and isinstance(value, dict))
    return _splice(source.text, Span(end, end), "," + gap + member)


@dataclass(frozen=True, slots=True)
class _Style:
    """Layout of a text: its line ends, its unit of indentation, and the space after commas and colons."""

    line_end: str
    indent: str | None
    space: str

    @classmethod
    def from_source(cls, source: JsonSource) -> "_Style":
        line_end = _LINE_END.search(source.text)
        indent = _FIRST_INDENT.search(source.text)
        default = _DEFAULT_INDENT if line_end or not source.value else None
        return cls(
            line_end=line_end.group() if line_end else "\n",
            indent=indent.group(1) if indent else default,
            space=_space_after_colon(source),
        )

    def render_over(self, source: JsonSource, span: Span, value: Any) -> str:
        """Render a value in the layout of the one it replaces."""
        old = source.text[span.start : span.end]
        is_container = old[0] in "{[" and old[1:-1].strip() != ""
        is_expanded = not _is_inline(old) if is_container else isinstance(value, dict)
        return self.render(source, span.start, value, is_expanded=is_expanded)

    def render(self, source: JsonSource, start: int, value: Any, *, is_expanded: bool) -> str:
        """Render a value for an offset of the text, on several lines or on one."""
        separators = ("," + self.space, ":" + self.space)
        if not is_expanded or self.indent is None or not value:
            return _as_json(value, separators)
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, indent=self.indent, separators=(",", separators[1])
        )
        margin = _LINE_INDENT.match(source.text, _line_start(source.text, start))
        return text.replace("\n", self.line_end + (margin.group() if margin else ""))


def _space_after_colon(source: JsonSource) -> str:
    for path, key in source.key_spans.items():
        return "" if source.text[key.end : source.spans[path].start].endswith(":") else " "
    return " "


def _as_json(value: Any, separators: tuple[str, str] = (", ", ": ")) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)


def _splice(text: str, span: Span, piece: str) -> str:
    return text[: span.start] + piece + text[span.end :]


def _is_inline(text: str) -> bool:
    return _LINE_END.search(text) is None


def _trailing_space(text: str) -> str:
    return text[len(text.rstrip(" \t\r\n")) :]


def _line_start(text: str, offset: int) -> int:
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
