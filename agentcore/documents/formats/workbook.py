"""Sheets of workbooks (XLSX)."""

import contextlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta

from agentcore.documents.formats.parser_output import Output, UnreadableError
from agentcore.documents.formats.sheet_rows import Grid, column_number
from agentcore.documents.formats.word import read_title
from agentcore.documents.formats.xml_events import End, Event, Start, read_events, skip_element
from agentcore.documents.formats.zip_package import Package

_MIME = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
_DATE_FORMATS = frozenset((*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)))
"""Built-in number formats of dates and times (ECMA-376 part 1, 18.8.30)."""

_NO_DATE_PARTS = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]', re.IGNORECASE)
_SHARED_CHARS = 100_000_000
_LAST_SERIAL = 2_958_465  # 9999-12-31
_LEAP_BUG = 60  # Excel counts a 29 February 1900


class Workbook:
    """What the cells of all sheets refer to: texts, number formats, the first day."""

    def __init__(self, package: Package, main: str) -> None:
        relations = package.read_relations(main)
        parts = {kind: name for kind, name in relations.values() if package.has_part(name)}
        self.sheets: list[tuple[str, str, bool]] = []
        self._first_day = datetime(1899, 12, 30)  # noqa: DTZ001 - dates of sheets have no time zone
        self._is_1904 = False
        for event in read_events(package.read_blocks(main)):
            if not isinstance(event, Start):
                continue
            if event.name == "workbookPr" and event.get("date1904") in ("1", "true"):
                self._first_day = datetime(1904, 1, 1)  # noqa: DTZ001 - see above
                self._is_1904 = True
            if event.name == "sheet" and (relation := relations.get(event.get_qualified("id"))):
                is_hidden = event.get("state") in ("hidden", "veryHidden")
                self.sheets.append((event.get("name"), relation[1], is_hidden))
        self._texts = _read_shared(package, parts["sharedStrings"]) if "sharedStrings" in parts else []
        self._dates = _read_date_styles(package, parts["styles"]) if "styles" in parts else []

    def show(self, kind: str, style: str, value: str, formula: str) -> str:
        """Return a cell's text: its last computed value, or its formula if no program computed it."""
        if not value and formula:
            return f"={formula}"
        if kind == "s":
            index = int(value or -1)
            return self._texts[index] if 0 <= index < len(self._texts) else ""
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        if kind in ("", "n") and style.isdecimal() and int(style) < len(self._dates) and self._dates[int(style)]:
            return self._show_date(value)
        return _show_number(value) if kind in ("", "n") else value

    def _show_date(self, value: str) -> str:
        with contextlib.suppress(ValueError, OverflowError):
            serial = float(value)
            if not 0 <= serial <= _LAST_SERIAL:
                return value
            if serial < 1 and not self._is_1904:
                return _trim_time((self._first_day + timedelta(days=serial)).strftime("%H:%M:%S"))
            if serial < _LEAP_BUG and not self._is_1904:
                serial += 1
            moment = self._first_day + timedelta(seconds=round(serial * 86_400))
            day = f"{moment:%Y-%m-%d}" if moment.year >= 1000 else moment.isoformat()[:10]  # noqa: PLR2004
            return day if serial == int(serial) else f"{day} {_trim_time(f'{moment:%H:%M:%S}')}"
        return value


def read_workbook(package: Package, output: Output, main: str) -> None:
    """Write the rows of each sheet."""
    workbook = Workbook(package, main)
    output.write_head(
        "sheets of a workbook (XLSX)",
        _MIME,
        title=read_title(package),
        count=len(workbook.sheets),
    )
    for number, (name, part, is_hidden) in enumerate(workbook.sheets, 1):
        heading = f"sheet {number} of {len(workbook.sheets)}: {name}{' (hidden)' if is_hidden else ''}"
        grid = Grid(output, heading)
        if package.has_part(part):
            _read_rows(read_events(package.read_blocks(part)), workbook, grid)
        grid.finish()


def _read_rows(events: Iterator[Event], workbook: Workbook, grid: Grid) -> None:
    row = 0
    cells: list[tuple[int, str]] = []
    for event in events:
        if isinstance(event, Start) and event.name == "row":
            given = event.get("r")
            row = int(given) if given.isdecimal() else row + 1
            cells = []
        elif isinstance(event, Start) and event.name == "c":
            column = column_number(event.get("r"))
            if column is None:
                column = cells[-1][0] + 1 if cells else 0
            cells.append((column, _read_cell(events, workbook, event)))
        elif isinstance(event, End) and event.name == "row":
            grid.add_row(row, cells)


def _read_cell(events: Iterator[Event], workbook: Workbook, cell: Start) -> str:
    texts: dict[str, list[str]] = {"v": [], "f": [], "t": []}
    inside = ""
    for event in events:
        if isinstance(event, str):
            if inside:
                texts[inside].append(event)
        elif isinstance(event, End):
            inside = ""
            if event.name == "c":
                break
        elif event.name == "rPh":
            skip_element(events)  # how a name is pronounced
        elif event.name in texts:
            inside = event.name
    if texts["t"]:
        return "".join(texts["t"])
    return workbook.show(cell.get("t"), cell.get("s"), "".join(texts["v"]), "".join(texts["f"]))


def _read_shared(package: Package, name: str) -> list[str]:
    found: list[str] = []
    text: list[str] = []
    is_text = False
    room = _SHARED_CHARS
    events = read_events(package.read_blocks(name))
    for event in events:
        if isinstance(event, str):
            if is_text:
                text.append(event)
        elif isinstance(event, End):
            is_text = False
            if event.name == "si":
                found.append("".join(text))
                room -= len(found[-1])
                text.clear()
                if room < 0:
                    raise UnreadableError("its cells hold too much text")
        elif event.name == "rPh":
            skip_element(events)
        else:
            is_text = event.name == "t"
    return found


def _read_date_styles(package: Package, name: str) -> list[bool]:
    """Return for each cell style whether its numbers are dates."""
    own: dict[str, bool] = {}
    styles: list[bool] = []
    is_cells = False
    for event in read_events(package.read_blocks(name)):
        if isinstance(event, Start) and event.name == "numFmt":
            own[event.get("numFmtId")] = _is_date_format(event.get("formatCode"))
        elif isinstance(event, Start) and event.name == "xf" and is_cells:
            number = event.get("numFmtId")
            styles.append(own.get(number, number.isdecimal() and int(number) in _DATE_FORMATS))
        elif isinstance(event, Start | End) and event.name == "cellXfs":
            is_cells = isinstance(event, Start)
    return styles


def _is_date_format(code: str) -> bool:
    bare = _NO_DATE_PARTS.sub("", code.partition(";")[0]).lower()
    return "general" not in bare and any(letter in bare for letter in "dmyhs")


def _show_number(value: str) -> str:
    """Return a number without the noise of its binary form: 0.1 + 0.2 is stored as 0.30000000000000004."""
    with contextlib.suppress(ValueError, OverflowError):
        return f"{float(value):.15g}" if "." in value or "e" in value.lower() else value
    return value


def _trim_time(shown: str) -> str:
    return shown.removesuffix(":00")
