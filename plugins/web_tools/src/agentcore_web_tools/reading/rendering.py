"""Renders main content as Markdown, text or HTML."""

import re
from itertools import islice
from typing import Any

from lxml import etree, html
from lxml.html import builder
from markdownify import MarkdownConverter

from agentcore.api import seen_text
from agentcore_web_tools.reading.tables import name_tables_by_role, regularise_tables

_LANGUAGE = re.compile(r"(?:^|\s)(?:language-|lang-|highlight-source-|highlight-|brush:\s?)([\w+#.-]{1,30})")
_NO_LANGUAGES = frozenset(("default", "none", "text", "plaintext"))
_SPACE = re.compile(r"\s+")
_MARKS = {"sup": "^", "sub": "_"}
_RAISED_OR_LOWERED = re.compile(r"[-+−]?[\w(][\w .,+−*/=()-]{0,30}")
_ONE_WORD = re.compile(r"[-+−]?\w+")
_RAISED_WORDS = frozenset(("st", "nd", "rd", "th", "TM", "SM"))
_BLOCKS = frozenset(
    ("address", "article", "blockquote", "br", "dd", "div", "dl", "dt", "figcaption", "figure", "h1", "h2", "h3", "h4",
     "h5", "h6", "header", "hr", "li", "main", "ol", "p", "pre", "section", "table", "tr", "ul")
)  # fmt: skip


class _Converter(MarkdownConverter):
    """A Markdown converter that omits images embedded as data."""

    def convert_td(self, element: Any, text: str, parent_tags: Any) -> str:
        """Convert a cell, and escape bars, which would start the next one."""
        return str(super().convert_td(element, text.replace("|", "\\|"), parent_tags))  # type: ignore[misc]

    convert_th = convert_td

    def convert_img(self, element: Any, text: str, parent_tags: Any) -> str:
        """Convert an image that has a description; others are decoration and are omitted."""
        source = element.attrs.get("src") or ""
        if source.startswith("data:") or not (element.attrs.get("alt") or "").strip():
            return str(element.attrs.get("alt") or "")
        return str(super().convert_img(element, text, parent_tags))  # type: ignore[misc]


def to_markdown(element: html.HtmlElement) -> str:
    """Render an element as Markdown; as plain text if it is nested too deeply."""
    converter = _Converter(
        bs4_options="lxml",
        heading_style="ATX",
        bullets="-",
        code_language_callback=_find_language,
        escape_underscores=False,
        escape_asterisks=False,
    )
    name_tables_by_role(element)
    regularise_tables(element)
    _mark_raised_and_lowered(element)
    try:
        return seen_text(converter.convert(to_html(element)))
    except RecursionError:
        return to_text(element)


def to_text(element: html.HtmlElement) -> str:
    """Render an element as plain text, with one line for each block and tabs between the cells of a row."""
    name_tables_by_role(element)
    _mark_raised_and_lowered(element)
    chunks: list[str] = []
    in_code = 0
    for event, node in etree.iterwalk(element, events=("start", "end")):
        is_start = event == "start"
        in_code += (1 if is_start else -1) * (node.tag == "pre")
        if node.tag in _BLOCKS:
            chunks.append("\n")
        elif not is_start and node.tag in ("td", "th"):
            chunks.append("\t")
        text = node.text if is_start else (node.tail if node is not element else None)
        if text:
            chunks.append(text if in_code else _SPACE.sub(" ", text))
    return seen_text("\n".join(line if line.strip() else "" for line in "".join(chunks).split("\n")))


def to_html(element: html.HtmlElement) -> str:
    """Render an element as HTML."""
    return str(html.tostring(element, encoding="unicode", with_tail=False))


def _mark_raised_and_lowered(root: html.HtmlElement) -> None:
    """Mark super- and subscripts as `10^6` and `a_(i+1)`, because without a mark the meaning would change."""
    for element in list(root.iter(*_MARKS)):
        text = element.text_content().strip()
        if _RAISED_OR_LOWERED.fullmatch(text) and text not in _RAISED_WORDS:
            begins, ends = ("", "") if _ONE_WORD.fullmatch(text) else ("(", ")")
            element.text = f"{_MARKS[element.tag]}{begins}{(element.text or '').lstrip()}"
            if ends:
                element.append(builder.SPAN(ends))
        element.tag = "span"


def _find_language(element: Any) -> str:
    """Return the language of a code block, from the classes of the block, its `code` child or its ancestors."""
    for node in (element, element.find("code"), *islice(element.parents, 3)):
        found = _LANGUAGE.search(" ".join(node.get("class") or ())) if node is not None else None
        if found and found.group(1) not in _NO_LANGUAGES:
            return found.group(1)
    return ""
