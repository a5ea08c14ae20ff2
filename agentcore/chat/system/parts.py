"""The parts of a system message: where each comes from, whether it is sent to the model, and their order."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple, Self

from pydantic import BaseModel, ConfigDict

from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.chat.settings import SKILL_PART, SKILLS_PART, AgentConfig
from agentcore.chat.skills.offered import Skill, shorten_descriptions
from agentcore.chat.system.chat_starts import ChatStarts, StartText
from agentcore.chat.system.folder_instructions import FolderText
from agentcore.chat.system.sources import SystemSources, read_sources
from agentcore.chat.texts import Locale, localized_text
from agentcore.chat.untrusted_text import mark_untrusted
from agentcore.core.core import Core
from agentcore.core.modules.module_record import ModuleRecord
from agentcore.core.modules.tool_registry import HostFacts, ToolRegistry
from agentcore.store.chat.chat_rows import ChatSessionRow


class SystemPart(NamedTuple):
    """One part.

    Args:
        part_id: `environment`, `host`, `module:NAME`, `folder:FILE`, `skills`, `skill:NAME`, `start:NAME`, `agent`,
            `date`, `mode`; `tools` and `page`. The user cannot leave out the last three.
        text: Its text; empty: there is none.
        source: The name of its source for the user: a module's title, a file's name.
        is_told: True if it is sent to the model.
        lasts: True if it stays from turn to turn; parts that do not come last, so that providers can cache the rest.
        missing_bytes: How many bytes of its source were left out.
    """

    part_id: str
    text: str
    source: str = ""
    is_told: bool = True
    lasts: bool = True
    missing_bytes: int = 0


class ChosenHost(NamedTuple):
    """The host for the calls of a session.

    Args:
        name: Its name.
        facts: What is known about it.
        is_connected: True if its tools can be called.
    """

    name: str
    facts: HostFacts
    is_connected: bool

    @classmethod
    def from_registry(cls, registry: ToolRegistry, host: str) -> Self | None:
        """Return the current facts of a host; None if none is chosen."""
        return cls(host, registry.facts.get(host, HostFacts()), registry.is_connected(host)) if host else None


def resolve_modules_and_host(
    registry: ToolRegistry, host: str, modules: Iterable[str]
) -> tuple[list[ModuleRecord], ChosenHost | None]:
    """Look up modules by their names, and the host for calls, for `SystemPlan.build_parts`."""
    records = [record for name in modules if (record := registry.find_module(name)) is not None]
    return records, ChosenHost.from_registry(registry, host)


class SystemChoice(BaseModel, defer_build=True):
    """What a person chose for one session.

    Attributes:
        told: Whether a part is told, by its id; of the others the agent's patterns say it.
        instructions: What stands in place of the agent's own; None: the agent's own.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    told: Mapping[str, bool] = {}
    instructions: str | None = None

    @classmethod
    def from_json_text(cls, stored: str | None) -> Self:
        """Parse the choice stored with a session."""
        return cls() if stored is None else cls.model_validate_json(stored)


class SystemPlan(NamedTuple):
    """The inputs of a turn's system message.

    Args:
        sources: The sources when the turn started.
        choice: The user's choice for the session.
        starts: What modules told when the session began.
        locale: Language.
    """

    sources: SystemSources
    choice: SystemChoice
    starts: ChatStarts
    locale: Locale

    def build_parts(
        self,
        agent: AgentConfig,
        modules: Sequence[ModuleRecord],
        where: ChosenHost | None,
        *,
        mode: ApprovalMode | None = None,
        folder_chars: int | None = None,
    ) -> list[SystemPart]:
        """Build all parts that have a text, including those that are not sent to the model.

        Args:
            agent: The agent whose instructions and patterns of parts apply.
            modules: Modules whose tools the agent may use, in the order of the tools.
            where: The host for calls; None: none is chosen.
            mode: The session's approval mode; None: its reader need not know it, as a sub-agent.
            folder_chars: Maximum length of each file of instructions; None: as they were read.
        """
        own = self.choice.instructions
        parts = [
            SystemPart("environment", _describe_environment(self.sources, self.locale)),
            *([] if where is None else [SystemPart("host", _describe_host(where, self.locale), where.name)]),
            *_build_module_parts(modules, self.locale),
            *(_build_folder_part(file.cut_to(folder_chars), self.locale) for file in self.sources.folder),
            *_build_skill_parts(self.sources.skills, self.locale),
            *_build_start_parts(self._choose_starts(agent, modules), folder_chars, self.locale),
            SystemPart("agent", (agent.instructions if own is None else own).strip()),
            SystemPart("date", localized_text(self.locale, "today", today=self.sources.today), lasts=False),
            *([SystemPart("mode", localized_text(self.locale, "plan_mode"), lasts=False)] if mode == "plan" else []),
        ]
        said = [part for part in parts if part.text]
        chosen = [
            part if part.part_id == "mode" else part._replace(is_told=self._is_told(part.part_id, agent))
            for part in said
        ]
        return _without_unused_skills(chosen)

    def list_untrusted_sources(self, agent: AgentConfig) -> list[str]:
        """Return the tools about which the agent's model is told untrusted text when the session begins."""
        untrusted = [start for start in self.starts.told if start.untrusted and agent.offers_tool(start.tool)]
        return [start.tool for start in untrusted if self._is_told(start.part_id, agent)]

    def _is_told(self, part_id: str, agent: AgentConfig) -> bool:
        return self.choice.told.get(part_id, agent.includes_part(part_id))

    def _choose_starts(self, agent: AgentConfig, modules: Sequence[ModuleRecord]) -> list[StartText]:
        names = {module.name for module in modules}
        return [start for start in self.starts.told if start.module in names and agent.offers_tool(start.tool)]

    def choose_skills(self, agent: AgentConfig) -> list[Skill]:
        """Return the skills that the agent's model may read in this session."""
        told = {part.part_id for part in self.build_parts(agent, (), None) if part.is_told}
        return [skill for skill in self.sources.skills if f"{SKILL_PART}{skill.name}" in told]


