"""A host that dials in without a key: it reports what it provides, shows a code, and waits for the user."""

import asyncio
import contextlib
import re
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import pydantic_core

from agentcore.api import ToolDefinition
from agentcore.api.host_group_config import HOST_NAME
from agentcore.api.host_kinds.frames import Transport
from agentcore.core.approvals.host_pairings import HostOffer, HostPairing, HostPairings, OfferedModule
from agentcore.core.declarations.definitions import read_definition, without_session
from agentcore.core.module_code.module_error import reason_of
from agentcore.core.module_code.plain_values import plain_text
from agentcore.core.modules.module_record import merged_instructions
from agentcore.errors import ToolError
from agentcore.hosts.machines.greeting_check import HELLO_SECONDS, check_members
from agentcore.hosts.server_side.browser_methods import complete_entry
from agentcore.hosts.server_side.host_messages import Nothing
from agentcore.hosts.server_side.message_handlers import Handlers
from agentcore.hosts.server_side.replies import Hello, RunningModule
from agentcore.hosts.wire.declarations import definition_of
from agentcore.hosts.wire.frames import PROTOCOL, LinkError
from agentcore.hosts.wire.peer import Message, Peer
from agentcore.hosts.wire.web_socket_link import SocketLink, WebSocket
from agentcore.limits import HOST_OFFER_BYTES

MESSAGES_PER_SECOND = 10
"""How many messages a host may send before it is paired."""

_KEPT_SECONDS = 10.0
_OFFER_SECONDS = 20.0
_TEXT_CHARS = 500
_PROBLEMS = 100
_NAME = re.compile(HOST_NAME)

CheckName = Callable[[str], bool]


async def pair_host(pairings: HostPairings, check_name: CheckName, socket: WebSocket, address: str) -> None:
    """Serve the connection of a host that requests pairing, until the user has decided, or its code has expired.

    Args:
        check_name: Checks that a host can have a name; returns whether it replaces another.
    """
    loop = asyncio.get_running_loop()
    waits = _Waiting(pairings, check_name, address)
    carrier = SocketLink(socket, waits.make_peer)
    late = loop.call_later(HELLO_SECONDS, waits.end_silent)
    try:
        await carrier.carry_frames()
    finally:
        late.cancel()
        waits.close()


class _Waiting:
    """One host that waits."""

    peer: Peer

    def __init__(self, pairings: HostPairings, check_name: CheckName, address: str) -> None:
        self._pairings = pairings
        self._check_name = check_name
        self._address = address
        self._pairing: HostPairing | None = None
        self._task: asyncio.Task[None] | None = None
        self._is_kept = asyncio.Event()

    def make_peer(self, transport: Transport) -> Peer:
        """The server's end of the link."""
        self.peer = Peer(transport, on_end=lambda reason: self.close(), per_second=MESSAGES_PER_SECOND, blobs_bytes=0)
        told = Handlers(f"unpaired at {self._address}").message_handler
        self.peer.add_message_handlers(
            {
                "hello": told(Hello, self._handle_hello),
                "pair.kept": told(Nothing, lambda said: self._is_kept.set()),
                "ping": self._handle_ping,
            }
        )
        return self.peer

    def end_silent(self) -> None:
        """Close a connection that was silent for too long."""
        if self._task is None:
            self.peer.close("it did not greet")

    def close(self) -> None:
        """The connection has ended."""
        if self._pairing is not None:
            self._pairings.withdraw_pairing(self._pairing)

    def _handle_ping(self, message: Message) -> None:
        if type(message.get("n")) is int:
            self.peer.send_message({"type": "pong", "n": message["n"]})

    def _handle_hello(self, told: Hello) -> None:
        if self._task is not None:
            raise LinkError("it greets a second time")
        if told.protocol != PROTOCOL:
            raise LinkError(f"it speaks {told.protocol[:100]!r}, and this server {PROTOCOL!r}")
        if not _NAME.fullmatch(told.name):
            raise LinkError(f"{told.name[:100]!r} cannot be a host's name: {HOST_NAME}")
        check_members(told)
        # in no TaskGroup: a message starts it; it ends with the decision, which the end of the link is, too
        self._task = asyncio.get_running_loop().create_task(self._wait_for_decision(told), name="host:pairing")

    async def _wait_for_decision(self, told: Hello) -> None:
        """Show the code, and wait for the user's decision."""
        try:
            self._check_name(told.name)
        except ToolError as exc:
            self.peer.close(exc.message)
            return
        pairing = self._pairing = self._pairings.add_pairing(told.name, self._address, partial(self._fetch_offer, told))
        self.peer.send_message({"type": "pair.code", "code": pairing.code, "expiresAt": pairing.expires_at_ms})
        left_s = pairing.expires_at_ms / 1000 - time.time()
        try:
            async with asyncio.timeout(left_s):
                key = await asyncio.shield(pairing.decided)
        except TimeoutError:
            self.peer.close("the code has expired: dial in again for another one")
            return
        if key is None:
            self.peer.close("a person refused this host, or its code counts no more")
            return
        self.peer.send_message({"type": "pair.key", "key": key})
        with contextlib.suppress(TimeoutError):  # it may have received it nevertheless
            async with asyncio.timeout(_KEPT_SECONDS):
                await self._is_kept.wait()
        self.peer.close()

    async def _fetch_offer(self, told: Hello) -> HostOffer:
        """Return what the host provides: only the one whose code the user has entered is asked, and read.

        Raises:
            ToolError: `pairing_not_found`, `host_taken`, `too_many_hosts`.
        """
        replaces = self._check_name(told.name)
        try:
            async with asyncio.timeout(_OFFER_SECONDS):
                data = await self._ask_for_offer() if told.has_more else None
                # in a thread, because a hundred definitions take time
                return await asyncio.to_thread(_read_offer, told, data, self._address, replaces=replaces)
        except (LinkError, TimeoutError, ValueError) as exc:
            reason = str(exc) if isinstance(exc, LinkError) else reason_of(exc)
            self.peer.close(f"what it brings cannot be read: {reason}")
            message = f"the host {told.name!r} cannot say what it brings: {reason}; start it again there"
            raise ToolError("pairing_not_found", message) from None

    async def _ask_for_offer(self) -> bytes:
        self.peer.expect_blob(HOST_OFFER_BYTES)
        answer = await self.peer.request({"type": "pair.offer"})
        if type(answer) is not dict:
            raise LinkError("an answer without what was asked for")
        return self.peer.pop_blob(answer.get("blob"))


