"""`Quarantined`: a control file that a confined program made or changed, and where it is now."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import randbelow
from typing import Any

from agentcore.errors import ToolError
from agentcore.files.workspace import Workspace
from agentcore.supervision.control.names import quarantine_name

_ATTEMPTS = 100
_RANDOM_NUMBERS = 10**12
"""A program may have taken the first names; these it cannot guess."""
_CHANGE = stat.S_IWUSR | stat.S_IXUSR


@dataclass(frozen=True, slots=True)
class Quarantined:
    """One file or folder that was taken out of effect.

    Args:
        path: Where it was.
        aside: Where it is now, or a copy of it; empty: it could not be moved.
        why: What would have come of it.
        instead: What is in its place now.
        advice: What a person should do where it could not be moved, as part of a sentence.
    """

    path: str
    aside: str
    why: str
    instead: str = "nothing"
    advice: str = "remove it by hand"

    def to_json(self) -> dict[str, Any]:
        """It for programs."""
        return {"path": self.path, "aside": self.aside, "why": self.why, "instead": self.instead}

    def __str__(self) -> str:
        if not self.aside:
            return f"{self.path} ({self.why}) could not be quarantined: {self.advice}."
        return f"{self.path} ({self.why}) was quarantined as {self.aside}; in its place is {self.instead}."


def describe_quarantined(quarantined: Sequence[Quarantined]) -> str:
    """What a model, and whoever looks over its shoulder, is told; empty: nothing was put aside."""
    if not quarantined:
        return ""
    listed = "\n".join(f"- {each}" for each in quarantined)
    return (
        "[This command made or changed files that decide what runs outside of the sandbox. They have no effect:\n"
        f"{listed}\n"
        "If a person wants one, it can be moved back when no command runs; file_move asks them.]"
    )


class Mover:
    """Quarantines files, by descriptors beneath the roots: a program that goes on cannot lead it elsewhere."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace

    def quarantine(self, path: str, why: str, instead: bytes | None, replacement: str = "") -> Quarantined:
        """Take a file or folder out of effect.

        Args:
            path: Where it is.
            why: What would have come of it.
            instead: What it is replaced by; None: nothing.
            replacement: What that is, in words.
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
        """A block in which the folder of a file can be changed by its owner: a program may have forbidden that."""
        folder, _ = self._workspace.open_parent(self._workspace.locate(_escape_path(path)))
        with folder:
            status = os.fstat(folder.fd)
            mode = stat.S_IMODE(status.st_mode)
            if mode & _CHANGE == _CHANGE or status.st_uid != os.geteuid():
                yield
                return
            own = folder.path_for_child()  # the descriptor may be one that passes through, which fchmod refuses
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
