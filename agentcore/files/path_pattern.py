"""Path patterns in rules: similar to `.gitignore`, matched against resolved paths."""

import os
import unicodedata
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from pathlib import Path

from agentcore.files.protection import matches_prefix

Parts = tuple[str, ...]


class PathPattern:
    """One pattern, which also matches everything below a match.

    Args:
        pattern: Absolute, or starting with `~`; otherwise relative to each root. One without a slash (except at its
            end) matches a file or folder at any depth. `**` matches any number of folders, `*`, `?` and `[…]` match
            within one name.
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
        """Return True if a path matches.

        Args:
            path: Absolute and resolved.
            surely: True for a certain match: case-sensitive, and a path with `..` does not match. False for a possible
                match: case-insensitive, and a path with `..` matches.
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
        """Yield the whole path for an absolute pattern, otherwise the path beneath each root that contains it."""
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
    """Follow the links in the literal part of a pattern, since the paths to match are resolved, too."""
    literal = 0
    while literal < len(parts) and not any(character in parts[literal] for character in "*?["):
        literal += 1
    return (*_split_path(os.path.realpath("/" + "/".join(parts[:literal]))), *parts[literal:])


def _fold_case(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
