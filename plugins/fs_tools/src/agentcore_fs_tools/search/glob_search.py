"""`glob`: find files by a pattern of their path, newest first."""

import stat
import time
import unicodedata
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import Literal

from agentcore.api import ToolError, ToolResult, Workspace
from agentcore_fs_tools.search.glob_patterns import compile_glob
from agentcore_fs_tools.search.ignoring import rules_above
from agentcore_fs_tools.search.links import UnfollowedLinks, find_links
from agentcore_fs_tools.search.ripgrep import (
    OutputCutError,
    RipgrepError,
    arguments_against_git,
    run_ripgrep,
    search_error,
)
from agentcore_fs_tools.text.formatting import fit_lines, show_count

Order = Literal["modified", "path", "none"]

_GIT = (b"/.git/", b"/.git\0")
_SHAPED = frozenset("*?[{\\")
_SPELLED = bytes((*range(1, 32), 127, ord("\\")))  # in a name, these may need escaping

_NAMES_LIMIT_BYTES = 64 << 20  # output of ripgrep
_MEMORY_BYTES = 1 << 30  # of the ripgrep process

_NAMED_PATHS = 5

SKIPPED_SECONDS = 0.25
"""Time limit for counting ignored files that match, …"""

SKIPPED_SECONDS_ALONE = 2.0
"""… and if no other file matches."""

PATH_LIMIT = 1_000
"""Maximum number of returned paths; more are only counted."""


class Globbing:
    """One search for files.

    Args:
        workspace: The workspace to search.
        place: The folder, by its real path.
        pattern: The glob, relative to the folder.
        no_ignore: True to include ignored files.
        program: Path of `rg`; None: not installed.
        is_cancelled: Checked periodically.
    """

    def __init__(
        self,
        workspace: Workspace,
        place: Workspace.Place,
        pattern: str,
        *,
        no_ignore: bool,
        program: str | None,
        is_cancelled: Callable[[], bool],
    ) -> None:
        self._workspace = workspace
        self._place = place
        self._is_cancelled = is_cancelled
        self._matcher = compile_glob(pattern)
        self._no_ignore = no_ignore
        self._program = program

    def find_paths(self) -> list[str]:
        """Return matching paths relative to the folder, unordered and not yet verified to exist.

        Raises:
            ToolError: `cancelled`, `search_failed`.
        """
        return list(filter(self._matcher, self._list_paths(self._is_cancelled, no_ignore=self._no_ignore)))

    def find_skipped(self, found: Collection[str], limit_s: float) -> tuple[list[str], bool]:
        """Return the ignored paths that match, and whether these are all.

        Args:
            found: The paths that `find_paths` has returned.
            limit_s: Time limit.
        Raises:
            ToolError: `cancelled`.
        """
        if self._no_ignore:
            return [], True
        until = time.monotonic() + limit_s
        try:
            paths = self._list_paths(lambda: self._is_cancelled() or time.monotonic() > until, no_ignore=True)
        except ToolError:
            if self._is_cancelled():
                raise
            return [], False
        known = set(found)
        return [path for path in paths if self._matcher(path) and path not in known], True

    def find_links(self, limit_s: float) -> UnfollowedLinks:
        """Return the links below the folder, of those to files only those that match.

        Args:
            limit_s: Time limit.
        Raises:
            ToolError: `cancelled`.
        """
        until = time.monotonic() + limit_s
        try:
            paths = self._list_paths(
                lambda: self._is_cancelled() or time.monotonic() > until, no_ignore=self._no_ignore
            )
        except ToolError:
            if self._is_cancelled():
                raise
            paths = []
        return find_links(self._workspace, self._place, paths, self._matcher, until)

    def find_look_alikes(self, pattern: str) -> list[str]:
        """Return the first files by name whose paths match except for capitals, Unicode forms and kinds of blanks.

        Raises:
            ToolError: `cancelled`, `search_failed`.
        """
        matches = compile_glob(_fold(pattern))
        paths = self._list_paths(self._is_cancelled, no_ignore=self._no_ignore)
        alike = sorted(path for path in paths if matches(_fold(path)))
        # verified like all paths that are shown: a swapped folder may have led ripgrep outside of the root
        return self.select_existing(alike[: _NAMED_PATHS + 1])

    def _list_paths(self, is_cancelled: Callable[[], bool], *, no_ignore: bool) -> list[str]:
        """Return all paths below the folder."""
        rules = [] if no_ignore else rules_above(self._workspace, self._place)
        start = b"/".join((b".", *self._place.parts, b""))
        arguments: list[str | bytes] = ["--files", "--null"]
        arguments += ["--no-ignore"] * no_ignore
        arguments += [*arguments_against_git(self._workspace, self._place), "--", start]
        prefix = start
        if not self._place.parts:  # without a path, ripgrep searches the root and omits `./`
            del arguments[-2:]
            prefix = b""
        root = self._workspace.Place(self._place.root, ())
        with self._workspace.open_folder(root) as folder:
            blocks: list[bytes] = []
            try:
                with run_ripgrep(
                    self._program,
                    arguments,
                    folder,
                    limit_bytes=_NAMES_LIMIT_BYTES,
                    memory_bytes=_MEMORY_BYTES,
                    rules=rules,
                    is_cancelled=is_cancelled,
                ) as output:
                    blocks.extend(output)
            except OutputCutError:
                pass  # more paths than anyone reads
            except RipgrepError as exc:
                raise search_error(str(exc)) from exc
        names = b"".join(blocks)
        paths = _decode_names(names, prefix)
        if any(mark in names for mark in _GIT):
            paths = [path for path in paths if "/.git/" not in f"/{path}/"]
        return paths

    def select_newest(self, paths: list[str], limit: int) -> tuple[int, list[str]]:
        """Return how many of the paths are files, and the `limit` most recently modified, newest first."""
        newest = timed = list(self._read_times(paths))
        if len(timed) > limit:
            # numbers alone sort in a tenth of the time, and leave few files to sort by path, too
            oldest_ns = sorted([time_ns for _, time_ns in timed], reverse=True)[limit - 1]
            newest = [each for each in timed if each[1] >= oldest_ns]
        newest.sort(key=lambda each: (-each[1], each[0]))
        return len(timed), [path for path, _ in newest[:limit]]

    def select_existing(self, paths: list[str]) -> list[str]:
        """Return the paths that are files beneath the root, in the given order."""
        found = {path for path, _ in self._read_times(paths)}
        return [path for path in paths if path in found]

    def _read_times(self, paths: Iterable[str]) -> Iterator[tuple[str, int]]:
        """Yield each path that is a file with its modification time in ns, reading folder by folder."""
        folders: dict[str, list[str]] = {}
        for path in paths:
            folders.setdefault(path.rpartition("/")[0], []).append(path)
        for above, group in folders.items():
            if self._is_cancelled():
                raise ToolError("cancelled", "The search was cancelled.")
            # ripgrep's paths have no `..` and no empty names, so none has to be located as one that a caller gives
            place = self._place.child(*_read_names(above.split("/"))) if above else self._place
            try:
                folder = self._workspace.open_folder(place)
            except ToolError:  # it vanished, or a swapped folder led ripgrep outside the root
                continue
            start = len(above) + 1 if above else 0
            with folder:
                times = folder.file_times(_read_names([path[start:] for path in group]))
            for path, time_ns in zip(group, times, strict=True):
                if time_ns is not None:
                    yield path, time_ns


