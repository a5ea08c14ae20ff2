"""Commands that a distribution adds to the command line, by the entry-point group `agentcore.commands`."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol


class CommandContext(Protocol):
    """What such a command gets as click's `obj`; see `click.pass_obj`."""

    def read_settings(self, config_path: Path, key: str) -> Mapping[str, Any]:
        """Read what app.json, its folder `modules/` and the environment set under `config.KEY`; not validated.

        Args:
            config_path: The app.json; it need not exist.
            key: The module's name, or its `config_key`.
        Raises:
            Exception: A file cannot be read; the command line shows it as a message.
        """
        ...

    def show_progress(self, fraction: float | None, text: str) -> None:
        """Show the progress on one line of the terminal that is rewritten; elsewhere, each step on a line of its own.

        Args:
            fraction: Completed part, from 0 to 1; None if unknown.
            text: The current step; empty: remove the line.
        """
        ...
