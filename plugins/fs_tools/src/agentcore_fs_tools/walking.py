"""A walk through a small tree by descriptors: the files in it that rules of `.gitignore` leave, links not followed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from agentcore.api import ToolError, Workspace
from agentcore_fs_tools.ignoring import GIT_FOLDER, IGNORE_FILE, RuleSet, read_rules

SMALL_TREE_FILES = 300
"""Up to so many files a walk is quicker than starting ripgrep."""

_DEPTH_LIMIT = 400


@dataclass(frozen=True, slots=True)
class Found:
    """A file on the way.

    Args:
        folder: The open folder that holds it, until the walk goes on.
        parts: Where it is, from where the walk began.
        path: The same, as callers see it.
    """

    folder: Workspace.Folder
    parts: tuple[bytes, ...]
    path: str

    @property
    def name(self) -> bytes:
        """Its name in the folder."""
        return self.parts[-1]


@dataclass(frozen=True, slots=True)
class Walk:
    """What a walk keeps to.

    Args:
        is_cancelled: Asked in each folder.
        uses_ignore: Whether `.gitignore` counts.
        limit: More entries than this end the walk with `TreeTooLargeError`; None: no limit.
    """

    is_cancelled: Callable[[], bool]
    uses_ignore: bool = True
    limit: int | None = None

    def files(self, top: Workspace.Folder, above: Sequence[RuleSet]) -> Iterator[Found]:
        """The files below a folder, folder by folder, sorted by name.

        Raises:
            TreeTooLargeError: There are more entries than the limit.
        """
        seen = [0]
        yield from self._below(top, (), list(above) if self.uses_ignore else [], seen)

    def _below(
        self, folder: Workspace.Folder, way: tuple[bytes, ...], rules: list[RuleSet], seen: list[int]
    ) -> Iterator[Found]:
        if self.is_cancelled():
            raise ToolError("cancelled", "The search was cancelled.")
        entries = sorted(folder.entries(), key=lambda entry: entry.name)
        seen[0] += len(entries)
        if self.limit is not None and seen[0] > self.limit:
            raise TreeTooLargeError
        above = "".join(f"{Workspace.show_name(part)}/" for part in way)
        rules = self._rules_here(folder, {entry.name for entry in entries}, above, rules)
        for entry in entries:
            path = above + Workspace.show_name(entry.name)
            if entry.kind == "file" and entry.name != GIT_FOLDER and not _is_ignored(rules, path, is_folder=False):
                yield Found(folder, (*way, entry.name), path)
            elif entry.kind == "directory" and entry.name != GIT_FOLDER and len(way) < _DEPTH_LIMIT:
                if _is_ignored(rules, path, is_folder=True):
                    continue
                try:
                    below = folder.open_folder(entry.name)
                except OSError:  # it vanished or is closed to us, like all that ripgrep passes over
                    continue
                with below:
                    yield from self._below(below, (*way, entry.name), rules, seen)

    def _rules_here(
        self, folder: Workspace.Folder, names: set[bytes], above: str, rules: list[RuleSet]
    ) -> list[RuleSet]:
        if not self.uses_ignore:
            return rules
        if IGNORE_FILE in names:
            own = read_rules(folder)
            if own:
                rules = [*rules, RuleSet(own, cut=len(above))]
        return rules


class TreeTooLargeError(Exception):
    """The tree has more entries than a walk is good for."""


def _is_ignored(rules: Sequence[RuleSet], path: str, *, is_folder: bool) -> bool:
    for rule_set in reversed(rules):
        decision = rule_set.decide(path, is_folder=is_folder)
        if decision is not None:
            return decision
    return False
