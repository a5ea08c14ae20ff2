"""One call as a person has to see it, and what they say of it."""

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from agentcore.api import CallPreview, Principal, ToolDefinition
from agentcore.approval_rules.call_facts import CallFacts
from agentcore.approval_rules.decisions import ApprovalMode
from agentcore.core.policy.grants import GrantOffer

Changed = Literal["tool", "target", "rules"]
"""What is different from what was shown before: the tool's definition, what it would touch or write, what asks."""


def definition_digest(definition: ToolDefinition) -> str:
    """What an approval is bound to, besides the arguments: the definition, as it was shown, without rank and icons."""
    shown = {name: value for name, value in definition.to_json().items() if name not in ("rank", "icons")}
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class ApprovalRequest:
    """One call as a person has to see it: bound to its id, its session, its definition and its exact arguments.

    Args:
        definition: The tool, as it was when the call began to wait.
        arguments: Exactly what it would run with.
        arguments_digest: sha256 of their JSON text.
        reason: Why it is asked about, for a person.
        preview: What it would touch; None: the tool cannot say.
        expires_at_ms: When what was said of it expires, in milliseconds since 1970; None: it waits, without a limit.
        rule: What asks: `approvals.rules[2]`, `mode:ask`, `protected`, `preview:timed_out`, `caution`,
            `untrusted`.
        untrusted_source: Where content comes from that the model has read and that may be behind the call.
        offers: What a person may allow for later calls along with this one.
        agent_id: The agent whose call it is; empty: none's.
        mode: What becomes of calls that no rule and no grant says anything about.
        host: The host on another machine where it would run; empty: at the server.
        account: Whose place in the queue it takes, as `Call.account` names them.
        changes: What changed while it waited, so that it is asked about again.
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
    """What the person said, and who it was.

    Args:
        by: Who said so: `terminal`, `approver:NAME`, `test`.
        digest: Of the request that they were shown, as asked for or as edited; None: as asked for.
        grant: One of the request's offers that the person took.
        reason: Why not, in the person's words, for whoever called.
    """

    approved: bool
    by: str
    digest: str | None = None
    grant: GrantOffer | None = None
    reason: str = ""


LookAgain = Callable[[ApprovalRequest], Awaitable[ApprovalRequest]]
"""Prepares a call that waits once more; the result's `changes` name what is different now, if anything is."""

Approver = Callable[[ApprovalRequest], Awaitable[Verdict]]
"""A person at the terminal of the host's own process."""
