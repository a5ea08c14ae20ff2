"""Opens the backend of commands: the running server of an app.json, or else a core in this process."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from agentcore.cli.backend.backend import Backend
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.store.state.server_info import ServerInfo
from agentcore.store.state.state_dir import find_running_server, locate_state_dir


@contextmanager
def open_backend(config_path: Path, *, warns: bool = True) -> Iterator[Backend]:
    """Yield the backend of an app.json's running server, or else of a core in this process.

    Args:
        config_path: The app.json.
        warns: True to warn on stderr of modules that do not become ready in this process.
    Raises:
        CliError: A server is running but cannot be used.
        AgentcoreError: A core cannot be started in this process.
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
    """Return the state folder and the server that has locked it, if one is running for this app.json.

    Raises:
        CliError: A server for another app.json has locked the state folder.
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
    """Return the hint for a change that waits for confirmation at a server."""
    where = server.addresses.get("approval", "")
    return f"It waits for you in the approval view, and counts once you apply it there: {where}".removesuffix(": ")


def required_server(config_path: Path) -> tuple[Path, ServerInfo]:
    """Return the state folder and the running server.

    Raises:
        CliError: No server is running.
    """
    server = running_server(config_path)
    if server is None:
        raise CliError(
            f"no server is running for {config_path.absolute()}",
            hint="start one with: agentcore serve",
            code=ExitCode.UNREACHABLE,
        )
    return server
