"""The system message of a session, as the user sees and changes it."""

import json
from collections.abc import Callable, Mapping
from typing import Annotated

from pydantic import Field

from agentcore.chat.client_context import ClientContext
from agentcore.chat.model.offered_tools import OfferedTool, list_offered_tools
from agentcore.chat.session.model_scales import ModelScales
from agentcore.chat.session.session_view import ContextView, View
from agentcore.chat.sessions import Sessions
from agentcore.chat.settings import ChatSettings, ModelChoice
from agentcore.chat.system.parts import SystemChoice, SystemPart, plan_system, resolve_modules_and_host
from agentcore.chat.turn.context_shares import DefinitionBudget, folder_chars
from agentcore.chat.turn.prompts import system_message
from agentcore.chat.turn.toolbox import Toolbox
from agentcore.chat.untrusted_text import use_mark
from agentcore.core.core import Core
from agentcore.errors import ToolError
from agentcore.store.chat.chat_rows import ChatSessionRow

_FIXED = frozenset(("tools", "page", "mode"))
"""Parts that come from the model, the client and the approval mode, and cannot be left out."""


class SystemPartView(View):
    """One part of what the model is told."""

    id: Annotated[
        str,
        Field(
            description="`environment`, `host`, `module:NAME`, `folder:FILE`, `skills`, `skill:NAME`, "
            "`start:NAME` (what a module told when the chat began), `agent`, `date`, `mode`, `tools`, `page`."
        ),
    ]
    source: Annotated[str, Field(description="The title of the module, the name of the file; else empty.")]
    text: str
    chars: int
    is_told: bool
    is_own_choice: Annotated[bool, Field(description="Whether that was chosen for this session.")]
    can_leave_out: bool
    lasts: Annotated[bool, Field(description="Whether it stays from turn to turn, so that providers can keep it.")]
    missing_bytes: Annotated[int, Field(description="How much of the file was left out.")] = 0


class OfferedView(View):
    """The definitions of tools that go along."""

    given: int
    hidden: Annotated[int, Field(description="Further tools that the model has to search for.")]
    chars: Annotated[
        int, Field(description="Of their names, descriptions and schemas, as the model gets them; 0: they are a part.")
    ]


class SystemView(View):
    """What the model is told before the conversation, in this order."""

    parts: list[SystemPartView]
    chars: Annotated[int, Field(description="Of all parts that are told.")]
    tools: OfferedView
    agent_id: str
    agent_instructions: str
    instructions: Annotated[str | None, Field(description="What stands in their place for this session.")] = None


