"""Create unified diffs for users and models, and parse diffs so that they can be applied exactly."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from agentcore.api import ToolError
from agentcore_fs_tools.edit.limits import COMPARED_LINES, IsCancelled, StoppableMatcher, never_cancelled
from agentcore_fs_tools.text.formatting import show_count

_CONTEXT_LINES = 3
_SPLIT_LINES = 20_000  # of both sides together; more are not split into one object per line
_BLOCK_CHARS = 1 << 16
_HUNK = re.compile(r"^@@(?: -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@|(?![ ]?[-+]\d))")
_FILE_HEADERS = ("diff ", "index ", "*** ")
_NEXT_FILES = ("--- ", "*** Add ", "*** Delete ", "*** Update ")
_NO_NEWLINE = "\\ No newline at end of file"


@dataclass(slots=True)
class Hunk:
    """A hunk of a diff: removed and added lines, each without its line end.

    Args:
        start: Line, from 1, at which the old lines start according to the diff; None: it does not say.
        old: Lines before the change, including context.
        new: Lines after the change, including context.
        old_at_end: The old lines end at the end of the file, without a final line end.
        new_at_end: The new lines end at the end of the file, without a final line end.
    """

    start: int | None
    old: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    old_at_end: bool = False
    new_at_end: bool = False


def make_diff(
    old: str,
    new: str,
    shown: str,
    *,
    is_new_file: bool = False,
    limit_chars: int | None = None,
    is_cancelled: IsCancelled = never_cancelled,
) -> str:
    """Return the difference between two texts as a unified diff, empty if they are equal.

    The diff is always exact unless it is truncated, and minimal if that can be computed quickly. Of large texts, only
    the differing part is split into lines, and only as far as it is shown.

    Args:
        limit_chars: A longer diff is truncated after a line and ends with the number of omitted lines; None: no limit.
    Raises:
        ToolError: `cancelled`.
    """
    if old == new and not is_new_file:
        return ""
    heading = [f"--- {'/dev/null' if is_new_file else 'a/' + shown}\n", f"+++ b/{shown}\n"]
    lines, count = _build_hunks(_find_difference(old, new), is_cancelled)
    made = list(heading)
    size = sum(map(len, made))
    for line in map(_with_end, lines):
        size += len(line)
        if limit_chars is not None and size > limit_chars:
            made.append(f"[{show_count(count, 'more line')} of the diff left out]\n")
            break
        made.append(line)
        count -= line.count("\n")
    return "".join(made)


def parse_diff(diff: str) -> list[Hunk]:
    """Parse the hunks of a unified diff of one file; file names in it are ignored.

    Raises:
        ToolError: `invalid_diff`: no hunk, several files, or a hunk whose lines cannot be told from what follows.
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
        elif hunks and lines[position].startswith(_NEXT_FILES):
            raise _invalid_diff("it changes several files; give one file's part", position)
        else:
            position += 1
    if not hunks:
        raise _invalid_diff("it has no hunk that begins with `@@ -LINE,COUNT +LINE,COUNT @@`, or with `@@` alone", 0)
    return hunks


def _read_hunk(lines: Sequence[str], position: int, header: re.Match[str]) -> tuple[Hunk, int]:
    """Read a hunk by the counts of its header, or, if these are wrong or missing, up to what is no line of a hunk."""
    if header[1] is not None:
        counts = [1 if header[group] is None else int(header[group]) for group in (2, 4)]
        end = _find_end_by_counts(lines, position + 1, *counts)
        if end is not None:
            return _build_hunk(lines, position + 1, end, int(header[1])), end
    end = position + 1
    while end < len(lines) and not _starts_new_part(lines, end):
        end += 1
    following = end
    while end > position + 1 and lines[end - 1] == "":  # blank lines between two hunks, or behind the last
        end -= 1
    hunk = _build_hunk(lines, position + 1, end, None if header[1] is None else int(header[1]))
    if not hunk.old and not hunk.new:
        raise _invalid_diff("the hunk has no lines", position)
    if not hunk.old and hunk.start is None:
        raise _invalid_diff("the hunk only adds lines and does not say where; give lines around them", position)
    return hunk, following


