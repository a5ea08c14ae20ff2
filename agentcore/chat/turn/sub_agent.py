"""Sub-agents: an agent that works for a call in its own conversation, under the same policy, and returns a report."""

import asyncio
import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from pydantic_ai.messages import ModelResponse, ModelResponsePart, ToolCallPart

from agentcore.api import Principal
from agentcore.chat.chat_limits import CALLS_IN_A_TURN, SUB_AGENT_DEPTH
from agentcore.chat.model.model_json import read_arguments
from agentcore.chat.model.model_requests import BrokenAnswerError, Engine
from agentcore.chat.model.offered_tools import OfferedTool, list_offered_tools, valid_name
from agentcore.chat.session import transcript
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.stored_result import ResultShrinker
from agentcore.chat.settings import AgentConfig, ModelChoice
from agentcore.chat.system.parts import SystemPlan, resolve_modules_and_host
from agentcore.chat.texts import localized_text, result_text
from agentcore.chat.turn import history
from agentcore.chat.turn.call_announcement import CallAnnouncement
from agentcore.chat.turn.compaction.compaction_storage import SubAgentKeeper
from agentcore.chat.turn.compaction.compactor import Compactor
from agentcore.chat.turn.compaction.model_history import ModelHistory
from agentcore.chat.turn.context_shares import DefinitionBudget, fit_reader, folder_chars
from agentcore.chat.turn.model_reply import ModelReply, Prompt, find_written_form, used_tokens
from agentcore.chat.turn.server_call import may_act, skipped_error
from agentcore.chat.turn.tool_output import ToolOutput, error_output, outcome_output
from agentcore.chat.turn.toolbox import OWN_TOOLS, Toolbox, callable_tools
from agentcore.core.calls.call import Call, CallRequest
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import MODEL_CHARS
from agentcore.store.chat.chat_rows import ChatCallRow


class Budget(NamedTuple):
    """Limits of one sub-agent.

    Args:
        steps: Requests to the model.
        tokens: Tokens, sent and received.
    """

    steps: int
    tokens: int


def read_budget(wanted: Mapping[str, int] | None, agent: AgentConfig) -> Budget:
    """Return the requested budget, capped by the limits of the session's agent.

    Raises:
        ToolError: `invalid_arguments`.
    """
    given = dict(wanted or {})
    if (unknown := set(given) - set(Budget._fields)) or any(value < 1 for value in given.values()):
        named = f"unknown: {sorted(unknown)}" if unknown else f"given: {given}"
        raise ToolError("invalid_arguments", f"a budget has steps and tokens, each at least 1; {named}")
    return Budget(
        min(given.get("steps", agent.max_steps), agent.max_steps),
        min(given.get("tokens", agent.max_tokens), agent.max_tokens),
    )


@dataclass(frozen=True, slots=True)
class SubAgentTask:
    """A task that a tool gives to a sub-agent.

    Args:
        prompt: The task; the only message that the sub-agent gets.
        tools: Patterns of tools; None: all of the agent's.
        budget: Limits on steps and tokens.
        agent: The session's agent, whose instructions and tools it uses.
        choice: The model.
        system: Inputs of its system message.
    """

    prompt: str
    tools: Sequence[str] | None
    budget: Budget
    agent: AgentConfig
    choice: ModelChoice
    system: SystemPlan

    def offers_tool(self, tool: str) -> bool:
        """True if the sub-agent may use the tool."""
        is_wanted = self.tools is None or any(fnmatchcase(tool, pattern) for pattern in self.tools)
        return is_wanted and self.agent.offers_tool(tool)


