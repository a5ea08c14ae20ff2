"""`Relay`: bytes from a client to the server and back. What passes is not changed; a server that ends is replaced."""

import os
import socket
import sys
import threading
from contextlib import suppress
from typing import NoReturn

from agentcore.cli.relay.in_flight import InFlight, ended
from agentcore.cli.relay.server_link import NotLetInError, ServerLink
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
        self._refusal: NotLetInError | None = None
        self._writing = threading.Lock()

    def run(self) -> NoReturn:
        """Pass on until the client's end closes, or who started this is gone."""
        threading.Thread(target=self._read_client, name="client", daemon=True).start()
        threading.Thread(target=self._read_server, name="server", daemon=True).start()
        parent, pause = os.getppid(), threading.Event()
        while os.getppid() == parent:
            pause.wait(_PARENT_SECONDS)
        self._leave(0)

    # -- from the client ---------------------------------------------------------------------------------------

    def _read_client(self) -> None:
        rest = b""
        while data := os.read(0, _READ_BYTES):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self._pass_on(line)
            if len(rest) > _LINE_BYTES:  # the server says what is wrong with it, and keeps none of it
                self._send(rest)
                rest = b""
        self._leave(0)

    def _pass_on(self, line: bytes) -> None:
        self._is_connected.wait()
        self._in_flight.take_request(line)
        if self._refusal is not None:
            self._answer_lost(self._refusal.kind, self._refusal.message)
        elif not self._send(line + b"\n"):
            self._is_connected.clear()  # whoever reads from the server notices, too, and says what became of it

    def _send(self, data: bytes) -> bool:
        connection = self._connection
        if connection is None:
            return False
        try:
            connection.sendall(data)
        except OSError:
            return False
        return True

    # -- from the server ---------------------------------------------------------------------------------------

    def _read_server(self) -> None:
        """Connect, pass on what comes, and connect anew when that ends."""
        while True:
            try:
                self._connection = self._link.open()
            except NotLetInError as exc:
                self._refuse(exc)
                return
            except CliError as exc:
                self._give_up(exc.message)
            self._greet_again()
            self._is_connected.set()
            self._copy(self._connection)
            self._is_connected.clear()
            self._connection.close()
            self._connection = None

    def _greet_again(self) -> None:
        """Say what became of requests to a server that ended, and repeat a handshake that it had not answered."""
        self._answer_lost("interrupted", _INTERRUPTED)
        if self._in_flight.first_line and not self._in_flight.has_begun:
            self._send(self._in_flight.first_line + b"\n")

    def _copy(self, connection: socket.socket) -> None:
        rest = b""
        with suppress(OSError):
            while data := connection.recv(_READ_BYTES):
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    self._in_flight.take_answer(line)
                if lines:
                    self._write(b"\n".join(lines) + b"\n")

    def _write(self, data: bytes) -> None:
        with self._writing:
            try:
                view = memoryview(data)
                while view:
                    view = view[os.write(1, view) :]
            except OSError:
                self._leave(0)

    # -- the end -----------------------------------------------------------------------------------------------

    def _answer_lost(self, kind: str, message: str) -> None:
        for request_id, method in self._in_flight.take_all():
            self._write(ended(request_id, method, kind, message))

    def _refuse(self, error: NotLetInError) -> None:
        """From now on, each request is answered with why; the client's end stays open."""
        sys.stderr.write(f"agentcore mcp: {error.message}\n")
        sys.stderr.flush()
        self._refusal = error
        self._in_flight.has_begun = True  # a handshake is answered, too
        self._answer_lost(error.kind, error.message)
        self._is_connected.set()

    def _give_up(self, message: str) -> NoReturn:
        sys.stderr.write(f"agentcore mcp: {message}\n")
        self._in_flight.has_begun = True
        self._answer_lost("server_unavailable", message)
        self._leave(ExitCode.UNREACHABLE)

    def _leave(self, code: int) -> NoReturn:
        """End at once: a thread that waits for the client or the server holds nothing back."""
        with suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)
