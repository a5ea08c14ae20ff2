"""The skills of a core: where they are searched for, and which of them models may get."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Literal, NamedTuple

from agentcore.chat.chat_limits import SKILLS_PROPOSED
from agentcore.chat.skills.frontmatter import SKILL_FILE, SkillHead, SkillProblem, parse_skill
from agentcore.chat.skills.offered import Skill
from agentcore.chat.skills.skill_search import WORKSPACE_FOLDERS, FoundSkill, SkillSource, find_skills
from agentcore.core.core import Core

SkillState = Literal["ready", "new", "changed", "refused", "invalid", "shadowed"]
"""`new`, `changed`: it waits for the user's review; `shadowed`: another skill with its name is used."""

_KIND = "skill"
"""The kind of the proposals by which the user reviews skills."""


class SkillStatus(NamedTuple):
    """A skill that was found.

    Args:
        found: The skill as it is in its folder now.
        accepted: The skill as models get it, as the user accepted it last; None: it was never accepted, or is invalid.
        state: Its state.
        is_waiting: True while its review waits in the approval view; at most a few do at once.
    """

    found: FoundSkill
    accepted: Skill | None
    state: SkillState
    is_waiting: bool


class SkillListing(NamedTuple):
    """All skills, in the order of precedence, and problems of the folders that they are in."""

    skills: Sequence[SkillStatus]
    problems: Sequence[SkillProblem]

    @property
    def usable(self) -> list[Skill]:
        """The skills that models may get, by name."""
        used = {
            status.accepted.name: status.accepted
            for status in reversed(self.skills)
            if status.accepted is not None and status.state != "shadowed"
        }
        return [used[name] for name in sorted(used)]


class Skills:
    """Finds the skills of a core, and has the user review them.

    Args:
        core: Its workspace, its modules, and the user's decisions.
    """

    def __init__(self, core: Core) -> None:
        self._core = core

    async def list_skills(self) -> SkillListing:
        """Find all skills; those that are new or have changed are proposed to the user."""
        skills, problems = await asyncio.to_thread(find_skills, self._list_sources())
        review = self._core.instruction_review
        subjects = {skill.folder: _absolute_paths(skill) for skill in skills if skill.is_valid}
        accepted = review.choose_texts(subjects, kind=_KIND, limit=SKILLS_PROPOSED)
        listed: list[SkillStatus] = []
        names: set[str] = set()
        for skill in skills:
            status = self._describe_skill(skill, accepted)
            name = "" if status.accepted is None else status.accepted.name
            listed.append(status._replace(state="shadowed") if name in names else status)
            names.update([name] if name else [])
        return SkillListing(listed, problems)

    def _describe_skill(self, skill: FoundSkill, accepted: Mapping[str, str]) -> SkillStatus:
        if not skill.is_valid:
            return SkillStatus(skill, None, "invalid", is_waiting=False)
        review = self._core.instruction_review
        verdicts = {review.verdict_on(path, text) for path, text in _absolute_paths(skill).items()}
        usable = _accepted_skill(skill, accepted)
        state: SkillState = "new" if usable is None else "changed"
        if verdicts == {"accepted"}:
            state = "ready"
        elif None not in verdicts:
            state = "refused"
        return SkillStatus(skill, usable, state, is_waiting=review.is_waiting(_KIND, skill.folder))

    def _list_sources(self) -> list[SkillSource]:
        workspace = self._core.workspace
        sources = [
            SkillSource("workspace", f"{root}/{folder}", workspace)
            for root in workspace.roots
            for folder in WORKSPACE_FOLDERS
        ]
        sources.append(SkillSource("user", str(user_folder())))
        sources += [
            SkillSource(f"module:{record.name}", record.manifest.skills_folder)
            for record in self._core.registry.records.values()
            if record.state == "ready" and record.manifest.skills_folder
        ]
        return sources


@cache
def user_folder() -> Path:
    """Return the folder for the user's own skills, in the user's configuration folder."""
    import platformdirs  # noqa: PLC0415 - needed only here

    return platformdirs.user_config_path("agentcore", appauthor=False) / "skills"


def _absolute_paths(skill: FoundSkill) -> dict[str, str]:
    return {f"{skill.folder}/{path}": text for path, text in skill.files.items()}


def _accepted_skill(skill: FoundSkill, accepted: Mapping[str, str]) -> Skill | None:
    """Return a skill as the user accepted it last."""
    text = accepted.get(f"{skill.folder}/{SKILL_FILE}")
    parsed = None if text is None else parse_skill(text)
    if parsed is None or parsed.head is None:
        return None
    head: SkillHead = parsed.head
    texts = {
        path: accepted[f"{skill.folder}/{path}"]
        for path in skill.files
        if path != SKILL_FILE and f"{skill.folder}/{path}" in accepted
    }
    return Skill(
        head=head,
        folder=skill.folder,
        body=parsed.body,
        texts={path: text for path, text in texts.items() if path in skill.texts},
        others=tuple(path for path in texts if path not in skill.texts),
    )
