"""Pressing keys by the names that people and programs use for them."""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentcore.api import ToolError

if TYPE_CHECKING:
    from agentcore_chrome.tab.tab import Tab

_MODIFIERS = {
    "shift": "Shift",
    "control": "Control",
    "ctrl": "Control",
    "strg": "Control",
    "alt": "Alt",
    "option": "Alt",
    "opt": "Alt",
    "meta": "Meta",
    "cmd": "Meta",
    "command": "Meta",
    "win": "Meta",
    "windows": "Meta",
    "super": "Meta",
    "controlormeta": "ControlOrMeta",
    "cmdorctrl": "ControlOrMeta",
    "commandorcontrol": "ControlOrMeta",
    "mod": "ControlOrMeta",
}
_NAMES = {
    "esc": "Escape",
    "return": "Enter",
    "del": "Delete",
    "ins": "Insert",
    "spacebar": "Space",
    "bksp": "Backspace",
    "back": "Backspace",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
    "pgup": "PageUp",
    "pgdn": "PageDown",
    "pgdown": "PageDown",
    "prtsc": "PrintScreen",
    "printscreen": "PrintScreen",
    "menu": "ContextMenu",
    "plus": "+",
    "minus": "-",
} | {
    name.lower(): name
    for name in [
        "ArrowDown",
        "ArrowLeft",
        "ArrowRight",
        "ArrowUp",
        "Backspace",
        "CapsLock",
        "ContextMenu",
        "Delete",
        "End",
        "Enter",
        "Escape",
        "Home",
        "Insert",
        "PageDown",
        "PageUp",
        "Pause",
        "Space",
        "Tab",
        "F1",
        "F2",
        "F3",
        "F4",
        "F5",
        "F6",
        "F7",
        "F8",
        "F9",
        "F10",
        "F11",
        "F12",
    ]
}
"""Names of keys in small letters, and the driver's name for each."""

_HELD = re.compile(rf"\s*({'|'.join(sorted(_MODIFIERS, key=len, reverse=True))})\s*[-+]\s*(?=\S)", re.IGNORECASE)
_BETWEEN = re.compile(r"\s*\+\s*(?=\S)")
_CDP_MODIFIERS = {"Alt": 1, "Control": 2, "ControlOrMeta": 2, "Meta": 4, "Shift": 8}
_JOINED = frozenset(("Mn", "Mc", "Me", "Cf", "Sk"))
"""Categories of characters that belong to the one before."""


def parse_chord(key: str, modifiers: Sequence[str] = ()) -> list[str]:
    """Return the keys to press at once, by the driver's names or as characters: those that are held first.

    Raises:
        ToolError: `invalid_arguments`: there is no such key.
    """
    chord = list(modifiers)
    rest = key
    while (held := _HELD.match(rest)) is not None:
        chord.append(_MODIFIERS[held.group(1).lower()])
        rest = rest[held.end() :]
    parts = _BETWEEN.split(rest) if rest.strip() else [" "]
    chord += [_parse_key(part, key) for part in parts]
    return [*chord[:-1], _match_shift(chord[-1], set(chord[:-1]))]


def _match_shift(key: str, held: set[str]) -> str:
    """Return a letter as a keyboard sends it: with modifiers, Shift alone decides between capital and small letter."""
    if len(key) != 1 or not key.isascii() or not held & _CDP_MODIFIERS.keys():
        return key
    return key.upper() if "Shift" in held else key.lower()


def _parse_key(name: str, key: str) -> str:
    if _is_character(name):
        return name
    stripped = name.strip()
    known = _MODIFIERS.get(stripped.lower()) or _NAMES.get(stripped.lower().replace(" ", "").replace("_", ""))
    if known is not None or re.fullmatch(r"[A-Z][A-Za-z]*[0-9]*", stripped):
        return known or stripped  # the driver knows some more, such as Numpad0
    raise unknown_key(key)


def _is_character(name: str) -> bool:
    return bool(name) and all(unicodedata.category(char) in _JOINED for char in name[1:])


def unknown_key(key: str) -> ToolError:
    """Return the error for a key that no keyboard has."""
    message = f"there is no key {key!r}; take a character, or a name such as Enter, Tab, ArrowDown, F5"
    return ToolError("invalid_arguments", message, key=key)


async def press_chord(tab: "Tab", chord: Sequence[str]) -> None:
    """Press keys at once in whatever has the focus."""
    *held, last = chord
    if not _is_character(last) or last.isascii():
        await tab.page.keyboard.press("+".join(chord))
        return
    # The driver knows the keys of a US keyboard. Any other character is sent as the key of a keyboard that has it.
    for name in held:
        await tab.page.keyboard.down(name)
    try:
        session = await tab.get_session()
        pressed = {"key": last, "modifiers": sum(_CDP_MODIFIERS.get(name, 0) for name in held)}
        is_text = not set(held) - {"Shift"}
        text = {"text": last, "unmodifiedText": last} if is_text else {}
        await session.send(
            "Input.dispatchKeyEvent", {"type": "keyDown" if is_text else "rawKeyDown", **pressed, **text}
        )
        await session.send("Input.dispatchKeyEvent", {"type": "keyUp", **pressed})
    finally:
        for name in reversed(held):
            await tab.page.keyboard.up(name)
