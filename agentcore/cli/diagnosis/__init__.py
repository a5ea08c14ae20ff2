"""What `agentcore doctor` looks at."""

from agentcore.cli.diagnosis.checks import diagnose
