"""Text of OpenDocument files: texts (ODT), sheets (ODS), presentations (ODP)."""

from collections.abc import Iterator

from agentcore.documents.formats.flowing_text import Flow
from agentcore.documents.formats.parser_output import Output
from agentcore.documents.formats.sheet_rows import Grid
from agentcore.documents.formats.xml_events import End, Event, Start, read_events, read_text, skip_element
from agentcore.documents.formats.zip_package import Package

_MIME = "application/vnd.oasis.opendocument"
_LEFT_OUT = ("tracked-changes", "forms", "scripts", "settings", "automatic-styles", "font-face-decls")
_PARAGRAPHS = ("p", "h")
_REPEAT_MAX = 100
_SPACES_MAX = 200


def read_open_document(package: Package, output: Output, kind: str) -> None:
    """Write the text of an OpenDocument file.

    Args:
        package: The file.
        output: Receives the text.
        kind: `text`, `spreadsheet` or `presentation`.
    """
    title = _read_title(package)
    if kind == "spreadsheet":
        _read_sheets(package, output, title)
    elif kind == "presentation":
        _read_pages(package, output, title)
    else:
        output.write_head("the text of a document (ODT)", f"{_MIME}.text", title=title)
        flow = Flow()
        _read_flow(_content_events(package), flow, "body")
        output.write_part("", flow.take_text())


def _content_events(package: Package) -> Iterator[Event]:
    return read_events(package.read_blocks("content.xml"))


def _read_title(package: Package) -> str:
    if not package.has_part("meta.xml"):
        return ""
    events = read_events(package.read_blocks("meta.xml"))
    return next((read_text(events) for event in events if isinstance(event, Start) and event.name == "title"), "")


def _read_flow(events: Iterator[Event], flow: Flow, end: str) -> None:
    """Read paragraphs, lists and tables until an element ends."""
    paragraphs = 0
    ends = {"p": flow.end_paragraph, "h": flow.end_paragraph, "table-cell": flow.end_cell, "table-row": flow.end_row}
    items = _Items()
    for event in events:
        if isinstance(event, Start):
            if event.name in _LEFT_OUT:
                skip_element(events)
                continue
            paragraphs += event.name in _PARAGRAPHS
            _start_element(event, flow, items)
        elif isinstance(event, str):
            if paragraphs:
                flow.add_text(event)
        elif event.name == end:
            return
        else:
            paragraphs -= event.name in _PARAGRAPHS
            ends.get(event.name, _do_nothing)()


class _Items:
    """Remembers that the next paragraph is the first one of a list item."""

    def __init__(self) -> None:
        self._is_new = False

    def start(self) -> None:
        self._is_new = True

    def take_prefix(self) -> str:
        prefix = "- " if self._is_new else ""
        self._is_new = False
        return prefix


def _start_element(event: Start, flow: Flow, items: _Items) -> None:
    match event.name:
        case "p":
            flow.start_paragraph(items.take_prefix())
        case "h":
            flow.start_paragraph(f"{'#' * _number(event.get('outline-level'), 6)} ")
        case "list-item":
            items.start()
        case "table-row":
            flow.start_row()
        case "notes":
            flow.start_paragraph()
            flow.add_text("Notes:")
            flow.end_paragraph()
        case _:
            flow.add_text(_character(event))


def _do_nothing() -> None:
    pass


def _character(event: Start) -> str:
    match event.name:
        case "s":
            return " " * _number(event.get("c"), _SPACES_MAX)
        case "tab":
            return "\t"
        case "line-break":
            return "\n"
    return ""


def _read_pages(package: Package, output: Output, title: str) -> None:
    count = sum(isinstance(event, Start) and event.name == "page" for event in _content_events(package))
    output.write_head("slides of a presentation (ODP)", f"{_MIME}.presentation", title=title, count=count)
    number = 0
    events = _content_events(package)
    for event in events:
        if isinstance(event, Start) and event.name == "page":
            number += 1
            flow = Flow()
            _read_flow(events, flow, "page")
            output.write_part(f"slide {number} of {count}", flow.take_text())


def _read_sheets(package: Package, output: Output, title: str) -> None:
    names = _sheet_names(package)
    output.write_head("sheets of a spreadsheet (ODS)", f"{_MIME}.spreadsheet", title=title, count=len(names))
    number = 0
    events = _content_events(package)
    for event in events:
        if isinstance(event, Start) and event.name in _LEFT_OUT:
            skip_element(events)
        elif isinstance(event, Start) and event.name == "table":
            grid = Grid(output, f"sheet {number + 1} of {len(names)}: {names[number]}")
            _read_rows(events, grid)
            grid.finish()
            number += 1


def _sheet_names(package: Package) -> list[str]:
    """Return the names of the sheets; a table inside of a cell is none."""
    names = []
    depth = 0
    events = _content_events(package)
    for event in events:
        if isinstance(event, Start) and event.name in _LEFT_OUT:
            skip_element(events)
        elif isinstance(event, Start) and event.name == "table":
            if not depth:
                names.append(event.get("name"))
            depth += 1
        elif isinstance(event, End) and event.name == "table":
            depth -= 1
    return names


def _read_rows(events: Iterator[Event], grid: Grid) -> None:
    row = 1
    repeated = 1
    column = 0
    cells: list[tuple[int, str]] = []
    for event in events:
        if isinstance(event, Start) and event.name == "table-row":
            repeated = _number(event.get("number-rows-repeated"))
            column = 0
            cells = []
        elif isinstance(event, Start) and event.name in ("table-cell", "covered-table-cell"):
            count = _number(event.get("number-columns-repeated"))
            if text := _read_cell(events, event):
                cells += [(column + each, text) for each in range(min(count, _REPEAT_MAX))]
            column += count
        elif isinstance(event, End) and event.name == "table-row":
            grid.add_row(row, cells)
            if repeated > 1 and cells:
                grid.add_note(f"rows {row + 1} to {row + repeated - 1} are the same")
            row += repeated
        elif isinstance(event, End) and event.name == "table":
            return


def _read_cell(events: Iterator[Event], cell: Start) -> str:
    flow = Flow()
    _read_flow(_until_end(events, cell.name), flow, cell.name)
    shown = " ".join(flow.take_text().split())
    kind = cell.get("value-type")
    if kind in ("float", "percentage", "currency"):
        return shown if kind != "float" else cell.get_qualified("value") or shown
    if kind == "date":
        return cell.get_qualified("date-value").removesuffix("T00:00:00") or shown
    formula = cell.get("formula").partition(":")[2]
    return shown or (f"={formula.lstrip('=')}" if formula else "")


def _until_end(events: Iterator[Event], name: str) -> Iterator[Event]:
    """Yield the events of a cell, without those of tables and comments inside of it."""
    depth = 1
    for event in events:
        if isinstance(event, Start) and event.name in ("table", "annotation"):
            skip_element(events)
            continue
        depth += isinstance(event, Start) - isinstance(event, End)
        yield event
        if not depth:
            return


def _number(text: str, highest: int = 1 << 24) -> int:
    return max(1, min(int(text), highest)) if text.isdecimal() and len(text) < 10 else 1  # noqa: PLR2004
