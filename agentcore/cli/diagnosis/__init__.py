"""The checks of `agentcore doctor`."""

from agentcore.cli.diagnosis.checks import diagnose
from agentcore.cli.diagnosis.requirement_checks import fix_requirements
