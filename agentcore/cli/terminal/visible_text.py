"""Text from outside on a terminal: nothing in it may move the cursor, hide, or change the order of what is read."""

import unicodedata

_KEPT = frozenset("\n\t")
# letters and marks that show nothing, though their category does not say so
_BLANK = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
# Cc control, Cf format (bidirectional marks, zero width, tags), Cs surrogate, Co private use, Cn unassigned
_HIDDEN_CATEGORIES = frozenset(("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"))
_PLAIN_SPACES = frozenset(" \u3000")
_REORDERING = frozenset("\u061c\u200e\u200f\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def terminal_safe(text: str) -> str:
    """The text with control characters and those that reorder a line written as `<U+001B>`.

    Line feeds and tabs stay. Meant for output to read, where joined emoji and the like may stay as they are.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_code_point_name(character) if _is_harmful(character) else character for character in text)


def json_safe(text: str) -> str:
    """JSON text with the same characters as in `terminal_safe` as escapes; it means the same."""
    return "".join(_json_escape(character) if _is_harmful(character) else character for character in text)


def json_storable(text: str) -> str:
    """JSON text with what UTF-8 cannot express (halves of surrogate pairs) as escapes; it means the same."""
    return "".join(_json_escape(character) if "\ud800" <= character <= "\udfff" else character for character in text)


def all_visible(text: str) -> str:
    """The text with every character that cannot be seen written as `<U+200B>`.

    Line feeds and tabs stay. Meant for what a person decides on: two texts that look alike here differ at most in
    letters that look alike.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_code_point_name(character) if _is_hidden(character) else character for character in text)


def display_width(text: str) -> int:
    """The number of terminal columns that a line takes."""
    if text.isascii():
        return len(text)
    return sum(_column_width(character) for character in text)


def truncate_line(text: str, columns: int) -> str:
    """The first line of a text, cut to a width with `…` where something is missing."""
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
