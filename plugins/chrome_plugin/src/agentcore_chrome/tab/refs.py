"""References of snapshots (`e12`): each belongs to one element while that exists, and is never reused.

A selector engine, which the driver evaluates in every frame in a world isolated from the page's scripts, numbers the
elements that it lists; a mark of the document makes the numbers unique. `Refs` assigns short names to them.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from agentcore.api import ToolError
from agentcore_chrome.failures import is_closed, is_driver_error
from agentcore_chrome.tab.in_page import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import Frame, FrameLocator, Locator, Page, Playwright

T = TypeVar("T")

ENGINE = "agentcore-ref"
"""The selector engine's name."""

_KEPT = 50_000
_ANSWER_MS = 10_000
_RESULT_S = 0.02
_REPORTED_REF = re.compile(r"\[ref=(e\d+)\]")


@dataclass(frozen=True, slots=True)
class Appearance:
    """How an element appears: the beginning of its line in a tree, and its role and name alone."""

    head: str
    description: str


@dataclass(slots=True)
class _Element:
    """Where an element is, how it appeared when it was last read, and when it was last reported to a caller."""

    key: str
    frames: tuple[str, ...]
    read: Appearance
    reported: Appearance


@dataclass(frozen=True, slots=True)
class Described:
    """An element as it is now.

    Args:
        key: Its document's mark and its number there.
        description: Its role and name.
        is_operated_by_label: True if it is hidden, and its visible label operates it.
    """

    key: str
    description: str
    is_operated_by_label: bool


@dataclass(frozen=True, slots=True)
class Approach:
    """An element that is about to be acted on, with all that the action needs to know of it, read in one go.

    Args:
        seen: The element as it is now.
        peculiarity: Why it cannot be clicked like others; see `peculiarityOf` in `clicking.js`.
        place: The middle of one without a box, from the padding edge of the nearest element that has one.
        takes_keys: True if it is the field by which an editor that renders its text itself receives keys.
        field: Its state as a field, as `readField` returns it; None: it was not requested.
        obstacles: What prevents acting on it; None: it was not requested.
    """

    seen: Described
    peculiarity: str
    place: tuple[float, ...]
    takes_keys: bool
    field: "Mapping[str, Any] | None"
    obstacles: "Obstacles | None"


@dataclass(frozen=True, slots=True)
class Obstacles:
    """What prevents acting on an element.

    Args:
        is_hidden: True if it cannot be seen, or cannot be scrolled into view.
        cover: What is above it; empty: nothing.
        disabler: What is around it and disables it; empty: nothing.
    """

    is_hidden: bool
    cover: str
    disabler: str


@dataclass(frozen=True, slots=True)
class Window:
    """The visible part of a page.

    Args:
        document: The mark of its document.
        x: How far the page is scrolled to the right, in CSS pixels.
        y: How far it is scrolled down.
        width: Its width in CSS pixels, with scroll bars.
        height: Its height in CSS pixels, with scroll bars.
        ratio: Pixels of the screen for each CSS pixel.
    """

    document: str
    x: float
    y: float
    width: float
    height: float
    ratio: float


async def register_selector_engine(playwright: "Playwright", engine: str = ENGINE) -> None:
    """Register the selector engine with the driver, for all existing and future contexts."""
    await playwright.selectors.register(engine, selector_engine(), content_script=True)


