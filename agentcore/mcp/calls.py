"""Calls of clients: nothing runs twice, whatever a client does that knows nothing of approvals.

Such a client gives up after a minute, sends its call again, or several at once. So a call that a person is asked about
is known by who makes it, in which session, its tool and its arguments. When an equal one comes and nobody waits for the
first any more, the two are one: asked once, run once.
"""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from agentcore.bounds import MCP_WAIT_SECONDS
from agentcore.encoding import to_json
from agentcore.errors import ToolError
from agentcore.host import CallRequest, Host
from agentcore.host.approvals import ApprovalRequest
from agentcore.host.calls import CallOutcome, ModelReader
from agentcore.host.modules import RegisteredTool
from agentcore.mcp.caller import Caller
from agentcore.mcp.inputs import ClientAsker, Inputs
from agentcore.mcp.telling import Notified, Telling

RESULT_KEPT_SECONDS = 120.0
"""How long the result of a call is kept whose client went away while it ran."""

_TELL_SECONDS = 10.0


class _Key(NamedTuple):
    """What makes two calls the same wish."""

    client: str
    session_id: str
    tool: str
    digest: str


class _Wish(NamedTuple):
    """A call that waits for a person, and what can be told and asked meanwhile."""

    caller: Caller
    key: _Key
    arguments: dict[str, Any]
    tell: Telling
    inputs: Inputs


@dataclass(slots=True)
class _Left:
    """A call that a person approved, whose client has gone: it runs, or its result waits to be fetched."""

    work: asyncio.Task[CallOutcome]
    ended_at: float | None = None


