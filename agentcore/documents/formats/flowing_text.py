"""Running text with tables, as Word, PowerPoint and OpenDocument store it."""

from collections.abc import Callable, Iterator, Mapping

from agentcore.documents.formats.xml_events import End, Event, Start, skip_element

Render = Callable[[Start], str]
"""Returns the text of an element that stands for characters, such as a tab."""

_CELL_BREAK = " / "
_LEFT_OUT = frozenset(("Fallback", "del", "moveFrom"))
"""Elements without a text of their own: what is there once more for older programs, and what tracked changes have
deleted, or moved to another place. Empty ones mark a deleted paragraph end or row."""


class Flow:
    """Collects paragraphs; a row of a table becomes one line, with its cells between bars."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rows: list[tuple[list[str], list[str]]] = []
        self._paragraph: list[str] = []
        self._prefix = ""

    def add_text(self, text: str) -> None:
        """Append to the current paragraph."""
        self._paragraph.append(text)

    def start_paragraph(self, prefix: str = "") -> None:
        """Start a paragraph, which ends one that is open."""
        if self._paragraph:
            self.end_paragraph()
        self._prefix = prefix

    def set_prefix(self, prefix: str) -> None:
        """Set what comes before the text of the current paragraph, such as the mark of a heading."""
        self._prefix = prefix

    def end_paragraph(self) -> None:
        """End the current paragraph."""
        text = "".join(self._paragraph)
        if text.strip():
            self._add_line(f"{self._prefix}{text}")
        elif not self._rows and not self._prefix:
            self._lines.append("")
        self._paragraph.clear()
        self._prefix = ""

    def start_row(self) -> None:
        """Start a row of a table."""
        self._rows.append(([], []))

    def end_cell(self) -> None:
        """End a cell."""
        if self._rows:
            cells, lines = self._rows[-1]
            cells.append(_CELL_BREAK.join(" ".join(line.split()) for line in lines).replace("|", "\\|"))
            lines.clear()

    def end_row(self) -> None:
        """End a row; one inside of a cell becomes a line of it."""
        if self._rows:
            cells, _ = self._rows.pop()
            if any(cells):
                self._add_line(f"| {' | '.join(cells)} |")

    def take_text(self) -> str:
        """Return all lines, and start again."""
        self.end_paragraph()
        text = "\n".join(self._lines).strip("\n")
        self._lines.clear()
        return text

    def _add_line(self, line: str) -> None:
        (self._rows[-1][1] if self._rows else self._lines).append(line)


class OfficeText:
    """Reads text of Office Open XML.

    Args:
        flow: Receives the text.
        breaks: Text of elements that stand for characters.
        heading: Returns the prefix of a paragraph for an element of its properties; empty: it says nothing.
    """

    def __init__(self, flow: Flow, breaks: Mapping[str, str], heading: Render) -> None:
        self._flow = flow
        self._breaks = breaks
        self._heading = heading
        self._is_text = False
        self._is_hidden = False
        self._ends = {"p": flow.end_paragraph, "tc": flow.end_cell, "tr": flow.end_row}

    def read(self, events: Iterator[Event]) -> None:
        """Read a part until its events end."""
        for event in events:
            if isinstance(event, Start):
                if event.name in _LEFT_OUT:
                    skip_element(events)
                else:
                    self._start(event)
            elif isinstance(event, End):
                self._end(event.name)
            elif self._is_text and not self._is_hidden:
                self._flow.add_text(event)

    def _start(self, event: Start) -> None:
        match event.name:
            case "t":
                self._is_text = True
            case "r":
                self._is_hidden = False
            case "vanish":
                # text that people do not see could be a message for models
                self._is_hidden = event.get("val") not in ("0", "false", "off")
            case "p":
                self._is_hidden = False
                self._flow.start_paragraph()
            case "tr":
                self._flow.start_row()
            case name if name in self._breaks:
                self._flow.add_text(self._breaks[name])
            case _:
                self._set_prefix(self._heading(event))

    def _end(self, name: str) -> None:
        if name == "t":
            self._is_text = False
        elif name in self._ends:
            self._ends[name]()

    def _set_prefix(self, prefix: str) -> None:
        if prefix:
            self._flow.set_prefix(prefix)