class Refs:
    """The references of one page.

    Args:
        numbers: The source of numbers; pages that share it never have the same reference.
        engine: The selector engine's name.
    """

    def __init__(self, numbers: Iterator[int], engine: str = ENGINE) -> None:
        self._numbers = numbers
        self._engine = engine
        self._short: dict[str, str] = {}
        self._elements: dict[str, _Element] = {}

    def get_or_create_ref(self, key: str, frames: tuple[str, ...], head: str, description: str) -> str:
        """Return the reference of an element that was just read.

        Args:
            key: Its document's mark and its number there.
            frames: The keys of the frames that lead to it.
            head: The beginning of its line.
            description: Its role and name.
        """
        read = Appearance(head, description)
        short = self._short.get(key)
        if short is not None:
            self._elements[short].read = read
            return short
        short = self._short[key] = f"e{next(self._numbers)}"
        self._elements[short] = _Element(key, frames, read, read)
        self._remove_oldest()
        return short

    def mark_reported(self, text: str) -> None:
        """Record that the caller knows the elements whose references are in a text as they were last read.

        Trees are also read without being reported, such as before an action, or are reported in part. A reference means
        what its caller knows of it.
        """
        for ref in _REPORTED_REF.findall(text):
            if (element := self._elements.get(ref)) is not None:
                element.reported = element.read

    def locate_in_frame(self, page: "Page", frames: tuple[str, ...], said: str) -> "Locator":
        """Return a locator for the engine's answer in a frame: an element by its key, or the result of a command."""
        where: Page | FrameLocator = page
        for key in frames:
            where = where.locator(f"{self._engine}={key}").content_frame
        return where.locator(f"{self._engine}={said}")

    def locate_below(self, locator: "Locator", said: str) -> "Locator":
        """Return a locator for the engine's answer about one element."""
        return locator.locator(f"{self._engine}={said}")

    def get_frames(self, ref: str | None) -> tuple[str, ...]:
        """Return the keys of the frames that lead to an element; none for an unknown reference."""
        element = self._elements.get(ref) if ref is not None else None
        return element.frames if element is not None else ()

    async def find_way(self, frame: "Frame") -> tuple[str, ...]:
        """Return the keys of the frames that lead to what is in a frame."""
        keys: list[str] = []
        while frame.parent_frame is not None:
            element = await frame.frame_element()
            answer = await element.query_selector(f"{self._engine}=!describe")
            keys.append(json.loads((answer and await answer.text_content()) or "{}")["key"])
            frame = frame.parent_frame
        return tuple(reversed(keys))

    async def find_element(self, page: "Page", ref: str) -> "tuple[Locator, Described] | None":
        """Return the element of a reference as it is now; None: it is gone, or never existed."""
        return await self._look_at(page, ref, self.describe_element)

    async def approach_element(self, page: "Page", ref: str, *, reads_field: bool) -> "tuple[Locator, Approach] | None":
        """Return the element of a reference for an action; None: it is gone, or never existed."""
        return await self._look_at(page, ref, partial(self.approach, reads_field=reads_field))

    async def _look_at(
        self, page: "Page", ref: str, look: "Callable[[Locator], Awaitable[T]]"
    ) -> "tuple[Locator, T] | None":
        element = self._elements.get(ref)
        if element is None:
            return None
        locator = self.locate_in_frame(page, element.frames, element.key)
        try:
            found = await look(locator) if await locator.count() else None
        except Exception as exc:
            if not element.frames or not is_driver_error(exc) or is_closed(exc):
                raise
            return None  # its frame is gone
        return None if found is None else (locator, found)

    async def ask(self, locator: "Locator", verb: str, timeout_ms: float = _ANSWER_MS) -> Any:
        """Return the engine's answer about an element, read in a world that no script of the page reaches."""
        return json.loads(await self.locate_below(locator, f"!{verb}").text_content(timeout=timeout_ms) or "null")

    async def run(self, locator: "Locator", work: str, *arguments: Any, timeout_ms: float = _ANSWER_MS) -> Any:
        """Return the result of a function of `field_operations.js`, run in a world that page scripts cannot reach."""
        return (await self.ask(locator, _name_work(work, arguments), timeout_ms)).get("value")

    async def run_to_end(self, locator: "Locator", work: str, *arguments: Any, timeout_ms: float = _ANSWER_MS) -> Any:
        """Return the result of an asynchronous function; see `run`.

        Args:
            timeout_ms: How long to wait for the element; the function sets its own limit.
        Raises:
            ToolError: `action_failed`: the function failed.
        """
        # The result follows in the element that was returned, whatever becomes of the one that was worked on.
        answer = await self.locate_below(locator, f"!{_name_work(work, arguments)}").element_handle(timeout=timeout_ms)
        try:
            while not (text := await answer.text_content()):  # noqa: ASYNC110 - the page has no event to wait for
                await asyncio.sleep(_RESULT_S)
        finally:
            await answer.dispose()
        result = json.loads(text)
        if "failure" in result:
            message = f"the page could not be worked on: {result['failure']}"
            raise ToolError("action_failed", message, url=locator.page.url)
        return result.get("value")

    async def find_focused(self, page: "Page") -> "Locator":
        """Return the focused element in any frame or shadow tree; the page's body if there is none."""
        frames: tuple[str, ...] = ()
        while True:
            found = await _read_answer(self.locate_in_frame(page, frames, "!focused"))
            if not found["isFrame"]:
                # by its key, which remains that of this element when the focus moves on
                return self.locate_in_frame(page, frames, found["key"])
            frames = (*frames, found["key"])

    async def ask_page(self, page: "Page", verb: str) -> Any:
        """Return the engine's answer about a page."""
        return await _read_answer(self.locate_in_frame(page, (), f"!{verb}"))

    async def describe_element(self, locator: "Locator") -> Described:
        """Return the element of a locator as it is now."""
        found = await _read_answer(self.locate_below(locator, "!describe"))
        return _to_described(found)

    async def approach(self, locator: "Locator", *, reads_field: bool) -> Approach:
        """Return the element of a locator as it is now, for an action.

        Args:
            reads_field: True if its state as a field is needed as well; then it is scrolled into view.
        """
        found = await _read_answer(self.locate_below(locator, f"!approach {int(reads_field)}"))
        obstacles = found.get("obstacles")
        return Approach(
            _to_described(found),
            found["peculiarity"],
            tuple(found["place"]),
            found["takesKeys"],
            found.get("field"),
            None if obstacles is None else _to_obstacles(obstacles),
        )

    async def describe_point(self, page: "Page", x: float, y: float) -> str:
        """Return role and name of what a click at a point of the window is for."""
        description: str = await _read_answer(self.locate_in_frame(page, (), f"!at {x:g} {y:g}"))
        return description

    async def read_window(self, page: "Page", towards: tuple[float, float] | None = None) -> Window:
        """Return the visible part of the page.

        Args:
            towards: A point of the document, which is scrolled into view before.
        """
        message = "!window" if towards is None else f"!window {towards[0]:g} {towards[1]:g}"
        return Window(*await _read_answer(self.locate_in_frame(page, (), message)))

    async def list_pending(self, page: "Page") -> list[str]:
        """Return the addresses of parts that have not arrived; the document is drawn without them from now on."""
        pending: list[str] = await self.ask_page(page, "pending")
        return pending

    async def find_obstacles(self, locator: "Locator") -> Obstacles:
        """Return what prevents acting on the element of a locator, which is scrolled into view."""
        return _to_obstacles(await _read_answer(self.locate_below(locator, "!obstacles")))

    def find_reported(self, ref: str) -> Appearance | None:
        """Return how an element appeared when it was last reported; None: the page never had it."""
        element = self._elements.get(ref)
        return None if element is None else element.reported

    def _remove_oldest(self) -> None:
        if len(self._elements) > _KEPT:
            oldest = next(iter(self._elements))
            del self._short[self._elements.pop(oldest).key]


async def _read_answer(answer: "Locator") -> Any:
    return json.loads(await answer.text_content(timeout=_ANSWER_MS) or "null")


def _to_described(found: Any) -> Described:
    return Described(found["key"], found["description"], found["byLabel"])


def _to_obstacles(found: Any) -> Obstacles:
    return Obstacles(found["isHidden"], found["cover"], found["disabler"])


def _name_work(work: str, arguments: tuple[Any, ...]) -> str:
    """Return the engine's command for a function; escaped, because `>>` and spaces mean something in selectors."""
    return f"run {quote(json.dumps([work, *arguments]), safe='')}"