class SubAgent:
    """Works on one task inside the call that requested it, and ends with that call.

    Args:
        core: Runs its calls.
        engine: Sends requests to the model.
        call: The call that it works for.
        stream: The session's events.
    """

    def __init__(self, core: Core, engine: Engine, call: Call, stream: Stream) -> None:
        self._core = core
        self._engine = engine
        self._call = call
        self._live = stream.live
        self._parent_tool_id = stream.live.tool_ids.get(call.id, call.id)
        depths = self._live.agents
        # one level below the sub-agent, if any, that made the call
        self._depth = 1 + next((depths[parent.id] for parent in call.ancestors() if parent.id in depths), 0)
        self._stream = stream.create_inner_stream(self._parent_tool_id, self._depth)
        self._kept = ResultShrinker(core.store.artifacts)
        self._history = ModelHistory()
        self._offered: dict[str, OfferedTool] = {}
        self._names_notes: dict[str, str] = {}
        self._found: list[str] = []
        self._tokens = 0
        self._window: int | None = None
        self._reader = self._live.reader

    async def run(self, task: SubAgentTask) -> str:
        """Work on a task; return the report, or what it wrote before it reached a limit, marked as unfinished.

        Raises:
            ToolError: `nesting_too_deep`, `budget_exceeded` (it wrote nothing), or the provider's error.
        """
        if self._depth > SUB_AGENT_DEPTH:
            message = f"agents run agents {SUB_AGENT_DEPTH} deep; that is the bound"
            raise ToolError("nesting_too_deep", message, limit=SUB_AGENT_DEPTH)
        self._live.agents[self._call.id] = self._depth
        self._live.agent_prompts[self._call.id] = task.prompt
        try:
            return await self._run_steps(task)
        finally:
            self._live.agents.pop(self._call.id, None)
            self._live.agent_prompts.pop(self._call.id, None)

    async def _run_steps(self, task: SubAgentTask) -> str:
        self._history.add_messages([history.build_request([], task.prompt)])
        self._reader = replace(self._live.reader, result_chars=task.agent.result_chars, may_call=task.offers_tool)
        keeper = SubAgentKeeper(self._core, self._call.session_id, self._stream, self._count_usage, self._reader)
        compactor = Compactor(self._engine, self._stream, keeper, self._live.model_scales)
        self._window = await compactor.find_window(task.choice)
        has_repaired = False
        said: list[str] = []
        for _ in range(task.budget.steps):
            toolbox = self._build_toolbox(task)
            prompt = self._build_prompt(task, toolbox)
            result_tokens = await compactor.estimate_result_tokens(prompt)
            may_call = callable_tools(task.offers_tool, self._offered)
            self._reader = replace(fit_reader(self._reader, task.agent, result_tokens), may_call=may_call)
            answer = await self._request_reply(compactor, prompt, can_repair=not has_repaired)
            await self._count_usage(answer.response)
            if answer.fault is not None and not has_repaired:
                has_repaired = True
                repair = localized_text(self._stream.locale, "repair", reason=answer.fault)
                self._history.add_messages([answer.response, history.build_request([], repair)])
                continue
            if not await self._run_calls(answer.response, toolbox):
                return answer.response.text or ""
            said += [text] if (text := (answer.response.text or "").strip()) else []
            if self._tokens >= task.budget.tokens:
                break
        used = f"the sub-agent has used its {task.budget.steps} steps or {task.budget.tokens:,} tokens without an end"
        said += [text] if (text := await self._sum_up(task, compactor)) else []
        if said:
            return result_text("unfinished_report", used=used, text="\n\n".join(said))
        raise ToolError("budget_exceeded", used, **task.budget._asdict())

    def _build_prompt(self, task: SubAgentTask, toolbox: Toolbox) -> Prompt:
        self._offered = toolbox.get_offered_tools()
        system = task.system.build_parts(
            task.agent,
            *resolve_modules_and_host(self._core.registry, self._current_host, toolbox.modules),
            folder_chars=folder_chars(self._window),
        )
        return Prompt(task.choice, system, list(self._offered.values()), is_for_client=self._live.client is not None)

    async def _sum_up(self, task: SubAgentTask, compactor: Compactor) -> str:
        """Let the model report what it has found when a limit is reached, in one more request, without tools."""
        if task.budget.steps == 1:
            return ""  # as the turn of a session
        prompt = self._build_prompt(task, self._build_toolbox(task))
        prompt = replace(prompt, note=result_text("sum_up_task"), may_call=False)
        try:
            answer = await self._request_reply(compactor, prompt, can_repair=False)
        except BrokenAnswerError as exc:
            return (exc.partial.text or "").strip() if exc.partial is not None else ""
        await self._count_usage(answer.response)
        text = (answer.response.text or "").strip()
        if text:
            await self._store_step(text, [])
        return text

    async def _request_reply(self, compactor: Compactor, prompt: Prompt, *, can_repair: bool) -> ModelReply:
        """Request an answer; the text of one that is cancelled or breaks is stored for the user."""
        self._stream.said.clear()
        try:
            return await compactor.ask(prompt, self._history, can_repair=can_repair)
        except asyncio.CancelledError:
            await self._store_partial_answer(is_stopped=True)
            raise
        except BrokenAnswerError:
            await self._store_partial_answer(is_stopped=False)
            raise

    async def _store_partial_answer(self, *, is_stopped: bool) -> None:
        if said := "".join(self._stream.said):
            await self._store_step(said, [], is_stopped=is_stopped)

    @property
    def _current_host(self) -> str:
        """The host for its calls: that of the call it works for; empty: none is chosen."""
        return self._call.host_inside or self._live.current_host(self._core.registry)

    def _build_toolbox(self, task: SubAgentTask) -> Toolbox:
        tools = [
            tool
            for tool in list_offered_tools(self._core.registry, (), task.agent, self._current_host)
            if task.offers_tool(tool.name)
        ]
        written_form = find_written_form(task.choice, is_for_client=self._live.client is not None)
        budget = DefinitionBudget.from_window(self._window, written_form)
        return Toolbox(tools, self._found, task.system.choose_skills(task.agent), budget)

    async def _run_calls(self, response: ModelResponse, toolbox: Toolbox) -> bool:
        """Run the calls of an answer one by one, and store the step; False if there are none."""
        parts: list[ModelResponsePart] = []
        rows: list[tuple[ChatCallRow, ToolError | None]] = []
        for part in response.parts:
            if isinstance(part, ToolCallPart):
                row, kept, error = self._prepare_call(part, len(rows), toolbox)
                rows.append((row, error))
                parts.append(kept)
            else:
                parts.append(part)
        results: list[tuple[str, str, ToolOutput]] = []
        done: list[dict[str, Any]] = []
        try:
            failed = ""
            for row, error in rows:
                may_act = self._may_act(row)
                skipped = skipped_error(failed) if failed and may_act else None
                told, envelope = await self._execute_call(row, skipped or error, toolbox)
                if may_act and not failed and not told["ok"]:
                    failed = row.tool_name
                results.append((row.tool_name, row.tool_id, told))
                done.append(self._describe_call(row, envelope))
        except asyncio.CancelledError:
            ended = json.dumps({"ok": False, "error": ToolError("cancelled", result_text("stopped_running")).to_json()})
            done += [self._describe_call(row, ended) for row, _ in rows[len(done) : len(done) + 1]]
            unbegun = json.dumps({"ok": False, "error": ToolError("cancelled", result_text("stopped")).to_json()})
            done += [self._describe_call(row, unbegun) for row, _ in rows[len(done) :]]
            await self._store_step(response.text or "", done, is_stopped=True)
            raise
        await self._store_step(response.text or "", done)
        self._history.add_messages([replace(response, parts=parts)])
        if results:
            self._history.add_messages([history.build_request(results)])
        return bool(results)

    def _may_act(self, row: ChatCallRow) -> bool:
        """Return False if a call only reads, or touches nothing but the session; an unknown tool may act."""
        tools = self._core.registry.tools_at(self._current_host)
        return row.tool_name not in OWN_TOOLS and may_act(tools, row.tool_name)

    def _prepare_call(
        self, part: ToolCallPart, number: int, toolbox: Toolbox
    ) -> tuple[ChatCallRow, ToolCallPart, ToolError | None]:
        offered = self._offered.get(part.tool_name) or toolbox.take_hidden(part.tool_name)
        self._found = toolbox.found
        arguments, error, note = read_arguments(part.args, None if offered is None else offered.schema)
        if number >= CALLS_IN_A_TURN:
            error = ToolError("too_many_calls", f"{CALLS_IN_A_TURN} calls in one answer are the bound; call again")
        elif offered is None:
            error = self._core.registry.why_away(part.tool_name, self._current_host)
            error = error or toolbox.create_unknown_tool_error(part.tool_name)
        tool_id = f"tc_{secrets.token_hex(8)}"
        name = valid_name(part.tool_name)
        if note:
            self._names_notes[tool_id] = note
        row = ChatCallRow(self._call.session_id, tool_id, name, arguments, "server")
        return row, replace(part, tool_name=name, tool_call_id=tool_id, args=arguments), error

    async def _execute_call(
        self, row: ChatCallRow, error: ToolError | None, toolbox: Toolbox
    ) -> tuple[ToolOutput, str]:
        """Run one call through the core as the session's model, also if another principal started the agent."""
        announcement = CallAnnouncement(self._core, self._stream, row, is_inner=True)
        if error is not None or row.tool_name in OWN_TOOLS:
            announcement.announce_call(waits=False)
        if error is None and row.tool_name in OWN_TOOLS:
            try:
                return self._run_own_tool(row, toolbox)
            except ToolError as exc:
                error = exc
        if error is not None:
            envelope = json.dumps({"ok": False, "error": error.to_json()})
            self._stream.publish_tool_result(row.tool_name, row.tool_id, json.loads(envelope), is_told=False)
            return error_output(error), envelope
        request = CallRequest(
            row.tool_name,
            json.loads(row.arguments),
            Principal("chat", row.session_id),
            session_id=row.session_id,
            parent_call_id=self._call.id,
            waits_for_approval=True,
            agent_id=self._live.agent_id,
            reader=self._reader,
            session_owner=self._live.owner,
            names_note=self._names_notes.pop(row.tool_id, ""),
        )
        try:
            outcome = await self._core.run_call(request, announcement.handle_call_event)
        finally:
            announcement.close()
        announcement.announce_call(waits=False)
        envelope = outcome.encode_envelope().decode()
        self._stream.publish_tool_result(row.tool_name, row.tool_id, json.loads(envelope), is_told=announcement.is_sent)
        reading = ArtifactReading(self._core.registry.tools_at(self._current_host), self._reader)
        told = outcome_output(outcome, source=row.tool_name, reading=reading)
        return told, await self._kept.shrink_envelope(envelope, row, outcome.artifact_account)

    def _run_own_tool(self, row: ChatCallRow, toolbox: Toolbox) -> tuple[ToolOutput, str]:
        limit_chars = self._reader.result_chars or MODEL_CHARS
        said, data = toolbox.run_own_tool(row.tool_name, json.loads(row.arguments), limit_chars)
        self._found = toolbox.found
        envelope = {"ok": True, "content": [{"type": "text", "text": said}], "data": data}
        self._stream.publish_tool_result(row.tool_name, row.tool_id, envelope, is_told=False)
        return {"ok": True, "blocks": envelope["content"]}, json.dumps(envelope, ensure_ascii=False)

    def _describe_call(self, row: ChatCallRow, envelope: str) -> dict[str, Any]:
        view = transcript.call_view(row._replace(state="done", envelope=envelope))
        return view.to_json() | {"parentToolId": self._parent_tool_id}

    async def _store_step(self, said: str, calls: list[dict[str, Any]], *, is_stopped: bool = False) -> None:
        """Store a step for the user; the session's own model gets only the report."""
        thread = {"parentToolId": self._parent_tool_id, "depth": self._depth}
        more = ({"calls": calls} if calls else {}) | ({"stopped": True} if is_stopped else {})
        kept = transcript.create_notice(said, role="assistant", thread=thread, **more)
        await self._core.store.chats.append_messages(self._call.session_id, [kept])

    async def _count_usage(self, response: ModelResponse) -> None:
        used = used_tokens(response)
        self._tokens += used.input_tokens + used.output_tokens
        self._live.agent_tokens += used.input_tokens + used.output_tokens
        await self._core.store.chats.append_messages(self._call.session_id, usage=used)
