"""What is stored of approvals: calls that wait, what a person allowed for later, untrusted sources."""

from typing import Literal, NamedTuple


class ApprovalRow(NamedTuple):
    """A call that waits for a person, or was decided and has not begun.

    Args:
        request: What the person sees, as JSON text.
        verdict: What they said, as JSON text; None: nothing yet.
        expires_at_ms: When the verdict expires, in milliseconds since 1970; None: there is none yet.
    """

    call_id: str
    session_id: str
    request: str
    verdict: str | None
    expires_at_ms: int | None


class GrantRow(NamedTuple):
    """What a person allowed for later calls.

    Args:
        scope: `session`, `always`; `host`: the host of a call, in its session, as long as only writes are asked about.
        session_id: The session that it holds for; empty: all of them.
        principal_kind: Whose calls it holds for: `chat`, `mcp`, `host`, `module`.
        tool: The tool; `*` with the scope `host`.
        arguments: Patterns, as JSON text.
        granted_at_ms: When, in milliseconds since 1970.
    """

    grant_id: str
    scope: Literal["session", "always", "host"]
    session_id: str
    principal_kind: str
    tool: str
    arguments: str
    granted_by: str
    granted_at_ms: int


class SourceRow(NamedTuple):
    """Where content came from that a model of this session has read and that is not to be trusted.

    Args:
        source: What a person knows it by: a host and a tool.
        seen_at_ms: When it was first read, in milliseconds since 1970.
        accepted_by: Who approved a call that named it; None: nobody yet.
    """

    session_id: str
    source: str
    seen_at_ms: int
    accepted_by: str | None
