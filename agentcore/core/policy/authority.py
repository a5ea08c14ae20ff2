"""Which principals may do what."""

from typing import Literal

from agentcore.api.tool_context import KeyScope, Principal
from agentcore.approval_rules.decisions import ApprovalMode, DecisionKind
from agentcore.errors import ToolError
from agentcore.late_dataclasses import dataclass

Action = Literal[
    "identify",
    "read",
    "see_waiting",
    "watch",
    "follow",
    "call",
    "converse",
    "share",
    "propose",
    "approve",
    "resume",
    "pair",
    "connect",
    "revoke",
    "manage_modules",
    "change_settings",
    "change_policy",
    "stop",
]
"""An action of a principal.

`identify`: learn its own identity. `see_waiting`: list what waits for the user; `watch`: its events. `follow`: read
chat sessions and all their events; `converse`: create sessions, chat in them, change and delete them. `share`: list the
titles of sessions, to share something with one. `propose`: request a policy change, which the user then confirms.
`approve`: decide waiting calls. `pair`: give a client a key, with its scopes; `connect`: give an agent a key to call
tools over MCP, as a model calls them; `revoke`: revoke keys and grants. `stop`, `resume`: the emergency stop. `read` is
everything else that is not secret.
"""

Reach = Literal["all", "own"]
"""Where a permission applies: everywhere, or in sessions that its holder created."""

_LOOKS: frozenset[Action] = frozenset(("identify", "read", "see_waiting", "watch", "follow"))
_ASKS: frozenset[Action] = frozenset(
    (*_LOOKS, "call", "converse", "share", "manage_modules", "change_settings", "revoke", "stop")
)
_DECIDES: frozenset[Action] = frozenset(("approve", "resume", "pair", "change_policy"))

_MAY: dict[str, frozenset[Action]] = {
    "page": _ASKS | {"propose"},
    "token": _ASKS | {"propose", "connect"},
    "cli": _ASKS | _DECIDES | {"connect"},
    "approver": _LOOKS | _DECIDES | {"connect", "revoke", "stop"},
    "chat": frozenset(("read", "call")),
    "mcp": frozenset(("read", "call")),
    "host": frozenset(("read", "call")),
    "module": frozenset(("read", "call")),
    "view": frozenset(("call",)),
}
"""`cli` is the user at a terminal in the core's own process; the CLI of a running server uses the token.
`approver` is the user in the approval view; `view` shows a tool's results in the chat, by that tool's name."""

_SCOPES: dict[KeyScope, dict[Action, Reach]] = {
    "approve": dict.fromkeys(("identify", "see_waiting", "watch", "approve", "stop", "resume"), "all"),
    "chat": {
        "identify": "all",
        **dict.fromkeys(("see_waiting", "watch", "follow", "converse", "propose", "approve"), "own"),
    },
    "tab": dict.fromkeys(("identify", "share"), "all"),
}
"""The permissions of a paired client's key. No scope pairs, revokes, or confirms policy changes."""

PERSONS = frozenset(("page", "token", "cli"))
"""The principals whose calls are the user's own."""

USER_ACCOUNT = "user"
"""The account that the user's own calls are counted on, whichever of `PERSONS` makes them."""

_STRICTEST_FIRST: tuple[ApprovalMode, ...] = ("deny", "ask", "plan", "ask_writes", "accept_edits", "allow")
"""`plan` runs reads, which `ask` asks about; leaving it for `ask` allows nothing without the user."""


def find_reach(principal: Principal, action: Action) -> Reach | None:
    """Return where a principal may do something; None: nowhere."""
    if principal.kind != "client":
        return "all" if action in _MAY.get(principal.kind, frozenset()) else None
    reaches = {_SCOPES[scope].get(action) for scope in principal.scopes if scope in _SCOPES}
    return "all" if "all" in reaches else "own" if "own" in reaches else None


def authorise(principal: Principal, action: Action, session_owner: str | None = None) -> None:
    """Check that a principal may do something.

    Args:
        session_owner: Who created the session that it is about, as `owner_of` names them; None: it is about none, or
            the caller checks the reach.
    Raises:
        ToolError: `forbidden`, with the principals that may; `confirmation_required` for a policy change that the
            user can confirm in the approval view.
    """
    where = find_reach(principal, action)
    if where == "all" or (where == "own" and session_owner in (None, owner_of(principal))):
        return
    what = action.replace("_", " ")
    if where == "own":
        message = f"this client may {what} only in sessions that it made, and this is none of them"
        raise ToolError("forbidden", message, principal=principal.kind, action=action)
    proposes = find_reach(principal, "propose") if action == "change_policy" else None
    if proposes == "all" or (proposes == "own" and session_owner == owner_of(principal)):
        raise ToolError(
            "confirmation_required",
            "this changes what is allowed: a person confirms it in the approval view",
            principal=principal.kind,
            action=action,
        )
    who = sorted(kind for kind, actions in _MAY.items() if action in actions)
    scopes = sorted(scopes_for(action))
    paired = f", and paired clients with the scope {' or '.join(scopes)}" if scopes else ""
    raise ToolError(
        "forbidden",
        f"a {principal.kind} may not {what}; that is for: {', '.join(who)}{paired}",
        principal=principal.kind,
        action=action,
        allowed=who,
        scopes=scopes,
    )


def authorise_route(principal: Principal, action: Action, scope: KeyScope | None) -> None:
    """Check that a principal may use a module's route.

    Args:
        action: The permission that it requires: to read, or to call.
        scope: The key of a paired client with this scope may use the route, too; None: no client may.
    Raises:
        ToolError: `forbidden`.
    """
    if principal.kind != "client" or scope is None:
        authorise(principal, action)
    elif scope not in principal.scopes:
        message = f"this client may not use this route: its key was not made with the scope {scope!r}"
        raise ToolError("forbidden", message, principal=principal.kind, action=action, scopes=[scope])


def scopes_for(action: Action) -> list[KeyScope]:
    """The scopes with which a key has a right, everywhere or in sessions of its own."""
    return [scope for scope, actions in _SCOPES.items() if action in actions]


def owner_of(principal: Principal) -> str:
    """Whose a session is that a principal makes: the key's own for a paired client, else the credential kind's."""
    return principal.name if principal.kind == "client" else principal.kind


def client_in(owner: str) -> str | None:
    """The name of the paired client that a session belongs to, by `owner_of`; None: it is none's."""
    kind, _, name = owner.partition(":")
    return name if kind == "client" else None


def check_mode_change(
    principal: Principal, before: ApprovalMode, after: ApprovalMode, session_owner: str | None = None
) -> None:
    """Check that a principal may change the mode: to a stricter one freely; a looser one is a policy change.

    Raises:
        ToolError: `confirmation_required`, `forbidden`.
    """
    if is_looser(after, before):
        authorise(principal, "change_policy", session_owner)


def is_looser(mode: ApprovalMode, than: ApprovalMode) -> bool:
    """True if a mode allows more calls than another."""
    return _STRICTEST_FIRST.index(mode) > _STRICTEST_FIRST.index(than)


@dataclass(frozen=True, slots=True)
class Decision:
    """The policy's decision on one call: run it, ask the user, or refuse it.

    Args:
        kind: Which of these.
        by: What decides: `approvals.rules[2]`, `mode:ask`, `grant:ID`, `protected`, `caution`, `untrusted`, `own_call`.
        reason: Why, for the user.
        untrusted_source: The source of content that may have caused the call.
    """

    kind: DecisionKind
    by: str
    reason: str = ""
    untrusted_source: str | None = None
