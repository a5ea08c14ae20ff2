"""`agentcore approvers`: pairs, lists and revokes clients, each with its own key and scopes."""

import sys
from pathlib import Path
from typing import Any

import click

from agentcore.cli.options import config_option, json_option

_CONNECTION_KEYS = ("connected", "connections")
_SCOPES = click.Choice(["approve", "chat", "tab"])


@click.group()
def approvers() -> None:
    """Clients in your hands that act for you, such as a browser extension or a script.

    Each shows a short code, which appears in the approval view, or when you type `pair` in the terminal of the server.
    There you confirm it, and choose what its key is for: to approve, to chat in sessions of its own, to serve tabs. The
    API token can do neither: whoever holds it could approve otherwise.
    """


@approvers.command("list")
@config_option
@json_option
def list_approvers(config_path: Path, as_json: bool) -> None:
    """List paired clients and MCP clients: who is connected now, and who was when."""
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.output import print_json, print_notice, print_table

    server = ServerClient.from_state_dir(*required_server(config_path))
    found = server.get("/api/approvers")["approvers"]
    clients = {each["name"]: each for each in server.get("/api/clients")["clients"]}
    found = [each | {name: clients.get(each["name"], {}).get(name) for name in _CONNECTION_KEYS} for each in found]
    if as_json:
        print_json({"approvers": found})
    elif not found:
        print_notice("No client is paired.")
    else:
        rows = [
            (
                each["name"],
                "call tools" if each["kind"] == "mcp" else " ".join(each["scopes"]),
                each["origin"] or each["kind"],
                _format_time(each["createdAt"]),
                _format_time(each["lastUsedAt"]),
                _describe_connection(each),
            )
            for each in found
        ]
        print_table(("name", "may", "from", "paired", "last used", "connected"), rows)


@approvers.command()
@config_option
@click.option(
    "--scope", "scopes", type=_SCOPES, multiple=True, help="What to ask for; you choose when you confirm.  [repeatable]"
)
@json_option
@click.argument("name")
def pair(config_path: Path, scopes: tuple[str, ...], as_json: bool, name: str) -> None:
    """Pair a client under a name, and print its key: shown this once, sent as `Authorization: Bearer`.

    It asks for the short code, or reads it from stdin where that is no terminal, and waits until you have confirmed the
    client in the approval view or in the terminal of the server.

    \b
    Examples:
      agentcore approvers pair my-script --scope chat
      agentcore approvers pair phone --scope approve --scope chat
    """
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.output import print_json, print_notice

    client = ServerClient.from_state_dir(*required_server(config_path))
    if sys.stdin.isatty():
        print_notice("Make a code in the approval view, or type `pair` in the terminal of the server.")
        code = click.prompt("Code", err=True)
    else:
        code = sys.stdin.readline().strip()
    asked = client.post("/api/approvers", {"code": code, "name": name, "scopes": scopes})
    print_notice("Confirm it in the approval view, or in the terminal of the server.")
    paired: dict[str, Any] = {"state": "waiting"}
    while paired["state"] == "waiting":
        paired = client.post("/api/approvers/key", {"ticket": asked["ticket"]})
    if as_json:
        print_json({"name": paired["name"], "key": paired["key"], "scopes": paired["scopes"]})
    else:
        print_notice(f"{name} is paired, and may: {', '.join(paired['scopes'])}. This is its key; keep it to yourself:")
        click.echo(paired["key"])


@approvers.command()
@config_option
@click.argument("name")
def revoke(config_path: Path, name: str) -> None:
    """End what a client may do, at once: its key, its connections, and what it allowed for later."""
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient, path_of

    ServerClient.from_state_dir(*required_server(config_path)).send("DELETE", path_of("api", "approvers", name))
    click.echo(f"{name} is not paired any more.")


def _format_time(moment_ms: int) -> str:
    from datetime import datetime

    return datetime.fromtimestamp(moment_ms / 1000).astimezone().strftime("%Y-%m-%d %H:%M")


def _describe_connection(client: dict[str, Any]) -> str:
    """Describe whether an MCP client is connected, and with which program it is or was."""
    if client["kind"] != "mcp":
        return ""
    connections = client["connections"] or []
    if not connections:
        return "no"
    newest = connections[0]
    program = f"{newest['program']} {newest['version']}".strip()
    state = "now" if client["connected"] else f"until {_format_time(newest['lastUsedAt'])}"
    return f"{state}, {program}" if program else state
