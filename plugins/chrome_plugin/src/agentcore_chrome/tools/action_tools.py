"""Tools of `browser` that act on the page as a user does: clicking, typing, keys, scrolling, hovering, dragging."""

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from agentcore.api import Field, ToolContext, ToolError, ToolResult, also_called, tool
from agentcore_chrome.call_limit import work_ms
from agentcore_chrome.tab.clicking import click_element, click_point, hover_element
from agentcore_chrome.tab.elements import (
    ELEMENT_MS,
    Hit,
    Target,
    act_on_element,
    act_without_element,
    locate_for_action,
)
from agentcore_chrome.tab.fields import read_field
from agentcore_chrome.tab.keys import parse_chord, press_chord, unknown_key
from agentcore_chrome.tab.pointing import Point, find_shown_picture, locate_point
from agentcore_chrome.tab.scrolling import Direction, Scroll, scroll_page
from agentcore_chrome.tab.tab import Tab
from agentcore_chrome.tools import result_types as results
from agentcore_chrome.tools.action_report import Brief
from agentcore_chrome.tools.arguments import (
    DEFAULT_MS,
    PAGE,
    TIMEOUT_NAMES,
    ActedElement,
    ElementLimitMs,
    HiddenElementLimitMs,
    LimitMs,
    PageId,
    PageSelector,
    ShowChanges,
    element_field,
    for_programs,
    known_field,
)
from agentcore_chrome.tools.session_pages import SessionPages, acts_on_page
from agentcore_chrome.tools.tab_result import ToolOutput
from agentcore_chrome.tools.text_input import Written, write_at_focus, write_into

_VALUE_CHARS = 1000

Button = Literal["left", "middle", "right"]
Modifier = Literal["Shift", "Control", "Alt", "Meta"]


@acts_on_page
async def browser_click(
    pages: SessionPages,
    ctx: ToolContext,
    selector: Annotated[PageSelector | None, element_field("CSS selector, or a reference such as e12.")] = None,
    x: Annotated[
        float | None,
        known_field(
            "With y, instead of a selector: pixels of the last screenshot that the model was shown; from programs, of "
            "the window.",
            ge=0,
            le=100_000,
        ),
    ] = None,
    y: Annotated[float | None, Field(ge=0, le=100_000)] = None,
    button: Button = "left",
    doubleClick: bool = False,
    modifiers: Annotated[list[Modifier], known_field("Keys held meanwhile.", max_length=2000)] = [],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: ElementLimitMs = None,
) -> ToolResult[results.ClickedPage]:
    """Click an element, or a point of the last screenshot (x and y)."""
    is_place = x is not None and y is not None
    if (selector is None) != is_place:
        raise ToolError("invalid_arguments", "give either selector, or x and y")
    wait_ms = timeoutMs or ELEMENT_MS
    how = {"button": button, "click_count": 2 if doubleClick else 1}

    async def click(tab: Tab) -> ToolOutput:
        if selector is None:
            return await _click_picture(ctx, tab, (x or 0, y or 0), how, wait_ms)

        async def click_hit(hit: Hit) -> ToolOutput:
            await click_element(tab, hit, work_ms(wait_ms), modifiers=modifiers, **how)
            return _describe_click(tab, hit.description, hit.description)

        return await act_on_element(tab, Target(selector), click_hit, wait_ms=wait_ms)

    return await pages.on_page(ctx, click, snapshot=snapshot)


async def _click_picture(
    ctx: ToolContext, tab: Tab, pixel: tuple[float, float], how: dict[str, Any], wait_ms: int
) -> ToolOutput:
    async def click() -> tuple[str, Point]:
        point = await locate_point(tab, find_shown_picture(ctx, tab), *pixel)
        return await click_point(tab, point.x, point.y, how), point

    element, point = await act_without_element(tab, wait_ms, "click", click)
    return _describe_click(tab, f"{element} at {point.description}", element)


def _describe_click(tab: Tab, what: str, element: str) -> ToolOutput:
    return ToolOutput(f"Clicked {what}.", {"clicked": True, "element": element, "url": tab.page.url})


