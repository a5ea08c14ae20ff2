"""Inputs of the parts of a system message, read when a turn starts."""

import asyncio
import platform
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple

from agentcore.chat.skills.offered import Skill
from agentcore.chat.skills.skills import Skills
from agentcore.chat.system.folder_instructions import FolderText, read_folder_texts
from agentcore.core.core import Core


class SystemSources(NamedTuple):
    """Values that do not change during a turn.

    Args:
        roots: The workspace roots; relative paths start in the first.
        system: The machine's operating system.
        folder: Instructions in the first root, as accepted by the user.
        today: The day, and the machine's time zone.
        skills: The skills that the user has accepted, by name.
    """

    roots: Sequence[str]
    system: str
    folder: Sequence[FolderText]
    today: str
    skills: Sequence[Skill] = ()


async def read_sources(core: Core) -> SystemSources:
    """Read the current sources: once per turn, so that all its requests start with the same bytes."""
    found = await asyncio.to_thread(_collect_sources, core)
    skills = (await Skills(core).list_skills()).usable
    return found._replace(folder=_choose_accepted(core, found), skills=skills)


def _collect_sources(core: Core) -> SystemSources:
    roots = [str(root) for root in core.workspace.roots]
    today = f"{datetime.now().astimezone():%A, %Y-%m-%d (%Z)}"
    return SystemSources(roots, _describe_system(), read_folder_texts(core.workspace), today)


def _choose_accepted(core: Core, found: SystemSources) -> Sequence[FolderText]:
    """Return the folder's instructions as accepted by the user; new and changed ones are proposed for review."""
    files = {f"{found.roots[0]}/{file.name}": file for file in found.folder}
    accepted = core.instruction_review.choose_texts({path: {path: file.text} for path, file in files.items()})
    return [
        file if file.text == accepted[path] else FolderText(file.name, accepted[path])
        for path, file in files.items()
        if path in accepted
    ]


@cache
def _describe_system() -> str:
    """Return the machine's system, such as `Linux 6.1.0 (Debian GNU/Linux 12), x86_64`."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    message = f"{platform.system()} {platform.release()}" + (f" ({name})" if name else "")
    return f"{message}, {platform.machine()}"
