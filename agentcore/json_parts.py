"""`JsonParts`: how many values JSON text has, counted without reading it."""

import re

_SLICE_BYTES = 1 << 16
_SEPARATORS = (b",", b"[", b"{")
_BACKSLASHES = re.compile(rb"\\*\Z")


class JsonParts:
    """Counts the values of JSON text as it arrives: a few bytes of it can take longer to read than all of its text.

    Counted are the commas, the objects and the lists, outside of strings; text that is no JSON has some count as well.

    Args:
        limit: What counts beyond is not counted exactly.

    Attributes:
        count: The values so far.
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._is_in_string = False
        self._rest = b""
        self.count = 0

    @property
    def is_over(self) -> bool:
        """True when there are more values than the limit."""
        return self.count > self._limit

    def feed(self, data: bytes) -> None:
        """Count the values in some more of the text, until there are more than the limit."""
        for start in range(0, len(data), _SLICE_BYTES):
            if self.is_over:
                return
            self._feed_slice(self._rest + data[start : start + _SLICE_BYTES])

    def _feed_slice(self, data: bytes) -> None:
        # half of an escape at the end waits for the other half
        found = _BACKSLASHES.search(data, max(len(data) - _SLICE_BYTES, 0))
        is_half = found is not None and len(found[0]) % 2 == 1
        self._rest = b"\\" if is_half else b""
        text = data[:-1] if is_half else data
        if b"\\" in text:
            text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
        pieces = text.split(b'"')
        outside = b"".join(pieces[self._is_in_string :: 2])
        self._is_in_string ^= len(pieces) % 2 == 0
        self.count += sum(outside.count(each) for each in _SEPARATORS)


def has_more_json_parts(data: bytes, limit: int) -> bool:
    """Whether JSON text has more values than a limit."""
    # counted in strings too: most text is within the limit even so
    if len(data) <= limit or sum(data.count(each) for each in _SEPARATORS) <= limit:
        return False
    parts = JsonParts(limit)
    parts.feed(data)
    return parts.is_over
