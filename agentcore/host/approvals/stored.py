"""Requests for approval and verdicts as JSON text, so that they outlive the process."""

import hashlib
import json
from typing import Any

from agentcore.api.context import Principal
from agentcore.api.definition import CallPreview, ToolDefinition
from agentcore.host.approvals.request import ApprovalRequest, Verdict
from agentcore.host.policy.grants import GrantOffer


def definition_digest(definition: ToolDefinition) -> str:
    """What an approval is bound to, besides the arguments: the definition, as it was shown."""
    return hashlib.sha256(json.dumps(definition.to_json(), sort_keys=True).encode()).hexdigest()


def request_text(request: ApprovalRequest, asked_digest: str) -> str:
    """A request as it is stored.

    Args:
        request: What the person sees.
        asked_digest: Digest of the arguments that the caller gave, before a person edited them.
    """
    preview = request.preview
    return json.dumps(
        {
            "principal": [request.principal.kind, request.principal.id],
            "tool": request.definition.name,
            "definition": definition_digest(request.definition),
            "arguments": request.arguments,
            "digest": request.arguments_digest,
            "asked_digest": asked_digest,
            "reason": request.reason,
            "preview": None if preview is None else _preview_values(preview),
            "requested_at_ms": request.requested_at_ms,
            "rule": request.rule,
            "untrusted_source": request.untrusted_source,
            "offers": [offer.to_json() for offer in request.offers],
            "agent_id": request.agent_id,
            "mode": request.mode,
            "resource_id": request.resource_id,
        }
    )


def tool_of(text: str) -> str:
    """The tool that a stored request is for."""
    return str(json.loads(text)["tool"])


def read_request(
    call_id: str, session_id: str, text: str, expires_at_ms: int, definition: ToolDefinition
) -> tuple[ApprovalRequest, str] | None:
    """A stored request, and the digest of the arguments that the caller gave; None: the tool is another one now."""
    said = json.loads(text)
    if said["definition"] != definition_digest(definition):
        return None
    request = ApprovalRequest(
        call_id=call_id,
        session_id=session_id,
        principal=Principal(*said["principal"]),
        definition=definition,
        arguments=said["arguments"],
        arguments_digest=said["digest"],
        reason=said["reason"],
        preview=None if said["preview"] is None else _preview(said["preview"]),
        expires_at_ms=expires_at_ms,
        requested_at_ms=said["requested_at_ms"],
        rule=said["rule"],
        untrusted_source=said["untrusted_source"],
        offers=tuple(GrantOffer(**offer) for offer in said["offers"]),
        agent_id=said["agent_id"],
        mode=said["mode"],
        resource_id=said["resource_id"],
    )
    return request, said["asked_digest"]


def verdict_text(verdict: Verdict) -> str:
    """A verdict as it is stored; what was granted with it stands in a place of its own."""
    return json.dumps({"approved": verdict.approved, "by": verdict.by, "reason": verdict.reason})


def read_verdict(text: str) -> Verdict:
    """A stored verdict."""
    said = json.loads(text)
    return Verdict(said["approved"], said["by"], reason=said.get("reason", ""))


def _preview_values(preview: CallPreview) -> dict[str, Any]:
    return {
        "effects": None if preview.effects is None else sorted(preview.effects),
        "paths": preview.paths,
        "cwd": preview.cwd,
        "urls": preview.urls,
        "diff": preview.diff,
        "is_protected": preview.is_protected,
        "is_sandboxed": preview.is_sandboxed,
        "caution": preview.caution,
    }


def _preview(values: dict[str, Any]) -> CallPreview:
    effects = values["effects"]
    return CallPreview(
        effects=None if effects is None else frozenset(effects),
        paths=tuple(values["paths"]),
        cwd=values["cwd"],
        urls=tuple(values["urls"]),
        diff=values["diff"],
        is_protected=values["is_protected"],
        is_sandboxed=values["is_sandboxed"],
        caution=values.get("caution", ""),
    )
