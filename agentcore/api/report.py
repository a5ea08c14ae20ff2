"""How a module is just now, for people."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Report:
    """What a module says of how it is just now; nothing of it reaches a model.

    Args:
        facts: What there is to know of what it speaks to, a few words each: `{"protocol": "2025-11-25"}`.
        log: The end of what that has written, line by line.
        original_names: Of tools that are called something else where they come from, that name by the name here.
    """

    facts: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    original_names: Mapping[str, str] = field(default_factory=dict)


ReadReport = Callable[[], Awaitable[Report]]
"""Gives a module's report."""
