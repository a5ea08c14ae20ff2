"""The columns of CSV files and their types, judged by the first rows."""

import csv
import io
import re
from collections.abc import Sequence

from agentcore.documents.seen_text import seen_text
from agentcore.late_dataclasses import dataclass

_HEAD_CHARS = 64_000
_ROWS = 1_000
_PROBE_ROWS = 20
_SHOWN_COLUMNS = 60
_NAME_CHARS = 60
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
_TYPES = (
    ("integer", re.compile(r"[+-]?(?:0|[1-9][0-9]*)")),  # with a leading zero it is a code, such as a postcode
    ("number", re.compile(r"[+-]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")),
    ("number with thousands separators", re.compile(r"[+-]?[1-9][0-9]{0,2}(?:,[0-9]{3})+(?:\.[0-9]+)?")),
    ("number with decimal comma", re.compile(r"[+-]?(?:0|[1-9][0-9]*|[1-9][0-9]{0,2}(?:\.[0-9]{3})+)(?:,[0-9]+)?")),
    ("true or false", re.compile(r"true|false", re.IGNORECASE)),
    ("date", re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}([./-])[0-9]{1,2}\1[0-9]{4}")),
    (
        "date and time",
        re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}[ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9:]{4,6})?"),
    ),
    ("time", re.compile(r"[0-9]{1,2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?")),
)


@dataclass(frozen=True, slots=True)
class CsvColumns:
    """The columns of a CSV file.

    Args:
        columns: Name and type of each; without a row of names, the names are the numbers of the columns.
        delimiter: The character between two values.
        rows: By how many rows the types were judged.
        is_whole: True if these are all rows.
        has_names: True if the first row has the names.
    """

    columns: tuple[tuple[str, str], ...]
    delimiter: str
    rows: int
    is_whole: bool
    has_names: bool

    def __str__(self) -> str:
        shown = [f"{name} ({kind})" for name, kind in self.columns[:_SHOWN_COLUMNS]]
        if len(self.columns) > len(shown):
            shown.append(f"and {len(self.columns) - len(shown):,} more")
        rows = "" if self.is_whole else f", judged by the first {self.rows:,} rows"
        names = "" if self.has_names else ", without a row of names"
        between = _DELIMITERS[self.delimiter]
        return f"CSV with {between}{names}; columns {', '.join(shown)}{rows}"


def read_csv_columns(text: str, name: str, mime: str = "", *, is_whole: bool = True) -> CsvColumns | None:
    """Return the columns of a CSV file; None if it is none, or cannot be read as such.

    Args:
        text: The file's text, or its beginning.
        name: Its name; `.csv` and `.tsv` say that it is one.
        mime: Its media type, which may say so as well.
        is_whole: True if the text is all of it.
    """
    is_named = name.lower().endswith((".csv", ".tsv")) or mime.startswith(("text/csv", "text/tab-separated-values"))
    if not is_named:
        return None
    head = text.removeprefix("\ufeff")[:_HEAD_CHARS]
    if len(head) < len(text) or not is_whole:
        # the last line may be cut
        is_whole = False
        head = head[: head.rfind("\n") + 1]
    delimiter = _detect_delimiter(head)
    rows = _read_rows(head, delimiter, _ROWS + 1)
    if not rows:
        return None
    width = max(len(row) for row in rows)
    has_names = _has_names(rows)
    values = rows[1:] if has_names else rows
    names = rows[0] if has_names else []
    columns = tuple(
        (
            _show_name(names[number] if number < len(names) else "", number),
            _find_type([row[number].strip() for row in values if number < len(row)]),
        )
        for number in range(width)
    )
    is_whole = is_whole and len(rows) <= _ROWS
    return CsvColumns(columns, delimiter, len(values), is_whole, has_names)


def _detect_delimiter(head: str) -> str:
    """Return the delimiter that gives the first rows the most columns of one number."""

    def rate(delimiter: str) -> tuple[int, int]:
        widths = [len(row) for row in _read_rows(head, delimiter, _PROBE_ROWS)]
        if not widths or widths[0] == 1:
            return (0, 0)
        return widths.count(widths[0]), widths[0]

    return max(_DELIMITERS, key=rate)


def _read_rows(head: str, delimiter: str, limit: int) -> list[list[str]]:
    rows: list[list[str]] = []
    try:
        for row in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter):
            if row:
                rows.append(row)
            if len(rows) >= limit:
                break
    except csv.Error:  # a field that never ends, or NUL
        return rows
    return rows


def _has_names(rows: Sequence[Sequence[str]]) -> bool:
    """Return True if the first row has names: texts, each another one."""
    first = [value.strip() for value in rows[0]]
    return all(first) and len(set(first)) == len(first) and all(_find_type([value]) == "text" for value in first)


def _find_type(values: Sequence[str]) -> str:
    filled = [value for value in values if value]
    if not filled:
        return "empty"
    return next((name for name, pattern in _TYPES if all(map(pattern.fullmatch, filled))), "text")


def _show_name(name: str, number: int) -> str:
    shown = " ".join(seen_text(name).split())[:_NAME_CHARS]
    return shown or f"{number + 1}"
