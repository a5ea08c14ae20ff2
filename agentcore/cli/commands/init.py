"""`agentcore init`: a first app.json."""

import json
from pathlib import Path

import click

from agentcore.cli.terminal.exits import CliError

_NAME = "app.json"
_WORKSPACE = "workspace"


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
def init(folder: Path) -> None:
    """Write an app.json that lists the installed modules, and make the folder that tools may work in.

    An app.json that is there already is never overwritten.

    \b
    Examples:
      agentcore init
      agentcore init ~/assistant
    """
    from agentcore.host.discovery import installed_names

    path = folder / _NAME
    names = list(installed_names(folder / "modules"))
    text = json.dumps({"modules": names, "workspace": {"roots": [_WORKSPACE]}}, indent=2) + "\n"
    try:
        (folder / _WORKSPACE).mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as exc:
        raise CliError(
            f"{path} exists already, and was left as it is",
            hint="agentcore modules enable NAME adds a module to it; agentcore config show tells what it says",
        ) from exc
    except OSError as exc:
        raise CliError(f"cannot write {path}: {exc.strerror}") from exc
    listed = f"the installed modules: {', '.join(names)}" if names else "no modules, because none is installed"
    click.echo(f"Wrote {path} with {listed}.")
    click.echo("Start the server with: agentcore serve --open")
