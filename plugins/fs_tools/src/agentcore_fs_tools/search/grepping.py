"""What `grep` shows of the matches: grouped by file, with numbers, context and cuts."""

from collections.abc import Callable, Iterator

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.search.candidates import MESSAGE_LIMIT_BYTES
from agentcore_fs_tools.search.lines import LongLine, Match, SearchedText
from agentcore_fs_tools.search.searching import MATCH_LIMIT, FileHits, Search, SearchOutcome, SearchRequest
from agentcore_fs_tools.text.presenting import show_count, show_size

LINE_CHARS = 500
"""Of a longer line the part around the match is shown."""

TEXT_LIMIT_CHARS = 200_000
"""What is shown of all matches together."""

_NARROW = "Search a folder, or with a glob."


def grep(
    workspace: Workspace,
    request: SearchRequest,
    context: int,
    program: str | None,
    is_cancelled: Callable[[], bool],
) -> ToolResult:
    """Search, and show what was found.

    Raises:
        ToolError: As `Search.run`.
    """
    outcome = Search(workspace, request, program, is_cancelled).run()
    lines = sum(len(hits.matches) for hits in outcome.hits)
    if not outcome.hits:
        searched = repr(request.path) if request.glob is None else f"{request.path!r} ({request.glob})"
        message = f"No match for {request.pattern!r} in {searched}."
        if outcome.is_cut:
            message = f"No match for {request.pattern!r} in the part of {searched} that was searched: {_NARROW}"
        return ToolResult(message, _facts(outcome, request), truncated=outcome.is_cut)
    files = show_count(len(outcome.hits), "file")
    if request.files_only:
        text = [f"{files} with a match", *(hits.shown for hits in outcome.hits)]
        is_cut = outcome.is_cut
    else:
        text = [f"{show_count(lines, 'matching line')} in {files}"]
        is_cut = _fill(text, workspace, outcome, context) or outcome.is_cut
    if is_cut:
        text.append(f"[There are more; up to {MATCH_LIMIT:,} are given. {_NARROW}]")
    return ToolResult("\n".join(text), _facts(outcome, request), truncated=is_cut)


def _facts(outcome: SearchOutcome, request: SearchRequest) -> dict[str, object]:
    files = [hits.shown for hits in outcome.hits]
    facts: dict[str, object] = {"files": files, "truncated": outcome.is_cut}
    if not request.files_only:
        facts["matches"] = [
            {"path": hits.shown, "line": match.number, "column": match.column + 1}
            for hits in outcome.hits
            for match in hits.matches
        ]
    return facts


def _fill(text: list[str], workspace: Workspace, outcome: SearchOutcome, context: int) -> bool:
    """Add the lines of each file; whether the bound ended that early."""
    room = TEXT_LIMIT_CHARS
    for hits in outcome.hits:
        text.append(f"\n{hits.shown}")
        for line in _shown_lines(workspace, hits, context):
            room -= len(line) + 1
            if room < 0:
                return True
            text.append(line)
    return False


def _shown_lines(workspace: Workspace, hits: FileHits, context: int) -> Iterator[str]:
    if not context:
        for match in hits.matches:
            yield from _match_lines(match)
        return
    try:
        file = workspace.open_file(hits.place)
    except ToolError:  # it vanished since; the matches were there
        yield from (line for match in hits.matches for line in _match_lines(match))
        return
    with file:
        yield from _with_context(SearchedText(file), hits.matches, context)


def _with_context(text: SearchedText, matches: list[Match | LongLine], context: int) -> Iterator[str]:
    """Matching lines as `12:…`, lines around them as `11-…`, and `--` between groups."""
    shown = 0  # the last line that was given
    for index, match in enumerate(matches):
        before = text.before(match, min(context, match.number - 1 - shown))
        if shown and match.number - len(before) > shown + 1:
            yield "--"
        for number, line in enumerate(before, match.number - len(before)):
            yield f"{number}-{_cut(line, 0)}"
        yield from _match_lines(match)
        shown = match.last_number
        following = matches[index + 1].number if index + 1 < len(matches) else shown + context + 1
        for number, line in enumerate(text.after(match, min(context, following - shown - 1)), shown + 1):
            yield f"{number}-{_cut(line, 0)}"
            shown = number


def _match_lines(match: Match | LongLine) -> Iterator[str]:
    if isinstance(match, LongLine):
        yield f"{match.number}:{_excerpt(match)}"
        return
    for step, line in enumerate(match.content.split(b"\n")):
        yield f"{match.number + step}:{_cut(line, match.column if not step else 0)}"


def _excerpt(match: LongLine) -> str:
    """Of a line too long to be kept the part around its first match."""
    text = match.excerpt.decode("utf-8", "ignore")  # it may begin and end within a character
    head = f"({match.excerpt_column:,} bytes) …" if match.excerpt_column else ""
    return f"{head}{text[:LINE_CHARS]}… (a line of more than {show_size(MESSAGE_LIMIT_BYTES)})"


def _cut(line: bytes, column: int) -> str:
    """A line as text, of a very long one the part around a column."""
    text = line.decode("utf-8", "replace").rstrip("\r")
    if len(text) <= LINE_CHARS:
        return text
    at = len(line[:column].decode("utf-8", "replace"))
    start = max(min(at - LINE_CHARS // 4, len(text) - LINE_CHARS), 0)
    end = start + LINE_CHARS
    head = f"({start:,} characters) …" if start else ""
    tail = f"… ({len(text) - end:,} more characters)" if end < len(text) else ""
    return f"{head}{text[start:end]}{tail}"
