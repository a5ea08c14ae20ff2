"""The client behind an MCP request, and what it may use."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import field
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Annotated, Literal, get_args

from mcp_types import RequestId
from pydantic import Field

from agentcore.api import LogLevel, Principal
from agentcore.chat.untrusted_text import new_mark
from agentcore.config.app_json import ClientConfig
from agentcore.core.policy.authority import PERSONS
from agentcore.late_dataclasses import dataclass
from agentcore.limits import MCP_WAIT_SECONDS

LOG_LEVELS: tuple[LogLevel, ...] = get_args(LogLevel)
"""All levels, the least severe first."""


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Options that a connection sets for itself: fewer tools, and another time to wait for the user.

    Args:
        tools: Patterns of the tools that it requests; none: all that the client may use.
        wait_s: How long its calls stay open while the user is asked, in seconds.
        tools_wait_s: How long its list of tools waits for modules that are starting, in seconds; None: as long as its
            configuration says.
        waits_silently: True if calls that request no progress stay open as long: the client keeps a limit of its own.
    """

    tools: tuple[str, ...] = ()
    wait_s: Annotated[float, Field(gt=0)] = MCP_WAIT_SECONDS
    tools_wait_s: float | None = None
    waits_silently: bool = False


@dataclass(slots=True)
class SessionSubscriptions:
    """The notifications that a session has requested.

    Args:
        log_level: Minimum level of log messages of its calls that it gets; None: it gets none.
        resources: Addresses of the resources that it watches.
    """

    log_level: LogLevel | None = None
    resources: dict[str, None] = field(default_factory=dict)

    def receives_log_level(self, level: LogLevel) -> bool:
        """True if the session gets log messages of this level."""
        return self.log_level is not None and is_at_least(level, self.log_level)


def is_at_least(level: LogLevel, least: LogLevel) -> bool:
    """True if a level equals `least` or is more severe."""
    return LOG_LEVELS.index(level) >= LOG_LEVELS.index(least)


Departure = Literal["cancelled", "ended", "lost"]
"""Reason why no client waits for the answer to a request: its client cancelled it, its session or key has ended, or the
connection was lost, which is not a cancellation."""


@dataclass(slots=True)
class Departures:
    """Reasons why requests of a connection ended before they were answered.

    Attributes:
        is_over: True once the whole connection has ended.
    """

    is_over: bool = False
    _reasons: dict[RequestId, Departure] = field(default_factory=dict)
    _heirs: dict[RequestId, RequestId] = field(default_factory=dict)

    def record_reason(self, request_id: RequestId, why: Departure) -> None:
        """Record why a request is about to be ended."""
        self._reasons.setdefault(request_id, why)

    def hand_over(self, request_id: RequestId, heir: RequestId) -> None:
        """Record that a request was sent again under another id, so that ending the new one ends its work."""
        self._heirs[request_id] = heir

    def remove_request(self, request_id: RequestId) -> None:
        """Remove a request that has ended."""
        self._reasons.pop(request_id, None)
        self._heirs.pop(request_id, None)

    def list_request_ids(self, request_id: RequestId) -> list[RequestId]:
        """Return the ids by which the client knows a request: its own, and those under which it was sent again."""
        found = [request_id]
        while (heir := self._heirs.get(found[-1])) is not None:
            found.append(heir)
        return found

    def find_reason(self, request_id: RequestId | None) -> Departure:
        """Return why no client waits for a request that is being ended."""
        ids = [] if request_id is None else self.list_request_ids(request_id)
        found = next((self._reasons[each] for each in ids if each in self._reasons), None)
        return found or ("ended" if self.is_over else "lost")


MarkWaiting = Callable[[RequestId, bool], Awaitable[None]]
"""Records outside the server that a request waits for the user (True), or that its call is about to run (False)."""


async def _mark_nowhere(request_id: RequestId, is_waiting: bool) -> None:
    """Do nothing: over HTTP, nothing is left of a connection that could use it when the server ends."""


@dataclass(frozen=True, slots=True)
class Caller:
    """One connection of a client.

    Args:
        principal: From its credential: `mcp:NAME`, or the API token, whose calls are the user's own.
        session_id: The session that its calls belong to.
        approval_url: Where the user decides on its calls.
        config: The client's settings in app.json.
        narrowing: Options that the connection sets for itself.
        found: Names of the tools that it found by searching, the newest last; stored with the connection.
        listed: Names of the tools that were chosen for its list, in the order of the list.
        wishes: Notifications that it requested, in the revisions in which it does that once per session.
        departures: Why its requests ended before they were answered.
        mark: Names the frames around untrusted text in its results; random.
        mark_waiting: Records which of its calls only wait, so that it learns that they did not run if the server ends.
    """

    principal: Principal
    session_id: str
    approval_url: str
    config: ClientConfig = field(default_factory=ClientConfig)
    narrowing: Narrowing = Narrowing()
    found: list[str] = field(default_factory=list)
    listed: list[str] = field(default_factory=list)
    wishes: SessionSubscriptions = field(default_factory=SessionSubscriptions)
    departures: Departures = field(default_factory=Departures)
    mark: str = field(default_factory=new_mark)
    mark_waiting: MarkWaiting = _mark_nowhere

    @property
    def is_model(self) -> bool:
        """True if a model is behind it: then results are made for models, and calls are subject to approval."""
        return self.principal.kind not in PERSONS

    @property
    def tools_wait_s(self) -> float:
        """How long its list of tools waits for modules that are starting."""
        wait_s = self.narrowing.tools_wait_s
        return self.config.tools_wait_s if wait_s is None else wait_s

    def may_use_tool(self, tool: str) -> bool:
        """True if the tool is offered to the client, which may call it."""
        return matches_patterns(tool, self.config.tools) and (
            not self.narrowing.tools or matches_patterns(tool, self.narrowing.tools)
        )

    def names_tool(self, tool: str) -> bool:
        """True if a pattern other than `*` matches the tool."""
        patterns = (*self.config.tools, *self.narrowing.tools)
        return any(fnmatchcase(tool, pattern) for pattern in patterns if pattern.strip("*"))


@lru_cache(maxsize=512)  # asked at each call
def matches_patterns(name: str, patterns: tuple[str, ...]) -> bool:
    """True if patterns match a tool: those with `!` take precedence; if there are only such, all other tools match."""
    if any(fnmatchcase(name, pattern[1:]) for pattern in patterns if pattern.startswith("!")):
        return False
    requested = [pattern for pattern in patterns if not pattern.startswith("!")]
    return not requested or any(fnmatchcase(name, pattern) for pattern in requested)


def patterns_in(text: str) -> tuple[str, ...]:
    """Split a text into patterns, at commas."""
    return tuple(_strip_parts(text.split(",")))


def _strip_parts(parts: Iterable[str]) -> list[str]:
    return [part.strip() for part in parts if part.strip()]
