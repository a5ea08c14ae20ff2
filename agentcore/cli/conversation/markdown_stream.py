"""Styles streaming Markdown on a terminal: headings, emphasis, code, lists and quotes, without reflowing the text."""

import re
from collections.abc import Callable

import click

from agentcore.cli.terminal.visible_text import terminal_safe

_SPAN_CHARS = 240
"""Maximum number of characters buffered for the end of a span; longer text is shown as plain text."""

_LINE_HEAD = re.compile(r"( *)(#{1,6} +|[-*+] +|> ?|```[^`\n]*|~~~[^\n]*)?")
_UNDECIDED = re.compile(r" *(#{0,6}|[-*+>]|`{0,2}|~{0,2})\Z")
_MARKER = re.compile(r"\*\*|\*\Z|`")
_SPAN = re.compile(r"`([^`\n]+)`|\*\*(\S|\S[^\n]*?\S)\*\*")
_FENCE = re.compile(r" *(```|~~~)")


class MarkdownStream:
    """Accepts a text in chunks and writes it with styles.

    Args:
        write: Writes the styled text.
    """

    def __init__(self, write: Callable[[str], object]) -> None:
        self._write = write
        self._held = ""
        self._is_line_start = True
        self._is_heading = self._is_code = False

    def feed(self, piece: str) -> None:
        """Write a chunk as far as its style is decided."""
        self._held += terminal_safe(piece)
        self._write_decided(is_end=False)

    def finish(self) -> None:
        """Write the buffered text at the end of the stream."""
        self._write_decided(is_end=True)
        self._is_line_start = True
        self._is_heading = self._is_code = False

    def _write_decided(self, *, is_end: bool) -> None:
        shown = []
        while self._held:
            line, feed, rest = self._held.partition("\n")
            is_whole = bool(feed) or is_end
            if self._is_line_start:
                if not is_whole and self._is_undecided(line):
                    break
                line, head = self._start_line(line)
                shown.append(head)
            text, left = self._style_line(line, is_whole=is_whole)
            shown.append(text)
            self._held = left + feed + rest if left else rest
            if left:
                break
            if feed:
                shown.append("\n")
                self._is_line_start = True
                self._is_heading = False
        if text := "".join(shown):
            self._write(text)

    def _is_undecided(self, line: str) -> bool:
        if self._is_code:
            # it is the closing fence, or may become it
            return _FENCE.match(line) is not None or not line.strip(" `~")
        return _UNDECIDED.fullmatch(line) is not None or _FENCE.match(line) is not None

    def _start_line(self, line: str) -> tuple[str, str]:
        """Return the rest of a line, and its styled beginning."""
        if _FENCE.match(line):
            self._is_code = not self._is_code
            self._is_line_start = False
            return "", click.style(line, dim=True)
        self._is_line_start = False
        if self._is_code:
            return line, ""
        match = _LINE_HEAD.match(line)
        assert match is not None  # noqa: S101 - it matches the empty text
        indent = match[1]
        mark = match[2] or ""
        rest = line[match.end() :]
        if mark.startswith("#"):
            self._is_heading = True
            return rest, indent
        if mark.startswith(">"):
            return rest, f"{indent}{click.style('│', dim=True)} "
        return (rest, f"{indent}• ") if mark else (line, "")

    def _style_line(self, line: str, *, is_whole: bool) -> tuple[str, str]:
        """Return the styled text as far as it is decided, and the rest to buffer."""
        if self._is_code:
            return (click.style(line, fg="cyan") if line else ""), ""
        shown = []
        at = 0
        while marker := _MARKER.search(line, at):
            shown.append(self._style_plain(line[at : marker.start()]))
            at = marker.start()
            span = _SPAN.match(line, at)
            if span is None and not is_whole and len(line) - at < _SPAN_CHARS:
                return "".join(shown), line[at:]
            if span is None:
                shown.append(self._style_plain(marker[0]))
                at = marker.end()
            else:
                code, strong = span.groups()
                shown.append(click.style(code, fg="cyan") if code is not None else click.style(strong, bold=True))
                at = span.end()
        shown.append(self._style_plain(line[at:]))
        return "".join(shown), ""

    def _style_plain(self, text: str) -> str:
        return click.style(text, bold=True) if text and self._is_heading else text
