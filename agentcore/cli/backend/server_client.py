"""HTTP client of a running server for the command line: standard library only, authenticated by the API token."""

import http.client
import json
import os
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Self
from urllib.parse import quote, urlsplit

from agentcore.cli.terminal.exit_codes import CliError, ExitCode
from agentcore.store.state.api_token import TOKEN_VARIABLE, read_token
from agentcore.store.state.loop_report import LoopReport, read_loop_report
from agentcore.store.state.server_info import ServerInfo
from agentcore.valid_text import valid_text, with_valid_text

ANSWER_SECONDS = 60.0
"""Time limit for one response; longer than the limits for starting and stopping a module."""

STREAM_SILENCE_SECONDS = 60.0
"""Maximum silence of a stream; the server sends keep-alives more often."""

ANSWER_BYTES = 64 * 1024 * 1024
"""Maximum size of one response."""

_GUARD_SECONDS = 2.0
"""Longer than the maximum age of the guard's report about a blocked server."""


class StreamEvent(NamedTuple):
    """One event of a stream: its name, and its data as raw bytes."""

    name: str
    data: bytes


class ServerError(CliError):
    """The server rejected a request.

    Args:
        error: The server's error object, with at least `type` and `message`.
    """

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(f"{error['type']}: {error['message']}", code=ExitCode.CALL_FAILED)
        self.error = error


Connect = Callable[[float], http.client.HTTPConnection]
"""Creates a connection to the server with the given timeout in seconds."""


