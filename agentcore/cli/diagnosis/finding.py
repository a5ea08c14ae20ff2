"""The result of one check of `agentcore doctor`."""

from typing import Literal

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check.

    Args:
        level: `ok`, `note` (works, but the user may want to know), or `problem`.
        subject: The subject of the check.
        said: The result in words.
        advice: How to fix it.
        details: Further lines, such as a traceback.
    """

    level: Literal["ok", "note", "problem"]
    subject: str
    said: str
    advice: str = ""
    details: str = ""
