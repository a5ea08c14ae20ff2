"""Relays bytes between a client and the server unchanged, and replaces a server that ends."""

import os
import select
import socket
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from agentcore.cli.relay.server_link import ClientRefusedError, ServerLink
from agentcore.cli.relay.unanswered_requests import InFlight, LineBuffer, make_error_answer
from agentcore.cli.terminal.exit_codes import CliError, ExitCode

_READ_BYTES = 64 * 1024
_LONG_READ_BYTES = 256 * 1024
"""While a long line arrives. The allocator requests such a buffer from the system, which takes time, and returns it."""
_LINE_BYTES = 64 * 1024 * 1024
_PARENT_SECONDS = 0.5
_INTERRUPTED = (
    "the server ended while this was on its way, and whether it had any effect is not known: look before you send it "
    "again. Another server is there now."
)
_NOT_RUN = (
    "the server ended while this call waited for a person's approval, so it has not run: send it again. Another server "
    "is there now, and asks again."
)


class Relay:
    """Relays one client on stdin and stdout until it disconnects.

    Args:
        link: Connects to the server.
    """

    def __init__(self, link: ServerLink) -> None:
        self._link = link
        self._in_flight = InFlight()
        self._connection: socket.socket | None = None
        self._is_connected = threading.Event()
        self._refusal: ClientRefusedError | None = None
        self._writing = threading.Lock()
        self._sending = threading.Lock()

    def run(self) -> NoReturn:
        """Relay until the client closes its end or the parent process is gone."""
        threading.Thread(target=self._read_client, name="client", daemon=True).start()
        threading.Thread(target=self._read_server, name="server", daemon=True).start()
        parent = os.getppid()
        pause = threading.Event()
        while os.getppid() == parent and not self._is_client_gone():
            pause.wait(_PARENT_SECONDS)
        self._exit(0)

    def _is_client_gone(self) -> bool:
        """True if the client has closed its end while no server is connected, when nothing reads from the client."""
        looking = select.poll()
        looking.register(0, 0)  # POLLHUP is reported even for an empty event mask
        return not self._is_connected.is_set() and bool(looking.poll(0))

    # -- from the client ---------------------------------------------------------------------------------------

    def _read_client(self) -> None:
        buffer = LineBuffer()
        while data := os.read(0, _LONG_READ_BYTES if buffer.size else _READ_BYTES):
            for line in buffer.feed(data):
                self._pass_on(line)
            if buffer.size > _LINE_BYTES:  # the server reports the error and discards the line
                self._is_connected.wait()
                with self._sending:
                    self._send_to_server(buffer.pop_rest())
        self._exit(0)

    def _pass_on(self, line: bytes) -> None:
        self._is_connected.wait()
        with self._sending:  # a request is either answered as lost or sent to the current server
            self._in_flight.record_request(line)
            if self._refusal is None:
                self._send_to_server(line + b"\n")
        if self._refusal is not None:
            self._answer_lost(self._refusal.kind, self._refusal.message)

    def _send_to_server(self, data: bytes) -> None:
        """Send to the server; if it has ended, the reading thread notices and answers the lost requests."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.sendall(data)

    # -- from the server ---------------------------------------------------------------------------------------

    def _read_server(self) -> None:
        """Connect, copy the server's output to the client, and reconnect when it ends."""
        while True:
            try:
                connection = self._link.open()
            except ClientRefusedError as exc:
                self._refuse_requests(exc)
                return
            except CliError as exc:
                self._exit_unavailable(exc.message)
            with self._sending:
                self._connection = connection
                self._resend_handshake()
            self._is_connected.set()
            self._copy_to_client(connection)
            self._is_connected.clear()
            connection.close()

    def _resend_handshake(self) -> None:
        """Answer the requests that an ended server left open, and repeat an unanswered handshake."""
        self._answer_lost("interrupted", _INTERRUPTED, _NOT_RUN)
        if self._in_flight.first_line and not self._in_flight.has_begun:
            self._send_to_server(self._in_flight.first_line + b"\n")

    def _copy_to_client(self, connection: socket.socket) -> None:
        buffer = LineBuffer()
        with suppress(OSError):
            while data := connection.recv(_LONG_READ_BYTES if buffer.size else _READ_BYTES):
                lines = [line for line in buffer.feed(data) if not self._in_flight.record_mark(line)]
                for line in lines:
                    self._in_flight.record_answer(line)
                if lines:
                    self._write_to_client(b"\n".join(lines) + b"\n")

    def _write_to_client(self, data: bytes) -> None:
        with self._writing:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(1, view) :]
            except OSError:
                self._exit(0)

    # -- the end -----------------------------------------------------------------------------------------------

    def _answer_lost(self, kind: str, message: str, not_run: str = "") -> None:
        """Answer the requests that the server never answers.

        Args:
            not_run: The message for calls that only waited for the user, if it is another one.
        """
        for request_id, method, was_waiting in self._in_flight.pop_all():
            said = not_run if was_waiting and not_run else message
            self._write_to_client(make_error_answer(request_id, method, kind, said))

    def _refuse_requests(self, error: ClientRefusedError) -> None:
        """Answer all open and future requests with the refusal, and leave the client's end open."""
        sys.stderr.write(f"agentcore mcp: {error.message}\n")
        sys.stderr.flush()
        self._refusal = error
        self._in_flight.has_begun = True  # so that an open handshake is answered too
        self._answer_lost(error.kind, error.message)
        self._is_connected.set()

    def _exit_unavailable(self, message: str) -> NoReturn:
        sys.stderr.write(f"agentcore mcp: {message}\n")
        self._in_flight.has_begun = True
        self._answer_lost("server_unavailable", message)
        self._exit(ExitCode.UNREACHABLE)

    def _exit(self, code: int) -> NoReturn:
        """Exit at once, without waiting for threads that are blocked on the client or the server."""
        if not self._is_connected.is_set():
            self._link.end_unused_server()
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)
