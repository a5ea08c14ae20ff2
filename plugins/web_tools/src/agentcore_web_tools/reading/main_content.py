"""Separates the main content of a page from its frame: menus, headers, footers and banners.

An element is removed only if its markup identifies it as frame, or if its name does and it also looks like one: mostly
links, or a line or two. Prose, code and tables are never removed because of a name alone, and an index page, which
consists of links, is returned unchanged.
"""

import re
from collections.abc import Iterable
from copy import deepcopy
from typing import NamedTuple

from lxml import etree, html

from agentcore_web_tools.reading.text_length import text_length

IN_PAGE = "data-in-page"
"""The attribute that marks links within the page."""

_CONTROLS = frozenset(("button", "select", "input", "textarea"))
_FRAME_ROLES = frozenset(
    ("navigation", "banner", "contentinfo", "search", "menu", "menubar", "toolbar", "dialog", "alertdialog")
)
_NAMES_OF_LINKS = re.compile(
    r"\b(?:breadcrumbs?|related|side-?bar\w*|sphinxsidebar\w*|pagination|navbox|nav-?bar|nav-?(?:header|footer|path|panel)"
    r"|navigation|masthead|topnav|nav|header|shortcuts?)\b",
    re.IGNORECASE,
)
_NAMES_OF_LINES = re.compile(
    r"\b(?:share|social|skip-?link|edit-?section|headerlink|permalink|noprint|footer|copyright)\b", re.IGNORECASE
)
_NAMES_OF_BANNERS = re.compile(r"\b(?:cookie|consent|newsletter|subscribe|advert\w*|ads?|promo)\b", re.IGNORECASE)
_NAMES_OF_CONTENTS = re.compile(r"\b(?:toc|contents|table-of-contents)\b", re.IGNORECASE)
_NAMED = frozenset(("div", "ul", "ol", "dl", "section", "p", "a", "span", "table", "aside", "header"))
_CONTENT = frozenset(("pre", "h1", "h2", "h3", "article", "main"))
_OF_ARTICLES = frozenset(("article", "main", "section"))

_MAIN = (
    ("//main", 0.5),
    ("//*[@role='main']", 0.5),
    ("//*[@itemprop='articleBody']", 0.75),
    ("//article", 0.75),
    ("//*[@id='mw-content-text']", 0.75),
    ("//*[contains(concat(' ', @class, ' '), ' markdown-body ')]", 0.75),
)
"""Elements that may be the main content, and the minimum share of the text outside the frame that they must contain:
one of several posts in a list is not the main content."""

_ENOUGH_CHARS = 200
_LINKS_SHARE = 0.5
_LINE_CHARS = 160
_BANNER_CHARS = 1_500
_INDEX_SHARE = 0.25
"""If less than this share of a page remains without its frame, it is an index, and the links are its content."""


class _Amount(NamedTuple):
    """The size of an element's text in characters without spaces: total, in links, and in links within the page."""

    chars: int
    links: int
    in_page: int


def without_frame(body: html.HtmlElement) -> html.HtmlElement:
    """Return a copy of the page's main content; the body itself if too little would remain."""
    page = deepcopy(body)
    amounts = _count_amounts(page)
    drop_elements(
        [element for element in page.iter(etree.Element) if element is not page and _is_frame(element, amounts)]
    )
    length = text_length(page)
    if length < _INDEX_SHARE * amounts[page].chars:
        return body
    for path, share in _MAIN:
        found = page.xpath(f".{path}")
        if len(found) == 1 and text_length(found[0]) >= max(_ENOUGH_CHARS, share * length):
            found[0].tail = None
            return found[0]
    return page


def drop_elements(elements: Iterable[html.HtmlElement]) -> None:
    """Remove elements with their content, but not the text that follows them."""
    for element in list(elements):
        if element.getparent() is not None:
            element.drop_tree()


def _count_amounts(root: html.HtmlElement) -> dict[html.HtmlElement, _Amount]:
    """Count the text of all elements in one pass."""
    amounts: dict[html.HtmlElement, _Amount] = {}
    for _, element in etree.iterwalk(root, events=("end",)):
        chars = _count_chars(element.text)
        links = in_page = 0
        for child in element:
            inner = amounts[child]
            chars += inner.chars + _count_chars(child.tail)
            links += inner.links
            in_page += inner.in_page
        if element.tag == "a" and (element.get("href") is not None or element.get(IN_PAGE) is not None):
            links = chars
            in_page = chars if element.get(IN_PAGE) is not None else 0
        amounts[element] = _Amount(chars, links, in_page)
    return amounts


def _count_chars(text: str | None) -> int:
    return sum(map(len, text.split())) if text else 0


def _is_frame(element: html.HtmlElement, amounts: dict[html.HtmlElement, _Amount]) -> bool:
    tag = element.tag
    if tag in _CONTROLS or tag == "nav" or (element.get("role") or "").lower() in _FRAME_ROLES:
        return True
    if tag in ("header", "footer") and next(element.iterancestors(*_OF_ARTICLES), None) is None:
        return tag == "footer" or element.find(".//h1") is None
    if tag == "aside" and _is_mostly_links(amounts[element]):
        return True
    names = f"{element.get('id') or ''} {element.get('class') or ''}" if tag in _NAMED else ""
    return bool(names.strip()) and _is_named_frame(element, names, amounts[element])


def _is_named_frame(element: html.HtmlElement, names: str, amount: _Amount) -> bool:
    if _NAMES_OF_CONTENTS.search(names):
        # A table of contents that links to other pages is main content.
        return amount.in_page > _LINKS_SHARE * amount.chars
    if _NAMES_OF_LINKS.search(names) and _is_mostly_links(amount):
        return True
    if _NAMES_OF_BANNERS.search(names):
        return amount.chars <= _BANNER_CHARS and _has_no_content(element)
    is_line = amount.chars <= _LINE_CHARS and _has_no_content(element)
    return _NAMES_OF_LINES.search(names) is not None and (is_line or _is_mostly_links(amount))


def _is_mostly_links(amount: _Amount) -> bool:
    return amount.links >= _LINKS_SHARE * amount.chars


def _has_no_content(element: html.HtmlElement) -> bool:
    return next(element.iter(*_CONTENT), None) is None
