"""The skills of a core as the user sees them."""

from typing import Annotated

from pydantic import Field

from agentcore.chat.session.session_view import View
from agentcore.chat.settings import ChatSettings
from agentcore.chat.skills.frontmatter import SkillProblem
from agentcore.chat.skills.skills import SkillListing, Skills, SkillState, SkillStatus
from agentcore.core.core import Core


class SkillProblemView(View):
    """What is wrong with a skill, or with a folder of skills."""

    type: str
    message: str
    file: str
    line: Annotated[int | None, Field(description="From 1; null: the problem is not in a line.")] = None
    is_error: bool


class SkillView(View):
    """One skill."""

    name: Annotated[str, Field(description="Its name; if it is invalid, that of its folder.")]
    description: str
    source: Annotated[str, Field(description="`workspace`, `user` or `module:NAME`.")]
    folder: str
    state: Annotated[
        SkillState,
        Field(description="`new` and `changed` wait for review; `shadowed`: another skill with the name is used."),
    ]
    is_usable: Annotated[bool, Field(description="True if models get it, maybe in the version accepted before.")]
    is_waiting: Annotated[bool, Field(description="True while its review waits in the approval view.")]
    agents: Annotated[list[str], Field(description="Ids of the agents whose models get it.")]
    files: Annotated[list[str], Field(description="Its files, by their paths in the folder.")]
    chars: Annotated[int, Field(description="Length of SKILL.md.")]
    license: str
    compatibility: str
    allowed_tools: Annotated[list[str], Field(description="Tools that its author names; they allow nothing.")]
    problems: list[SkillProblemView]


class SkillsView(View):
    """All skills, in the order of precedence, and problems of the folders that they are in."""

    skills: list[SkillView]
    problems: list[SkillProblemView]


async def describe_skills(core: Core, settings: ChatSettings) -> SkillsView:
    """Find all skills and describe them; those that are new or have changed are proposed to the user."""
    listing: SkillListing = await Skills(core).list_skills()
    return SkillsView(
        skills=[_to_view(status, settings) for status in listing.skills],
        problems=[_to_problem_view(problem) for problem in listing.problems],
    )


def _to_view(status: SkillStatus, settings: ChatSettings) -> SkillView:
    found = status.found
    head = found.head
    name = found.folder.rpartition("/")[2] if head is None else head.name
    return SkillView(
        name=name,
        description="" if head is None else head.description,
        source=found.source,
        folder=found.folder,
        state=status.state,
        is_usable=status.accepted is not None and status.state != "shadowed",
        is_waiting=status.is_waiting,
        agents=[agent_id for agent_id, agent in settings.agents.items() if agent.uses_skill(name)],
        files=list(found.files),
        chars=len(found.files.get("SKILL.md", "")),
        license="" if head is None else head.license,
        compatibility="" if head is None else head.compatibility,
        allowed_tools=[] if head is None else list(head.allowed_tools),
        problems=[_to_problem_view(problem) for problem in found.problems],
    )


def _to_problem_view(problem: SkillProblem) -> SkillProblemView:
    return SkillProblemView(**problem._asdict() | {"line": problem.line or None})
