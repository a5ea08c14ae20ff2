"""One call as it is shown to the user, and the user's decision."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, Literal

from agentcore.api import CallPreview, Principal, ToolDefinition
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.policy.grants import GrantOffer
from agentcore.late_dataclasses import dataclass

Changed = Literal["tool", "target", "rules"]
"""Differences from the request that the user saw: the definition, the targets, the content, or the reason to ask."""


def definition_digest(definition: ToolDefinition) -> str:
    """Return the digest of the definition that an approval is bound to: as shown, without rank and icons."""
    shown = {name: value for name, value in definition.to_json().items() if name not in ("rank", "icons")}
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One call as it is shown to the user: bound to its id, its session, its definition and its exact arguments.

    Args:
        definition: The tool, as it was when the call began to wait.
        arguments: Exactly the arguments it would run with.
        arguments_digest: sha256 of their JSON text.
        reason: Why approval is needed, as text for the user.
        preview: What it would touch; None: the tool has no preview.
        expires_at_ms: When the decision expires, in milliseconds since 1970; None: it waits, without a limit.
        rule: What asks: `approvals.rules[2]`, `mode:ask`, `protected`, `preview:timed_out`, `caution`,
            `untrusted`.
        untrusted_source: The source of untrusted content that the model has read and that may have caused the call.
        offers: What the user may allow for later calls along with this one.
        agent_id: The agent that makes the call; empty: none.
        mode: The decision for calls that no rule and no grant applies to.
        host: The foreign machine where it would run; empty: at the server.
        account: The account whose queue capacity it uses, as in `Call.account`.
        changes: What changed while it waited, so that it is shown again.
    """

    call_id: str
    session_id: str
    principal: Principal
    definition: ToolDefinition
    arguments: dict[str, Any]
    arguments_digest: str
    reason: str
    preview: CallPreview | None
    expires_at_ms: int | None = None
    requested_at_ms: int = 0
    rule: str = ""
    untrusted_source: str | None = None
    offers: tuple[GrantOffer, ...] = ()
    agent_id: str = ""
    mode: ApprovalMode = "ask"
    resource_id: str | None = None
    host: str = ""
    account: str = ""
    changes: tuple[Changed, ...] = ()

    @property
    def digest(self) -> str:
        """sha256 of all that a decision rests on, which a verdict names: another one once any of that has changed."""
        preview = {} if self.preview is None else asdict(self.preview)
        preview["effects"] = sorted(preview.get("effects") or ())
        shown = {
            "arguments": self.arguments_digest,
            "definition": definition_digest(self.definition),
            "preview": preview,
            "rule": self.rule,
            "untrusted_source": self.untrusted_source,
            "offers": [offer.to_json() for offer in self.offers],
            "host": self.host,
        }
        return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()

    @property
    def facts(self) -> CallFacts:
        """The call as the policy sees it."""
        return CallFacts(
            self.principal,
            self.definition,
            self.arguments,
            self.preview,
            session_id=self.session_id,
            agent_id=self.agent_id,
            mode=self.mode,
            host=self.host,
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """The user's decision, and who made it.

    Args:
        by: Who decided: `terminal`, `approver:NAME`, `test`; or what, as in `Decision.by`.
        digest: Of the request that was shown, as requested or as edited; None: as requested.
        grant: The offer of the request that the user accepted.
        reason: Why not, in the user's words or the policy's, for the caller.
        is_by_policy: True if the policy decided, because what it allows changed while the call waited. What runs by
            such an approval must still be allowed when it starts.
    """

    approved: bool
    by: str
    digest: str | None = None
    grant: GrantOffer | None = None
    reason: str = ""
    is_by_policy: bool = False


LookAgain = Callable[[ApprovalRequest], Awaitable[ApprovalRequest]]
"""Prepares a call that waits once more; the result's `changes` name what is different now, if anything is."""

Approver = Callable[[ApprovalRequest], Awaitable[Verdict]]
"""The user at the terminal of the core's own process."""
