"""Requests of calls in a host to their server: each calls the method of the call's own context that it stands for."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from pydantic import TypeAdapter

from agentcore.api import Artifacts, ChatSession, Text, ToolContext, ToolResult
from agentcore.api.operation import Operation, operations_of
from agentcore.core.calls.call_context import CallArtifacts, CallContext
from agentcore.errors import ToolError
from agentcore.files.open_file import OpenFile
from agentcore.hosts.server_side.browser_methods import BROWSER_METHODS, BrowserMethod, validator_of
from agentcore.hosts.server_side.host_messages import read_request
from agentcore.hosts.server_side.operation_access import MachineAccess
from agentcore.hosts.server_side.sent_calls import SentCall, SentCalls
from agentcore.hosts.wire.operation_messages import answers_with_bytes, blob_parameter, check_blob_size, encode_answer
from agentcore.hosts.wire.peer import BLOBS_BYTES, Message, Peer
from agentcore.hosts.wire.values import Number
from agentcore.store.artifacts.files import unknown_artifact

_LOADS = 2
_SAVING_BYTES = 2 * BLOBS_BYTES
_NUMBER: TypeAdapter[int] = TypeAdapter(Number)

Handler = Callable[[Message], Awaitable[Any]]


class CallRequests:
    """Answers the requests of one host's calls."""

    def __init__(self, peer: Peer, calls: SentCalls) -> None:
        self._peer = peer
        self._calls = calls
        self._saving_bytes = 0
        self._loading = asyncio.Semaphore(_LOADS)

    def request_handlers(self) -> dict[str, Handler]:
        """The handlers, by the types of requests."""
        of_context = [self._context_handler(each) for each in operations_of(ToolContext).values()]
        of_session = [self._session_handler(each) for each in operations_of(ChatSession).values()]
        of_artifacts = [self._artifact_handler(each) for each in operations_of(Artifacts).values()]
        return dict(of_context + of_session + of_artifacts)

    def _context_handler(self, operation: Operation) -> tuple[str, Handler]:
        async def handle_request(message: Message) -> Any:
            arguments = read_request(operation, message)
            sent = await self._require_call(operation, message)
            foreign = self._calls.foreign
            if operation.function is ToolContext.call and foreign is not None:
                answer = await make_nested_call(foreign, sent.context, **arguments)
            else:
                answer = await getattr(sent.context, operation.method)(**arguments)
            return await self._build_answer(operation, sent, answer)

        return operation.name, handle_request

    def _session_handler(self, operation: Operation) -> tuple[str, Handler]:
        async def handle_request(message: Message) -> Any:
            arguments = read_request(operation, message)
            sent = await self._require_call(operation, message)
            answer = await getattr(sent.context.session, operation.method)(**arguments)
            return await self._build_answer(operation, sent, answer)

        return operation.name, handle_request

    async def _build_answer(self, operation: Operation, sent: SentCall, answer: Any) -> dict[str, Any]:
        value = await encode_answer(operation, answer, self._peer.send_blob)
        return {"value": value, "timeoutMs": self._calls.time_left_ms(sent.context)}

    async def _require_call(self, operation: Operation, message: Message) -> SentCall:
        number = _NUMBER.validate_python(message.get("n"), strict=True)
        return await self._calls.require_call(number, in_preview=operation.is_in_preview)

    # -- artifacts ---------------------------------------------------------------------------------------------

    def _artifact_handler(self, operation: Operation) -> tuple[str, Handler]:
        if blob_parameter(operation) is not None:
            return operation.name, lambda message: self._save_artifact(operation, message)
        if answers_with_bytes(operation):
            return operation.name, lambda message: self._send_artifact(operation, message)
        return operation.name, lambda message: self._describe_artifact(operation, message)

    async def _save_artifact(self, operation: Operation, message: Message) -> Any:
        arguments = read_request(operation, message)
        sent = await self._require_call(operation, message)
        data = self._peer.pop_blob(arguments.pop("data"))
        if self._saving_bytes + len(data) > _SAVING_BYTES:
            raise ToolError("too_many_artifacts", "the host saves too much at one time; try again", retryable=True)
        self._saving_bytes += len(data)
        try:
            return (await sent.context.artifacts.save(data, **arguments)).to_json()
        finally:
            self._saving_bytes -= len(data)

    async def _send_artifact(self, operation: Operation, message: Message) -> Any:
        arguments = read_request(operation, message)
        artifacts = await self._open_artifacts(operation, message, arguments["artifact_id"])
        async with self._loading:  # a host that requests many gets them one after the other
            check_blob_size((await artifacts.describe(**arguments)).size_bytes)
            answer = await getattr(artifacts, operation.method)(**arguments)
            data = await _read_file(answer) if isinstance(answer, OpenFile) else answer
            return await self._peer.send_blob(data)

    async def _describe_artifact(self, operation: Operation, message: Message) -> Any:
        arguments = read_request(operation, message)
        artifacts = await self._open_artifacts(operation, message, arguments["artifact_id"])
        answer = await getattr(artifacts, operation.method)(**arguments)
        return await encode_answer(operation, answer, self._peer.send_blob)

    async def _open_artifacts(self, operation: Operation, message: Message, artifact_id: str) -> CallArtifacts:
        """Return the artifacts of a call, for reading one.

        Raises:
            ToolError: `artifact_not_found`: a foreign machine can read those that the call was given or has saved;
                others of the session are treated as unknown.
        """
        sent = await self._require_call(operation, message)
        artifacts = sent.context.artifacts
        if _is_restricted(self._calls.foreign) and not await artifacts.is_given(artifact_id):
            raise unknown_artifact(artifact_id)
        return artifacts


def _is_restricted(foreign: MachineAccess | None) -> bool:
    return foreign is not None and not foreign.may_use_chats()


async def _read_file(file: OpenFile) -> bytes:
    with file:
        check_blob_size(file.size_bytes)
        return await asyncio.to_thread(file.read, file.size_bytes)


async def make_nested_call(
    foreign: MachineAccess, context: CallContext, tool: str, arguments: Mapping[str, Any]
) -> ToolResult:
    """Call a tool for a foreign machine, by its name or by a dotted name of the protocol.

    Either way the machine is the caller, and rules, approvals and the record show the tool that is called.

    Raises:
        ToolError: As `agentcore.api.ToolContext.call`; `unknown_tool`: no tool stands for the dotted name.
    """
    method = BROWSER_METHODS.get(tool)
    if method is None:
        return await context.call_as_host(foreign.name, tool, arguments)
    return await _call_method(foreign, context, method, validator_of(method.name)(dict(arguments)))


async def _call_method(
    foreign: MachineAccess, context: CallContext, method: BrowserMethod, arguments: dict[str, Any]
) -> ToolResult:
    definition = foreign.find_aliased_tool(method.name)
    if definition is None or definition.host_alias is None:
        message = f"no tool of the server or of this host stands for {method.name!r}: no module with a browser is ready"
        raise ToolError("unknown_tool", message, tool=method.name, near=[])
    arguments = {**arguments, **definition.host_alias.arguments}
    result = await context.call_as_host(foreign.name, definition.name, arguments)
    # images are in the data, and would be sent twice
    texts = [block for block in result.blocks() if isinstance(block, Text)]
    return ToolResult(texts, method.read_result(result.data), result.truncated, result.untrusted, result.resource_id)
