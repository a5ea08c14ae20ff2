"""The one path of a call."""

from agentcore.host.calls.call import Call, CallOutcome, CallRequest
from agentcore.host.calls.conversation import no_session