class ServerClient:
    """Sends requests to the server that uses a state folder.

    Args:
        address: The server's base URL.
        token: The API token.
        connect: Creates connections. None: connect to `address`.
    Attributes:
        address: The base URL without a trailing slash.
    """

    def __init__(self, address: str, token: str, connect: Connect | None = None) -> None:
        self.address = address.rstrip("/")
        self._credentials = {"Authorization": f"Bearer {token}"}
        self._place = urlsplit(self.address)
        self._connect: Connect = connect or self._dial_address
        self._look: Callable[[], None] = lambda: None

    @classmethod
    def from_state_dir(cls, folder: Path, info: ServerInfo) -> Self:
        """Create the client of a server that was found by its state folder.

        Raises:
            CliError: The server has no address yet, or there is no token.
        """
        address = info.addresses.get("page")
        if address is None:
            raise CliError(
                f"process {info.pid} is starting and has no address yet",
                hint="try again in a moment",
                code=ExitCode.UNREACHABLE,
            )
        token = read_token(folder, os.environ)
        if token is None:
            raise CliError(
                f"there is no API token in {folder}",
                hint=f"set {TOKEN_VARIABLE}, or restart the server",
                code=ExitCode.UNREACHABLE,
            )
        client = cls(address, token.get_secret_value())
        client._look = lambda: _refuse_blocked(folder, info)
        return client

    def get(self, path: str) -> Any:
        """Get the JSON value at a path.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        return self._parse_json(self.send("GET", path))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """Post a JSON object and return the JSON value of the response.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        return self._parse_json(self.send("POST", path, body or {}))

    def send(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> bytes:
        """Send a request and return the bytes of the response.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        connection = self._connect(ANSWER_SECONDS)
        try:
            response = self._send_request(connection, method, path, body, "application/json")
            return self._check_status(response, self._read_body(response))
        finally:
            connection.close()

    def send_file(self, path: str, file: BinaryIO, size_bytes: int) -> Any:
        """Post a file without loading it into memory, and return the JSON value of the response.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        connection = self._connect(ANSWER_SECONDS)
        headers = {"Content-Type": "application/octet-stream", "Content-Length": str(size_bytes)}
        try:
            response = self._exchange(connection, "POST", path, file, headers)
            return self._parse_json(self._check_status(response, self._read_body(response)))
        finally:
            connection.close()

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """Patch the resource at a path and return the JSON value of the response.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        return self._parse_json(self.send("PATCH", path, body))

    def stream(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> Iterator[StreamEvent]:
        """Send a request and yield the events of the response as they arrive, until the server ends the stream.

        Raises:
            CliError: The server cannot be reached, rejects the request, or sends nothing for too long.
        """
        with closing(self.open_stream(method, path, body)) as stream:
            yield from stream

    def open_stream(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> "OpenStream":
        """Send a request that is answered by events, and return once the response has started.

        Raises:
            CliError: The server cannot be reached or rejects the request.
        """
        connection = self._connect(STREAM_SILENCE_SECONDS)
        try:
            response = self._send_request(connection, method, path, body, "text/event-stream")
            self._check_stream(response)
        except BaseException:
            connection.close()
            raise
        return OpenStream(connection, self._read_events(response))

    def _check_stream(self, response: http.client.HTTPResponse) -> None:
        if response.headers.get_content_type() != "text/event-stream":
            self._check_status(response, self._read_body(response))
            raise CliError(f"{self.address} is no agentcore server: it sent no events", code=ExitCode.UNREACHABLE)

    def _dial_address(self, timeout_s: float) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._place.scheme == "https" else http.client.HTTPConnection
        return kind(self._place.hostname or "127.0.0.1", self._place.port, timeout=timeout_s)

    def _send_request(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        body: Mapping[str, Any] | None,
        accept: str,
    ) -> http.client.HTTPResponse:
        headers = {"Accept": accept}
        content = None
        if body is not None:
            headers["Content-Type"] = "application/json"
            content = json.dumps(with_valid_text(body)).encode("ascii")
        return self._exchange(connection, method, path, content, headers)

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        method: str,
        path: str,
        content: bytes | BinaryIO | None,
        headers: Mapping[str, str],
    ) -> http.client.HTTPResponse:
        self._look()
        try:
            connection.request(method, path, content, {**self._credentials, **headers})
            return connection.getresponse()
        except (OSError, http.client.HTTPException) as exc:
            self._look()
            raise self._unreachable_error(exc) from exc

    def _read_body(self, response: http.client.HTTPResponse) -> bytes:
        try:
            content = response.read(ANSWER_BYTES + 1)
        except (OSError, http.client.HTTPException) as exc:
            raise self._unreachable_error(exc) from exc
        if len(content) > ANSWER_BYTES:
            raise CliError(f"the answer of {self.address} is larger than {ANSWER_BYTES} bytes")
        return content

    def _check_status(self, response: http.client.HTTPResponse, content: bytes) -> bytes:
        if response.status < http.client.BAD_REQUEST:
            return content
        error = _error_of(content)
        message = error.get("message") or f"the server answered {response.status}"
        if response.status == http.client.UNAUTHORIZED and error.get("type") in (None, "unauthorized"):
            raise CliError(
                f"the server at {self.address} refuses the token",
                hint=f"it was started with another {TOKEN_VARIABLE}; set the same here",
                code=ExitCode.UNREACHABLE,
            )
        raise ServerError({"type": "error", "message": message, **error})

    def _parse_json(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError as exc:
            raise CliError(f"{self.address} did not answer with JSON", code=ExitCode.UNREACHABLE) from exc

    def _read_events(self, response: http.client.HTTPResponse) -> Iterator[StreamEvent]:
        name = "message"
        data = []
        while line := self._read_line(response):
            field, _, value = line.rstrip(b"\r\n").partition(b":")
            value = value.removeprefix(b" ")
            if field == b"event":
                name = value.decode("utf-8", "replace")
            elif field == b"data":
                data.append(value)
            elif not line.strip():
                if data:
                    yield StreamEvent(name, b"\n".join(data))
                name = "message"
                data = []

    def _read_line(self, response: http.client.HTTPResponse) -> bytes:
        """Return the next line with its line end; empty at the end of the stream."""
        try:
            return response.readline(ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as exc:
            raise self._unreachable_error(exc) from exc

    def _unreachable_error(self, error: Exception) -> CliError:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else type(error).__name__
        return CliError(
            f"the server at {self.address} cannot be reached: {reason or type(error).__name__}",
            hint="see whether its process still runs: agentcore doctor",
            code=ExitCode.UNREACHABLE,
        )


class OpenStream:
    """The event stream of a response that has started.

    Args:
        connection: The connection of the response.
        events: The events of the response.
    """

    def __init__(self, connection: http.client.HTTPConnection, events: Iterator[StreamEvent]) -> None:
        self._connection = connection
        self._events = events
        self._socket: socket.socket | None = connection.sock

    def __iter__(self) -> Iterator[StreamEvent]:
        return self._events

    def interrupt(self) -> None:
        """End the stream from a thread other than the reading one."""
        if self._socket is not None:
            with suppress(OSError):  # the server has already closed it
                self._socket.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the connection. Called in the reading thread."""
        self._connection.close()


def path_of(*segments: str) -> str:
    """Join segments to a path, each percent-encoded."""
    return "/" + "/".join(quote(valid_text(segment), safe="") for segment in segments)


def _refuse_blocked(folder: Path, info: ServerInfo) -> None:
    """Raise an error if the server would not respond because its event loop is blocked.

    Raises:
        CliError: Code of a module blocks the server.
    """
    report = _find_loop_report(folder, info)
    end = time.monotonic() + _GUARD_SECONDS
    while (seen := report) is not None and time.monotonic() < end:
        # A report may be stale: the guard updates held_s while the server is blocked, and then removes the report.
        time.sleep(0.05)
        report = _find_loop_report(folder, info)
        if report is not None and report.held_s != seen.held_s:
            break
    if report is not None:
        raise CliError(
            f"the server, process {info.pid}, does not answer: {report}",
            hint=f"it is ended after {report.limit_s:g} s (limits.loop_blocked_max), or sooner with: kill {info.pid}",
            code=ExitCode.UNREACHABLE,
        )


def _find_loop_report(folder: Path, info: ServerInfo) -> LoopReport | None:
    report = read_loop_report(folder)
    return None if report is None or report.pid != info.pid or report.ended else report


def _error_of(content: bytes) -> dict[str, Any]:
    try:
        error = json.loads(content)["error"]
    except (ValueError, KeyError, TypeError):
        return {}
    return error if isinstance(error, dict) else {}
