"""Quarantine of control files that a confined program created or changed: they are renamed to have no effect."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from secrets import randbelow
from typing import Any

from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.late_dataclasses import dataclass
from agentcore.supervision.control_files.quarantine_names import quarantine_name

_ATTEMPTS = 100
_RANDOM_NUMBERS = 10**12
"""The range of random suffixes, which a program cannot guess; it may have occupied the first names on purpose."""
_CHANGE = stat.S_IWUSR | stat.S_IXUSR


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One quarantined file or folder.

    Args:
        path: Its original path.
        aside: Its present path, or that of a copy; empty if it could not be moved.
        why: Why it is harmful.
        instead: What is at the original path now.
        advice: What the user should do if it could not be moved, as part of a sentence.
    """

    path: str
    aside: str
    why: str
    instead: str = "nothing"
    advice: str = "remove it by hand"

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON, without the advice."""
        return {"path": self.path, "aside": self.aside, "why": self.why, "instead": self.instead}

    def __str__(self) -> str:
        if not self.aside:
            return f"{self.path} ({self.why}) could not be quarantined: {self.advice}."
        return f"{self.path} ({self.why}) was quarantined as {self.aside}; in its place is {self.instead}."


def describe_quarantined(quarantined: Sequence[Quarantined]) -> str:
    """Describe quarantined files for the model and the user; empty if there are none."""
    if not quarantined:
        return ""
    listed = "\n".join(f"- {each}" for each in quarantined)
    return (
        "[This command made or changed files that decide what runs outside of the sandbox. They have no effect:\n"
        f"{listed}\n"
        "If a person wants one, it can be moved back when no command runs; file_move asks them.]"
    )


class Mover:
    """Quarantines files by descriptors beneath the roots, so that a running program cannot divert a move with links."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def quarantine(self, path: str, why: str, instead: bytes | None, replacement: str = "") -> Quarantined:
        """Quarantine a file or folder; if that fails, the result says so.

        Args:
            path: Its path.
            why: Why it is harmful.
            instead: The content that replaces it; None for nothing.
            replacement: A description of the replacement.
        """
        try:
            with self._writable_parent(path):
                return self._move_and_replace(path, why, instead, replacement)
        except (ToolError, OSError):
            return Quarantined(self._format_path(path), "", why)

    def _move_and_replace(self, path: str, why: str, instead: bytes | None, replacement: str) -> Quarantined:
        aside = self._rename_to_quarantine(path)
        if instead is not None:
            try:
                self._workspace.write_file(self._workspace.locate(_escape_path(path)), instead, overwrite=False)
            except ToolError:
                return Quarantined(self._format_path(path), aside, why)
        return Quarantined(self._format_path(path), aside, why, replacement or "nothing")

    @contextmanager
    def _writable_parent(self, path: str) -> Iterator[None]:
        """Make the parent folder writable for its owner within the block, as a program may have removed permission."""
        folder, _ = self._workspace.open_parent(self._workspace.locate(_escape_path(path)))
        with folder:
            status = os.fstat(folder.fd)
            mode = stat.S_IMODE(status.st_mode)
            if mode & _CHANGE == _CHANGE or status.st_uid != os.geteuid():
                yield
                return
            own = folder.path_for_child()  # the descriptor may be O_PATH, which fchmod refuses
            os.chmod(own, mode | _CHANGE)  # noqa: PTH101
            try:
                yield
            finally:
                os.chmod(own, mode)  # noqa: PTH101

    def _rename_to_quarantine(self, path: str) -> str:
        target = self._workspace.locate(_escape_path(path))
        folder, target = self._workspace.open_parent(target)
        numbers = (*range(1, _ATTEMPTS + 1), *(_ATTEMPTS + randbelow(_RANDOM_NUMBERS) for _ in range(_ATTEMPTS)))
        with folder:
            name = target.name.decode("utf-8", "surrogateescape")
            for number in numbers:
                aside = quarantine_name(name, number)
                try:
                    folder.rename(target.name, folder, aside.encode("utf-8", "surrogateescape"), overwrite=False)
                except FileExistsError:
                    continue
                return self._format_path(f"{path.rpartition('/')[0]}/{aside}")
        raise FileExistsError(path)

    def _format_path(self, path: str) -> str:
        return self._workspace.show(self._workspace.locate(_escape_path(path)))


def _escape_path(path: str) -> str:
    return Workspace.show_name(path.encode("utf-8", "surrogateescape"))
