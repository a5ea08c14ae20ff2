"""`JsonParts`: counts the values in JSON text without parsing it."""

import re

_SLICE_BYTES = 1 << 16
_SEPARATORS = (b",", b"[", b"{")
_BACKSLASHES = re.compile(rb"\\*\Z")


class JsonParts:
    """Counts the values of JSON text as it arrives, since a short text with many values can take long to parse.

    It counts commas, objects and lists outside strings; invalid JSON yields some count as well.

    Args:
        limit: Counting is exact only up to this number.

    Attributes:
        count: Number of values so far.
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
        """Count the values in the next chunk of the text, until the limit is exceeded."""
        for start in range(0, len(data), _SLICE_BYTES):
            if self.is_over:
                return
            self._feed_slice(self._rest + data[start : start + _SLICE_BYTES])

    def _feed_slice(self, data: bytes) -> None:
        # an incomplete escape at the end waits for its second half
        found = _BACKSLASHES.search(data, max(len(data) - _SLICE_BYTES, 0))
        is_half = found is not None and len(found[0]) % 2 == 1
        self._rest = b"\\" if is_half else b""
        text = data[:-1] if is_half else data
        if b"\\" in text:
            text = text.replace(b"\\\\", b"").replace(b'\\"', b"")
        chunks = text.split(b'"')
        outside = b"".join(chunks[self._is_in_string :: 2])
        self._is_in_string ^= len(chunks) % 2 == 0
        self.count += sum(outside.count(each) for each in _SEPARATORS)


def has_more_json_parts(data: bytes, limit: int) -> bool:
    """Return True if JSON text has more values than a limit."""
    # also counts in strings: most text is within the limit even so
    if len(data) <= limit or sum(data.count(each) for each in _SEPARATORS) <= limit:
        return False
    parts = JsonParts(limit)
    parts.feed(data)
    return parts.is_over
