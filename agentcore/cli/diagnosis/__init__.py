"""What `agentcore doctor` looks at."""

from agentcore.cli.diagnosis.checks import diagnose
from agentcore.cli.diagnosis.requirements import fix_requirements
