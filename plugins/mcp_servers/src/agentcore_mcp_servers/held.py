"""What of the workspace a server in the sandbox cannot change: what decides what runs outside of it."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from agentcore.api import Workspace

_FOLDERS_LOOKED_AT = 20_000
_HELD_PATHS = 400
_REPOSITORY = ".git"
_OF_REPOSITORY = ("config", "config.worktree", "hooks")
"""A server may commit; what git runs and obeys stays."""


class Held:
    """Implements `HeldPaths` with the protected files that are there when the server starts.

    Args:
        paths: They, absolute.
    """

    def __init__(self, paths: Iterable[str]) -> None:
        self._paths = sorted(set(paths))

    def mounts(self) -> Iterable[tuple[str, bool]]:
        """Each path that is mounted on itself, and whether it can be written."""
        return [(path, False) for path in self._paths]

    def is_fixed(self, path: str) -> bool:
        """Whether a path cannot be changed."""
        return any(path == held or path.startswith(f"{held}/") for held in self._paths)


def find_held(workspace: Workspace) -> Held:
    """Look for the protected files of a workspace; of very many the first. Reads folders: in a thread."""
    found = (path for root in workspace.roots for path in _below(workspace, str(root)))
    return Held(path for _, path in zip(range(_HELD_PATHS), found, strict=False))


def _below(workspace: Workspace, root: str) -> Iterator[str]:
    for _, (folder, folders, files) in zip(range(_FOLDERS_LOOKED_AT), os.walk(root), strict=False):
        held = set(workspace.protected_among(Path(folder).relative_to(root).parts, [*folders, *files]))
        folders[:] = [name for name in folders if name not in held]
        for name in sorted(held):
            path = Path(folder, name)
            # a file `.git` leads git elsewhere, and is held itself
            held_of_it = map(path.joinpath, _OF_REPOSITORY) if name == _REPOSITORY and path.is_dir() else (path,)
            yield from (str(each) for each in held_of_it if each.exists())
