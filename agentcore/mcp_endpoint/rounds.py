"""Calls in several rounds: in the newest revision, the answer to a request can ask the client, which then repeats it.

If a tool asks something, the client's request ends with the questions and a state; the call itself keeps waiting. The
client sends its request again with the answers and the state, which continues the same call: it runs once. The state
is sealed, bound to client, tool and arguments, and expires; see `_seal_states` of `request_handler`.
Source: https://modelcontextprotocol.io/specification/2026-07-28/basic/utilities/mrtr
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import field
from typing import Any, NamedTuple, NoReturn

import mcp_types as types
from mcp.shared.exceptions import MCPError

from agentcore.late_dataclasses import dataclass
from agentcore.mcp_endpoint.caller import Departure
from agentcore.mcp_endpoint.client_calls import RESULT_KEPT_SECONDS
from agentcore.mcp_endpoint.inputs import RESPONSES, Inputs, approval_request, supports_urls
from agentcore.mcp_endpoint.progress_notifications import CallReporter, LogLevel

_CALL = "call:"
_APPROVAL = "approval:"

Begin = Callable[[Inputs, CallReporter], Awaitable[Any]]
"""Starts what a client requested, with the ways to ask and notify the client."""


class ApprovalRequired(Exception):  # noqa: N818 - no failure: the request ends, and goes on when it is sent again
    """The client can open the approval view, and has not been asked to.

    Args:
        call_id: The call that waits there.
        url: Address of the view.
    """

    def __init__(self, call_id: str, url: str) -> None:
        super().__init__(call_id)
        self.result = types.InputRequiredResult(
            input_requests={"approval": approval_request(call_id, url)}, request_state=_APPROVAL + call_id
        )


class _Asked(NamedTuple):
    request: types.InputRequest
    answer: "asyncio.Future[types.InputResponse]"


class RoundInputs:
    """Implements `Inputs` for a client that is asked in the answer to its request.

    Args:
        capabilities: What it can be asked.
        given: Answers that it sent before it was asked.
        has_shown_approval: True if it was asked to open the approval view.
    """

    def __init__(
        self, capabilities: types.ClientCapabilities, given: Mapping[str, Any], *, has_shown_approval: bool
    ) -> None:
        self.capabilities = capabilities
        self.wanted = asyncio.Event()
        self._given = dict(given)
        self._has_shown_approval = has_shown_approval
        self._asked: dict[str, _Asked] = {}

    @property
    def requests(self) -> dict[str, types.InputRequest]:
        """The requests that the client has not answered yet."""
        return {name: asked.request for name, asked in self._asked.items() if not asked.answer.done()}

    async def request_input(self, name: str, request: types.InputRequest) -> types.InputResponse:
        """Ask the client in the answer to its request, and wait until it sends the request again with the response."""
        given: types.InputResponse | None = self._given.pop(name, None)
        if given is not None and isinstance(given, RESPONSES[request.method]):
            return given
        number = 1
        while (key := name if number == 1 else f"{name}_{number}") in self._asked:
            number += 1
        asked = self._asked[key] = _Asked(request, asyncio.get_running_loop().create_future())
        self.wanted.set()
        try:
            return await asked.answer
        finally:
            del self._asked[key]
            self._clear_if_answered()

    def accept_responses(self, responses: Mapping[str, types.InputResponse]) -> None:
        """Accept the client's responses; unrequested ones and those of a wrong type are ignored."""
        for name, response in responses.items():
            asked = self._asked.get(name)
            if asked is None or asked.answer.done() or not isinstance(response, RESPONSES[asked.request.method]):
                continue
            asked.answer.set_result(response)
        self._clear_if_answered()

    def show_approval(self, call_id: str, url: str) -> AbstractContextManager[None]:
        """End the request so that the client opens the approval view, unless it cannot or was asked to already.

        Raises:
            ApprovalRequired: The client has to be asked before the call waits.
        """
        if supports_urls(self.capabilities) and not self._has_shown_approval:
            raise ApprovalRequired(call_id, url)
        return nullcontext()

    def _clear_if_answered(self) -> None:
        if not self.requests:
            self.wanted.clear()


