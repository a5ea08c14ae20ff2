"""Prints the output of commands: tables and colours for users, JSON for programs."""

import json
import os
import shutil
import sys
from collections.abc import Sequence
from typing import Any, TextIO

import click

from agentcore.cli.own_stdout import own_stdout
from agentcore.cli.terminal.visible_text import display_width, json_safe, json_storable, terminal_safe, truncate_line
from agentcore.valid_text import valid_text

_LEAST_COLUMN = 20
_GAP = "  "


def uses_colour(stream: TextIO) -> bool:
    """True if colours are used on a stream: it is a terminal and NO_COLOR is not set (https://no-color.org)."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def colour_text(text: str, colour: str, stream: TextIO | None = None, *, bold: bool = False) -> str:
    """Return the text in a colour if the stream (stdout by default) uses colours."""
    return click.style(text, fg=colour, bold=bold or None) if uses_colour(stream or sys.stdout) else text


def print_json(value: Any) -> None:
    """Print a value as indented JSON, and nothing else."""
    print_json_text(json.dumps(value, ensure_ascii=False, indent=2))


def print_json_text(text: str) -> None:
    """Print JSON text; characters that cannot be written, or are harmful on a terminal, become JSON escapes."""
    stream = own_stdout()
    click.echo(json_safe(text) if stream.isatty() else json_storable(text), file=stream)


def print_text(text: str) -> None:
    """Print untrusted text: with harmful characters escaped on a terminal, unescaped for a program."""
    shown = terminal_safe(text) if sys.stdout.isatty() else valid_text(text)
    click.echo(shown, nl=not shown.endswith("\n"))


def print_notice(text: str, head: str = "") -> None:
    """Print a notice to the user on stderr; only `text` is escaped, so `head` may contain colours."""
    click.echo(f"{head} {terminal_safe(text)}" if head else terminal_safe(text), err=True)


def print_warning(text: str) -> None:
    """Warn on stderr."""
    print_notice(text, colour_text("warning:", "yellow", sys.stderr, bold=True))


def print_table(header: Sequence[str], rows: Sequence[Sequence[str]], colours: Sequence[str | None] = ()) -> None:
    """Print aligned columns; on a terminal the last one is truncated to the remaining width.

    Args:
        header: One title per column.
        rows: One cell per column in each row; only the first line of a cell is shown.
        colours: A colour for each row's first cell, or None.
    """
    safe = [[terminal_safe(cell).split("\n", 1)[0] for cell in row] for row in rows]
    widths = [max(display_width(row[index]) for row in [list(header), *safe]) for index in range(len(header))]
    room = _room_of_last(widths)
    click.echo(_format_row(header, widths, room).upper())
    for index, row in enumerate(safe):
        line = _format_row(row, widths, room)
        colour = colours[index] if index < len(colours) else None
        if colour:
            line = colour_text(line[: len(row[0])], colour) + line[len(row[0]) :]
        click.echo(line)


def size_text(size_bytes: int) -> str:
    """Format a size for users: `512 B`, `1.5 KB`, `3.0 MB`."""
    size = float(size_bytes)
    for unit in ("B", "KB", "MB"):
        if size < 1024:  # noqa: PLR2004 - bytes in a kilobyte
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} GB"


def _room_of_last(widths: Sequence[int]) -> int | None:
    if not sys.stdout.isatty():
        return None
    taken = sum(widths[:-1]) + len(_GAP) * (len(widths) - 1)
    return max(shutil.get_terminal_size().columns - taken, _LEAST_COLUMN)


def _format_row(cells: Sequence[str], widths: Sequence[int], room: int | None) -> str:
    padded = [cell + " " * (width - display_width(cell)) for cell, width in zip(cells[:-1], widths[:-1], strict=True)]
    last = cells[-1] if room is None else truncate_line(cells[-1], room)
    return _GAP.join([*padded, last]).rstrip()
