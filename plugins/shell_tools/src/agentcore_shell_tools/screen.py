"""`Screen`: the content of a terminal screen, computed from the output written to it."""

import codecs
import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING

from agentcore.api import Mark, Track
from agentcore_shell_tools.results import ScreenData

if TYPE_CHECKING:
    import avt

PIECE_CHARS = 64
"""Characters drawn at a time: a repeat sequence of only eight characters can produce 1.6 MB of lines."""

_DRAWING_SECONDS = 2.0
_LAST_CHARS = 16_384  # drawn of output that takes too long
_TITLE_CHARS = 200
_CARRIED_CHARS = 512  # a title or mode sequence may arrive in two parts
_HIGHLIGHTED = 10
_TITLE = re.compile(r"\x1b\][02];([^\x07\x1b]*)(?:\x07|\x1b\\)")
_ALTERNATE = re.compile(r"\x1b\[\?(?:47|1047|1049)([hl])")
_CLEARED = re.compile(r"\x1b\[[23]J|\x1bc|\x1b\[\?1049h")
_ADDRESSED = re.compile(r"\x1b\[\d+;\d+[Hf]|\x1b\[\d+d")
_HOME = re.compile(r"\x1b\[(?:;|1;1)?[Hf]")
_HOMES = 2  # a single one only clears the screen
_UPWARDS = re.compile(r"\x1b\[\d*A")


@dataclass(frozen=True, slots=True)
class ScreenView:
    """A snapshot of a terminal screen.

    Args:
        columns: Width in characters.
        lines: Height in rows.
        rows: Text of each row, without trailing blanks, and without the empty rows at the bottom.
        cursor: Row and column of the cursor, from 1; None: it is hidden.
        title: The title set by the program.
        highlighted: Row, from 1, and text with a different background, such as the selected line of a menu.
        is_full_screen: True if the program uses the alternate screen.
        is_partial: True if earlier drawing may be missing.
    """

    columns: int
    lines: int
    rows: Sequence[str]
    cursor: tuple[int, int] | None
    title: str
    highlighted: Sequence[tuple[int, str]]
    is_full_screen: bool
    is_partial: bool

    def to_json(self) -> ScreenData:
        """Return the view as structured data for programs."""
        return {
            "columns": self.columns,
            "lines": self.lines,
            "rows": list(self.rows),
            "cursor": None if self.cursor is None else {"row": self.cursor[0], "column": self.cursor[1]},
            "title": self.title,
            "highlighted": [{"row": row, "text": text} for row, text in self.highlighted],
            "is_full_screen": self.is_full_screen,
            "is_partial": self.is_partial,
        }

    def to_text(self) -> str:
        """Return the view as text for a model."""
        cursor = "hidden" if self.cursor is None else f"at row {self.cursor[0]}, column {self.cursor[1]}"
        title = f", title {self.title!r}" if self.title else ""
        said = [f"[screen of {self.columns} × {self.lines}{title}, cursor {cursor}]", *self.rows]
        if self.highlighted:
            said.append(f"[highlighted: {', '.join(f'row {row} {text!r}' for row, text in self.highlighted)}]")
        if self.is_partial:
            said.append(
                "[more was drawn than is kept: what came before may be missing; most programs redraw on ctrl+l]"
            )
        return "\n".join(said)