@dataclass(slots=True)
class ClientCalls:
    """Brings the calls of all clients through the host.

    Args:
        host: Carries them out.
    """

    host: Host
    _attended: set[str] = field(default_factory=set)
    _left: dict[_Key, _Left] = field(default_factory=dict)
    _in_flight: dict[str, int] = field(default_factory=dict)

    async def call(
        self, caller: Caller, tool: RegisteredTool, arguments: dict[str, Any], tell: Telling, inputs: Inputs
    ) -> CallOutcome:
        """Carry out one call.

        Where it is cancelled, what it began ends too, unless a person is or was asked about it.

        Raises:
            ToolError: `too_many_calls`.
        """
        with _Place(self._in_flight, caller):
            if not caller.is_model:
                return await self._run(caller, tool, arguments, tell, inputs, waits=True)
            return await self._call_of_model(caller, tool, arguments, tell, inputs)

    async def close(self) -> None:
        """End what goes on without a client; what ran is on record."""
        works = [left.work for left in self._left.values()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    # -- a model's call ----------------------------------------------------------------------------------------

    async def _call_of_model(
        self, caller: Caller, tool: RegisteredTool, arguments: dict[str, Any], tell: Telling, inputs: Inputs
    ) -> CallOutcome:
        call_id = None
        if self._may_join():
            arguments = tool.schema.repair(arguments)
            key = _key(caller, tool, arguments)
            if (left := self._left.pop(key, None)) is not None:
                return await self._stay_with(key, left.work)
            call_id = self._waiting_alone(key)
        if call_id is None:
            outcome = await self._run(caller, tool, arguments, tell, inputs)
            if outcome.error is None or outcome.error.type != "approval_required":
                return outcome
            call_id = outcome.call_id
        arguments = tool.schema.repair(arguments)
        wish = _Wish(caller, _key(caller, tool, arguments), arguments, tell, inputs)
        return await self._after_decision(wish, call_id)

    def _may_join(self) -> bool:
        """Whether there is anything that an equal call could be one with; mostly there is not."""
        self._drop_old()
        approvals = self.host.approvals
        return bool(self._left or approvals.waiting or approvals.unused)

    def _waiting_alone(self, key: _Key) -> str | None:
        """The id of an equal call that waits for a person, or was decided, and whose client has gone."""
        approvals = self.host.approvals
        asked = [*approvals.waiting, *(request for request, _ in approvals.unused)]
        return next((each.call_id for each in asked if self._is_same(each, key)), None)

    def _is_same(self, request: ApprovalRequest, key: _Key) -> bool:
        if request.call_id in self._attended:
            return False
        made_by = (request.principal.name, request.session_id, request.definition.name)
        pending = self.host.approvals.find(request.call_id)
        return made_by == key[:3] and pending is not None and pending.asked_digest == key.digest

    async def _after_decision(self, wish: _Wish, call_id: str) -> CallOutcome:
        """Wait for a person as long as the client does, and run what was approved."""
        caller = wish.caller
        self._attended.add(call_id)
        try:
            if not await self._is_decided(wish, call_id):
                return CallOutcome(call_id, error=_still_waiting(caller, self.host, call_id))
        finally:
            self._attended.discard(call_id)
        request = self._request(caller, wish.key.tool, wish.arguments, wish.inputs, call_id, waits=True)
        # a task of its own: what a person has approved is not ended by a client that gives up
        notify = Notified(wish.tell).notify
        work = asyncio.create_task(self.host.call(request, notify), name=f"mcp:{call_id}")
        return await self._stay_with(wish.key, work)

    async def _is_decided(self, wish: _Wish, call_id: str) -> bool:
        pending, caller = self.host.approvals.find(call_id), wish.caller
        if pending is None or pending.is_decided:
            return True  # expired or withdrawn: sending it again says so
        with wish.inputs.shown_approval(call_id, caller.approval_url):
            waiting = asyncio.ensure_future(pending.wait())
            began, limit_s = time.monotonic(), _limit_s(wish)
            try:
                while not waiting.done() and (gone := time.monotonic() - began) < limit_s:
                    await wish.tell.progress(gone, None, f"waiting for a person to decide at {caller.approval_url}")
                    left = limit_s - gone
                    await asyncio.wait((waiting,), timeout=min(_TELL_SECONDS, left))
            finally:
                waiting.cancel()
        after = self.host.approvals.find(call_id)
        return after is None or after.is_decided

    async def _stay_with(self, key: _Key, work: asyncio.Task[CallOutcome]) -> CallOutcome:
        """The outcome of an approved call; where the client goes away meanwhile, it waits for the next equal one."""
        try:
            return await asyncio.shield(work)
        except asyncio.CancelledError:
            if not work.cancelled():
                left = self._left[key] = _Left(work)
                work.add_done_callback(lambda _: _note_end(left))
            raise

    def _drop_old(self) -> None:
        oldest = time.monotonic() - RESULT_KEPT_SECONDS
        for key in [key for key, left in self._left.items() if left.ended_at is not None and left.ended_at < oldest]:
            del self._left[key]

    # -- the host ----------------------------------------------------------------------------------------------

    async def _run(
        self,
        caller: Caller,
        tool: RegisteredTool,
        arguments: dict[str, Any],
        tell: Telling,
        inputs: Inputs,
        *,
        waits: bool = False,
    ) -> CallOutcome:
        request = self._request(caller, tool.definition.name, arguments, inputs, waits=waits)
        return await self.host.call(request, Notified(tell).notify)

    def _request(
        self,
        caller: Caller,
        tool: str,
        arguments: dict[str, Any],
        inputs: Inputs,
        call_id: str | None = None,
        *,
        waits: bool,
    ) -> CallRequest:
        return CallRequest(
            tool,
            arguments,
            caller.principal,
            session_id=caller.session_id,
            call_id=call_id,
            waits_for_approval=waits,
            mode=caller.config.mode,
            reader=ModelReader(may_call=caller.may_have) if caller.is_model else None,
            asker=ClientAsker(inputs),
        )


def _key(caller: Caller, tool: RegisteredTool, arguments: dict[str, Any]) -> _Key:
    digest = hashlib.sha256(to_json(arguments)).hexdigest()
    return _Key(caller.principal.name, caller.session_id, tool.definition.name, digest)


class _Place:
    """A call's place among those of its client."""

    def __init__(self, in_flight: dict[str, int], caller: Caller) -> None:
        self._in_flight, self._name = in_flight, caller.principal.name
        self._limit = caller.config.calls_in_flight

    def __enter__(self) -> None:
        count = self._in_flight.get(self._name, 0)
        if count >= self._limit:
            message = f"{count} calls of this client are on their way already; wait until some have ended"
            raise ToolError("too_many_calls", message, retryable=True, limit=self._limit)
        self._in_flight[self._name] = count + 1

    def __exit__(self, *_: object) -> None:
        self._in_flight[self._name] -= 1
        if not self._in_flight[self._name]:
            del self._in_flight[self._name]


def _note_end(left: _Left) -> None:
    left.ended_at = time.monotonic()
    if not left.work.cancelled():
        left.work.exception()  # nobody may ever ask for it


def _limit_s(wish: _Wish) -> float:
    """How long a call stays open: who hears nothing meanwhile has to be told before it gives up, after a minute."""
    wait_s = wish.caller.narrowing.wait_s
    return wait_s if wish.tell.hears_progress else min(wait_s, MCP_WAIT_SECONDS)


def _still_waiting(caller: Caller, host: Host, call_id: str) -> ToolError:
    pending = host.approvals.find(call_id)
    expires_at = None if pending is None else pending.request.expires_at_ms
    message = (
        f"a person has to approve this call first, at {caller.approval_url} – tell them. It has not run. Once they "
        "have approved it, send the same call again, with the same arguments: it runs then, once"
    )
    return ToolError("approval_required", message, retryable=True, callId=call_id, expiresAt=expires_at)
