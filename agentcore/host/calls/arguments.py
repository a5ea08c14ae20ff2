"""The arguments of a call: checked, and noted for approval and record."""

import hashlib

from agentcore.encoding import to_json
from agentcore.host.calls.call import Call
from agentcore.host.modules.record import RegisteredTool
from agentcore.limits import ARGUMENTS_RECORDED_CHARS
from agentcore.secrets import masked_json


def read_arguments(call: Call, tool: RegisteredTool) -> None:
    """Check the arguments of a call, and note their digest and what the record may show of them.

    Raises:
        ToolError: `invalid_arguments`.
    """
    encoded = to_json(call.request.arguments)
    call.digest = hashlib.sha256(encoded).hexdigest()
    call.shown_arguments = masked_json(encoded.decode(), ARGUMENTS_RECORDED_CHARS)
    call.arguments = tool.validate(call.request.arguments)
