"""Stored rows of approvals: waiting calls, grants for later calls, untrusted sources."""

from typing import Literal, NamedTuple


class ApprovalRow(NamedTuple):
    """A call that waits for approval, or was decided and has not started.

    Args:
        request: What the user sees, as JSON text.
        verdict: The user's decision, as JSON text; None: none yet.
        expires_at_ms: When the verdict expires, in milliseconds since 1970; None: no verdict yet.
    """

    call_id: str
    session_id: str
    request: str
    verdict: str | None
    expires_at_ms: int | None


class GrantRow(NamedTuple):
    """A permission of the user for later calls.

    Args:
        scope: `session`, `always`; `host`: the host of a call, in its session, as long as only writes need approval.
        session_id: The session it is valid for; empty: all sessions.
        principal_kind: The kind of principal it is valid for: `chat`, `mcp`, `host`, `module`.
        tool: The tool; `*` with the scope `host`.
        arguments: Patterns, as JSON text.
        granted_at_ms: When it was granted, in milliseconds since 1970.
        given_in: The session of the call that it was granted along with; empty: not known.
        last_used_at_ms: When it let a call run last, to the minute; None: never.
    """

    grant_id: str
    scope: Literal["session", "always", "host"]
    session_id: str
    principal_kind: str
    tool: str
    arguments: str
    granted_by: str
    granted_at_ms: int
    given_in: str = ""
    last_used_at_ms: int | None = None


class SourceRow(NamedTuple):
    """A source of untrusted content that a model of this session has read.

    Args:
        source: Its name for the user: a host and a tool.
        seen_at_ms: When it was first read, in milliseconds since 1970.
        accepted_by: Who approved a call that named it; None: no one yet.
    """

    session_id: str
    source: str
    seen_at_ms: int
    accepted_by: str | None
