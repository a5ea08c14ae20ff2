"""Names of keys, and the sequences that a terminal sends for them (xterm, "PC-Style Function Keys")."""

from agentcore.api import ToolError

ESCAPE = "\x1b"

_PLAIN = {
    "enter": "\r",
    "tab": "\t",
    "escape": ESCAPE,
    "backspace": "\x7f",
    "space": " ",
}
_CURSOR = {"up": "A", "down": "B", "right": "C", "left": "D", "home": "H", "end": "F"}
_EDITING = {"insert": 2, "delete": 3, "pageup": 5, "pagedown": 6}
_FUNCTION = {"f1": "P", "f2": "Q", "f3": "R", "f4": "S"}
_FUNCTION_NUMBERS = {"f5": 15, "f6": 17, "f7": 18, "f8": 19, "f9": 20, "f10": 21, "f11": 23, "f12": 24}
_MODIFIERS = {"shift": 1, "alt": 2, "meta": 2, "option": 2, "ctrl": 4, "control": 4}
_CTRL = 4
_ALT = 2
_SPELLINGS = {
    "return": "enter",
    "esc": "escape",
    "del": "delete",
    "ins": "insert",
    "page_up": "pageup",
    "page_down": "pagedown",
    "arrowup": "up",
    "arrowdown": "down",
    "arrowleft": "left",
    "arrowright": "right",
}

NAMES = (*_PLAIN, *_CURSOR, *_EDITING, *_FUNCTION, *_FUNCTION_NUMBERS)
"""The named keys; all others are given as their character."""


def encode_key(key: str, *, is_application_mode: bool) -> str:
    """Return the sequence that a terminal sends for a key.

    Args:
        key: A name or one character, with modifiers before it: `enter`, `q`, `ctrl+c`, `shift+tab`, `alt+left`.
        is_application_mode: True if the program has switched the cursor keys to application mode (DECCKM).
    Raises:
        ToolError: `unknown_key`.
    """
    before = key[:-1].split("+")
    last = key[-1]
    if not key.endswith("+"):
        *before, last = key.split("+")
    try:
        held = sum({_MODIFIERS[word.strip().lower()] for word in before if word})
    except KeyError:
        raise _unknown_key(key) from None
    if len(last) == 1:
        return _encode_character(key, last, held)
    name = last.strip().lower()
    name = _SPELLINGS.get(name, name)
    if name in _PLAIN:
        return _encode_named_key(name, held)
    if name in _CURSOR and not held:
        return ("\x1bO" if is_application_mode else "\x1b[") + _CURSOR[name]
    if name in _FUNCTION and not held:
        return f"\x1bO{_FUNCTION[name]}"
    if final := (_CURSOR | _FUNCTION).get(name):
        return f"\x1b[1;{held + 1}{final}"
    if number := (_EDITING | _FUNCTION_NUMBERS).get(name):
        return f"\x1b[{number};{held + 1}~" if held else f"\x1b[{number}~"
    raise _unknown_key(key)


def _encode_named_key(name: str, held: int) -> str:
    if name == "tab" and held & 1:
        return "\x1b[Z"
    if name == "space" and held & _CTRL:
        return "\0"
    return ("\x1b" if held & _ALT else "") + _PLAIN[name]


def _encode_character(key: str, character: str, held: int) -> str:
    if held & _CTRL:
        upper = character.upper()
        if not "@" <= upper <= "_":
            raise _unknown_key(key)
        character = chr(ord(upper) & 0x1F)
    elif held & 1:
        character = character.upper()
    return ("\x1b" if held & _ALT else "") + character


def _unknown_key(key: str) -> ToolError:
    message = (
        f"There is no key {key!r}. Give one character, or one of {', '.join(NAMES)}, with `ctrl+`, `alt+` or `shift+` "
        "in front where these are held."
    )
    return ToolError("unknown_key", message, key=key)
