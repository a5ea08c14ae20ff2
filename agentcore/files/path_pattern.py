"""Patterns of paths in rules: in the manner of `.gitignore`, held against paths that were resolved."""

import os
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from agentcore.files.protection import matches_prefix

Parts = tuple[str, ...]


class PathPattern:
    """One pattern. All that lies below a match is matched too.

    Args:
        pattern: Absolute, or from the home folder with `~`; else relative to each root; one without a slash (but at
            its end) names a file or folder at any depth. `**` stands for any number of folders, `*`, `?` and `[…]`
            for parts of one name.
        roots: Real paths of the workspace roots.
    """

    def __init__(self, pattern: str, roots: Sequence[str]) -> None:
        text = str(Path(pattern).expanduser())
        parts = _split_path(text)
        while parts and parts[-1] == "**":
            parts = parts[:-1]
        self._roots = [_split_path(root) for root in roots]
        self._is_absolute = text.startswith("/")
        self._is_name = not self._is_absolute and len(parts) == 1 and "/" not in pattern.rstrip("/")
        self._parts = parts
        self._resolved = _resolve_links(parts) if self._is_absolute else parts

    def matches(self, path: str, *, surely: bool) -> bool:
        """Whether a path is meant.

        Args:
            path: Absolute and resolved.
            surely: Capitals and small letters differ, and what is not resolved is not meant; else they do not differ,
                and it is.
        """
        parts = _split_path(path)
        if ".." in parts:
            return not surely
        if surely:
            return any(self._matches_parts(self._resolved, way) for way in self._relative_paths(parts))
        folded = tuple(map(_fold_case, parts))
        patterns = {tuple(map(_fold_case, self._parts)), tuple(map(_fold_case, self._resolved))}
        return any(
            self._matches_parts(pattern, way)
            for way in self._relative_paths(folded, is_folded=True)
            for pattern in patterns
        )

    def _matches_parts(self, pattern: Parts, way: Parts) -> bool:
        if not pattern:
            return True
        if self._is_name:
            return any(fnmatchcase(name, pattern[0]) for name in way)
        return matches_prefix(pattern, way)

    def _relative_paths(self, parts: Parts, *, is_folded: bool = False) -> Iterator[Parts]:
        """The path as the pattern sees it: whole, or beneath each root that it lies in."""
        if self._is_absolute:
            yield parts
            return
        for root in self._roots:
            head = tuple(map(_fold_case, root)) if is_folded else root
            if parts[: len(head)] == head:
                yield parts[len(head) :]


def _split_path(path: str) -> Parts:
    return tuple(part for part in path.split("/") if part not in ("", "."))


def _resolve_links(parts: Parts) -> Parts:
    """The pattern with links in its literal part followed, as those of the paths are that it is held against."""
    literal = 0
    while literal < len(parts) and not any(character in parts[literal] for character in "*?["):
        literal += 1
    return (*_split_path(os.path.realpath("/" + "/".join(parts[:literal]))), *parts[literal:])


def _fold_case(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