def _find_end_by_counts(lines: Sequence[str], start: int, old_count: int, new_count: int) -> int | None:
    """Return where a hunk with these numbers of lines ends; None: its lines do not fit them."""
    old = new = 0
    position = start
    while position < len(lines) and (old < old_count or new < new_count or lines[position].startswith("\\")):
        sign = lines[position][:1]
        if sign not in ("\\", "-", "+", " ", ""):
            return None
        old += sign in ("-", " ", "")
        new += sign in ("+", " ", "")
        position += 1
    if (old, new) != (old_count, new_count):
        return None
    has_more = position < len(lines) and lines[position][:1] in ("+", "-", " ")
    return None if has_more and not _starts_new_part(lines, position) else position


def _starts_new_part(lines: Sequence[str], position: int) -> bool:
    """Return True at the header of a hunk or of a file."""
    line = lines[position]
    if line.startswith("--- "):  # may also be a removed line
        return position + 1 < len(lines) and lines[position + 1].startswith("+++ ")
    return line.startswith(_FILE_HEADERS) or _HUNK.match(line) is not None


def _build_hunk(lines: Sequence[str], start: int, end: int, first_line: int | None) -> Hunk:
    hunk = Hunk(first_line)
    for position in range(start, end):
        _add_line(hunk, lines[position], lines[position - 1][:1], position)
    return hunk


def _add_line(hunk: Hunk, line: str, before: str, position: int) -> None:
    sign = line[:1]
    text = line[1:]
    if sign == "\\":
        hunk.old_at_end |= before in ("-", " ")
        hunk.new_at_end |= before in ("+", " ")
    elif sign in (" ", ""):  # editors strip the space of an empty context line
        hunk.old.append(text)
        hunk.new.append(text)
    elif sign == "-":
        hunk.old.append(text)
    elif sign == "+":
        hunk.new.append(text)
    else:
        raise _invalid_diff(f"{line[:40]!r} begins with none of blank, `-` and `+`", position)


def _invalid_diff(reason: str, position: int) -> ToolError:
    return ToolError("invalid_diff", f"The diff cannot be applied: line {position + 1}: {reason}.", line=position + 1)


@dataclass(frozen=True, slots=True)
class _Difference:
    """The differing part of two texts, from the first differing line to the last.

    Args:
        start: Number of its first line, from 0.
        before: The common lines before it, as many as a diff shows.
        old: The part of the old text.
        new: The part of the new text.
        after: The common lines after it, as many as a diff shows.
    """

    start: int
    before: list[str]
    old: str
    new: str
    after: list[str]


def _find_difference(old: str, new: str) -> _Difference:
    head = old.rfind("\n", 0, _common_start(old, new)) + 1
    tail = _common_end(old, new, min(len(old), len(new)) - head)
    old_end = len(old) - tail
    new_end = len(new) - tail
    if not (_is_line_start(old, old_end) and _is_line_start(new, new_end)):
        line_end = old.find("\n", old_end)
        tail = len(old) - (line_end + 1) if line_end >= 0 else 0
        old_end = len(old) - tail
        new_end = len(new) - tail
    first = head
    for _ in range(_CONTEXT_LINES):
        first = old.rfind("\n", 0, max(first - 1, 0)) + 1
    return _Difference(
        start=old.count("\n", 0, head),
        before=list(_split_lines(old[first:head])),
        old=old[head:old_end],
        new=new[head:new_end],
        after=list(_split_lines(old, old_end, _CONTEXT_LINES)),
    )


def _common_start(left: str, right: str) -> int:
    """Return the length of the common prefix, comparing in blocks to avoid copying the whole texts."""
    at = 0
    end = min(len(left), len(right))
    while at < end and left[at : at + _BLOCK_CHARS] == right[at : at + _BLOCK_CHARS]:
        at += _BLOCK_CHARS
    if at >= end:
        return end
    return at + _count_common_prefix(left[at : at + _BLOCK_CHARS], right[at : at + _BLOCK_CHARS])


