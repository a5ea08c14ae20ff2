"""One turn: requests to the model and its tool calls, until the model calls no more tools or calls wait."""

import asyncio
import json
import secrets
import time
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import Any

import structlog
from pydantic_ai.messages import (
    ModelRequest,
    ModelResponse,
    ModelResponsePart,
    TextContent,
    TextPart,
    ToolCallPart,
    UserContent,
)

from agentcore.chat.chat_limits import CALLS_IN_A_TURN, FEW_STEPS, PARALLEL_CALLS, READS_AT_ONCE, TITLE_CHARS
from agentcore.chat.client_context import ClientContext, build_page_view
from agentcore.chat.client_messages import PageInfo
from agentcore.chat.client_tools import ClientArguments
from agentcore.chat.model.model_json import read_arguments
from agentcore.chat.model.model_requests import BrokenAnswerError, Engine
from agentcore.chat.model.offered_tools import OfferedTool, list_offered_tools, valid_name
from agentcore.chat.model.tool_support import contains_call_markup, tools_dropped_error
from agentcore.chat.session.event_stream import Stream
from agentcore.chat.session.message_queue import publish_queue
from agentcore.chat.session.progress import turn_view
from agentcore.chat.session.session_view import ContextView
from agentcore.chat.session.transcript import CUT_OFF, REPEATED
from agentcore.chat.settings import AgentConfig, ModelChoice
from agentcore.chat.skills.offered import read_skill_text
from agentcore.chat.system.parts import SystemPlan, resolve_modules_and_host
from agentcore.chat.texts import localized_text, result_text
from agentcore.chat.turn import history
from agentcore.chat.turn.attachments.attachment_content import AttachedFiles, attachment_of
from agentcore.chat.turn.client_call import ClientCalls
from agentcore.chat.turn.compaction.compaction_storage import SessionKeeper
from agentcore.chat.turn.compaction.compactor import Compactor
from agentcore.chat.turn.compaction.model_history import ModelHistory, load_history
from agentcore.chat.turn.context_shares import DefinitionBudget, fit_reader, folder_chars
from agentcore.chat.turn.file_readers import FileReaders
from agentcore.chat.turn.model_reply import ModelReply, Prompt, find_written_form, used_tokens
from agentcore.chat.turn.prompts import page_source
from agentcore.chat.turn.server_call import ServerCalls, may_act, only_reads
from agentcore.chat.turn.tool_output import ToolOutput, error_output
from agentcore.chat.turn.toolbox import OWN_TOOLS, Toolbox, callable_tools
from agentcore.core.calls.result_shortening import ArtifactReading
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass
from agentcore.limits import MODEL_CHARS
from agentcore.store.chat.chat_rows import BroughtRow, ChatCallRow, ChatSessionRow, MessageKind, NewMessage, UsedTokens
from agentcore.store.chat.message_queue import UserMessage

log = structlog.get_logger(__name__)

_MINUTE_MS = 60_000
_NOT_STARTED = frozenset(("new", "waiting", "approved"))


@dataclass(frozen=True, slots=True)
class TurnPlan:
    """Inputs of one run of a turn, from its start or resumption until it ends or waits.

    Args:
        session: The session as stored.
        agent: The agent whose instructions and tools apply.
        choice: The model.
        system: Inputs of the system message.
        starts_to_store: What the session begins with, as JSON text, to be stored with its first message; None: it is
            stored already, or not known yet.
    """

    session: ChatSessionRow
    agent: AgentConfig
    choice: ModelChoice
    system: SystemPlan
    starts_to_store: str | None = None


