"""Changes between two states of a page, by the identity of its nodes."""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence

from agentcore_chrome.tab.page_tree import Line, PageTree

_GONE = 40
_BEFORE_CHARS = 40
_RUN = 8
"""So many neighbours of one kind that were recreated, or are gone, are one line, such as the days of a calendar."""
_FOCUS = " [active]"
"""Mark of the focused line. Losing it is not reported, because the line that gains it is."""


def describe_changes(before: PageTree, after: PageTree) -> list[str]:
    """Return lines that describe the changes: `+` is new, `~` has another text, `>` has moved, `-` is gone.

    A node that was recreated with the same text is reported only if its reference changed. Of a part that is gone or
    has moved, the topmost line is reported.
    """
    old = {line.key: line for line in before.lines}
    keys = {line.key for line in after.lines}
    gone = [line for line in before.lines if line.key not in keys]
    remade = _match_recreated(gone, [line for line in after.lines if line.key not in old])
    moved = _find_moved(before.lines, after.lines)
    return [
        *_describe_head_changes(before, after),
        *_describe_removed(before.lines, keys, remade),
        *_describe_added_or_changed(after.lines, old, remade, moved),
    ]


def is_other_page(before: str, after: str) -> bool:
    """True if two addresses are those of different pages, not of positions in one page."""
    return before.partition("#")[0] != after.partition("#")[0]


def _describe_head_changes(before: PageTree, after: PageTree) -> Iterator[str]:
    if before.url != after.url:
        yield f"~ url: {after.url}"
    if before.title != after.title:
        yield f"~ title: {after.title}"


def _match_recreated(gone: Sequence[Line], come: Sequence[Line]) -> dict[str, Line]:
    """Return pairs of a new line and a removed one with the same text, by the keys of both."""
    free: dict[tuple[str, bool], list[Line]] = defaultdict(list)
    for line in reversed(gone):
        free[line.text, line.ref is None].append(line)
    pairs: dict[str, Line] = {}
    for line in come:
        if like := free[line.text, line.ref is None]:
            old = like.pop()
            pairs[line.key] = old
            pairs[old.key] = line
    return pairs


def _describe_removed(lines: Sequence[Line], keys: set[str], remade: dict[str, Line]) -> Iterator[str]:
    told: list[Line] = []
    inside: Counter[str] = Counter()
    top: Line | None = None
    for line in lines:
        if top is not None and line.depth <= top.depth:
            top = None
        if line.key in keys or line.key in remade:
            continue
        if top is None:
            top = line
            told.append(line)
        else:
            inside[top.key] += 1
    shown = 0
    for run in _find_runs(told, lambda line, next_one: _is_like(line, next_one) and not inside[next_one.key]):
        if shown >= _GONE:
            break
        first, last = run[0], run[-1]
        if len(run) >= _RUN and not inside[first.key]:
            yield f"- {len(run)} elements from {first.text} to {last.text}"
            shown += len(run)
            continue
        for line in run[: _GONE - shown]:
            more = f" and {inside[line.key]} lines in it" if inside[line.key] else ""
            yield f"{line.standalone_text}{more}"
            shown += 1
    if len(told) > shown:
        yield f"- {len(told) - shown} more"


def _find_runs(lines: Sequence[Line], goes_on: Callable[[Line, Line], bool]) -> Iterator[list[Line]]:
    """Split lines where one does not go on with the next."""
    run: list[Line] = []
    for line in lines:
        if run and not goes_on(run[-1], line):
            yield run
            run = []
        run.append(line)
    if run:
        yield run


def _is_like(line: Line, other: Line) -> bool:
    """True if two lines are those of elements of one role and depth."""
    return line.depth == other.depth and line.head.partition(" ")[0] == other.head.partition(" ")[0]


def _follows(ref: str | None, other: str | None) -> bool:
    return ref is not None and other is not None and int(other[1:]) == int(ref[1:]) + 1


def _describe_remade(lines: Sequence[Line], remade: dict[str, Line], indent: str) -> Iterator[str]:
    """Describe neighbouring lines that were recreated with the same text; many of one kind are one line."""

    def goes_on(line: Line, other: Line) -> bool:
        was = remade[line.key].ref, remade[other.key].ref
        return _is_like(line, other) and _follows(line.ref, other.ref) and _follows(*was)

    for run in _find_runs(lines, goes_on):
        first, last = run[0], run[-1]
        if len(run) >= _RUN:
            yield (
                f"~ {indent}- {len(run)} elements from {first.text} [ref={first.ref}] to {last.text} [ref={last.ref}] "
                f"(were {remade[first.key].ref} to {remade[last.key].ref})"
            )
        else:
            yield from (f"~ {indent}{line.standalone_text} (was {remade[line.key].ref})" for line in run)


def _find_moved(before: Sequence[Line], after: Sequence[Line]) -> dict[str, str]:
    """Return the lines that have another order or parent, with the current position of each."""
    place = {line.key: number for number, line in enumerate(before)}
    old = _find_parents(before)
    new = _find_parents(after)
    shared = [line.key for line in after if line.key in place]
    stayed = {shared[number] for number in _find_longest_ascending([place[key] for key in shared])}
    moved: dict[str, str] = {}
    last: dict[str | None, Line] = {}
    for line in after:
        above = new[line.key]
        if line.key in place and above not in moved:
            has_other = above != old[line.key] and (above is None or above in place)
            if line.key not in stayed or has_other:
                before_it = last[above].standalone_text.removeprefix("- ")[:_BEFORE_CHARS] if above in last else ""
                moved[line.key] = f"after {before_it}" if before_it else "first"
        last[above] = line
    return moved


def _find_parents(lines: Sequence[Line]) -> dict[str, str | None]:
    path: list[Line] = []
    parents: dict[str, str | None] = {}
    for line in lines:
        while path and path[-1].depth >= line.depth:
            path.pop()
        parents[line.key] = path[-1].key if path else None
        path.append(line)
    return parents


def _find_longest_ascending(numbers: Sequence[int]) -> list[int]:
    """Return the indices of the longest ascending subsequence."""
    ends: list[int] = []
    at: list[int] = []
    before: list[int] = []
    for here, number in enumerate(numbers):
        length = bisect_left(ends, number)
        before.append(at[length - 1] if length else -1)
        ends[length : length + 1] = [number]
        at[length : length + 1] = [here]
    found: list[int] = []
    here = at[-1] if at else -1
    while here >= 0:
        found.append(here)
        here = before[here]
    return found


def _describe_added_or_changed(
    lines: Sequence[Line], old: dict[str, Line], remade: dict[str, Line], moved: dict[str, str]
) -> Iterator[str]:
    path: list[tuple[Line, bool]] = []
    again: list[Line] = []
    indent = ""
    for line in lines:
        if again and (line.key in old or line.key not in remade or line.ref is None or line.depth != again[0].depth):
            yield from _describe_remade(again, remade, indent)
            again = []
        while path and path[-1][0].depth >= line.depth:
            path.pop()
        was = old.get(line.key)
        is_new = was is None and line.key not in remade
        indent = " " * sum(came for _, came in path)
        path.append((line, is_new))
        if is_new:
            yield f"+ {indent}{str(line).lstrip()}"
        elif line.key in moved:
            yield f"> {indent}{line.standalone_text} (now {moved[line.key]})"
        elif was is not None:
            if line.text not in (was.text, was.text.replace(_FOCUS, "", 1)) or was.ref != line.ref:
                yield f"~ {indent}{line.standalone_text}"
        elif line.ref is not None:
            again.append(line)
    yield from _describe_remade(again, remade, indent)
