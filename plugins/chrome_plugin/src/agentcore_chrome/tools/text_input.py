"""Text input into a page, key by key or pasted at once, and a check of what the field contains afterwards."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agentcore.api import ToolError
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.failures import extract_headline, is_driver_error
from agentcore_chrome.tab.elements import Hit, wait_until_reachable
from agentcore_chrome.tab.fields import FieldState, field_of, probe_value, read_field
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

_SHOWN_CHARS = 200
_COMPARED_LINES = 2000
_CLICKED_MS = 5000
_READY_MS = 2000
_GONE_MS = 1000

_INNER = "input:not([type=hidden]), textarea, [contenteditable]:not([contenteditable=false])"


@dataclass(frozen=True, slots=True)
class Written:
    """Result of writing into a field.

    Attributes:
        into: Readable description of the field.
        at_once: True if the text was inserted as a whole.
        value: The field's content now; None if it cannot be read or is secret.
        note: What the caller has to know about it; empty: the field contains the requested text.
    """

    into: str
    at_once: bool
    value: str | None
    note: str


async def write_into(tab: Tab, hit: Hit, text: str, delay_ms: int, *, wait_ms: int, timeout_ms: int) -> Written:
    """Clear a field and write text into it.

    Args:
        wait_ms: How long to wait until the field can be used.
        timeout_ms: Limit of the typing.
    Raises:
        ToolError: `value_rejected`; `element_not_actionable`: the element accepts no text.
    """
    locator, state = await _find_editable(tab, hit, wait_ms)
    if state.kind == "fixed":
        await _set_value(tab, locator, state, text, wait_ms)
        return _describe_written(state, await read_field(tab, locator), text, at_once=True)
    await _clear_field(tab, locator, state, wait_ms)
    at_once = _is_pasted(state, text, delay_ms)
    if at_once:
        await _paste_text(tab, await tab.refs.find_focused(tab.page), state, text)
    elif state.kind == "code":
        await locator.page.keyboard.type(text, delay=delay_ms)
    else:
        await locator.press_sequentially(text, delay=delay_ms, timeout=work_ms(timeout_ms))
    return _describe_written(state, await read_field(tab, locator, settles=at_once), text, at_once=at_once)


async def fill_with(tab: Tab, hit: Hit, text: str, timeout_ms: int) -> Written:
    """Replace a field's content at once, without key events.

    Raises:
        ToolError: `value_rejected`; `element_not_actionable`: the element accepts no text.
    """
    locator, state = await _find_editable(tab, hit, timeout_ms)
    if state.kind == "fixed":
        await _set_value(tab, locator, state, text, timeout_ms)
    elif state.kind == "code" or (state.kind == "rich" and "\n" in text):
        await _clear_field(tab, locator, state, timeout_ms)
        await _paste_text(tab, await tab.refs.find_focused(tab.page), state, text)
    else:
        await locator.fill(text, timeout=timeout_ms)
    after = await read_field(tab, locator, settles=state.kind in {"code", "rich"})
    return _describe_written(state, after, text, at_once=True)


async def write_at_focus(tab: Tab, text: str, delay_ms: int) -> Written:
    """Insert text at the caret of the focused element, keeping its content.

    Raises:
        ToolError: `element_not_actionable`: what has the focus accepts no text.
    """
    element = await tab.refs.find_focused(tab.page)
    state = await read_field(tab, element)
    if state.is_read_only or not (state.is_editable or state.role in _TEXT_ROLES):
        raise _nothing_to_type_into(state)
    at_once = _is_pasted(state, text, delay_ms)
    if at_once:
        await _paste_text(tab, element, state, text)
    else:
        await tab.page.keyboard.type(text, delay=delay_ms)
    try:
        after = await read_field(tab, element, settles=at_once, timeout_ms=_GONE_MS)
    except Exception as exc:
        if not is_driver_error(exc) or await element.count():
            raise
        return Written(state.described, at_once, None, "The field has gone from the page since.")
    return _describe_written(state, after, text, at_once=at_once, before=state.text or "")


async def append_text(tab: Tab, hit: Hit, text: str, *, wait_ms: int, timeout_ms: int) -> None:
    """Type text at the end of a field's content.

    Raises:
        ToolError: `element_not_actionable`: the element accepts no text, is hidden or covered.
    """
    locator, _ = await _find_editable(tab, hit, wait_ms)
    await locator.focus(timeout=wait_ms)
    await tab.refs.ask(locator, "caretAtEnd", wait_ms)
    await locator.press_sequentially(text, timeout=work_ms(timeout_ms))


async def _find_editable(tab: Tab, hit: Hit, timeout_ms: int) -> "tuple[Locator, FieldState]":
    """Return the editable field, once a user can reach it: the element itself, or the one inside it."""
    locator, state = await _find_field(tab, hit, timeout_ms)
    if locator is not hit.locator:
        hit = replace(hit, locator=locator, approach=await tab.refs.approach(locator, reads_field=True))
    # the keyboard input of an editor, which draws the text elsewhere, cannot be seen
    if state.kind != "code" and not hit.approach.takes_keys:
        await wait_until_reachable(tab, hit, timeout_ms)
    return locator, state


async def _find_field(tab: Tab, hit: Hit, timeout_ms: int) -> "tuple[Locator, FieldState]":
    locator = hit.locator
    state = await field_of(tab, hit)
    if state.is_editable:
        if state.is_read_only and await _remains_read_only(tab, locator, timeout_ms):
            raise _not_editable(state, "it is read-only; click it, in case it opens something to choose from")
        return locator, state
    if reason := _find_other_way(tab, state):
        raise _not_editable(state, reason)
    inner = locator.locator(_INNER)
    if await inner.count() == 1 or (await inner.count() and "-" in state.input_type):  # custom element
        state = await read_field(tab, inner.first)
        if state.is_editable:
            return inner.first, state
    raise _not_editable(state, f"it takes no text; {tab.advice.no_field}")


def _find_other_way(tab: Tab, state: FieldState) -> str:
    """Return how a field that is not filled with text is operated; empty: no other way is known."""
    match state.kind:
        case "choice":
            return f"it is a choice; {tab.advice.choice}"
        case "check":
            return f"it is a check box; {tab.advice.check}"
        case "file":
            return f"it takes files; {tab.advice.files}"
        case _:
            return ""


async def _remains_read_only(tab: Tab, locator: "Locator", timeout_ms: int) -> bool:
    """True if a focused field stays read-only; scripts are given some time to make it editable."""
    await locator.focus(timeout=timeout_ms)
    return bool(await tab.refs.run_to_end(locator, "staysReadOnly", min(timeout_ms // 2, _READY_MS)))


_TEXT_ROLES = frozenset(("textbox", "searchbox", "combobox", "spinbutton"))
"""Roles of what takes text by handling keys itself."""


def _nothing_to_type_into(state: FieldState) -> ToolError:
    focused = "nothing has the focus" if state.is_page else f"what has the focus, {state.described}, takes no text"
    message = f"{focused}; name the field's selector, or click it first. browser_press_key sends single keys"
    return ToolError("element_not_actionable", message, focused=state.described)


def _not_editable(state: FieldState, reason: str) -> ToolError:
    return ToolError("element_not_actionable", f"the element is a {state.described}: {reason}", reason=reason)


async def _set_value(tab: Tab, locator: "Locator", state: FieldState, text: str, timeout_ms: int) -> None:
    probe = await probe_value(tab, locator, state.input_type, text, timeout_ms)
    try:
        if probe.is_taken:
            await locator.fill(probe.value, timeout=timeout_ms)
            return
    except Exception as exc:
        if "Malformed value" not in str(exc):
            raise
        raise _value_rejected(state, text, probe.accepts, f": {extract_headline(exc)}") from exc
    raise _value_rejected(state, text, probe.accepts, "")


def _value_rejected(state: FieldState, text: str, accepts: str, why: str) -> ToolError:
    return ToolError(
        "value_rejected",
        f"the {state.described} ({state.input_type}) does not take {text!r}{why}. It takes {accepts}; "
        f"it holds {state.text!r} still",
        value=text,
        accepts=accepts,
    )


async def _clear_field(tab: Tab, locator: "Locator", state: FieldState, timeout_ms: int) -> None:
    if state.kind != "code":
        await locator.fill("", timeout=timeout_ms)
        return
    # A code editor contains more than its input field and the lines it renders: clear it with keys.
    await locator.focus(timeout=timeout_ms)
    if (await read_field(tab, await tab.refs.find_focused(tab.page))).kind != "code":
        await locator.click(timeout=min(timeout_ms, _CLICKED_MS))
    await locator.page.keyboard.press("ControlOrMeta+a")
    await locator.page.keyboard.press("Delete")


def _is_pasted(state: FieldState, text: str, delay_ms: int) -> bool:
    """True if a user would paste it: code, or several lines, which editors would indent again after Enter."""
    if delay_ms:
        return False
    takes_lines = state.kind == "rich" or state.input_type == "textarea"
    return state.kind == "code" or (takes_lines and "\n" in text.rstrip("\n"))


async def _paste_text(tab: Tab, element: "Locator", state: FieldState, text: str) -> None:
    """Insert text as one input event, or as a paste event in editors that handle those."""
    if not text:
        return
    is_taken = state.kind in {"code", "rich"} and await tab.refs.run(element, "paste", text)
    if not is_taken:
        await tab.page.keyboard.insert_text(text)


def _describe_written(
    state: FieldState, after: FieldState, text: str, *, at_once: bool, before: str | None = None
) -> Written:
    value = after.text if after.kind in {"text", "fixed"} and after.text is not None else None
    notes = [
        _describe_difference(after, text, before),
        after.complaint and f"The browser says of it: {after.complaint}",
    ]
    return Written(state.described, at_once, value, " ".join(filter(None, notes)))


def _describe_difference(after: FieldState, text: str, before: str | None) -> str:
    """Describe how a field's content differs from the requested text; empty: it does not."""
    if after.text is None:
        return ""
    requested = text.replace("\r\n", "\n")
    found = after.text
    if found == requested or (before is not None and requested in found):
        return ""
    if after.kind in {"code", "rich"}:
        return _describe_line_difference(requested.split("\n"), found.split("\n"), is_all=before is None)
    if not found:
        return "It is empty again: the page took the text for itself; look at the page to see what became of it."
    return f"It holds {_shorten(found)!r} now."


