"""`agentcore serve`: runs the server."""

import asyncio
import gc
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentcore.cli.options import config_option, is_verbose
from agentcore.quick_imports import quick_imports

if TYPE_CHECKING:
    from agentcore.cli.start.start_block import StartBlock
    from agentcore.config.loading import AppConfig
    from agentcore.server.serve import Console, PortTakenError
    from agentcore.store.state.state_dir import StateDir


@click.command()
@config_option
@click.option("--host", metavar="ADDRESS", help="Address to bind.  [default: server.host of app.json, 127.0.0.1]")
@click.option(
    "--port",
    type=click.IntRange(0, 65_535),
    help="Port to bind, 0 for any that is free.  [default: server.port of app.json, 8765]",
)
@click.option(
    "--approval-port",
    type=click.IntRange(0, 65_535),
    help="Port of the approval view.  [default: server.approval_port of app.json, else the same as last time]",
)
@click.option(
    "--open",
    "opens_page",
    is_flag=True,
    help="Open the page in a browser when the modules have started, logged in to the approval view as well.",
)
@click.option(
    "--approver-code-file",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="PATH",
    help="Write a code for the approval view into this file (0600), valid once and for ten minutes.",
)
@click.option(
    "--while-connected",
    "lives_for_clients",
    is_flag=True,
    help="End when no client of `agentcore mcp` is connected any more.",
)
@click.option(
    "--install-missing",
    "installs_missing",
    is_flag=True,
    help="As root in a container, install what modules require, such as a browser, in the background.",
)
@click.option(
    "--allow-remote",
    is_flag=True,
    help="Allow an address other than loopback; it needs TLS in front of it, and its name in server.hosts.",
)
def serve(
    *,
    config_path: Path,
    host: str | None,
    port: int | None,
    approval_port: int | None,
    opens_page: bool,
    approver_code_file: Path | None,
    lives_for_clients: bool,
    installs_missing: bool,
    allow_remote: bool,
) -> None:
    """Start the modules and serve the page, the API and its events, until Ctrl-C.

    On a terminal, it shows the address, a link that logs in once, the folder, the model that chats use and what is
    missing. Calls that need your approval are asked about there too; type `help` for what else can be typed. The log
    goes to a file (`agentcore logs`), and with `agentcore -v serve` to the terminal as well. Elsewhere it logs JSON
    lines, and `server_ready` has the addresses.

    \b
    Examples:
      agentcore serve --open
      agentcore serve --config ~/assistant/app.json --port 0
    """
    from agentcore.cli.late_certificates import certificates_later

    with quick_imports(), certificates_later() as load_certificates:
        from agentcore.config.workspace_roots import prepare_roots
        from agentcore.core.discovery.families import load_config
        from agentcore.core.module_code.process_exit import bounded_runner
        from agentcore.core.process_privacy import hide_secrets
        from agentcore.server.logging.log_setup import configure_logging, log_to_file_only, log_to_state_folder
        from agentcore.server.serve import PortTakenError, RunningServer, log
        from agentcore.server.serve import serve as run_server
        from agentcore.store.state.state_dir import StateDir

        gc.freeze()  # what was imported stays until the end: no collection has to go through it

    hide_secrets()
    console = _find_console()
    block = _start_block(config_path, has_console=console is not None)
    shows_log = block is None or is_verbose() or not sys.stderr.isatty()
    if block is None or shows_log:
        configure_logging(level="debug" if is_verbose() else "info")
    else:
        log_to_file_only(block.show_log_line)
    config = load_config(config_path, os.environ)
    for notice in config.notices:
        log.warning("config_notice", notice=notice)
    roots = prepare_roots(config)
    if approver_code_file is not None:
        _refuse_readable(approver_code_file, roots)

    wanted_port = port

    async def on_ready(server: RunningServer) -> None:
        await asyncio.to_thread(load_certificates)
        if opens_page:
            await asyncio.to_thread(_open_browser, server.core.state.path, server.create_login_link())
        if block is not None:
            await block.show_ready(server)

    with (
        StateDir.open(config.file, roots) as state,
        log_to_state_folder(state.path),
        _flush_block_at_end(block),
        bounded_runner() as runner,
    ):
        while True:
            try:
                runner.run(
                    run_server(
                        config,
                        state,
                        host=host,
                        port=wanted_port,
                        approval_port=approval_port,
                        allow_remote=allow_remote,
                        approver_code_file=approver_code_file,
                        on_listening=None if block is None else block.show_start,
                        on_ready=on_ready,
                        on_installation=None if block is None else block.show_sentence,
                        console=console,
                        lives_for_clients=lives_for_clients,
                        installs_missing=installs_missing,
                        before_modules=_silence_stderr if lives_for_clients else None,
                    )
                )
            except PortTakenError as exc:
                wanted_port = _choose_other_port(exc, config, state)
            else:
                return


