"""Log-in of a module, started at a running server and completed in the user's browser."""

import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import click

from agentcore.cli.backend.opening import required_server
from agentcore.cli.backend.server_client import ServerClient
from agentcore.cli.terminal.browser import open_browser
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.cli.terminal.output import print_notice
from agentcore.cli.terminal.visible_text import terminal_safe

_LOOK_SECONDS = 0.5


def log_in_to(config_path: Path, module: str, *, opens: bool, landed: str | None) -> int:
    """Log in, and print the result.

    Args:
        module: The module's name.
        opens: True to open a browser on this machine.
        landed: The address at which the user's browser ended. None: the log-in has yet to be started.
    Raises:
        CliError: No server is running, or it rejects the request.
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
    """Log out, and print a confirmation.

    Raises:
        CliError: No server is running, or it rejects the request.
    """
    client = ServerClient.from_state_dir(*required_server(config_path))
    client.send("DELETE", f"/api/modules/{quote(module)}/login")
    click.echo("Logged out.")
    return ExitCode.OK


def _wait_for_login(client: ServerClient, module: str) -> dict[str, Any]:
    """Poll the log-in and return its status once it is no longer waiting; the server gives up after some minutes."""
    while True:
        status: dict[str, Any] | None = client.get(f"/api/modules/{quote(module)}/report")["login"]
        if status is None:
            raise CliError("the module was stopped meanwhile", code=ExitCode.CALL_FAILED)
        if status["state"] != "waiting":
            return status
        time.sleep(_LOOK_SECONDS)
