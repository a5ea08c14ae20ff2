"""`Document`: a parsed HTML page without its invisible parts."""

import re
from urllib.parse import urljoin

from lxml import etree, html

from agentcore_web_tools.reading.code_blocks import restore_code
from agentcore_web_tools.reading.late_content import place_late_content
from agentcore_web_tools.reading.main_content import IN_PAGE, drop_elements, without_frame
from agentcore_web_tools.reading.text_length import text_length

_INVISIBLE = (
    "script",
    "style",
    "template",
    "noscript",
    "svg",
    "canvas",
    "iframe",
    "object",
    "embed",
    "head",
    "dialog",
    "datalist",
)
_METADATA = frozenset(("base", "link", "meta", "noscript", "script", "style", "template", "title"))
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])", re.IGNORECASE
)
_TRANSPARENT = re.compile(r"(?<!-)opacity\s*:\s*0(?:\.0+)?(?![.\d])", re.IGNORECASE)
_MOVING = re.compile(r"transform|translate|transition|animation|will-change", re.IGNORECASE)
_CONTROLLERS = ("aria-controls", "data-bs-target", "data-target")
_MENU_SHARE = 0.5
"""A hidden part with more than this share of its text in links is a menu, and stays hidden."""

_MOST = 0.5
"""An element with more than this share of the page's text that is transparent at first is faded in."""

_READABLE_CHARS = 200
"""Text that only screen readers skip (`aria-hidden`) is seen; shorter ones are icons, or copies for the eye."""
_ABSOLUTE = {"a": "href", "img": "src", "source": "src", "video": "src", "audio": "src"}


class Document:
    """A parsed page; created and used in one worker thread.

    Everything that users would not see (scripts, comments, hidden elements) is removed first, because instructions for
    models may be hidden in it.

    Args:
        text: The complete HTML.
        url: The page's address, for making links absolute.

    Attributes:
        title: The page's title on one line; may be empty.
        sends_on_to: The target of a `<meta http-equiv="refresh">`, if any.
        has_scripts: True if the page contains scripts.
        hidden_chars: The number of characters of hidden text that were removed, without spaces.
    """

    def __init__(self, text: str, url: str) -> None:
        root = _parse_html(text)
        base = _find_first(root, "//base/@href")
        self._url = _join_url(url, base) if base else url
        self.title = " ".join(_find_first(root, "//title//text()").split())
        self.sends_on_to = _find_refresh(root, self._url)
        self.has_scripts = bool(root.xpath("count(//script)"))
        self.hidden_chars = _remove_invisible(root, has_scripts=self.has_scripts)
        _make_absolute(root, self._url)
        restore_code(root)
        self._body = root.find("body") if root.find("body") is not None else root

    def extract_content(self, *, is_full: bool) -> tuple[html.HtmlElement, int]:
        """Return the main content, and the number of omitted characters without spaces.

        Args:
            is_full: True to return everything that is visible.
        """
        if is_full:
            return self._body, 0
        kept = without_frame(self._body)
        return kept, text_length(self._body) - text_length(kept)


def _parse_html(text: str) -> html.HtmlElement:
    parser = html.HTMLParser(encoding="utf-8", remove_pis=True)
    # As bytes, because lxml rejects a str that declares an encoding. NUL would end the document for the parser.
    content = text.replace("\0", "�").encode("utf-8", "replace")
    try:
        root = html.document_fromstring(content, parser=parser, ensure_head_body=True)
    except etree.ParserError:  # nothing but white space
        return html.document_fromstring(b"<html><body></body></html>", parser=parser, ensure_head_body=True)
    place_late_content(root)
    etree.strip_elements(root, etree.Comment, with_tail=False)
    _move_to_body(root)
    _part_definitions(root)
    return root


