"""Find workspace files by a few letters, for users who mention them in a message."""

import heapq
import threading
import time
from collections import deque
from contextlib import suppress

from agentcore.errors import ToolError
from agentcore.files.folder import Folder
from agentcore.files.ignoring import IGNORE_FILE, IgnoreRule, is_ignored, read_rules
from agentcore.files.location import Place
from agentcore.files.names import show_name
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass

ENTRIES = 20_000
"""Maximum number of listed files and folders; those nearest to the roots come first."""

_SECONDS = 1.5
_FRESH_SECONDS = 5.0
_IGNORE_BYTES = 1 << 18


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file or folder of the workspace.

    Args:
        path: Path as accepted by tools; that of a folder ends with a slash.
        is_folder: True for a folder.
    """

    path: str
    is_folder: bool


class WorkspaceFiles:
    """Finds files of a workspace by their names. All methods block: call them in a thread.

    Links, files ignored by `.gitignore` and protected files are left out.

    Args:
        workspace: The workspace.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._listing = threading.Lock()
        self._listed: list[FoundFile] = []
        self._is_cut = False
        self._listed_at = float("-inf")

    def find_files(self, query: str, limit: int) -> tuple[list[FoundFile], bool]:
        """Return the files that match the letters best, and whether the listing is incomplete.

        Args:
            query: Letters that occur in the path in this order; empty: the files nearest to the roots.
            limit: Maximum number of files.
        """
        with self._listing:  # each typed letter is a request: one lists the files, the others wait for it
            if time.monotonic() - self._listed_at > _FRESH_SECONDS:
                self._listed, self._is_cut = self._list_files()
                self._listed_at = time.monotonic()
        requested = "".join(query.casefold().split())
        if not requested:
            return self._listed[:limit], self._is_cut
        scored = (
            (score, -at, found)
            for at, found in enumerate(self._listed)
            if (score := _score_match(requested, found.path))
        )
        best = heapq.nlargest(limit, scored, key=lambda each: each[:2])
        return [found for _, _, found in best], self._is_cut

    def _list_files(self) -> tuple[list[FoundFile], bool]:
        """List names folder by folder, breadth first from the roots, within the limits of time and number."""
        ends_at = time.monotonic() + _SECONDS
        found: list[FoundFile] = []
        ahead: deque[tuple[Place, list[IgnoreRule]]] = deque()
        for root in self._workspace.roots:
            ahead.append((self._workspace.locate(str(root)), []))
        while ahead and len(found) < ENTRIES and time.monotonic() < ends_at:
            place, rules = ahead.popleft()
            try:
                with self._workspace.open_folder(place) as folder:
                    self._list_folder(folder, place, rules, found, ahead)
            except (ToolError, OSError):
                continue  # it vanished or is not readable
        return found, bool(ahead) or len(found) >= ENTRIES

    def _list_folder(
        self,
        folder: Folder,
        place: Place,
        rules: list[IgnoreRule],
        found: list[FoundFile],
        ahead: deque[tuple[Place, list[IgnoreRule]]],
    ) -> None:
        above = [show_name(part) for part in place.parts]
        listed = (entry for entry in folder.entries() if entry.kind in {"file", "directory"})
        entries = sorted(listed, key=lambda entry: entry.name)
        names = [show_name(entry.name) for entry in entries]
        hidden = set(self._workspace.protected_among(above, names))
        if any(entry.name == IGNORE_FILE and entry.kind == "file" for entry in entries):
            # one that cannot be read has no rules
            with suppress(OSError, ToolError), folder.open_file(IGNORE_FILE) as file:
                rules = [*rules, *read_rules(file.read(_IGNORE_BYTES), len(above))]
        for entry, name in zip(entries, names, strict=True):
            is_folder = entry.kind == "directory"
            if name in hidden or is_ignored(rules, [*above, name], is_folder=is_folder):
                continue
            if len(found) >= ENTRIES:
                return
            child = place.child(entry.name)
            shown = self._workspace.show(child)
            found.append(FoundFile(f"{shown}/" if is_folder else shown, is_folder))
            if is_folder:
                ahead.append((child, rules))


def _score_match(wanted: str, path: str) -> float:
    """Return how well letters match a path, 0 if not at all; adjacent letters score higher, most in the last name."""
    there = path.casefold()
    name = there.rstrip("/").rpartition("/")[2]
    if name.startswith(wanted):
        score = 300.0
    elif wanted in name:
        score = 200.0
    elif wanted in there:
        score = 150.0
    elif (spread := _measure_spread(wanted, name)) is not None:
        score = 140.0 - min(spread, 40)
    elif (spread := _measure_spread(wanted, there)) is not None:
        score = 100.0 - min(spread, 50)
    else:
        return 0
    return score - min(len(there), 400) * 0.1


def _measure_spread(wanted: str, there: str) -> int | None:
    """Return the number of other characters between letters in this order; None if they do not occur."""
    at = start = there.find(wanted[0])
    for letter in wanted[1:]:
        if at < 0:
            return None
        at = there.find(letter, at + 1)
    return None if at < 0 else at - start + 1 - len(wanted)
