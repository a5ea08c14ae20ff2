"""A click group that answers `--help` and completion from a table, and imports a command only when it runs."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple

import click
from click.shell_completion import CompletionItem

from agentcore.near_names import closest_name


class LazyCommand(NamedTuple):
    """Import target and help line of a command.

    Args:
        target: `package.module:attribute` of a `click.Command`.
        short_help: One line.
    """

    target: str
    short_help: str


class LazyGroup(click.Group):
    """A group of commands that are imported one by one, when they are called.

    Args:
        lazy: Command name to where it is found, in the order of the help.
        former_names: Former name of a command to its current name. A former name still runs the command, with a notice
            on stderr; help and completion do not list it.
    """

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, LazyCommand],
        former_names: Mapping[str, str] = MappingProxyType({}),
        **kwargs: Any,
    ) -> None:
        super().__init__(*args, **kwargs)
        self._lazy = lazy
        self._former_names = former_names

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names in the order of the table."""
        return list(self._lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command, or return None if there is none of this name."""
        entry = self._lazy.get(cmd_name)
        if entry is None:
            return None
        module, _, attribute = entry.target.partition(":")
        command: click.Command = getattr(import_module(module), attribute)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that the arguments start with; the error for an unknown one suggests a similar name."""
        name = args[0]
        current_name = self._former_names.get(name)
        if current_name is not None:
            if not ctx.resilient_parsing:
                click.echo(f"`{ctx.command_path} {name}` is now `{ctx.command_path} {current_name}`", err=True)
            return super().resolve_command(ctx, [current_name, *args[1:]])
        if not name.startswith("-") and not ctx.resilient_parsing and not self.knows_command(name):
            near = closest_name(name, self.list_commands(ctx))
            hint = f" Did you mean {near!r}?" if near else ""
            raise click.UsageError(f"No such command {name!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)

    def knows_command(self, name: str) -> bool:
        """True if there is a command of this name, current or former."""
        return name in self._lazy or name in self._former_names

    def short_helps(self) -> list[tuple[str, str]]:
        """Return each command's name and help line, in the order of the help."""
        return [(name, entry.short_help) for name, entry in self._lazy.items()]

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands from the table."""
        with formatter.section("Commands"):
            formatter.write_dl(self.short_helps())

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Complete names from the table, and options."""
        names = [CompletionItem(name, help=text) for name, text in self.short_helps() if name.startswith(incomplete)]
        return [*names, *click.Command.shell_complete(self, ctx, incomplete)]