def _part_definitions(root: html.HtmlElement) -> None:
    """Un-nest `<dd>` elements: the parser, which predates HTML5, nests each in the one before it."""
    for definition in reversed(list(root.iter("dd"))):
        around = definition.getparent()
        if around is None or around.tag != "dd":
            continue
        rest = [definition, *definition.itersiblings()]
        around.tail, rest[-1].tail = None, f"{rest[-1].tail or ''}{around.tail or ''}"
        place = around.getparent()
        at = place.index(around) + 1
        place[at:at] = rest


def _move_to_body(root: html.HtmlElement) -> None:
    """Move elements that end the head in HTML5 (`<main>`) to the body: the older parser leaves them in the head."""
    head = root.find("head")
    body = root.find("body")
    if head is None or body is None:
        return
    first = next((number for number, element in enumerate(head) if element.tag not in _METADATA), len(head))
    moved = head[first:]
    if moved:
        moved[-1].tail = (moved[-1].tail or "") + (body.text or "")
        body.text = None
        body[:0] = moved


def _find_first(root: html.HtmlElement, path: str) -> str:
    return str(next(iter(root.xpath(path)), ""))


def _find_refresh(root: html.HtmlElement, url: str) -> str | None:
    for element in root.iter("meta"):
        if (element.get("http-equiv") or "").strip().lower() == "refresh":
            _, found, onward = (element.get("content") or "").partition("=")
            return _join_url(url, onward.strip(" '\"")) if found else None
    return None


def _remove_invisible(root: html.HtmlElement, *, has_scripts: bool) -> int:
    """Remove what a user does not see; return how many characters of text were hidden."""
    drop_elements(element for element in root.iter(*_INVISIBLE) if element.tag != "head")
    chars = text_length(root)
    opened = _controlled_ids(root)
    drop_elements(
        element
        for element in root.iter(etree.Element)
        if element.tag not in ("html", "body")
        and (_is_hidden(element, opened) or _stays_transparent(element, chars, has_scripts=has_scripts))
    )
    return chars - text_length(root)


def _controlled_ids(root: html.HtmlElement) -> frozenset[str]:
    """Return the ids of parts that a control of the page shows: the panels of tabs, and what a click unfolds."""
    found: set[str] = set()
    for attribute in _CONTROLLERS:
        for value in root.xpath(f"//@{attribute}"):
            found.update(value.replace("#", " ").split())
    found.update(link.lstrip("#") for link in root.xpath("//*[@role='tab']/@href"))
    return frozenset(found)


def _is_hidden(element: html.HtmlElement, opened: frozenset[str]) -> bool:
    if element.tag == "input" and element.get("type") == "hidden":
        return True
    is_opened = (element.get("role") or "").lower() == "tabpanel" or element.get("id") in opened
    if is_opened and not _is_menu(element):
        return False
    if element.get("hidden") is not None:
        return (element.get("hidden") or "").lower() != "until-found"
    style = element.get("style")
    if style is not None and _HIDING.search(style):
        return True
    return element.get("aria-hidden") == "true" and text_length(element) < _READABLE_CHARS


def _is_menu(element: html.HtmlElement) -> bool:
    links = sum(text_length(link) for link in element.iter("a"))
    return links > _MENU_SHARE * text_length(element)


def _stays_transparent(element: html.HtmlElement, chars: int, *, has_scripts: bool) -> bool:
    """True if an element is transparent, and no script is likely to fade it in."""
    style = element.get("style")
    if style is None or not _TRANSPARENT.search(style):
        return False
    return not (has_scripts and (_MOVING.search(style) or text_length(element) > _MOST * chars))


def _make_absolute(root: html.HtmlElement, url: str) -> None:
    for tag, attribute in _ABSOLUTE.items():
        for element in root.iter(tag):
            value = (element.get(attribute) or "").strip()
            if tag == "a" and value.startswith("#"):
                # A link within the page is noise in the text.
                del element.attrib[attribute]
                element.set(IN_PAGE, "")
            elif value:
                element.set(attribute, _join_url(url, value))


def _join_url(url: str, value: str) -> str:
    try:
        return urljoin(url, value)
    except ValueError:  # not a valid address: leave it unchanged
        return value
