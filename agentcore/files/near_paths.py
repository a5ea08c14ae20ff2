"""Names of files that a caller probably meant: spelled with other Unicode characters, or with a mistake."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from agentcore.near_names import near_names

_BLANKS = re.compile(r"[^\S\t\n\r\x1c-\x1f]")
_MOST = 3


def find_spelling(names: Iterable[bytes], wanted: bytes) -> bytes | None:
    """Return the only name that looks the same: composed and decomposed letters, and kinds of blanks, are equal.

    Args:
        names: The names in a folder.
        wanted: The name as written by a caller.
    """
    folded = _fold_name(wanted)
    found = [name for name in names if name == wanted or _fold_name(name) == folded]
    return wanted if wanted in found else found[0] if len(found) == 1 else None


def find_nearest(names: Iterable[bytes], wanted: bytes) -> Sequence[bytes]:
    """Return up to three names with the most similar spelling, nearest first; capitals do not count."""
    folded: dict[str, list[bytes]] = {}
    for name in names:
        folded.setdefault(_fold_name(name).casefold(), []).append(name)
    same = _fold_name(wanted).casefold()
    near = [same] if same in folded else near_names(same, folded)
    return [name for each in near for name in folded[each]][:_MOST]


def _fold_name(name: bytes) -> str:
    text = name.decode("utf-8", "surrogateescape")
    return text if text.isascii() else _BLANKS.sub(" ", unicodedata.normalize("NFC", text))
