"""`AgentTools`: the module with the tools for agents."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from agentcore.api import (
    HIDDEN_FROM_MODELS,
    BaseModel,
    CallPreview,
    DocumentReader,
    Field,
    HostInfo,
    Module,
    Runtime,
    ToolContext,
    ToolDefinition,
    ToolError,
    ToolResult,
    known_to_models,
    tool,
)
from agentcore_agent_tools import artifact as artifacts
from agentcore_agent_tools.memory import CONTENT_CHARS, Change, Memory, MemoryStore
from agentcore_agent_tools.memory_list import ToldMemories, describe_memories
from agentcore_agent_tools.results import (
    AgentReport,
    ArtifactResult,
    CompactedHistory,
    HostList,
    MemoryResult,
    RunningList,
    TodoItem,
    TodoList,
    UserAnswer,
)
from agentcore_agent_tools.running import list_running
from agentcore_agent_tools.settings import AgentSettings
from agentcore_agent_tools.translations import ZH

_WORK_S = 600.0
"""Time limit of questions, sub-agents and `compact`: the core's default maximum for a call."""

_ASK_MS_MAX = 3_600_000
_PREVIEW_CHARS = 300
_PERSONS = frozenset(("page", "token", "cli"))
"""Principals whose calls are the person's own."""

_HOST_STATES = {
    "running": "connected",
    "away": "not connected",
    "draining": "takes nothing new",
    "drained": "takes nothing new",
    "disconnected": "kept out by the person",
}
_MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}


Key = Annotated[
    str | None,
    Field(
        min_length=1,
        max_length=200,
        description="The memory's name; needed to delete, made up when left out on saving.",
        json_schema_extra=known_to_models("To delete."),
    ),
]


class Todo(BaseModel, defer_build=True, extra="forbid", json_schema_extra=known_to_models()):
    """One thing to do."""

    id: Annotated[str | None, Field(min_length=1, max_length=2000, json_schema_extra=HIDDEN_FROM_MODELS)] = None
    content: Annotated[
        str,
        Field(min_length=1, max_length=2000, description="What is to be done.", json_schema_extra=known_to_models()),
    ]
    status: Literal["pending", "in_progress", "completed"] = "pending"


