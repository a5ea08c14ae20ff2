"""Plans changes of a client's file, shows them as a diff, and writes them atomically with a backup."""

import difflib
import os
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from agentcore.cli.clients.client_catalog import AgentClient
from agentcore.cli.clients.documents import Document, find_member, read_document
from agentcore.cli.clients.entry import KEY_BEGINS, is_own_entry
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.late_dataclasses import dataclass

BACKUP = ".before-agentcore"
"""Suffix of the backup that is made of a file before it is changed."""

_MOST_BYTES = 16 * 1024 * 1024
_CONTEXT_LINES = 2


@dataclass(frozen=True, slots=True)
class FileChange:
    """A planned change of a file.

    Args:
        path: The file with symbolic links resolved, so that links to it stay intact.
        before: The text before the change. None: there is no file yet.
        after: The text after the change.
    """

    path: Path
    before: str | None
    after: str

    @property
    def is_none(self) -> bool:
        """True if the file already has the text."""
        return self.before == self.after

    def format_diff(self) -> str:
        """Return the change as a unified diff."""
        before = (self.before or "").splitlines(keepends=True)
        lines = difflib.unified_diff(
            before, self.after.splitlines(keepends=True), str(self.path), str(self.path), n=_CONTEXT_LINES
        )
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def write(self) -> None:
        """Write the file atomically, with a backup of its former text.

        Raises:
            CliError: The file cannot be written, and is unchanged.
        """
        with _as_error(self.path, "written"):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if _read_text(self.path) != self.before:
                raise CliError(
                    f"{self.path} was changed meanwhile", hint="run the command again", code=ExitCode.CALL_FAILED
                )
            if self.before is not None:
                _replace_file(self.path.with_name(self.path.name + BACKUP), self.before, self.path)
            _replace_file(self.path, self.after, self.path)


def plan_change(client: AgentClient, path: Path, name: str, entry: dict[str, Any] | None) -> FileChange:
    """Plan the change of a client's file.

    Args:
        client: Specifies where the servers are in the file.
        path: The file.
        name: Name of agentcore's entry.
        entry: The entry. None: remove it.
    Raises:
        CliError: The file cannot be read, or another server has this name.
    """
    real = Path(os.path.realpath(path))
    with _as_error(real, "read"):
        before = _read_text(real)
    document = read_document(before or "", client.format, str(real))
    place = (*client.parent, name)
    found = find_member(document.value, place)
    if found is not None and not is_own_entry(found):
        message = f"{real} has a server {name!r} already, which is not agentcore"
        raise CliError(message, hint="choose another name with --name", code=ExitCode.USAGE)
    if entry is None:
        after = document.without_value(place) if found is not None else before or ""
        return FileChange(real, before, after)
    return FileChange(real, before, _with_entry(document, place, entry, real))


def find_entry(client: AgentClient, path: Path, name: str) -> Any:
    """Return the current entry of a server in a client's file; None if there is none.

    Raises:
        CliError: The file cannot be read.
    """
    real = Path(os.path.realpath(path))
    with _as_error(real, "read"):
        text = _read_text(real)
    return find_member(read_document(text or "", client.format, str(real)).value, (*client.parent, name))


def read_client_file(path: Path) -> str | None:
    """Return the text of a client's file; None if there is none.

    Raises:
        CliError: The file cannot be read.
    """
    with _as_error(path, "read"):
        return _read_text(path)


def run_client_command(command: Sequence[str], title: str) -> None:
    """Run a client's own command to change its settings.

    Raises:
        CliError: The command failed; the message contains its output.
    """
    done = subprocess.run(list(command), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()[-1000:]
        message = f"{command[0]} failed: {said or f'exit code {done.returncode}'}"
        raise CliError(message, hint=f"see that {title} works by itself", code=ExitCode.CALL_FAILED)


def is_any_running(names: Sequence[str]) -> bool:
    """True if a process with one of these names is running."""
    for name in names:
        try:
            found = subprocess.run(["pgrep", "-x", name], capture_output=True, check=False)
        except FileNotFoundError:  # without pgrep, leave it to the user
            return False
        if found.returncode == 0:
            return True
    return False


def _with_entry(document: Document, place: tuple[str, ...], entry: dict[str, Any], path: Path) -> str:
    try:
        return document.with_value(place, entry)
    except ValueError as exc:
        raise CliError(
            f"{path} has something else at {'.'.join(place[:-1])}: {exc}", hint="mend it first; nothing was changed"
        ) from exc


def _read_text(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except FileNotFoundError:
        return None
    if len(data) > _MOST_BYTES:
        raise CliError(f"{path} has over {_MOST_BYTES:,} bytes, and is left as it is")
    return data.decode()


def _replace_file(path: Path, text: str, like: Path) -> None:
    """Write a file atomically with the permissions of `like`, or for its owner only if it contains a key."""
    fd, made = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        if like.exists():
            Path(made).chmod(like.stat().st_mode & (0o700 if KEY_BEGINS in text else 0o777))
        Path(made).replace(path)
    except BaseException:
        Path(made).unlink(missing_ok=True)
        raise


@contextmanager
def _as_error(path: Path, done: str) -> Iterator[None]:
    try:
        yield
    except OSError as exc:
        raise CliError(f"{path} cannot be {done}: {exc.strerror}", code=ExitCode.CALL_FAILED) from exc
    except UnicodeDecodeError as exc:
        raise CliError(f"{path} is no text in UTF-8", hint="mend it first; nothing was changed") from exc
