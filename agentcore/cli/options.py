"""Options that several commands share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

config_option: Callable[[F], F] = click.option(
    "--config",
    "config_path",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("app.json"),
    show_default=True,
    help="The app.json in use.",
)


def reserve_for_json(context: click.Context, _option: click.Parameter, value: Any) -> Any:
    """Callback of options that print JSON: standard output then has nothing else, whatever modules print."""
    if value:
        from agentcore.cli.own_stdout import reserve_stdout

        reserve_stdout(context)
    return value


json_option: Callable[[F], F] = click.option(
    "--json", "as_json", is_flag=True, callback=reserve_for_json, help="Print JSON, for programs."
)


def is_verbose() -> bool:
    """True if the command line was started with `-v`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("verbose"))
