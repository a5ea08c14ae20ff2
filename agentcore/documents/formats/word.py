"""Text of Word documents (DOCX)."""

import re

from agentcore.documents.formats.flowing_text import Flow, OfficeText
from agentcore.documents.formats.parser_output import Output
from agentcore.documents.formats.xml_events import Start, read_events, read_text
from agentcore.documents.formats.zip_package import Package

_MIME = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
_BREAKS = {"tab": "\t", "br": "\n", "cr": "\n", "noBreakHyphen": "-"}
_HEADING = re.compile(r"(?:heading|berschrift|titre|标题)\s?([1-6])$", re.IGNORECASE)
_BESIDE = (("footnotes", "footnotes"), ("endnotes", "endnotes"), ("comments", "comments"))


def read_word(package: Package, output: Output, main: str) -> None:
    """Write the text of a Word document; headings and lists are marked as in Markdown."""
    output.write_head(
        "the text of a Word document (DOCX)",
        _MIME,
        title=read_title(package),
    )
    output.write_part("", _read_part(package, main))
    relations = package.read_relations(main).values()
    for kind, heading in _BESIDE:
        for name in (name for each, name in relations if each == kind and package.has_part(name)):
            if text := _read_part(package, name):
                output.write_part(heading, text)


def read_title(package: Package) -> str:
    """Return the title in the properties of an Office document."""
    if not package.has_part("docProps/core.xml"):
        return ""
    events = read_events(package.read_blocks("docProps/core.xml"))
    return next((read_text(events) for event in events if isinstance(event, Start) and event.name == "title"), "")


def _read_part(package: Package, name: str) -> str:
    flow = Flow()
    OfficeText(flow, _BREAKS, _paragraph_prefix).read(read_events(package.read_blocks(name)))
    return flow.take_text()


def _paragraph_prefix(event: Start) -> str:
    if event.name == "pStyle":
        style = event.get("val")
        if style.lower() == "title":
            return "# "
        if style.lower().startswith(("listbullet", "listnumber")):
            return "- "
        found = _HEADING.search(style)
        return f"{'#' * int(found[1])} " if found else ""
    return "- " if event.name == "numPr" else ""
