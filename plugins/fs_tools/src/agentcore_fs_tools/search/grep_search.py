"""`grep`: run ripgrep, limit the number of its matches and confirm that they exist."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from operator import itemgetter

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.search.candidates import FileMatches, read_candidates, read_counts
from agentcore_fs_tools.search.glob_patterns import FileFilter
from agentcore_fs_tools.search.glob_search import Globbing
from agentcore_fs_tools.search.ignoring import GIT_FOLDER, folder_glob, rules_above
from agentcore_fs_tools.search.lines import LongLine, Match, SearchedText
from agentcore_fs_tools.search.links import UnfollowedLinks
from agentcore_fs_tools.search.match_selection import fair_share, pick_evenly
from agentcore_fs_tools.search.ripgrep import (
    OutputCutError,
    RipgrepError,
    arguments_against_git,
    pattern_error,
    run_ripgrep,
)
from agentcore_fs_tools.text.encoding import is_binary

MATCH_LIMIT = 1_000
"""Maximum matching lines (or files, with `files_only`); of more, some of each file are returned and all are counted."""

COUNT_SECONDS = 5.0
"""Time limit for counting all matches if there are too many to return."""

_BINARY_NAMED = 1_000
"""Maximum number of binary files with a match that are reported."""

SKIPPED_SECONDS = 0.25
"""Time limit of each look for matches in ignored and in binary files, …"""

SKIPPED_SECONDS_ALONE = 2.0
"""… and if there are no other matches."""

_LOOKED_AT_BYTES = 1 << 20  # checked for a NUL, in a file given as `path`
_NAMED_BYTES = 256 << 10  # of file names passed to ripgrep: systems limit the size of arguments
_COUNTS_LIMIT_BYTES = 16 << 20
_OUTPUT_LIMIT_BYTES = 1 << 30  # of ripgrep; one long line with many matches produces that much, but little is stored
_MEMORY_BYTES = 8 << 30  # of ripgrep, which reads each line whole, and with `multiline` each file


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """The arguments of a search.

    Args:
        pattern: A regular expression in ripgrep's dialect.
        path: File or folder to search.
        glob: Filter for files in a folder, like ripgrep's `--glob`.
        ignore_case: True for a case-insensitive search.
        files_only: True if one match per file is enough.
        multiline: True if a match may span lines.
        no_ignore: True to search ignored files as well.
        binary: True to search files with a NUL as well.
        limit: Maximum number of matching lines, or of files with `files_only`; None: `MATCH_LIMIT`.
    """

    pattern: str
    path: str = "."
    glob: str | None = None
    ignore_case: bool = False
    files_only: bool = False
    multiline: bool = False
    no_ignore: bool = False
    binary: bool = False
    limit: int | None = None


@dataclass(frozen=True, slots=True)
class FileHits:
    """Confirmed matches in one file, their total number, and the path for reading context."""

    place: Workspace.Place
    shown: str
    matches: list[Match | LongLine]
    count: int


@dataclass(slots=True)
class SkippedFiles:
    """Files with a match that were left out.

    Args:
        ignored: Number of files that `.gitignore` names; None: not counted.
        binary: Files with a NUL, as shown to callers.
        is_counted: True if there are not more.
        links: Links below the folder; None: not looked for, because there are matches.
    """

    ignored: int | None = None
    binary: list[str] = field(default_factory=list)
    is_counted: bool = True
    links: UnfollowedLinks | None = None


@dataclass(slots=True)
class SearchOutcome:
    """The result of a search.

    Args:
        hits: Confirmed matches by file, sorted by path.
        counts: Number of matches of each file, by its path beneath the root; more than in `hits` if those are cut.
        is_cut: True if there are matches that are not in `hits`.
        is_counted: True if the counts are complete; otherwise there may be more.
        skipped: Files with a match that were left out.
    """

    hits: list[FileHits] = field(default_factory=list)
    counts: dict[bytes, int] = field(default_factory=dict)
    is_cut: bool = False
    is_counted: bool = True
    skipped: SkippedFiles = field(default_factory=SkippedFiles)

    def limit_hits(self, limit: int) -> None:
        """Remove matches beyond a limit, so that some of each file stay."""
        if sum(len(each.matches) for each in self.hits) <= limit:
            return
        chosen = pick_evenly(self.hits, limit)
        share = fair_share([len(each.matches) for each in chosen], limit)
        self.hits = [replace(each, matches=each.matches[:share]) for each in chosen]
        self.is_cut = True


class Search:
    """One search in progress.

    Args:
        workspace: The workspace to search.
        request: The search request.
        program: Path of `rg`; None: not installed.
        is_cancelled: Checked periodically.
    """

    def __init__(
        self, workspace: Workspace, request: SearchRequest, program: str | None, is_cancelled: Callable[[], bool]
    ) -> None:
        self._workspace = workspace
        self._request = request
        self._program = program
        self._is_cancelled = is_cancelled
        self._filter = None if request.glob is None else FileFilter(request.glob)
        self._binary: set[bytes] = set()
        if "\0" in request.pattern:
            raise ToolError("invalid_regex", "The regular expression holds a NUL character.", position=0)

    def run(self, *, count_skipped: bool = False) -> SearchOutcome:
        """Run the search; if there are too many matches, count all and return some of each file.

        Args:
            count_skipped: True to look for matches in ignored and binary files even if there are other matches.
        Raises:
            ToolError: `invalid_regex`, `binary_file`, `search_failed`, `cancelled`, and those of opening.
        """
        place = self._workspace.find_place(self._request.path)
        status = self._workspace.stat(place)
        # the real path, so that `.gitignore` rules and ripgrep use the same folder names
        place = self._workspace.locate(self._workspace.real_path(place))
        if Workspace.kind_of(status) == "directory":
            area = _Area(place, self._build_ignore_rules(place))
        else:
            if not self._request.binary:
                self._refuse_binary(place)
            area = _Area(place, is_file=True)
        outcome = self._run_in(area)
        if not area.is_file and (outcome.hits or not outcome.is_cut):
            is_thorough = count_skipped and not outcome.is_cut  # a cut search has taken long enough
            outcome.skipped = self._find_skipped(area, outcome, is_thorough=is_thorough)
            if not outcome.hits:
                outcome.skipped.links = self._find_links(area)
        if self._request.limit is not None:
            outcome.limit_hits(self._request.limit)
        return outcome

    def _run_in(self, area: "_Area") -> SearchOutcome:
        found, is_cut = self._find_candidates(area, MATCH_LIMIT + 1, MATCH_LIMIT)
        if is_cut:
            return self._search_evenly(area, found)
        hits = self._confirm_hits(area.place, found, {})
        counts = {b"/".join(each.place.parts): each.count for each in hits}
        return SearchOutcome(hits, counts)

    def _find_skipped(self, area: "_Area", outcome: SearchOutcome, *, is_thorough: bool) -> SkippedFiles:
        """Return which files with a match were left out.

        Args:
            is_thorough: False: if there are other matches, only those that ripgrep has reported anyway.
        """
        skipped = SkippedFiles()
        binary = self._binary
        if is_thorough or not outcome.hits:
            limit_s = SKIPPED_SECONDS if outcome.hits else SKIPPED_SECONDS_ALONE
            if not self._request.binary:
                more, skipped.is_counted = self._list_files(area, ["--binary"], limit_s)
                binary = (binary | more) - outcome.counts.keys()
            if not self._request.no_ignore:
                ignored, is_counted = self._list_files(area, ["--no-ignore"], limit_s)
                skipped.ignored = len(ignored - outcome.counts.keys() - binary)
                skipped.is_counted = skipped.is_counted and is_counted
        root = Workspace.Place(area.place.root, ())
        places = [root.child(*path.split(b"/")) for path in sorted(binary)[:_BINARY_NAMED]]
        skipped.binary = [self._workspace.show(place) for place in places if self._is_inside(place)]
        skipped.is_counted = skipped.is_counted and len(binary) <= _BINARY_NAMED
        return skipped

    def _find_links(self, area: "_Area") -> UnfollowedLinks:
        """Return the links below the folder that may hide matches; those to files lead to what is searched itself."""
        globbing = Globbing(
            self._workspace,
            area.place,
            "",
            no_ignore=self._request.no_ignore,
            program=self._program,
            is_cancelled=self._is_cancelled,
        )
        return globbing.find_links(SKIPPED_SECONDS_ALONE)

    def _is_inside(self, place: Workspace.Place) -> bool:
        """True if a path is a file beneath its root: a swapped folder may have led ripgrep outside."""
        try:
            with self._workspace.open_folder(Workspace.Place(place.root, place.parts[:-1])) as folder:
                return folder.file_times([place.parts[-1]])[0] is not None
        except ToolError:
            return False

    def _list_files(self, area: "_Area", options: list[str], limit_s: float) -> tuple[set[bytes], bool]:
        """Return the files with a match under other options, and whether these are all."""
        found: set[bytes] = set()
        until = time.monotonic() + limit_s

        def is_over() -> bool:
            return self._is_cancelled() or time.monotonic() > until

        try:
            with self._run_ripgrep(
                area, ["--files-with-matches", "--null", *options], is_over, _COUNTS_LIMIT_BYTES
            ) as output:
                rest = b""
                for block in output:
                    *paths, rest = (rest + block).split(b"\0")
                    bare = (path.removeprefix(b"./") for path in paths)
                    found.update(path for path in bare if self._is_selected(area, FileMatches(path)))
        except OutputCutError:
            return found, False
        except ToolError as error:
            if self._is_cancelled():
                raise
            if error.type not in ("cancelled", "search_failed"):
                raise
            return found, False
        return found, True

    def _search_evenly(self, area: "_Area", found: list[FileMatches]) -> SearchOutcome:
        """Count all matches and return some of each file, or of files spread evenly over the tree."""
        counts, is_counted = self._count_matches(area)
        for each in found:  # counting may have stopped before it reached them
            counts[each.path] = max(counts.get(each.path, 0), len(each.matches))
        if not counts:
            return SearchOutcome(is_cut=True, is_counted=False)
        chosen = pick_evenly(sorted(counts), MATCH_LIMIT)
        share = fair_share([counts[path] for path in chosen], MATCH_LIMIT)
        named = _Area(area.place, paths=_within_bytes(chosen, _NAMED_BYTES), is_file=True)
        spread, _ = self._find_candidates(named, share, 2 * MATCH_LIMIT)
        hits = self._confirm_hits(area.place, spread, counts)
        return SearchOutcome(hits, counts, is_cut=True, is_counted=is_counted)

    def _refuse_binary(self, place: Workspace.Place) -> None:
        with self._workspace.open_file(place) as file, self._workspace.errors(place):
            head = file.read(_LOOKED_AT_BYTES)
        if is_binary(head):
            shown = self._workspace.show(place)
            message = f"{shown!r} is a binary file and is not searched; `binary` searches it nevertheless."
            raise ToolError("binary_file", message, path=shown)

    def _find_candidates(self, area: "_Area", limit_per_file: int, limit: int) -> tuple[list[FileMatches], bool]:
        """Return the matches that ripgrep reports, and whether there may be more."""
        collected: list[FileMatches] = []
        total = 0
        options = ["--json", f"--max-count={1 if self._request.files_only else limit_per_file}"]
        try:
            with self._run_ripgrep(area, options, self._is_cancelled) as output:
                for found in read_candidates(output):
                    if not self._is_selected(area, found):
                        continue
                    if found.is_binary and not area.is_file:
                        self._binary.add(found.path)
                        continue
                    collected.append(found)
                    total += 1 if self._request.files_only else len(found.matches)
                    if total > limit:
                        return collected, True
        except OutputCutError:
            return collected, True
        return collected, False

    def _count_matches(self, area: "_Area") -> tuple[dict[bytes, int], bool]:
        """Return the number of matches of each file, and whether the counts are complete."""
        counts: dict[bytes, int] = {}
        until = time.monotonic() + COUNT_SECONDS

        def is_over() -> bool:
            return self._is_cancelled() or time.monotonic() > until

        options = ["--count", "--null", "--with-filename"] + ["--max-count=1"] * self._request.files_only
        try:
            with self._run_ripgrep(area, options, is_over, _COUNTS_LIMIT_BYTES) as output:
                counts.update(one for one in read_counts(output) if self._is_selected(area, FileMatches(one[0])))
        except OutputCutError:
            return counts, False
        except ToolError as error:
            if error.type != "cancelled" or self._is_cancelled():
                raise
            return counts, False
        return counts, True

    @contextmanager
    def _run_ripgrep(
        self,
        area: "_Area",
        options: Sequence[str],
        is_cancelled: Callable[[], bool],
        limit_bytes: int = _OUTPUT_LIMIT_BYTES,
    ) -> Iterator[Iterator[bytes]]:
        """Run ripgrep over an area; its output is valid within the `with` block."""
        request = self._request
        arguments: list[str | bytes] = [*options, f"--regexp={request.pattern}"]
        arguments += ["--ignore-case"] * request.ignore_case
        arguments += ["--multiline"] * request.multiline
        arguments += ["--no-ignore"] * request.no_ignore
        arguments += ["--text"] * request.binary
        # so that `$` matches before CRLF, but `\r$` still finds CRLF line ends
        arguments += ["--crlf"] * ("$" in request.pattern and "\\r" not in request.pattern)
        if not area.is_file:
            arguments += arguments_against_git(self._workspace, area.place)
        arguments += ["--", *(b"./" + path for path in area.paths or (b"/".join(area.place.parts),))]
        root = Workspace.Place(area.place.root, ())
        try:
            with (
                self._workspace.open_folder(root) as folder,
                run_ripgrep(
                    self._program,
                    arguments,
                    folder,
                    limit_bytes=limit_bytes,
                    memory_bytes=_MEMORY_BYTES,
                    rules=area.rules,
                    is_cancelled=is_cancelled,
                ) as output,
            ):
                yield output
        except UnicodeEncodeError as exc:
            message = "The regular expression holds half of a character, which is no text."
            raise ToolError("invalid_regex", message, position=None) from exc
        except RipgrepError as exc:
            raise pattern_error(request.pattern, str(exc)) from exc

    def _build_ignore_rules(self, place: Workspace.Place) -> list[str]:
        """Return ignore rules that restrict ripgrep to the requested files; `_is_selected` drops any extra files."""
        rules = [] if self._filter is None else self._filter.ignore_rules(folder_glob(place.parts))
        return rules if self._request.no_ignore else rules + rules_above(self._workspace, place)

    def _is_selected(self, area: "_Area", found: FileMatches) -> bool:
        if area.paths:
            return not found.is_binary
        if area.is_file:
            return True
        parts = found.path.split(b"/")[len(area.place.parts) :]
        if GIT_FOLDER in parts:
            return False
        return self._filter is None or self._filter(Workspace.show_name(b"/".join(parts)))

    def _confirm_hits(
        self, place: Workspace.Place, found: list[FileMatches], counts: Mapping[bytes, int]
    ) -> list[FileHits]:
        """Return those of ripgrep's matches that the files really contain, sorted by path."""
        root = Workspace.Place(place.root, ())
        hits = []
        for parts, matches in sorted(((each.path.split(b"/"), each.matches) for each in found), key=itemgetter(0)):
            file = root.child(*parts)
            confirmed = self._confirm_matches(file, matches)
            if confirmed:
                count = counts.get(b"/".join(parts), len(confirmed))
                hits.append(FileHits(file, self._workspace.show(file), confirmed, count))
        return hits

    def _confirm_matches(self, place: Workspace.Place, matches: list[Match | LongLine]) -> list[Match | LongLine]:
        """Return the matches that the file contains, reading it through the root's descriptor."""
        try:
            file = self._workspace.open_file(place)
        except ToolError:  # it vanished, or a swapped folder led ripgrep outside the root
            return []
        with file, self._workspace.errors(place):
            text = SearchedText(file)
            return [found for match in matches if (found := text.confirm_match(match)) is not None]


@dataclass(frozen=True, slots=True)
class _Area:
    """The files that ripgrep searches.

    Args:
        place: A folder or a file, by its real path.
        rules: Lines of an ignore file for it.
        paths: Files beneath the root to search instead of `place`.
        is_file: True if no file is filtered by its name.
    """

    place: Workspace.Place
    rules: Sequence[str] = ()
    paths: Sequence[bytes] = ()
    is_file: bool = False


def _within_bytes(paths: Sequence[bytes], limit_bytes: int) -> list[bytes]:
    """Return the paths, or as many at even distances as fit."""
    size = sum(map(len, paths))
    return list(paths) if size <= limit_bytes else pick_evenly(paths, len(paths) * limit_bytes // size)
