"""`Relay`: bytes from a client to the server and back. What passes is not changed; a server that ends is replaced."""

import os
import select
import socket
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from agentcore.cli.relay.in_flight import InFlight, LineBuffer, make_error_answer
from agentcore.cli.relay.server_link import ClientRefusedError, ServerLink
from agentcore.cli.terminal.exits import CliError, ExitCode

_READ_BYTES = 256 * 1024
_LINE_BYTES = 64 * 1024 * 1024
_PARENT_SECONDS = 0.5
_INTERRUPTED = (
    "the server ended while this was on its way, and whether it had any effect is not known: look before you send it "
    "again. Another server is there now."
)


class Relay:
    """One client on stdin and stdout, for as long as it is there.

    Args:
        link: The way to the server.
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
        """Pass on until the client's end closes, or who started this is gone."""
        threading.Thread(target=self._read_client, name="client", daemon=True).start()
        threading.Thread(target=self._read_server, name="server", daemon=True).start()
        parent = os.getppid()
        pause = threading.Event()
        while os.getppid() == parent and not self._is_client_gone():
            pause.wait(_PARENT_SECONDS)
        self._exit(0)

    def _is_client_gone(self) -> bool:
        """Whether the client's end has closed while no server is there, so that nothing more of it is read."""
        looking = select.poll()
        looking.register(0, 0)  # a closed end is told in any case
        return not self._is_connected.is_set() and bool(looking.poll(0))

    # -- from the client ---------------------------------------------------------------------------------------

    def _read_client(self) -> None:
        buffer = LineBuffer()
        while data := os.read(0, _READ_BYTES):
            for line in buffer.feed(data):
                self._pass_on(line)
            if buffer.size > _LINE_BYTES:  # the server says what is wrong with it, and keeps none of it
                self._is_connected.wait()
                with self._sending:
                    self._send_to_server(buffer.pop_rest())
        self._exit(0)

    def _pass_on(self, line: bytes) -> None:
        self._is_connected.wait()
        with self._sending:  # so that it is either told as lost, or sent to the server that is there now
            self._in_flight.record_request(line)
            if self._refusal is None:
                self._send_to_server(line + b"\n")
        if self._refusal is not None:
            self._answer_lost(self._refusal.kind, self._refusal.message)

    def _send_to_server(self, data: bytes) -> None:
        """Send to the server; where that has ended, whoever reads from it notices, and says what became of it."""
        if self._connection is not None:
            with suppress(OSError):
                self._connection.sendall(data)

    # -- from the server ---------------------------------------------------------------------------------------

    def _read_server(self) -> None:
        """Connect, pass on what comes, and connect anew when that ends."""
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
        """Say what became of requests to a server that ended, and repeat a handshake that it had not answered."""
        self._answer_lost("interrupted", _INTERRUPTED)
        if self._in_flight.first_line and not self._in_flight.has_begun:
            self._send_to_server(self._in_flight.first_line + b"\n")

    def _copy_to_client(self, connection: socket.socket) -> None:
        buffer = LineBuffer()
        with suppress(OSError):
            while data := connection.recv(_READ_BYTES):
                lines = buffer.feed(data)
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

    def _answer_lost(self, kind: str, message: str) -> None:
        for request_id, method in self._in_flight.pop_all():
            self._write_to_client(make_error_answer(request_id, method, kind, message))

    def _refuse_requests(self, error: ClientRefusedError) -> None:
        """From now on, each request is answered with why; the client's end stays open."""
        sys.stderr.write(f"agentcore mcp: {error.message}\n")
        sys.stderr.flush()
        self._refusal = error
        self._in_flight.has_begun = True  # a handshake is answered, too
        self._answer_lost(error.kind, error.message)
        self._is_connected.set()

    def _exit_unavailable(self, message: str) -> NoReturn:
        sys.stderr.write(f"agentcore mcp: {message}\n")
        self._in_flight.has_begun = True
        self._answer_lost("server_unavailable", message)
        self._exit(ExitCode.UNREACHABLE)

    def _exit(self, code: int) -> NoReturn:
        """End at once: a thread that waits for the client or the server holds nothing back."""
        if not self._is_connected.is_set():
            self._link.end_unused_server()
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)
