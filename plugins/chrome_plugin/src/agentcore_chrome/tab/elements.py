"""Finding elements by selector or snapshot reference, and acting on them.

One rule for all tools: an action is carried out on exactly one element. Of the matches of a selector, those that cannot
be seen do not count; several that can be seen are an error that lists them. Tools that only read use the first match.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from agentcore.api import ToolError
from agentcore_chrome.call_limit import work_ms, work_s
from agentcore_chrome.failures import (
    COVERED,
    DISABLED,
    MOVING,
    ambiguous_selector,
    bad_selector,
    element_not_actionable,
    element_not_found,
    extract_headline,
    find_blocking_reason,
    is_bad_selector,
    is_driver_error,
    is_driver_timeout,
)
from agentcore_chrome.tab.refs import Approach, Described
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Frame, Locator

T = TypeVar("T")

ELEMENT_MS = 5_000
"""How long an action waits for its element to be there and usable, if its caller sets no limit."""

_REF = re.compile(r"(?:aria-ref=|ref=|@)?((?:f\d+)?e\d+)")


_LOOK_S = 5
_TOLD_CHARS = 100
_ALIKE = 5
_OBSTACLE_S = 0.1
_HIDDEN = "it cannot be seen"
_FRAMES_MAX = 20
"""How many frames are searched for what the page itself does not have."""

_DESCRIBED_MAX = 10
"""How many of several matches are described."""

_FOUND_BY_ROLE = frozenset(("button", "link", "textbox", "checkbox", "radio", "tab", "menuitem", "switch", "combobox"))
"""Roles that the driver assigns to the same elements as a snapshot does."""

_MAY_BE_INERT = (None, COVERED)


@dataclass(frozen=True, slots=True)
class Target:
    """An element as named by a caller: a selector, or a reference of a snapshot (`e12`)."""

    text: str

    @property
    def ref(self) -> str | None:
        """The reference, if it is one; no HTML element has such a name."""
        found = _REF.fullmatch(self.text.strip())
        return found.group(1) if found else None


@dataclass(frozen=True, slots=True)
class Hit:
    """The one element that an action is carried out on.

    Args:
        selector: The selector or reference by which the caller named it.
        approach: What was read of it before the action.
    """

    locator: "Locator"
    selector: str
    approach: Approach

    @property
    def description(self) -> str:
        """Its role and name, such as `button "Send"`."""
        return self.approach.seen.description

    @property
    def is_operated_by_label(self) -> bool:
        """True if it is hidden, and a click on its visible label operates it."""
        return self.approach.seen.is_operated_by_label


async def locate_element(tab: Tab, target: Target, *, must_be_seen: bool = False) -> "Locator":
    """Return the named element for reading; if several match a selector, the first one.

    Args:
        must_be_seen: Whether matches that cannot be seen are skipped, where one can be.
    Raises:
        ToolError: `stale_ref`; `element_not_found`: the page is empty, because it has not been navigated yet.
    """
    if target.ref is not None:
        found = await tab.refs.find_element(tab.page, target.ref)
        if found is None:
            raise await _stale_ref_error(tab, target.ref)
        return found[0]
    await raise_if_blank(tab, target.text)
    matches = tab.page.locator(target.text)
    visible = matches.filter(visible=True)
    return visible.first if must_be_seen and await visible.count() else matches.first


async def locate_for_action(tab: Tab, target: Target, wait_ms: int, *, reads_field: bool = False) -> Hit:
    """Return the one element that an action on the target means.

    Args:
        wait_ms: How long to wait for a match that can be seen.
        reads_field: True if the action needs the state of the element as a field.
    Raises:
        ToolError: `ambiguous_selector`: several can be seen; `stale_ref`: also if the element has another role or name
            than was last reported; `element_not_found`: the page is empty.
    """
    if target.ref is not None:
        return await _locate_by_ref(tab, target.ref, reads_field=reads_field)
    await raise_if_blank(tab, target.text)
    matches = tab.page.locator(target.text)
    visible = matches.filter(visible=True)
    find = partial(_find_single_match, tab, target.text, matches, visible, reads_field=reads_field)
    if (found := await find()) is not None:
        return found
    # An element may appear, or become visible, up to the limit; each wait ends as soon as there is something to check.
    await matches.first.wait_for(state="attached", timeout=wait_ms)
    while (found := await find()) is None:
        await visible.first.wait_for(state="attached", timeout=work_ms(wait_ms))
    return found


async def _find_single_match(
    tab: Tab, selector: str, matches: "Locator", visible: "Locator", *, reads_field: bool
) -> Hit | None:
    """Return the one match that an action means; None: there is none yet, or several that cannot be seen yet."""
    seen, count = await asyncio.gather(visible.count(), matches.count())
    if seen > 1:
        raise ambiguous_selector(selector, seen, _list_with_refs(tab, await _describe_matches(tab, visible, seen)))
    # The first one, not the only one: what the action itself adds to the page, or hides, must not interrupt it.
    if count == 1:
        return await _approach(tab, matches.first, selector, reads_field=reads_field)
    if seen == 1:
        return await _approach(tab, visible.first, selector, reads_field=reads_field)
    hidden = await _describe_matches(tab, matches, count)
    operable = [number for number, one in enumerate(hidden) if one is not None and one.is_operated_by_label]
    if len(operable) > 1:
        raise ambiguous_selector(selector, len(operable), _list_with_refs(tab, [hidden[at] for at in operable]))
    return await _approach(tab, matches.nth(operable[0]), selector, reads_field=reads_field) if operable else None


async def _describe_matches(tab: Tab, matches: "Locator", count: int) -> list[Described | None]:
    """Return the first matches as they are now; None for one that has gone meanwhile."""

    async def describe(match: "Locator") -> Described | None:
        return await tab.refs.describe_element(match) if await match.count() else None

    return await asyncio.gather(*(describe(matches.nth(at)) for at in range(min(count, _DESCRIBED_MAX))))


async def _approach(tab: Tab, locator: "Locator", selector: str, *, reads_field: bool) -> Hit:
    return Hit(locator, selector, await tab.refs.approach(locator, reads_field=reads_field))


async def _list_in_frames(tab: Tab, target: Target) -> list[str]:
    """Return what a selector that matches nothing in the page itself matches in its frames, with references.

    It is not acted on: a frame may be an advertisement that has a button of the same name.
    """
    if target.ref is not None:
        return []

    async def look(frame: "Frame") -> list[str]:
        visible = frame.locator(target.text).filter(visible=True)
        count = await visible.count()
        if not count or not await (await frame.frame_element()).is_visible():
            return []
        found = await _describe_matches(tab, visible, count)
        return _list_with_refs(tab, found, await tab.refs.find_way(frame))

    nothing: list[str] = []
    frames = tab.page.frames[1 : _FRAMES_MAX + 1]
    found = await asyncio.gather(*(tab.run_or_default(partial(look, frame), nothing) for frame in frames))
    return [line for lines in found for line in lines][:_DESCRIBED_MAX]


def _list_with_refs(tab: Tab, found: Sequence[Described | None], frames: tuple[str, ...] = ()) -> list[str]:
    """Return a line for each element, with a reference that other calls accept.

    Args:
        frames: The keys of the frames that lead to them.
    """
    listed = [one for one in found if one is not None]
    refs = [tab.refs.get_or_create_ref(one.key, frames, one.description, one.description) for one in listed]
    lines = [f"{one.description} [ref={ref}]" for one, ref in zip(listed, refs, strict=True)]
    tab.refs.mark_reported("\n".join(lines))
    return lines


async def _locate_by_ref(tab: Tab, ref: str, *, reads_field: bool) -> Hit:
    found = await tab.refs.approach_element(tab.page, ref, reads_field=reads_field)
    if found is None:
        raise await _stale_ref_error(tab, ref)
    locator, approach = found
    reported = tab.refs.find_reported(ref)
    now = approach.seen.description
    if reported is not None and reported.description != now:
        raise await _stale_ref_error(tab, ref, now)
    return Hit(locator, ref, approach)


async def read_element(
    tab: Tab, target: Target, timeout_ms: int, work: Callable[["Locator"], Awaitable[T]], *, must_be_seen: bool = False
) -> T:
    """Run `work`, which only reads, on an element once it exists.

    Args:
        must_be_seen: Whether matches that cannot be seen are skipped, where one can be.
    Raises:
        ToolError: `element_not_found`, `element_not_actionable`, `stale_ref`, `invalid_arguments`.
    """

    async def run() -> T:
        return await work(await locate_element(tab, target, must_be_seen=must_be_seen))

    try:
        return await tab.run_action(run, timeout_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not isinstance(exc, TimeoutError):
            raise
        raise await _explain_failed_reading(tab, target, timeout_ms, exc) from exc


async def act_on_element(
    tab: Tab,
    target: Target,
    work: Callable[[Hit], Awaitable[T]],
    *,
    wait_ms: int,
    limit_ms: int | None = None,
    reads_field: bool = False,
) -> T:
    """Run `work` on the one element that a target means, once it is there.

    Args:
        wait_ms: How long to wait for it.
        limit_ms: Limit of everything, for work that takes longer than its element; the wait's if left out.
        reads_field: True if `work` needs the state of the element as a field.
    Raises:
        ToolError: `ambiguous_selector`, `element_not_found`, `element_not_actionable`, `stale_ref`,
            `invalid_arguments`.
    """
    hit: Hit | None = None

    async def run() -> T:
        nonlocal hit
        hit = await locate_for_action(tab, target, work_ms(wait_ms), reads_field=reads_field)
        return await work(hit)

    try:
        return await tab.run_action(run, wait_ms if limit_ms is None else limit_ms)
    except Exception as exc:
        if not is_driver_error(exc) and not isinstance(exc, TimeoutError):
            raise
        raise await _explain_failed_action(tab, target, hit, wait_ms, exc) from exc


async def wait_until_reachable(tab: Tab, hit: Hit, wait_ms: int) -> None:
    """Wait until a field can be seen and nothing is above it, as a user needs it to fill it.

    Raises:
        ToolError: `element_not_actionable`.
    """
    loop = asyncio.get_running_loop()
    until = loop.time() + work_s(wait_ms / 1000)
    obstacles = hit.approach.obstacles or await tab.refs.find_obstacles(hit.locator)
    while True:
        if not obstacles.is_hidden and not obstacles.cover:
            return
        if loop.time() >= until:
            reason = _HIDDEN if obstacles.is_hidden else f"{obstacles.cover} covers it"
            raise element_not_actionable(
                hit.selector, reason, description=hit.description, tabId=tab.tab_id, url=tab.page.url
            )
        await asyncio.sleep(_OBSTACLE_S)
        obstacles = await tab.refs.find_obstacles(hit.locator)


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


async def _stale_ref_error(tab: Tab, ref: str, now: str = "") -> ToolError:
    """Return the error for an unusable reference, with similar elements of the current page.

    Args:
        now: The role and name that its element has now; empty: the element is gone.
    """
    reported = tab.refs.find_reported(ref)
    if reported is None:
        message = f"no snapshot of this page gave the reference {ref!r}; {tab.advice.reference}"
        return ToolError("stale_ref", message, ref=ref)
    page = await tab.run_or_default(lambda: tab.read_page_tree(work_s(_LOOK_S) * 1000), None, work_s(_LOOK_S))
    lines = page.lines if page is not None else ()
    if now:
        was = f"{ref!r} was {reported.description[:_TOLD_CHARS]}, and is {now[:_TOLD_CHARS]} now"
        alike = [line.ref for line in lines if line.ref and line.description == reported.description]
        hint = _describe_alike(tab, reported.description, alike)
    else:
        was = f"{ref!r} was {reported.head[:_TOLD_CHARS]}, which is gone from the page"
        alike = [line.ref for line in lines if line.ref and line.head == reported.head]
        hint = _describe_alike(tab, reported.head, alike)
    tab.refs.mark_reported(" ".join(f"[ref={one}]" for one in alike))
    return ToolError("stale_ref", f"{was}; {hint}", ref=ref)


def _describe_alike(tab: Tab, told: str, alike: list[str]) -> str:
    if not alike:
        return tab.advice.look_again
    if len(alike) == 1:
        role, _, name = told.partition(" ")
        if not name or role not in _FOUND_BY_ROLE:
            return f"{alike[0]!r} is like it now"
        return f"{alike[0]!r} is like it now; where the page makes it anew all the time, use 'role={role}[name={name}]'"
    shown = ", ".join(map(repr, alike[:_ALIKE])) + (" …" if len(alike) > _ALIKE else "")
    return f"{len(alike)} are called like it now ({shown}): {tab.advice.tell_apart}"


async def raise_if_blank(tab: Tab, selector: str) -> None:
    """Refuse to wait for something in a page that has gone nowhere.

    Raises:
        ToolError: `element_not_found`.
    """
    # A popup is blank until its address answers; waiting in any other blank page is futile.
    if tab.page.url != "about:blank" or tab.opener is not None or await tab.refs.ask_page(tab.page, "hasContent"):
        return
    message = f"the page is empty (about:blank), so nothing matches {selector!r}; go to an address first"
    raise ToolError("element_not_found", message, selector=selector, url=tab.page.url)


async def _explain_failed_reading(tab: Tab, target: Target, timeout_ms: int, error: Exception) -> ToolError:
    named = {"tabId": tab.tab_id, "url": tab.page.url}
    if is_bad_selector(error):
        return bad_selector(target.text, error)
    if not is_driver_timeout(error):
        return element_not_actionable(target.text, extract_headline(error), **named)
    if not _was_resolved(error) and not await _count_matches(tab, target):
        return element_not_found(target.text, timeout_ms, await _list_in_frames(tab, target), **named)
    reason = find_blocking_reason(error) or f"it was not ready within {timeout_ms} ms"
    return element_not_actionable(target.text, reason, **named)


async def _explain_failed_action(
    tab: Tab, target: Target, hit: Hit | None, wait_ms: int, error: Exception
) -> ToolError:
    named = {"tabId": tab.tab_id, "url": tab.page.url}
    if is_bad_selector(error):
        return bad_selector(target.text, error)
    if not is_driver_timeout(error):
        return element_not_actionable(target.text, extract_headline(error), **named)
    if hit is None:
        # A slow machine may use up the limit before the driver checks even once.
        count = await _count_matches(tab, target)
        if not count:
            return element_not_found(target.text, wait_ms, await _list_in_frames(tab, target), **named)
        return element_not_actionable(target.text, f"none of the {count} elements that match can be seen", **named)
    reason = await _describe_obstacle(tab, hit, find_blocking_reason(error))
    reason = reason or f"it was not ready within {wait_ms} ms"
    return element_not_actionable(target.text, reason, description=hit.description, **named)


async def _describe_obstacle(tab: Tab, hit: Hit, reason: str | None) -> str | None:
    """Return why an element cannot be used, with the name of what covers or disables it."""
    if reason in _MAY_BE_INERT and await tab.run_or_default(
        lambda: tab.refs.ask(hit.locator, "isInert"), default=False
    ):
        return "the page holds it still (inert) while a menu, list or dialog is open; finish or close that first"
    obstacles = await tab.run_or_default(lambda: tab.refs.find_obstacles(hit.locator), None)
    if obstacles is None:
        return reason
    if obstacles.is_hidden and reason is None:
        return _HIDDEN
    if obstacles.cover and reason in {None, COVERED, MOVING}:
        return f"{obstacles.cover} covers it"
    if reason == DISABLED and obstacles.disabler:
        return f"{reason}, as {obstacles.disabler} is"
    return reason


def _was_resolved(error: Exception) -> bool:
    return "locator resolved to" in str(error)


async def _count_matches(tab: Tab, target: Target) -> int:
    async def count() -> int:
        return (
            await (await locate_element(tab, target)).count()
            if target.ref
            else await tab.page.locator(target.text).count()
        )

    return await tab.run_or_default(count, default=0)
