"""The one path of a call."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentcore.host.calls.call import Call, CallOutcome, CallRequest, ModelReader, new_call_id
    from agentcore.host.calls.conversation import Inquiry, Reply, no_session
    from agentcore.host.calls.forms import FIELDS, read_answers, shown_form
    from agentcore.host.calls.model_part import ArtifactReading, SaveArtifact, cut
    from agentcore.host.calls.permission import refused

__all__ = [
    "FIELDS",
    "ArtifactReading",
    "Call",
    "CallOutcome",
    "CallRequest",
    "Inquiry",
    "ModelReader",
    "Reply",
    "SaveArtifact",
    "cut",
    "new_call_id",
    "no_session",
    "read_answers",
    "refused",
    "shown_form",
]

_HOMES = {
    "ArtifactReading": "agentcore.host.calls.model_part",
    "Call": "agentcore.host.calls.call",
    "CallOutcome": "agentcore.host.calls.call",
    "CallRequest": "agentcore.host.calls.call",
    "FIELDS": "agentcore.host.calls.forms",
    "Inquiry": "agentcore.host.calls.conversation",
    "ModelReader": "agentcore.host.calls.call",
    "Reply": "agentcore.host.calls.conversation",
    "SaveArtifact": "agentcore.host.calls.model_part",
    "cut": "agentcore.host.calls.model_part",
    "new_call_id": "agentcore.host.calls.call",
    "no_session": "agentcore.host.calls.conversation",
    "read_answers": "agentcore.host.calls.forms",
    "refused": "agentcore.host.calls.permission",
    "shown_form": "agentcore.host.calls.forms",
}


def __getattr__(name: str) -> object:
    # at first use: a process that runs modules for a server needs single files of this room, and no more
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