def _read_offer(told: Hello, data: bytes | None, address: str, *, replaces: bool) -> HostOffer:
    """Read what a host provides.

    Args:
        told: Its greeting.
        data: Its complete greeting as JSON text; None: that was complete.
    Raises:
        LinkError, ValueError: It is invalid, or that of another host.
    """
    if data is not None:
        whole = Hello.model_validate(pydantic_core.from_json(data, allow_inf_nan=False))
        if (whole.name, whole.instance) != (told.name, told.instance):
            raise LinkError("it greeted as another host")
        check_members(whole)
        told = whole
    return _build_offer(told, address, replaces=replaces)


def _build_offer(told: Hello, address: str, *, replaces: bool) -> HostOffer:
    return HostOffer(
        told.name,
        address,
        _shorten_text(told.platform),
        _shorten_text(told.version),
        tuple(_shorten_text(each) for each in told.workspace),
        tuple(_build_offered_module(each) for each in told.members),
        replaces,
    )


def _build_offered_module(told: RunningModule) -> OfferedModule:
    title = told.attributes.get("title")
    named = title.get("en") if isinstance(title, dict) else title
    shown = named if isinstance(named, str) and named else told.name.replace("_", " ").capitalize()
    tools, problems = _read_offered_tools(told)
    return OfferedModule(
        told.name, _shorten_text(shown), _shorten_text(told.description), tools, instructions_in(told), problems
    )


def instructions_in(told: RunningModule) -> str:
    """Return the instructions for models about a module of a host, as they would be served."""
    declared = told.attributes.get("instructions")
    return merged_instructions(declared if isinstance(declared, str) else "", told.instructions)


def definitions_in(told: RunningModule) -> tuple[ToolDefinition, ...]:
    """Return the tools that a host offers, as they would be served; invalid ones are left out."""
    return _read_offered_tools(told)[0]


def _read_offered_tools(told: RunningModule) -> tuple[tuple[ToolDefinition, ...], tuple[str, ...]]:
    """Return the tools as they would be served, and why the others would be left out."""
    tools: dict[str, ToolDefinition] = {}
    problems: list[str] = []
    for number, wire in enumerate(told.tools):
        try:
            tool = without_session(read_definition(definition_of(complete_entry(wire), _do_nothing, _do_nothing)))
        except Exception as exc:  # noqa: BLE001 - untrusted input of a machine that is not paired
            problems.append(_shorten_text(f"tool {number + 1} is left out: {reason_of(exc)}"))
            continue
        if tool.name in tools:
            problems.append(f"tool {tool.name!r} is defined twice; the first counts")
        tools.setdefault(tool.name, tool)
    return tuple(tools.values()), tuple(problems[:_PROBLEMS])


async def _do_nothing(*_: Any) -> None:
    """Do nothing, instead of answering requests of a paired host."""


def _shorten_text(text: str) -> str:
    return plain_text(text[:_TEXT_CHARS])
