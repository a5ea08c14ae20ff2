"""Finds or starts the server of an app.json, and manages the key that identifies a client to it."""

import fcntl
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from agentcore.cli.backend.opening import running_server
from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.store.state.private_file import make_private_folder, read_private_file, write_private_file
from agentcore.store.state.state_dir import locate_state_dir

_START_SECONDS = 90.0
_PAUSE_SECONDS = 0.05
_KEY_BYTES = 1024
_SAID_BYTES = 2000
_CLIENTS = "clients"
_LOCK = ".lock"


class ServerLink:
    """Connects a client to the server of an app.json.

    Args:
        config: The app.json.
        client: The client's name.
        asks: What the client asks of its connection: see `PipeConnectRequest` of the server.
    """

    def __init__(self, config: Path, client: str, asks: Mapping[str, Any]) -> None:
        self._config = config
        self._client = client
        self._asks = asks
        self._session = ""
        self._child: subprocess.Popen[bytes] | None = None
        self._has_served = False

    def open(self) -> socket.socket:
        """Connect to the running server, or start one.

        Raises:
            CliError: The client is refused, or no server answers in time.
        """
        until = time.monotonic() + _START_SECONDS
        while True:
            connection = self._connect_socket()
            if connection is not None and self._try_handshake(connection):
                self._has_served = self._child is not None
                self._print_addresses()
                return connection
            self._ensure_server()
            if time.monotonic() > until:
                message = f"no server for {self._config} answers within {_START_SECONDS:g} s"
                raise CliError(message, hint="see why with: agentcore serve", code=ExitCode.UNREACHABLE)
            time.sleep(_PAUSE_SECONDS)

    def end_unused_server(self) -> None:
        """Terminate a server that was started here and does not accept clients yet; a waiting client starts another."""
        child = self._child
        if child is None or child.poll() is not None:
            return
        connection = self._connect_socket()
        if connection is None:
            child.terminate()
        else:
            connection.close()

    def _print_addresses(self) -> None:
        """Write the page and approval addresses of a server that was started here to the client's log."""
        server = running_server(self._config)
        if self._child is not None and server is not None:
            told = server[1].addresses
            sys.stderr.write(f"agentcore mcp: page at {told.get('page')}, approvals at {told.get('approval')}\n")
            sys.stderr.flush()

    def _connect_socket(self) -> socket.socket | None:
        server = running_server(self._config)
        path = None if server is None else server[1].addresses.get("mcp")
        if path is None:
            return None
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(path)
        except OSError:  # the server is just starting or ending
            connection.close()
            return None
        return connection

    def _try_handshake(self, connection: socket.socket) -> bool:
        """Return True if the server accepts the client, False if the server is just ending.

        Raises:
            ClientRefusedError: The server refuses the client.
        """
        try:
            self._send_handshake(connection)
        except BaseException as exc:
            connection.close()
            if isinstance(exc, OSError):
                return False
            raise
        return True

    def _send_handshake(self, connection: socket.socket) -> None:
        greeting = {**self._asks, "key": self._ensure_key(), "session": self._session}
        connection.sendall(json.dumps(greeting).encode() + b"\n")
        answer = _read_line(connection)
        if "session" not in answer:
            error = answer.get("error", {})
            kind = error.get("type", "refused")
            message = error.get("message", "the server refused the client")
            raise ClientRefusedError(str(kind), str(message))
        self._session = answer["session"]

    def _ensure_key(self) -> str:
        return ensure_client_key(self._config, self._client)

    def _ensure_server(self) -> None:
        """Start a server unless one is running or starting; if several are started, only one continues."""
        if self._child is not None:
            code = self._child.poll()
            if code is None:
                return
            child = self._child
            self._child = None
            self._check_server_exit(child, code)
        if running_server(self._config) is not None:
            return  # another process has started one, which does not serve clients yet
        sys.stderr.write(f"agentcore mcp: no server runs for {self._config}; starting one\n")
        sys.stderr.flush()
        # In its own session, since it also serves other clients, and ends when the last one is gone.
        command = [sys.executable, "-m", "agentcore", "serve", "--config", str(self._config), "--while-connected"]
        with suppress(OSError):
            self._child = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )

    def _check_server_exit(self, child: "subprocess.Popen[bytes]", code: int) -> None:
        """Check why a server that was started here has ended.

        Raises:
            CliError: The server cannot be started.
        """
        said = b"" if child.stderr is None else child.stderr.read()[-_SAID_BYTES:]
        if child.stderr is not None:
            child.stderr.close()
        has_served = self._has_served
        self._has_served = False
        if has_served or code in (0, ExitCode.UNREACHABLE):  # 3: another process has locked the state folder
            return
        reason = said.decode("utf-8", "replace").strip() or f"it ended with exit code {code}"
        raise CliError(f"no server can be started: {reason}", hint="try: agentcore serve", code=ExitCode.UNREACHABLE)


class ClientRefusedError(CliError):
    """The server refuses the client; a retry would not help.

    Args:
        kind: The type of the server's error.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message, code=ExitCode.CALL_FAILED)
        self.kind = kind


def key_path(config: Path, client: str) -> Path:
    """Return the path of a client's key file."""
    return locate_state_dir(config, os.environ) / _CLIENTS / client


def ensure_client_key(config: Path, client: str) -> str:
    """Return a client's stored key, or else a new one, which the server creates for a caller with the API token.

    Raises:
        ClientRefusedError: A client of that name has a key that is not stored here.
    """
    path = key_path(config, client)
    if (kept := _read_key(path)) is not None:
        return kept
    make_private_folder(path.parent)
    with (path.parent / _LOCK).open("wb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the same client may be started twice at once
        key = _read_key(path)
        if key is None:
            key = _create_key(config, client)
            write_private_file(path, key.encode() + b"\n")
    return key


def _create_key(config: Path, client: str) -> str:
    from agentcore.cli.backend.opening import required_server
    from agentcore.cli.backend.server_client import ServerClient, ServerError

    server = ServerClient.from_state_dir(*required_server(config))
    try:
        made: dict[str, Any] = server.post("/api/mcp/clients", {"name": client})
    except ServerError as exc:
        if exc.error["type"] != "approver_exists":
            raise
        message = (
            f"a client {client!r} is known already, and its key is not in the state folder: end that one "
            f"with `agentcore approvers revoke {client}`, or take another name for --client"
        )
        raise ClientRefusedError("client_exists", message) from exc
    return str(made["key"])


def _read_key(path: Path) -> str | None:
    kept = read_private_file(path, _KEY_BYTES)
    return None if kept is None else kept.decode("ascii", "replace").strip()


def _read_line(connection: socket.socket) -> dict[str, Any]:
    """Read the server's one-line answer to the greeting, and not a byte more."""
    data = b""
    while not data.endswith(b"\n"):
        part = connection.recv(1)
        if not part:
            raise ConnectionResetError("the server ended")
        data += part
    answer: dict[str, Any] = json.loads(data)
    return answer
