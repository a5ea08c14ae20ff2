"""References of snapshots (`e12`): each belongs to one element while that exists, and is never reused.

A selector engine, which the driver evaluates in every frame in a world isolated from the page's scripts, numbers the
elements that it lists; a mark of the document makes the numbers unique. `Refs` assigns short names to them.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentcore_chrome.failures import is_closed, is_driver_error
from agentcore_chrome.tab.in_page import selector_engine

if TYPE_CHECKING:
    from playwright.async_api import FrameLocator, Locator, Page, Playwright

ENGINE = "agentcore-ref"
"""The selector engine's name."""

_KEPT = 50_000


@dataclass(slots=True)
class _Element:
    """Where an element is, and its description in the last snapshot."""

    key: str
    frames: tuple[str, ...]
    told: str = ""


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

    def get_or_create_ref(self, key: str, frames: tuple[str, ...], told: str) -> str:
        """Return the reference of an element.

        Args:
            key: Its document's mark and its number there.
            frames: The keys of the frames that lead to it.
            told: Its description in the snapshot.
        """
        short = self._short.get(key)
        if short is None:
            short = self._short[key] = f"e{next(self._numbers)}"
            self._elements[short] = _Element(key, frames)
            self._remove_oldest()
        self._elements[short].told = told
        return short

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

    async def find_element(self, page: "Page", ref: str) -> "Locator | None":
        """Return the element of a reference; None: it is gone, or never existed."""
        element = self._elements.get(ref)
        if element is None:
            return None
        locator = self.locate_in_frame(page, element.frames, element.key)
        return locator if await _is_there(locator, in_frame=bool(element.frames)) else None

    def find_description(self, ref: str) -> str | None:
        """Return an element's description in the last snapshot; None: this page's snapshots never contained it."""
        element = self._elements.get(ref)
        return None if element is None else element.told

    def _remove_oldest(self) -> None:
        if len(self._elements) > _KEPT:
            oldest = next(iter(self._elements))
            del self._short[self._elements.pop(oldest).key]


async def _is_there(locator: "Locator", *, in_frame: bool) -> bool:
    try:
        return await locator.count() > 0
    except Exception as exc:
        if not in_frame or not is_driver_error(exc) or is_closed(exc):
            raise
        return False  # its frame is gone
