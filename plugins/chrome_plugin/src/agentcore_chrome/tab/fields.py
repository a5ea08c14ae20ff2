"""Kind and content of a page's fields: form fields, rich text, code editors, and the focused element."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from agentcore_chrome.tab.elements import Hit
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

_READ_MS = 10_000

FieldKind = Literal["text", "rich", "code", "fixed", "choice", "check", "file", "other"]

FORMATS = {
    "date": "YYYY-MM-DD",
    "time": "HH:MM",
    "datetime-local": "YYYY-MM-DDTHH:MM",
    "month": "YYYY-MM",
    "week": "YYYY-Www",
    "color": "#rrggbb",
    "range": "a number",
    "number": "a number",
}
"""Formats of the fields that do not accept arbitrary text, by type."""


@dataclass(frozen=True, slots=True)
class FieldState:
    """The current state of a field.

    Attributes:
        kind: How text is entered into it.
        input_type: `type` of an input, else the tag.
        described: A readable description, such as `textarea "Comment"`.
        text: Its content, or the visible lines of an editor; None: secret or unknown.
        complaint: The browser's validation message for its value.
        is_page: True if it is the page itself: nothing has the focus.
        role: The role that its author gave it; empty: none.
        is_read_only: True if it can be chosen from, not typed into.
        has_contents: True if there are elements in it.
    """

    kind: FieldKind
    input_type: str
    described: str
    text: str | None
    complaint: str
    is_page: bool
    role: str
    is_read_only: bool
    has_contents: bool

    @property
    def is_editable(self) -> bool:
        """True if text can be entered into it."""
        return self.kind in {"text", "rich", "code", "fixed"}


async def field_of(tab: Tab, hit: Hit) -> FieldState:
    """Return the state of a field as it was read before the action, or, if it was not, as it is now."""
    read = hit.approach.field
    return await read_field(tab, hit.locator) if read is None else _to_state(read)


async def read_field(
    tab: Tab, element: "Locator", *, settles: bool = False, timeout_ms: float = _READ_MS
) -> FieldState:
    """Return the state of a field.

    Args:
        settles: Whether it was just written to, so that an editor may have to render it first.
        timeout_ms: How long to wait for the field.
    """
    if settles:
        await tab.refs.run_to_end(element, "draw", timeout_ms=timeout_ms)
    return _to_state(await tab.refs.run(element, "readField", timeout_ms=timeout_ms))


def _to_state(found: Mapping[str, Any]) -> FieldState:
    of_editor = " of a code editor" if found["kind"] == "code" else ""
    described = f'{found["role"]} "{found["name"]}"{of_editor}' if found["name"] else f"{found['role']}{of_editor}"
    return FieldState(
        kind=found["kind"],
        input_type=found["type"],
        described=described,
        text=found["text"],
        complaint=found["complaint"],
        is_page=found["isPage"],
        role=found["ownRole"],
        is_read_only=found["isReadOnly"],
        has_contents=found["hasContents"],
    )


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of fitting a value into a field that accepts no free text."""

    is_taken: bool
    value: str
    accepts: str


async def probe_value(tab: Tab, locator: "Locator", input_type: str, value: str, timeout_ms: int) -> Probe:
    """Try a value on a copy of a field, which stays unchanged."""
    taken, made, least, most, step = await tab.refs.run(locator, "probeValue", value, timeout_ms=timeout_ms)
    accepts = FORMATS[input_type]
    if input_type == "range":
        accepts = f"a number from {least or 0} to {most or 100} in steps of {step or 1}"
    elif least or most:
        accepts += "".join([f", at least {least}" if least else "", f", at most {most}" if most else ""])
    return Probe(taken, made, accepts)
