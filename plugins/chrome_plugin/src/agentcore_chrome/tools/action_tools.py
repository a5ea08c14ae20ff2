"""Tools of `browser` that act on the page as a user does: clicking, typing, keys, scrolling, hovering, dragging."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from agentcore.api import Field, ToolContext, ToolError, ToolResult, tool
from agentcore_chrome.tab.clicking import click_element
from agentcore_chrome.tab.elements import Target, act_without_element, locate_element, on_element
from agentcore_chrome.tab.scrolling import Direction, Scroll, scroll_page
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.action_report import Brief
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    PAGE,
    LimitMs,
    PageId,
    PageSelector,
    ShowChanges,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.result import ToolOutput
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page
from agentcore_chrome.tools.text_input import write_at_focus, write_into

if TYPE_CHECKING:
    from playwright.async_api import Locator

_VALUE_CHARS = 1000

Button = Literal["left", "middle", "right"]
Modifier = Literal["Shift", "Control", "Alt", "Meta"]


@acts_on_page
async def browser_click(
    pages: SessionPages,
    ctx: ToolContext,
    selector: PageSelector | None = None,
    x: Annotated[
        float | None, known_field("Place in the window, with y, instead of a selector.", ge=0, le=100_000)
    ] = None,
    y: Annotated[float | None, Field(ge=0, le=100_000)] = None,
    button: Button = "left",
    doubleClick: bool = False,
    modifiers: Annotated[list[Modifier], known_field("Keys held meanwhile.", max_length=2000)] = [],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.ClickedPage]:
    """Click an element, or a point of the window (x and y)."""
    is_place = x is not None and y is not None
    if (selector is None) != is_place:
        raise ToolError("invalid_arguments", "give either selector, or x and y")
    count = 2 if doubleClick else 1

    async def click(tab: Tab) -> ToolOutput:
        if selector is None:
            await click_at(tab, x or 0, y or 0, timeoutMs, count=count, button=button)
            return ToolOutput(f"Clicked at {x:g}, {y:g}.", {"clicked": True, "url": tab.page.url})
        await on_element(
            tab,
            Target(selector),
            timeoutMs,
            lambda locator: click_element(locator, timeoutMs, button=button, modifiers=modifiers, click_count=count),
        )
        return ToolOutput(f"Clicked {selector!r}.", {"clicked": True, "url": tab.page.url})

    return await pages.on_page(ctx, click, snapshot=snapshot)


async def click_at(tab: Tab, x: float, y: float, timeout_ms: int, *, count: int, button: Button) -> None:
    """Click a point of the window.

    Raises:
        ToolError: `action_failed`.
    """
    await act_without_element(
        tab, timeout_ms, "click", lambda: tab.page.mouse.click(x, y, click_count=count, button=button)
    )


@acts_on_page
async def browser_type(
    pages: SessionPages,
    ctx: ToolContext,
    text: Annotated[str, known_field("What to type.", max_length=100_000)],
    selector: Annotated[
        PageSelector | None,
        known_field("The field: CSS selector or reference. Left out, what has the focus, at its caret."),
    ] = None,
    delay: Annotated[int, for_programs("Milliseconds between the keys.", ge=0, le=1000)] = 0,
    submit: Annotated[bool, Field(description="Press Enter after.")] = False,
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: Annotated[
        LimitMs | None, for_programs("Limit in milliseconds; left out, 30,000 and what the delays take.")
    ] = None,
) -> ToolResult[results.TypedText]:
    """Empty a field and type into it; without selector, type at the caret, as in editors after a click.

    Several lines are inserted as if pasted: no editor indents them again.
    """

    async def type_in(tab: Tab) -> ToolOutput:
        output = await type_text(tab, selector, text, delay, timeoutMs)
        if submit:
            await press_key(tab, "Enter", (), DEFAULT_MS)
        return output

    return await pages.on_page(ctx, type_in, snapshot=snapshot)


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


def typing_ms(text: str, delay_ms: int) -> int:
    """Return the limit for typing a text if the caller gives none: the default plus the delays."""
    return DEFAULT_MS + delay_ms * len(text)


def _shown_value(value: str | None) -> str | None:
    return value if value is None or len(value) <= _VALUE_CHARS else f"{value[:_VALUE_CHARS]}…"


@acts_on_page
async def browser_scroll(
    pages: SessionPages,
    ctx: ToolContext,
    direction: Direction = "down",
    amount: Annotated[int, known_field("Pixels.", ge=1, le=100_000_000)] = 500,
    selector: Annotated[
        PageSelector | None, known_field("The area to scroll, or an element in it; left out, the page.")
    ] = None,
    to: Annotated[
        PageSelector | None,
        known_field("Go on until this element is in view, also in grids that make rows as one scrolls."),
    ] = None,
    text: Annotated[str | None, known_field("Go on until this text is in view.", max_length=2000)] = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.ScrolledArea]:
    """Scroll the page, or the area of `selector`, by pixels, or until the element `to` or a text is in view.

    In grids that make rows as one scrolls, `to: '[aria-rowindex="4321"]'` goes straight there.
    """
    if to is not None and text is not None:
        raise ToolError("invalid_arguments", "give to or text, not both")
    wanted = Scroll(direction, amount, selector, to, text)
    brief = Brief(sought=text)
    return await pages.on_page(ctx, lambda tab: scroll_to(tab, wanted, timeoutMs), snapshot=None, brief=brief)


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


@acts_on_page
async def browser_hover(
    pages: SessionPages,
    ctx: ToolContext,
    selector: PageSelector,
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.HoveredElement]:
    """Move the mouse over an element."""
    return await pages.on_page(ctx, lambda tab: hover_element(tab, selector, timeoutMs), snapshot=snapshot)


async def hover_element(tab: Tab, selector: str, timeout_ms: int) -> ToolOutput:
    """Move the mouse over an element."""
    await on_element(tab, Target(selector), timeout_ms, lambda locator: locator.hover(timeout=timeout_ms))
    return ToolOutput(f"The mouse is over {selector!r}.", {"selector": selector})


@tool(
    effects=("egress",), open_world=True, preview=SessionPages.preview_action, resource=PAGE,
)  # fmt: skip
async def browser_press_key(
    pages: SessionPages,
    ctx: ToolContext,
    key: Annotated[
        str, Field(min_length=1, max_length=2000, description="Such as a, Enter, ArrowDown, F5, Control+k.")
    ],
    modifiers: Annotated[list[Modifier], for_programs("Keys held meanwhile.", max_length=4)] = [],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
) -> ToolResult[results.PressedKey]:
    """Press a key, or several at once, in whatever has the focus."""
    return await pages.on_page(ctx, lambda tab: press_key(tab, key, modifiers, DEFAULT_MS), snapshot=snapshot)


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


@acts_on_page
async def browser_drag(
    pages: SessionPages,
    ctx: ToolContext,
    source: Annotated[PageSelector, Field(description="What to drag: a selector or a reference.")],
    destination: Annotated[PageSelector, Field(description="Where to drop it: a selector or a reference.")],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: LimitMs = DEFAULT_MS,
) -> ToolResult[results.DraggedElement]:
    """Drag one element onto another."""

    async def drag(tab: Tab) -> ToolOutput:
        async def drag_to(locator: "Locator") -> None:
            await locator.drag_to(await locate_element(tab, Target(destination)), timeout=timeoutMs)

        await on_element(tab, Target(source), timeoutMs, drag_to)
        return ToolOutput(f"Dragged {source!r} onto {destination!r}.", {"dragged": True})

    return await pages.on_page(ctx, drag, snapshot=snapshot)
