"""`grep`: where ripgrep searches, how often it may match, and which of its matches are there."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.search.candidates import FileMatches, read_candidates
from agentcore_fs_tools.search.globs import FileFilter
from agentcore_fs_tools.search.ignoring import GIT_FOLDER, folder_glob, rules_above
from agentcore_fs_tools.search.lines import LongLine, Match, SearchedText
from agentcore_fs_tools.search.ripgrep import (
    OutputCutError,
    RipgrepError,
    arguments_against_git,
    pattern_error,
    ripgrep,
)
from agentcore_fs_tools.text.encoding import is_binary

MATCH_LIMIT = 1_000
"""More matching lines (or files, when only these are asked for) than this end a search."""

_LOOKED_AT_BYTES = 1 << 20  # for a NUL, in a file that was named
_OUTPUT_LIMIT_BYTES = 1 << 30  # of ripgrep; one long line with many matches makes that much, and little of it is kept
_MEMORY_BYTES = 8 << 30  # of ripgrep, which reads each line whole, and with `multiline` each file


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
        self._filter = None if request.glob is None else FileFilter(request.glob)
        if "\0" in request.pattern:
            raise ToolError("invalid_regex", "The regular expression holds a NUL character.", position=0)
        self._is_cut = False

    def run(self) -> SearchOutcome:
        """Search.

        Raises:
            ToolError: `invalid_regex`, `binary_file`, `search_failed`, `cancelled`, and those of opening.
        """
        place = self._workspace.locate(self._request.path)
        status = self._workspace.stat(place)
        # the real path, so that rules of `.gitignore` and ripgrep speak of the same folders
        place = self._workspace.locate(self._workspace.real_path(place))
        if Workspace.kind_of(status) == "directory":
            candidates = self._candidates(place, self._rules(place), lambda found: self._is_wanted(place, found))
        else:
            self._refuse_binary(place)
            candidates = self._candidates(place, [], lambda found: True)
        outcome = SearchOutcome()
        for file, matches in sorted(candidates, key=lambda candidate: candidate[0].parts):
            confirmed = self._confirmed(file, matches)
            if confirmed:
                outcome.hits.append(FileHits(file, self._workspace.show(file), confirmed))
        return self._capped(outcome)

    def _refuse_binary(self, place: Workspace.Place) -> None:
        with self._workspace.open_file(place) as file, self._workspace.errors(place):
            head = file.read(_LOOKED_AT_BYTES)
        if is_binary(head):
            shown = self._workspace.show(place)
            raise ToolError("binary_file", f"{shown!r} is a binary file and is not searched.", path=shown)

    def _candidates(
        self, place: Workspace.Place, rules: list[str], is_wanted: Callable[[FileMatches], bool]
    ) -> list[tuple[Workspace.Place, list[Match | LongLine]]]:
        collected: list[tuple[Workspace.Place, list[Match | LongLine]]] = []
        total = 0
        root = Workspace.Place(place.root, ())
        with self._workspace.open_folder(root) as folder:
            for found in self._reported(folder, place, rules):
                if not is_wanted(found):
                    continue
                collected.append((root.child(*found.path.split(b"/")), found.matches))
                total += 1 if self._request.files_only else len(found.matches)
                if total > MATCH_LIMIT:
                    self._is_cut = True
                    break
        return collected

    def _reported(self, folder: Workspace.Folder, place: Workspace.Place, rules: list[str]) -> Iterator[FileMatches]:
        """What ripgrep says that it found."""
        request = self._request
        options = ["--json", f"--max-count={self._limit_per_file}", f"--regexp={request.pattern}"]
        options += ["--ignore-case"] * request.ignore_case
        options += ["--multiline"] * request.multiline
        options += ["--no-ignore"] * request.no_ignore
        options += arguments_against_git(self._workspace, place)
        arguments: list[str | bytes] = [*options, "--", b"./" + b"/".join(place.parts)]
        try:
            with ripgrep(
                self._program,
                arguments,
                folder,
                limit_bytes=_OUTPUT_LIMIT_BYTES,
                memory_bytes=_MEMORY_BYTES,
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
        rules = [] if self._filter is None else self._filter.ignore_rules(folder_glob(place.parts))
        return rules if self._request.no_ignore else rules + rules_above(self._workspace, place)

    def _is_wanted(self, place: Workspace.Place, found: FileMatches) -> bool:
        parts = found.path.split(b"/")[len(place.parts) :]
        if found.is_binary or GIT_FOLDER in parts:
            return False
        return self._filter is None or self._filter(Workspace.show_name(b"/".join(parts)))

    def _confirmed(self, place: Workspace.Place, matches: list[Match | LongLine]) -> list[Match | LongLine]:
        """What is really there, read through the root's descriptor."""
        try:
            file = self._workspace.open_file(place)
        except ToolError:  # it vanished, or ripgrep was led astray
            return []
        with file, self._workspace.errors(place):
            text = SearchedText(file)
            return [found for match in matches if (found := text.confirmed(match)) is not None]

    def _capped(self, outcome: SearchOutcome) -> SearchOutcome:
        kept, room = [], MATCH_LIMIT
        for hits in outcome.hits:
            count = 1 if self._request.files_only else len(hits.matches)
            if count > room:
                self._is_cut = True
                if room:
                    kept.append(FileHits(hits.place, hits.shown, hits.matches[:room]))
                break
            kept.append(hits)
            room -= count
        return SearchOutcome(kept, self._is_cut)
