"""What one check of `agentcore doctor` found."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Finding:
    """What one check found.

    Args:
        level: `ok`, `note` (works, and somebody may want to know), or `problem`.
        subject: What was looked at.
        said: What was found.
        advice: What to do about it.
        details: More about it, of several lines: a traceback.
    """

    level: Literal["ok", "note", "problem"]
    subject: str
    said: str
    advice: str = ""
    details: str = ""
