"""Text of books (EPUB): a ZIP file of XHTML."""

import posixpath
import re
from html.parser import HTMLParser

from agentcore.documents.formats.parser_output import Output, UnreadableError
from agentcore.documents.formats.xml_events import Start, read_events, read_text
from agentcore.documents.formats.zip_package import Package, resolve_name

_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_BLOCKS = _HEADINGS | frozenset(("address", "article", "aside", "blockquote", "dd", "div", "dl", "dt", "figcaption"))
_BLOCKS |= frozenset(
    ("figcaption", "figure", "footer", "header", "hr", "li", "main", "nav", "ol", "p", "pre", "section")
)
_BLOCKS |= frozenset(("table", "td", "th", "tr", "ul"))
_UNSEEN = frozenset(("head", "script", "style", "template"))
_SPACE = re.compile(r"[ \t\r\n]+")
_ENCRYPTION = "META-INF/encryption.xml"
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read_book(package: Package, output: Output) -> None:
    """Write the text of each chapter, in the order of reading."""
    _refuse_locked(package)
    root = next(
        (
            event.get("full-path")
            for event in read_events(package.read_blocks("META-INF/container.xml"))
            if isinstance(event, Start) and event.name == "rootfile"
        ),
        "",
    )
    title = ""
    files: dict[str, str] = {}
    order: list[str] = []
    events = read_events(package.read_blocks(root))
    for event in events:
        if not isinstance(event, Start):
            continue
        if event.name == "title" and not title:
            title = read_text(events)
        elif event.name == "item":
            files[event.get("id")] = resolve_name(posixpath.dirname(root), event.get("href"))
        elif event.name == "itemref":
            order.append(event.get("idref"))
    chapters = [files[each] for each in order if package.has_part(files.get(each, ""))]
    output.write_head("chapters of a book (EPUB)", "application/epub+zip", title=title, count=len(chapters))
    for number, name in enumerate(chapters, 1):
        output.write_part(f"chapter {number} of {len(chapters)}", read_xhtml(package.read_part(name)))


def read_xhtml(body: bytes) -> str:
    """Return the text of an XHTML page; its own entities are not expanded."""
    reader = _TextOfPage()
    reader.feed(body.decode("utf-16" if body.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8", "replace"))
    reader.close()
    return reader.text()


def _refuse_locked(package: Package) -> None:
    if not package.has_part(_ENCRYPTION):
        return
    methods = [
        event.get("Algorithm")
        for event in read_events(package.read_blocks(_ENCRYPTION))
        if isinstance(event, Start) and event.name == "EncryptionMethod"
    ]
    if any(method not in _FONT_ALGORITHMS for method in methods):  # fonts alone may be obfuscated
        raise UnreadableError("it is protected against copying (DRM)")


class _TextOfPage(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self._texts: list[str] = []
        self._unseen = 0
        self._pre = 0

    def text(self) -> str:
        lines = "".join(self._texts).split("\n")
        return "\n".join(line.rstrip() for line in lines).strip()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _UNSEEN:
            self._unseen += 1
        if tag == "pre":
            self._pre += 1
        if tag in _BLOCKS or tag == "br":
            self._texts.append("\n")
        if tag in _HEADINGS:
            self._texts.append(f"{'#' * int(tag[1])} ")
        elif tag == "li":
            self._texts.append("- ")
        elif tag == "img" and not self._unseen:
            self._texts.append(f"[image: {dict(attrs).get('alt') or 'without a description'}]")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _UNSEEN:
            self._unseen = max(self._unseen - 1, 0)
        if tag == "pre":
            self._pre = max(self._pre - 1, 0)
        if tag in _BLOCKS:
            self._texts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self._unseen:
            self._texts.append(data if self._pre else _SPACE.sub(" ", data))
