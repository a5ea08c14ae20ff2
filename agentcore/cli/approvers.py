"""`agentcore approvers`: clients that may approve, each with a key of its own."""

import sys
from pathlib import Path

import click

from agentcore.cli.options import config_option, json_option


@click.group()
def approvers() -> None:
    """Clients in your hands that may approve calls, such as a browser extension or a script.

    Each is paired by a short code, which appears in the approval view, or when you type `pair` in the terminal of the
    server. The API token cannot make one: whoever holds it could approve otherwise.
    """


@approvers.command("list")
@config_option
@json_option
def list_approvers(config_path: Path, as_json: bool) -> None:
    """List paired clients."""
    from agentcore.cli.backend import required_server
    from agentcore.cli.output import note, print_json, print_table
    from agentcore.cli.server_client import ServerClient

    found = ServerClient.of(*required_server(config_path)).get("/api/approvers")["approvers"]
    if as_json:
        print_json({"approvers": found})
    elif not found:
        note("No client is paired.")
    else:
        rows = [(each["name"], _day(each["createdAt"]), _day(each["lastUsedAt"])) for each in found]
        print_table(("name", "paired", "last used"), rows)


@approvers.command()
@config_option
@json_option
@click.argument("name")
def pair(config_path: Path, as_json: bool, name: str) -> None:
    """Pair a client under a name, and print its key: shown this once, sent as `Authorization: Bearer`.

    It asks for the short code, or reads it from stdin where that is no terminal. Whoever has the key can approve.
    """
    from agentcore.cli.backend import required_server
    from agentcore.cli.output import note, print_json
    from agentcore.cli.server_client import ServerClient

    client = ServerClient.of(*required_server(config_path))
    if sys.stdin.isatty():
        note("Make a code in the approval view, or type `pair` in the terminal of the server.")
        code = click.prompt("Code", err=True)
    else:
        code = sys.stdin.readline().strip()
    paired = client.post("/api/approvers", {"code": code, "name": name})
    if as_json:
        print_json(paired)
    else:
        note(f"{name} is paired. This is its key; keep it to yourself:")
        click.echo(paired["key"])


@approvers.command()
@config_option
@click.argument("name")
def revoke(config_path: Path, name: str) -> None:
    """End a client's right to approve, at once."""
    from agentcore.cli.backend import required_server
    from agentcore.cli.server_client import ServerClient, path_of

    ServerClient.of(*required_server(config_path)).send("DELETE", path_of("api", "approvers", name))
    click.echo(f"{name} cannot approve any more.")


def _day(moment_ms: int) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(moment_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")
