"""`agentcore stop`: triggers the emergency stop, and can end the server and the hosts that would survive it."""

import asyncio
import os
import signal
import time
from pathlib import Path
from typing import Any

import click

from agentcore.cli.options import config_option, json_option

_END_SECONDS = 90.0
_LOOK_SECONDS = 0.1


@click.command()
@click.option("--all", "ends_all", is_flag=True, help="End the server as well, and hosts that would outlive it.")
@config_option
@json_option
def stop(config_path: Path, ends_all: bool, as_json: bool) -> None:
    """End all calls, processes and browsers of the running server, and reject what waits for approval.

    The server stays, and takes no calls until a person types `resume` at its own terminal, or starts it anew. With
    `--all` it ends, and so do hosts that would outlive it, also where no server runs any more.
    """
    from agentcore.cli.backend.opening import required_server, running_server
    from agentcore.cli.backend.server_client import ServerClient
    from agentcore.cli.terminal.output import print_json
    from agentcore.hosts.hosts import stop_all_surviving_hosts
    from agentcore.store.state.state_dir import locate_state_dir

    running = running_server(config_path) if ends_all else required_server(config_path)
    ended: dict[str, Any] = {"calls": 0, "resources": 0, "rejected": 0}
    hosts: list[str] = []
    if running is not None:
        ended = ServerClient.from_state_dir(*running).post("/api/stop")
    if ends_all:
        if running is not None:
            _end_server(config_path, running[1].pid)
        hosts = asyncio.run(stop_all_surviving_hosts(locate_state_dir(config_path, os.environ)))
        ended = ended | {"server": running is not None, "hosts": hosts}
    if as_json:
        print_json(ended)
        return
    click.echo(
        f"Stopped: {ended['calls']} calls and {ended['resources']} resources ended, {ended['rejected']} rejected."
    )
    if ends_all:
        click.echo("The server has ended." if running else "No server was running.")
        for name in hosts:
            click.echo(f"Host {name!r} has ended.")
    else:
        click.echo("No call is taken until a person types `resume` at the server's terminal, or starts it anew.")


def _end_server(config_path: Path, pid: int) -> None:
    """Ask the server to shut down, and wait until it has ended."""
    from agentcore.cli.backend.opening import running_server
    from agentcore.cli.terminal.exit_codes import CliError, ExitCode

    os.kill(pid, signal.SIGTERM)
    until = time.monotonic() + _END_SECONDS
    while running_server(config_path) is not None:
        if time.monotonic() > until:
            raise CliError(
                f"the server (process {pid}) has not ended within {_END_SECONDS:g} s",
                hint=f"end it with: kill -9 {pid}",
                code=ExitCode.UNREACHABLE,
            )
        time.sleep(_LOOK_SECONDS)
