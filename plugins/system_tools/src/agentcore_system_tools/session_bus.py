"""Calls and signals on the desktop's session bus (D-Bus)."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jeepney import DBusAddress, DBusErrorResponse, HeaderFields, MatchRule, Message, message_bus, new_method_call
from jeepney.bus import get_bus
from jeepney.io.blocking import DBusConnection, Proxy, prep_socket
from jeepney.wrappers import unwrap_msg

CALL_SECONDS = 10.0
"""How long a desktop service may take to answer; it may have to be started first."""


class BusError(Exception):
    """Raised when there is no bus, or a call failed or was not answered; the message says which."""


class _Connection(DBusConnection):  # type: ignore[misc]
    """A connection that waits for every reply with a timeout; jeepney's handshake would wait without one."""

    def send_and_get_reply(self, message: Message, *, timeout: float | None = None) -> Message:
        return super().send_and_get_reply(message, timeout=CALL_SECONDS if timeout is None else timeout)


@contextmanager
def session_bus() -> Iterator[DBusConnection]:
    """Connect to the bus of the user's session; blocks.

    Raises:
        BusError: If there is none.
    """
    try:
        connection = _open_connection()
    except (OSError, ValueError, RuntimeError, EOFError, StopIteration, DBusErrorResponse) as exc:
        raise BusError(f"no session bus ({exc})") from exc
    with connection:
        yield connection


def call_method(
    connection: DBusConnection, address: DBusAddress, method: str, signature: str, body: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Call a method and return its result; blocks.

    Raises:
        BusError: If there is no such service, it returned an error, or it did not answer in time.
    """
    message = new_method_call(address, method, signature, body)
    try:
        answer: tuple[Any, ...] = unwrap_msg(connection.send_and_get_reply(message, timeout=CALL_SECONDS))
    except DBusErrorResponse as exc:
        raise BusError(f"{address.bus_name}: {exc.name}") from exc
    except (OSError, EOFError, TimeoutError) as exc:
        raise BusError(f"{address.bus_name} did not answer ({exc})") from exc
    return answer


@contextmanager
def collect_signals(connection: DBusConnection, rule: MatchRule) -> "Iterator[Any]":
    """Collect matching signals within the block; enter it before the call that causes them."""
    bus = Proxy(message_bus, connection, timeout=CALL_SECONDS)
    bus.AddMatch(rule)
    with connection.filter(rule, bufsize=16) as queue:
        yield queue


def next_signal(connection: DBusConnection, queue: Any, path: str, limit_s: float) -> tuple[Any, ...]:
    """Wait for the next collected signal of an object; blocks.

    Raises:
        BusError: If none arrived in time.
    """
    until = time.monotonic() + limit_s  # total: signals of other objects do not restart it
    while True:
        try:
            left_s = max(0.0, until - time.monotonic())
            message: Message = connection.recv_until_filtered(queue, timeout=left_s)
        except (OSError, EOFError, TimeoutError) as exc:
            raise BusError("nobody answered on the screen") from exc
        if message.header.fields.get(HeaderFields.path) == path:
            body: tuple[Any, ...] = message.body
            return body


def _open_connection() -> _Connection:
    sock = prep_socket(get_bus(_find_address()), timeout=CALL_SECONDS)
    try:
        return _Connection(sock)
    except BaseException:
        sock.close()
        raise


def _find_address() -> str:
    named = os.environ.get("DBUS_SESSION_BUS_ADDRESS")
    if named:
        return named
    usual = Path(os.environ.get("XDG_RUNTIME_DIR", ""), "bus")
    if not os.environ.get("XDG_RUNTIME_DIR") or not usual.is_socket():
        raise BusError("no session bus")
    return f"unix:path={usual}"