class Turn:
    """Advances one session. The caller ensures that each session has at most one at a time."""

    def __init__(self, core: Core, engine: Engine, plan: TurnPlan, stream: Stream, readers: FileReaders) -> None:
        self._core = core
        self._engine = engine
        self._chats = core.store.chats
        self._plan = plan
        self._stream = stream
        self._session_id = plan.session.session_id
        self._client = ClientContext.from_session(plan.session)
        self._server = ServerCalls(core, stream)
        self._clients = ClientCalls(core, stream, plan.session, self._server)
        self._offered: dict[str, OfferedTool] = {}
        self._history = ModelHistory()
        self._keeper = SessionKeeper(core, self._session_id, stream, self._count_usage, stream.live.reader)
        self._scales = stream.live.model_scales
        self._compactor = Compactor(engine, stream, self._keeper, self._scales)
        self._steps = plan.session.steps
        self._tokens = plan.session.tokens
        self._worked_ms = plan.session.worked_ms
        self._used = UsedTokens()
        self._context: ContextView | None = None
        self._found: list[str] | None = None
        self._window: int | None = None
        self._client_arguments = ClientArguments()
        self._readers = readers
        self._title = plan.session.title
        self._is_loaded = self._has_repaired = False

    async def start_with_message(self, message: UserMessage) -> None:
        """Start with a user message; calls that still wait are rejected as superseded.

        Args:
            message: The message; its text may be empty if it has attachments, which are already pinned.
        """
        await self._load_history()
        joins = await self._supersede_calls()
        calls = await self._process_open_calls()
        self._steps = self._tokens = self._worked_ms = 0
        await self._append_user_message(calls, message, joins=joins)

    async def run_until_waiting(self) -> list[str]:
        """Run until the model calls no more tools or calls wait; return the ids of the waiting calls.

        Raises:
            BrokenAnswerError: The model failed; the part of its answer that was received is stored.
            ToolError: `budget_exceeded`, `stopped`, `tools_not_supported`.
        """
        await self._load_history()
        await self._chats.update_session(self._session_id, is_running=1)
        await self._fit_to_window()
        while True:
            with self._counted_time():
                calls = await self._process_open_calls()
            await self._load_history()
            if steering := await self._find_steering_messages():
                await self._supersede_calls()
                calls = await self._chats.load_open_calls(self._session_id)
                for message in steering:
                    await self._append_user_message(calls, message, joins=True)
                    calls = []
            held = self._find_held(calls)
            if any(call.state == "new" and call.tool_id not in held for call in calls):
                continue  # held back for a steering message that was removed meanwhile
            waiting = [call.tool_id for call in calls if call.state == "waiting"]
            if waiting:
                return waiting
            if calls:
                await self._append_results(calls)
            if not self._history.needs_answer:
                return []
            self._check_stopped()
            if (reached := self._find_reached_limit()) is not None:
                await self._sum_up(reached)
                raise reached
            reply = await self._request_reply(note=self._note_about_limit())
            await self._store_reply(reply)
            await self._check_tools_arrive(reply.response)

    # -- calls -------------------------------------------------------------------------------------------------

    async def _process_open_calls(self) -> list[ChatCallRow]:
        """Advance the open calls as far as possible, in order; return them with their new states.

        Neighbouring calls that only read, and those of a parallel tool, run at once. Once a call that acts has failed,
        the later ones that act are skipped: they were written in the belief that it would succeed. While one that acts
        waits for the user, no later one runs; what the user has to decide is asked together all the same.
        """
        failed = ""
        waits = False
        calls = await self._chats.load_open_calls(self._session_id)
        for at_once, group in groupby(calls, self._count_at_once):
            together = list(group)
            if at_once > 1 and not waits and not (failed and any(map(self._may_act, together))):
                await self._advance_at_once(together, at_once)
            else:
                for call in together:
                    if failed and call.state in _NOT_STARTED and self._may_act(call):
                        await self._server.skip_call(call, failed)
                    elif waits and self._keeps_order(call):
                        await self._advance_behind(call)
                    else:
                        await self._advance_call(call)
                    if call is not together[-1]:
                        failed, waits = await self._look_at_actions([call], failed, waits=waits)
            failed, waits = await self._look_at_actions(together, failed, waits=waits)
        calls = await self._chats.load_open_calls(self._session_id)
        held = self._find_held(calls)
        # a call may have been decided while another one ran
        is_decided = any(
            call.state == "rejected" or (call.state == "approved" and call.tool_id not in held) for call in calls
        )
        return await self._process_open_calls() if is_decided else calls

    async def _advance_behind(self, call: ChatCallRow) -> None:
        """Advance a call behind one that acts and waits: the user may be asked about it, but it runs later."""
        may_be_asked = call.state == "new" and await self._server.needs_approval(call)
        if may_be_asked or call.state in {"running", "rejected"}:
            await self._advance_call(call)

    @staticmethod
    def _keeps_order(call: ChatCallRow) -> bool:
        """Return False for calls that no other one can affect."""
        return call.kind == "server" and call.tool_name not in OWN_TOOLS

    def _find_held(self, calls: Iterable[ChatCallRow]) -> frozenset[str]:
        """Return the ids of the calls that may not run yet, because one that acts waits for the user before them."""
        waits = False
        held: set[str] = set()
        for call in calls:
            if waits and self._keeps_order(call):
                held.add(call.tool_id)
            waits = waits or (call.state == "waiting" and self._may_act(call))
        return frozenset(held)

    async def _advance_call(self, call: ChatCallRow) -> None:
        match call.state:
            case "new":
                # a steering message takes precedence over calls that have not started
                if not await self._find_steering_messages():
                    await self._start_call(call)
            case "approved":
                await self._server.run_call(call)
            case "rejected":
                await self._server.reject_call(call)
            case "running":
                await self._server.resume_call(call)

    async def _advance_at_once(self, calls: Sequence[ChatCallRow], most: int) -> None:
        """Advance calls that may run at the same time, so many at once."""
        if await self._find_steering_messages():
            calls = [call for call in calls if call.state != "new"]
        slots = asyncio.Semaphore(most)

        async def advance(call: ChatCallRow) -> None:
            async with slots:
                await self._advance_call(call)

        async with asyncio.TaskGroup() as group:
            for call in calls:
                group.create_task(advance(call))

    def _count_at_once(self, call: ChatCallRow) -> int:
        """Return how many calls like this one run at the same time; 1: it runs alone."""
        if call.kind != "server" or call.state not in {"new", "approved"}:
            return 1
        tool = self._core.registry.tools_at(self._current_host).get(call.tool_name)
        if tool is None:
            return 1
        if tool.definition.parallel:
            return PARALLEL_CALLS
        return READS_AT_ONCE if call.state == "new" and only_reads(tool.definition) else 1

    def _may_act(self, call: ChatCallRow) -> bool:
        """Return False if a call only reads, or touches nothing but the session; an unknown tool may act."""
        if call.kind == "client" or call.tool_name in OWN_TOOLS:
            return False  # a client runs its calls one after another, and its results do not say what failed
        return may_act(self._core.registry.tools_at(self._current_host), call.tool_name)

    async def _look_at_actions(self, calls: Iterable[ChatCallRow], failed: str, *, waits: bool) -> tuple[str, bool]:
        """Return the tool of the first call that acts and has failed, and whether one that acts waits for the user."""
        for call in calls:
            if (failed and waits) or not self._may_act(call):
                continue
            now = await self._chats.find_call(self._session_id, call.tool_id)
            if now is not None and now.state == "done" and not json.loads(now.envelope or "{}").get("ok"):
                failed = failed or call.tool_name
            waits = waits or (now is not None and now.state == "waiting")
        return failed, waits

    async def _start_call(self, call: ChatCallRow) -> None:
        if call.kind == "client":
            await self._clients.submit_call(call, self._client.tools)
        elif call.tool_name in OWN_TOOLS:
            self._stream.send_to_client(self._announce_call(call))
            await self._run_own_tool(call)
        else:
            await self._server.submit_call(call)

    def _announce_call(self, call: ChatCallRow) -> Mapping[str, Any]:
        """Publish a call that needs no answer to pages; return the payload for `Stream.send_to_client`."""
        if call.kind == "client":
            return self._clients.announce_call(call, waits=False, needs_approval=False)
        return self._stream.publish_tool_call(call.tool_name, call.arguments, call.tool_id, call.kind, waits=False)

    async def _supersede_calls(self) -> bool:
        """End calls that wait or have not started, because of a new user message; False if there are none."""
        calls = await self._chats.load_open_calls(self._session_id)
        held = self._find_held(calls)
        superseded = [
            call
            for call in calls
            if call.state in {"waiting", "new"} or (call.state == "approved" and call.tool_id in held)
        ]
        for call in superseded:
            await self._server.supersede_call(call)
        return bool(superseded)

    async def _append_results(self, calls: list[ChatCallRow]) -> None:
        await self._append_messages(
            [history.build_request(_read_results(calls))], settles=[call.tool_id for call in calls]
        )

    # -- user messages -----------------------------------------------------------------------------------------

    async def _find_steering_messages(self) -> list[UserMessage]:
        """Return the queued messages that are meant for this turn."""
        live = self._stream.live
        if not live.may_be_steered:
            return []
        live.may_be_steered = False  # reset before loading: a message that arrives meanwhile sets it again
        queue = await self._chats.queue.load_queue(self._session_id)
        found = [message for message in queue.messages if message.when == "steer"]
        live.may_be_steered = live.may_be_steered or bool(found)
        return found

    async def _append_user_message(self, calls: list[ChatCallRow], message: UserMessage, *, joins: bool) -> None:
        """Append a user message to the history, after the results of the open calls, and publish it.

        Args:
            calls: Calls whose results precede the message.
            message: The message.
            joins: True if it joins a running turn.
        """
        self._client = self._client.with_message(message, joins=joins)
        page = self._client.page
        if page is not None and page != PageInfo():
            await self._core.policy.record_untrusted_source(self._session_id, page_source(page, self._stream.locale))
        reading = ArtifactReading(self._core.registry.tools_at(self._current_host), self._stream.live.reader)
        files = AttachedFiles(self._core, self._session_id, self._readers, reading)
        contents = await files.read_contents(message.attachments)
        contents += self._read_named_skill(message.text)
        views = [view for content in contents if (view := attachment_of(content)) is not None]
        # if the message joins a running turn, its model and agent apply to later turns only
        chosen = {"model": message.model, "agent_id": message.agent_id}
        brought = self._client.to_row()
        values = {name: value for name, value in chosen.items() if value}
        if self._plan.starts_to_store is not None:
            values["chat_starts"] = self._plan.starts_to_store
        if not self._title:
            words = message.text.split() or [view.name for view in views]
            self._title = values["title"] = " ".join(words)[:TITLE_CHARS]
        number = await self._append_messages(
            [history.build_request(_read_results(calls), message.text, contents)],
            settles=[call.tool_id for call in calls],
            unqueues=[message.message_id] if message.message_id else [],
            values={**values, "page": brought.page, "client_tools": brought.client_tools},
            attachments=files.kept,
            brought=brought,
        )
        if message.message_id:
            await publish_queue(self._chats, self._stream)
        said: dict[str, Any] = {"number": number, "role": "user", "text": message.text}
        if views:
            said["attachments"] = [view.to_json() for view in views]
        if page is not None and (shown := build_page_view(page)) is not None:
            said["page"] = shown.to_json()
        self._stream.publish_message(said)
        if "title" in values:
            self._stream.publish_to_pages("session.changed", {"title": self._title})

    def _read_named_skill(self, text: str) -> list[UserContent]:
        """Return the skill that a message names with a slash at its beginning, as the model gets it."""
        words = text.split(maxsplit=1)
        name = words[0].removeprefix("/") if words and words[0].startswith("/") else ""
        skills = self._plan.system.choose_skills(self._plan.agent)
        if not any(skill.name == name for skill in skills):
            return []
        reading = read_skill_text(skills, {"name": name}, self._stream.live.reader.result_chars or MODEL_CHARS)
        return [TextContent(f"{result_text('skill_used')}\n{reading.text}")]

    # -- the model ---------------------------------------------------------------------------------------------

    async def _request_reply(self, *, note: str = "", may_call: bool = True) -> ModelReply:
        """Request the model's next answer, and count its tokens and its time."""
        with self._counted_time():
            return await self._request_uncounted(note, may_call=may_call)

    async def _request_uncounted(self, note: str, *, may_call: bool) -> ModelReply:
        self._steps += may_call  # the summary at the limit is not counted, or the page would show 51 of 50
        self._publish_progress()
        try:
            prompt, answer = await self._ask_model(note, may_call=may_call)
        except BrokenAnswerError as exc:
            if exc.partial is not None:
                await self._count_usage(exc.partial)  # the provider counts it as well
            await self._store_partial_answer(exc)
            if self._scales.has_news:  # what was learned from a refusal applies to later turns too
                await self._chats.update_session(self._session_id, model_scales=self._scales.to_json_text())
            raise
        await self._count_usage(answer.response)
        # how the model counts tokens may have been learned from this answer
        await self._fit_results(prompt)
        self._context = await self._compactor.context_after(prompt, self._history, answer.response)
        return answer

    async def _check_tools_arrive(self, response: ModelResponse) -> None:
        """Check whether the server gave the model its tools, where the answer has no call.

        Raises:
            ToolError: `tools_not_supported`. That the server says so is an error once in a session.
        """
        choice = self._plan.choice
        if choice.tools == "prompted" or not self._offered or response.tool_calls:
            return
        wrote_call = contains_call_markup(response.text or "", self._offered)
        if not wrote_call and not await self._engine.drops_tools(choice):
            return
        was_known = self._scales.record_dropped_tools(choice.full_name)
        await self._chats.update_session(self._session_id, model_scales=self._scales.to_json_text())
        if wrote_call or not was_known:
            raise tools_dropped_error(choice, wrote_call=wrote_call)

    @property
    def _current_host(self) -> str:
        """The host for the session's calls; empty: none is chosen."""
        return self._stream.live.current_host(self._core.registry)

    async def _ask_model(self, note: str, *, may_call: bool) -> tuple[Prompt, ModelReply]:
        """Request an answer; if the context turns out to be smaller than known, once more with fewer tools."""
        prompt = self._build_prompt(note, may_call=may_call)
        try:
            return prompt, await self._compactor.ask(prompt, self._history, can_repair=not self._has_repaired)
        except BrokenAnswerError as exc:
            if exc.type != "context_too_long":
                raise
            await self._fit_to_window()
            if list(self._offered.values()) == prompt.tools:
                raise
        prompt = self._build_prompt(note, may_call=may_call)
        return prompt, await self._compactor.ask(prompt, self._history, can_repair=not self._has_repaired)

    def _build_prompt(self, note: str = "", *, may_call: bool = True) -> Prompt:
        plan = self._plan
        toolbox = self._build_toolbox()
        self._offered = toolbox.get_offered_tools()
        system = plan.system.build_parts(
            plan.agent,
            *resolve_modules_and_host(self._core.registry, self._current_host, toolbox.modules),
            mode=self._core.policy.find_session_mode(self._session_id),
            folder_chars=folder_chars(self._window),
        )
        return Prompt(
            plan.choice,
            system,
            list(self._offered.values()),
            self._client.page,
            is_for_client=self._is_for_client,
            note=note,
            may_call=may_call,
        )

    async def _fit_to_window(self) -> None:
        """Fit definitions and results to the size of the model's context, as far as it is known."""
        self._window = await self._compactor.find_window(self._plan.choice)
        await self._fit_results(self._build_prompt())

    async def _fit_results(self, prompt: Prompt) -> None:
        """Fit results to what a request leaves of the model's context."""
        result_tokens = await self._compactor.estimate_result_tokens(prompt)
        live = self._stream.live
        agent = self._plan.agent
        may_call = callable_tools(agent.offers_tool, self._offered)
        live.reader = replace(fit_reader(live.reader, agent, result_tokens), may_call=may_call)

    @property
    def _is_for_client(self) -> bool:
        """True if a client of the chat endpoint drives the turn, or did before a call waited."""
        return self._stream.sink is not None or bool(self._client.tools) or bool(self._plan.session.user_id)

    def _build_toolbox(self) -> Toolbox:
        """Create a toolbox from the current tools and those that the model has found."""
        tools = list_offered_tools(self._core.registry, self._client.tools, self._plan.agent, self._current_host)
        if self._found is None:
            self._found = json.loads(self._plan.session.found_tools or "[]")
        written_form = find_written_form(self._plan.choice, is_for_client=self._is_for_client)
        budget = DefinitionBudget.from_window(self._window, written_form)
        return Toolbox(tools, self._found, self._plan.system.choose_skills(self._plan.agent), budget)

    async def _run_own_tool(self, call: ChatCallRow) -> None:
        """Run one of the chat's own tools, and store the tools that it found with the session."""
        toolbox = self._build_toolbox()
        limit_chars = self._stream.live.reader.result_chars or MODEL_CHARS
        try:
            result = toolbox.run_own_tool(call.tool_name, json.loads(call.arguments), limit_chars)
        except ToolError as exc:
            await self._server.fail_call(call, exc, is_told=True)
            return
        await self._store_found(toolbox)
        await self._server.complete_call(call, result.text, result.data)

    async def _store_found(self, toolbox: Toolbox) -> None:
        if toolbox.found != self._found:
            self._found = toolbox.found
            await self._chats.update_session(self._session_id, found_tools=_dump_json(self._found))

    async def _store_reply(self, answer: ModelReply) -> None:
        """Store an answer together with its calls."""
        response = answer.response
        if answer.fault is not None and not self._has_repaired:
            self._has_repaired = True
            repair = localized_text(self._stream.locale, "repair", reason=answer.fault)
            await self._append_messages([response], kind="told")
            await self._append_messages([history.build_request([], repair)], kind="told")
            return
        parts: list[ModelResponsePart] = []
        calls: list[ChatCallRow] = []
        for part in response.parts:
            if isinstance(part, ToolCallPart):
                row, part = await self._prepare_call(part, len(calls))  # noqa: PLW2901 - the part as it is kept
                calls.append(row)
            parts.append(part)
        await self._append_messages([replace(response, parts=parts)], calls=calls)
        for call in calls:
            if call.state == "done":
                self._announce_call(call)
                envelope = json.loads(call.envelope or "{}")
                self._stream.publish_tool_result(call.tool_name, call.tool_id, envelope, is_told=False)

    async def _prepare_call(self, part: ToolCallPart, number: int) -> tuple[ChatCallRow, ToolCallPart]:
        """Prepare a call under a new id: some providers use the same ids in every answer."""
        tool_id = f"tc_{secrets.token_hex(8)}"
        offered, unknown = self._offered.get(part.tool_name), None
        if offered is None:
            toolbox = self._build_toolbox()
            offered = toolbox.take_hidden(part.tool_name)
            unknown = toolbox.create_unknown_tool_error(part.tool_name)
            await self._store_found(toolbox)
        name = valid_name(part.tool_name)
        arguments, error, note = read_arguments(part.args, None if offered is None else offered.schema)
        if note:
            self._stream.live.names_notes[tool_id] = note
        if number >= CALLS_IN_A_TURN:
            error = ToolError("too_many_calls", f"{CALLS_IN_A_TURN} calls in one answer are the bound; call again")
        elif offered is None:
            error = self._core.registry.why_away(part.tool_name, self._current_host)
            error = error or unknown
        elif error is None and offered.kind == "client":
            # the client runs whatever it receives, so check the arguments against its schema first
            error = self._client_arguments.check_arguments(name, offered.schema.schema, json.loads(arguments))
        row = ChatCallRow(self._session_id, tool_id, name, arguments, "server" if offered is None else offered.kind)
        if error is not None:
            envelope = _dump_json({"ok": False, "error": error.to_json()})
            row = row._replace(state="done", result=_dump_json(error_output(error)), envelope=envelope)
        return row, replace(part, tool_name=name, tool_call_id=tool_id, args=arguments)

    async def _store_partial_answer(self, broken: BrokenAnswerError) -> None:
        """Store the text of a broken answer, which the user has already seen, and what the model must know of it."""
        partial = broken.partial
        if partial is not None:
            texts: list[ModelResponsePart] = [
                part for part in partial.parts if isinstance(part, TextPart) and part.content
            ]
            if broken.type == "answer_cut":
                names = [part.tool_name for part in partial.parts if isinstance(part, ToolCallPart)]
                # without text, an empty part carries the note: the calls are not stored, because they cannot run
                cut = replace(partial, parts=texts or [TextPart("")], metadata={CUT_OFF: names})
                await self._append_messages([cut], kind="said" if texts else "told")
            elif texts:
                metadata = {REPEATED: True} if broken.type == "answer_repeats" else partial.metadata
                await self._append_messages([replace(partial, parts=texts, metadata=metadata)])
        self._stream.live.clear_answer()

    # -- limits and messages -----------------------------------------------------------------------------------

    def _check_stopped(self) -> None:
        """Raise `stopped` after an emergency stop."""
        if (stopped := self._core.calls.stopped) is not None:
            raise ToolError("stopped", stopped)

    def _find_reached_limit(self) -> ToolError | None:
        """Return the error for the limit that the turn has reached; None: it may continue."""
        agent = self._plan.agent
        live = self._stream.live
        self._tokens += live.agent_tokens
        live.agent_tokens = 0
        used = f"it has made {self._steps:,} requests and used {self._tokens:,} tokens"
        if self._steps >= agent.max_steps:
            message = f"the turn has reached its limit of {agent.max_steps:,} requests: {used}"
            return ToolError("budget_exceeded", message, max_steps=agent.max_steps)
        if self._tokens >= agent.max_tokens:
            message = f"the turn has reached its limit of {agent.max_tokens:,} tokens: {used}"
            return ToolError("budget_exceeded", message, max_tokens=agent.max_tokens)
        if agent.max_minutes is not None and self._worked_ms >= agent.max_minutes * _MINUTE_MS:
            message = f"the turn has reached its limit of {agent.max_minutes:,} minutes: {used}"
            return ToolError("budget_exceeded", message, max_minutes=agent.max_minutes)
        return None

    def _note_about_limit(self) -> str:
        """Return what the model must know before the last requests of a long turn; empty: nothing."""
        most = self._plan.agent.max_steps
        left = most - self._steps
        return result_text("few_requests_left", count=left) if left <= FEW_STEPS and most >= 2 * FEW_STEPS else ""

    async def _sum_up(self, reached: ToolError) -> None:
        """Let the model say what was done when a limit is reached, in one more request, without tools."""
        if self._plan.agent.max_steps == 1:
            return  # a limit of one request leaves none for a summary
        note = result_text("sum_up_turn", limit=", ".join(f"{name} {most:,}" for name, most in reached.context.items()))
        try:
            answer = await self._request_reply(note=note, may_call=False)
        except BrokenAnswerError as exc:
            log.info("turn_not_summed_up", session_id=self._session_id, error=exc.type)
            return
        if (answer.response.text or "").strip():
            await self._append_messages([answer.response])

    @contextmanager
    def _counted_time(self) -> Iterator[None]:
        """Add the time of a block to the turn's, without the time in which questions waited for the user."""
        live = self._stream.live
        began = time.monotonic() - live.questions.waited_s
        try:
            yield
        finally:
            self._worked_ms += max(round((time.monotonic() - live.questions.waited_s - began) * 1000), 0)

    def _publish_progress(self) -> None:
        view = turn_view(self._plan.agent, self._steps, self._tokens, self._worked_ms)
        self._stream.publish_to_pages("session.progress", {"turn": view.to_json()})

    async def _count_usage(self, response: ModelResponse) -> None:
        """Add the tokens of an answer to the counts, which are stored with the next message."""
        used = used_tokens(response)
        self._stream.usage = self._stream.usage.plus(used)
        self._used = self._used.plus(used)
        self._tokens += used.input_tokens + used.output_tokens

    async def _load_history(self) -> None:
        live = self._stream.live
        if not self._is_loaded or live.must_reload:
            live.must_reload = False
            self._keeper.known_before, self._history = await load_history(self._chats, self._session_id)
            self._is_loaded = True

    async def _append_messages(
        self,
        messages: list[ModelRequest | ModelResponse],
        *,
        kind: MessageKind = "said",
        calls: list[ChatCallRow] | None = None,
        settles: list[str] | None = None,
        unqueues: list[str] | None = None,
        values: dict[str, str | None] | None = None,
        attachments: Sequence[str] = (),
        brought: BroughtRow | None = None,
    ) -> int:
        """Store messages; return the number of the last one."""
        work = self._store_messages(
            [
                NewMessage(history.dump_message(each), kind, history.searchable_text(each), tuple(attachments), brought)
                for each in messages
            ],
            messages,
            calls=calls or (),
            settles=settles or (),
            unqueues=unqueues or (),
            values=values or {},
        )
        # runs to the end even if the turn is stopped: an answer is stored once, either complete or as stopped
        return await _run_to_end(work)

    async def _store_messages(
        self,
        stored: Sequence[NewMessage],
        messages: list[ModelRequest | ModelResponse],
        *,
        calls: Sequence[ChatCallRow],
        settles: Iterable[str],
        unqueues: Iterable[str],
        values: Mapping[str, str | None],
    ) -> int:
        learned = {"model_scales": self._scales.to_json_text()} if self._scales.has_news else {}
        if self._context is not None:
            learned["context"] = self._context.model_dump_json()
            self._context = None
        live = self._stream.live
        async with live.storing:
            numbers = await self._chats.append_messages(
                self._session_id,
                stored,
                calls=calls,
                settles=settles,
                unqueues=unqueues,
                usage=self._used,
                steps=self._steps,
                tokens=self._tokens,
                worked_ms=self._worked_ms,
                is_running=1,
                **learned,
                **values,
            )
            self._used = UsedTokens()
            if isinstance(messages[-1], ModelResponse):
                live.clear_answer()
        self._history.add_messages(messages, numbers)
        return numbers[-1]


def _read_results(calls: list[ChatCallRow]) -> list[tuple[str, str, ToolOutput]]:
    return [(call.tool_name, call.tool_id, json.loads(call.result or "{}")) for call in calls]


async def _run_to_end(work: Coroutine[Any, Any, int]) -> int:
    """Run work to its end, even if the caller is cancelled meanwhile."""
    task = asyncio.ensure_future(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise


def _dump_json(value: dict[str, Any] | list[str]) -> str:
    return json.dumps(value, ensure_ascii=False)
