"""Runs module code within limits, and converts its results into plain values, once."""

from agentcore.core.containment.containment import Contained, run_contained
from agentcore.core.containment.foreign_error import log_failure, reason_of, text_of, traceback_of, type_name
from agentcore.core.containment.login import ModuleLogin
from agentcore.core.containment.ownership import CALL, current_owner
from agentcore.core.containment.plain_values import copy_plain, plain_text
from agentcore.core.containment.process_exit import bounded_runner, exit_now, exit_process
from agentcore.core.containment.report import read_report
from agentcore.core.containment.requirement import ModuleRequirement
from agentcore.core.containment.tool_errors import WrongToolError, plain_error
