"""Rules of `.gitignore` files, matched against entries while walking down folders."""

import re
from collections.abc import Sequence
from fnmatch import translate

from agentcore.files.protection import matches_prefix
from agentcore.late_dataclasses import dataclass

IGNORE_FILE = b".gitignore"
_FILE_BYTES = 1 << 18
_RULES = 2_000
_SHAPED = re.compile(r"[*?\[]")


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of a `.gitignore`.

    Args:
        depth: Depth of the folder of the file below the root.
        name: Pattern for the name of an entry; None: `parts` is matched.
        parts: Pattern for the path below that folder, as components.
        is_for_folders: True if it matches only folders.
        is_negated: True if a match is not ignored after all.
    """

    depth: int
    name: re.Pattern[str] | None
    parts: tuple[str, ...]
    is_for_folders: bool
    is_negated: bool

    def matches(self, path: Sequence[str], *, is_folder: bool) -> bool:
        """Return True if the rule matches an entry, given by its path below the root."""
        if self.is_for_folders and not is_folder:
            return False
        if self.name is not None:
            return self.name.match(path[-1]) is not None
        below = path[self.depth :]
        first = self.parts[0]
        # most rules of this kind start with a plain name, which avoids the full match
        return (first == below[0] or _SHAPED.search(first) is not None) and matches_prefix(self.parts, below)


def read_rules(content: bytes, depth: int) -> list[IgnoreRule]:
    """Parse the rules of a `.gitignore` in a folder at `depth` below the root; of a huge file, only the first ones."""
    lines = content[:_FILE_BYTES].decode("utf-8", "replace").splitlines()[:_RULES]
    return [rule for line in lines if (rule := _parse_rule(line, depth)) is not None]


def is_ignored(rules: Sequence[IgnoreRule], path: Sequence[str], *, is_folder: bool) -> bool:
    """Return True if an entry is ignored; the last matching rule wins.

    Args:
        rules: Rules of all folders above it, the innermost last.
        path: Path of the entry below the root. The folders above it must not be ignored themselves.
        is_folder: True for a folder.
    """
    found = next((rule for rule in reversed(rules) if rule.matches(path, is_folder=is_folder)), None)
    return found is not None and not found.is_negated


def _parse_rule(line: str, depth: int) -> IgnoreRule | None:
    text = line.rstrip()
    if text.endswith("\\") and len(text) < len(line.rstrip("\r\n")):  # an escaped space belongs to the name
        text = f"{text[:-1]} "
    if not text or text.startswith("#"):
        return None
    glob = text.removeprefix("!")
    parts = tuple(part for part in glob.removeprefix("\\").split("/") if part)
    if not parts:
        return None
    is_name = "/" not in glob.rstrip("/")
    return IgnoreRule(
        depth=depth,
        name=re.compile(translate(parts[0])) if is_name else None,
        parts=parts,
        is_for_folders=glob.endswith("/"),
        is_negated=text.startswith("!"),
    )
