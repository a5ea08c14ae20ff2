"""`grep`: where to search, which of the two engines does it, and how often it may match."""

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.candidates import FileMatches, read_candidates
from agentcore_fs_tools.globs import Matcher, compile_filter
from agentcore_fs_tools.ignoring import GIT_FOLDER, escape_glob, rules_above
from agentcore_fs_tools.lines import LongLine, Match, SearchedText
from agentcore_fs_tools.regex_subset import compile_subset
from agentcore_fs_tools.ripgrep import OutputCutError, RipgrepError, arguments_against_git, pattern_error, ripgrep
from agentcore_fs_tools.text_encoding import is_binary
from agentcore_fs_tools.walking import SMALL_TREE_FILES, TreeTooLargeError, Walk

MATCH_LIMIT = 1_000
"""More matching lines (or files, when only these are asked for) than this end a search."""

_FILE_LIMIT_BYTES = 4 << 20
_TREE_LIMIT_BYTES = 16 << 20
_LOOKED_AT_BYTES = 1 << 20  # for a NUL, in a file that was named
_OUTPUT_LIMIT_BYTES = 1 << 30  # of ripgrep; one long line with many matches makes that much, and little of it is kept
_WHOLE_LIMIT_BYTES = 64 << 20  # of a file, where there is no ripgrep


@dataclass(frozen=True, slots=True)
class SearchRequest:
    """What a caller looks for.

    Args:
        pattern: A regular expression in ripgrep's dialect.
        path: File or folder to search.
        glob: Which files of a folder, as ripgrep's `--glob`.
        ignore_case: Whether capitals and small letters are the same.
        files_only: Whether one match a file is enough.
        multiline: Whether a match may span lines.
        no_ignore: Whether ignored files are searched, too.
    """

    pattern: str
    path: str = "."
    glob: str | None = None
    ignore_case: bool = False
    files_only: bool = False
    multiline: bool = False
    no_ignore: bool = False


@dataclass(frozen=True, slots=True)
class FileHits:
    """Confirmed matches in one file, and the place to read around them."""

    place: Workspace.Place
    shown: str
    matches: list[Match | LongLine]


@dataclass(slots=True)
class SearchOutcome:
    """All that a search found.

    Args:
        hits: Sorted by path.
        is_cut: There may be more than was looked for.
    """

    hits: list[FileHits] = field(default_factory=list)
    is_cut: bool = False


