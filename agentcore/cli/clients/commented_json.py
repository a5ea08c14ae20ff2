"""Edits JSON with comments and trailing commas, as editors write it, without changing any other byte."""

from typing import Any

from agentcore.config.comments import without_comments
from agentcore.config.json_edit import with_value, without_value
from agentcore.config.json_source import JsonPath, JsonSource


class CommentedJson:
    """A JSON document with comments.

    Args:
        text: The whole text. Empty: an empty object.
    Raises:
        JsonSyntaxError: The text is not JSON, apart from comments and trailing commas.
    """

    def __init__(self, text: str) -> None:
        self._text = text if text.strip() else "{}\n"
        self._source = JsonSource(without_comments(self._text))

    @property
    def value(self) -> Any:
        """The parsed value."""
        return self._source.value

    def with_value(self, path: JsonPath, value: Any) -> str:
        """Return the text with a value inserted or replaced.

        Raises:
            ValueError: The path leads through a value that is not an object.
        """
        return self._apply_change(with_value(self._source, path, value))

    def without_value(self, path: JsonPath) -> str:
        """Return the text without a member."""
        return self._apply_change(without_value(self._source, path))

    def _apply_change(self, changed: str) -> str:
        """Apply a change of the text without comments to the text with them; both have the same offsets."""
        before = self._source.text
        if changed == before:
            return self._text
        begin = _common_prefix_length(before, changed)
        end = _common_prefix_length(before[begin:][::-1], changed[begin:][::-1])
        return self._text[:begin] + changed[begin : len(changed) - end] + self._text[len(before) - end :]


def _common_prefix_length(one: str, other: str) -> int:
    """Return the length of the common prefix."""
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other))