@acts_on_page
async def browser_type(
    pages: SessionPages,
    ctx: ToolContext,
    text: Annotated[str, known_field("What to type.", max_length=100_000)],
    selector: Annotated[
        PageSelector | None,
        element_field("The field: CSS selector or reference. Left out, what has the focus, at its caret."),
    ] = None,
    delay: Annotated[int, for_programs("Milliseconds between the keys.", ge=0, le=1000)] = 0,
    submit: Annotated[
        bool, Field(description="Press Enter after.", json_schema_extra=also_called(ignored=["slowly"]))
    ] = False,
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: Annotated[
        int | None,
        known_field(
            "Limit in ms; left out, 5,000 for the field to be there and usable, 30,000 and what the delays take for "
            "the typing.",
            names=TIMEOUT_NAMES,
            ge=1,
            le=300_000,
        ),
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
    wait_ms = timeout_ms or ELEMENT_MS
    if selector is None:
        written = await act_without_element(tab, limit_ms, "type", lambda: write_at_focus(tab, text, delay_ms))
        return _describe_typing(tab, text, written, f"what has the focus, {written.into}", written.into)

    async def write(hit: Hit) -> ToolOutput:
        written = await write_into(tab, hit, text, delay_ms, wait_ms=work_ms(wait_ms), timeout_ms=limit_ms)
        return _describe_typing(tab, text, written, hit.description, hit.description)

    return await act_on_element(tab, Target(selector), write, wait_ms=wait_ms, limit_ms=limit_ms, reads_field=True)


def _describe_typing(tab: Tab, text: str, written: Written, into: str, element: str) -> ToolOutput:
    how = f"Inserted {len(text)} characters at once" if written.at_once else f"Typed {len(text)} characters"
    return ToolOutput(
        " ".join(filter(None, [f"{how} into {into}.", written.note])),
        {
            "typed": len(text),
            "element": element,
            "value": _shown_value(written.value),
            "note": written.note,
            "url": tab.page.url,
        },
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
        PageSelector | None, element_field("The area to scroll, or an element in it; left out, the page.")
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
    requested = Scroll(direction, amount, selector, to, text)
    brief = Brief(sought=text)
    return await pages.on_page(ctx, lambda tab: scroll_to(tab, requested, timeoutMs), snapshot=None, brief=brief)


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
    selector: ActedElement,
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: HiddenElementLimitMs = None,
) -> ToolResult[results.HoveredElement]:
    """Move the mouse over an element."""
    wait_ms = timeoutMs or ELEMENT_MS

    async def hover(tab: Tab) -> ToolOutput:
        async def hover_hit(hit: Hit) -> ToolOutput:
            await hover_element(tab, hit, work_ms(wait_ms))
            fields = {"selector": selector, "element": hit.description}
            return ToolOutput(f"The mouse is over {hit.description}.", fields)

        return await act_on_element(tab, Target(selector), hover_hit, wait_ms=wait_ms)

    return await pages.on_page(ctx, hover, snapshot=snapshot)


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
    chord = parse_chord(key, modifiers)

    async def press() -> str:
        focused = await read_field(tab, await tab.refs.find_focused(tab.page))
        await press_chord(tab, chord)
        return focused.described

    try:
        element = await act_without_element(tab, timeout_ms, "press the key", press)
    except ToolError as exc:
        if "Unknown key" in str(exc):
            raise unknown_key(key) from exc
        raise
    fields = {"key": key, "modifiers": list(modifiers), "element": element, "url": tab.page.url}
    return ToolOutput(f"Pressed {'+'.join(chord)} in {element}.", fields)


@acts_on_page
async def browser_drag(
    pages: SessionPages,
    ctx: ToolContext,
    source: Annotated[
        PageSelector,
        Field(
            description="What to drag: a selector or a reference.",
            json_schema_extra=also_called("startRef", "startSelector", "startTarget", ignored=["startElement"]),
        ),
    ],
    destination: Annotated[
        PageSelector,
        Field(
            description="Where to drop it: a selector or a reference.",
            json_schema_extra=also_called("endRef", "endSelector", "endTarget", ignored=["endElement"]),
        ),
    ],
    snapshot: ShowChanges = None,
    resourceId: PageId = None,
    timeoutMs: ElementLimitMs = None,
) -> ToolResult[results.DraggedElement]:
    """Drag one element onto another."""

    wait_ms = timeoutMs or ELEMENT_MS

    async def drag(tab: Tab) -> ToolOutput:
        async def drag_hit(dragged: Hit) -> ToolOutput:
            onto = await locate_for_action(tab, Target(destination), work_ms(wait_ms))
            await dragged.locator.drag_to(onto.locator, timeout=work_ms(wait_ms))
            fields = {"dragged": True, "element": dragged.description, "onto": onto.description}
            return ToolOutput(f"Dragged {dragged.description} onto {onto.description}.", fields)

        return await act_on_element(tab, Target(source), drag_hit, wait_ms=wait_ms)

    return await pages.on_page(ctx, drag, snapshot=snapshot)