def _describe_environment(sources: SystemSources, locale: Locale) -> str:
    first, *others = sources.roots
    further = localized_text(locale, "further_folders", folders=", ".join(others)) if others else ""
    return localized_text(locale, "environment", folder=first, further=further, system=sources.system)


def _describe_host(where: ChosenHost, locale: Locale) -> str:
    facts = where.facts
    away = "" if where.is_connected else localized_text(locale, "host_away")
    told = localized_text(locale, "host", name=where.name, away=away)
    # encoded as JSON, so that the values cannot close the quotation: the host sends them at each connection, unreviewed
    said = {"platform": facts.platform, "folders": list(facts.folders)}
    said = {name: value for name, value in said.items() if value}
    if not said:
        return told
    return f"{told}\n{localized_text(locale, 'host_says', facts=json.dumps(said, ensure_ascii=False))}"


def _build_module_parts(modules: Sequence[ModuleRecord], locale: Locale) -> Iterator[SystemPart]:
    for module in modules:
        said = module.instructions_for_models
        if said:
            told = localized_text(locale, "of_module", title=module.manifest.title, text=said)
            yield SystemPart(f"module:{module.name}", told, module.manifest.title)


def _build_folder_part(file: FolderText, locale: Locale) -> SystemPart:
    cut = (
        localized_text(locale, "cut_file", count=f"{file.missing_bytes:,}", name=file.name)
        if file.missing_bytes
        else ""
    )
    told = localized_text(locale, "of_folder", name=file.name, text=file.text + cut)
    return SystemPart(f"folder:{file.name}", told, file.name, missing_bytes=file.missing_bytes)


def _build_skill_parts(skills: Sequence[Skill], locale: Locale) -> Iterator[SystemPart]:
    if skills:
        yield SystemPart(SKILLS_PART, localized_text(locale, "skills"))
    for name, description in shorten_descriptions(skills).items():
        yield SystemPart(f"{SKILL_PART}{name}", localized_text(locale, "of_skill", name=name, text=description), name)


def _build_start_parts(starts: Iterable[StartText], chars: int | None, locale: Locale) -> Iterator[SystemPart]:
    for start in starts:
        text = _cut_lines(start.text, chars, locale)
        if start.untrusted:
            framed = mark_untrusted(_cut_lines(start.untrusted, chars, locale), start.tool)
            text = f"{text}\n{framed}" if text else framed
        yield SystemPart(start.part_id, text, start.title)


def _cut_lines(text: str, chars: int | None, locale: Locale) -> str:
    """Return the lines of a text that fit, and how many were left out."""
    if chars is None or len(text) <= chars:
        return text
    lines = text.split("\n")
    ends = accumulate(len(line) + 1 for line in lines)
    shown = lines[: sum(end <= chars for end in ends)]
    return "\n".join([*shown, localized_text(locale, "cut_lines", count=len(lines) - len(shown))])


def _without_unused_skills(parts: list[SystemPart]) -> list[SystemPart]:
    """Return the parts so that either the text on skills and at least one of them are sent, or neither."""
    uses_skills = any(part.part_id == SKILLS_PART and part.is_told for part in parts)
    has_skills = any(part.part_id.startswith(SKILL_PART) and part.is_told for part in parts)
    if uses_skills and has_skills:
        return parts
    return [
        part._replace(is_told=False) if part.part_id == SKILLS_PART or part.part_id.startswith(SKILL_PART) else part
        for part in parts
    ]


async def plan_system(core: Core, session: ChatSessionRow) -> SystemPlan:
    """Read the inputs of a session's system message, once per turn so that all its requests have the same prefix."""
    choice = SystemChoice.from_json_text(session.system)
    starts = ChatStarts.from_session(session, core)
    return SystemPlan(await read_sources(core), choice, starts, core.config.locale)
