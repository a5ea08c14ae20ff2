"""The one path of a call."""

from agentcore.host.calls.call import Call, CallOutcome, CallRequest, ModelReader
from agentcore.host.calls.conversation import no_session
from agentcore.host.calls.forms import FIELDS, read_answers, shown_form
from agentcore.host.calls.inquiry import Inquiry, Reply
from agentcore.host.calls.model_part import ArtifactReading, SaveArtifact, cut
from agentcore.host.calls.permission import refused
