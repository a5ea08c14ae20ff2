"""Normalises tables for Markdown, and replaces layout tables by plain blocks."""

from collections.abc import Iterator
from typing import TypeAlias

from lxml import html
from lxml.html import builder

_LONG_CELL_CHARS = 400
_BREAKS_OF_LAYOUT = 3
_OF_LAYOUT = ("table", "pre", "h1", "h2", "h3", "h4", "article", "section")
_SPAN_LIMIT = 100
"""Limit of row and column spans: larger ones are mistakes, or attacks that exhaust memory."""

_CELLS_LIMIT = 200_000

_TABLE_ROLES = frozenset(("table", "grid", "treegrid"))
_TAGS_BY_ROLE = {
    "row": "tr",
    "cell": "td",
    "gridcell": "td",
    "columnheader": "th",
    "rowheader": "th",
}
_UNNAMED = ("div", "span", "section", "ul", "ol", "li")

Cell: TypeAlias = html.HtmlElement
Row: TypeAlias = list[Cell]


def name_tables_by_role(root: html.HtmlElement) -> None:
    """Turn elements that only their roles make a table into one: without blanks, their cells would run together."""
    for table in reversed([each for each in root.iter(*_UNNAMED) if _read_role(each) in _TABLE_ROLES]):
        rows = [each for each in table.iter(*_UNNAMED) if _read_role(each) == "row"]
        if not rows:
            continue
        for part in (part for row in rows for part in row.iter(*_UNNAMED)):
            part.tag = _TAGS_BY_ROLE.get(_read_role(part), part.tag)
        # out of what groups them; a caption, and what else is between them, stays in front
        table.append(builder.TABLE(*rows))


def _read_role(element: html.HtmlElement) -> str:
    return (element.get("role") or "").strip().lower()


def regularise_tables(root: html.HtmlElement) -> None:
    """Rebuild each data table with one header row and no spans, and flatten layout tables, innermost first."""
    for table in reversed(list(root.iter("table"))):
        if table.getparent() is None:
            continue
        rows = _list_rows(table)
        if _is_layout(table, rows):
            _flatten_layout(table)
        else:
            _rebuild_table(table, rows)


def _list_rows(table: html.HtmlElement) -> list[Row]:
    rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in _iterate_own_parts(table) if row.tag == "tr"]
    return [row for row in rows if row]


def _iterate_own_parts(table: html.HtmlElement) -> Iterator[html.HtmlElement]:
    """Yield the parts of a table without those of nested tables."""
    for part in list(table):
        if part.tag in ("thead", "tbody", "tfoot", "tr"):
            yield from _iterate_own_parts(part)
        if part.tag in ("thead", "tbody", "tfoot", "tr", "td", "th", "caption", "colgroup"):
            yield part


def _is_layout(table: html.HtmlElement, rows: list[Row]) -> bool:
    if table.get("role") in ("presentation", "none") or len(rows) < 2 or max(map(len, rows)) < 2:  # noqa: PLR2004
        return True
    cells = [cell for row in rows for cell in row]
    if any(next(cell.iter(*_OF_LAYOUT), None) is not None for cell in cells):
        return True
    has_heads = all(cell.tag == "th" for cell in rows[0])
    return any(map(_lays_out_lines, cells)) or (not has_heads and any(map(_lays_out_columns, cells)))


def _lays_out_lines(cell: Cell) -> bool:
    return sum(1 for _ in cell.iter("br")) >= _BREAKS_OF_LAYOUT


def _lays_out_columns(cell: Cell) -> bool:
    return len(cell.text_content()) > _LONG_CELL_CHARS


def _flatten_layout(table: html.HtmlElement) -> None:
    for element in _iterate_own_parts(table):
        element.tag = "div"
    table.tag = "div"


def _rebuild_table(table: html.HtmlElement, rows: list[Row]) -> None:
    grid = _build_grid(rows)
    head_rows = max(1, _head_rows(rows))
    heads = [_join_heads([row[column] for row in grid[:head_rows]]) for column in range(len(grid[0]))]
    caption = table.find("caption")
    made = builder.TABLE(
        builder.THEAD(builder.TR(*heads)), builder.TBODY(*(builder.TR(*row) for row in grid[head_rows:]))
    )
    parent = table.getparent()
    made.tail = table.tail
    table.tail = None
    parent.replace(table, made)
    if caption is not None:
        caption.tag = "p"
        caption.tail = None
        made.addprevious(caption)


def _head_rows(rows: list[Row]) -> int:
    """Return the number of leading rows that consist of header cells; 1 if all rows do."""
    for number, row in enumerate(rows):
        if any(cell.tag != "th" for cell in row):
            return number
    return 1


def _build_grid(rows: list[Row]) -> list[Row]:
    """Arrange cells in a grid; a spanning cell is put in its first position, a header cell in each of its columns."""
    cells: dict[tuple[int, int], Cell] = {}
    for y, row in enumerate(rows):
        x = 0
        for cell in row:
            while (y, x) in cells:
                x += 1
            width = _parse_span(cell, "colspan")
            height = min(_parse_span(cell, "rowspan"), len(rows) - y)
            for down in range(height):
                for right in range(width):
                    if len(cells) < _CELLS_LIMIT:
                        cells[y + down, x + right] = (
                            cell if not (down or right) else _create_filler(cell, is_below=bool(down))
                        )
            x += width
    width = max(x for _, x in cells) + 1
    return [[cells.get((y, x)) if (y, x) in cells else builder.TD() for x in range(width)] for y in range(len(rows))]


def _create_filler(cell: Cell, *, is_below: bool) -> Cell:
    return builder.TH(" ".join(cell.text_content().split())) if cell.tag == "th" and not is_below else builder.TD()


def _parse_span(cell: Cell, attribute: str) -> int:
    text = (cell.get(attribute) or "").strip()
    return max(1, min(int(text), _SPAN_LIMIT)) if text.isascii() and text.isdigit() and len(text) < 6 else 1  # noqa: PLR2004


def _join_heads(heads: Row) -> Cell:
    """Join the header cells of one column."""
    first, *more = heads
    words = [" ".join(cell.text_content().split()) for cell in more]
    if not any(words):
        first.tag = "th"
        return first
    return builder.TH(" ".join(word for word in (" ".join(first.text_content().split()), *words) if word))
