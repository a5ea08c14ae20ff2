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

json_option: Callable[[F], F] = click.option("--json", "as_json", is_flag=True, help="Print JSON, for programs.")


def is_verbose() -> bool:
    """True if the command line was started with `-v`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.find_root().params.get("verbose"))
