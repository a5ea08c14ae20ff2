"""Normalises the code blocks of documentation generators for Markdown."""

import re

from lxml import html

_LINE_NUMBERS = re.compile(r"\b(?:linenos?|line-?numbers?|listing_lines|gutter)\b", re.IGNORECASE)
_NUMBERS = re.compile(r"[\s\d:]*")
_INLINE = ("code", "tt", "kbd", "samp")


def restore_code(root: html.HtmlElement) -> None:
    """Convert each code block to one `pre` without line numbers, and move links out of inline code."""
    _drop_line_numbers(root)
    for block in list(root.iter("pre")):
        if next(block.iterancestors("pre"), None) is not None:
            block.drop_tag()
    for block in list(root.iter("div")):
        if "fragment" in _list_classes(block):
            _join_lines(block)
    for code in list(root.iter(*_INLINE)):
        if next(code.iterancestors("pre", "a"), None) is None:
            _lead_links_out(code)


def _drop_line_numbers(root: html.HtmlElement) -> None:
    """Remove line numbers next to the code (Sphinx, GTK-Doc: a cell) or in it (Doxygen)."""
    for element in list(root.iter("td", "pre", "span", "a", "div")):
        if _LINE_NUMBERS.search(element.get("class") or "") and _NUMBERS.fullmatch(element.text_content()):
            element.drop_tree()


def _join_lines(block: html.HtmlElement) -> None:
    """Join the lines of a Doxygen code block, each of which is a `div`."""
    lines = [child for child in block if child.tag == "div" and "line" in _list_classes(child)]
    for line in lines:
        line.tag = "span"
        line.tail = "\n"
    if lines:
        block.tag = "pre"


def _lead_links_out(code: html.HtmlElement) -> None:
    """Wrap inline code in a link that covers all of it; else drop the code tag, as Markdown has no links in code."""
    links = [link for link in code.iter("a") if link.get("href")]
    if not links:
        return
    if len(links) > 1 or links[0].text_content().split() != code.text_content().split():
        code.drop_tag()
        return
    around = html.Element("a", dict(links[0].attrib))
    links[0].drop_tag()
    around.tail = code.tail
    code.tail = None
    code.getparent().replace(code, around)
    around.append(code)


def _list_classes(element: html.HtmlElement) -> list[str]:
    return (element.get("class") or "").split()
