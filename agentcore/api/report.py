"""The current status of a module, for users."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import field

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Report:
    """A module's report on its current status; models do not see it.

    Args:
        facts: Facts about what it is connected to, a few words each: `{"protocol": "2025-11-25"}`.
        log: The end of its log, line by line.
        original_names: Of tools that have another name at their origin: that name by the name here.
    """

    facts: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    original_names: Mapping[str, str] = field(default_factory=dict)


ReadReport = Callable[[], Awaitable[Report]]
"""Gives a module's report."""
