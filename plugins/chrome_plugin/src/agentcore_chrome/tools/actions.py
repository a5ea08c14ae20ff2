"""Actions of the `browser` tools on a page: clicking, scrolling, typing, scripts, saving files."""

import json
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from agentcore.api import ToolContext, ToolError, Workspace
from agentcore_chrome.failures import extract_headline, is_driver_error, is_driver_timeout
from agentcore_chrome.tab.elements import Target, on_element
from agentcore_chrome.tab.evaluation import VALUE_CHARS, run_script
from agentcore_chrome.tab.scrolling import Scroll, scroll_page
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools.arguments import DEFAULT_MS
from agentcore_chrome.tools.result import ToolOutput
from agentcore_chrome.tools.text_input import write_at_focus, write_into

if TYPE_CHECKING:
    from playwright.async_api import Locator

T = TypeVar("T")

_VALUE_CHARS = 1000

Button = Literal["left", "middle", "right"]
Modifier = Literal["Shift", "Control", "Alt", "Meta"]


async def click_at(tab: Tab, x: float, y: float, timeout_ms: int, *, count: int, button: Button) -> None:
    """Click a point of the window.

    Raises:
        ToolError: `action_failed`.
    """
    await act_without_element(
        tab, timeout_ms, "click", lambda: tab.page.mouse.click(x, y, click_count=count, button=button)
    )


async def scroll_to(tab: Tab, wanted: Scroll, timeout_ms: int) -> ToolOutput:
    """Scroll and describe the visible part of the area afterwards.

    Raises:
        ToolError: `element_not_found`, `stale_ref`, `action_failed`.
    """
    state = await act_without_element(tab, timeout_ms, "scroll", lambda: scroll_page(tab, wanted, timeout_ms))
    top = state["scrollTop"]
    height = state["scrollHeight"]
    window = state["clientHeight"]
    area = "The page" if state["area"] == "page" else f"The area {state['area']}"
    said = [f"{area} shows {top:,} to {min(top + window, height):,} of {height:,} pixels"]
    if state["first"]:
        said.append(f"from {state['first']!r} to {state['last']!r}")
    if state.get("moved") is False:
        said.append("nothing moved: it is at its end, or does not scroll")
    if state.get("grew", 0) > 0:
        said.append(f"it grew by {state['grew']:,} pixels, so there is more now")
    if state.get("found"):
        said.append(f"{wanted.text if wanted.to is None else wanted.to!r} is in view")
    return ToolOutput("; ".join(said) + ".", state)


async def press_key(tab: Tab, key: str, modifiers: Sequence[Modifier], timeout_ms: int) -> ToolOutput:
    """Press a key in whatever has the focus.

    Raises:
        ToolError: `invalid_arguments`: no such key; `action_failed`.
    """
    chord = "+".join([*modifiers, key])
    try:
        await act_without_element(tab, timeout_ms, "press the key", lambda: tab.page.keyboard.press(chord))
    except ToolError as exc:
        if "Unknown key" in str(exc):
            message = f"there is no key {key!r}; take a character, or a name such as Enter, Tab, ArrowDown, F5"
            raise ToolError("invalid_arguments", message, key=key) from exc
        raise
    return ToolOutput(f"Pressed {chord}.", {"key": key, "modifiers": list(modifiers), "url": tab.page.url})


def typing_ms(text: str, delay_ms: int) -> int:
    """Return the limit for typing a text if the caller gives none: the default plus the delays."""
    return DEFAULT_MS + delay_ms * len(text)


