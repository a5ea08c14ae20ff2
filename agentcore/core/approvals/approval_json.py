"""Requests for approval and verdicts as JSON text, so that they survive the process."""

import json

from pydantic import TypeAdapter

from agentcore.api import CallPreview, Principal, ToolDefinition
from agentcore.core.approvals.request import ApprovalRequest, Verdict, definition_digest
from agentcore.core.policy.grants import GrantOffer

_AS_THEY_ARE = ("arguments", "reason", "requested_at_ms", "rule", "untrusted_source", "agent_id", "mode", "resource_id")
"""Fields of a request that are stored under their names."""

_PREVIEW: TypeAdapter[CallPreview | None] = TypeAdapter(CallPreview | None)


def request_text(request: ApprovalRequest, asked_digest: str) -> str:
    """Return a request as it is stored; `asked_digest` is that of the arguments before the user edited them."""
    return json.dumps(
        {
            "principal": [request.principal.kind, request.principal.id],
            "tool": request.definition.name,
            "definition": definition_digest(request.definition),
            "digest": request.arguments_digest,
            "asked_digest": asked_digest,
            "preview": _PREVIEW.dump_python(request.preview, mode="json"),
            "offers": [offer.to_json() for offer in request.offers],
            "host": request.host,
            "account": request.account,
            "changes": request.changes,
            **{name: getattr(request, name) for name in _AS_THEY_ARE},
        }
    )


def tool_of(text: str) -> str:
    """The tool that a stored request is for."""
    return str(json.loads(text)["tool"])


def host_of(text: str) -> str:
    """Return the host where it would run; requests stored before hosts existed have none."""
    return str(json.loads(text).get("host", ""))


def target_of(text: str) -> list[tuple[str, str]]:
    """Return the resource that a stored request would act on, with its host; none if the text is damaged."""
    try:
        stored = json.loads(text)
        return [(str(stored["resource_id"]), str(stored.get("host", "")))] if stored.get("resource_id") else []
    except (ValueError, AttributeError):
        return []


def caller_of(text: str) -> tuple[str, str]:
    """The principal whose call it is, and the account that it counts on."""
    stored = json.loads(text)
    return Principal(*stored["principal"]).name, str(stored.get("account", ""))


def read_request(call_id: str, session_id: str, text: str, definition: ToolDefinition) -> tuple[ApprovalRequest, str]:
    """Return a stored request, and the digest of the arguments of the caller.

    If the tool has changed, the request says so, and offers nothing for later.
    """
    said = json.loads(text)
    is_changed = said["definition"] != definition_digest(definition)
    changes = {**dict.fromkeys(said.get("changes", ())), **({"tool": None} if is_changed else {})}
    request = ApprovalRequest(
        call_id=call_id,
        session_id=session_id,
        principal=Principal(*said["principal"]),
        definition=definition,
        arguments_digest=said["digest"],
        preview=_PREVIEW.validate_python(said["preview"]),
        offers=() if is_changed else tuple(GrantOffer(**offer) for offer in said["offers"]),
        host=said.get("host", ""),
        account=said.get("account", ""),
        changes=tuple(changes),
        **{name: said[name] for name in _AS_THEY_ARE},
    )
    return request, said["asked_digest"]


def verdict_text(verdict: Verdict) -> str:
    """Return a verdict as it is stored; a grant that came with it is stored separately."""
    said = {"approved": verdict.approved, "by": verdict.by, "reason": verdict.reason}
    return json.dumps({**said, "is_by_policy": verdict.is_by_policy})


def read_verdict(text: str) -> Verdict:
    """A stored verdict."""
    said = json.loads(text)
    return Verdict(
        said["approved"], said["by"], reason=said.get("reason", ""), is_by_policy=said.get("is_by_policy", False)
    )
