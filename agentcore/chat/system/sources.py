"""What the parts of a system message are made of, as it is when a turn begins."""

import asyncio
import platform
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import NamedTuple

from agentcore.chat.system.folder import FolderText, read_folder_texts
from agentcore.core import Core


class SystemSources(NamedTuple):
    """What does not change while a turn goes on.

    Args:
        roots: The workspace roots; relative paths begin in the first.
        system: The machine's system.
        folder: Instructions that are in the first root, as the user has accepted them.
        today: The day, and the machine's time zone.
    """

    roots: Sequence[str]
    system: str
    folder: Sequence[FolderText]
    today: str


async def read_sources(core: Core) -> SystemSources:
    """Read what there is now: once for a turn, so that all its requests begin with the same bytes."""
    found = await asyncio.to_thread(_collect_sources, core)
    return found._replace(folder=_choose_accepted(core, found))


def _collect_sources(core: Core) -> SystemSources:
    roots = [str(root) for root in core.workspace.roots]
    today = f"{datetime.now().astimezone():%A, %Y-%m-%d (%Z)}"
    return SystemSources(roots, _describe_system(), read_folder_texts(core.workspace), today)


def _choose_accepted(core: Core, found: SystemSources) -> Sequence[FolderText]:
    """The instructions of the folder as the user has accepted them; what is new or has changed is proposed."""
    files = {f"{found.roots[0]}/{file.name}": file for file in found.folder}
    accepted = core.instruction_review.choose_texts({path: file.text for path, file in files.items()})
    return [
        file if file.text == accepted[path] else FolderText(file.name, accepted[path])
        for path, file in files.items()
        if path in accepted
    ]


@cache
def _describe_system() -> str:
    """What the machine runs, such as `Linux 6.1.0 (Debian GNU/Linux 12), x86_64`."""
    try:
        name = platform.freedesktop_os_release().get("PRETTY_NAME", "")
    except OSError:
        name = ""
    said = f"{platform.system()} {platform.release()}" + (f" ({name})" if name else "")
    return f"{said}, {platform.machine()}"
