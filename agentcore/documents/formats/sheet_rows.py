"""Rows of a sheet as text: the number of the row, then its cells between bars."""

from collections.abc import Sequence

from agentcore.documents.formats.parser_output import Output

_ROWS_AT_ONCE = 500
_GAP = 8
_CELL_CHARS = 2_000
_LETTERS = 26


class Grid:
    """Writes a sheet's rows while they are read, below a line with the letters of the columns.

    Args:
        output: Receives the text.
        heading: The heading of the sheet.
    """

    def __init__(self, output: Output, heading: str) -> None:
        self._output = output
        self._heading = heading
        self._rows: list[str] = []
        self._width = 0
        self._is_begun = False

    def add_row(self, number: int, cells: Sequence[tuple[int, str]]) -> None:
        """Add a row.

        Args:
            number: Number of the row, from 1.
            cells: Column (from 0) and text of each cell that is not empty, in order.
        """
        filled = [(column, text) for column, text in cells if text]
        if not filled:
            return
        parts = [str(number)]
        expected = 0
        for column, text in filled:
            gap = column - expected
            if gap > _GAP:
                parts.append(f"… {column_name(column)}: {_clean(text)}")
            else:
                parts += [""] * gap
                parts.append(_clean(text))
                self._width = max(self._width, column + 1)
            expected = column + 1
        self._rows.append(" | ".join(parts))
        if len(self._rows) >= _ROWS_AT_ONCE:
            self._write()

    def add_note(self, note: str) -> None:
        """Add a line that is no row."""
        self._rows.append(f"({note})")

    def finish(self) -> None:
        """Write what is left."""
        if self._rows or not self._is_begun:
            self._write()

    def _write(self) -> None:
        lines = self._rows
        if not self._is_begun and self._width:
            lines = [" | ".join(["row", *map(column_name, range(min(self._width, 200)))]), *lines]
        text = "\n".join(lines) or "(empty)"
        self._output.write_part("" if self._is_begun else self._heading, text)
        self._is_begun = True
        self._rows = []


def column_name(column: int) -> str:
    """Return the letters of a column, counted from 0."""
    name = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, _LETTERS)
        name = chr(ord("A") + rest) + name
    return name


def column_number(reference: str) -> int | None:
    """Return the column of a cell such as `BC12`, counted from 0; None if there is none."""
    letters = reference.rstrip("0123456789").upper()
    if not letters.isascii() or not letters.isalpha() or len(letters) > 3:  # noqa: PLR2004 - XFD is the last one
        return None
    number = 0
    for letter in letters:
        number = number * _LETTERS + ord(letter) - ord("A") + 1
    return number - 1


def _clean(text: str) -> str:
    shown = " ".join(text.split()).replace("|", "\\|")
    return shown if len(shown) <= _CELL_CHARS else f"{shown[:_CELL_CHARS]}… ({len(shown):,} characters)"