@dataclass(slots=True, eq=False)
class _Running:
    """A call that continues over several requests of its client. Implements `CallReporter` for the current request."""

    inputs: RoundInputs
    work: "asyncio.Task[Any]" = field(init=False)
    tell: CallReporter | None = None

    @property
    def receives_progress(self) -> bool:
        return self.tell is not None and self.tell.receives_progress

    @property
    def departure(self) -> Departure:
        """The reason for the current request; between two requests `lost`, since no client has cancelled or ended."""
        return "lost" if self.tell is None else self.tell.departure

    @property
    def request_ids(self) -> Sequence[types.RequestId]:
        return () if self.tell is None else self.tell.request_ids

    async def report_progress(self, fraction: float | None, message: str) -> None:
        if self.tell is not None:
            await self.tell.report_progress(fraction, message)

    async def mark_waiting(self, *, is_waiting: bool) -> None:
        if self.tell is not None:
            await self.tell.mark_waiting(is_waiting=is_waiting)

    async def send_log(self, level: LogLevel, tool: str, message: str) -> None:
        if self.tell is not None:
            await self.tell.send_log(level, tool, message)


class Rounds:
    """Calls that continue over several requests of clients."""

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}

    async def answer_request(
        self,
        capabilities: types.ClientCapabilities,
        params: types.InputResponseRequestParams,
        tell: CallReporter,
        begin: Begin,
    ) -> Any:
        """Start what a client requests, or continue the call that its state refers to.

        Returns:
            What `begin` returns, or an `InputRequiredResult`.
        Raises:
            MCPError: The call that the state refers to has ended.
        """
        state = params.request_state or ""
        given = params.input_responses or {}
        if state.startswith(_CALL):
            running = self._running.get(state) or _raise_ended()
            running.inputs.accept_responses(given)
            return await self._wait_for_round(state, running, tell)
        inputs = RoundInputs(capabilities, given, has_shown_approval=state.startswith(_APPROVAL))

        running = _Running(inputs)
        running.work = asyncio.ensure_future(begin(inputs, running))
        return await self._wait_for_round(_CALL + secrets.token_hex(8), running, tell)

    async def close(self) -> None:
        """Cancel all calls that wait for a client."""
        works = [running.work for running in self._running.values()]
        for work in works:
            work.cancel()
        await asyncio.gather(*works, return_exceptions=True)

    async def _wait_for_round(self, state: str, running: _Running, tell: CallReporter) -> Any:
        """Wait until the call ends, or asks the client something."""
        self._running.pop(state, None)
        running.tell = tell
        requested = asyncio.ensure_future(running.inputs.wanted.wait())
        try:
            await asyncio.wait((running.work, requested), return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            running.work.cancel()  # the client has disconnected: the call ends as any other does then
            await asyncio.gather(running.work, return_exceptions=True)
            raise
        finally:
            requested.cancel()
            running.tell = None
        if running.work.done():
            return running.work.result()
        self._store_running(state, running)
        return types.InputRequiredResult(input_requests=running.inputs.requests, request_state=state)

    def _store_running(self, state: str, running: _Running) -> None:
        """Store a call until the client sends its answers; if it ends meanwhile, for `RESULT_KEPT_SECONDS`."""
        self._running[state] = running
        loop = asyncio.get_running_loop()

        def remove_expired() -> None:
            if self._running.get(state) is running:
                del self._running[state]

        def end(work: "asyncio.Task[Any]") -> None:
            if not work.cancelled():
                work.exception()  # mark it as retrieved: the client may never ask for it
            loop.call_later(RESULT_KEPT_SECONDS, remove_expired)

        running.work.add_done_callback(end)


def _raise_ended() -> NoReturn:
    message = "the call of this requestState has ended; send it without requestState to make it anew"
    raise MCPError(types.INVALID_PARAMS, message, {"reason": "invalid_request_state"})
