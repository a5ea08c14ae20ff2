"""`agentcore init`: writes a first app.json."""

import json
import os
from pathlib import Path

import click

from agentcore.cli.terminal.exit_codes import CliError

_NAME = "app.json"
_WORKSPACE = "workspace"


@click.command()
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
def init(folder: Path) -> None:
    """Write an app.json that lists the installed modules, and make the folder that tools may work in.

    An app.json that is there already is never overwritten. The output says whether a model server was found on this
    machine, or a key is set, and ends with the next command.

    \b
    Examples:
      agentcore init
      agentcore init ~/assistant
    """
    from agentcore.core.discovery.source_search import installed_names

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
    click.echo(f"Model: {_model_status(path)}")
    click.echo(f"Next: {_next_command(path)}")


def _model_status(path: Path) -> str:
    """Describe which model a chat would use, or what is missing and the next step."""
    import asyncio

    from agentcore.chat.model.provider_keys import ProviderKeys
    from agentcore.chat.model_status import find_model_status
    from agentcore.chat.settings import ChatSettings
    from agentcore.store.state.state_dir import locate_state_dir

    keys = ProviderKeys(locate_state_dir(path), os.environ)
    status = asyncio.run(find_model_status(ChatSettings.from_config(None, None, os.environ, stored=keys.stored)))
    return f"{status.summary} {status.next_step}".rstrip()


def _next_command(path: Path) -> str:
    """Return the command that starts the server, as the user has to type it in the current folder."""
    from agentcore.cli.terminal.own_command import own_command

    return own_command("serve --open", path)
