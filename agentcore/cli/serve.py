"""`agentcore serve`: the server."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentcore.cli.lazy import quick_imports
from agentcore.cli.options import config_option, is_verbose

if TYPE_CHECKING:
    from agentcore.server.serve import Console


@click.command()
@config_option
@click.option("--host", metavar="ADDRESS", help="Address to bind.  [default: server.host of app.json, 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Port to bind, 0 for any that is free.  [default: server.port of app.json, 8765]",
)
@click.option("--open", "opens_page", is_flag=True, help="Open the page in a browser when the modules have started.")
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Allow an address other than loopback; it needs TLS in front of it, and its name in server.hosts.",
)
def serve(*, config_path: Path, host: str | None, port: int | None, opens_page: bool, allow_remote: bool) -> None:
    """Start the modules and serve the page, the API and its events, until Ctrl-C.

    On a terminal, it prints the page's address with a code that logs in once, and calls that need a person's
    approval are asked about there; type `help` for what else can be typed. Elsewhere it logs JSON lines, and
    `server_ready` has the address.

    \b
    Examples:
      agentcore serve --open
      agentcore serve --config ~/assistant/app.json --port 0
    """
    from agentcore.late_certificates import certificates_later

    with quick_imports(), certificates_later() as load_certificates:
        from agentcore.host.config import load_config
        from agentcore.host.config_workspace import prepare_roots
        from agentcore.server.logging import configure_logging
        from agentcore.server.serve import log
        from agentcore.server.serve import serve as run_server
        from agentcore.store.state_dir import StateDir

    configure_logging(level="debug" if is_verbose() else "info")
    config = load_config(config_path, os.environ)
    for notice in config.notices:
        log.warning("config_notice", notice=notice)
    with StateDir.open(config.file, prepare_roots(config)) as state:
        asyncio.run(
            run_server(
                config,
                state,
                host=host,
                port=port,
                allow_remote=allow_remote,
                terminal=sys.stdout if sys.stdout.isatty() else None,
                on_ready=_open_browser if opens_page else None,
                console=_console(),
                before_modules=load_certificates,
            )
        )


def _console() -> "Console | None":
    """What a person at this terminal types, if there is one."""
    from agentcore.cli.terminal import has_person

    if not has_person():
        return None
    from agentcore.cli.server_console import ServerConsole

    return ServerConsole.run


def _open_browser(address: str) -> None:
    import webbrowser

    from agentcore.cli.output import warn

    if not webbrowser.open(address):
        warn("no browser could be started; agentcore open --print gives an address to open")
