"""`agentcore secrets`: manages the secrets that settings refer to as `${secret:NAME}`; no value is ever shown."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from agentcore.cli.options import config_option, json_option
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

if TYPE_CHECKING:
    from agentcore.cli.backend.server_client import ServerClient

_STDIN_BYTES = 128 * 1024  # above the limit of a secret, so that too large a one is reported as such


@click.group()
def secrets() -> None:
    """Secrets for settings of modules, which name them as ${secret:NAME}.

    They are kept in the state folder, in a file that only you may read, and never shown. While a server runs, setting
    and removing one waits for you in the approval view.
    """


@secrets.command("set")
@config_option
@click.argument("name")
def set_secret(config_path: Path, name: str) -> int:
    """Keep a secret: asked for at a terminal, else read from stdin, without the line end.

    \b
    Examples:
      agentcore secrets set GITHUB_TOKEN
      pass show github | agentcore secrets set GITHUB_TOKEN
    """
    from agentcore.cli.backend.server_client import path_of
    from agentcore.cli.terminal.output import print_notice

    value = _read_value(name)
    client = _find_client(config_path)
    if client is None:
        _change_locally(config_path, "secret_set", name, value)
        click.echo(f"{name} is set.")
        return ExitCode.OK
    code = _ask_server(client, "PUT", path_of("api", "secrets", name), {"value": value})
    if code == ExitCode.OK:
        click.echo(f"{name} is set.")
        for module in _find_users(config_path, client).get(name, []):
            print_notice(f"{module} uses it after a reload: agentcore modules reload {module}")
    return code


@secrets.command("list")
@config_option
@json_option
def list_secrets(config_path: Path, as_json: bool) -> None:
    """List names: when each was set, which modules that are on use it, and which are named and missing."""
    from agentcore.cli.terminal.output import print_json, print_notice, print_table

    found = _load_secrets(config_path, _find_client(config_path))
    if as_json:
        print_json(found)
        return
    if not found["secrets"]:
        print_notice("No secret is kept.")
    else:
        rows = [(each["name"], _format_time(each["setAt"]), ", ".join(each["usedBy"])) for each in found["secrets"]]
        print_table(("name", "set", "used by"), rows)
    for name, modules in found["missing"].items():
        print_notice(f"{name} is missing, and named by {', '.join(modules)}; set it with: agentcore secrets set {name}")


@secrets.command()
@config_option
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask.")
@click.argument("name")
def remove(config_path: Path, is_sure: bool, name: str) -> int:
    """Forget a secret. Modules that name it do not start any more; those that run have it until they stop."""
    from agentcore.cli.backend.server_client import path_of
    from agentcore.cli.terminal.output import print_notice

    client = _find_client(config_path)
    if modules := _find_users(config_path, client).get(name):
        print_notice(f"{name} is named in the settings of: {', '.join(modules)}")
    if not is_sure:
        _confirm_removal(name)
    if client is None:
        _change_locally(config_path, "secret_remove", name)
        code = ExitCode.OK
    else:
        code = _ask_server(client, "DELETE", path_of("api", "secrets", name))
    if code == ExitCode.OK:
        click.echo(f"{name} is removed.")
    return code


def _confirm_removal(name: str) -> None:
    if not sys.stdin.isatty():
        raise CliError("nobody can be asked here whether that is meant", hint="say so with --yes", code=ExitCode.USAGE)
    click.confirm(f"Remove {name}?", abort=True, err=True)


def _read_value(name: str) -> str:
    if sys.stdin.isatty():
        value: str = click.prompt(name, hide_input=True, err=True)
        return value
    content = sys.stdin.buffer.read(_STDIN_BYTES)
    try:
        text = content.decode()
    except UnicodeDecodeError:
        # without the reason, which quotes the secret
        raise CliError(
            "what stands on stdin is no text in UTF-8", hint="encode it first, such as in base64", code=ExitCode.USAGE
        ) from None
    return text.removesuffix("\n").removesuffix("\r")


def save_secret_locally(config_path: Path, name: str, value: str) -> None:
    """Store a secret while no server is running, by locking the state folder in this process."""
    _change_locally(config_path, "secret_set", name, value)


def list_secret_names(config_path: Path) -> list[str]:
    """Return the names of the stored secrets."""
    return [each["name"] for each in _load_secrets(config_path, _find_client(config_path))["secrets"]]


def _find_client(config_path: Path) -> "ServerClient | None":
    from agentcore.cli.backend.opening import running_server
    from agentcore.cli.backend.server_client import ServerClient

    server = running_server(config_path)
    return None if server is None else ServerClient.from_state_dir(*server)


def _ask_server(
    client: "ServerClient", method: Literal["PUT", "DELETE"], path: str, body: dict[str, Any] | None = None
) -> ExitCode:
    """Have the server change a secret, and tell the user if they have to confirm it."""
    from agentcore.cli.backend.server_client import ServerError
    from agentcore.cli.terminal.output import print_notice

    try:
        client.send(method, path, body)
    except ServerError as exc:
        if exc.error["type"] != "confirmation_required":
            raise
        print_notice("It waits for you in the approval view, and counts once you apply it there.")
        return ExitCode.CALL_FAILED
    return ExitCode.OK


def _find_users(config_path: Path, client: "ServerClient | None") -> dict[str, list[str]]:
    listed = _load_secrets(config_path, client)
    return {each["name"]: each["usedBy"] for each in listed["secrets"]}


def _load_secrets(config_path: Path, client: "ServerClient | None") -> dict[str, Any]:
    if client is not None:
        found: dict[str, Any] = client.get("/api/secrets")
        return found
    from agentcore.core.discovery.families import load_config
    from agentcore.core.settings.secret_users import users_of_secrets
    from agentcore.store.credentials.secret_table import read_secrets
    from agentcore.store.state.state_dir import locate_state_dir

    kept = read_secrets(locate_state_dir(config_path, os.environ))
    users = users_of_secrets(load_config(config_path, os.environ), {})
    return {
        "secrets": [
            {"name": name, "setAt": secret.set_at_ms, "usedBy": users.get(name, [])}
            for name, secret in sorted(kept.items())
        ],
        "missing": {name: users[name] for name in sorted(users) if name not in kept},
    }


def _change_locally(config_path: Path, kind: str, name: str, value: str | None = None) -> None:
    """Change a secret with the state folder locked by this process, and record the change."""
    import asyncio

    from pydantic import SecretStr

    from agentcore.config.workspace_roots import prepare_roots
    from agentcore.core.discovery.families import load_config
    from agentcore.store.credentials.secret_table import remove_secret, save_secret
    from agentcore.store.record.call_row import make_notice_row
    from agentcore.store.state.state_dir import StateDir
    from agentcore.store.store import Store

    async def change(state: StateDir) -> None:
        async with Store.open(state) as store:
            if value is None:
                remove_secret(state.path, name)
            else:
                save_secret(state.path, name, SecretStr(value))
            store.record.append(make_notice_row(kind, name=name)._replace(principal_kind="cli"))

    config = load_config(config_path, os.environ)
    with StateDir.open(config.file, prepare_roots(config)) as state:
        asyncio.run(change(state))


def _format_time(moment_ms: int) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(moment_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
