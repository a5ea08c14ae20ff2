"""`agentcore modules`: what is installed, what is on, and why something does not run."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from agentcore.cli.completion import complete_module
from agentcore.cli.exits import CliError, ExitCode
from agentcore.cli.options import config_option, json_option

if TYPE_CHECKING:
    from agentcore.host.config import AppConfig

_COLOURS = {"ready": "green", "failed": "red", "missing": "red", "loading": "yellow", "stopping": "yellow"}

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
    from agentcore.cli.backend import open_backend
    from agentcore.cli.output import note, print_json, print_table

    with open_backend(config_path, warns=False) as backend:
        found = backend.modules()
    if as_json:
        print_json({"modules": found})
    elif not found:
        from agentcore.api.installing import pip_command

        note(f"No module is installed or on. Modules are Python packages: {pip_command('NAME')}")
    else:
        rows = [
            (module["name"], module["state"], str(len(module["tools"])), _source(module), _remark(module))
            for module in found
        ]
        print_table(("module", "state", "tools", "from", "remark"), rows, [_COLOURS.get(row[1]) for row in rows])


@modules.command()
@config_option
@json_option
@name_argument
def info(config_path: Path, as_json: bool, name: str) -> None:
    """Show one module: where it comes from, its state, its tools, what is wrong with it."""
    from agentcore.cli.backend import open_backend
    from agentcore.cli.output import print_json

    with open_backend(config_path, warns=False) as backend:
        module = backend.module(name)
    if as_json:
        print_json(module)
    else:
        _print_module(module)


@modules.command()
@config_option
@name_argument
def enable(config_path: Path, name: str) -> int:
    """Turn a module on: list it in app.json, and start it if a server runs."""
    from agentcore.cli.backend import running_server
    from agentcore.cli.server_backend import ServerBackend

    server = running_server(config_path)
    if server is not None:
        return _report(ServerBackend.of(*server).change_module(name, "enable"))
    from agentcore.host.config import load_config, set_modules
    from agentcore.host.discovery import find_module

    loaded = load_config(config_path, os.environ)
    find_module(name, loaded.modules_folder)
    _refuse_fixed(loaded)
    if name in loaded.modules:
        click.echo(f"{name} is on already.")
    else:
        set_modules(config_path, (*loaded.modules, name))
        click.echo(f"{name} is on from the next start.")
    return ExitCode.OK


@modules.command()
@config_option
@name_argument
def disable(config_path: Path, name: str) -> int:
    """Turn a module off: take it out of app.json, and stop it if a server runs."""
    from agentcore.cli.backend import running_server
    from agentcore.cli.server_backend import ServerBackend

    server = running_server(config_path)
    if server is not None:
        return _report(ServerBackend.of(*server).change_module(name, "disable"))
    from agentcore.host.config import load_config, set_modules

    loaded = load_config(config_path, os.environ)
    _refuse_fixed(loaded)
    listed = loaded.modules
    if name not in listed:
        raise CliError(f"module {name!r} is not on", hint=f"on are: {', '.join(listed) or 'none'}")
    set_modules(config_path, tuple(other for other in listed if other != name))
    click.echo(f"{name} is off from the next start.")
    return ExitCode.OK


@modules.command()
@config_option
@name_argument
def reload(config_path: Path, name: str) -> int:
    """Stop a module, load its code afresh, and start it again in the running server.

    All modules of its distribution go with it, and those that need it.
    """
    from agentcore.cli.backend import required_server
    from agentcore.cli.server_backend import ServerBackend

    return _report(ServerBackend.of(*required_server(config_path)).change_module(name, "reload"))


def _refuse_fixed(loaded: "AppConfig") -> None:
    """Refuse to change a list that the environment fixes: app.json would not count."""
    origin = loaded.origin_of(("modules",))
    if origin.is_read_only:
        raise CliError(f"the list of modules comes from the {origin}", hint="change it there, or unset it")


def _report(module: Mapping[str, Any]) -> int:
    """Tell what became of a module; one that did not get ready is a failure."""
    from agentcore.cli.output import print_text

    print_text(f"{module['name']} is {module['state']}." + (f" {module['reason']}" if module["reason"] else ""))
    return ExitCode.CALL_FAILED if module["state"] in ("failed", "missing") else ExitCode.OK


def _source(module: Mapping[str, Any]) -> str:
    if module["distribution"]:
        return f"{module['distribution']} {module['version']}"
    return "local" if module["file"] else ""


def _remark(module: Mapping[str, Any]) -> str:
    if module["state"] == "stopped" and not module["listed"]:
        return f"to turn it on: agentcore modules enable {module['name']}"
    return str(module["reason"] or next(iter(module["problems"]), module["description"]))


def _print_module(module: Mapping[str, Any]) -> None:
    from agentcore.cli.output import painted, print_text

    state = module["state"]
    click.echo(f"{painted(module['name'], 'cyan', bold=True)}  {painted(state, _COLOURS.get(state, 'white'))}")
    rows = {
        "description": module["description"],
        "reason": module["reason"],
        "listed": "yes" if module["listed"] else "no",
        "from": _source(module),
        "file": module["file"],
        "needs": ", ".join(module["requires"]),
        "settings": f"config.{module['settingsKey']}" if module["settingsKey"] else "",
        "element": module["component"]["tag"] if module["component"] else "",
        "tools": ", ".join(module["tools"]),
    }
    for name, text in rows.items():
        if text:
            print_text(f"  {name:<13}{text}")
    for problem in module["problems"]:
        print_text(f"  {'problem':<13}{problem}")
