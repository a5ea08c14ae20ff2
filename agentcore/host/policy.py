"""Who may do what."""

from dataclasses import dataclass
from typing import Literal

from agentcore.api.context import Principal
from agentcore.api.errors import ToolError
from agentcore.host.call_facts import ApprovalMode

Action = Literal["read", "call", "manage_modules", "change_settings", "change_policy", "approve", "stop"]

_MAY: dict[str, frozenset[Action]] = {
    "page": frozenset(("read", "call", "manage_modules", "change_settings", "stop")),
    "token": frozenset(("read", "call", "manage_modules", "change_settings", "stop")),
    "cli": frozenset(("read", "call", "manage_modules", "change_settings", "change_policy", "approve", "stop")),
    "approver": frozenset(("read", "change_policy", "approve", "stop")),
    "chat": frozenset(("read", "call")),
    "mcp": frozenset(("read", "call")),
    "host": frozenset(("read", "call")),
    "module": frozenset(("read", "call")),
}
"""`cli` is a person at a terminal whose process is the host; the CLI of a running server comes with the token.
`approver` is a person in the approval view, or in a client that was paired with it: nobody else does so remotely."""

_MAY_PROPOSE = frozenset(("page", "token"))
"""Who may ask for a change of the policy, which an approver then confirms."""

PERSONS = frozenset(("page", "token", "cli"))
"""Whose calls are a person's own."""

_STRICTEST_FIRST: tuple[ApprovalMode, ...] = ("deny", "ask", "ask_writes", "allow")


def authorise(principal: Principal, action: Action) -> None:
    """Let a principal do something, or not.

    Raises:
        ToolError: `forbidden`, with who may; `confirmation_required` for a change of the policy that a person can
            confirm in the approval view.
    """
    if action in _MAY.get(principal.kind, frozenset()):
        return
    if action == "change_policy" and principal.kind in _MAY_PROPOSE:
        raise ToolError(
            "confirmation_required",
            "this changes what is allowed: a person confirms it in the approval view",
            principal=principal.kind,
            action=action,
        )
    who = sorted(kind for kind, actions in _MAY.items() if action in actions)
    raise ToolError(
        "forbidden",
        f"a {principal.kind} may not {action.replace('_', ' ')}; that is for: {', '.join(who)}",
        principal=principal.kind,
        action=action,
        allowed=who,
    )


def check_mode_change(principal: Principal, before: ApprovalMode, after: ApprovalMode) -> None:
    """Let a principal put another mode in place of one: a stricter one freely, a looser one changes the policy.

    Raises:
        ToolError: `confirmation_required`, `forbidden`.
    """
    if _STRICTEST_FIRST.index(after) > _STRICTEST_FIRST.index(before):
        authorise(principal, "change_policy")


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy says of one call: run it, ask a person, or refuse it.

    Args:
        kind: Which of these.
        by: What says so: `approvals.rules[2]`, `mode:ask`, `grant:ID`, `protected`, `untrusted`, `own_call`.
        reason: Why, for a person.
        untrusted_source: Where content came from that may be behind the call.
    """

    kind: Literal["allow", "ask", "deny"]
    by: str
    reason: str = ""
    untrusted_source: str | None = None