class AgentTools(Module[AgentSettings]):
    """For agents at work: things to do, a memory, questions to the person, sub-agents, shorter histories."""

    title = "Agent"
    translations: ClassVar = {"zh": ZH}
    instructions: ClassVar = {
        "en": (
            "Keep a list with `todo_write` for work of three steps or more. Ask with `ask_user` what you cannot find "
            "out and what changes the work, not for leave to go on. Give reading that would fill your context to "
            "`task`. Search `memory` when the person speaks of earlier things; save what will still hold. What was "
            "cut from a result is kept whole, for `artifact`."
        ),
        "zh": (
            "工作有三个以上步骤时，用 `todo_write` 维护清单。"
            "用 `ask_user` 询问无法查到且影响工作的事情，而不是征求继续的许可。"
            "需要大量阅读的工作交给 `task`。"
            "用户提到以前的事情时搜索 `memory`；保存以后仍然有效的内容。"
            "被截断的结果会完整保存，用 `artifact` 查看。"
        ),
    }

    def __init__(self) -> None:
        super().__init__()
        self._memories: MemoryStore | None = None
        self._documents: DocumentReader | None = None

    def init(self, runtime: Runtime) -> None:
        """Open the memory store, and update the tools when hosts change."""
        self._documents = DocumentReader()
        self._memories = MemoryStore(runtime.data_dir / "memories.sqlite3")
        self._tell_new_chats(describe_memories(self._memories, runtime.locale))
        runtime.subscribe("hosts.changed", lambda event: runtime.tools_changed())

    async def shutdown(self) -> None:
        """Close the memory store and stop reading documents."""
        if self._documents is not None:
            await self._documents.close()
        if self._memories is not None:
            self._memories.close()
            self._memories = None

    def get_tool_definitions(self) -> Sequence[ToolDefinition | dict[str, Any]]:
        """Return the tools; `list_hosts` only if there are hosts."""
        tools = super().get_tool_definitions()
        if self._memories is not None and self.runtime.hosts():
            return tools
        return [each for each in tools if isinstance(each, ToolDefinition) and each.name != "list_hosts"]

    # -- to-do list --------------------------------------------------------------------------------------------

    @tool(
        rank=1,
        read_only=True,
        effects=("session",),
        idempotent=True,
        open_world=False,
        display={"todos": "todos"},
        needs_chat=True,
    )
    async def todo_write(
        self, ctx: ToolContext, todos: Annotated[list[Todo], Field(max_length=2000)]
    ) -> ToolResult[TodoList]:
        """Write down the plan of things to do, which the person sees live; mark each as soon as it is done.

        Args:
            todos: The whole list; it replaces the one before.
        Raises:
            ToolError: `no_session`, `invalid_arguments` (an id stands twice).
        """
        twice = [todo_id for todo_id, count in Counter(todo.id for todo in todos).items() if count > 1 and todo_id]
        if twice:
            raise ToolError(
                "invalid_arguments", f"each id may stand once; twice: {', '.join(map(repr, twice))}", ids=twice
            )
        kept: list[TodoItem] = [
            {"id": todo.id or str(number), "content": todo.content, "status": todo.status}
            for number, todo in enumerate(todos, 1)
        ]
        await ctx.session.set_todos(kept)
        done = sum(todo.status == "completed" for todo in todos)
        lines = [f"{done} of {len(todos)} done"] + [f"{_MARKS[todo.status]} {todo.content}" for todo in todos]
        return ToolResult("\n".join(lines), {"todos": kept, "completed": done, "total": len(kept)})

    # -- memory ------------------------------------------------------------------------------------------------

    def _preview_memory(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        changes = arguments["action"] in ("save", "delete")
        return CallPreview(effects=frozenset(("write",)) if changes else frozenset(("read",)))

    @tool(rank=2, effects=("read", "write"), destructive=True, open_world=False, keep="head", preview=_preview_memory)
    async def memory(
        self,
        ctx: ToolContext,
        action: Literal["save", "search", "list", "delete"],
        key: Key = None,
        *,
        content: Annotated[
            str | None,
            Field(
                min_length=1, max_length=CONTENT_CHARS, description="What to save.", json_schema_extra=known_to_models()
            ),
        ] = None,
        preference: Annotated[
            bool | None,
            Field(
                description="Of `save`: a wish of the person for every chat, whose text each chat begins with. Left "
                "out: as it is.",
                json_schema_extra=known_to_models("Sent in every chat."),
            ),
        ] = None,
        query: Annotated[
            str | None,
            Field(min_length=1, max_length=2000, description="Words to look for.", json_schema_extra=known_to_models()),
        ] = None,
        limit: Annotated[
            int, Field(ge=1, le=200, description="How many to give at most.", json_schema_extra=known_to_models())
        ] = 20,
    ) -> ToolResult[MemoryResult]:
        """Remember over sessions: save, search, list the newest, delete. Never secrets.

        Raises:
            ToolError: `invalid_arguments`, `memory_not_found`, `memory_full`.
        """
        store = self._require_store()
        if action in ("list", "search"):
            words = None if action == "list" else _require_argument(query, "query", action)
            found = await asyncio.to_thread(
                lambda: store.list_newest(limit) if words is None else store.search(words, limit)
            )
            return _format_memories(found, await asyncio.to_thread(store.count))
        if action == "delete":
            name = _require_argument(key, "key", action)
            await asyncio.to_thread(store.delete, name)
            result: ToolResult[MemoryResult] = ToolResult(f"Deleted {name!r}.", {"deleted": name})
        else:
            if content is None and (key is None or preference is None):
                _require_argument(content, "content", action)
            change = Change(content, preference, await _find_sources(ctx), ctx.principal.kind in _PERSONS)
            saved = await asyncio.to_thread(store.save, key, change)
            result = ToolResult(_describe_saved(saved), {"memory": saved.to_json()})
        self._tell_new_chats(await asyncio.to_thread(describe_memories, store, self.runtime.locale))
        return result

    # -- artifacts ---------------------------------------------------------------------------------------------

    async def _preview_artifact(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        return await artifacts.preview_call(ctx, arguments)

    @tool(
        rank=1,
        effects=("read", "write"),
        destructive=False,
        open_world=False,
        keep="head",
        preview=_preview_artifact,
        artifact_call='{"id": "{id}", "action": "read", "offset": {line}}',
    )
    async def artifact(
        self,
        ctx: ToolContext,
        id: Annotated[str, Field(min_length=1, max_length=2000)],  # noqa: A002 - spelled as on the wire
        action: Literal["read", "search", "save", "info"],
        *,
        offset: Annotated[int | None, Field(ge=0, le=1_000_000_000_000)] = None,
        limit: Annotated[int | None, Field(ge=1, le=1_000_000, json_schema_extra=known_to_models())] = None,
        query: Annotated[str | None, Field(min_length=1, max_length=2000)] = None,
        path: Annotated[str | None, Field(min_length=1, max_length=4096)] = None,
        overwrite: Annotated[bool, Field(json_schema_extra=known_to_models())] = False,
    ) -> ToolResult[ArtifactResult]:
        """Use an artifact of this session: what was too long for a result, a download, a screenshot.

        Args:
            id: `art_…`, as a result named it.
            action: `read` a part of a text or document, or see a picture; `search` its lines; `save` it all into the
                workspace.
            offset: First line, from 1; where there are none, byte, from 0.
            limit: How many lines (or bytes, or matches) at most; left out, as many as fit.
            query: For `search`, literally.
            path: For `save`.
            overwrite: For `save`: replace what is there.
        Raises:
            ToolError: `artifact_not_found`, `artifact_not_text`, `invalid_arguments`, `file_exists`, or what went wrong
                when it was written.
        """
        assert self._documents is not None  # noqa: S101 - `init` made it
        match action:
            case "read":
                return await artifacts.read_artifact(ctx, id, offset, limit, self._documents)
            case "search":
                return await artifacts.search_artifact(ctx, id, query, offset, limit, documents=self._documents)
            case "save":
                return await artifacts.save_artifact(ctx, id, path, overwrite=overwrite)
            case "info":
                return await artifacts.describe_artifact(ctx, id, self._documents)

    # -- hosts -------------------------------------------------------------------------------------------------

    @tool(rank=2, read_only=True, effects=("session",), idempotent=True, open_world=False, keep="head")
    def list_hosts(self) -> ToolResult[HostList]:
        """List the machines that tools can act on beside the server: name, state, system, workspace folders, modules.

        Which one a tool acts on, the person chooses for the chat.
        """
        hosts = self.runtime.hosts()
        data: HostList = {
            "hosts": [
                {
                    "name": each.name,
                    "state": each.state,
                    "platform": each.platform,
                    "folders": list(each.workspace),
                    "modules": list(each.modules),
                }
                for each in hosts
            ]
        }
        return ToolResult("\n".join(map(_host_line, hosts)) or "There are no hosts beside the server.", data)

    # -- what runs ---------------------------------------------------------------------------------------------

    @tool(
        read_only=True,
        effects=("session",),
        idempotent=True,
        open_world=False,
        keep="head",
        needs_chat=True,
    )
    async def list_running(self, ctx: ToolContext) -> ToolResult[RunningList]:
        """List what belongs to this session: processes, pages, services, running sub-agents, newest artifacts.

        Use it when you are not sure what is open, for instance after the history was shortened.

        Raises:
            ToolError: `no_session`.
        """
        return await list_running(ctx)

    # -- user input --------------------------------------------------------------------------------------------

    @tool(
        rank=1,
        read_only=True,
        effects=("session",),
        idempotent=True,  # after a restart it is asked again
        open_world=False,
        timeout_s=_WORK_S,
        display={"question": "subject"},
    )
    async def ask_user(
        self,
        ctx: ToolContext,
        question: Annotated[str, Field(min_length=1, max_length=5000, json_schema_extra=known_to_models())],
        options: Annotated[list[Annotated[str, Field(min_length=1, max_length=2000)]], Field(max_length=2000)]
        | None = None,
        timeoutMs: Annotated[  # noqa: N803 - spelled as on the wire
            int | None, Field(ge=1000, le=_ASK_MS_MAX, json_schema_extra=HIDDEN_FROM_MODELS)
        ] = None,
    ) -> ToolResult[UserAnswer]:
        """Ask the person a question, one at a time, that only they can answer, and wait for it.

        Args:
            question: The question, complete in itself.
            options: The person may write another answer.
            timeoutMs: How long to wait, in milliseconds; left out: as long as the session.
        Raises:
            ToolError: `no_person`: nobody can be asked here, or nobody answered in time.
        """
        answer = await ctx.ask(question, options, timeout_s=None if timeoutMs is None else timeoutMs / 1000)
        return ToolResult(answer, {"answer": answer, "isOption": answer in (options or ())})

    # -- sub-agents --------------------------------------------------------------------------------------------

    def _preview_task(self, ctx: ToolContext, arguments: dict[str, Any]) -> CallPreview:
        _ = ctx.session  # raises without a chat, before the user is asked for approval
        return CallPreview(effects=frozenset(("execute",)))

    @tool(
        rank=2,
        effects=("execute",),
        destructive=True,
        open_world=True,
        timeout_s=_WORK_S,
        preview=_preview_task,
        display={"prompt": "subject"},
        needs_chat=True,
        parallel=True,
    )
    async def task(
        self,
        ctx: ToolContext,
        prompt: Annotated[str, Field(min_length=1, max_length=200_000, json_schema_extra=known_to_models())],
        tools: Annotated[list[str], Field(max_length=2000)] | None = None,
        model: Annotated[str | None, Field(max_length=2000, json_schema_extra=known_to_models())] = None,
    ) -> ToolResult[AgentReport]:
        """Give work that reads much and reports little to a sub-agent, and get its report.

        It knows nothing but the prompt: say all that it needs, and what to report.

        Args:
            prompt: The work, complete in itself.
            tools: Patterns such as `browser_*`; left out: all.
            model: The model to use; left out: the one of this session.
        Raises:
            ToolError: `no_session`, `nesting_too_deep`, `budget_exceeded`, `model_not_found`, or what went wrong at the
                model's provider.
        """
        budget = {"steps": self.settings.task_steps, "tokens": self.settings.task_tokens}
        report = await ctx.run_agent(prompt, tools, model, budget)
        return ToolResult(report, {"report": report}, untrusted=True)

    @tool(rank=2, read_only=True, effects=("session",), open_world=False, timeout_s=_WORK_S, needs_chat=True)
    async def compact(
        self,
        ctx: ToolContext,
        summary: Annotated[str | None, Field(min_length=1, max_length=200_000)] = None,
        keep_turns: Annotated[int, Field(ge=0, le=50, json_schema_extra=HIDDEN_FROM_MODELS)] = 2,
    ) -> ToolResult[CompactedHistory]:
        """Replace this session's history by a summary, to have room for a large piece of work; the last turns stay.

        It happens by itself when the context is full.

        Args:
            summary: Left out, it is written from the history.
            keep_turns: How many of the last turns stay, the present one included.
        Raises:
            ToolError: `no_session`, or what went wrong when the summary was written.
        """
        session = ctx.session
        if summary is None:
            ctx.progress(None, "summing up")
        replaced, written = await session.compact(summary, keep_turns=keep_turns)
        data: CompactedHistory = {"replacedMessages": replaced, "keptTurns": keep_turns, "summary": written}
        text = f"{replaced} messages are replaced by a summary." if replaced else "There was nothing to replace yet."
        return ToolResult(text, data)

    def _tell_new_chats(self, told: ToldMemories) -> None:
        self.runtime.tell_new_chats("memory", told.text, untrusted=told.untrusted)

    def _require_store(self) -> MemoryStore:
        assert self._memories is not None  # noqa: S101 - init has opened it
        return self._memories


def _require_argument(value: str | None, name: str, action: str) -> str:
    if value is None:
        raise ToolError("invalid_arguments", f"{action!r} needs {name!r}", missing=name)
    return value


def _host_line(host: HostInfo) -> str:
    parts = [f"{host.name}: {_HOST_STATES[host.state]}"]
    if host.platform:
        parts.append(host.platform)
    if host.workspace:
        parts.append(f"folders {', '.join(host.workspace)}")
    if host.modules:
        parts.append(f"modules {', '.join(host.modules)}")
    return "; ".join(parts)


async def _find_sources(ctx: ToolContext) -> tuple[str, ...]:
    """Return the sources of untrusted content that may have caused a call; an empty name: that cannot be known here."""
    try:
        return tuple(await ctx.untrusted_sources())
    except ToolError as exc:
        if exc.type != "host_not_allowed":
            raise
        return ("",)


def _describe_saved(memory: Memory) -> str:
    if memory.is_trusted:
        return f"Saved as {memory.key!r}{', a preference' if memory.is_preference else ''}."
    kept = "its text is not sent by itself" if memory.is_preference else "it is marked"
    return f"Saved as {memory.key!r}, {_describe_mark(memory)}: {kept} until the person saves it themselves."


def _describe_mark(memory: Memory) -> str:
    return f"after content from outside was read ({', '.join(memory.sources) or 'unknown'})"


def _format_memories(found: list[Memory], count: int) -> ToolResult[MemoryResult]:
    """Return memories; with one that untrusted content may have caused, the result counts as untrusted."""
    lines = [f"{len(found)} of {count} memories"]
    for memory in found:
        text = memory.content if len(memory.content) <= _PREVIEW_CHARS else f"{memory.content[:_PREVIEW_CHARS]}…"
        kind = " [preference]" if memory.is_preference else ""
        mark = "" if memory.is_trusted else f" [saved {_describe_mark(memory)}]"
        lines.append(f"{memory.key}{kind}{mark}: {text}")
    return ToolResult(
        "\n".join(lines),
        {"memories": [memory.to_json() for memory in found], "total": count},
        untrusted=not all(memory.is_trusted for memory in found),
    )
