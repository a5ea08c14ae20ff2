"""`agentcore mcp`: the tools for an MCP client that starts a command."""

import re
from pathlib import Path

import click

from agentcore.cli.options import config_option
from agentcore.cli.terminal.exits import CliError

_CLIENT = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,39}")


@click.command()
@config_option
@click.option("--client", required=True, metavar="NAME", help="The client's name, by which its calls are known.")
@click.option("--tools", default="", metavar="PATTERNS", help="Offer only these tools, such as 'browser_*,read_file'.")
@click.option(
    "--wait",
    "wait_s",
    type=click.FloatRange(min=1, max=86_400),
    metavar="SECONDS",
    help="How long a call waits for a person.  [default: 50]",
)
def mcp(config_path: Path, client: str, tools: str, wait_s: float | None) -> None:
    """Speak MCP on stdin and stdout: started by MCP clients, see `agentcore connect`.

    Passes all on to the running server of that app.json; where none runs, one is started, which lives as long as such
    clients are connected. When the server ends another one takes over, and the client stays connected.
    """
    from agentcore.cli.relay import Relay, ServerLink

    if _CLIENT.fullmatch(client) is None:
        raise CliError(f"--client {client!r} has other characters than letters, digits, - and _, or over 40")
    config = config_path.resolve()
    if not config.is_file():
        raise CliError(f"there is no {config}", hint="agentcore init writes one")
    Relay(ServerLink(config, client, tools, wait_s)).run()
