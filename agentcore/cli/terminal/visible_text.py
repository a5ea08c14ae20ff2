"""Makes untrusted text safe for a terminal: it cannot move the cursor, be invisible, or reorder what is read."""

import unicodedata

_KEPT = frozenset("\n\t")
# letters and marks that are invisible although their category does not say so
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
# Cc control, Cf format (bidirectional marks, zero width, tags), Cs surrogate, Co private use, Cn unassigned
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_PLAIN_SPACES = frozenset(" \u3000")
_REORDERING = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def terminal_safe(text: str) -> str:
    """Return the text with control and bidirectional characters written as `<U+001B>`.

    Line feeds and tabs are left as they are. Meant for ordinary output, where joined emoji and the like are harmless.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_code_point_name(character) if _is_harmful(character) else character for character in text)


def json_safe(text: str) -> str:
    """Return equivalent JSON text with the characters that `terminal_safe` replaces as escapes."""
    return "".join(_json_escape(character) if _is_harmful(character) else character for character in text)


def json_storable(text: str) -> str:
    """Return equivalent JSON text with what UTF-8 cannot encode (lone surrogates) as escapes."""
    return "".join(_json_escape(character) if "\ud800" <= character <= "\udfff" else character for character in text)


def all_visible(text: str) -> str:
    """Return the text with every invisible character written as `<U+200B>`.

    Line feeds and tabs are left as they are. Meant for text that the user decides on: two texts that look alike differ
    at most in letters that look alike.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_code_point_name(character) if _is_hidden(character) else character for character in text)


def display_width(text: str) -> int:
    """Return the number of terminal columns that a line occupies."""
    if text.isascii():
        return len(text)
    return sum(_column_width(character) for character in text)


def truncate_line(text: str, columns: int) -> str:
    """Return the first line of a text, truncated to a width with `…`."""
    line = text.strip().split("\n", 1)[0]
    if display_width(line) <= columns:
        return line
    taken = []
    width = 1
    for character in line:
        width += _column_width(character)
        if width > columns:
            break
        taken.append(character)
    return "".join(taken).rstrip() + "…"


def _is_harmful(character: str) -> bool:
    return character not in _KEPT and (unicodedata.category(character) in ("Cc", "Cs") or character in _REORDERING)


def _is_hidden(character: str) -> bool:
    if character in _KEPT or (character.isascii() and character.isprintable()):
        return False
    category = unicodedata.category(character)
    if category == "Zs":
        return character not in _PLAIN_SPACES
    is_variation_selector = "\ufe00" <= character <= "\ufe0f" or "\U000e0100" <= character <= "\U000e01ef"
    return category in _HIDDEN_CATEGORIES or character in _BLANK or is_variation_selector


def _code_point_name(character: str) -> str:
    return f"<U+{ord(character):04X}>"


def _json_escape(character: str) -> str:
    return f"\\u{ord(character):04x}"


def _column_width(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