def _describe_line_difference(wanted: list[str], found: list[str], *, is_all: bool) -> str:
    """Compare with the visible lines; the first line of text inserted at a caret may have content before it."""
    lines = [line.replace("\u00a0", " ").rstrip() for line in wanted[:_COMPARED_LINES] if line.strip()]
    rows = [row.rstrip() for row in found if row.strip()]
    starts = 0 if is_all else 1
    strange = [line for line in lines[:starts] if not any(line in row for row in rows)]
    strange += [line for line in lines[starts:] if not any(_is_shown(line, row) for row in rows)]
    shown = {row.strip(): row for row in rows}
    moved = [line for line in strange if line.strip() in shown]
    if moved:
        return (
            f"{len(moved)} of {len(lines)} lines are indented in another way than they were given, the first: "
            f"{_shorten(moved[0])!r} is {_shorten(shown[moved[0].strip()])!r}."
        )
    if strange and len(strange) == len(lines):
        in_view = "\n".join(rows)
        return f"What came out cannot be read back; what is in view: {_shorten(in_view)!r}."
    return f"{len(strange)} of {len(lines)} lines are not in view, and were not compared." if strange else ""


def _is_shown(line: str, row: str) -> bool:
    if line.lstrip(" ").startswith("\t"):  # editors render tabs as spaces
        return row.strip().startswith(line.strip())
    return row.startswith(line)


def _shorten(text: str) -> str:
    return text if len(text) <= _SHOWN_CHARS else f"{text[:_SHOWN_CHARS]}…"
