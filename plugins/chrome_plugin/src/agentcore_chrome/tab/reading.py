"""Content of a page: HTML, text, and a simplified tree, cut in the page before it is transferred."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from agentcore_chrome.tab.elements import Target, read_element
from agentcore_chrome.tab.tab import Tab

if TYPE_CHECKING:
    from playwright.async_api import Locator

CONTENT_CHARS = 200_000
"""Limit of HTML and text in characters."""

_TREE_LINES = 2000


@dataclass(frozen=True, slots=True)
class ContentChunk:
    """A part of a page's content, and the length of the whole content."""

    text: str
    length: int

    @property
    def is_cut(self) -> bool:
        """True if something is missing."""
        return self.length > len(self.text)


async def read_html(tab: Tab, selector: str | None, limit: int, timeout_ms: int) -> ContentChunk:
    """Return the HTML of the page or of an element, without the values of password fields.

    Raises:
        ToolError: `element_not_found`, `stale_ref`.
    """
    return ContentChunk(*await _run_on_element(tab, selector or "html", "html", [limit], timeout_ms))


async def read_text(tab: Tab, selector: str | None, limit: int, timeout_ms: int) -> ContentChunk:
    """Return the visible text of the page or of an element; see `read_html`."""
    return ContentChunk(*await _run_on_element(tab, selector or "body", "text", [limit], timeout_ms))


async def read_tree(tab: Tab, selector: str, max_depth: int, timeout_ms: int) -> tuple[str, bool]:
    """Return a simplified tree of elements, one per line, and whether lines are missing; see `read_html`."""
    text, lines = await _run_on_element(tab, selector, "tree", [max_depth, _TREE_LINES], timeout_ms)
    return text, lines > _TREE_LINES


async def _run_on_element(tab: Tab, selector: str, work: str, arguments: list[int], timeout_ms: int) -> Any:
    async def run(locator: "Locator") -> Any:
        return await tab.refs.run(locator, work, *arguments, timeout_ms=timeout_ms)

    return await read_element(tab, Target(selector), timeout_ms, run)
