"""The checks of `agentcore doctor`."""

from agentcore.cli.diagnosis.checks import diagnose
from agentcore.cli.diagnosis.requirements import fix_requirements
