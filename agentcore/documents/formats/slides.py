"""Text of presentations (PPTX)."""

from agentcore.documents.formats.flowing_text import Flow, OfficeText
from agentcore.documents.formats.parser_output import Output
from agentcore.documents.formats.word import read_title
from agentcore.documents.formats.xml_events import Start, read_events
from agentcore.documents.formats.zip_package import Package

_MIME = "application/vnd.openxmlformats-officedocument.presentationml.presentation"
_BREAKS = {"br": "\n", "tab": "\t"}


def read_slides(package: Package, output: Output, main: str) -> None:
    """Write the text of each slide, in order, with the speaker's notes."""
    relations = package.read_relations(main)
    order = [
        event.get_qualified("id")
        for event in read_events(package.read_blocks(main))
        if isinstance(event, Start) and event.name == "sldId"
    ]
    slides = [relations[each][1] for each in order if each in relations]
    output.write_head(
        "slides of a presentation (PPTX)",
        _MIME,
        title=read_title(package),
        count=len(slides),
    )
    for number, name in enumerate(slides, 1):
        text, is_hidden = _read_slide(package, name)
        notes = [each for kind, each in package.read_relations(name).values() if kind == "notesSlide"]
        message = "\n".join(_read_slide(package, each)[0] for each in notes if package.has_part(each))
        heading = f"slide {number} of {len(slides)}{' (hidden)' if is_hidden else ''}"
        output.write_part(heading, "\n\n".join(filter(None, [text, message and f"Notes:\n{message}"])))


def _read_slide(package: Package, name: str) -> tuple[str, bool]:
    flow = Flow()
    seen: list[bool] = []

    def look(event: Start) -> str:
        if event.name == "sld":
            seen.append(event.get("show") in ("0", "false"))
        return ""

    OfficeText(flow, _BREAKS, look).read(read_events(package.read_blocks(name)))
    return flow.take_text(), any(seen)
