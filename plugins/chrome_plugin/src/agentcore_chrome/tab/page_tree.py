"""A page and its frames as one tree of lines, each of which represents a node of the page while that exists."""

import asyncio
import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from agentcore_chrome.call_limit import work_s
from agentcore_chrome.failures import is_closed, is_driver_error
from agentcore_chrome.tab.in_page import listener_search
from agentcore_chrome.tab.refs import Refs

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, Locator, Page

_FRAMES = 50
_FRAMES_DEEP = 5
_FRAME_MS = 2000
_LISTENERS_MS = 1000
_ACTED_ON = 1
_FRAME = 2


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a page's tree.

    Args:
        depth: How many ancestors it has.
        key: The key of its node: the mark of its document and a number, never used for another node.
        head: Role and name.
        rest: States, then `: ` and a text, or a colon if lines follow below.
        ref: The reference, if the element can be acted on.
        description: Its role and name, whatever is around it, if it can be acted on.
    """

    depth: int
    key: str
    head: str
    rest: str
    ref: str | None = None
    description: str = ""

    @property
    def text(self) -> str:
        """The line without its indentation and reference."""
        return f"{self.head}{self._rest_without_colon}"

    @property
    def standalone_text(self) -> str:
        """The line without the colon that announces lines below."""
        ref = f" [ref={self.ref}]" if self.ref else ""
        return f"- {self.head}{ref}{self._rest_without_colon}"

    @property
    def _rest_without_colon(self) -> str:
        return self.rest if ": " in self.rest else self.rest.removesuffix(":")

    def __str__(self) -> str:
        ref = f" [ref={self.ref}]" if self.ref else ""
        return f"{' ' * self.depth}- {self.head}{ref}{self.rest}"


@dataclass(frozen=True, slots=True)
class PageTree:
    """The content of a page at one moment.

    Args:
        mark: The mark of its document; another mark means another page.
        lines: All lines, those of a frame's document below the frame's own.
        in_view: The key of the first visible line, if the page is scrolled.
    """

    url: str
    title: str
    mark: str
    lines: tuple[Line, ...]
    in_view: str | None = None


async def read_page(
    page: "Page", refs: Refs, session: "CDPSession | None", timeout_ms: float, *, deepest: int | None = None
) -> PageTree:
    """Read a whole page.

    Args:
        session: The CDP session for finding event listeners; None: they are not searched for.
        deepest: How many levels.
    """
    if session is not None:
        await refs.locate_in_frame(page, (), "!ready").text_content(timeout=timeout_ms)
        await _find_listeners(session)
    return await _read_tree(page, refs, refs.locate_in_frame(page, (), _build_walk_command(deepest)), timeout_ms)


async def read_part(
    page: "Page", refs: Refs, part: "Locator", frames: tuple[str, ...], timeout_ms: float, *, deepest: int | None = None
) -> PageTree:
    """Read the content of one element.

    Args:
        frames: The keys of the frames that lead to it.
    """
    return await _read_tree(page, refs, refs.locate_below(part, _build_walk_command(deepest)), timeout_ms, frames)


def _build_walk_command(deepest: int | None) -> str:
    return "!walk" if deepest is None else f"!walk {deepest}"


async def _find_listeners(session: "CDPSession") -> None:
    """Report elements with listeners to the selector engine; a hanging page is detected by the next step."""
    search = {"expression": listener_search(), "includeCommandLineAPI": True, "timeout": _LISTENERS_MS}
    try:
        async with asyncio.timeout(work_s(_LISTENERS_MS / 1000)):
            await session.send("Runtime.evaluate", search)
    except TimeoutError:
        return
    except Exception as exc:
        if not is_driver_error(exc) or is_closed(exc):
            raise


async def _read_tree(
    page: "Page", refs: Refs, walk: "Locator", timeout_ms: float, frames: tuple[str, ...] = ()
) -> PageTree:
    mark, found, title, in_view = await _read_json(walk, timeout_ms)
    lines = await _with_frames(page, refs, mark, found, frames)
    return PageTree(page.url, title, mark, tuple(lines), f"{mark}:{in_view}" if in_view else None)


async def _read_json(asked: "Locator", timeout_ms: float) -> Any:
    return json.loads(await asked.text_content(timeout=timeout_ms) or "null")


async def _with_frames(
    page: "Page", refs: Refs, mark: str, found: list[list[Any]], frames: tuple[str, ...], depth: int = 0
) -> list[Line]:
    """Return the lines of a document, with those of each frame below it."""
    inner = [f"{mark}:{number}" for _, number, kind, *_ in found if kind & _FRAME][:_FRAMES]
    below: dict[str, list[Line]] = {}
    if len(frames) < _FRAMES_DEEP:
        read = await asyncio.gather(*(_read_frame(page, refs, (*frames, key)) for key in inner))
        below = dict(zip(inner, read, strict=True))
    lines: list[Line] = []
    for level, number, kind, head, rest, description in found:
        key = f"{mark}:{number}"
        under = below.get(key, [])
        ref = refs.get_or_create_ref(key, frames, head, description) if kind & _ACTED_ON else None
        lines.append(Line(level + depth, key, head, f"{rest}:" if under else rest, ref, description))
        lines += [replace(one, depth=one.depth + level + 1) for one in under]
    return lines


async def _read_frame(page: "Page", refs: Refs, frames: tuple[str, ...]) -> list[Line]:
    """Return the lines of a frame; none if it does not answer or is gone."""
    try:
        mark, found, *_ = await _read_json(refs.locate_in_frame(page, frames, "!walk"), work_s(_FRAME_MS / 1000) * 1000)
    except Exception as exc:
        if not is_driver_error(exc) or is_closed(exc):
            raise
        return []
    return await _with_frames(page, refs, mark, found, frames)
