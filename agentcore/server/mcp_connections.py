"""Which MCP clients are connected, and which were."""

from collections.abc import Set as AbstractSet

from agentcore.late_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class FormerConnection:
    """A connection of a client that has ended.

    Args:
        session_id: Its session.
        principal: The client, as in `Principal.name`.
        program: Its name, as it stated it.
        version: Its version, as it stated it.
        revision: The revision of MCP that was agreed on.
        ended_at_ms: Milliseconds since 1970.
    """

    session_id: str
    principal: str
    program: str
    version: str
    revision: str
    ended_at_ms: int


@dataclass(frozen=True, slots=True)
class McpConnections:
    """The connections of MCP clients.

    Args:
        connected: Ids of the sessions whose clients are connected now.
        former: Connections that have ended since the server started, the latest first.
    """

    connected: AbstractSet[str] = frozenset()
    former: tuple[FormerConnection, ...] = ()
