"""What a person allows once for many calls: "always for this session", "always"."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

GrantScope = Literal["session", "always"]


@dataclass(frozen=True, slots=True)
class GrantOffer:
    """What a person may allow along with one call, shown in full before they do.

    Args:
        scope: `session`: for the session of this call; `always`: for every session.
        tool: The tool that it is for.
        arguments: Pattern by `path`, `command`, `url`, `cwd`, or else the name of an argument; all of them have to
            match. None at all: any arguments.
    """

    scope: GrantScope
    tool: str
    arguments: Mapping[str, str]

    def to_json(self) -> dict[str, Any]:
        """`{scope, tool, arguments}`."""
        return {"scope": self.scope, "tool": self.tool, "arguments": dict(self.arguments)}
