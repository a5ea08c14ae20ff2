"""Report about a server that does not answer because code of a module blocks its event loop."""

import time
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field, ValidationError

from agentcore.store.state.private_file import read_private_file

LOOP_REPORT_FILE = "loop_blocked.json"
"""Its file name in the state folder; the process that guards the server rewrites it while the loop is blocked."""

_LIMIT_BYTES = 64 * 1024
_FRESH_SECONDS = 10.0


class LoopReport(BaseModel, defer_build=True):
    """Who holds a server's event loop, or whose code ended a server by that."""

    pid: int
    held_s: float
    limit_s: Annotated[float, Field(description="When the server is ended, if it stays so.")]
    ended: bool
    module: str
    tool: str
    place: str

    def __str__(self) -> str:
        who = f"code of module {self.module!r}" if self.module else "code that could not be told"
        where = " in ".join(part for part in (self.tool and f"tool {self.tool!r}", self.place) if part)
        return f"{who} has held it for {self.held_s:g} s{where and f', in {where}'}"


def read_loop_report(folder: Path) -> LoopReport | None:
    """Return the report of a state folder, or None if it is missing, unreadable or outdated."""
    path = folder / LOOP_REPORT_FILE
    content = read_private_file(path, _LIMIT_BYTES)
    if content is None:
        return None
    try:
        report = LoopReport.model_validate_json(content)
        is_fresh = time.time() - path.stat().st_mtime < _FRESH_SECONDS
    except (OSError, ValidationError):
        return None
    return report if report.ended or is_fresh else None