class Screen:
    """Emulates one terminal from the output written to it; not thread-safe.

    Args:
        columns: Width of the terminal.
        lines: Height of the terminal.
    """

    def __init__(self, columns: int, lines: int) -> None:
        self._columns = columns
        self._lines = lines
        self._terminal = self._new_terminal()
        self._mark = Mark()
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._carried = self._title = ""
        self._is_full_screen = self._is_partial = False

    @property
    def has_application_keys(self) -> bool:
        """True if the program has switched the cursor keys to application mode."""
        return self._terminal.cursor_key_app_mode

    def update(self, track: Track, columns: int, lines: int) -> ScreenView:
        """Draw the output since the last call, and return the screen.

        Args:
            track: The output written to the terminal.
            columns: Current width.
            lines: Current height.
        """
        if (columns, lines) != (self._columns, self._lines):
            self._columns = columns
            self._lines = lines
            self._terminal.resize(columns, lines)
        excerpt = track.since(self._mark)
        is_gap = excerpt.start.offset > self._mark.offset
        self._mark = excerpt.end
        text = self._decoder.decode(excerpt.data)
        self._is_partial = (self._is_partial or is_gap) and _CLEARED.search(text) is None
        self._read_state(text)
        self._feed_terminal(text)
        return self._build_view()

    def _new_terminal(self) -> "avt.Vt":
        import avt  # noqa: PLC0415 - for terminals that somebody looks at

        return avt.Vt(self._columns, self._lines, 0)

    def _read_state(self, text: str) -> None:
        seen = self._carried + text
        self._carried = seen[-_CARRIED_CHARS:]
        for found in _ALTERNATE.finditer(seen):
            self._is_full_screen = found[1] == "h"
        for found in _TITLE.finditer(seen):
            self._title = "".join(filter(str.isprintable, found[1]))[:_TITLE_CHARS]

    def _feed_terminal(self, text: str) -> None:
        until = time.monotonic() + _DRAWING_SECONDS
        position = 0
        while position < len(text):
            try:
                self._terminal.feed_str(text[position : position + PIECE_CHARS])
            except BaseException as exc:
                if type(exc).__name__ != "PanicException":  # a panic of the emulator, which derives from BaseException
                    raise
                self._terminal = self._new_terminal()
                self._is_partial = True
            position += PIECE_CHARS
            if position < len(text) - _LAST_CHARS and time.monotonic() > until:
                position = len(text) - _LAST_CHARS
                self._is_partial = True

    def _build_view(self) -> ScreenView:
        rows = self._terminal.view()
        shown = [row.text.rstrip() for row in rows]
        while shown and not shown[-1]:
            shown.pop()
        cursor = self._terminal.cursor
        place = (cursor.row + 1, min(cursor.col, self._columns - 1) + 1) if cursor.visible else None
        return ScreenView(
            self._columns,
            self._lines,
            shown,
            place,
            self._title,
            _find_highlighted(rows),
            self._is_full_screen,
            self._is_partial,
        )


def outside_alternate(text: str) -> str:
    """Return the text written to the normal screen, without that written to the alternate screen."""
    kept: list[str] = []
    position = 0
    is_outside = True
    for found in _ALTERNATE.finditer(text):
        if found[1] == "l" and is_outside and not kept:
            pass  # the text starts within the alternate screen
        elif is_outside:
            kept.append(text[position : found.start()])
        is_outside = found[1] == "l"
        position = found.end()
    if is_outside:
        kept.append(text[position:])
    return "".join(kept)


def is_drawn(text: str) -> bool:
    """True if a text positions its output on the screen, so that its lines in order make no sense."""
    return _ADDRESSED.search(text) is not None or len(_HOME.findall(text)) >= _HOMES


def is_redrawn(text: str) -> bool:
    """True if a text moves up to earlier lines, as progress bars and menus do."""
    return _UPWARDS.search(text) is not None


def _find_highlighted(rows: "Sequence[avt.Line]") -> list[tuple[int, str]]:
    """Return text that is inverse or has an unusual background; nothing if there are too many such texts."""
    cells = [row.cells for row in rows]
    (usual, _), *_ = Counter(str(cell.pen.background) for row in cells for cell in row).most_common(1)
    found: list[tuple[int, str]] = []
    for number, row in enumerate(cells, 1):
        stands_out = groupby(row, lambda cell: cell.pen.inverse or str(cell.pen.background) != usual)
        texts = ["".join(cell.char for cell in group if cell.width).strip() for is_it, group in stands_out if is_it]
        found += [(number, text) for text in texts if text]
    return found if len(found) <= _HIGHLIGHTED else []
