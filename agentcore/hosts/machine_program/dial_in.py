"""The connection of a host to its server: dialled by the host, again and again, as long as its program runs."""

import asyncio
import json
import random
import ssl
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import aiohttp
import structlog
from pydantic import SecretStr

from agentcore.errors import AgentcoreError
from agentcore.hosts.machine_program.http_proxy import Proxy, proxy_for
from agentcore.hosts.machine_program.machine_worker import MachineWorker
from agentcore.hosts.wire.frames import PROTOCOL
from agentcore.hosts.wire.web_socket_link import (
    CLOSE_SECONDS,
    HEARTBEAT_SECONDS,
    MESSAGE_BYTES,
    SOCKET_PATH,
    SocketLink,
)
from agentcore.late_dataclasses import dataclass
from agentcore.net.loopback import is_loopback_name

log = structlog.get_logger(__name__)

FIRST_PAUSE_SECONDS = 0.5
LAST_PAUSE_SECONDS = 15.0
"""The pause between two attempts doubles from the first to the last of these, and varies by a third."""

_CONNECT_SECONDS = 20.0
_STEADY_SECONDS = 10.0
"""A connection that lasted so long was one: the next pause is short again."""

_BODY_CHARS = 2_000


class ServerAddressError(AgentcoreError):
    """An address at which no server can be dialled; the message says why."""


class HostNotPaired(AgentcoreError):  # noqa: N818 - it says what happened
    """The server does not accept this host any more; the message says what to do."""


@dataclass(frozen=True)
class Server:
    """How a server is dialled.

    Args:
        address: `https://NAME[:PORT]`, or `http://` on this machine.
        tls: How its certificate is checked; None: there is none.
        proxy: The proxy to use; None: none.
    """

    address: str
    tls: ssl.SSLContext | None
    proxy: Proxy | None = None

    @property
    def request_options(self) -> dict[str, Any]:
        """How aiohttp gets there."""
        proxied = {} if self.proxy is None else {"proxy": self.proxy.address, "proxy_headers": self.proxy.headers}
        return {"ssl": True if self.tls is None else self.tls, **proxied}

    @classmethod
    def from_address(cls, given: str, ca: Path | None = None) -> "Server":
        """Read an address that the user entered.

        Args:
            ca: A file with certificates that are trusted besides those of the system.
        Raises:
            ServerAddressError: It is invalid, or would send a key unencrypted.
            ProxyAddressError: The environment names an invalid proxy for it.
        """
        try:
            parts = urlsplit(given if "://" in given else f"https://{given}")
            name = parts.hostname
            port = parts.port
        except ValueError as exc:
            raise ServerAddressError(f"{given!r} is no address: {exc}") from None
        scheme = {"ws": "http", "wss": "https"}.get(parts.scheme, parts.scheme)
        if scheme not in ("http", "https") or not name:
            raise ServerAddressError(f"{given!r} is no address of a server: give one such as https://agent.example.org")
        if parts.username is not None or parts.query or parts.fragment or parts.path not in ("", "/"):
            raise ServerAddressError(f"{_without_login(given)!r}: give scheme, name and port of the server alone")
        if scheme == "http" and not is_loopback_name(name):
            raise ServerAddressError(
                f"{given!r} would carry the key in the clear: off this machine a server is reached by https://, with a "
                "reverse proxy in front of it"
            )
        host = f"[{name}]" if ":" in name else name
        address = f"{scheme}://{host}" + (f":{port}" if port else "")
        if scheme == "http":
            return cls(address, None)
        tls = ssl.create_default_context()
        if ca is not None:
            try:
                tls.load_verify_locations(ca)
            except (OSError, ssl.SSLError) as exc:
                raise ServerAddressError(f"--ca {ca}: {exc}") from None
        return cls(address, tls, proxy_for(address))


