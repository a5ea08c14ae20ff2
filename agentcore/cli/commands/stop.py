"""`agentcore stop`: the emergency stop."""

from pathlib import Path

import click

from agentcore.cli.options import config_option, json_option


@click.command()
@config_option
@json_option
def stop(config_path: Path, as_json: bool) -> None:
    """End all calls, processes and browsers of the running server, and reject what waits for approval.

    The server stays, and takes no calls until a person types `resume` at its own terminal, or starts it anew.
    """
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.output import print_json

    ended = ServerClient.of(*required_server(config_path)).post("/api/stop")
    if as_json:
        print_json(ended)
    else:
        click.echo(
            f"Stopped: {ended['calls']} calls and {ended['resources']} resources ended, {ended['rejected']} rejected."
        )
        click.echo("No call is taken until a person types `resume` at the server's terminal, or starts it anew.")