def find_files(
    workspace: Workspace,
    pattern: str,
    path: str,
    *,
    order: Order,
    no_ignore: bool,
    program: str | None,
    is_cancelled: Callable[[], bool],
    limit_chars: int | None = None,
    limit: int = PATH_LIMIT,
) -> ToolResult:
    """Find files whose path, relative to a folder, matches a glob.

    Args:
        workspace: The workspace to search.
        pattern: The glob; if it is absolute, `path` is ignored.
        path: The folder.
        order: Order of the paths.
        no_ignore: True to include ignored files.
        program: Path of `rg`; None: not installed.
        is_cancelled: Checked periodically.
        limit_chars: Maximum length of the text for a model; None: the caller is a program.
        limit: Maximum number of paths.
    Raises:
        ToolError: `invalid_glob`, `not_a_directory`, `path_not_found`, `cancelled`, …
    """
    if pattern.startswith("/"):
        path, pattern = _split_absolute(pattern)
    place = workspace.find_place(path)
    workspace.open_folder(place).close()
    place, pattern = _enter_link(workspace, place, pattern)
    real = workspace.locate(workspace.real_path(place))
    globbing = Globbing(workspace, real, pattern, no_ignore=no_ignore, program=program, is_cancelled=is_cancelled)
    found = globbing.find_paths()
    count = len(found)
    if order == "modified":
        count, given = globbing.select_newest(found, limit)
    else:
        given = globbing.select_existing(sorted(found)[:limit] if order == "path" else found[:limit])
    above = workspace.show(place)
    shown = given if above == "." else [f"{above.rstrip('/')}/{name}" for name in given]
    facts: dict[str, object] = {"paths": shown, "count": count, "truncated": count > len(shown)}
    left_out = ""
    if not shown or limit_chars is not None:
        skipped, is_counted = globbing.find_skipped(found, SKIPPED_SECONDS if shown else SKIPPED_SECONDS_ALONE)
        if is_counted:
            facts["skipped_ignored"] = len(skipped)
        left_out = _format_skipped(skipped)
    if not shown:
        alike = [] if left_out else globbing.find_look_alikes(pattern)
        links = globbing.find_links(SKIPPED_SECONDS_ALONE)
        facts["skipped_links"] = links.list_all()
        note = links.format_note()
        message = _describe_no_match(pattern, above, alike) + left_out
        return ToolResult(f"{message}\n{note}" if note else message, facts)
    named = fit_lines(shown, limit_chars)
    lines = [show_count(count, "file"), *named]
    if count > len(named):
        higher = ", or a higher `limit`" if len(shown) == limit < PATH_LIMIT else ""
        lines.append(f"[{count - len(named):,} more are left out; use a narrower pattern or a folder{higher}.]")
    if left_out:
        lines.append(left_out.lstrip())
    return ToolResult("\n".join(lines), facts, truncated=count > len(named))


