"""agentcore: a tool runtime for AI agents."""

import sys

__version__ = "0.1.0"

if sys.version_info < (3, 11, 3):
    from agentcore.timeout_backport import repair_timeouts

    repair_timeouts()
