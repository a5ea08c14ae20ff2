"""JSON as editors write it, with comments and trailing commas, changed in one place with every other byte kept."""

from typing import Any

from agentcore.config import JsonPath, JsonSource, with_value, without_comments, without_value


class CommentedJson:
    """A document of JSON with comments.

    Args:
        text: The whole of it; empty: an empty object.
    Raises:
        JsonSyntaxError: It is no JSON, comments and trailing commas apart.
    """

    def __init__(self, text: str) -> None:
        self._text = text if text.strip() else "{}\n"
        self._source = JsonSource(without_comments(self._text))

    @property
    def value(self) -> Any:
        """What it means."""
        return self._source.value

    def with_value(self, path: JsonPath, value: Any) -> str:
        """The text with a value put in, or replaced.

        Raises:
            ValueError: The path leads through something else than objects.
        """
        return self._apply_change(with_value(self._source, path, value))

    def without_value(self, path: JsonPath) -> str:
        """The text without a member."""
        return self._apply_change(without_value(self._source, path))

    def _apply_change(self, changed: str) -> str:
        """What was changed of the text without comments, changed in the one with them: both have the same places."""
        before = self._source.text
        if changed == before:
            return self._text
        begin = _common_prefix_length(before, changed)
        end = _common_prefix_length(before[begin:][::-1], changed[begin:][::-1])
        return self._text[:begin] + changed[begin : len(changed) - end] + self._text[len(before) - end :]


def _common_prefix_length(one: str, other: str) -> int:
    """How many characters both begin with."""
    for place, (mine, theirs) in enumerate(zip(one, other, strict=False)):
        if mine != theirs:
            return place
    return min(len(one), len(other))