class Search:
    """One search on its way.

    Args:
        workspace: Where to search.
        request: What for.
        program: Path of `rg`; None: there is none.
        is_cancelled: Asked now and then.
    """

    def __init__(
        self, workspace: Workspace, request: SearchRequest, program: str | None, is_cancelled: Callable[[], bool]
    ) -> None:
        self._workspace, self._request, self._program, self._is_cancelled = workspace, request, program, is_cancelled
        self._accepts: Matcher | None = None if request.glob is None else compile_filter(request.glob)
        if "\0" in request.pattern:
            raise ToolError("invalid_regex", "The regular expression holds a NUL character.", position=0)
        subset = None if request.multiline else compile_subset(request.pattern, ignore_case=request.ignore_case)
        self._subset = subset
        self._is_cut = False

    def run(self) -> SearchOutcome:
        """Search.

        Raises:
            ToolError: `invalid_regex`, `invalid_glob`, `regex_needs_ripgrep`, `binary_file`, and those of opening.
        """
        place = self._workspace.locate(self._request.path)
        status = self._workspace.stat(place)
        # the real path, so that rules of `.gitignore` and ripgrep speak of the same folders
        place = self._workspace.locate(self._workspace.real_path(place))
        is_folder = Workspace.kind_of(status) == "directory"
        outcome = self._search_folder(place) if is_folder else self._search_file(place)
        outcome.is_cut |= self._is_cut
        return outcome

    def _search_file(self, place: Workspace.Place) -> SearchOutcome:
        with self._workspace.open_file(place) as file, self._workspace.errors(place):
            if is_binary(file.read(_LOOKED_AT_BYTES)):
                shown = self._workspace.show(place)
                raise ToolError("binary_file", f"{shown!r} is a binary file and is not searched.", path=shown)
            matches = self._matches_in(file)
        if matches is not None:
            return self._outcome([(place, matches)])
        root = self._workspace.Place(place.root, ())
        with self._workspace.open_folder(root) as folder:
            return self._outcome([(place, found.matches) for found in self._candidates(folder, place, [])])

    def _search_folder(self, place: Workspace.Place) -> SearchOutcome:
        if self._subset is not None:
            try:
                return self._walk(place, SMALL_TREE_FILES if self._program else None)
            except (TreeTooLargeError, _NeedsRipgrepError):
                pass  # ripgrep is quicker there, or the only one to read it
        collected: list[tuple[Workspace.Place, list[Match | LongLine]]] = []
        total = 0
        root = self._workspace.Place(place.root, ())
        with self._workspace.open_folder(root) as folder:
            for found in self._candidates(folder, place, self._rules(place)):
                if found.is_binary or not self._is_wanted(place, found):
                    continue
                collected.append((root.child(*found.path.split(b"/")), found.matches))
                total += 1 if self._request.files_only else len(found.matches)
                if total > MATCH_LIMIT:
                    self._is_cut = True
                    break
        return self._outcome(collected)

    def _walk(self, place: Workspace.Place, limit: int | None) -> SearchOutcome:
        walk = Walk(self._is_cancelled, uses_ignore=not self._request.no_ignore, limit=limit)
        outcome, total, size = SearchOutcome(), 0, 0
        with self._workspace.open_folder(place) as top, self._workspace.errors(place):
            above = rules_above(self._workspace, place)
            if limit is not None:
                deque(walk.files(top, above), maxlen=0)  # is the tree small? before anything is read in vain
            for found in walk.files(top, above):
                if self._accepts is not None and not self._accepts(found.path):
                    continue
                try:
                    file = found.folder.open_file(found.name)
                except OSError:  # it vanished or is closed to us, like all that ripgrep passes over
                    continue
                with file:
                    size += file.size_bytes
                    matches = self._matches_in(file)
                if matches is None or (size > _TREE_LIMIT_BYTES and self._program is not None):
                    raise _NeedsRipgrepError
                if matches:
                    here = place.child(*found.parts)
                    outcome.hits.append(FileHits(here, self._workspace.show(here), matches))
                    total += len(matches)
                if total > MATCH_LIMIT:
                    break
        outcome.hits.sort(key=lambda hits: hits.place.parts)
        return _capped(outcome)

    def _matches_in(self, file: Workspace.OpenFile) -> list[Match | LongLine] | None:
        """The matching lines of a file, none for a binary one; None: ripgrep has to search it."""
        if self._subset is None:
            return None
        if file.size_bytes > _FILE_LIMIT_BYTES and self._program is not None:
            return None
        content = file.read(_FILE_LIMIT_BYTES if self._program is not None else _WHOLE_LIMIT_BYTES)
        if is_binary(content):
            return []
        if self._program is not None and not _is_utf8(content):
            return None
        content = SearchedText(file, content).whole()
        matches: list[Match | LongLine] = []
        number, counted = 1, 0
        for start, end, at in self._subset.lines(content, self._limit_per_file):
            number += content.count(b"\n", counted, start)
            counted = start
            matches.append(Match(number, start, content[start:end], at - start))
        return matches

    def _candidates(self, folder: Workspace.Folder, place: Workspace.Place, rules: list[str]) -> Iterator[FileMatches]:
        request = self._request
        if self._program is None:
            message = (
                f"The regular expression {request.pattern!r} needs ripgrep, which is not installed; "
                "without it there are literals, sets, groups and repetitions. Install the package `ripgrep`."
            )
            raise ToolError("regex_needs_ripgrep", message, pattern=request.pattern)
        options = ["--json", f"--max-count={self._limit_per_file}", f"--regexp={request.pattern}"]
        options += ["--ignore-case"] * request.ignore_case
        options += ["--multiline"] * request.multiline
        options += ["--no-ignore"] * request.no_ignore
        options += arguments_against_git(self._workspace, place)
        if request.glob is not None and request.glob.startswith("!"):
            options.append(f"--glob={request.glob}")
        arguments: list[str | bytes] = [*options, "--", b"./" + b"/".join(place.parts)]
        try:
            with ripgrep(
                self._program,
                arguments,
                folder,
                limit_bytes=_OUTPUT_LIMIT_BYTES,
                rules=rules,
                is_cancelled=self._is_cancelled,
            ) as output:
                yield from read_candidates(output)
        except OutputCutError:
            self._is_cut = True
        except UnicodeEncodeError as exc:
            message = "The regular expression holds half of a character, which is no text."
            raise ToolError("invalid_regex", message, position=None) from exc
        except RipgrepError as exc:
            raise pattern_error(request.pattern, str(exc)) from exc

    @property
    def _limit_per_file(self) -> int:
        return 1 if self._request.files_only else MATCH_LIMIT + 1

    def _rules(self, place: Workspace.Place) -> list[str]:
        """Lines of an ignore file that keep ripgrep to the wanted files; those it lets pass too many are sorted out."""
        base = "".join(f"{Workspace.show_name(part)}/" for part in place.parts)
        lines = _only(self._request.glob, base)
        if not self._request.no_ignore:
            for rule_set in rules_above(self._workspace, place):
                above = base.removesuffix(rule_set.base)
                lines += [rule.line_for_root(above) for rule in rule_set.rules]
        return lines

    def _is_wanted(self, place: Workspace.Place, found: FileMatches) -> bool:
        parts = found.path.split(b"/")[len(place.parts) :]
        if GIT_FOLDER in parts:
            return False
        if self._accepts is None:
            return True
        return self._accepts(Workspace.show_name(b"/".join(parts)))

    def _outcome(self, collected: list[tuple[Workspace.Place, list[Match | LongLine]]]) -> SearchOutcome:
        """Keep what is really there, read through the root's descriptor."""
        outcome = SearchOutcome()
        collected.sort(key=lambda file: file[0].parts)
        for place, matches in collected:
            try:
                file = self._workspace.open_file(place)
            except ToolError:  # it vanished, or ripgrep was led astray
                continue
            with file, self._workspace.errors(place):
                text = SearchedText(file)
                confirmed = [found for match in matches if (found := text.confirmed(match)) is not None]
            if confirmed:
                outcome.hits.append(FileHits(place, self._workspace.show(place), confirmed))
        return _capped(outcome, files_only=self._request.files_only)


class _NeedsRipgrepError(Exception):
    """A file that Python does not search: too large, or not UTF-8."""


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _only(glob: str | None, base: str) -> list[str]:
    """Rules that ignore all files but those of a glob, as far as ripgrep reads globs as we do."""
    if glob is None or glob.startswith("!") or "\\" in glob or (not glob.isascii() and "[" in glob):
        return []
    bare = glob.strip("/").replace("?", "*")
    anchored = bare if "/" in glob.rstrip("/") else f"**/{bare}"
    start = f"/{escape_glob(base)}"
    return ["*", "!*/", f"!{start}{anchored}", f"!{start}{anchored}/**"]


def _capped(outcome: SearchOutcome, *, files_only: bool = False) -> SearchOutcome:
    kept, room = [], MATCH_LIMIT
    for hits in outcome.hits:
        count = 1 if files_only else len(hits.matches)
        if count > room:
            outcome.is_cut = True
            if room:
                kept.append(FileHits(hits.place, hits.shown, hits.matches[:room]))
            break
        kept.append(hits)
        room -= count
    outcome.hits = kept
    return outcome
