"""The command that opens this server's page, as a user types it into another terminal."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

PROGRAM = "agentcore"
_DEFAULT_CONFIG = "app.json"


def open_command(config: Path, folder: Path, argv: Sequence[str], environ: Mapping[str, str]) -> str:
    """Return the command to type in the folder where the server was started.

    Args:
        config: The app.json in use.
        folder: Where the server was started.
        argv: How it was started.
        environ: Its environment.
    Returns:
        For example `agentcore open`, or in a clone `.venv/bin/agentcore open`, which works in a terminal without an
        activated environment. It reveals no more folders than necessary: every client can read it.
    """
    words = [*_choose_program(folder, argv, environ), "open"]
    if config != folder / _DEFAULT_CONFIG:
        words += ["--config", _format_path(config, folder)]
    return " ".join(word if word.startswith("~/") else shlex.quote(word) for word in words)


def _choose_program(folder: Path, argv: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    started = Path(os.path.abspath(folder / argv[0])) if argv else Path()  # noqa: PTH100 - links of environments stay
    if started.name == "__main__.py" and started.parent.name == PROGRAM:
        return [_format_path(Path(sys.executable), folder), "-m", PROGRAM]
    if started.name != PROGRAM:  # runs inside another program
        return [PROGRAM]
    is_activated = str(started.parent.parent) == environ.get("VIRTUAL_ENV")
    is_on_path = shutil.which(PROGRAM, path=environ.get("PATH")) == str(started) and not is_activated
    return [PROGRAM if is_on_path else _format_path(started, folder)]


def _format_path(path: Path, folder: Path) -> str:
    """Return a path relative to the folder, else relative to the home folder, else absolute."""
    if path.is_relative_to(folder):
        return str(path.relative_to(folder))
    home = Path.home()
    return f"~/{shlex.quote(str(path.relative_to(home)))}" if path.is_relative_to(home) else str(path)
