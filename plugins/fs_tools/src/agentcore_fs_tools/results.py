"""Structured results of the tools."""

from typing import NotRequired, TypedDict


class ReadFile(TypedDict):
    """What was read; without lines where it is a picture. `total_lines` is None where they are too many to count."""

    path: str
    size_bytes: int
    mime: NotRequired[str]
    total_lines: NotRequired[int | None]
    first_line: NotRequired[int]
    last_line: NotRequired[int]
    encoding: NotRequired[str]
    bom: NotRequired[bool]
    line_ends: NotRequired[str]


class WrittenFile(TypedDict):
    """A file as it was written; `diff` says what that changed, where it is not too much to compare.

    `replaced_lines` is the number of lines that a replaced text file had.
    """

    path: str
    encoding: str
    bom: bool
    line_ends: str
    created: bool
    size_bytes: int
    lines: int
    replaced_lines: NotRequired[int]
    diff: NotRequired[str]


class EditedFile(TypedDict):
    """A file as it was, or would be, edited."""

    path: str
    encoding: str
    bom: bool
    line_ends: str
    changed: bool
    dry_run: bool
    replacements: int
    size_bytes: int


class FoundPaths(TypedDict):
    """The newest paths of `count` that match, and how many ignored files do, where that was counted.

    `skipped_links` are links that were not followed, where nothing was found.
    """

    paths: list[str]
    count: int
    truncated: bool
    skipped_ignored: NotRequired[int]
    skipped_links: NotRequired[list[str]]


class MatchLocation(TypedDict):
    """Where a match is; lines and columns count from 1."""

    path: str
    line: int
    column: int


class FoundMatches(TypedDict):
    """Matches, or with `files_only` the files that have some; the totals count also what is not listed.

    `skipped_ignored` and `skipped_binary` are further files with a match, where these were looked for; `skipped_links`
    are links that were not followed, where nothing was found.
    """

    files: list[str]
    truncated: bool
    total_files: int
    is_total_exact: bool
    total_matches: NotRequired[int]
    matches: NotRequired[list[MatchLocation]]
    skipped_ignored: NotRequired[int]
    skipped_binary: NotRequired[list[str]]
    skipped_links: NotRequired[list[str]]


class FolderEntry(TypedDict):
    """One entry; below the listed folder its name is a path."""

    name: str
    type: str
    size_bytes: int


class Listing(TypedDict):
    """A folder's entries, of `count`."""

    path: str
    count: int
    entries: list[FolderEntry]


class FileStatus(TypedDict):
    """What is known of a path: of a link where it leads, of a file whether it is text."""

    path: str
    type: str
    size_bytes: int
    modified: str
    permissions: str
    mode: str
    read_only: bool
    target: NotRequired[str | None]
    target_type: NotRequired[str]
    target_problem: NotRequired[str]
    content: NotRequired[str]
    binary: NotRequired[bool]
    encoding: NotRequired[str]
    bom: NotRequired[bool]
    lines: NotRequired[int | None]


class RemovedPath(TypedDict):
    """What was deleted, or put into the bin, with the number of entries."""

    path: str
    trashed: bool
    count: int


class MovedPath(TypedDict):
    """What was moved where."""

    source: str
    destination: str
    overwrote: bool


class CopiedPath(TypedDict):
    """What was copied where, and how much it was."""

    source: str
    destination: str
    files: int
    folders: int
    links: int
    size_bytes: int
    skipped: int


class CarriedFile(TypedDict):
    """What was copied from which machine to which; an empty host is the server."""

    from_host: str
    from_path: str
    to_host: str
    to_path: str
    size_bytes: int
    sha256: str
    overwrote: bool
