"""`agentcore modules`: lists and changes modules, and explains why one does not run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from agentcore.cli.commands.completion import complete_module
from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

if TYPE_CHECKING:
    from agentcore.config.loading import AppConfig

name_argument = click.argument("name", shell_complete=complete_module)


@click.group()
def modules() -> None:
    """Modules bring the tools; app.json says which are on.

    With a running server, a change takes effect at once; else at the next start.
    """


@modules.command("list")
@config_option
@json_option
def list_modules(config_path: Path, as_json: bool) -> None:
    """List modules that are on or installed, with their state.

    Without a running server, the modules are started for this look and stopped again.
    """
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.module_text import module_row, state_colour
    from agentcore.cli.terminal.output import print_json, print_notice, print_table

    with open_backend(config_path, warns=False) as backend:
        found = backend.list_modules()
    if as_json:
        print_json({"modules": found})
    elif not found:
        from agentcore.installing import pip_command

        print_notice(f"No module is installed or on. Modules are Python packages: {pip_command('NAME')}")
    else:
        rows = [module_row(module) for module in found]
        print_table(("module", "state", "tools", "from", "remark"), rows, [state_colour(module) for module in found])


@modules.command()
@config_option
@json_option
@name_argument
def info(config_path: Path, as_json: bool, name: str) -> None:
    """Show one module: where it comes from, its state, its tools, what is wrong with it, with the traceback."""
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.terminal.module_text import print_module
    from agentcore.cli.terminal.output import print_json

    with open_backend(config_path, warns=False) as backend:
        module = backend.get_module(name)
    if as_json:
        print_json(module)
    else:
        print_module(module)


@modules.command()
@config_option
@name_argument
def enable(config_path: Path, name: str) -> int:
    """Turn a module on: list it in app.json, and start it if a server runs."""
    if (changed := _change_on_server(config_path, name, "enable")) is not None:
        return _report_outcome(changed)
    from agentcore.cli.terminal.output import print_notice, print_text
    from agentcore.config.loading import set_modules
    from agentcore.core.discovery.source_search import ModuleNotChosen, find_module
    from agentcore.core.modules.page_policy_additions import page_additions

    loaded = _load_changeable_config(config_path)
    additions: list[str] = []
    try:
        additions = page_additions(find_module(name, loaded).source_paths)
    except ModuleNotChosen as exc:
        print_notice(str(exc))
    if name in loaded.modules:
        click.echo(f"{name} is on already.")
    else:
        set_modules(config_path, (*loaded.modules, name))
        click.echo(f"{name} is on from the next start.")
        if additions:
            print_text(f"It adds to the page: {'; '.join(additions)}")
    return ExitCode.OK


@modules.command()
@config_option
@name_argument
def disable(config_path: Path, name: str) -> int:
    """Turn a module off: take it out of app.json, and stop it if a server runs."""
    if (changed := _change_on_server(config_path, name, "disable")) is not None:
        return _report_outcome(changed)
    from agentcore.config.loading import set_modules

    listed = _load_changeable_config(config_path).modules
    if name not in listed:
        raise CliError(f"module {name!r} is not on", hint=f"on are: {', '.join(listed) or 'none'}")
    set_modules(config_path, tuple(other for other in listed if other != name))
    click.echo(f"{name} is off from the next start.")
    return ExitCode.OK


@modules.command()
@config_option
@name_argument
def reload(config_path: Path, name: str) -> int:
    """Run the code of a module that is on the disk now, in the running server.

    All modules of its distribution go with it, and those that need it. The new code is loaded beside what runs: where
    that fails, what runs goes on, and the exit code is 1.
    """
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_backend import ServerBackend

    return _report_outcome(ServerBackend(*required_server(config_path)).change_module(name, "reload"))


@modules.command()
@config_option
@name_argument
@click.argument("source", required=False)
def choose(config_path: Path, name: str, source: str | None) -> int:
    """Choose what stands behind a module's name: a distribution, or the folder of local modules.

    It takes a person's word: here, at a terminal, while no server runs; with a server in the approval view, or at the
    server's own terminal. Without SOURCE, what there is to choose from is listed.
    """
    from agentcore.cli.backend.opening import open_backend
    from agentcore.cli.backend.source_confirmation import choose_source, print_sources

    with open_backend(config_path, warns=False) as backend:
        if source is None:
            print_sources(backend.get_module(name))
            return ExitCode.OK
        return _report_outcome(choose_source(backend, name, source))


def _change_on_server(config_path: Path, name: str, change: Literal["enable", "disable"]) -> Mapping[str, Any] | None:
    """Have the running server change a module and return the updated module; None if no server is running."""
    from agentcore.cli.backend.opening import running_server
    from agentcore.cli.backend.server_backend import ServerBackend

    server = running_server(config_path)
    return None if server is None else ServerBackend(*server).change_module(name, change)


def _load_changeable_config(config_path: Path) -> "AppConfig":
    """Load the configuration; raise an error if the environment sets the list of modules, which overrides app.json."""
    from agentcore.core.discovery.families import load_config

    loaded = load_config(config_path, os.environ)
    origin = loaded.origin_of(("modules",))
    if origin.is_read_only:
        raise CliError(f"the list of modules comes from the {origin}", hint="change it there, or unset it")
    return loaded


def _report_outcome(module: Mapping[str, Any]) -> int:
    """Print the state of a changed module; return a failure if it did not become ready or still runs its old code."""
    from agentcore.cli.terminal.module_text import print_outcome

    print_outcome(module)
    is_well = module["state"] not in ("failed", "missing") and not module["reloadError"]
    return ExitCode.OK if is_well else ExitCode.CALL_FAILED
