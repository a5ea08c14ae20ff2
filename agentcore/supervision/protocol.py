"""The protocol between the server and its supervising processes.

A request to the spawner is a length and JSON: `argv`, `env`, `terminal` (true if stdin becomes the controlling
terminal), `own_keyring`, `ends_with_command` (true if processes that the command leaves running are terminated soon
after it; after a signal they always are), `record` (for each recorded stream, the numbers of its tracks) and `tracks`
(the size of each track in bytes). Descriptors are sent with it: the keeper's socket, working folder, stdin, stdout,
stderr, and for a recording the memory and each stream.

The server sends orders to the keeper, one JSON object per line: `{"signal": number}`, `{"end": grace_s}`,
`{"tell_beyond": bytes}`. The keeper reports `started`, `failed`, `exited`, `ended`, `left` (process ids and command
lines of the processes that the command left running and that are now terminated) and `wrote` (more bytes than
`tell_beyond` have been recorded). It closes the socket when no process is left and everything is recorded.
"""

import os
import socket
import struct
from collections.abc import Sequence

HEADER = struct.Struct("!I")
"""The header of each request to the spawner: the length of its JSON."""

DESCRIPTORS = 16
"""Maximum number of descriptors sent with a request."""


def send_message(to: socket.socket, message: bytes, fds: Sequence[int]) -> None:
    """Send a request, its header included, with its descriptors.

    Raises:
        ConnectionError: If the other side was closed before it had received all of it.
    """
    sent = socket.send_fds(to, [message], fds)
    if rest := message[sent:]:  # sending nothing would fail if the other side has acted on it and closed by now
        to.sendall(rest)


def receive_exactly(source: socket.socket, size: int) -> bytes:
    """Receive so many bytes.

    Raises:
        EOFError: If the other side has closed the connection before.
    """
    received = bytearray()
    while len(received) < size:
        chunk = source.recv(size - len(received))
        if not chunk:
            raise EOFError
        received += chunk
    return bytes(received)


def receive_message(source: socket.socket) -> tuple[bytes, list[int]]:
    """Receive a request without its header, and its descriptors, which no program that is started inherits.

    Raises:
        EOFError: If there will be none.
    """
    head, fds, _, _ = socket.recv_fds(source, HEADER.size, DESCRIPTORS)
    if not head:
        raise EOFError
    for fd in fds:
        os.set_inheritable(fd, False)
    head += receive_exactly(source, HEADER.size - len(head))
    return receive_exactly(source, HEADER.unpack(head)[0]), fds
