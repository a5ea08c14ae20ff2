"""Unified diffs: made for people and models to read, and read to be applied exactly."""

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agentcore.api import ToolError

_CONTEXT_LINES = 3
_COMPARED_LINES = 4_000_000  # product of both sides; beyond it a line-by-line comparison takes seconds
_HUNK = re.compile(r"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")
_NO_NEWLINE = "\\ No newline at end of file"


@dataclass(slots=True)
class Hunk:
    """One place of a diff: lines that go and lines that come, each without its line end.

    Args:
        start: Line, from 1, at which the old lines are said to begin.
        old: Lines as they are, context included.
        new: Lines as they shall be, context included.
        old_at_end: The old lines end with the file, without a line end.
        new_at_end: The new lines end with the file, without a line end.
    """

    start: int
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    old_at_end: bool = False
    new_at_end: bool = False


def make_diff(old: str, new: str, shown: str, *, is_new_file: bool = False) -> str:
    """The difference of two texts as a unified diff; empty when they are equal.

    It is exact always, and minimal where that can be found in a moment.
    """
    if old == new and not is_new_file:
        return ""
    old_lines, new_lines = _lines(old), _lines(new)
    heading = [f"--- {'/dev/null' if is_new_file else 'a/' + shown}\n", f"+++ b/{shown}\n"]
    return "".join([*heading, *(_with_end(line) for line in _hunks(old_lines, new_lines))])


def parse_diff(diff: str) -> list[Hunk]:
    """Read the hunks of a unified diff of one file; names of files in it are not looked at.

    Raises:
        ToolError: `invalid_diff`: no hunk, several files, or a hunk whose counts do not fit its lines.
    """
    lines = diff.replace("\r\n", "\n").split("\n")
    if lines[-1] == "":
        lines.pop()
    hunks: list[Hunk] = []
    position = 0
    while position < len(lines):
        header = _HUNK.match(lines[position])
        if header is not None:
            hunk, position = _read_hunk(lines, position, header)
            hunks.append(hunk)
        elif hunks and lines[position].startswith("--- "):
            raise _invalid("it changes several files; give one file's part", position)
        else:
            position += 1
    if not hunks:
        raise _invalid("it has no hunk that begins with `@@ -LINE,COUNT +LINE,COUNT @@`", 0)
    return hunks


def _read_hunk(lines: Sequence[str], position: int, header: re.Match[str]) -> tuple[Hunk, int]:
    counts = [1 if header[group] is None else int(header[group]) for group in (2, 4)]
    hunk = Hunk(int(header[1]))
    first = position
    position += 1
    while position < len(lines) and (
        len(hunk.old) < counts[0] or len(hunk.new) < counts[1] or lines[position].startswith("\\")
    ):
        _take_line(hunk, lines[position], lines[position - 1][:1], position)
        position += 1
    if [len(hunk.old), len(hunk.new)] != counts:
        found = f"{len(hunk.old)} old and {len(hunk.new)} new lines"
        raise _invalid(f"the hunk says {counts[0]} old and {counts[1]} new lines and has {found}", first)
    if position < len(lines) and lines[position][:1] in ("+", "-", " ") and not lines[position].startswith("--- "):
        raise _invalid(f"the hunk has more lines than its {counts[0]} old and {counts[1]} new ones", first)
    return hunk, position


def _take_line(hunk: Hunk, line: str, before: str, position: int) -> None:
    sign, text = line[:1], line[1:]
    if sign == "\\":
        hunk.old_at_end |= before in ("-", " ")
        hunk.new_at_end |= before in ("+", " ")
    elif sign in (" ", ""):  # editors strip the blank of an empty context line
        hunk.old.append(text)
        hunk.new.append(text)
    elif sign == "-":
        hunk.old.append(text)
    elif sign == "+":
        hunk.new.append(text)
    else:
        raise _invalid(f"{line[:40]!r} begins with none of blank, `-` and `+`", position)


def _invalid(reason: str, position: int) -> ToolError:
    return ToolError("invalid_diff", f"The diff cannot be applied: line {position + 1}: {reason}.", line=position + 1)


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _with_end(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n"


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    """Hunks of two texts, compared only where they differ at all."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    old_end, new_end = len(old) - tail, len(new) - tail
    start = max(head - _CONTEXT_LINES, 0)
    margin = min(_CONTEXT_LINES, tail)
    old_part, new_part = old[start : old_end + margin], new[start : new_end + margin]
    if (old_end - head) * (new_end - head) <= _COMPARED_LINES:
        for line in list(difflib.unified_diff(old_part, new_part, n=_CONTEXT_LINES))[2:]:
            shifted = _HUNK.match(line)
            yield _header(shifted, start) if shifted and line.startswith("@@") else line
        return
    before, after = old[start:head], old[old_end : old_end + margin]
    yield f"@@ -{_range(start, len(old_part))} +{_range(start, len(new_part))} @@\n"
    yield from (f" {line}" for line in before)
    yield from (f"-{line}" for line in old[head:old_end])
    yield from (f"+{line}" for line in new[head:new_end])
    yield from (f" {line}" for line in after)


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _header(header: re.Match[str], shift: int) -> str:
    old, new = (
        _range(int(header[at]) + shift - (header[at + 1] != "0"), 1 if header[at + 1] is None else int(header[at + 1]))
        for at in (1, 3)
    )
    return f"@@ -{old} +{new} @@\n"


def _range(start: int, count: int) -> str:
    """Lines `start` (from 0) and following, as a hunk's header says them."""
    if count == 1:
        return str(start + 1)
    return f"{start + (count > 0)},{count}"
