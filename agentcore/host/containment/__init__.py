"""Foreign code and what it gives: run inside of limits, read once into plain values."""

from agentcore.host.containment.containment import Contained, run_contained
from agentcore.host.containment.ending import bounded_runner, exit_now, leave
from agentcore.host.containment.foreign_error import log_failure, reason_of, text_of, traceback_of, type_name
from agentcore.host.containment.login import ModuleLogin
from agentcore.host.containment.ownership import CALL, current_owner
from agentcore.host.containment.plain_values import plain, plain_text
from agentcore.host.containment.report import read_report
from agentcore.host.containment.requirement import ModuleRequirement
from agentcore.host.containment.tool_errors import WrongToolError, plain_error
