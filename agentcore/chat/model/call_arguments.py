"""The arguments of a call, put together from chunks of JSON text in time linear in their length."""

import json
import re

_MARK = re.compile(r'["{}\[\]]')
_MARK_IN_STRING = re.compile(r'["\\]')
_WORD_CHARS = 40
"""Maximum length of a number, or of `null`, as the whole of the arguments."""


class CallArguments:
    """Collects the arguments of one call.

    The text is parsed at most once, where the first value in it ends: brackets and strings are followed from chunk to
    chunk. Parsing it at every chunk would take minutes for a long file that arrives in chunks of a few characters.
    """

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self._length = 0
        self._is_object: bool | None = None
        self._depth = 0
        self._is_in_string = False
        self._is_escaped = False
        self._has_ended = False
        self._has_valid_end = False

    @property
    def text(self) -> str:
        """The text so far."""
        if len(self._chunks) > 1:
            self._chunks = ["".join(self._chunks)]
        return self._chunks[0] if self._chunks else ""

    @property
    def is_blank(self) -> bool:
        """True if there is nothing but white space so far."""
        return self._is_object is None

    @property
    def is_json(self) -> bool:
        """True if the text is a JSON document."""
        if self._has_ended or self._length > _WORD_CHARS:
            return self._has_valid_end
        return _is_json(self.text)

    @property
    def is_json_object(self) -> bool:
        """True if the text is a JSON object."""
        return bool(self._is_object) and self._has_valid_end

    @property
    def is_empty_object(self) -> bool:
        """True if the text is `{}`, which some servers send before the arguments themselves."""
        return self.is_json_object and self.text.split() == ["{}"]

    def add(self, chunk: str) -> None:
        """Add a chunk; a server may also repeat what it has sent, alone or with more."""
        if not chunk or self.is_json_object:
            return
        if self._is_object and len(chunk) >= self._length and chunk.startswith(self.text):
            chunk = chunk[self._length :]
        if self._is_object is None and (beginning := chunk.lstrip()[:1]):
            self._is_object = beginning == "{"
        self._chunks.append(chunk)
        self._length += len(chunk)
        if self._has_ended:
            self._has_valid_end &= not chunk.strip()
        else:
            self._find_end(chunk)

    def _find_end(self, chunk: str) -> None:
        """Follow brackets and strings through a chunk, and parse the text if its first value ends there."""
        place = 0
        while place < len(chunk) and not self._has_ended:
            if self._is_escaped:
                self._is_escaped = False
                place += 1
                continue
            found = (_MARK_IN_STRING if self._is_in_string else _MARK).search(chunk, place)
            if found is None:
                return
            place = found.end()
            self._follow_mark(found.group())
        if self._has_ended:
            self._has_valid_end = _is_json(self.text)

    def _follow_mark(self, mark: str) -> None:
        if mark == "\\":
            self._is_escaped = True
            return
        if mark == '"':
            self._is_in_string = not self._is_in_string
        else:
            self._depth += 1 if mark in "{[" else -1
        self._has_ended = self._depth <= 0 and not self._is_in_string


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
