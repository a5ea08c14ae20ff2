"""What commands ask of a host, be it a running server or one in this process."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from agentcore.cli.terminal.exits import CliError, ExitCode
from agentcore.store.state.server_info import ServerInfo
from agentcore.store.state.state_dir import find_running_server, locate_state_dir

Notify = Callable[[str, Mapping[str, Any]], None]
"""Told of `progress` and `approval` while a call goes on."""


@dataclass(frozen=True, slots=True)
class CallWish:
    """A call as the command line was asked for it."""

    tool: str
    arguments: dict[str, Any]
    session_id: str | None = None
    timeout_ms: int | None = None


class Backend(Protocol):
    """The host that commands act on."""

    def tools(self, form: str = "agentcore") -> list[dict[str, Any]]:
        """All tools, in agentcore's form or that of openai, anthropic, mcp."""
        ...

    def call(self, wish: CallWish, notify: Notify) -> bytes:
        """Call a tool; the result envelope, or the one with the error, as JSON text."""
        ...

    def modules(self) -> list[dict[str, Any]]:
        """All modules that are listed or installed, as `GET /api/modules` gives them."""
        ...

    def module(self, name: str) -> dict[str, Any]:
        """One module, as `GET /api/modules/NAME` gives it."""
        ...

    def explain(self, question: dict[str, Any]) -> dict[str, Any]:
        """What would become of a call, as `POST /api/approvals/explain` gives it."""
        ...

    def try_rule(self, trial: dict[str, Any]) -> dict[str, Any]:
        """What a rule would change, as `POST /api/approvals/try` gives it."""
        ...

    def grants(self) -> list[dict[str, Any]]:
        """What was allowed for later calls."""
        ...

    def revoke_grant(self, grant_id: str) -> None:
        """Take back what was allowed for later."""
        ...


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

        yield ServerBackend.of(*server)
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
