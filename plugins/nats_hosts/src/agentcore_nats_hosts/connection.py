"""The connection of a program to the NATS servers of a pool, reconnected as long as the program runs."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import structlog

from agentcore.api.host_kinds import HostKindError, is_loopback_name

if TYPE_CHECKING:
    from nats.aio.client import Client
    from nats.aio.msg import Msg
    from nats.js import JetStreamContext

log = structlog.get_logger(__name__)

_AGAIN_SECONDS = 0.5
_PING_SECONDS = 2
_PINGS_OUT = 2
_FLUSH_SECONDS = 3.0
_NOBODY = "_"
"""A placeholder that is no valid name."""

_GONE_SECONDS = 60
"""After so long a connection on which no answer came is another one by now: by pings that is known before."""


@dataclass(frozen=True)
class NatsServers:
    """How a pool is reached.

    Args:
        addresses: `nats://NAME[:PORT]`, or `tls://`: NATS servers that know each other, or one.
        key: A file with the seed of an NKEY; None: the servers require none.
        ca: A file with certificates that are trusted besides those of the system.
    """

    addresses: tuple[str, ...]
    key: Path | None = None
    ca: Path | None = None

    def check_addresses(self) -> None:
        """Check that it can be reached without sending secrets unencrypted.

        Raises:
            HostKindError: It cannot; the message says why.
        """
        for address in self.addresses:
            parts = urlsplit(address)
            if parts.scheme not in ("nats", "tls") or not parts.hostname or parts.path not in ("", "/"):
                raise HostKindError(f"{address!r} is no address of NATS: give one such as tls://nats.example.org:4222")
            if parts.username is not None:
                raise HostKindError("a log-in in an address of NATS would stand in logs: give a key instead")
            if parts.scheme == "nats" and not is_loopback_name(parts.hostname):
                raise HostKindError(f"{address!r} would carry all in the clear: off this machine it is tls://")
        if self.key is not None:
            try:
                seed = self.key.read_text().strip()
            except (OSError, UnicodeError) as exc:
                raise HostKindError(f"the key {self.key} cannot be read: {exc}") from None
            if not seed.startswith("SU"):
                raise HostKindError(f"{self.key} has no seed of an NKEY of a user, which begins with SU")

    def connect_options(self) -> dict[str, Any]:
        """Return the options of `nats.connect`."""
        found: dict[str, Any] = {"servers": list(self.addresses)}
        if self.key is not None:
            found["nkeys_seed"] = str(self.key)
        if any(each.startswith("tls:") for each in self.addresses):
            context = ssl.create_default_context()
            if self.ca is not None:
                context.load_verify_locations(self.ca)
            found["tls"] = context
        return found


class NatsConnection:
    """Connects, and reconnects whenever the connection is lost.

    Args:
        servers: The servers.
        name: The name of this program there.
        answers: The prefix of the subjects for replies to it.
        on_state: Called with a sentence about its state, whenever that changes; empty: it is connected.
    """

    def __init__(self, servers: NatsServers, name: str, answers: str, on_state: Callable[[str], None]) -> None:
        self._servers = servers
        self._name = name
        self._answers = answers
        self._on_state = on_state
        self._client: Client | None = None
        self._on_lost: set[Callable[[], None]] = set()
        self._flushing: set[asyncio.Task[str]] = set()
        self._up = asyncio.Event()
        self._reason = ""
        self.up_since = 0.0

    @property
    def is_up(self) -> bool:
        """True if it is connected."""
        return self._up.is_set()

    async def open(self) -> None:
        """Connect; waits until that was possible once."""
        import nats  # noqa: PLC0415 - heavy, and needed where a pool is used only

        self._client = await nats.connect(
            **self._servers.connect_options(),
            name=self._name,
            max_reconnect_attempts=-1,
            reconnect_time_wait=_AGAIN_SECONDS,
            ping_interval=_PING_SECONDS,
            max_outstanding_pings=_PINGS_OUT,
            disconnected_cb=self._handle_disconnect,
            closed_cb=self._handle_disconnect,
            reconnected_cb=self._handle_connect,
            error_cb=self._handle_error,
            no_echo=True,
            # replies are sent to subjects that others cannot read, if NATS restricts each key to its own
            inbox_prefix=self._answers,
        )
        await self._handle_connect()

    async def close(self) -> None:
        """End it."""
        if self._client is not None:
            with contextlib.suppress(Exception):
                await self._client.close()
        for flushing in tuple(self._flushing):
            flushing.cancel()

    async def wait_until_up(self) -> None:
        """Wait until it is connected."""
        await self._up.wait()

    def on_lost(self, tell: Callable[[], None]) -> Callable[[], None]:
        """Call a function whenever the connection is lost; return a function that unsubscribes."""
        self._on_lost.add(tell)
        return lambda: self._on_lost.discard(tell)

    @property
    def client(self) -> "Client":
        """The NATS client.

        Raises:
            ConnectionError: There is no connection now.
        """
        if self._client is None or not self.is_up:
            raise ConnectionResetError(self._reason or "there is no connection to NATS")
        return self._client

    def jetstream(self) -> "JetStreamContext":
        """The JetStream context.

        Raises:
            ConnectionError: There is no connection now.
        """
        return self.client.jetstream(timeout=3)

    async def publish(self, subject: str, data: bytes, reply: str = "") -> None:
        """Say something.

        Raises:
            ConnectionError: There is no connection just now.
        """
        try:
            await self.client.publish(subject, data, reply)
        except ConnectionError:
            raise
        except Exception as exc:
            raise ConnectionResetError(f"NATS took nothing: {exc}") from exc

    async def flush(self) -> None:
        """Wait until NATS has received all messages.

        Raises:
            ConnectionError: There is no connection now.
        """
        # in no TaskGroup: NATS's answer ends it. Its client reads nothing any more once an answer comes that was given
        # up, so this one is waited for whatever becomes of the caller
        flushing = asyncio.get_running_loop().create_task(self._flush_client(self.client), name="nats:flush")
        self._flushing.add(flushing)
        flushing.add_done_callback(self._flushing.discard)
        await asyncio.wait({flushing}, timeout=_FLUSH_SECONDS)
        if not flushing.done():
            raise ConnectionResetError("NATS does not answer")
        if reason := flushing.result():
            raise ConnectionResetError(f"NATS does not answer: {reason}")

    async def _flush_client(self, client: "Client") -> str:
        """Why NATS has not all of it; empty: it has."""
        try:
            await client.flush(timeout=_GONE_SECONDS)
        except Exception as exc:  # noqa: BLE001 - raised to the waiting code
            return str(exc) or type(exc).__name__
        return ""

    async def request(self, subject: str, data: bytes, answers: Callable[[str], str], timeout_s: float) -> "Msg | None":
        """Send a request, and return the first reply; None: there is no listener, or no reply in time.

        Args:
            answers: The subject at which only the named program can reply; of `*`, those of all.
        Raises:
            ConnectionError: There is no connection now.
        """
        from nats.errors import TimeoutError as NatsTimeout  # noqa: PLC0415 - as above

        try:
            held = await self.client.subscribe(answers("*"))
            try:
                # NATS itself replies at this subject if there is no listener
                await self.client.publish(subject, data, reply=answers(_NOBODY))
                answer = await held.next_msg(timeout_s)
            finally:
                await held.unsubscribe()
        except NatsTimeout:
            return None
        except ConnectionError:
            raise
        except Exception as exc:
            raise ConnectionResetError(f"NATS took nothing: {exc}") from exc
        return None if answer.subject == answers(_NOBODY) else answer

    @asynccontextmanager
    async def subscribe(
        self, subject: str, take: Callable[["Msg"], Awaitable[None]], queue: str = ""
    ) -> AsyncIterator[None]:
        """Return a context in which messages of a subject are received, also after a reconnection.

        Raises:
            ConnectionError: There is no connection now.
        """
        try:
            held = await self.client.subscribe(subject, queue=queue, cb=take)
        except ConnectionError:
            raise
        except Exception as exc:
            raise ConnectionResetError(f"NATS took nothing: {exc}") from exc
        await self.flush()
        try:
            yield
        finally:
            with contextlib.suppress(Exception):
                await held.unsubscribe()

    async def _handle_disconnect(self) -> None:
        if not self.is_up:
            return
        self._up.clear()
        log.warning("nats_lost", servers=self._servers.addresses)
        self._on_state(f"the connection to NATS was lost; it is tried again ({self._reason or 'it ended'})")
        for tell in tuple(self._on_lost):
            tell()

    async def _handle_connect(self) -> None:
        self.up_since = asyncio.get_running_loop().time()
        self._reason = ""
        self._up.set()
        log.info("nats_connected", servers=self._servers.addresses)
        self._on_state("")

    async def _handle_error(self, error: Exception) -> None:
        said = str(error) or type(error).__name__
        if said != self._reason:
            self._reason = said
            log.warning("nats_failed", reason=said)
            if not self.is_up:
                self._on_state(f"not connected to NATS: {said}; trying again")