class Connection:
    """Keeps a worker connected.

    Args:
        key: The key of this host at the server; None: the user must pair it first.
        on_state: Called with a sentence about the state of the connection, whenever that changes.
    """

    def __init__(
        self, worker: MachineWorker, server: Server, key: SecretStr | None, on_state: Callable[[str], None]
    ) -> None:
        self._worker = worker
        self._server = server
        self._key = key
        self._on_state = on_state
        self._told = ""
        self._why = ""
        self._is_leaving = False
        worker.on_greeted = self._report_connected

    def set_key(self, key: str) -> None:
        """Show this key from the next connection on."""
        self._key = SecretStr(key)

    def disconnect(self) -> None:
        """Notify the server that the program ends, so that it does not wait, and stop dialling."""
        self._is_leaving = True
        self._worker.disconnect("its program was ended")

    async def run(self) -> None:
        """Dial until cancelled.

        Raises:
            HostNotPaired: According to the server's response, further attempts are useless.
        """
        loop = asyncio.get_running_loop()
        pauses = _retry_delays()
        async with aiohttp.ClientSession() as session:
            while True:
                began = loop.time()
                has_key = self._key is not None
                reason = await self._connect_once(session)
                if self._is_leaving:
                    return
                if self._key is not None and not has_key:
                    pauses = _retry_delays()
                    continue  # it was paired just now
                if loop.time() - began > _STEADY_SECONDS:
                    pauses = _retry_delays()
                self._report_state(f"not connected: {reason}; trying again")
                await asyncio.sleep(next(pauses))

    async def _connect_once(self, session: aiohttp.ClientSession) -> str:
        """Run one connection from its start to its end; return why it ended."""
        headers = {} if self._key is None else {"Authorization": f"Bearer {self._key.get_secret_value()}"}
        try:
            async with asyncio.timeout(_CONNECT_SECONDS):
                socket = await session.ws_connect(
                    self._server.address + SOCKET_PATH,
                    headers=headers,
                    protocols=(PROTOCOL,),
                    **self._server.request_options,
                    max_msg_size=MESSAGE_BYTES,
                    heartbeat=HEARTBEAT_SECONDS,
                    timeout=aiohttp.ClientWSTimeout(ws_close=CLOSE_SECONDS),
                )
        except aiohttp.WSServerHandshakeError as exc:
            return await self._explain_refusal(session, headers, exc)
        except TimeoutError:
            return f"{self._server.address} did not answer within {_CONNECT_SECONDS:g} s"
        except (aiohttp.ClientError, OSError) as exc:
            return str(exc) or type(exc).__name__
        try:
            self._why = ""
            link = SocketLink(socket, lambda made: self._worker.attach(made, self._handle_end))
            if self._key is None:
                self._worker.send_unpaired_hello()
            else:
                self._worker.send_paired_hello()
            await link.carry_frames()
        finally:
            await socket.close()
        return self._why or "the connection was lost"

    def _handle_end(self, reason: str) -> None:
        self._why = reason

    def _report_connected(self) -> None:
        self._report_state(f"connected to {self._server.address}")

    def _report_state(self, state: str) -> None:
        if state != self._told:
            self._told = state
            self._on_state(state)

    async def _explain_refusal(
        self, session: aiohttp.ClientSession, headers: dict[str, str], refusal: aiohttp.WSServerHandshakeError
    ) -> str:
        """Return why the server opened no WebSocket; the response is requested once more, because aiohttp does not
        store it."""
        kind = ""
        message = ""
        try:
            async with (
                asyncio.timeout(_CONNECT_SECONDS),
                session.get(
                    self._server.address + SOCKET_PATH,
                    headers=headers,
                    **self._server.request_options,
                    allow_redirects=False,
                ) as answer,
            ):
                body = (await answer.content.read(_BODY_CHARS)).decode("utf-8", "replace")
                error = json.loads(body).get("error", {})
                kind = str(error.get("type", ""))
                message = str(error.get("message", ""))
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError, AttributeError):
            pass  # a proxy's page, or nothing: the status is sufficient
        if kind == "unauthorized":
            raise HostNotPaired(message or "the server knows this host no more")
        if kind == "misdirected_request":
            return f"{message}"
        return message or f"{self._server.address} answered {refusal.status} {refusal.message}"


def _retry_delays() -> Iterator[float]:
    pause = FIRST_PAUSE_SECONDS
    while True:
        yield pause * random.uniform(2 / 3, 4 / 3)  # noqa: S311 - so that hosts do not all come at once
        pause = min(pause * 2, LAST_PAUSE_SECONDS)


def _without_login(given: str) -> str:
    before, at, after = given.rpartition("@")
    return f"{before.partition('://')[0]}://…@{after}" if at else given
