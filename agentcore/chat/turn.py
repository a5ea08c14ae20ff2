"""One turn: the model answers, its calls are carried out or waited for, until it has nothing left to call."""

import json
import secrets
import time
from dataclasses import dataclass, replace
from typing import Any

from pydantic_ai.messages import ModelMessage, ModelRequest, ModelResponse, ModelResponsePart, TextPart, ToolCallPart

from agentcore.api.errors import ToolError
from agentcore.chat import history
from agentcore.chat.engine import BrokenAnswerError, Engine
from agentcore.chat.limits import CALLS_IN_A_TURN, TITLE_CHARS
from agentcore.chat.offer import OfferedTool, offer
from agentcore.chat.prompted import Holder, Written, parse_written
from agentcore.chat.prompts import instructions
from agentcore.chat.server_call import ServerCalls
from agentcore.chat.settings import AgentConfig, ModelChoice
from agentcore.chat.stream import Stream
from agentcore.chat.texts import text
from agentcore.chat.told import tell_error
from agentcore.chat.wire import ClientTool, PageInfo
from agentcore.host import Host
from agentcore.store.chat_rows import ChatCallRow, ChatSessionRow, MessageKind, NewMessage


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """What one stretch of a turn works with.

    Args:
        session: The session as it is stored.
        agent: Whose instructions and tools.
        choice: The model.
        page: The page that the person looks at.
        client_tools: The tools that the client runs.
    """

    session: ChatSessionRow
    agent: AgentConfig
    choice: ModelChoice
    page: PageInfo | None
    client_tools: tuple[ClientTool, ...]


