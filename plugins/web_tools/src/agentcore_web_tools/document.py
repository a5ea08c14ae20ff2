"""`Document`: a page of HTML, without what no person sees of it, and its main content."""

import re
from collections.abc import Iterator
from urllib.parse import urljoin

import trafilatura
from lxml import etree, html

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
_CHROME = ("nav", "footer", "aside", "form", "button", "select", "input", "textarea", "menu")
_CHROME_ROLES = frozenset(
    (
        "navigation",
        "banner",
        "contentinfo",
        "search",
        "complementary",
        "menu",
        "menubar",
        "toolbar",
        "dialog",
        "alertdialog",
    )
)
_CHROME_NAMES = re.compile(
    r"\b(?:cookie|consent|breadcrumbs?|share|social|newsletter|subscribe|advert\w*|ads?|promo|related|sidebar|skip-?link"
    r"|edit-?section|headerlink|pagination|noprint|toc|navbox|navbar|masthead|footer|copyright|topnav|nav)\b",
    re.IGNORECASE,
)
_HIDING = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])",
    re.IGNORECASE,
)
_MAIN = (
    "//main", "//*[@role='main']", "//*[@itemprop='articleBody']", "//article",
    "//*[@id='mw-content-text']", "//*[contains(concat(' ', @class, ' '), ' markdown-body ')]",
)  # fmt: skip
_MAIN_SHARE = 0.4
"""A part of the page is its main content if it holds at least this much of the text."""

_EXTRACTED_SHARE = (0.4, 0.75)
"""An extraction by features counts if it holds this much of the text: with less it has lost the page (forums, lists),
and with more there was little to leave out, and what it left out is rather missed."""

_ELEMENTS_OF_AN_ARTICLE = 20_000
"""A page of more elements is a list or a table; an extraction would take long to find nothing better."""

_ENOUGH_CHARS = 200
_ABSOLUTE = {"a": "href", "img": "src", "source": "src", "video": "src", "audio": "src"}


class Document:
    """A parsed page; made and used in one worker thread.

    What a person would not see – scripts, comments, elements that are hidden – is taken out first: it is where
    instructions for models are hidden.

    Args:
        text: The whole HTML.
        url: Where it came from; links become absolute.

    Attributes:
        title: Of the page, on one line; may be empty.
        sends_on_to: Where the page sends browsers by itself, if it does.
        has_scripts: Whether the page is, at least in part, made by scripts.
    """

    def __init__(self, text: str, url: str) -> None:
        root = _parse(text)
        base = _first(root, "//base/@href")
        self._url = _join(url, base) if base else url
        self.title = " ".join(_first(root, "//title//text()").split())
        self.sends_on_to = _refresh_of(root, self._url)
        self.has_scripts = bool(root.xpath("count(//script)"))
        _remove_invisible(root)
        _make_absolute(root, self._url)
        self._body = root.find("body") if root.find("body") is not None else root

    def main_content(self) -> html.HtmlElement:
        """The part that somebody came for: what the page marks, else what looks like it, else all but its frame."""
        whole = _copy(self._body)
        _remove_chrome(whole)
        length = text_length(whole)
        marked = self._marked(length)
        if marked is not None:
            return marked
        extracted = self._extracted()
        least, most = _EXTRACTED_SHARE
        if extracted is not None and max(_ENOUGH_CHARS, least * length) <= text_length(extracted) <= most * length:
            return extracted
        return whole if length else self._body

    def _marked(self, length: int) -> html.HtmlElement | None:
        for path in _MAIN:
            found = self._body.xpath(path)
            if len(found) != 1:  # several articles are a list of them: the page itself is the content
                continue
            part = _copy(found[0])
            _remove_chrome(part)
            if text_length(part) >= max(_ENOUGH_CHARS, _MAIN_SHARE * length):
                return part
        return None

    def _extracted(self) -> html.HtmlElement | None:
        if sum(1 for _ in self._body.iter()) > _ELEMENTS_OF_AN_ARTICLE:
            return None
        text = trafilatura.extract(
            html.tostring(self._body, encoding="unicode"),
            url=self._url,
            output_format="html",
            include_links=True,
            include_tables=True,
            include_formatting=True,
            favor_recall=True,
        )
        return _parse(text) if text else None


