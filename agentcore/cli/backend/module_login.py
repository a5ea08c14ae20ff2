"""A module's log-in, begun at a running server and done in the person's browser."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from agentcore.cli.backend.opening import required_server
from agentcore.cli.backend.server_client import ServerClient
from agentcore.cli.terminal.browser import open_browser
from agentcore.cli.terminal.exits import CliError, ExitCode
from agentcore.cli.terminal.output import print_notice
from agentcore.cli.terminal.visible_text import terminal_safe

_LOOK_SECONDS = 0.5


def log_in_to(config_path: Path, module: str, *, opens: bool, landed: str | None) -> int:
    """Log in, and say how it ended.

    Args:
        module: The module's name.
        opens: Whether a browser is opened here.
        landed: Where the person's browser ended; None: it has yet to be opened.
    Raises:
        CliError: No server runs, or it refuses.
    """
    folder, info = required_server(config_path)
    client = ServerClient.from_state_dir(folder, info)
    path = f"/api/modules/{quote(module)}/login"
    if landed is not None:
        client.post(path, {"landed": landed})
    else:
        address = client.post(path)["address"]
        print_notice("You log in at this address; look whether it is where you expect to be asked:")
        click.echo(terminal_safe(address))
        if not (opens and open_browser(folder, address)):
            print_notice("Open it in your browser.")
        print_notice(
            "Waiting until you have… If the browser ends at a page that it cannot reach, as on another machine, give "
            f"that page's address: agentcore mcp login {module} --landed 'ADDRESS'"
        )
    status = _wait_for_login(client, module)
    if status["state"] != "logged_in":
        raise CliError(
            f"not logged in: {terminal_safe(status['said']) or 'the server still asks for it'}",
            code=ExitCode.CALL_FAILED,
        )
    click.echo(f"Logged in at {terminal_safe(status['said'])}.")
    return ExitCode.OK


def log_out_of(config_path: Path, module: str) -> int:
    """Log out, and say so.

    Raises:
        CliError: No server runs, or it refuses.
    """
    client = ServerClient.from_state_dir(*required_server(config_path))
    client.send("DELETE", f"/api/modules/{quote(module)}/login")
    click.echo("Logged out.")
    return ExitCode.OK


def _wait_for_login(client: ServerClient, module: str) -> dict[str, Any]:
    """How the log-in stands once nobody is at it any more; the server gives up after some minutes."""
    while True:
        status: dict[str, Any] | None = client.get(f"/api/modules/{quote(module)}/report")["login"]
        if status is None:
            raise CliError("the module was stopped meanwhile", code=ExitCode.CALL_FAILED)
        if status["state"] != "waiting":
            return status
        time.sleep(_LOOK_SECONDS)