class Turn:
    """Carries one session on. Whoever makes one sees to it that there is no other for the session."""

    def __init__(self, host: Host, engine: Engine, plan: TurnPlan, stream: Stream) -> None:
        self._host, self._chats, self._engine, self._plan, self._stream = host, host.store.chats, engine, plan, stream
        self._session_id = plan.session.session_id
        self._server = ServerCalls(host, stream)
        self._offered: dict[str, OfferedTool] = {}
        self._messages: list[ModelMessage] = []
        self._steps, self._tokens = plan.session.steps, plan.session.tokens
        self._used = (0, 0, 0)
        self._is_loaded = self._has_repaired = False

    async def take(self, message: str) -> None:
        """Begin with a person's message; calls that still wait are rejected as superseded."""
        await self._load()
        for call in await self._chats.open_calls(self._session_id):
            if call.state in {"waiting", "new"}:
                await self._server.supersede(call)
        calls = await self._work_off()
        self._steps = self._tokens = 0
        title = self._plan.session.title or " ".join(message.split())[:TITLE_CHARS]
        number = await self._tell_model(calls, message, title=title)
        self._stream.message({"number": number, "time": time.time_ns() // 1_000_000, "role": "user", "text": message})
        if title != self._plan.session.title:
            self._stream.publish("session.changed", {"title": title})

    async def go_on(self) -> list[str]:
        """Go on until the model has nothing to call, or calls wait; gives the ids of these.

        Raises:
            BrokenAnswerError: The model failed; what came of its answer is kept.
            ToolError: `budget_exceeded`, `stopped`.
        """
        await self._load()
        await self._chats.change(self._session_id, is_running=1)
        while True:
            calls = await self._work_off()
            waiting = [call.tool_id for call in calls if call.state == "waiting"]
            if waiting:
                return waiting
            if calls:
                await self._tell_model(calls)
            if not self._messages or isinstance(self._messages[-1], ModelResponse):
                return []
            self._check_bounds()
            await self._take_answer(await self._ask())

    # -- calls -------------------------------------------------------------------------------------------------

    async def _work_off(self) -> list[ChatCallRow]:
        """Do what can be done about open calls, in their order; gives how they stand then."""
        for call in await self._chats.open_calls(self._session_id):
            match call.state:
                case "new":
                    await self._begin(call)
                case "approved":
                    await self._server.run(call)
                case "rejected":
                    await self._server.reject(call, "rejected")
                case "running":
                    await self._server.interrupt(call)
        calls = await self._chats.open_calls(self._session_id)
        # one that was answered while another ran has its turn now
        return await self._work_off() if any(call.state in {"approved", "rejected"} for call in calls) else calls

    async def _begin(self, call: ChatCallRow) -> None:
        self._stream.tool_call(call.tool_name, call.arguments, call.tool_id, call.kind)
        if call.kind == "server":
            await self._server.submit(call)
        else:
            await self._chats.move(call.session_id, call.tool_id, "new", "waiting")
            self._stream.tool_state(call.tool_id, "waiting")

    async def _tell_model(self, calls: list[ChatCallRow], message: str | None = None, title: str = "") -> int:
        results = [(call.tool_name, call.tool_id, json.loads(call.result or "{}")) for call in calls]
        settles = [call.tool_id for call in calls]
        values = {"title": title} if title else {}
        return await self._append([history.request(results, message)], settles=settles, values=values)

    # -- the model ---------------------------------------------------------------------------------------------

    async def _ask(self) -> tuple[ModelResponse, Written | None]:
        """Have the model answer; of a model without tool calling, also what it wrote."""
        plan, locale = self._plan, self._stream.locale
        is_prompted = plan.choice.tools == "prompted"
        definitions = (tool.definition for tool in self._host.registry.tools.values())
        tools = offer(definitions, plan.client_tools, plan.agent)
        self._offered = {tool.name: tool for tool in tools}
        said = instructions(plan.agent.instructions, tools, plan.page, locale, is_prompted=is_prompted)
        sent = history.for_model(self._messages, locale, images=plan.choice.images, is_prompted=is_prompted)
        holder = Holder()

        def show(piece: str) -> None:
            self._stream.content(holder.add(piece) if is_prompted and tools else piece)

        self._steps += 1
        try:
            response = await self._engine.ask(
                plan.choice,
                sent,
                [] if is_prompted else tools,
                said,
                on_text=show,
                on_thinking=self._stream.thinking,
            )
        except BrokenAnswerError as exc:
            await self._keep_partial(exc.partial)
            raise
        self._count(response)
        if not is_prompted or not tools:
            return response, None
        written = parse_written(response.text or "")
        if written.fault is None or self._has_repaired:
            self._stream.content(holder.rest(written))
        return response, written

    async def _take_answer(self, answer: tuple[ModelResponse, Written | None]) -> None:
        """Store an answer together with the calls that it wants."""
        response, written = answer
        if written is not None and written.fault is not None and not self._has_repaired:
            self._has_repaired = True
            repair = text(self._stream.locale, "repair", reason=written.fault)
            await self._append([response], kind="told")
            await self._append([history.request([], repair)], kind="told")
            return
        if written is not None and written.calls:
            spoken: list[ModelResponsePart] = [TextPart(written.text)] if written.text else []
            wanted = [ToolCallPart(call.tool_name, call.arguments) for call in written.calls]
            response = replace(response, parts=[*spoken, *wanted])
        parts: list[ModelResponsePart] = []
        calls: list[ChatCallRow] = []
        for part in response.parts:
            if isinstance(part, ToolCallPart):
                row, part = self._take_call(part, len(calls))  # noqa: PLW2901 - the part as it is kept
                calls.append(row)
            parts.append(part)
        await self._append([replace(response, parts=parts)], calls=calls)
        for call in calls:
            if call.state == "done":
                self._stream.tool_call(call.tool_name, call.arguments, call.tool_id, call.kind, is_tried=False)
                envelope = json.loads(call.envelope or "{}")
                self._stream.tool_result(call.tool_name, call.tool_id, envelope, is_server=False)

    def _take_call(self, part: ToolCallPart, number: int) -> tuple[ChatCallRow, ToolCallPart]:
        """A call under an id of its own: those of some providers are the same in each answer."""
        tool_id = f"tc_{secrets.token_hex(8)}"
        arguments, error = _read_arguments(part)
        offered = self._offered.get(part.tool_name)
        if number >= CALLS_IN_A_TURN:
            error = ToolError("too_many_calls", f"{CALLS_IN_A_TURN} calls in one answer are the bound; call again")
        elif offered is None:
            message = f"there is no tool {part.tool_name!r} here; call one that is listed, by its exact name"
            error = ToolError("unknown_tool", message, tool=part.tool_name)
        row = ChatCallRow(
            self._session_id, tool_id, part.tool_name, arguments, "server" if offered is None else offered.kind
        )
        if error is not None:
            envelope = _dump({"ok": False, "error": error.to_json()})
            row = row._replace(state="done", result=_dump(tell_error(error, self._stream.locale)), envelope=envelope)
        return row, replace(part, tool_call_id=tool_id, args=arguments)

    async def _keep_partial(self, partial: ModelResponse | None) -> None:
        """Keep the text that the person has seen of an answer that broke off."""
        if partial is None:
            self._stream.live.clear()
            return
        texts: list[ModelResponsePart] = [part for part in partial.parts if isinstance(part, TextPart) and part.content]
        if texts:
            await self._append([replace(partial, parts=texts)])
        self._stream.live.clear()

    # -- bounds and messages -----------------------------------------------------------------------------------

    def _check_bounds(self) -> None:
        agent, stopped = self._plan.agent, self._host.calls.stopped
        if stopped is not None:
            raise ToolError("stopped", stopped)
        if self._steps >= agent.max_steps:
            message = f"the turn has taken its {agent.max_steps} steps; say how to go on"
            raise ToolError("budget_exceeded", message, max_steps=agent.max_steps)
        if self._tokens >= agent.max_tokens:
            message = f"the turn has used {self._tokens:,} tokens of {agent.max_tokens:,}; say how to go on"
            raise ToolError("budget_exceeded", message, max_tokens=agent.max_tokens)

    def _count(self, response: ModelResponse) -> None:
        used, usage = self._stream.usage, response.usage
        used["requests"] += 1
        used["input_tokens"] += usage.input_tokens
        used["output_tokens"] += usage.output_tokens
        self._tokens += usage.input_tokens + usage.output_tokens
        self._used = (self._used[0] + usage.input_tokens, self._used[1] + usage.output_tokens, self._used[2] + 1)

    async def _load(self) -> None:
        if not self._is_loaded:
            self._messages = history.load(await self._chats.messages(self._session_id))
            self._is_loaded = True

    async def _append(
        self,
        messages: list[ModelRequest | ModelResponse],
        *,
        kind: MessageKind = "said",
        calls: list[ChatCallRow] | None = None,
        settles: list[str] | None = None,
        values: dict[str, str] | None = None,
    ) -> int:
        """Keep messages; gives the number of the last."""
        stored = [NewMessage(history.dump(message), kind, history.said(message)) for message in messages]
        live = self._stream.live
        async with live.storing:
            numbers = await self._chats.append(
                self._session_id,
                stored,
                calls=calls or (),
                settles=settles or (),
                usage=self._used,
                steps=self._steps,
                tokens=self._tokens,
                is_running=1,
                **(values or {}),
            )
            self._used = (0, 0, 0)
            if isinstance(messages[-1], ModelResponse):
                live.clear()
        self._messages += messages
        return numbers[-1]


def _dump(value: dict[str, Any]) -> str:
    return json.dumps(value, ensure_ascii=False)


def _read_arguments(part: ToolCallPart) -> tuple[str, ToolError | None]:
    """The arguments as the JSON text of an object; what is none becomes an error for the model, and an empty one."""
    if not isinstance(part.args, str):
        return json.dumps(part.args or {}, ensure_ascii=False), None
    try:
        arguments = json.loads(part.args or "{}")
    except (ValueError, RecursionError) as exc:
        return "{}", ToolError("invalid_arguments", f"the arguments are not valid JSON ({exc}): {part.args[:200]!r}")
    if not isinstance(arguments, dict):
        return "{}", ToolError("invalid_arguments", f"the arguments must be a JSON object: {part.args[:200]!r}")
    return json.dumps(arguments, ensure_ascii=False), None