def text_length(element: html.HtmlElement) -> int:
    """How many characters of text an element shows, spaces not counted."""
    return sum(len(word) for text in element.itertext() for word in text.split())


def _parse(text: str) -> html.HtmlElement:
    parser = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    # as bytes: lxml refuses a text that declares an encoding; NUL would end the document for the parser
    content = text.replace("\0", "�").encode("utf-8", "replace")
    try:
        root = html.document_fromstring(content, parser=parser, ensure_head_body=True)
    except etree.ParserError:  # nothing but white space
        return html.document_fromstring(b"<html><body></body></html>", parser=parser, ensure_head_body=True)
    _begin_body(root)
    return root


def _begin_body(root: html.HtmlElement) -> None:
    """Take out of the head what ends it in HTML 5, and which the parser, being older, leaves there (`<main>`)."""
    head, body = root.find("head"), root.find("body")
    if head is None or body is None:
        return
    first = next((number for number, element in enumerate(head) if element.tag not in _METADATA), len(head))
    moved = head[first:]
    if moved:
        moved[-1].tail, body.text = (moved[-1].tail or "") + (body.text or ""), None
        body[:0] = moved


def _copy(element: html.HtmlElement) -> html.HtmlElement:
    return html.fromstring(
        html.tostring(element, encoding="utf-8", with_tail=False), parser=html.HTMLParser(encoding="utf-8")
    )


def _first(root: html.HtmlElement, path: str) -> str:
    return str(next(iter(root.xpath(path)), ""))


def _refresh_of(root: html.HtmlElement, url: str) -> str | None:
    for element in root.iter("meta"):
        if (element.get("http-equiv") or "").strip().lower() == "refresh":
            _, found, onward = (element.get("content") or "").partition("=")
            return _join(url, onward.strip(" '\"")) if found else None
    return None


def _remove_invisible(root: html.HtmlElement) -> None:
    _drop(element for element in root.iter(*_INVISIBLE) if element.tag != "head")
    _drop(element for element in root.iter(etree.Element) if _is_hidden(element))


def _is_hidden(element: html.HtmlElement) -> bool:
    if element.tag in ("html", "body"):
        return False
    if element.get("hidden") is not None or (element.tag == "input" and element.get("type") == "hidden"):
        return True
    style = element.get("style")
    return (style is not None and _HIDING.search(style) is not None) or element.get("aria-hidden") == "true"


def _remove_chrome(root: html.HtmlElement) -> None:
    _drop(element for element in root.iter(etree.Element) if element is not root and _is_chrome(element))


def _is_chrome(element: html.HtmlElement) -> bool:
    if element.tag in _CHROME or (element.get("role") or "").lower() in _CHROME_ROLES:
        return True
    if element.tag == "header":
        return next(element.iterancestors("article", "main", "section"), None) is None and not element.findall(".//h1")
    names = f"{element.get('id') or ''} {element.get('class') or ''}"
    return element.tag in ("div", "ul", "ol", "section", "p", "a", "span", "table") and bool(
        _CHROME_NAMES.search(names)
    )


def _drop(elements: Iterator[html.HtmlElement]) -> None:
    for element in list(elements):
        if element.getparent() is not None:
            element.drop_tree()


def _make_absolute(root: html.HtmlElement, url: str) -> None:
    for tag, attribute in _ABSOLUTE.items():
        for element in root.iter(tag):
            value = (element.get(attribute) or "").strip()
            if tag == "a" and value.startswith("#"):
                del element.attrib[attribute]  # it leads to another place of the same page: noise for a reader of text
            elif value:
                element.set(attribute, _join(url, value))


def _join(url: str, value: str) -> str:
    try:
        return urljoin(url, value)
    except ValueError:  # it cannot be an address; it stays as it is written
        return value