async def type_text(tab: Tab, selector: str | None, text: str, delay_ms: int, timeout_ms: int | None) -> ToolOutput:
    """Clear a field and type into it, or type into the focused element; the limit defaults to `typing_ms`.

    Raises:
        ToolError: `value_rejected`, `action_failed`, and those of acting on an element.
    """
    limit_ms = typing_ms(text, delay_ms) if timeout_ms is None else timeout_ms
    if selector is None:
        written = await act_without_element(tab, limit_ms, "type", lambda: write_at_focus(tab.page, text, delay_ms))
    else:
        write = partial(write_into, text=text, delay_ms=delay_ms, timeout_ms=limit_ms)
        written = await on_element(tab, Target(selector), limit_ms, write)
    into = f"what has the focus, {written.into}" if selector is None else repr(selector)
    how = f"Inserted {len(text)} characters at once" if written.at_once else f"Typed {len(text)} characters"
    return ToolOutput(
        " ".join(filter(None, [f"{how} into {into}.", written.note])),
        {"typed": len(text), "value": _shown_value(written.value), "note": written.note, "url": tab.page.url},
    )


def _shown_value(value: str | None) -> str | None:
    return value if value is None or len(value) <= _VALUE_CHARS else f"{value[:_VALUE_CHARS]}…"


async def hover_element(tab: Tab, selector: str, timeout_ms: int) -> ToolOutput:
    """Move the mouse over an element."""
    await on_element(tab, Target(selector), timeout_ms, lambda locator: locator.hover(timeout=timeout_ms))
    return ToolOutput(f"The mouse is over {selector!r}.", {"selector": selector})


async def act_without_element(tab: Tab, timeout_ms: int, what: str, work: Callable[[], Awaitable[T]]) -> T:
    """Run an action that needs no element, and report why it failed.

    Raises:
        ToolError: `action_failed`.
    """
    try:
        return await tab.run_action(work, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not is_driver_timeout(exc):
            raise
        reason = f"not within {timeout_ms} ms" if is_driver_timeout(exc) else extract_headline(exc)
        raise ToolError("action_failed", f"could not {what}: {reason}", retryable=True, url=tab.page.url) from exc


def save_file(workspace: Workspace, path: str, data: bytes) -> str:
    """Write a file inside a workspace root and return its path as callers use it.

    Raises:
        ToolError: Those of writing to the workspace.
    """
    target = workspace.locate(path)
    workspace.write_file(target, data, create_parents=True)
    return workspace.show(target)


async def evaluate_script(tab: Tab, script: str, timeout_ms: int) -> ToolOutput:
    """Run a script in the page.

    Raises:
        ToolError: Those of `agentcore_chrome.tab.evaluation.run_script`.
    """
    value = await run_script(tab, script, timeout_ms)
    if value.cut_text is not None:
        text = f"{value.cut_text}\n[cut: {value.length:,} characters of JSON in all]"
        return ToolOutput(text, {"value": None, "cutText": value.cut_text, "length": value.length}, is_cut=True)
    text = value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False, indent=1)
    return ToolOutput(text, {"value": value.value})


async def evaluate_with_element(tab: Tab, selector: str, script: str, timeout_ms: int) -> ToolOutput:
    """Call a script, which must be a function, with an element.

    Raises:
        ToolError: `evaluation_error`, and those of finding the element.
    """

    async def run(locator: "Locator") -> Any:
        try:
            return await locator.evaluate(script, timeout=timeout_ms)
        except Exception as exc:
            if is_driver_error(exc) and type(exc).__name__ == "Error":
                raise ToolError(
                    "evaluation_error", f"the script failed: {extract_headline(exc)}", url=tab.page.url
                ) from exc
            raise

    value = await on_element(tab, Target(selector), timeout_ms, run, acts=False)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    if len(text) > VALUE_CHARS:
        return ToolOutput(text[:VALUE_CHARS], {"value": None, "length": len(text)}, is_cut=True)
    return ToolOutput(text, {"value": value})


async def save_artifact(ctx: ToolContext, data: bytes, mime: str, name: str) -> ToolOutput:
    """Store bytes as an artifact."""
    link = await ctx.artifacts.save(data, mime=mime, name=name)
    fields = {"artifactId": link.artifact_id, "mime": mime, "sizeBytes": len(data)}
    return ToolOutput(f"Kept as artifact {link.name} ({len(data):,} bytes).", fields, (link,))