class SystemMessages:
    """The system messages of a core's sessions.

    Args:
        core: Provides the tools.
        sessions: Finds the sessions.
        settings: Returns the current models and agents.
    """

    def __init__(self, core: Core, sessions: Sessions, settings: Callable[[], ChatSettings]) -> None:
        self._core = core
        self._sessions = sessions
        self._settings = settings

    async def describe_for_session(self, session_id: str) -> SystemView:
        """Return the system message that would be sent with the next message.

        Raises:
            ToolError: `session_not_found`, `agent_not_found`.
        """
        return await self._describe(await self._sessions.find_session(session_id))

    async def describe_for_new_session(self, agent_id: str, model: str) -> SystemView:
        """Return the system message for the first message of a session that is not created yet.

        Args:
            agent_id: Its agent.
            model: Its model; empty: the agent's.
        Raises:
            ToolError: `agent_not_found`.
        """
        return await self._describe(_unsaved_session(agent_id, model))

    async def _describe(self, session: ChatSessionRow) -> SystemView:
        settings = self._settings()
        if session.mark:
            use_mark(session.mark)  # shown as it is sent
        locale = self._core.config.locale
        agent = settings.get_agent(session.agent_id)
        model = settings.find_model(session.model or None, agent)
        plan = await plan_system(self._core, session)
        client = ClientContext.from_session(session)
        registry = self._core.registry
        where = registry.choose_host(settings.hosts_for(session.host, session.agent_id))
        all_tools = list_offered_tools(registry, client.tools, agent, where)
        scales = ModelScales.from_json_text(session.model_scales)
        is_prompted = model is not None and (model.tools == "prompted" or scales.writes_calls(model.full_name))
        window = None if model is None else _find_window(session, model, scales)
        budget = DefinitionBudget.from_window(window, "tag" if is_prompted else None)
        toolbox = Toolbox(all_tools, json.loads(session.found_tools or "[]"), plan.choose_skills(agent), budget)
        given = list(toolbox.get_offered_tools().values())
        parts = system_message(
            plan.build_parts(
                agent,
                *resolve_modules_and_host(registry, where, toolbox.modules),
                mode=self._sessions.find_effective_mode(session.mode, session.agent_id),
                folder_chars=folder_chars(window),
            ),
            given,
            client.page,
            locale,
            written_form="tag" if is_prompted else None,
        )
        return SystemView(
            parts=[_to_part_view(part, plan.choice) for part in parts],
            chars=sum(len(part.text) for part in parts if part.is_told),
            tools=OfferedView(
                given=len(given),
                hidden=len({tool.name for tool in all_tools} - {tool.name for tool in given}),
                chars=0 if is_prompted else sum(_definition_chars(tool, model) for tool in given),
            ),
            agent_id=session.agent_id,
            agent_instructions=agent.instructions,
            instructions=plan.choice.instructions,
        )

    async def change_for_session(
        self, session_id: str, *, told: Mapping[str, bool | None], **instructions: str | None
    ) -> SystemView:
        """Change a session's system message from its next message on.

        Args:
            session_id: The session.
            told: True for parts to send, False for parts to leave out, by their ids; None: as the agent says.
            **instructions: `instructions` replaces the agent's; None removes it.
        Raises:
            ToolError: `session_not_found`, `invalid_arguments`.
        """
        choice = SystemChoice.from_json_text((await self._sessions.find_session(session_id)).system)
        known = {part.id for part in (await self.describe_for_session(session_id)).parts if part.can_leave_out}
        if unknown := set(told) - known - set(choice.told):
            message = f"{min(unknown)!r:.100} is no part that can be left out; there are: {', '.join(sorted(known))}"
            raise ToolError("invalid_arguments", message)
        chosen = {part: is_told for part, is_told in ({**choice.told, **told}).items() if is_told is not None}
        kept = choice.model_copy(update={"told": chosen, **instructions})
        await self._core.store.chats.update_session(session_id, system=kept.model_dump_json())
        return await self.describe_for_session(session_id)


def _find_window(session: ChatSessionRow, model: ModelChoice, scales: ModelScales) -> int | None:
    """Return the size of a model's context, as far as it is known without asking the provider."""
    last = None if session.context is None else ContextView.model_validate_json(session.context)
    told = last.limit_tokens if last is not None and last.is_limit_known and last.model == model.full_name else None
    sizes = (told, model.context_tokens, scales.find_context_limit(model.full_name, model.context_tokens))
    return min((size for size in sizes if size is not None), default=None)


def _unsaved_session(agent_id: str, model: str) -> ChatSessionRow:
    return ChatSessionRow(
        session_id="",
        owner="",
        user_id="",
        agent_id=agent_id,
        model=model,
        title="",
        page=None,
        client_tools=None,
        steps=0,
        tokens=0,
        is_running=0,
        created_at_ms=0,
        last_used_at_ms=0,
    )


def _definition_chars(tool: OfferedTool, model: ModelChoice | None) -> int:
    schema = tool.schema.schema if model is None else tool.schema.lower_to(model.dialect).schema
    description = tool.description if model is None else model.dialect.shorten_description(tool.description)
    return len(tool.name) + len(description) + len(json.dumps(schema, ensure_ascii=False))


def _to_part_view(part: SystemPart, choice: SystemChoice) -> SystemPartView:
    return SystemPartView(
        id=part.part_id,
        source=part.source,
        text=part.text,
        chars=len(part.text),
        is_told=part.is_told,
        is_own_choice=part.part_id in choice.told,
        can_leave_out=part.part_id not in _FIXED,
        lasts=part.lasts,
        missing_bytes=part.missing_bytes,
    )
