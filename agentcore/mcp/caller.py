"""Who calls over MCP, and what that client may have."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Annotated, Literal, get_args

from mcp_types import RequestId
from pydantic import Field

from agentcore.api import LogLevel, Principal
from agentcore.bounds import MCP_WAIT_SECONDS
from agentcore.chat.turn.untrusted import new_mark
from agentcore.config import ClientConfig
from agentcore.core.policy import PERSONS

LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
"""From the least grave on."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """What a connection asks of itself: to be offered fewer tools, and to wait for a person for longer.

    Args:
        tools: Patterns of the tools that it wants; none: all that the client may have.
        wait_s: How long a call of its stays open while a person is asked, in seconds.
    """

    tools: tuple[str, ...] = ()
    wait_s: Annotated[float, Field(gt=0)] = MCP_WAIT_SECONDS


@dataclass(slots=True)
class SessionSubscriptions:
    """What a session wants to be told of.

    Args:
        log_level: From which level on it hears what its calls say of their work; None: of nothing.
        resources: Addresses of the resources that it watches.
    """

    log_level: LogLevel | None = None
    resources: dict[str, None] = field(default_factory=dict)

    def receives_log_level(self, level: LogLevel) -> bool:
        """Whether it wants to be told what is of a level."""
        return self.log_level is not None and is_at_least(level, self.log_level)


def is_at_least(level: LogLevel, least: LogLevel) -> bool:
    """Whether a level is another one, or graver."""
    return LOG_LEVELS.index(level) >= LOG_LEVELS.index(least)


Departure = Literal["cancelled", "ended", "lost"]
"""Why nobody waits for the answer to a request: its client cancelled it, its session or key has ended, or the
connection was lost, which is no cancellation."""


@dataclass(slots=True)
class Departures:
    """Why requests of a connection were ended before their answer.

    Attributes:
        is_over: True once the whole connection has ended.
    """

    is_over: bool = False
    _reasons: dict[RequestId, Departure] = field(default_factory=dict)
    _heirs: dict[RequestId, RequestId] = field(default_factory=dict)

    def record_reason(self, request_id: RequestId, why: Departure) -> None:
        """Say why a request is about to be ended."""
        self._reasons.setdefault(request_id, why)

    def hand_over(self, request_id: RequestId, heir: RequestId) -> None:
        """A request was sent again under another id: what ends the one under the new id ends its work."""
        self._heirs[request_id] = heir

    def remove_request(self, request_id: RequestId) -> None:
        """The request has ended."""
        self._reasons.pop(request_id, None)
        self._heirs.pop(request_id, None)

    def list_request_ids(self, request_id: RequestId) -> list[RequestId]:
        """The ids that the client knows the work of a request by: its own, and those that it was sent again under."""
        found = [request_id]
        while (heir := self._heirs.get(found[-1])) is not None:
            found.append(heir)
        return found

    def find_reason(self, request_id: RequestId | None) -> Departure:
        """Why nobody waits for a request that is being ended."""
        ids = [] if request_id is None else self.list_request_ids(request_id)
        found = next((self._reasons[each] for each in ids if each in self._reasons), None)
        return found or ("ended" if self.is_over else "lost")


@dataclass(frozen=True, slots=True)
class Caller:
    """One connection of a client.

    Args:
        principal: By its credential: `mcp:NAME`, or the API token, whose calls are a person's own.
        session_id: The session that its calls belong to.
        approval_url: Where a person decides on what it wants.
        config: What app.json says of the client.
        narrowing: What the connection says of itself.
        found: Names of the tools that it looked for and found, the newest last; they stay with the connection.
        wishes: What it wants to be told of, in the revisions in which it says that once.
        departures: Why its requests were ended before their answer.
        mark: Names the frames around untrusted text in its results; random.
    """

    principal: Principal
    session_id: str
    approval_url: str
    config: ClientConfig = field(default_factory=ClientConfig)
    narrowing: Narrowing = Narrowing()
    found: list[str] = field(default_factory=list)
    wishes: SessionSubscriptions = field(default_factory=SessionSubscriptions)
    departures: Departures = field(default_factory=Departures)
    mark: str = field(default_factory=new_mark)

    @property
    def is_model(self) -> bool:
        """Whether a model stands behind it: then it gets what is shaped for models, and is asked about."""
        return self.principal.kind not in PERSONS

    def may_use_tool(self, tool: str) -> bool:
        """Whether it is offered a tool, and may call it."""
        return matches_patterns(tool, self.config.tools) and (
            not self.narrowing.tools or matches_patterns(tool, self.narrowing.tools)
        )

    def names_tool(self, tool: str) -> bool:
        """Whether a pattern speaks of this tool, and not of every tool there is."""
        patterns = (*self.config.tools, *self.narrowing.tools)
        return any(fnmatchcase(tool, pattern) for pattern in patterns if pattern.strip("*"))


def matches_patterns(name: str, patterns: Sequence[str]) -> bool:
    """Whether patterns mean a tool: one with `!` beats those without; where there are only such, the rest is meant."""
    if any(fnmatchcase(name, pattern[1:]) for pattern in patterns if pattern.startswith("!")):
        return False
    wanted = [pattern for pattern in patterns if not pattern.startswith("!")]
    return not wanted or any(fnmatchcase(name, pattern) for pattern in wanted)


def patterns_in(text: str) -> tuple[str, ...]:
    """Patterns from a text in which commas stand between them."""
    return tuple(_strip_parts(text.split(",")))


def _strip_parts(parts: Iterable[str]) -> list[str]:
    return [part.strip() for part in parts if part.strip()]
