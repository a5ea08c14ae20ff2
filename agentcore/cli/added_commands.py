"""Commands that installed distributions add to `agentcore`, and what they get."""

import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from agentcore.cli.lazy import LazyGroup
from agentcore.entry_points import EntryPoint, find_entry_points

if TYPE_CHECKING:
    from pathlib import Path

GROUP = "agentcore.commands"
"""The entry-point group: the name of a command, and where its `click.Command` is."""


class AddedCommands:
    """Implements `agentcore.api.CommandContext`."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._last = ""

    def read_settings(self, config_path: "Path", key: str) -> Mapping[str, Any]:
        from agentcore.config.settings_of_modules import module_settings
        from agentcore.core.discovery.families import load_config

        return module_settings(load_config(config_path, os.environ), key).values

    def show_progress(self, fraction: float | None, text: str) -> None:
        from agentcore.cli.terminal.output import print_notice
        from agentcore.cli.terminal.progress_line import ProgressLine

        if not sys.stderr.isatty():
            if text and text != self._last:
                print_notice(text)
            self._last = text
            return
        self._progress = self._progress or ProgressLine()
        if text:
            self._progress("progress", {"fraction": fraction, "message": text})
        else:
            self._progress.clear()


class RootGroup(LazyGroup):
    """The commands of agentcore itself, and those that installed distributions add.

    An added command is imported when it is called, never for a list: its distribution may be installed for another
    purpose. A name that agentcore has itself cannot be taken.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names: agentcore's own in the order of the table, then the added ones."""
        return [*super().list_commands(ctx), *self._find_added()]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        own = super().get_command(ctx, cmd_name)
        point = None if own is not None else self._find_added().get(cmd_name)
        if point is None:
            return own
        command = _load_command(point)
        ctx.obj = AddedCommands()
        return command

    def knows_command(self, name: str) -> bool:
        """True if there is a command of this name."""
        return super().knows_command(name) or name in self._find_added()

    def short_helps(self) -> list[tuple[str, str]]:
        """The names with a line for each; that of an added one names its distribution, for nothing is imported."""
        added = [(name, f"Added by {point.distribution}.") for name, point in self._find_added().items()]
        return [*super().short_helps(), *added]

    def _find_added(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for command in find_entry_points(GROUP):
            if not super().knows_command(command.name):
                found.setdefault(command.name, command)
        return dict(sorted(found.items()))


def _load_command(point: EntryPoint) -> click.Command:
    """Import an added command.

    Raises:
        click.ClickException: It cannot be loaded, or is no command.
    """
    try:
        command = point.load()
    except Exception as exc:
        raise click.ClickException(f"command {point.name!r} of {point.distribution} cannot be loaded: {exc}") from exc
    if not isinstance(command, click.Command):
        raise click.ClickException(f"command {point.name!r} of {point.distribution} is no click command")
    return command
