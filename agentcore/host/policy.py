"""Who may do what, and which calls need a person."""

from dataclasses import dataclass
from typing import Literal

from agentcore.api.context import Principal
from agentcore.api.definition import CallPreview, Effect, ToolDefinition
from agentcore.api.errors import ToolError

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

_PERSONS = frozenset(("page", "token", "cli"))


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


@dataclass(frozen=True, slots=True)
class Decision:
    """What the policy says of one call: run it, ask a person, or refuse it; and by which rule."""

    kind: Literal["allow", "ask", "deny"]
    by: str
    reason: str = ""


_OWN_CALL = Decision("allow", "own_call")


ApprovalMode = Literal["ask", "ask_writes", "allow", "deny"]
"""What becomes of a call that a model wants; the default asks about every one."""

_STRICTEST_FIRST: tuple[ApprovalMode, ...] = ("deny", "ask", "ask_writes", "allow")


def check_mode_change(principal: Principal, before: ApprovalMode, after: ApprovalMode) -> None:
    """Let a principal put another mode in place of one: a stricter one freely, a looser one changes the policy.

    Raises:
        ToolError: `confirmation_required`, `forbidden`.
    """
    if _STRICTEST_FIRST.index(after) > _STRICTEST_FIRST.index(before):
        authorise(principal, "change_policy")


_READ: frozenset[Effect] = frozenset(("read",))


def decide(
    principal: Principal, definition: ToolDefinition, preview: CallPreview | None, mode: ApprovalMode = "ask"
) -> Decision:
    """Decide on one call whose arguments are valid.

    A person's own call runs (from the page, the command line, or with the token), unless it touches protected
    files: these always need a person who looks at this very call, whatever the mode. What becomes of the calls of
    whatever else wants something is for the mode to say.
    """
    is_protected = preview is not None and preview.is_protected
    if not is_protected and principal.kind in _PERSONS:
        return _OWN_CALL
    if principal.kind not in _PERSONS and mode == "deny":
        return Decision("deny", "mode:deny", f"calls of a {principal.kind} are refused")
    if is_protected:
        return Decision("ask", "protected", "it touches files that decide what runs or what is allowed")
    if mode == "allow":
        return Decision("allow", "mode:allow")
    if mode == "ask_writes" and effects_of(definition, preview) <= _READ:
        return Decision("allow", "mode:ask_writes")
    return Decision("ask", "default", f"calls of a {principal.kind} need a person")


def effects_of(definition: ToolDefinition, preview: CallPreview | None) -> frozenset[Effect]:
    """What the call may do: what its preview says of these very arguments, else what the tool may do at all."""
    exact = None if preview is None else preview.effects
    # nothing said is not nothing done
    return exact or definition.effects or frozenset(("execute",))
