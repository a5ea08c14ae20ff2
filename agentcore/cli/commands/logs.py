"""`agentcore logs`: shows the server's log, while it runs and afterwards."""

import json
import os
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from agentcore.cli.commands.completion import complete_module
from agentcore.cli.options import config_option
from agentcore.late_dataclasses import dataclass

_LEVELS = ("debug", "info", "warning", "error", "critical")
_LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Filter:
    """Selects the log lines to show.

    Args:
        module: Lines of one module, including its calls. None: of all modules.
        call_id: Lines of one call. None: of all calls.
        level: Lines of this level and above.
    """

    module: str | None
    call_id: str | None
    level: str

    def select_lines(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """Parse lines and yield those that match."""
        for text in lines:
            line = _parse_line(text)
            if line is not None and self._matches(line):
                yield line

    def _matches(self, line: Mapping[str, Any]) -> bool:
        level = line.get("level")
        return (
            (self.module is None or line.get("module") == self.module)
            and (self.call_id is None or self.call_id in (line.get("call_id"), line.get("parent_call_id")))
            and (level not in _LEVELS or _LEVELS.index(level) >= _LEVELS.index(self.level))
        )


@click.command()
@config_option
@click.option("-f", "--follow", is_flag=True, help="Go on with lines as they come, until Ctrl-C.")
@click.option("-n", "--lines", type=click.IntRange(0, 1_000_000), default=100, show_default=True, help="How many.")
@click.option("--module", metavar="NAME", shell_complete=complete_module, help="Those of one module.")
@click.option("--call", "call_id", metavar="ID", help="Those of one call; an error names its id.")
@click.option("--level", type=click.Choice(_LEVELS), default="debug", help="Those of this level and above.")
@click.option("--json", "as_json", is_flag=True, help="Print each as a line of JSON.")
def logs(
    *, config_path: Path, follow: bool, lines: int, module: str | None, call_id: str | None, level: str, as_json: bool
) -> None:
    """Show the log of the server, the last lines first of all: with the tracebacks of modules that failed.

    The server keeps it in its state folder, bounded, and for you alone; it is there after the server ended, too.

    \b
    Examples:
      agentcore logs -f
      agentcore logs --module weather --level warning
      agentcore logs --call call_1a2b
    """
    from agentcore.cli.terminal.log_text import print_line
    from agentcore.cli.terminal.output import print_notice
    from agentcore.store.state.log_file import log_files
    from agentcore.store.state.state_dir import locate_state_dir

    requested = Filter(module, call_id, level)
    reader = _Reader(log_files(locate_state_dir(config_path, os.environ)))
    for line in deque(requested.select_lines(reader.read_lines()), maxlen=lines):
        print_line(line, as_json=as_json)
    if not reader.has_read and not follow:
        print_notice("No server has written a log for this app.json yet.")
    try:
        while follow:
            time.sleep(_LOOK_SECONDS)
            for line in requested.select_lines(reader.read_lines()):
                print_line(line, as_json=as_json)
    except KeyboardInterrupt:
        pass  # the normal end of --follow


class _Reader:
    """Reads the lines added since the last read, across rotated log files."""

    def __init__(self, files: tuple[Path, ...]) -> None:
        self._files = files
        self._inode: int | None = None
        self._offset = 0
        self.has_read = False

    def read_lines(self) -> Iterator[bytes]:
        """Yield complete lines that were not read yet, oldest first."""
        for path in self._unread_files():
            try:
                with path.open("rb") as file:
                    inode = os.fstat(file.fileno()).st_ino
                    if inode != self._inode:
                        self._inode = inode
                        self._offset = 0
                    file.seek(self._offset)
                    for line in file:
                        if not line.endswith(b"\n"):
                            break  # the line is still being written
                        self._offset += len(line)
                        self.has_read = True
                        yield line
            except FileNotFoundError:  # not created yet, or just rotated
                continue

    def _unread_files(self) -> tuple[Path, ...]:
        """Return the last file read, under its current name, and the newer ones; all files if it is gone."""
        for number, path in enumerate(self._files):
            try:
                if path.stat().st_ino == self._inode:
                    return self._files[number:]
            except FileNotFoundError:
                continue
        return self._files


def _parse_line(line: bytes) -> dict[str, Any] | None:
    try:
        found = json.loads(line)
    except ValueError:  # cut by a power failure
        return None
    return found if isinstance(found, dict) else None
