"""Formats agentcore commands as the user has to type them."""

import shlex
import shutil
import sys
from pathlib import Path

_NAME = "agentcore"


def own_command(arguments: str, config_path: Path = Path("app.json")) -> str:
    """Return an agentcore command that works in the user's shell: with its path if it is not in PATH.

    Args:
        arguments: The subcommand and its arguments.
        config_path: The app.json in use; included unless it is the one in the current folder.
    """
    program = Path(sys.argv[0])
    is_own = program.name == _NAME and program.exists()
    found = shutil.which(_NAME)
    name = _NAME if not is_own or (found is not None and program.samefile(found)) else shlex.quote(str(program))
    option = "" if config_path == Path("app.json") else f" --config {shlex.quote(str(config_path))}"
    return f"{name} {arguments}{option}"