def _split_absolute(pattern: str) -> tuple[str, str]:
    """Split an absolute pattern into its fixed folder and the pattern beneath it."""
    parts = pattern.split("/")
    plain = next((at for at, part in enumerate(parts[:-1]) if not _SHAPED.isdisjoint(part)), len(parts) - 1)
    return "/".join(parts[:plain]) or "/", "/".join(parts[plain:]) or "*"


def _enter_link(workspace: Workspace, place: Workspace.Place, pattern: str) -> tuple[Workspace.Place, str]:
    """Return the folder and the pattern below it; both as given, unless the pattern begins with names that lead
    through a link: ripgrep follows none, so the search starts behind it.

    Raises:
        ToolError: `path_outside_workspace`: the link leads there; `path_not_found`, `not_a_directory`.
    """
    parts = pattern.split("/")
    plain = next((at for at, part in enumerate(parts[:-1]) if not _SHAPED.isdisjoint(part)), len(parts) - 1)
    names = workspace.locate("/".join(parts[:plain]) or ".").parts
    if b".." in names:
        return place, pattern
    for at in range(1, len(names) + 1):
        try:
            status = workspace.find_status(place.child(*names[:at]), follow=False)
        except ToolError:
            return place, pattern
        if status is None:
            return place, pattern
        if stat.S_ISLNK(status.st_mode):
            behind = place.child(*names)
            workspace.open_folder(behind).close()
            return behind, "/".join(parts[plain:])
    return place, pattern


def _describe_no_match(pattern: str, shown: str, alike: Sequence[str]) -> str:
    message = f"No file matches {pattern!r} in {shown!r}."
    if alike:
        names = ", ".join(map(repr, alike[:_NAMED_PATHS])) + (", …" if len(alike) > _NAMED_PATHS else "")
        differences = "capitals, Unicode form or kind of blanks"
        return f"{message} Names are case-sensitive; these differ only in {differences}: {names}."
    if "/" not in pattern:
        message += f" A pattern without `**/` looks only into the folder itself: try '**/{pattern}'."
    return message


def _format_skipped(skipped: Sequence[str]) -> str:
    """Return the line about ignored files that match; empty if there are none."""
    if not skipped:
        return ""
    files = show_count(len(skipped), "ignored file")
    return f"\n[Left out: {files} that {'matches' if len(skipped) == 1 else 'match'} (`no_ignore` includes them).]"


def _fold(path: str) -> str:
    letters = unicodedata.normalize("NFC", path).casefold()
    return "".join(" " if character.isspace() else character for character in letters)


def _read_names(names: Sequence[str]) -> list[bytes]:
    """Convert names back to bytes, all at once unless one of them is escaped."""
    joined = "/".join(names)
    if "\\" not in joined and joined.isprintable():
        return joined.encode("utf-8").split(b"/")
    return [Workspace.read_name(name) for name in names]


def _decode_names(output: bytes, prefix: bytes) -> list[str]:
    """Decode the paths in ripgrep's output to the form shown to callers."""
    if len(output.translate(None, _SPELLED)) == len(output):
        with suppress(UnicodeDecodeError):  # fall back to escaping each name separately
            names = output.decode("utf-8").split("\0")
            names.pop()
            length = len(prefix.decode("utf-8"))
            return [name[length:] for name in names] if length else names
    return [Workspace.show_name(name.removeprefix(prefix)) for name in output.split(b"\0")[:-1]]
