"""Requests of calls in a host to their server: for users, models, other tools, the chat, artifacts."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from agentcore.core.calls.context import CallArtifacts
from agentcore.core.containment.reading import read_mapping
from agentcore.errors import ToolError
from agentcore.hosts.server_end import messages
from agentcore.hosts.server_end.handlers import Handlers
from agentcore.hosts.server_end.sent_calls import TIMEOUT_SECONDS_MAX, SentCall, SentCalls
from agentcore.hosts.wire.peer import BLOBS_BYTES, Message, Peer
from agentcore.hosts.wire.values import result_to_wire
from agentcore.store.artifacts import unknown_artifact

_LOADS = 2
_SAVING_BYTES = 2 * BLOBS_BYTES


class CallRequests:
    """Answers the requests of one host's calls."""

    def __init__(self, peer: Peer, calls: SentCalls) -> None:
        self._peer = peer
        self._calls = calls
        self._saving_bytes = 0
        self._loading = asyncio.Semaphore(_LOADS)

    def request_handlers(self, handlers: Handlers) -> dict[str, Callable[[Message], Awaitable[Any]]]:
        """The handlers, by the types of requests."""
        asked = handlers.request_handler
        return {
            "tool.ask": asked(messages.Ask, self._ask_user),
            "tool.sample": asked(messages.Sample, self._sample_model),
            "tool.roots": asked(messages.OfCall, self._list_client_roots),
            "call.nested": asked(messages.Nested, self._call_nested_tool),
            "agent.run": asked(messages.RunAgent, self._run_agent),
            "session.history": asked(messages.OfCall, self._read_history),
            "session.summary": asked(messages.Summary, self._compact_session),
            "session.todos": asked(messages.Todos, self._set_todos),
            "artifact.save": asked(messages.SaveArtifact, self._save_artifact),
            "artifact.load": asked(messages.OfArtifact, self._load_artifact),
            "artifact.open": asked(messages.OfArtifact, self._open_artifact),
            "artifact.describe": asked(messages.OfArtifact, self._describe_artifact),
            "artifact.lines": asked(messages.ArtifactPart, self._read_artifact),
            "artifact.find": asked(messages.ArtifactPart, self._find_in_artifact),
        }

    def _build_answer(self, sent: SentCall, value: Any) -> dict[str, Any]:
        return {"value": value, "timeoutMs": self._calls.time_left_ms(sent.context)}

    async def _ask_user(self, asked: messages.Ask) -> Any:
        sent = await self._calls.require_call(asked)
        question = asked.question
        limit_s = min(asked.timeout_s, TIMEOUT_SECONDS_MAX)
        if asked.url is not None:
            await sent.context.ask(question, url=asked.url, timeout_s=limit_s)
            return self._build_answer(sent, None)
        if asked.form is not None:
            form = read_mapping(asked.form, "the form of a host")
            return self._build_answer(sent, await sent.context.ask(question, schema=form, timeout_s=limit_s))
        answer = await sent.context.ask(question, asked.options, timeout_s=limit_s, is_secret=asked.is_secret)
        return self._build_answer(sent, answer)

    async def _sample_model(self, asked: messages.Sample) -> Any:
        sent = await self._calls.require_call(asked)
        text = await sent.context.sample(
            asked.prompt, system=asked.system, max_tokens=asked.max_tokens, is_shown_first=asked.is_shown_first
        )
        return self._build_answer(sent, text)

    async def _list_client_roots(self, asked: messages.OfCall) -> Any:
        sent = await self._calls.require_call(asked)
        return self._build_answer(sent, list(await sent.context.client_roots()))

    async def _call_nested_tool(self, asked: messages.Nested) -> Any:
        sent = await self._calls.require_call(asked)
        foreign = self._calls.foreign
        if foreign is None:
            result = await sent.context.call(asked.tool, asked.arguments)
        else:
            result = await sent.context.call_as_host(foreign.name, asked.tool, asked.arguments)
        wire = await result_to_wire(result, self._peer.send_blob)
        return self._build_answer(sent, wire if result.data is None else wire | {"data": result.data})

    async def _run_agent(self, asked: messages.RunAgent) -> Any:
        sent = await self._calls.require_call(asked)
        report = await sent.context.run_agent(asked.prompt, asked.tools, asked.model, asked.budget)
        return self._build_answer(sent, report)

    async def _read_history(self, asked: messages.OfCall) -> Any:
        sent = await self._calls.require_call(asked)
        return self._build_answer(sent, [dict(each) for each in await sent.context.session.history()])

    async def _compact_session(self, asked: messages.Summary) -> Any:
        sent = await self._calls.require_call(asked)
        told = await sent.context.session.compact(asked.summary, keep_turns=asked.keep_turns)
        return self._build_answer(sent, told)

    async def _set_todos(self, asked: messages.Todos) -> Any:
        sent = await self._calls.require_call(asked)
        todos = read_mapping({"todos": asked.todos}, "the list of a host")["todos"]
        await sent.context.session.set_todos(todos)
        return self._build_answer(sent, None)

    # -- artifacts ---------------------------------------------------------------------------------------------

    async def _save_artifact(self, asked: messages.SaveArtifact) -> Any:
        sent = await self._calls.require_call(asked)
        data = self._peer.pop_blob(asked.blob)
        if self._saving_bytes + len(data) > _SAVING_BYTES:
            raise ToolError("too_many_artifacts", "the host saves too much at one time; try again", retryable=True)
        self._saving_bytes += len(data)
        try:
            return (await sent.context.artifacts.save(data, mime=asked.mime, name=asked.name)).to_json()
        finally:
            self._saving_bytes -= len(data)

    async def _artifacts_of(self, asked: messages.OfArtifact) -> CallArtifacts:
        """Return the artifacts of a call, for reading one.

        Raises:
            ToolError: `artifact_not_found`: a foreign machine can read those that the call was given or has saved;
                others of the session are treated as unknown.
        """
        sent = await self._calls.require_call(asked, in_preview=True)
        foreign = self._calls.foreign
        artifacts = sent.context.artifacts
        is_held_back = foreign is not None and not foreign.may_use_chats()
        if is_held_back and not await artifacts.is_given(asked.artifact_id):
            raise unknown_artifact(asked.artifact_id)
        return artifacts

    async def _load_artifact(self, asked: messages.OfArtifact) -> Any:
        artifacts = await self._artifacts_of(asked)
        async with self._loading:  # a host that requests many gets them one after the other
            _check_size((await artifacts.describe(asked.artifact_id)).size_bytes)
            return await self._peer.send_blob(await artifacts.load(asked.artifact_id))

    async def _open_artifact(self, asked: messages.OfArtifact) -> Any:
        artifacts = await self._artifacts_of(asked)
        async with self._loading:
            with await artifacts.open(asked.artifact_id) as file:
                _check_size(file.size_bytes)
                return await self._peer.send_blob(await asyncio.to_thread(file.read, file.size_bytes))

    async def _describe_artifact(self, asked: messages.OfArtifact) -> Any:
        return (await (await self._artifacts_of(asked)).describe(asked.artifact_id)).to_json()

    async def _read_artifact(self, asked: messages.ArtifactPart) -> Any:
        artifacts = await self._artifacts_of(asked)
        lines = await artifacts.lines(asked.artifact_id, asked.first, limit=asked.limit, chars=asked.chars)
        return {"lines": lines.lines, "total": lines.total}

    async def _find_in_artifact(self, asked: messages.ArtifactPart) -> Any:
        artifacts = await self._artifacts_of(asked)
        lines = await artifacts.find_lines(asked.artifact_id, asked.query, asked.first, limit=asked.limit)
        return {"lines": lines.lines, "total": lines.total}


def _check_size(size_bytes: int) -> None:
    if size_bytes > BLOBS_BYTES:
        raise ToolError(
            "message_too_large",
            f"the artifact has {size_bytes:,} bytes; what passes between a host and its server may have "
            f"{BLOBS_BYTES:,}: read it in parts",
            limit_bytes=BLOBS_BYTES,
        )
