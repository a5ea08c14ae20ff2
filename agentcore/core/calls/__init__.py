"""The one path of a call."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.core.calls.call import Call, CallOutcome, CallRequest, ModelReader, Notify, new_call_id
    from agentcore.core.calls.conversation import Inquiry, Reply, no_session
    from agentcore.core.calls.forms import FIELDS, read_answers, shown_form
    from agentcore.core.calls.model_part import ArtifactReading, SaveArtifact, truncate_text
    from agentcore.core.calls.module_starts import find_when_started, wait_for_starts
    from agentcore.core.calls.permission import refused_by_policy

__all__ = [
    "FIELDS",
    "ArtifactReading",
    "Call",
    "CallOutcome",
    "CallRequest",
    "Inquiry",
    "ModelReader",
    "Notify",
    "Reply",
    "SaveArtifact",
    "find_when_started",
    "new_call_id",
    "no_session",
    "read_answers",
    "refused_by_policy",
    "shown_form",
    "truncate_text",
    "wait_for_starts",
]

_HOMES = {
    "ArtifactReading": "agentcore.core.calls.model_part",
    "Call": "agentcore.core.calls.call",
    "CallOutcome": "agentcore.core.calls.call",
    "CallRequest": "agentcore.core.calls.call",
    "FIELDS": "agentcore.core.calls.forms",
    "Inquiry": "agentcore.core.calls.conversation",
    "ModelReader": "agentcore.core.calls.call",
    "Notify": "agentcore.core.calls.call",
    "Reply": "agentcore.core.calls.conversation",
    "SaveArtifact": "agentcore.core.calls.model_part",
    "truncate_text": "agentcore.core.calls.model_part",
    "wait_for_starts": "agentcore.core.calls.module_starts",
    "find_when_started": "agentcore.core.calls.module_starts",
    "new_call_id": "agentcore.core.calls.call",
    "no_session": "agentcore.core.calls.conversation",
    "read_answers": "agentcore.core.calls.forms",
    "refused_by_policy": "agentcore.core.calls.permission",
    "shown_form": "agentcore.core.calls.forms",
}


def __getattr__(name: str) -> object:
    # at first use: a worker needs single files of this package, and no more
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
