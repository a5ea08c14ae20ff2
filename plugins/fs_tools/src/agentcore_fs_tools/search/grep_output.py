"""Output of `grep`: matches grouped by file, with line numbers, context and truncation."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.search.grep_search import (
    MATCH_LIMIT,
    FileHits,
    Search,
    SearchOutcome,
    SearchRequest,
    SkippedFiles,
)
from agentcore_fs_tools.search.lines import LongLine, Match, SearchedText
from agentcore_fs_tools.search.match_selection import count_by_folder, pick_evenly
from agentcore_fs_tools.text.formatting import lines_chars, show_count

LINE_CHARS = 500
"""Of longer lines, only the part around the match is shown."""

TEXT_LIMIT_CHARS = 200_000
"""Maximum length of the text of all matches for a program."""

_AROUND_CHARS = 1_200  # reserved for the text above and below truncated matches
_HEADER_CHARS = 30  # of a file's heading, without its path
_OLD_ENCODINGS = (
    " Files that are neither UTF-8 nor UTF-16 have other bytes for letters beyond ASCII: search those for a part "
    "without them."
)
_NAMED_FILES = 10
_NUL_SIGN = "\N{SYMBOL FOR NULL}"
_NARROW = "Search a folder (`path`), or files of one kind (`glob`)."


@dataclass(slots=True)
class _Shown:
    """The shown lines, and the number of matches and files in them."""

    lines: list[str] = field(default_factory=list)
    matches: int = 0
    files: int = 0


def search_files(
    workspace: Workspace,
    request: SearchRequest,
    context: int,
    program: str | None,
    is_cancelled: Callable[[], bool],
    *,
    limit_chars: int | None = None,
) -> ToolResult:
    """Search and format the matches; if there are too many, show some of each file.

    Args:
        workspace: The workspace to search.
        request: The search request.
        context: Lines to show around each match.
        program: Path of `rg`; None: not installed.
        is_cancelled: Checked periodically.
        limit_chars: Maximum length of the text for a model; None: the caller is a program.
    Raises:
        ToolError: As `Search.run`.
    """
    outcome = Search(workspace, request, program, is_cancelled).run(count_skipped=limit_chars is not None)
    skipped = _format_skipped(outcome.skipped)
    if not outcome.hits:
        searched = repr(request.path) if request.glob is None else f"{request.path!r} ({request.glob})"
        message = f"No match for {request.pattern!r} in {searched}."
        if outcome.is_cut:
            message = f"No match for {request.pattern!r} in the part of {searched} that was searched. {_NARROW}"
        elif not request.pattern.isascii():
            message += _OLD_ENCODINGS
        links = outcome.skipped.links.format_note() if outcome.skipped.links is not None else ""
        message = "\n".join(line for line in (message, skipped, links) if line)
        return ToolResult(message, _build_facts(outcome, request), truncated=outcome.is_cut)
    room = lines_chars(limit_chars or TEXT_LIMIT_CHARS, _AROUND_CHARS)
    shown = (
        _select_names(outcome, room)
        if request.files_only
        else _Matches(workspace, context).format_matches(outcome.hits, room)
    )
    matches = sum(outcome.counts.values())
    is_cut = shown.matches < matches or not outcome.is_counted
    text = [_format_heading(outcome, request, matches), *shown.lines]
    if is_cut:
        text.append(_format_summary(workspace, outcome, request, shown))
    if skipped:
        text.append(skipped if is_cut else f"\n{skipped}")
    return ToolResult("\n".join(text), _build_facts(outcome, request), truncated=is_cut)


def _build_facts(outcome: SearchOutcome, request: SearchRequest) -> dict[str, object]:
    facts: dict[str, object] = {
        "files": [hits.shown for hits in outcome.hits],
        "truncated": outcome.is_cut,
        "total_files": len(outcome.counts),
        "is_total_exact": outcome.is_counted,
    }
    if outcome.skipped.binary:
        facts["skipped_binary"] = outcome.skipped.binary[:_NAMED_FILES]
    if outcome.skipped.ignored is not None:
        facts["skipped_ignored"] = outcome.skipped.ignored
    if outcome.skipped.links is not None:
        facts["skipped_links"] = outcome.skipped.links.list_all()
    if not request.files_only:
        facts["total_matches"] = sum(outcome.counts.values())
        facts["matches"] = [
            {"path": hits.shown, "line": match.number, "column": match.column + 1}
            for hits in outcome.hits
            for match in hits.matches
        ]
    return facts


def _format_heading(outcome: SearchOutcome, request: SearchRequest, matches: int) -> str:
    least = "" if outcome.is_counted else "at least "
    files = show_count(len(outcome.counts), "file")
    if request.files_only:
        return f"{least}{files} with a match"
    return f"{least}{show_count(matches, 'matching line')} in {files}"


def _format_summary(workspace: Workspace, outcome: SearchOutcome, request: SearchRequest, shown: _Shown) -> str:
    """Return how much is shown, where most matches are, and how to find the rest."""
    what = "" if request.files_only else f"{show_count(shown.matches, 'matching line')} from "
    said = [f"Here are {what}{shown.files:,} of these files."]
    if not outcome.is_counted:
        said.append("Counting took too long and was ended, so there are more.")
    root = Workspace.Place(outcome.hits[0].place.root, ())
    folders = [f"{workspace.show(root.child(*way))} ({count:,})" for way, count in count_by_folder(outcome.counts)]
    if folders:
        said.append(f"Most are in {', '.join(folders)[: _AROUND_CHARS // 2]}.")
    said.append(_NARROW if len(outcome.counts) > 1 else "Search for something more special.")
    if not request.files_only and len(outcome.counts) > 1:
        said.append("`files_only` gives the files alone.")
    if request.limit is not None and request.limit < MATCH_LIMIT:
        said.append(f"`limit` gives more than {request.limit:,}.")
    return f"\n[{' '.join(said)}]"


def _format_skipped(skipped: SkippedFiles) -> str:
    """Return the line about files with a match that were left out, and how to include them; empty if there are none."""
    parts = []
    least = "" if skipped.is_counted else "at least "
    if skipped.ignored:
        files = show_count(skipped.ignored, "ignored file")
        parts.append(f"{least}{files} with a match (`no_ignore` searches them)")
    if skipped.binary:
        files = show_count(len(skipped.binary), "binary file")
        names = ", ".join(skipped.binary[:_NAMED_FILES]) + (", …" if len(skipped.binary) > _NAMED_FILES else "")
        parts.append(f"{least}{files} with a match, {names} (`binary` searches them)")
    return f"[Left out: {'; '.join(parts)}.]" if parts else ""


def _select_names(outcome: SearchOutcome, room: int) -> _Shown:
    """Return the paths of the files, or as many at even distances as fit into `room` characters."""
    names = [hits.shown for hits in outcome.hits]
    size = sum(len(name) + 1 for name in names)
    if size > room:
        names = pick_evenly(names, max(len(names) * room // size, 1))
    return _Shown(names, len(names), len(names))


class _Matches:
    """Formats matches file by file within a limit.

    Args:
        workspace: The searched workspace, for reading context.
        context: Lines to show around each match.
    """

    def __init__(self, workspace: Workspace, context: int) -> None:
        self._workspace = workspace
        self._context = context

    def format_matches(self, hits: list[FileHits], room: int) -> _Shown:
        """Format some matches of each file, all of files with few; of too many files, those at even distances."""
        least = sum(len(each.shown) + _HEADER_CHARS + len(next(_match_lines(each.matches[0]))) for each in hits)
        if least > room:
            hits = pick_evenly(hits, max(len(hits) * room // least, 1))
        parts: dict[str, list[str]] = {}
        shown = _Shown(files=len(hits))
        for index, each in enumerate(sorted(hits, key=lambda each: len(each.matches))):  # they leave room for others
            lines, matches = self._format_file(each, room // (len(hits) - index))
            room -= sum(map(len, lines)) + len(lines)
            parts[each.shown] = lines
            shown.matches += matches
        shown.lines = [line for each in hits for line in parts[each.shown]]
        return shown

    def _format_file(self, hits: FileHits, room: int) -> tuple[list[str], int]:
        """Return as many lines of one file as fit, always with its first match, and the number of matches in them."""
        room -= len(hits.shown) + _HEADER_CHARS
        lines: list[str] = []
        matches = kept = 0
        for line, is_match in self._shown_lines(hits):
            room -= len(line) + 1
            if room < 0:
                if matches:
                    break
                if not is_match:
                    continue
                lines.clear()  # no room for its leading context
            lines.append(line)
            if is_match:
                matches = matches + 1
                kept = len(lines)
        if matches == hits.count:
            return [f"\n{hits.shown}", *lines], matches
        # lines after the last match may be leading context of one that is not shown
        return [f"\n{hits.shown} ({matches:,} of {hits.count:,})", *lines[:kept]], matches

    def _shown_lines(self, hits: FileHits) -> Iterator[tuple[str, bool]]:
        """Yield each line, with True if a match starts in it."""
        if not self._context:
            for match in hits.matches:
                yield from _flag_lines(match)
            return
        try:
            file = self._workspace.open_file(hits.place)
        except ToolError:  # it vanished after the matches were confirmed
            yield from (line for match in hits.matches for line in _flag_lines(match))
            return
        with file:
            yield from _with_context(SearchedText(file), hits.matches, self._context)


def _with_context(text: SearchedText, matches: list[Match | LongLine], context: int) -> Iterator[tuple[str, bool]]:
    """Yield matching lines as `12:…`, context lines as `11-…`, and `--` between groups."""
    shown = 0  # the last line that was yielded
    for index, match in enumerate(matches):
        before = text.read_lines_before(match, min(context, match.number - 1 - shown))
        if shown and match.number - len(before) > shown + 1:
            yield "--", False
        for number, line in enumerate(before, match.number - len(before)):
            yield f"{number}-{_cut_line(line, 0)}", False
        yield from _flag_lines(match)
        shown = match.last_number
        following = matches[index + 1].number if index + 1 < len(matches) else shown + context + 1
        for number, line in enumerate(text.read_lines_after(match, min(context, following - shown - 1)), shown + 1):
            yield f"{number}-{_cut_line(line, 0)}", False
            shown = number


def _flag_lines(match: Match | LongLine) -> Iterator[tuple[str, bool]]:
    for index, line in enumerate(_match_lines(match)):
        yield line, not index


def _match_lines(match: Match | LongLine) -> Iterator[str]:
    if isinstance(match, LongLine):
        yield f"{match.number}:{_format_excerpt(match)}"
        return
    for step, line in enumerate(match.content.split(b"\n")):
        yield f"{match.number + step}:{_cut_line(line, match.column if not step else 0)}"


def _format_excerpt(match: LongLine) -> str:
    """Return the part around the first match of a line that is too long to store."""
    text = match.excerpt.decode("utf-8", "ignore").replace("\0", _NUL_SIGN)  # it may start and end within a character
    head = f"({match.excerpt_column:,} bytes) …" if match.excerpt_column else ""
    return f"{head}{text[:LINE_CHARS]}… (the rest of this very long line is left out)"


def _cut_line(line: bytes, column: int) -> str:
    """Decode a line; of a very long one, return the part around a column."""
    text = line.decode("utf-8", "replace").rstrip("\r").replace("\0", _NUL_SIGN)
    if len(text) <= LINE_CHARS:
        return text
    at = len(line[:column].decode("utf-8", "replace"))
    start = max(min(at - LINE_CHARS // 4, len(text) - LINE_CHARS), 0)
    end = start + LINE_CHARS
    head = f"({start:,} characters) …" if start else ""
    tail = f"… ({len(text) - end:,} more characters)" if end < len(text) else ""
    return f"{head}{text[start:end]}{tail}"
