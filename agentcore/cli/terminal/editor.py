"""Runs the user's own editor on the terminal of this process."""

import asyncio
import os
import shlex
import shutil
import signal
import sys
import tempfile
import termios
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentcore.errors import ToolError

_USUAL = ("editor", "vi", "nano")
_GRACE_SECONDS = 5.0
_JOB_SIGNALS = (signal.SIGINT, signal.SIGQUIT, signal.SIGTTIN, signal.SIGTTOU)
# The editor inherits the signals that this process ignores meanwhile, so restore their default actions first.
_WITH_SIGNALS = (
    "import os, signal, sys; "
    f"[signal.signal(number, signal.SIG_DFL) for number in {[int(number) for number in _JOB_SIGNALS]}]; "
    "os.execvp(sys.argv[1], sys.argv[1:])"
)


async def edit_text(text: str, name: str) -> str:
    """Let the user edit a text in `VISUAL`, `EDITOR` or an installed editor; return the edited text.

    Args:
        text: The initial text.
        name: Name of the file that the editor opens, in a folder that only this user can read.
    Raises:
        ToolError: `no_editor`; `editor_failed` if the editor exits with an error or leaves no readable text.
    """
    command = _find_editor()
    with tempfile.TemporaryDirectory(prefix="agentcore-") as folder:
        file = Path(folder) / name
        file.write_text(text, encoding="utf-8")
        code = await _run_editor([*command, str(file)])
        if code != 0:
            raise ToolError(
                "editor_failed", f"{command[0]} ended with exit code {code}; nothing was changed", code=code
            )
        try:
            return file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as exc:
            raise ToolError("editor_failed", f"what {command[0]} left cannot be read: {exc}") from exc


def _find_editor() -> list[str]:
    for wished in (os.environ.get("VISUAL"), os.environ.get("EDITOR"), *_USUAL):
        words = shlex.split(wished or "")
        if words and shutil.which(words[0]):
            return words
    raise ToolError("no_editor", "there is no editor here; set EDITOR to one")


async def _run_editor(command: list[str]) -> int:
    with _left_to_the_editor():
        process = await asyncio.create_subprocess_exec(sys.executable, "-I", "-S", "-c", _WITH_SIGNALS, *command)
        try:
            return await process.wait()
        finally:
            if process.returncode is None:
                process.terminate()
                async with asyncio.timeout(_GRACE_SECONDS):
                    await process.wait()


@contextmanager
def _left_to_the_editor() -> Iterator[None]:
    """Leave Ctrl-C to the editor, and restore the terminal's modes afterwards."""
    keyboard = sys.stdin.fileno()
    modes = termios.tcgetattr(keyboard)
    before = {number: signal.signal(number, signal.SIG_IGN) for number in _JOB_SIGNALS}
    try:
        yield
    finally:
        termios.tcsetattr(keyboard, termios.TCSADRAIN, modes)
        for number, handler in before.items():
            signal.signal(number, handler)
