"""Errors of a configuration, with their locations."""

from collections.abc import Sequence
from pathlib import Path

from agentcore.config.json_source import JsonPath, format_path
from agentcore.errors import AgentcoreError
from agentcore.late_dataclasses import dataclass

PROBLEMS_SHOWN = 20
"""Maximum number of problems listed in a message; the rest are counted."""


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """One problem of a configuration.

    Args:
        message: What is wrong, what was expected, what to do; never contains a secret.
        line: Line in the file, from 1.
        column: Column in the file, from 1, in code points.
        path: The path of the value in the file; `()` for the file itself.
    """

    message: str
    file: Path | None = None
    line: int | None = None
    column: int | None = None
    path: JsonPath = ()
    variable: str | None = None

    def __str__(self) -> str:
        where = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        place = f"environment variable {self.variable}" if self.variable else ":".join(where)
        return ": ".join(part for part in (place, format_path(self.path), self.message) if part)


class ConfigError(AgentcoreError):
    """The configuration cannot be used. Nothing was changed; the command line exits with status 2."""

    def __init__(self, problems: Sequence[ConfigProblem]) -> None:
        self.problems = tuple(problems)
        lines = [str(problem) for problem in self.problems[:PROBLEMS_SHOWN]]
        if len(self.problems) > PROBLEMS_SHOWN:
            lines.append(f"… and {len(self.problems) - PROBLEMS_SHOWN} more")
        super().__init__("\n".join(lines))


class ConfigChangedError(ConfigError):
    """The file is no longer what it was when it was read, so it was not overwritten. Read it again and retry."""