def _common_end(left: str, right: str, limit: int) -> int:
    """Return the length of the common suffix, at most `limit`."""
    at = 0
    while at < limit:
        size = min(_BLOCK_CHARS, limit - at)
        one = left[len(left) - at - size : len(left) - at]
        other = right[len(right) - at - size : len(right) - at]
        if one != other:
            return at + _count_common_prefix(one[::-1], other[::-1])
        at += size
    return limit


def _count_common_prefix(left: str, right: str) -> int:
    """Return the length of the common prefix of two short texts."""
    pairs = enumerate(zip(left, right, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(left), len(right)))


def _is_line_start(text: str, position: int) -> bool:
    return position == 0 or text[position - 1] == "\n"


def _split_lines(text: str, start: int = 0, count: int = -1) -> Iterator[str]:
    """Yield the lines from position `start`, each with its line end; at most `count` unless that is negative."""
    while start < len(text) and count:
        end = text.find("\n", start) + 1 or len(text)
        yield text[start:end]
        start = end
        count -= 1


def _count_lines(text: str) -> int:
    return text.count("\n") + (text != "" and not text.endswith("\n"))


def _with_end(line: str) -> str:
    return line if line.endswith("\n") else f"{line}\n{_NO_NEWLINE}\n"


def _build_hunks(difference: _Difference, is_cancelled: IsCancelled) -> tuple[Iterator[str], int]:
    """Return the lines of all hunks and the number of lines of text in them."""
    old_count = _count_lines(difference.old)
    new_count = _count_lines(difference.new)
    if old_count * new_count <= COMPARED_LINES and old_count + new_count <= _SPLIT_LINES:
        lines = _compare_lines(difference, is_cancelled)
        return iter(lines), sum(_with_end(line).count("\n") for line in lines)
    around = len(difference.before) + len(difference.after)
    count = 1 + around + old_count + new_count
    ends = (difference.old, difference.new) if not difference.after else (difference.after[-1],)
    count += sum(end != "" and not end.endswith("\n") for end in ends)
    return _replace_whole(difference, around + old_count, around + new_count), count


def _compare_lines(difference: _Difference, is_cancelled: IsCancelled) -> list[str]:
    """Return hunks of only the lines that differ."""
    old = [*difference.before, *_split_lines(difference.old), *difference.after]
    new = [*difference.before, *_split_lines(difference.new), *difference.after]
    start = difference.start - len(difference.before)
    made: list[str] = []
    for group in StoppableMatcher(old, new, is_cancelled).get_grouped_opcodes(_CONTEXT_LINES):
        _, old_first, _, new_first, _ = group[0]
        _, _, old_last, _, new_last = group[-1]
        old_range = _format_range(start + old_first, old_last - old_first)
        made.append(f"@@ -{old_range} +{_format_range(start + new_first, new_last - new_first)} @@\n")
        for tag, old_from, old_to, new_from, new_to in group:
            if tag == "equal":
                made += [f" {line}" for line in old[old_from:old_to]]
                continue
            made += [f"-{line}" for line in old[old_from:old_to]]
            made += [f"+{line}" for line in new[new_from:new_to]]
    return made


def _replace_whole(difference: _Difference, old_count: int, new_count: int) -> Iterator[str]:
    """Yield one hunk that removes all old lines and adds all new lines."""
    start = difference.start - len(difference.before)
    yield f"@@ -{_format_range(start, old_count)} +{_format_range(start, new_count)} @@\n"
    yield from (f" {line}" for line in difference.before)
    yield from (f"-{line}" for line in _split_lines(difference.old))
    yield from (f"+{line}" for line in _split_lines(difference.new))
    yield from (f" {line}" for line in difference.after)


def _format_range(start: int, count: int) -> str:
    """Return the range of a hunk header for `count` lines from line `start` (from 0)."""
    if count == 1:
        return str(start + 1)
    return f"{start + (count > 0)},{count}"