def _choose_other_port(taken: "PortTakenError", config: "AppConfig", state: "StateDir") -> int:
    """Offer the next free port if another agentcore server has the page's port, and return it once it is accepted.

    Raises:
        PortTakenError: Another program has the port, or it is not the page's.
        CliError: Another server has the port, and the next one was not accepted.
    """
    from agentcore.cli.terminal.exit_codes import CliError, ExitCode
    from agentcore.cli.terminal.own_command import own_command
    from agentcore.cli.terminal.terminal import is_interactive
    from agentcore.store.state.state_dir import find_server_at

    holder = find_server_at(taken.port, state.path)
    free = taken.find_free_port()
    if holder is None or free is None:
        raise taken
    message = f"{taken.host}:{taken.port} is taken by the agentcore server for {holder.config}"
    if is_interactive() and click.confirm(f"{message}. Serve {config.file} at port {free}?", default=True, err=True):
        return free
    here = own_command(f"serve --port {free}", config.file)
    there = own_command("open", Path(holder.config))
    hint = f"serve at the next free port: {here}; the page of the other one: {there}"
    raise CliError(message, hint=hint, code=ExitCode.UNREACHABLE)


def _start_block(config_path: Path, *, has_console: bool) -> "StartBlock | None":
    """Return the start output for the terminal; None if stdout is not a terminal."""
    if not sys.stdout.isatty():
        return None
    from agentcore.cli.start.start_block import StartBlock
    from agentcore.cli.terminal.own_command import own_command

    return StartBlock(sys.stdout, lambda arguments: own_command(arguments, config_path), has_console=has_console)


@contextmanager
def _flush_block_at_end(block: "StartBlock | None") -> Iterator[None]:
    """Show collected messages at the end if the block that they were meant for was never shown."""
    try:
        yield
    finally:
        if block is not None:
            block.show_unshown()


def _silence_stderr() -> None:
    """Leave errors only in the log from now on: the process that started this server may be gone."""
    sys.stderr.flush()
    with open(os.devnull, "wb") as nowhere:  # noqa: PTH123 - no path of ours
        os.dup2(nowhere.fileno(), sys.stderr.fileno())


def _find_console() -> "Console | None":
    """Return the console for the user at this terminal; None if it is not interactive."""
    from agentcore.cli.terminal.terminal import is_interactive

    if not is_interactive():
        return None
    from agentcore.cli.terminal.server_console import ServerConsole

    return ServerConsole.run


def _refuse_readable(file: Path, roots: Sequence[Path]) -> None:
    """Reject a file for an approval code in a workspace folder, where tools can read it."""
    from agentcore.cli.terminal.exit_codes import CliError

    for root in roots:
        if file.resolve().is_relative_to(root.resolve()):
            raise CliError(
                f"--approver-code-file {file} lies in the workspace root {root}, where tools can read it",
                hint="name a file elsewhere",
            )


def _open_browser(state: Path, address: str) -> None:
    from agentcore.cli.terminal.browser import open_browser
    from agentcore.cli.terminal.output import print_warning

    if not open_browser(state, address):
        print_warning("no browser could be started; type `code` here for addresses to open")
