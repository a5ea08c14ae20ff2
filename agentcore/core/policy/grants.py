"""What the user allows once for many calls: "always for this session", "always"; and hosts, if only writes ask."""

import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Literal

from agentcore.api.tool_context import PrincipalKind
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.criteria import Criteria, Patterns
from agentcore.late_dataclasses import dataclass
from agentcore.store.approvals.approval_rows import GrantRow

GrantScope = Literal["session", "always"]


@dataclass(frozen=True, slots=True)
class GrantOffer:
    """What the user may allow along with one call, shown completely before they do.

    Args:
        scope: `session`: for the session of this call; `always`: for every session.
        tool: The tool that it is for.
        arguments: Pattern by the key of a kind of criterion, or else the name of an argument; all of them have to
            match. None at all: any arguments.
    """

    scope: GrantScope
    tool: str
    arguments: Patterns

    def to_json(self) -> dict[str, Any]:
        """`{scope, tool, arguments}`."""
        return {"scope": self.scope, "tool": self.tool, "arguments": dict(self.arguments)}


@dataclass(frozen=True)
class Grant:
    """One grant."""

    row: GrantRow
    patterns: Patterns
    criteria: Criteria

    def applies_to(self, facts: CallFacts) -> bool:
        """True if it matches a call, of its principals and in its session."""
        row = self.row
        if row.principal_kind != facts.principal.kind or row.session_id not in ("", facts.session_id):
            return False
        return self.criteria.find_mismatch(facts, surely=True) is None

    def to_json(self) -> dict[str, Any]:
        """`{id, scope, sessionId?, caller, tool, arguments, grantedBy, grantedAt, givenIn, lastUsedAt}`."""
        row = self.row
        session = {"sessionId": row.session_id} if row.session_id else {}
        return {
            "id": row.grant_id,
            "scope": row.scope,
            **session,
            "caller": row.principal_kind,
            "tool": row.tool,
            "arguments": dict(self.patterns),
            "grantedBy": row.granted_by,
            "grantedAt": row.granted_at_ms,
            "givenIn": row.given_in,
            "lastUsedAt": row.last_used_at_ms,
        }


class Grants:
    """The current grants.

    Args:
        roots: Real paths of the workspace roots, for patterns of paths.
    """

    def __init__(self, roots: Sequence[str]) -> None:
        self._roots = roots
        self._grants: dict[str, Grant] = {}

    def __iter__(self) -> Iterator[Grant]:
        return iter(self._grants.values())

    def add(self, rows: Iterable[GrantRow]) -> None:
        """Take grants that are stored."""
        for row in rows:
            patterns: Patterns = json.loads(row.arguments)
            self._grants[row.grant_id] = Grant(row, patterns, Criteria.of_grant(row.tool, patterns, self._roots))

    def find(self, grant_id: str) -> Grant | None:
        """The grant of this id."""
        return self._grants.get(grant_id)

    def set_last_use(self, grant_id: str, used_at_ms: int) -> None:
        """Note when a grant let a call run last."""
        grant = self._grants[grant_id]
        self._grants[grant_id] = replace(grant, row=grant.row._replace(last_used_at_ms=used_at_ms))

    def drop(self, grant_id: str) -> None:
        """Revoke a grant."""
        self._grants.pop(grant_id, None)

    def drop_session(self, session_id: str) -> None:
        """Revoke all grants of a session."""
        self._drop_where(lambda row: row.session_id == session_id)

    def drop_granted_by(self, who: str) -> None:
        """Revoke all grants that a client gave."""
        self._drop_where(lambda row: row.granted_by == who)

    def _drop_where(self, is_meant: Callable[[GrantRow], bool]) -> None:
        self._grants = {key: grant for key, grant in self._grants.items() if not is_meant(grant.row)}


def grant_row(
    offer: GrantOffer, *, session_id: str, principal_kind: PrincipalKind, by: str, is_host: bool = False
) -> GrantRow:
    """Return a new grant as it is stored; with `is_host` it only avoids the second question about a host."""
    return GrantRow(
        f"g_{secrets.token_hex(8)}",
        "host" if is_host else offer.scope,
        session_id if offer.scope == "session" else "",
        principal_kind,
        offer.tool,
        json.dumps(dict(offer.arguments), ensure_ascii=False),
        by,
        time.time_ns() // 1_000_000,
        session_id,
    )
