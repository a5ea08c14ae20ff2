"""Finding the host that commands act on: the running server of an app.json, else one in this process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentcore.cli.backend.backend import Backend
from agentcore.cli.terminal.exits import CliError, ExitCode
from agentcore.store.state import ServerInfo, find_running_server, locate_state_dir


@contextmanager
def open_backend(config_path: Path, *, warns: bool = True) -> Iterator[Backend]:
    """The running server of an app.json, else a host in this process.

    Args:
        config_path: The app.json.
        warns: Whether modules that do not get ready in this process are named on stderr.
    Raises:
        CliError: A server is there, and cannot be used.
        AgentcoreError: A host cannot be started here.
    """
    server = running_server(config_path)
    if server is not None:
        from agentcore.cli.backend.server_backend import ServerBackend

        yield ServerBackend(*server)
        return
    from agentcore.cli.backend.local_host import open_local_host

    with open_local_host(config_path) as host:
        if warns:
            host.warn_of_modules()
        yield host


def running_server(config_path: Path) -> tuple[Path, ServerInfo] | None:
    """The state folder and the server that holds it, if one runs for this app.json.

    Raises:
        CliError: A server for another app.json holds the state folder.
    """
    folder = locate_state_dir(config_path, os.environ)
    info = find_running_server(folder)
    if info is None:
        return None
    if Path(info.config) != config_path.resolve():
        raise CliError(
            f"the state folder {folder} is held by a server for {info.config}",
            hint=f"name that one with --config {info.config}, or set AGENTCORE_STATE_DIR to another folder",
            code=ExitCode.UNREACHABLE,
        )
    return folder, info


def confirmation_hint(server: ServerInfo) -> str:
    """What a command says whose change waits at a server."""
    where = server.addresses.get("approval", "")
    return f"It waits for you in the approval view, and counts once you apply it there: {where}".removesuffix(": ")


def required_server(config_path: Path) -> tuple[Path, ServerInfo]:
    """The running server.

    Raises:
        CliError: None runs.
    """
    server = running_server(config_path)
    if server is None:
        raise CliError(
            f"no server is running for {config_path.absolute()}",
            hint="start one with: agentcore serve",
            code=ExitCode.UNREACHABLE,
        )
    return server
