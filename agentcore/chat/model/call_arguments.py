"""The arguments of a call, put together from chunks of JSON text in time linear in their length."""

import json
import re

_MARK = re.compile(r'["{}\[\]]')
_MARK_IN_STRING = re.compile(r'["\\]')
_WORD_CHARS = 40
"""Maximum length of a number, or of `null`, as the whole of the arguments."""


class CallArguments:
    """Collects the arguments of one call.

    A server may repeat what it has sent, alone or with more: a chunk that begins with all that was sent before. The
    same chunk may also continue them, as `{"a":1}` does after `{"a":` if `}` follows. So the chunks are read in both
    ways, and what they are together counts if it is JSON. They never are JSON in both: what they are together ends with
    what they are as repetitions, and a JSON object is none once it has other text before it.
    """

    def __init__(self) -> None:
        self._latest = _JsonText()
        """The text since it was last repeated from its beginning."""
        self._together: _JsonText | None = None
        """All chunks together; None: none of them can be a repetition so far."""
        self._has_other_end = False
        """Chunks that are no repetition came after a repeated text was complete."""

    @property
    def text(self) -> str:
        """The text so far."""
        return self._read.text

    @property
    def is_blank(self) -> bool:
        """True if there is nothing but white space so far."""
        return self._latest.is_blank

    @property
    def is_json(self) -> bool:
        """True if the text is a JSON document."""
        return self._read.is_json

    @property
    def is_json_object(self) -> bool:
        """True if the text is a JSON object."""
        return self._read.is_json_object

    @property
    def is_empty_object(self) -> bool:
        """True if the text is `{}`, which some servers send before the arguments themselves."""
        return self.is_json_object and self.text.split() == ["{}"]

    @property
    def _read(self) -> "_JsonText":
        if self._together is None or not (self._together.is_json_object or self._has_other_end):
            return self._latest
        return self._together

    def add(self, chunk: str) -> None:
        """Add a chunk; a server may also repeat what it has sent, alone or with more."""
        if not chunk or (self._together is None and self._latest.is_json_object):
            return
        if self._latest.is_json_object:
            self._has_other_end |= not self._latest.text.startswith(chunk.strip())
        elif self._latest.is_beginning_of(chunk):
            self._together = self._together or self._latest.copy()
            self._latest.add(chunk[self._latest.length :])
        else:
            self._latest.add(chunk)
        if self._together is not None:
            self._together.add(chunk)


class _JsonText:
    """JSON text put together from chunks.

    The text is parsed at most once, where the first value in it ends: brackets and strings are followed from chunk to
    chunk. Parsing it at every chunk would take minutes for a long file that arrives in chunks of a few characters.
    """

    def __init__(self) -> None:
        self._chunks: list[str] = []
        self.length = 0
        self._is_object: bool | None = None
        self._depth = 0
        self._is_in_string = False
        self._is_escaped = False
        self._has_ended = False
        self._has_valid_end = False

    def copy(self) -> "_JsonText":
        """Return an independent copy."""
        made = _JsonText()
        made.add(self.text)
        return made

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
        if self._has_ended or self.length > _WORD_CHARS:
            return self._has_valid_end
        return _is_json(self.text)

    @property
    def is_json_object(self) -> bool:
        """True if the text is a JSON object."""
        return bool(self._is_object) and self._has_valid_end

    def is_beginning_of(self, chunk: str) -> bool:
        """True if a chunk may repeat the text from its beginning."""
        return bool(self._is_object) and len(chunk) >= self.length and chunk.startswith(self.text)

    def add(self, chunk: str) -> None:
        """Add a chunk."""
        if self._is_object is None and (beginning := chunk.lstrip()[:1]):
            self._is_object = beginning == "{"
        self._chunks.append(chunk)
        self.length += len(chunk)
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
