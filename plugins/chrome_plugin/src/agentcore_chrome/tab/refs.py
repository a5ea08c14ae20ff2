"""References of snapshots (`e12`): each belongs to one element, for as long as it lives, and is never given twice.

A selector engine, which the driver evaluates in a world of its own in every frame, far from the page's scripts, numbers
the elements that it shows, made unique by a mark of the document. `Refs` gives short names to those.
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
    """Where an element is, and what the last snapshot said of it."""

    key: str
    frames: tuple[str, ...]
    told: str = ""


async def register_selector_engine(playwright: "Playwright", engine: str = ENGINE) -> None:
    """Have the driver use the selector engine in all contexts that are there and that are made from now on."""
    await playwright.selectors.register(engine, selector_engine(), content_script=True)


class Refs:
    """The references of one page.

    Args:
        numbers: Where numbers come from; pages that share it never have the same reference.
        engine: The selector engine's name.
    """

    def __init__(self, numbers: Iterator[int], engine: str = ENGINE) -> None:
        self._numbers = numbers
        self._engine = engine
        self._short: dict[str, str] = {}
        self._elements: dict[str, _Element] = {}

    def get_or_create_ref(self, key: str, frames: tuple[str, ...], told: str) -> str:
        """The reference of an element.

        Args:
            key: Its document's mark and its number there.
            frames: The keys of the frames that lead to it.
            told: What a snapshot says of it.
        """
        short = self._short.get(key)
        if short is None:
            short = self._short[key] = f"e{next(self._numbers)}"
            self._elements[short] = _Element(key, frames)
            self._remove_oldest()
        self._elements[short].told = told
        return short

    def locate_in_frame(self, page: "Page", frames: tuple[str, ...], said: str) -> "Locator":
        """What the engine finds in a frame, or says there."""
        where: Page | FrameLocator = page
        for key in frames:
            where = where.locator(f"{self._engine}={key}").content_frame
        return where.locator(f"{self._engine}={said}")

    def locate_below(self, locator: "Locator", said: str) -> "Locator":
        """What the engine says of one element."""
        return locator.locator(f"{self._engine}={said}")

    def get_frames(self, ref: str | None) -> tuple[str, ...]:
        """The keys of the frames that lead to an element; of one that is not known, none."""
        element = self._elements.get(ref) if ref is not None else None
        return element.frames if element is not None else ()

    async def find_element(self, page: "Page", ref: str) -> "Locator | None":
        """The element of a reference; None: it is gone, or there never was one."""
        element = self._elements.get(ref)
        if element is None:
            return None
        locator = self.locate_in_frame(page, element.frames, element.key)
        return locator if await _is_there(locator, in_frame=bool(element.frames)) else None

    def find_description(self, ref: str) -> str | None:
        """What the last snapshot said of an element; None: no snapshot of this page gave that reference."""
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
